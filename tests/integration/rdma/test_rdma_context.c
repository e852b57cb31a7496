/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts: start, stop, and connections by details. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "side.h"

#define PART 100u

static void start_both(void)
{
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
}

/* The details of a new connection, copied to an odd address. */
struct details {
	uint8_t *bytes;
	size_t len;
	struct doca_rdma_connection *connection;
};

static struct details export_details(struct side *side)
{
	struct details d;
	const void *bytes;

	assert_ok(doca_rdma_export(side->rdma, &bytes, &d.len, &d.connection));
	d.bytes = malloc(d.len + 1);
	assert_non_null(d.bytes);
	memcpy(d.bytes + 1, bytes, d.len);
	side->connections[side->n_connections++] = d.connection;
	return d;
}

static doca_error_t connect_details(struct side *side, const struct details *mine,
				    const struct details *theirs)
{
	return doca_rdma_connect(side->rdma, theirs->bytes + 1, theirs->len, mine->connection);
}

/* rule: RD-1 */
static void start_is_running_at_return(void **state)
{
	assert_ok(side_start(&here));
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(side_count(&here, "RUNNING"), 1);
	assert_int_equal(side_count(&here, "STARTING"), 0);
}

static void exchange_and_stop(struct side *side, const char *word)
{
	if (strcmp(word, "RUNNING") != 0)
		return;
	assert_ok(side_connect());
	fixture_fill(side->bytes, PART, 1);
	side_ok(side, .kind = SIDE_WRITE, .src = side_data(side, 0, PART),
		.dst = side_peer_room(side, 0, PART));
	assert_ok(doca_ctx_stop(side->ctx));
}

/* rule: RD-2 */
static void start_succeeds_after_its_callback_ran_everything(void **state)
{
	assert_ok(side_start(&there));
	here.on_word = exchange_and_stop;
	assert_ok(side_start(&here));
	assert_string_equal(here.log, "RUNNING IDLE");
	assert_memory_equal(here.bytes, there.bytes, PART);
}

/* rule: RD-3a, RD-6 */
static void a_task_is_accepted_directly_after_connect(void **state)
{
	struct details mine, theirs;

	start_both();
	mine = export_details(&here);
	theirs = export_details(&there);
	assert_ok(connect_details(&there, &theirs, &mine));
	assert_ok(connect_details(&here, &mine, &theirs));
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&there, 1));
	free(mine.bytes);
	free(theirs.bytes);
}

/* rule: RD-3b */
static void connections_by_details_have_no_callbacks(void **state)
{
	assert_ok(side_set_callbacks(&here));
	assert_ok(side_set_callbacks(&there));
	start_both();
	assert_ok(side_connect());
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&there, 1));
	assert_ok(side_stop(&here));
	for (unsigned int i = 0; i < 100; i++)
		side_progress();
	assert_string_equal(here.log, "RUNNING IDLE");
	assert_string_equal(there.log, "RUNNING");
}

/* False if this took so long that the transport may have given up. */
static bool connect_after_submission(void)
{
	struct details mine, theirs;
	uint64_t begin;
	bool in_time;

	start_both();
	mine = export_details(&here);
	theirs = export_details(&there);
	assert_ok(connect_details(&here, &mine, &theirs));
	side_post(&there, .kind = SIDE_RECEIVE);
	begin = monotonic_ms();
	side_post(&here, .kind = SIDE_SEND, .connection = mine.connection);
	while (monotonic_ms() < begin + 300)
		doca_pe_progress(here.pe);
	assert_ok(connect_details(&there, &theirs, &mine));
	in_time = monotonic_ms() < begin + 1500;
	assert_true(side_wait(&here, 1));
	if (in_time)
		assert_ok(here.done[0].status);
	free(mine.bytes);
	free(theirs.bytes);
	return in_time;
}

