/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_rdma's connections, reads and writes, between two contexts of one process. */
#include <poll.h>
#include <string.h>

#include "base/array.h"
#include "endpoint.h"
#include "fixture.h"

static struct doca_dev *dev;
static struct endpoint local, remote;

static int open_ends(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	if (endpoint_open(&local, dev, LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W) ||
	    endpoint_open(&remote, dev, LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W))
		return -1;
	fixture_fill(local.bytes, ENDPOINT_LEN, 1);
	fixture_fill(remote.bytes, ENDPOINT_LEN, 2);
	return 0;
}

static int close_ends(void **state)
{
	doca_error_t result = endpoint_close(&local);

	DOCA_ERROR_PROPAGATE(result, endpoint_close(&remote));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define ends_test(function) cmocka_unit_test_setup_teardown(function, open_ends, close_ends)

/* Open the remote endpoint again, with other permissions. */
static void reopen_remote(uint32_t map_access, uint32_t access)
{
	assert_ok(endpoint_close(&remote));
	assert_ok(endpoint_open(&remote, dev, map_access, access));
	fixture_fill(remote.bytes, ENDPOINT_LEN, 2);
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

static void assert_changed(const struct endpoint *end, unsigned int at, enum doca_ctx_states prev,
			   enum doca_ctx_states next)
{
	assert_true(at < end->num_changes);
	assert_int_equal(end->changes[at].prev, prev);
	assert_int_equal(end->changes[at].next, next);
}

static void both_ends_read_and_write(void **state)
{
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_read(&local, 100, 3000, 5000));
	assert_memory_equal(local.bytes + 100, remote.bytes + 3000, 5000);
	assert_ok(endpoint_write(&local, 200, 10000, 1));
	assert_int_equal(remote.bytes[10000], local.bytes[200]);
	assert_ok(endpoint_write(&remote, 0, 0, ENDPOINT_LEN));
	assert_memory_equal(local.bytes, remote.bytes, ENDPOINT_LEN);
	fixture_fill(local.bytes, ENDPOINT_LEN, 9);
	assert_ok(endpoint_read(&remote, 0, 0, ENDPOINT_LEN));
	assert_memory_equal(local.bytes, remote.bytes, ENDPOINT_LEN);
	assert_int_equal(local.num_failed + remote.num_failed, 0);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_RUNNING);
}

