/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_rdma's connections, reads and writes, between two contexts of one process. */
#include <poll.h>
#include <string.h>

#include "ends.h"
#include "fixture.h"

static struct doca_dev *dev;
static struct end here, there;

static int open_ends(void **state)
{
	if (fixture_count(state) || rig_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	if (end_open(&here, dev, LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W) ||
	    end_open(&there, dev, LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W))
		return -1;
	rig_fill(here.bytes, END_LEN, 1);
	rig_fill(there.bytes, END_LEN, 2);
	return 0;
}

static int close_ends(void **state)
{
	doca_error_t result = end_close(&here);

	DOCA_ERROR_PROPAGATE(result, end_close(&there));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define ends_test(function) cmocka_unit_test_setup_teardown(function, open_ends, close_ends)

/* The other end anew, with other rights. */
static void reopen_there(uint32_t map_access, uint32_t access)
{
	assert_ok(end_close(&there));
	assert_ok(end_open(&there, dev, map_access, access));
	rig_fill(there.bytes, END_LEN, 2);
}

static void drop(struct doca_buf *buf)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

static size_t len_of(const struct doca_buf *buf)
{
	size_t len = SIZE_MAX;

	assert_ok(doca_buf_get_data_len(buf, &len));
	return len;
}

static void assert_changed(const struct end *end, unsigned int at, enum doca_ctx_states prev,
			   enum doca_ctx_states next)
{
	assert_true(at < end->num_changes);
	assert_int_equal(end->changes[at].prev, prev);
	assert_int_equal(end->changes[at].next, next);
}

static void both_ends_read_and_write(void **state)
{
	(void)state;
	assert_ok(end_pair(&here, &there));
	assert_ok(end_read(&here, 100, 3000, 5000));
	assert_memory_equal(here.bytes + 100, there.bytes + 3000, 5000);
	assert_ok(end_write(&here, 200, 10000, 1));
	assert_int_equal(there.bytes[10000], here.bytes[200]);
	assert_ok(end_write(&there, 0, 0, END_LEN));
	assert_memory_equal(here.bytes, there.bytes, END_LEN);
	rig_fill(here.bytes, END_LEN, 9);
	assert_ok(end_read(&there, 0, 0, END_LEN));
	assert_memory_equal(here.bytes, there.bytes, END_LEN);
	assert_int_equal(here.num_failed + there.num_failed, 0);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_RUNNING);
}

static void data_goes_behind_the_data(void **state)
{
	struct doca_buf *far, *room;

	(void)state;
	assert_ok(end_pair(&here, &there));
	far = end_source(&here, here.peer, here.peer_addr + 40, 500);
	room = end_room(&here, here.mmap, here.bytes, 4096);
	assert_ok(end_submit(&here, true, far, room, 1));
	assert_ok(end_wait(&here, 1));
	assert_ok(end_submit(&here, true, far, room, 2));
	assert_ok(end_wait(&here, 2));
	assert_int_equal(len_of(room), 1000);
	assert_int_equal(len_of(far), 500);
	assert_memory_equal(here.bytes, there.bytes + 40, 500);
	assert_memory_equal(here.bytes + 500, there.bytes + 40, 500);
	drop(far);
	far = end_room(&here, here.peer, here.peer_addr + 20000, 1500);
	assert_ok(end_submit(&here, false, room, far, 3));
	assert_ok(end_wait(&here, 3));
	assert_int_equal(len_of(far), 1000);
	assert_memory_equal(there.bytes + 20000, here.bytes, 1000);
	assert_int_equal(here.num_done, 3);
	drop(far);
	drop(room);
}

static struct doca_buf *chain(struct doca_buf *head, struct doca_buf *part)
{
	assert_non_null(part);
	if (!head)
		return part;
	assert_ok(doca_buf_chain_list(head, part));
	return head;
}

static void lists_at_both_ends(void **state)
{
	static const size_t from[][2] = {{5000, 700}, {0, 0}, {100, 1}, {30000, 2500}, {9, 99}};
	static const size_t to[][2] = {{0, 1000}, {60000, 1}, {2000, 1500}, {50000, 8192}};
	struct doca_buf *src = NULL, *dst = NULL;
	uint8_t wanted[3300];
	size_t done = 0;

	(void)state;
	assert_ok(end_pair(&here, &there));
	for (size_t i = 0; i < 5; i++) {
		src = chain(src,
			    end_source(&here, here.peer, here.peer_addr + from[i][0], from[i][1]));
		memcpy(wanted + done, there.bytes + from[i][0], from[i][1]);
		done += from[i][1];
	}
	for (size_t i = 0; i < 4; i++)
		dst = chain(dst, end_room(&here, here.mmap, here.bytes + to[i][0], to[i][1]));
	assert_ok(end_submit(&here, true, src, dst, 0));
	assert_ok(end_wait(&here, 1));
	assert_int_equal(here.num_done, 1);
	assert_memory_equal(here.bytes, wanted, 1000);
	assert_memory_equal(here.bytes + 60000, wanted + 1000, 1);
	assert_memory_equal(here.bytes + 2000, wanted + 1001, 1500);
	assert_memory_equal(here.bytes + 50000, wanted + 2501, 799);
	drop(src);
	drop(dst);
}

static void more_pieces_than_the_queue_holds(void **state)
{
	struct doca_buf *src[END_TASKS], *dst[END_TASKS];
	uint32_t max = 0;

	(void)state;
	assert_ok(doca_rdma_cap_task_read_get_max_buf_list_len(doca_dev_as_devinfo(dev), &max));
	assert_ok(end_pair(&here, &there));
	for (size_t i = 0; i < END_TASKS; i++) {
		src[i] = NULL;
		for (uint32_t n = 0; n < max; n++)
			src[i] = chain(src[i], end_source(&here, here.peer,
							  here.peer_addr + i * 1000 + n * 10, 10));
		dst[i] = end_room(&here, here.mmap, here.bytes + i * 1000, 1000);
	}
	for (size_t i = 0; i < END_TASKS; i++)
		assert_ok(end_submit(&here, true, src[i], dst[i], i));
	for (unsigned int i = 0; i < END_TASKS; i++) {
		assert_ok(end_wait(&here, i + 1));
		assert_int_equal(here.last_data, i);
	}
	assert_int_equal(here.num_done, END_TASKS);
	for (size_t i = 0; i < END_TASKS; i++) {
		assert_memory_equal(here.bytes + i * 1000, there.bytes + i * 1000, max * 10);
		drop(src[i]);
		drop(dst[i]);
	}
}

static void several_connections_of_one_context(void **state)
{
	struct doca_rdma_connection *first;
	struct doca_mmap *first_peer;
	struct end third;
	struct doca_buf *src, *dst;
	struct end_offer offer;

	(void)state;
	assert_ok(end_open(&third, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R));
	rig_fill(third.bytes, END_LEN, 3);
	assert_ok(doca_rdma_set_max_num_connections(here.rdma, 2));
	assert_ok(end_pair(&here, &there));
	first = here.connection;
	first_peer = here.peer;
	here.peer = NULL;
	assert_ok(end_pair(&here, &third));
	assert_error(end_offer(&here, &offer), DOCA_ERROR_FULL);
	assert_ok(end_read(&here, 0, 0, 1000));
	assert_memory_equal(here.bytes, third.bytes, 1000);
	here.connection = first;
	src = end_source(&here, first_peer, there.bytes, 1000);
	dst = end_room(&here, here.mmap, here.bytes + 2000, 1000);
	assert_ok(end_submit(&here, true, src, dst, 0));
	assert_ok(end_wait(&here, 2));
	assert_memory_equal(here.bytes + 2000, there.bytes, 1000);
	assert_int_equal(here.num_done, 2);
	drop(src);
	drop(dst);
	assert_ok(doca_mmap_destroy(first_peer));
	assert_ok(end_close(&third));
}

/* A peer that is away holds up its own tasks and no others. */
static void connections_do_not_wait_for_one_another(void **state)
{
	struct doca_rdma_connection *dead, *alive;
	struct end third;
	struct doca_buf *src, *dst, *live_src, *live_dst;
	struct doca_mmap *dead_peer;

	(void)state;
	assert_ok(end_open(&third, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R));
	assert_ok(doca_rdma_set_max_num_connections(here.rdma, 2));
	assert_ok(end_pair(&here, &third));
	dead = here.connection;
	dead_peer = here.peer;
	here.peer = NULL;
	assert_ok(end_pair(&here, &there));
	alive = here.connection;
	assert_ok(end_stop(&third));
	src = end_source(&here, dead_peer, third.bytes, 64);
	dst = end_room(&here, here.mmap, here.bytes, 64);
	live_src = end_source(&here, here.peer, here.peer_addr, 64);
	live_dst = end_room(&here, here.mmap, here.bytes + 64, 64);
	here.connection = dead;
	assert_ok(end_submit(&here, true, src, dst, 1));
	here.connection = alive;
	assert_ok(end_submit(&here, true, live_src, live_dst, 2));
	assert_ok(end_wait(&here, 1));
	assert_int_equal(here.last_data, 2);
	assert_ok(here.last_error);
	assert_ok(end_wait(&here, 2));
	assert_error(here.last_error, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
	drop(src);
	drop(dst);
	drop(live_src);
	drop(live_dst);
	assert_ok(doca_mmap_destroy(dead_peer));
	assert_ok(end_close(&third));
}

static void what_the_connection_does_not_permit(void **state)
{
	uint8_t before[64];

	(void)state;
	reopen_there(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R);
	memcpy(before, there.bytes, sizeof(before));
	assert_ok(end_pair(&here, &there));
	assert_ok(end_read(&here, 0, 0, 64));
	assert_error(end_write(&here, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(there.bytes, before, sizeof(before));
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);

	reopen_there(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW);
	memcpy(before, here.bytes, sizeof(before));
	assert_ok(end_pair(&here, &there));
	assert_error(end_read(&here, 0, 100, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(here.bytes, before, sizeof(before));
}

static void what_the_map_does_not_permit(void **state)
{
	uint8_t before[64];

	(void)state;
	reopen_there(LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R | RDMA_W);
	memcpy(before, there.bytes, sizeof(before));
	assert_ok(end_pair(&here, &there));
	assert_ok(end_read(&here, 0, 0, 64));
	assert_error(end_write(&here, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(there.bytes, before, sizeof(before));

	reopen_there(RDMA_W, LOCAL_RW | RDMA_R | RDMA_W);
	memcpy(before, here.bytes, sizeof(before));
	assert_ok(end_pair(&here, &there));
	assert_error(end_read(&here, 0, 100, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(here.bytes, before, sizeof(before));
}

static void reading_into_what_may_only_be_read(void **state)
{
	(void)state;
	assert_ok(end_close(&here));
	assert_ok(end_open(&here, dev, 0, LOCAL_RW));
	memset(here.bytes, 7, 64);
	assert_ok(end_pair(&here, &there));
	assert_error(end_read(&here, 0, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(here.bytes[0], 7);
}

static void a_failed_task_stops_the_context(void **state)
{
	struct doca_buf *src, *dst;

	(void)state;
	assert_ok(end_pair(&here, &there));
	assert_ok(doca_mmap_stop(there.mmap));
	src = end_source(&here, here.peer, here.peer_addr, 64);
	dst = end_room(&here, here.mmap, here.bytes, END_LEN);
	for (unsigned int i = 0; i < END_TASKS; i++)
		assert_ok(end_submit(&here, true, src, dst, i));
	assert_ok(end_wait(&here, 1));
	assert_error(here.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_STOPPING);
	assert_ok(end_wait(&here, END_TASKS));
	assert_int_equal(here.num_failed, END_TASKS);
	assert_error(here.last_error, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(here.num_changes, 3);
	assert_changed(&here, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING);
	assert_changed(&here, 1, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING);
	assert_changed(&here, 2, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE);
	assert_int_equal(len_of(dst), 0);
	drop(src);
	drop(dst);
	/* With a new connection it goes on. */
	assert_ok(doca_mmap_start(there.mmap));
	assert_ok(end_stop(&there));
	assert_ok(end_pair(&here, &there));
	assert_ok(end_read(&here, 0, 64, 64));
	assert_memory_equal(here.bytes, there.bytes + 64, 64);
}

/* Of tasks that the queue had no room for as well. */
static void all_tasks_behind_a_failed_one_are_flushed(void **state)
{
	struct doca_buf *src = NULL, *dst;

	(void)state;
	assert_ok(end_pair(&here, &there));
	assert_ok(doca_mmap_stop(there.mmap));
	for (size_t i = 0; i < 40; i++)
		src = chain(src, end_source(&here, here.peer, here.peer_addr + 2 * i, 1));
	dst = end_room(&here, here.mmap, here.bytes, END_LEN);
	for (unsigned int i = 0; i < END_TASKS; i++)
		assert_ok(end_submit(&here, true, src, dst, i));
	assert_ok(end_wait(&here, 1));
	assert_error(here.last_error, DOCA_ERROR_NOT_PERMITTED);
	for (unsigned int i = 1; i < END_TASKS; i++) {
		assert_ok(end_wait(&here, i + 1));
		assert_error(here.last_error, DOCA_ERROR_SHUTDOWN);
		assert_int_equal(here.last_data, i);
	}
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
	drop(src);
	drop(dst);
	assert_ok(doca_mmap_start(there.mmap));
}

static void a_peer_that_is_gone_is_connection_aborted(void **state)
{
	(void)state;
	assert_ok(end_pair(&here, &there));
	assert_ok(end_stop(&there));
	assert_error(end_write(&here, 0, 0, 64), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
}

static void a_peer_may_connect_later(void **state)
{
	struct end_offer of_here, of_there;
	struct doca_buf *src, *dst;

	(void)state;
	assert_ok(doca_ctx_start(here.ctx));
	assert_ok(doca_ctx_start(there.ctx));
	assert_ok(end_offer(&here, &of_here));
	assert_ok(end_offer(&there, &of_there));
	assert_ok(end_accept(&here, &of_there));
	src = end_source(&here, here.peer, here.peer_addr, 64);
	dst = end_room(&here, here.mmap, here.bytes, 64);
	assert_ok(end_submit(&here, true, src, dst, 0));
	assert_int_equal(doca_pe_progress(here.pe), 0);
	assert_ok(end_accept(&there, &of_here));
	assert_ok(end_wait(&here, 1));
	assert_ok(here.last_error);
	assert_memory_equal(here.bytes, there.bytes, 64);
	drop(src);
	drop(dst);
}

/* Submitted, it fails in its callback; tried, it is refused. */
static void assert_bad(bool is_read, struct doca_buf *src, struct doca_buf *dst, doca_error_t error)
{
	union doca_data none = {0};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_task *task;
	unsigned int before = here.num_failed;

	if (is_read) {
		assert_ok(doca_rdma_task_read_allocate_init(here.rdma, here.connection, src, dst,
							    none, &read));
		task = doca_rdma_task_read_as_task(read);
	} else {
		assert_ok(doca_rdma_task_write_allocate_init(here.rdma, here.connection, src, dst,
							     none, &write));
		task = doca_rdma_task_write_as_task(write);
	}
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_task_submit(task));
	assert_int_equal(here.num_failed, before);
	assert_ok(end_wait(&here, before + 1));
	assert_int_equal(here.num_failed, before + 1);
	assert_error(here.last_error, error);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
}

static void bad_tasks_fail_in_their_callback(void **state)
{
	struct doca_buf *far, *far_room, *near, *room, *narrow, *nothing;

	(void)state;
	assert_ok(end_pair(&here, &there));
	far = end_source(&here, here.peer, here.peer_addr, 64);
	far_room = end_room(&here, here.peer, here.peer_addr, 64);
	near = end_source(&here, here.mmap, here.bytes, 64);
	room = end_room(&here, here.mmap, here.bytes, 64);
	narrow = end_room(&here, here.mmap, here.bytes, 63);
	nothing = end_source(&here, here.mmap, here.bytes, 0);

	assert_bad(true, NULL, room, DOCA_ERROR_INVALID_VALUE);
	assert_ok(end_stop(&there));
	const struct {
		struct doca_buf *src, *dst;
		doca_error_t error;
		bool is_read;
	} cases[] = {
		{far, NULL, DOCA_ERROR_INVALID_VALUE, true},
		{far, narrow, DOCA_ERROR_INVALID_VALUE, true},
		{nothing, far_room, DOCA_ERROR_IO_FAILED, false},
		{near, room, DOCA_ERROR_NOT_SUPPORTED, true},
		{far, far_room, DOCA_ERROR_NOT_SUPPORTED, true},
		{near, room, DOCA_ERROR_NOT_SUPPORTED, false},
		{far, far_room, DOCA_ERROR_NOT_SUPPORTED, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct end_offer of_here, of_there;

		assert_ok(doca_ctx_start(here.ctx));
		assert_ok(doca_ctx_start(there.ctx));
		assert_ok(end_offer(&here, &of_here));
		assert_ok(end_offer(&there, &of_there));
		assert_ok(doca_rdma_connect(here.rdma, of_there.details.bytes, of_there.details.len,
					    here.connection));
		assert_bad(cases[i].is_read, cases[i].src, cases[i].dst, cases[i].error);
		assert_ok(end_stop(&there));
	}
	/* Never connected. */
	assert_ok(doca_ctx_start(here.ctx));
	assert_ok(end_offer(&here, &(struct end_offer){0}));
	assert_bad(true, far, room, DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(here.num_done, 0);
	drop(far);
	drop(far_room);
	drop(near);
	drop(room);
	drop(narrow);
	drop(nothing);
}

static void details_are_checked_byte_by_byte(void **state)
{
	struct end_offer of_here, of_there;
	uint8_t bytes[SIDE_DESC_ROOM];
	size_t len;

	(void)state;
	assert_ok(doca_ctx_start(here.ctx));
	assert_ok(doca_ctx_start(there.ctx));
	assert_ok(end_offer(&here, &of_here));
	assert_ok(end_offer(&there, &of_there));
	len = of_there.details.len;
	for (size_t i = 0; i < len; i++) {
		memcpy(bytes, of_there.details.bytes, len);
		bytes[i] ^= 0x10;
		assert_error(doca_rdma_connect(here.rdma, bytes, len, here.connection),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(
			doca_rdma_connect(here.rdma, of_there.details.bytes, i, here.connection),
			DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_rdma_connect(here.rdma, of_there.details.bytes, len + 1, here.connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_rdma_connect(here.rdma, of_there.map.bytes, of_there.map.len, here.connection),
		DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connect(here.rdma, of_there.details.bytes, len, there.connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(end_accept(&here, &of_there));
	assert_error(doca_rdma_connect(here.rdma, of_there.details.bytes, len, here.connection),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(end_accept(&there, &of_here));
	assert_ok(end_read(&here, 0, 0, 64));
}

static void notification_of_a_completion(void **state)
{
	doca_notification_handle_t handle;
	struct doca_buf *src, *dst, *rooms[4];
	struct pollfd fd = {.events = POLLIN};

	(void)state;
	assert_ok(end_pair(&here, &there));
	assert_ok(doca_pe_get_notification_handle(here.pe, &handle));
	fd.fd = handle;
	src = end_source(&here, here.peer, here.peer_addr, 64);
	dst = end_room(&here, here.mmap, here.bytes, 64);
	assert_ok(doca_pe_request_notification(here.pe));
	assert_ok(end_submit(&here, true, src, dst, 0));
	assert_int_equal(poll(&fd, 1, RIG_PATIENCE_MS), 1);
	assert_ok(doca_pe_clear_notification(here.pe, 0));
	assert_int_equal(doca_pe_progress(here.pe), 1);
	assert_int_equal(here.num_done, 1);
	/* Of several who takes one at a time is told of the rest. */
	for (size_t i = 0; i < 4; i++) {
		rooms[i] = end_room(&here, here.mmap, here.bytes + 64 * i, 64);
		assert_ok(end_submit(&here, true, src, rooms[i], 0));
	}
	while (here.num_done < 5) {
		assert_ok(doca_pe_request_notification(here.pe));
		assert_int_equal(poll(&fd, 1, RIG_PATIENCE_MS), 1);
		assert_ok(doca_pe_clear_notification(here.pe, 0));
		doca_pe_progress(here.pe);
	}
	/* Of one that never gets to the device. */
	assert_ok(doca_pe_request_notification(here.pe));
	assert_ok(end_submit(&here, true, src, NULL, 0));
	assert_int_equal(poll(&fd, 1, RIG_PATIENCE_MS), 1);
	assert_int_equal(doca_pe_progress(here.pe), 1);
	assert_int_equal(here.num_failed, 1);
	for (size_t i = 0; i < 4; i++)
		drop(rooms[i]);
	drop(src);
	drop(dst);
}

static void stop_waits_for_tasks(void **state)
{
	struct doca_buf *src, *dst;
	size_t num = 0;

	(void)state;
	assert_ok(end_pair(&here, &there));
	src = end_source(&here, here.peer, here.peer_addr, END_LEN / 2);
	dst = end_room(&here, here.mmap, here.bytes, END_LEN);
	assert_ok(end_submit(&here, true, src, dst, 1));
	assert_ok(end_submit(&here, true, src, dst, 2));
	assert_ok(doca_ctx_get_num_inflight_tasks(here.ctx, &num));
	assert_int_equal(num, 2);
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_rdma_destroy(here.rdma), DOCA_ERROR_IN_USE);
	assert_error(end_submit(&here, true, src, dst, 3), DOCA_ERROR_BAD_STATE);
	assert_ok(end_stop(&here));
	assert_int_equal(here.num_done + here.num_failed, 2);
	drop(src);
	drop(dst);
}

static void a_responder_needs_no_tasks(void **state)
{
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	union doca_data none = {0};
	struct doca_rdma_task_read *read;
	struct doca_rdma_connection *connection;
	struct end_offer of_here;
	const void *details;
	size_t len;

	(void)state;
	assert_ok(doca_rdma_create(dev, &rdma));
	ctx = doca_rdma_as_ctx(rdma);
	assert_error(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	assert_ok(doca_pe_connect_ctx(there.pe, ctx));
	assert_ok(doca_rdma_set_permissions(rdma, RDMA_R));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_rdma_export(rdma, &details, &len, &connection));
	assert_true(len <= 512);
	assert_error(doca_rdma_task_read_allocate_init(rdma, connection, NULL, NULL, none, &read),
		     DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_ctx_start(here.ctx));
	assert_ok(end_offer(&here, &of_here));
	assert_ok(doca_rdma_connect(here.rdma, details, len, here.connection));
	assert_ok(doca_rdma_connect(rdma, of_here.details.bytes, of_here.details.len, connection));
	assert_ok(doca_mmap_export_rdma(there.mmap, dev, &details, &len));
	assert_ok(doca_mmap_create_from_export(NULL, details, len, dev, &here.peer));
	here.peer_addr = there.bytes;
	assert_ok(end_read(&here, 0, 0, 1000));
	assert_memory_equal(here.bytes, there.bytes, 1000);
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_rdma_destroy(rdma));
}

static void settings(void **state)
{
	enum doca_rdma_transport_type transport = DOCA_RDMA_TRANSPORT_TYPE_DC;
	uint32_t value = 99;
	uint16_t num = 0;

	(void)state;
	assert_ok(doca_rdma_get_permissions(here.rdma, &value));
	assert_int_equal(value, LOCAL_RW | RDMA_R | RDMA_W);
	assert_error(doca_rdma_set_permissions(here.rdma, PCI_RW), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_permissions(here.rdma, 0x80), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_gid_index(here.rdma, &value));
	assert_int_equal(value, 0);
	assert_error(doca_rdma_set_gid_index(here.rdma, 254), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_gid_index(here.rdma, 256), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_gid_index(here.rdma, 1));
	assert_ok(doca_rdma_get_gid_index(here.rdma, &value));
	assert_int_equal(value, 1);
	assert_error(doca_rdma_set_transport_type(here.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_set_transport_type(here.rdma, (enum doca_rdma_transport_type)7),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_transport_type(here.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC));
	assert_ok(doca_rdma_get_transport_type(here.rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	assert_ok(doca_rdma_get_max_num_connections(here.rdma, &num));
	assert_int_equal(num, 1);
	assert_error(doca_rdma_set_max_num_connections(here.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(end_pair(&here, &there));
	assert_ok(end_read(&here, 0, 0, 64)); /* from that address */
	assert_error(doca_rdma_set_permissions(here.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_gid_index(here.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_transport_type(here.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_max_num_connections(here.rdma, 3), DOCA_ERROR_BAD_STATE);
}

static void nothing_done(struct doca_rdma_task_read *task, union doca_data task_data,
			 union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void nothing_written(struct doca_rdma_task_write *task, union doca_data task_data,
			    union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void limits(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t max = 0, most = 0;

	(void)state;
	assert_ok(doca_rdma_cap_task_read_is_supported(info));
	assert_ok(doca_rdma_cap_task_write_is_supported(info));
	assert_error(doca_rdma_cap_task_read_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_task_write_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_cap_get_max_message_size(info, &max));
	assert_true(max >= 1u << 20);
	assert_error(doca_rdma_cap_get_max_message_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_cap_task_write_get_max_buf_list_len(info, &max));
	assert_true(max > 1);
	assert_error(doca_rdma_cap_task_read_get_max_buf_list_len(NULL, &max),
		     DOCA_ERROR_INVALID_VALUE);
	for (most = 1; doca_rdma_task_read_set_conf(here.rdma, nothing_done, nothing_done,
						    most * 2) == DOCA_SUCCESS;
	     most *= 2)
		assert_true(most < 1u << 30);
	assert_true(most >= 1024);
	assert_error(doca_rdma_task_read_set_conf(here.rdma, nothing_done, nothing_done, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_set_conf(here.rdma, NULL, nothing_done, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_write_set_conf(here.rdma, nothing_written, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_write_set_conf(here.rdma, nothing_written, nothing_written, 0),
		     DOCA_ERROR_INVALID_VALUE);
	/* All that can be configured can be started, with a queue as deep as there is. */
	assert_ok(doca_rdma_task_read_set_conf(here.rdma, nothing_done, nothing_done, most));
	assert_ok(doca_rdma_task_write_set_conf(here.rdma, nothing_written, nothing_written, most));
	assert_ok(end_pair(&here, &there));
	assert_error(doca_rdma_task_read_set_conf(here.rdma, nothing_done, nothing_done, 1),
		     DOCA_ERROR_BAD_STATE);
}

static void null_is_invalid(void **state)
{
	struct doca_rdma_connection *connection = NULL;
	struct doca_rdma_task_read *read = NULL;
	struct doca_rdma_task_write *write = NULL;
	union doca_data none = {0};
	struct doca_rdma *rdma = NULL;
	const void *details = NULL;
	size_t len = 0;

	(void)state;
	assert_error(doca_rdma_create(NULL, &rdma), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_rdma_as_ctx(NULL));
	assert_null(doca_rdma_task_read_as_task(NULL));
	assert_null(doca_rdma_task_write_as_task(NULL));
	assert_error(doca_rdma_export(here.rdma, &details, &len, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_export(here.rdma, &details, &len, &connection),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connect(here.rdma, "", 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(end_pair(&here, &there));
	connection = here.connection;
	assert_error(doca_rdma_connect(here.rdma, NULL, 1, connection), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_allocate_init(here.rdma, NULL, NULL, NULL, none, &read),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_allocate_init(here.rdma, there.connection, NULL, NULL,
						       none, &read),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_rdma_task_write_allocate_init(here.rdma, connection, NULL, NULL, none, NULL),
		DOCA_ERROR_INVALID_VALUE);
	assert_null(read);
	assert_null(write);
	assert_null(details);
}

static void tasks_are_a_pool_of_each_kind(void **state)
{
	struct doca_rdma_task_read *reads[END_TASKS], *more = NULL;
	struct doca_rdma_task_write *write;
	struct doca_buf *src, *dst;
	union doca_data data = {.u64 = 5};

	(void)state;
	assert_ok(end_pair(&here, &there));
	for (unsigned int i = 0; i < END_TASKS; i++)
		assert_ok(doca_rdma_task_read_allocate_init(here.rdma, here.connection, NULL, NULL,
							    data, &reads[i]));
	assert_error(doca_rdma_task_read_allocate_init(here.rdma, here.connection, NULL, NULL, data,
						       &more),
		     DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_rdma_task_write_allocate_init(here.rdma, here.connection, NULL, NULL, data,
						     &write));
	src = end_source(&here, here.peer, here.peer_addr, 64);
	dst = end_room(&here, here.mmap, here.bytes, 64);
	doca_rdma_task_read_set_src_buf(reads[0], src);
	doca_rdma_task_read_set_dst_buf(reads[0], dst);
	assert_ptr_equal(doca_rdma_task_read_get_src_buf(reads[0]), src);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(reads[0]), dst);
	doca_rdma_task_write_set_src_buf(write, src);
	doca_rdma_task_write_set_dst_buf(write, dst);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(write), src);
	assert_ptr_equal(doca_rdma_task_write_get_dst_buf(write), dst);
	assert_ptr_equal(doca_task_get_ctx(doca_rdma_task_write_as_task(write)), here.ctx);
	here.keep_tasks = true;
	assert_ok(doca_task_try_submit(doca_rdma_task_read_as_task(reads[0])));
	assert_ok(end_wait(&here, 1));
	assert_int_equal(here.last_data, 5);
	assert_ok(here.last_error);
	doca_task_free(doca_rdma_task_write_as_task(write));
	for (unsigned int i = 0; i < END_TASKS; i++)
		doca_task_free(doca_rdma_task_read_as_task(reads[i]));
	drop(src);
	drop(dst);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ends_test(both_ends_read_and_write),
		ends_test(data_goes_behind_the_data),
		ends_test(lists_at_both_ends),
		ends_test(more_pieces_than_the_queue_holds),
		ends_test(several_connections_of_one_context),
		ends_test(connections_do_not_wait_for_one_another),
		ends_test(what_the_connection_does_not_permit),
		ends_test(what_the_map_does_not_permit),
		ends_test(reading_into_what_may_only_be_read),
		ends_test(a_failed_task_stops_the_context),
		ends_test(all_tasks_behind_a_failed_one_are_flushed),
		ends_test(a_peer_that_is_gone_is_connection_aborted),
		ends_test(a_peer_may_connect_later),
		ends_test(bad_tasks_fail_in_their_callback),
		ends_test(details_are_checked_byte_by_byte),
		ends_test(notification_of_a_completion),
		ends_test(stop_waits_for_tasks),
		ends_test(a_responder_needs_no_tasks),
		ends_test(tasks_are_a_pool_of_each_kind),
		ends_test(settings),
		ends_test(limits),
		ends_test(null_is_invalid),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