/* rule: RD-4a */
static void tasks_wait_for_a_peer_that_connects_later(void **state)
{
	for (unsigned int i = 0; i < 20 && !connect_after_submission(); i++) {
		assert_ok(side_stop(&here));
		assert_ok(side_stop(&there));
		here.n_done = there.n_done = 0;
		here.n_connections = there.n_connections = 0;
	}
	assert_ok(here.done[0].status);
}

/* rule: RD-4b */
static void a_send_waits_until_the_peer_posts_a_receive(void **state)
{
	side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART));
	for (uint64_t end = monotonic_ms() + 300; monotonic_ms() < end;)
		assert_false(side_progress());
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, PART));
	assert_true(side_wait(&here, 1));
	assert_ok(here.done[0].status);
	assert_true(side_wait(&there, 1));
	assert_ok(there.done[0].status);
}

/* rule: RD-5a */
static void each_connection_has_details_of_its_own(void **state)
{
	struct details mine[SIDE_CONNECTIONS], theirs[SIDE_CONNECTIONS];
	const void *first;
	size_t len;

	start_both();
	for (unsigned int i = 0; i < SIDE_CONNECTIONS; i++) {
		theirs[i] = export_details(&there);
		if (i)
			mine[i] = export_details(&here);
		else
			assert_ok(doca_rdma_export(here.rdma, &first, &len, &here.connections[0]));
		if (!i) {
			mine[0] = (struct details){malloc(len + 1), len, here.connections[0]};
			memcpy(mine[0].bytes + 1, first, len);
			here.n_connections = 1;
		}
		for (unsigned int j = 0; j < i; j++)
			assert_memory_not_equal(mine[i].bytes + 1, mine[j].bytes + 1, len);
	}
	assert_memory_equal(first, mine[0].bytes + 1, len);
	for (unsigned int i = 0; i < SIDE_CONNECTIONS; i++) {
		assert_ok(connect_details(&here, &mine[i], &theirs[i]));
		assert_ok(connect_details(&there, &theirs[i], &mine[i]));
		side_post(&there, .kind = SIDE_RECEIVE);
		side_ok(&here, .kind = SIDE_SEND, .connection = mine[i].connection);
		assert_true(side_wait(&there, i + 1));
		assert_ptr_equal(there.done[i].connection, theirs[i].connection);
		free(mine[i].bytes);
		free(theirs[i].bytes);
	}
}

/* rule: RD-5b */
static void a_restarted_context_connects_anew(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		start_both();
		assert_ok(side_connect());
		side_post(&there, .kind = SIDE_RECEIVE);
		side_ok(&here, .kind = SIDE_SEND);
		assert_true(side_wait(&there, i + 1));
		assert_ok(side_stop(&here));
		assert_ok(side_stop(&there));
		here.n_connections = there.n_connections = 0;
	}
}

static void wait_alone(struct side *side, unsigned int n)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side->n_done < n) {
		doca_pe_progress(side->pe);
		assert_true(monotonic_ms() < limit);
	}
}

/* rule: RD-7 */
static void the_target_needs_no_progress(void **state)
{
	fixture_fill(here.bytes, PART, 1);
	side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		  .dst = side_peer_room(&here, 0, PART));
	side_post(&here, .kind = SIDE_READ, .src = side_peer_data(&here, 0, PART),
		  .dst = side_room(&here, 4096, PART));
	side_post(&here, .kind = SIDE_FETCH_ADD, .dst = side_peer_data(&here, 8192, 8),
		  .result = side_room(&here, 8192, 8), .add = 1);
	wait_alone(&here, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_ok(here.done[i].status);
	assert_memory_equal(here.bytes + 4096, here.bytes, PART);
	assert_int_equal(there.bytes[8192], 1);
}

/* rule: RD-8a */
static void permissions_are_accepted_with_and_without_local_access(void **state)
{
	const uint32_t flags[] = {DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_WRITE,
				  DOCA_ACCESS_FLAG_RDMA_ATOMIC};

	for (unsigned int set = 0; set < 16; set++) {
		uint32_t wanted = set & 8 ? LOCAL_RW : 0, got = ~0u;

		for (unsigned int i = 0; i < 3; i++)
			wanted |= set & 1u << i ? flags[i] : 0;
		assert_ok(doca_rdma_set_permissions(here.rdma, wanted));
		assert_ok(doca_rdma_get_permissions(here.rdma, &got));
		assert_int_equal(got, wanted);
		assert_ok(side_start(&here));
		assert_ok(side_stop(&here));
	}
}