static void data_goes_behind_the_data(void **state)
{
	struct doca_buf *far, *room;

	assert_ok(endpoint_pair(&local, &remote));
	far = endpoint_source(&local, local.peer, local.peer_addr + 40, 500);
	room = endpoint_room(&local, local.mmap, local.bytes, 4096);
	assert_ok(endpoint_submit(&local, true, far, room, 1));
	assert_ok(endpoint_wait(&local, 1));
	assert_ok(endpoint_submit(&local, true, far, room, 2));
	assert_ok(endpoint_wait(&local, 2));
	assert_int_equal(len_of(room), 1000);
	assert_int_equal(len_of(far), 500);
	assert_memory_equal(local.bytes, remote.bytes + 40, 500);
	assert_memory_equal(local.bytes + 500, remote.bytes + 40, 500);
	drop(far);
	far = endpoint_room(&local, local.peer, local.peer_addr + 20000, 1500);
	assert_ok(endpoint_submit(&local, false, room, far, 3));
	assert_ok(endpoint_wait(&local, 3));
	/* The peer's buf keeps its length; only its bytes change. */
	assert_int_equal(len_of(far), 0);
	assert_memory_equal(remote.bytes + 20000, local.bytes, 1000);
	assert_int_equal(local.num_done, 3);
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

static void tasks_use_local_lists_and_the_head_of_remote_ones(void **state)
{
	static const size_t parts[][2] = {{0, 1000}, {60000, 1}, {2000, 1500}, {50000, 8192}};
	struct doca_buf *near = NULL, *far, *tail;

	assert_ok(endpoint_pair(&local, &remote));
	far = endpoint_source(&local, local.peer, local.peer_addr + 5000, 3300);
	tail = endpoint_source(&local, local.peer, local.peer_addr, 99);
	chain(far, tail);
	for (size_t i = 0; i < 4; i++)
		near = chain(near, endpoint_room(&local, local.mmap, local.bytes + parts[i][0],
						 parts[i][1]));
	assert_ok(endpoint_submit(&local, true, far, near, 0));
	assert_ok(endpoint_wait(&local, 1));
	assert_int_equal(local.num_done, 1);
	assert_memory_equal(local.bytes, remote.bytes + 5000, 1000);
	assert_memory_equal(local.bytes + 60000, remote.bytes + 6000, 1);
	assert_memory_equal(local.bytes + 2000, remote.bytes + 6001, 1500);
	assert_memory_equal(local.bytes + 50000, remote.bytes + 7501, 799);
	drop(far);
	far = chain(endpoint_room(&local, local.peer, local.peer_addr + 30000, 3300),
		    endpoint_room(&local, local.peer, local.peer_addr, 99));
	assert_ok(endpoint_submit(&local, false, near, far, 1));
	assert_ok(endpoint_wait(&local, 2));
	assert_int_equal(local.num_done, 2);
	assert_memory_equal(remote.bytes + 30000, remote.bytes + 5000, 3300);
	drop(far);
	drop(near);
}

/* More work requests than the send queue holds, for each task one or several. */
static void more_pieces_than_the_queue_holds(void **state)
{
	struct doca_buf *src[ENDPOINT_TASKS], *dst[ENDPOINT_TASKS];
	uint32_t max = 0;

	assert_ok(doca_rdma_cap_get_max_send_buf_list_len(doca_dev_as_devinfo(dev), &max));
	assert_ok(doca_rdma_set_send_queue_size(local.rdma, 2));
	assert_ok(endpoint_pair(&local, &remote));
	for (size_t i = 0; i < ENDPOINT_TASKS; i++) {
		dst[i] = NULL;
		for (uint32_t n = 0; n < max; n++)
			dst[i] = chain(dst[i], endpoint_room(&local, local.mmap,
							     local.bytes + i * 1000 + n * 10, 10));
		src[i] = endpoint_source(&local, local.peer, local.peer_addr + i * 1000, max * 10);
	}
	for (size_t i = 0; i < ENDPOINT_TASKS; i++)
		assert_ok(endpoint_submit(&local, true, src[i], dst[i], i));
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++) {
		assert_ok(endpoint_wait(&local, i + 1));
		assert_int_equal(local.last_data, i);
	}
	assert_int_equal(local.num_done, ENDPOINT_TASKS);
	for (size_t i = 0; i < ENDPOINT_TASKS; i++) {
		assert_memory_equal(local.bytes + i * 1000, remote.bytes + i * 1000, max * 10);
		drop(src[i]);
		drop(dst[i]);
	}
}

static void one_context_has_several_connections(void **state)
{
	struct doca_rdma_connection *first;
	struct doca_mmap *first_peer;
	struct endpoint third;
	struct doca_buf *src, *dst;
	struct endpoint_offer offer;

	assert_ok(endpoint_open(&third, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R));
	fixture_fill(third.bytes, ENDPOINT_LEN, 3);
	assert_ok(doca_rdma_set_max_num_connections(local.rdma, 2));
	assert_ok(endpoint_pair(&local, &remote));
	first = local.connection;
	first_peer = local.peer;
	local.peer = NULL;
	assert_ok(endpoint_pair(&local, &third));
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_FULL);
	assert_ok(endpoint_read(&local, 0, 0, 1000));
	assert_memory_equal(local.bytes, third.bytes, 1000);
	local.connection = first;
	src = endpoint_source(&local, first_peer, remote.bytes, 1000);
	dst = endpoint_room(&local, local.mmap, local.bytes + 2000, 1000);
	assert_ok(endpoint_submit(&local, true, src, dst, 0));
	assert_ok(endpoint_wait(&local, 2));
	assert_memory_equal(local.bytes + 2000, remote.bytes, 1000);
	assert_int_equal(local.num_done, 2);
	drop(src);
	drop(dst);
	assert_ok(doca_mmap_destroy(first_peer));
	assert_ok(endpoint_close(&third));
}