/* The task of each kind that needs a permission, on the first 8 bytes of the peer. */
static struct side_work work_of(enum side_kind kind)
{
	struct side_work work = {.kind = kind, .add = 1, .swap = 2};

	if (kind == SIDE_READ) {
		work.src = side_peer_data(&here, 0, 8);
		work.dst = side_room(&here, 0, 8);
	} else if (kind == SIDE_WRITE || kind == SIDE_WRITE_IMM) {
		work.src = side_data(&here, 0, 8);
		work.dst = side_peer_room(&here, 0, 8);
	} else {
		work.dst = side_peer_data(&here, 0, 8);
		work.result = side_room(&here, 0, 8);
	}
	return work;
}

/* One task of each kind; a refused one changes nothing. */
static void try_accesses(const bool permitted[3])
{
	static const struct {
		enum side_kind kind;
		unsigned int permission;
	} tries[] = {{SIDE_READ, 0},
		     {SIDE_WRITE, 1},
		     {SIDE_WRITE_IMM, 1},
		     {SIDE_CMP_SWP, 2},
		     {SIDE_FETCH_ADD, 2}};

	for (unsigned int i = 0; i < ARRAY_SIZE(tries); i++) {
		bool is_permitted = permitted[tries[i].permission];
		struct side_work work;

		if (side_state(&here) != DOCA_CTX_STATE_RUNNING)
			assert_ok(side_start(&here));
		if (side_state(&there) == DOCA_CTX_STATE_RUNNING)
			assert_ok(side_stop(&there));
		assert_ok(side_start(&there));
		here.n_connections = there.n_connections = 0;
		assert_ok(side_connect());
		side_post(&there, .kind = SIDE_RECEIVE);
		memset(here.bytes, 3, 8);
		memset(there.bytes, 5, 8);
		work = work_of(tries[i].kind);
		assert_error(side_do(&here, &work),
			     is_permitted ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED);
		if (!is_permitted) {
			assert_memory_equal(here.bytes, "\3\3\3\3\3\3\3\3", 8);
			assert_memory_equal(there.bytes, "\5\5\5\5\5\5\5\5", 8);
		}
		assert_ok(side_stop(&here));
	}
}

/* rule: RD-8b */
static void an_access_needs_the_permission_of_the_context(void **state)
{
	const uint32_t flags[] = {DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_WRITE,
				  DOCA_ACCESS_FLAG_RDMA_ATOMIC};

	for (unsigned int i = 0; i < 3; i++) {
		if (side_state(&there) == DOCA_CTX_STATE_RUNNING)
			assert_ok(side_stop(&there));
		assert_ok(doca_rdma_set_permissions(there.rdma, flags[i]));
		try_accesses((const bool[]){i == 0, i == 1, i == 2});
	}
}

/* rule: RD-8c, RT-10 */
static void an_access_needs_the_permission_of_the_map(void **state)
{
	const uint32_t flags[] = {DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_WRITE,
				  DOCA_ACCESS_FLAG_RDMA_ATOMIC};

	for (unsigned int i = 0; i < 3; i++) {
		struct doca_dev *dev_here = here.dev, *dev_there = there.dev;

		assert_ok(side_close(&here));
		assert_ok(side_close(&there));
		assert_ok(side_open(&here, dev_here, 0));
		assert_ok(side_open(&there, dev_there, LOCAL_RW | flags[i]));
		try_accesses((const bool[]){i == 0, i == 1, i == 2});
	}
}

static void *connect_both(void *arg)
{
	*(doca_error_t *)arg = side_connect();
	return NULL;
}