/* A closed peer delays its own tasks only. */
static void connections_do_not_wait_for_one_another(void **state)
{
	struct doca_rdma_connection *dead, *alive;
	struct endpoint third;
	struct doca_buf *src, *dst, *live_src, *live_dst;
	struct doca_mmap *dead_peer;

	assert_ok(endpoint_open(&third, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R));
	assert_ok(doca_rdma_set_max_num_connections(local.rdma, 2));
	assert_ok(endpoint_pair(&local, &third));
	dead = local.connection;
	dead_peer = local.peer;
	local.peer = NULL;
	assert_ok(endpoint_pair(&local, &remote));
	alive = local.connection;
	assert_ok(endpoint_stop(&third));
	src = endpoint_source(&local, dead_peer, third.bytes, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, 64);
	live_src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	live_dst = endpoint_room(&local, local.mmap, local.bytes + 64, 64);
	local.connection = dead;
	assert_ok(endpoint_submit(&local, true, src, dst, 1));
	local.connection = alive;
	assert_ok(endpoint_submit(&local, true, live_src, live_dst, 2));
	assert_ok(endpoint_wait(&local, 1));
	assert_int_equal(local.last_data, 2);
	assert_ok(local.last_error);
	assert_ok(endpoint_wait(&local, 2));
	assert_error(local.last_error, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	drop(src);
	drop(dst);
	drop(live_src);
	drop(live_dst);
	assert_ok(doca_mmap_destroy(dead_peer));
	assert_ok(endpoint_close(&third));
}

static void access_that_the_connection_forbids_fails(void **state)
{
	uint8_t before[64];

	reopen_remote(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R);
	memcpy(before, remote.bytes, sizeof(before));
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_read(&local, 0, 0, 64));
	assert_error(endpoint_write(&local, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(remote.bytes, before, sizeof(before));
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);

	reopen_remote(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW);
	memcpy(before, local.bytes, sizeof(before));
	assert_ok(endpoint_pair(&local, &remote));
	assert_error(endpoint_read(&local, 0, 100, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(local.bytes, before, sizeof(before));
}

static void access_that_the_map_forbids_fails(void **state)
{
	uint8_t before[64];

	reopen_remote(LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R | RDMA_W);
	memcpy(before, remote.bytes, sizeof(before));
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_read(&local, 0, 0, 64));
	assert_error(endpoint_write(&local, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(remote.bytes, before, sizeof(before));

	reopen_remote(RDMA_W, LOCAL_RW | RDMA_R | RDMA_W);
	memcpy(before, local.bytes, sizeof(before));
	assert_ok(endpoint_pair(&local, &remote));
	assert_error(endpoint_read(&local, 0, 100, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(local.bytes, before, sizeof(before));
}

static void read_into_read_only_memory_fails(void **state)
{
	assert_ok(endpoint_close(&local));
	assert_ok(endpoint_open(&local, dev, 0, LOCAL_RW));
	memset(local.bytes, 7, 64);
	assert_ok(endpoint_pair(&local, &remote));
	assert_error(endpoint_read(&local, 0, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(local.bytes[0], 7);
}

static void a_failed_task_stops_the_context(void **state)
{
	struct doca_buf *src, *dst;

	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(doca_mmap_stop(remote.mmap));
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, ENDPOINT_LEN);
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++)
		assert_ok(endpoint_submit(&local, true, src, dst, i));
	assert_ok(endpoint_wait(&local, 1));
	assert_error(local.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_STOPPING);
	assert_ok(endpoint_wait(&local, ENDPOINT_TASKS));
	assert_int_equal(local.num_failed, ENDPOINT_TASKS);
	assert_error(local.last_error, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(local.num_changes, 3);
	assert_changed(&local, 0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING);
	assert_changed(&local, 1, DOCA_CTX_STATE_RUNNING, DOCA_CTX_STATE_STOPPING);
	assert_changed(&local, 2, DOCA_CTX_STATE_STOPPING, DOCA_CTX_STATE_IDLE);
	assert_int_equal(len_of(dst), 0);
	drop(src);
	drop(dst);
	/* A new connection works. */
	assert_ok(doca_mmap_start(remote.mmap));
	assert_ok(endpoint_stop(&remote));
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_read(&local, 0, 64, 64));
	assert_memory_equal(local.bytes, remote.bytes + 64, 64);
}

/* Including tasks that the queue had no room for. */
static void all_tasks_behind_a_failed_one_are_flushed(void **state)
{
	struct doca_buf *src, *dst;

	assert_ok(doca_rdma_set_send_queue_size(local.rdma, 4));
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(doca_mmap_stop(remote.mmap));
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, ENDPOINT_LEN);
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++)
		assert_ok(endpoint_submit(&local, true, src, dst, i));
	assert_ok(endpoint_wait(&local, 1));
	assert_error(local.last_error, DOCA_ERROR_NOT_PERMITTED);
	for (unsigned int i = 1; i < ENDPOINT_TASKS; i++) {
		assert_ok(endpoint_wait(&local, i + 1));
		assert_error(local.last_error, DOCA_ERROR_SHUTDOWN);
		assert_int_equal(local.last_data, i);
	}
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	drop(src);
	drop(dst);
	assert_ok(doca_mmap_start(remote.mmap));
}

static void closed_peer_is_connection_aborted(void **state)
{
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_stop(&remote));
	assert_error(endpoint_write(&local, 0, 0, 64), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
}

static void a_peer_may_connect_later(void **state)
{
	struct endpoint_offer of_local, of_remote;
	struct doca_buf *src, *dst;

	assert_ok(doca_ctx_start(local.ctx));
	assert_ok(doca_ctx_start(remote.ctx));
	assert_ok(endpoint_offer(&local, &of_local));
	assert_ok(endpoint_offer(&remote, &of_remote));
	assert_ok(endpoint_accept(&local, &of_remote));
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, 64);
	assert_ok(endpoint_submit(&local, true, src, dst, 0));
	assert_int_equal(doca_pe_progress(local.pe), 0);
	assert_ok(endpoint_accept(&remote, &of_local));
	assert_ok(endpoint_wait(&local, 1));
	assert_ok(local.last_error);
	assert_memory_equal(local.bytes, remote.bytes, 64);
	drop(src);
	drop(dst);
}

/* A submitted task fails in its callback; a tried one is refused. */
static void assert_bad(bool is_read, struct doca_buf *src, struct doca_buf *dst, doca_error_t error)
{
	union doca_data none = {0};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_task *task;
	unsigned int before = local.num_failed;

	if (is_read) {
		assert_ok(doca_rdma_task_read_allocate_init(local.rdma, local.connection, src, dst,
							    none, &read));
		task = doca_rdma_task_read_as_task(read);
	} else {
		assert_ok(doca_rdma_task_write_allocate_init(local.rdma, local.connection, src, dst,
							     none, &write));
		task = doca_rdma_task_write_as_task(write);
	}
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_task_submit(task));
	assert_int_equal(local.num_failed, before);
	assert_ok(endpoint_wait(&local, before + 1));
	assert_int_equal(local.num_failed, before + 1);
	assert_error(local.last_error, error);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
}

static void bad_tasks_fail_in_their_callback(void **state)
{
	struct doca_buf *far, *far_room, *near, *room, *narrow, *nothing;

	assert_ok(endpoint_pair(&local, &remote));
	far = endpoint_source(&local, local.peer, local.peer_addr, 64);
	far_room = endpoint_room(&local, local.peer, local.peer_addr, 64);
	near = endpoint_source(&local, local.mmap, local.bytes, 64);
	room = endpoint_room(&local, local.mmap, local.bytes, 64);
	narrow = endpoint_room(&local, local.mmap, local.bytes, 63);
	nothing = endpoint_source(&local, local.mmap, local.bytes, 0);

	assert_bad(true, NULL, room, DOCA_ERROR_INVALID_VALUE);
	assert_ok(endpoint_stop(&remote));
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
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct endpoint_offer of_local, of_remote;

		assert_ok(doca_ctx_start(local.ctx));
		assert_ok(doca_ctx_start(remote.ctx));
		assert_ok(endpoint_offer(&local, &of_local));
		assert_ok(endpoint_offer(&remote, &of_remote));
		assert_ok(doca_rdma_connect(local.rdma, of_remote.details.bytes,
					    of_remote.details.len, local.connection));
		assert_bad(cases[i].is_read, cases[i].src, cases[i].dst, cases[i].error);
		assert_ok(endpoint_stop(&remote));
	}
	/* Never connected. */
	assert_ok(doca_ctx_start(local.ctx));
	assert_ok(endpoint_offer(&local, &(struct endpoint_offer){0}));
	assert_bad(true, far, room, DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(local.num_done, 0);
	drop(far);
	drop(far_room);
	drop(near);
	drop(room);
	drop(narrow);
	drop(nothing);
}

static void details_are_checked_byte_by_byte(void **state)
{
	struct endpoint_offer of_local, of_remote;
	uint8_t bytes[DESCRIPTOR_ROOM];
	size_t len;

	assert_ok(doca_ctx_start(local.ctx));
	assert_ok(doca_ctx_start(remote.ctx));
	assert_ok(endpoint_offer(&local, &of_local));
	assert_ok(endpoint_offer(&remote, &of_remote));
	len = of_remote.details.len;
	for (size_t i = 0; i < len; i++) {
		memcpy(bytes, of_remote.details.bytes, len);
		bytes[i] ^= 0x10;
		assert_error(doca_rdma_connect(local.rdma, bytes, len, local.connection),
			     DOCA_ERROR_CONNECTION_ABORTED);
		assert_error(
			doca_rdma_connect(local.rdma, of_remote.details.bytes, i, local.connection),
			DOCA_ERROR_CONNECTION_ABORTED);
	}
	assert_error(
		doca_rdma_connect(local.rdma, of_remote.details.bytes, len + 1, local.connection),
		DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(doca_rdma_connect(local.rdma, of_remote.map.bytes, of_remote.map.len,
				       local.connection),
		     DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(doca_rdma_connect(local.rdma, of_remote.details.bytes, len, remote.connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(endpoint_accept(&local, &of_remote));
	assert_error(doca_rdma_connect(local.rdma, of_remote.details.bytes, len, local.connection),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(endpoint_accept(&remote, &of_local));
	assert_ok(endpoint_read(&local, 0, 0, 64));
}

static void connections_have_numbers_and_user_data(void **state)
{
	struct doca_rdma_connection *first;
	union doca_data data = {.u64 = 99};
	struct endpoint_offer offer;
	uint32_t id[2];

	assert_ok(doca_rdma_set_max_num_connections(local.rdma, 2));
	assert_ok(doca_ctx_start(local.ctx));
	assert_ok(endpoint_offer(&local, &offer));
	first = local.connection;
	assert_ok(endpoint_offer(&local, &offer));
	assert_ok(doca_rdma_connection_get_id(first, &id[0]));
	assert_ok(doca_rdma_connection_get_id(local.connection, &id[1]));
	assert_int_not_equal(id[0], id[1]);

	assert_ok(doca_rdma_connection_get_user_data(first, &data));
	assert_int_equal(data.u64, 0);
	data.u64 = 5;
	assert_ok(doca_rdma_connection_set_user_data(local.connection, data));
	assert_ok(doca_rdma_connection_get_user_data(first, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_rdma_connection_get_user_data(local.connection, &data));
	assert_int_equal(data.u64, 5);
	assert_error(doca_rdma_connection_get_id(NULL, &id[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_get_user_data(first, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_connection_state_callbacks(local.rdma, NULL, NULL, NULL, NULL),
		     DOCA_ERROR_BAD_STATE);
}

static void completions_notify_the_engine(void **state)
{
	doca_notification_handle_t handle;
	struct doca_buf *src, *dst, *rooms[4];
	struct pollfd fd = {.events = POLLIN};

	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(doca_pe_get_notification_handle(local.pe, &handle));
	fd.fd = handle;
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, 64);
	assert_ok(doca_pe_request_notification(local.pe));
	assert_ok(endpoint_submit(&local, true, src, dst, 0));
	assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_ok(doca_pe_clear_notification(local.pe, 0));
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_int_equal(local.num_done, 1);
	/* Progressing one task reports the remaining ones. */
	for (size_t i = 0; i < 4; i++) {
		rooms[i] = endpoint_room(&local, local.mmap, local.bytes + 64 * i, 64);
		assert_ok(endpoint_submit(&local, true, src, rooms[i], 0));
	}
	while (local.num_done < 5) {
		assert_ok(doca_pe_request_notification(local.pe));
		assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(local.pe, 0));
		doca_pe_progress(local.pe);
	}
	/* A task that never reaches the device. */
	assert_ok(doca_pe_request_notification(local.pe));
	assert_ok(endpoint_submit(&local, true, src, NULL, 0));
	assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_int_equal(local.num_failed, 1);
	for (size_t i = 0; i < 4; i++)
		drop(rooms[i]);
	drop(src);
	drop(dst);
}

static void stop_waits_for_tasks(void **state)
{
	struct doca_buf *src, *dst;
	size_t num = 0;

	assert_ok(endpoint_pair(&local, &remote));
	src = endpoint_source(&local, local.peer, local.peer_addr, ENDPOINT_LEN / 2);
	dst = endpoint_room(&local, local.mmap, local.bytes, ENDPOINT_LEN);
	assert_ok(endpoint_submit(&local, true, src, dst, 1));
	assert_ok(endpoint_submit(&local, true, src, dst, 2));
	assert_ok(doca_ctx_get_num_inflight_tasks(local.ctx, &num));
	assert_int_equal(num, 2);
	assert_error(doca_ctx_stop(local.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_rdma_destroy(local.rdma), DOCA_ERROR_BAD_STATE);
	assert_error(endpoint_submit(&local, true, src, dst, 3), DOCA_ERROR_BAD_STATE);
	assert_ok(endpoint_stop(&local));
	assert_int_equal(local.num_done + local.num_failed, 2);
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
	struct endpoint_offer of_local;
	const void *details;
	size_t len;

	assert_ok(doca_rdma_create(dev, &rdma));
	ctx = doca_rdma_as_ctx(rdma);
	assert_error(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	assert_ok(doca_pe_connect_ctx(remote.pe, ctx));
	assert_ok(doca_rdma_set_permissions(rdma, RDMA_R));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_rdma_export(rdma, &details, &len, &connection));
	assert_true(len <= 512);
	assert_error(doca_rdma_task_read_allocate_init(rdma, connection, NULL, NULL, none, &read),
		     DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_ctx_start(local.ctx));
	assert_ok(endpoint_offer(&local, &of_local));
	assert_ok(doca_rdma_connect(local.rdma, details, len, local.connection));
	assert_ok(
		doca_rdma_connect(rdma, of_local.details.bytes, of_local.details.len, connection));
	assert_ok(doca_mmap_export_rdma(remote.mmap, dev, &details, &len));
	assert_ok(doca_mmap_create_from_export(NULL, details, len, dev, &local.peer));
	local.peer_addr = remote.bytes;
	assert_ok(endpoint_read(&local, 0, 0, 1000));
	assert_memory_equal(local.bytes, remote.bytes, 1000);
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_rdma_destroy(rdma));
}

/* The last entry of the table of GIDs that is set, which may have holes before it. */
static uint32_t last_gid(void)
{
	static const struct doca_rdma_gid none;
	uint32_t size = 0, last = 0;
	struct doca_rdma_gid gid;

	assert_ok(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(dev), &size));
	for (uint32_t i = 0; i < size; i++) {
		assert_ok(doca_rdma_cap_get_gid(doca_dev_as_devinfo(dev), i, 1, &gid));
		if (memcmp(&gid, &none, sizeof(none)) != 0)
			last = i;
	}
	return last;
}

static void settings_are_returned_as_set(void **state)
{
	enum doca_rdma_transport_type transport = DOCA_RDMA_TRANSPORT_TYPE_DC;
	uint32_t value = 99;
	uint16_t num = 0;

	assert_ok(doca_rdma_get_permissions(local.rdma, &value));
	assert_int_equal(value, LOCAL_RW | RDMA_R | RDMA_W);
	assert_error(doca_rdma_set_permissions(local.rdma, PCI_RW), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_permissions(local.rdma, 0x80), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_gid_index(local.rdma, &value));
	assert_int_equal(value, 0);
	assert_error(doca_rdma_set_gid_index(local.rdma, 254), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_gid_index(local.rdma, 256), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_gid_index(local.rdma, last_gid()));
	assert_ok(doca_rdma_get_gid_index(local.rdma, &value));
	assert_int_equal(value, last_gid());
	assert_error(doca_rdma_set_transport_type(local.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_set_transport_type(local.rdma, (enum doca_rdma_transport_type)7),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_transport_type(local.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC));
	assert_ok(doca_rdma_get_transport_type(local.rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_TYPE_RC);
	assert_ok(doca_rdma_get_max_num_connections(local.rdma, &num));
	assert_int_equal(num, 1);
	assert_error(doca_rdma_set_max_num_connections(local.rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_set_gid_index(remote.rdma, last_gid()));
	assert_ok(endpoint_pair(&local, &remote));
	assert_ok(endpoint_read(&local, 0, 0, 64)); /* between these addresses */
	assert_error(doca_rdma_set_permissions(local.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_gid_index(local.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_transport_type(local.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_max_num_connections(local.rdma, 3), DOCA_ERROR_BAD_STATE);
}

static void nothing_done(struct doca_rdma_task_read *task, union doca_data task_data,
			 union doca_data ctx_data)
{
}

static void nothing_written(struct doca_rdma_task_write *task, union doca_data task_data,
			    union doca_data ctx_data)
{
}

static void capabilities_are_bounded(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint32_t max = 0, most = 0;

	assert_ok(doca_rdma_cap_task_read_is_supported(info));
	assert_ok(doca_rdma_cap_task_write_is_supported(info));
	assert_error(doca_rdma_cap_task_read_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_task_write_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_cap_get_max_message_size(info, &max));
	assert_true(max >= 1u << 20);
	assert_error(doca_rdma_cap_get_max_message_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_cap_get_max_send_buf_list_len(info, &max));
	assert_true(max > 1);
	assert_error(doca_rdma_cap_get_max_send_buf_list_len(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	for (most = 1; doca_rdma_task_read_set_conf(local.rdma, nothing_done, nothing_done,
						    most * 2) == DOCA_SUCCESS;
	     most *= 2)
		assert_true(most < 1u << 30);
	assert_true(most >= 1024);
	assert_error(doca_rdma_task_read_set_conf(local.rdma, nothing_done, nothing_done, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_set_conf(local.rdma, NULL, nothing_done, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_write_set_conf(local.rdma, nothing_written, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_write_set_conf(local.rdma, nothing_written, nothing_written, 0),
		     DOCA_ERROR_INVALID_VALUE);
	/* The largest configuration can be started, with the deepest queue. */
	assert_ok(doca_rdma_task_read_set_conf(local.rdma, nothing_done, nothing_done, most));
	assert_ok(
		doca_rdma_task_write_set_conf(local.rdma, nothing_written, nothing_written, most));
	assert_ok(endpoint_pair(&local, &remote));
	assert_error(doca_rdma_task_read_set_conf(local.rdma, nothing_done, nothing_done, 1),
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

	assert_error(doca_rdma_create(NULL, &rdma), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_rdma_as_ctx(NULL));
	assert_null(doca_rdma_task_read_as_task(NULL));
	assert_null(doca_rdma_task_write_as_task(NULL));
	assert_error(doca_rdma_export(local.rdma, &details, &len, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_export(local.rdma, &details, &len, &connection),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connect(local.rdma, "", 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(endpoint_pair(&local, &remote));
	connection = local.connection;
	assert_error(doca_rdma_connect(local.rdma, NULL, 1, connection), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_allocate_init(local.rdma, NULL, NULL, NULL, none, &read),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_read_allocate_init(local.rdma, remote.connection, NULL, NULL,
						       none, &read),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_rdma_task_write_allocate_init(local.rdma, connection, NULL, NULL, none, NULL),
		DOCA_ERROR_INVALID_VALUE);
	assert_null(read);
	assert_null(write);
	assert_null(details);
}

static void tasks_are_a_pool_of_each_kind(void **state)
{
	struct doca_rdma_task_read *reads[ENDPOINT_TASKS], *more = NULL;
	struct doca_rdma_task_write *write;
	struct doca_buf *src, *dst;
	union doca_data data = {.u64 = 5};

	assert_ok(endpoint_pair(&local, &remote));
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++)
		assert_ok(doca_rdma_task_read_allocate_init(local.rdma, local.connection, NULL,
							    NULL, data, &reads[i]));
	assert_error(doca_rdma_task_read_allocate_init(local.rdma, local.connection, NULL, NULL,
						       data, &more),
		     DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_rdma_task_write_allocate_init(local.rdma, local.connection, NULL, NULL, data,
						     &write));
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, 64);
	doca_rdma_task_read_set_src_buf(reads[0], src);
	doca_rdma_task_read_set_dst_buf(reads[0], dst);
	assert_ptr_equal(doca_rdma_task_read_get_src_buf(reads[0]), src);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(reads[0]), dst);
	doca_rdma_task_write_set_src_buf(write, src);
	doca_rdma_task_write_set_dst_buf(write, dst);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(write), src);
	assert_ptr_equal(doca_rdma_task_write_get_dst_buf(write), dst);
	assert_ptr_equal(doca_task_get_ctx(doca_rdma_task_write_as_task(write)), local.ctx);
	local.keep_tasks = true;
	assert_ok(doca_task_try_submit(doca_rdma_task_read_as_task(reads[0])));
	assert_ok(endpoint_wait(&local, 1));
	assert_int_equal(local.last_data, 5);
	assert_ok(local.last_error);
	doca_task_free(doca_rdma_task_write_as_task(write));
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++)
		doca_task_free(doca_rdma_task_read_as_task(reads[i]));
	drop(src);
	drop(dst);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ends_test(both_ends_read_and_write),
		ends_test(data_goes_behind_the_data),
		ends_test(tasks_use_local_lists_and_the_head_of_remote_ones),
		ends_test(more_pieces_than_the_queue_holds),
		ends_test(one_context_has_several_connections),
		ends_test(connections_do_not_wait_for_one_another),
		ends_test(access_that_the_connection_forbids_fails),
		ends_test(access_that_the_map_forbids_fails),
		ends_test(read_into_read_only_memory_fails),
		ends_test(a_failed_task_stops_the_context),
		ends_test(all_tasks_behind_a_failed_one_are_flushed),
		ends_test(closed_peer_is_connection_aborted),
		ends_test(a_peer_may_connect_later),
		ends_test(bad_tasks_fail_in_their_callback),
		ends_test(details_are_checked_byte_by_byte),
		ends_test(connections_have_numbers_and_user_data),
		ends_test(completions_notify_the_engine),
		ends_test(stop_waits_for_tasks),
		ends_test(a_responder_needs_no_tasks),
		ends_test(tasks_are_a_pool_of_each_kind),
		ends_test(settings_are_returned_as_set),
		ends_test(capabilities_are_bounded),
		ends_test(null_is_invalid),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