/* rule: RD-9 */
static void another_thread_may_connect(void **state)
{
	doca_error_t result = DOCA_ERROR_UNKNOWN;
	pthread_t thread;

	start_both();
	assert_int_equal(pthread_create(&thread, NULL, connect_both, &result), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(result);
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&there, 1));
}

/* rule: RD-9 */
static void several_contexts_share_an_engine(void **state)
{
	assert_ok(side_close(&there));
	assert_ok(side_open_beside(&there, &here));
	start_both();
	assert_ok(side_connect());
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&there, 1));
	assert_ok(side_close(&there));
}

/* rule: RD-10a, X-11 */
static void stop_with_connections_is_idle_at_return(void **state)
{
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&there, 1));
	assert_ok(doca_ctx_stop(here.ctx));
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_rdma_destroy(here.rdma));
	here.rdma = NULL;
	here.ctx = NULL;
}

static void stop_it(struct side *side, const struct side_done *done, struct doca_task *task)
{
	(void)done;
	assert_error(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
}

/* rule: RD-10b, RD-10c, X-7 */
static void stop_in_a_completion_callback_is_in_progress(void **state)
{
	here.hook = stop_it;
	side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		  .dst = side_peer_room(&here, 0, PART));
	assert_true(side_wait_state(&here, DOCA_CTX_STATE_IDLE));
	assert_string_equal(here.log, "RUNNING STOPPING IDLE");
}

/* rule: RD-10d, X-6b */
static void stop_flushes_submitted_tasks_in_order(void **state)
{
	for (unsigned int i = 0; i < 10; i++) {
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART), .data = i);
		side_post(&here, .kind = SIDE_RECEIVE, .dst = side_room(&here, 0, PART),
			  .data = 100 + i);
	}
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(side_wait_state(&here, DOCA_CTX_STATE_IDLE));
	assert_int_equal(here.n_done, 20);
	for (unsigned int i = 0, sends = 0, receives = 0; i < 20; i++) {
		assert_error(here.done[i].status, DOCA_ERROR_SHUTDOWN);
		assert_true(here.done[i].by_error_cb);
		if (here.done[i].kind == SIDE_SEND)
			assert_int_equal(here.done[i].data, sends++);
		else
			assert_int_equal(here.done[i].data, 100 + receives++);
	}
}

/* rule: RD-11 */
static void the_inventory_may_go_first_and_the_imported_map_last(void **state)
{
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		.dst = side_peer_room(&here, 0, PART));
	assert_ok(doca_ctx_stop(here.ctx));
	while (here.n_bufs)
		assert_ok(doca_buf_dec_refcount(here.bufs[--here.n_bufs], NULL));
	assert_ok(doca_buf_inventory_destroy(here.inventory));
	here.inventory = NULL;
	assert_ok(doca_rdma_destroy(here.rdma));
	here.rdma = NULL;
	here.ctx = NULL;
	assert_ok(doca_pe_destroy(here.pe));
	here.pe = NULL;
}

/* rule: X-9 */
static void progress_is_zero_unless_something_happened(void **state)
{
	unsigned int before;

	for (unsigned int i = 0; i < 100; i++)
		assert_false(side_progress());
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&here, .kind = SIDE_SEND);
	for (uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	     here.n_done + there.n_done < 2;) {
		before = here.n_done + there.n_done;
		if (side_progress())
			assert_true(here.n_done + there.n_done > before);
		assert_true(monotonic_ms() < limit);
	}
}

/* rule: X-14 */
static void the_descriptor_of_the_engine_becomes_readable(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct pollfd fd = {.events = POLLIN};

		side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, PART));
		assert_ok(doca_pe_get_notification_handle(there.pe, &fd.fd));
		while (doca_pe_progress(there.pe)) {
		}
		assert_ok(doca_pe_request_notification(there.pe));
		assert_int_equal(poll(&fd, 1, 0), 0);
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART));
		wait_alone(&here, i + 1);
		assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(there.pe, fd.fd));
		assert_true(side_wait(&there, i + 1));
	}
}

static void drive_another_engine(struct side *side, const struct side_done *done,
				 struct doca_task *task)
{
	unsigned int n = there.n_done + 1;

	(void)done;
	doca_task_free(task);
	side->hook = NULL;
	assert_ok(side_submit(&there,
			      &(struct side_work){.kind = SIDE_WRITE,
						  .src = side_data(&there, 0, PART),
						  .dst = side_peer_room(&there, 4096, PART)}));
	wait_alone(&there, n);
	assert_ok(there.done[n - 1].status);
}

/* rule: X-8 */
static void a_callback_may_progress_another_engine(void **state)
{
	fixture_fill(there.bytes, PART, 3);
	here.hook = drive_another_engine;
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		.dst = side_peer_room(&here, 8192, PART));
	assert_memory_equal(here.bytes + 4096, there.bytes, PART);
}

/* rule: RE-get-1 */
static void the_mtu_of_a_connection_is_the_smaller_one(void **state)
{
	enum doca_mtu_size mtu = DOCA_MTU_SIZE_RAW_ETHERNET;

	assert_ok(doca_rdma_set_mtu(there.rdma, DOCA_MTU_SIZE_512_BYTES));
	start_both();
	assert_ok(doca_rdma_get_mtu(here.rdma, &mtu));
	assert_true(mtu > DOCA_MTU_SIZE_512_BYTES);
	assert_ok(side_connect());
	assert_ok(doca_rdma_get_mtu(here.rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_512_BYTES);
}

static void on_nothing(struct doca_rdma_task_send *task, union doca_data data,
		       union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

/* With tasks, a connection and an address. */
static void live(void *context)
{
	struct doca_pe *pe = context;
	struct doca_rdma_connection *connection;
	struct doca_rdma_addr *addr;
	struct doca_rdma *rdma;
	const void *details;
	struct doca_ctx *ctx;
	size_t len;

	assert_ok(doca_rdma_create(here.dev, &rdma));
	ctx = doca_rdma_as_ctx(rdma);
	assert_ok(doca_rdma_task_send_set_conf(rdma, on_nothing, on_nothing, 8));
	assert_ok(doca_pe_connect_ctx(pe, ctx));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_rdma_export(rdma, &details, &len, &connection));
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_rdma_destroy(rdma));
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.0.2.1", 1, &addr));
	assert_ok(doca_rdma_addr_destroy(addr));
}

/* rule: RD-10a */
static void destroyed_contexts_leave_no_memory(void **state)
{
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	fixture_assert_no_growth(live, pe);
	assert_ok(doca_pe_destroy(pe));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		idle_test(start_is_running_at_return),
		idle_test(start_succeeds_after_its_callback_ran_everything),
		idle_test(a_task_is_accepted_directly_after_connect),
		idle_test(connections_by_details_have_no_callbacks),
		idle_test(tasks_wait_for_a_peer_that_connects_later),
		connected_test(a_send_waits_until_the_peer_posts_a_receive),
		idle_test(each_connection_has_details_of_its_own),
		idle_test(a_restarted_context_connects_anew),
		connected_test(the_target_needs_no_progress),
		idle_test(permissions_are_accepted_with_and_without_local_access),
		idle_test(an_access_needs_the_permission_of_the_context),
		idle_test(an_access_needs_the_permission_of_the_map),
		idle_test(another_thread_may_connect),
		idle_test(several_contexts_share_an_engine),
		connected_test(stop_with_connections_is_idle_at_return),
		connected_test(stop_in_a_completion_callback_is_in_progress),
		connected_test(stop_flushes_submitted_tasks_in_order),
		connected_test(the_inventory_may_go_first_and_the_imported_map_last),
		connected_test(progress_is_zero_unless_something_happened),
		connected_test(the_descriptor_of_the_engine_becomes_readable),
		connected_test(a_callback_may_progress_another_engine),
		idle_test(the_mtu_of_a_connection_is_the_smaller_one),
		idle_test(destroyed_contexts_leave_no_memory),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
