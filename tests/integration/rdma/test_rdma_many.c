/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Many connections on one context, at once and one after the other. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "fixture.h"

#define MANY	  1000u
#define NUM_ENDED 3100u /* more than twice what a context keeps */
#define EARLY	  1100u
#define LIMIT	  2048u /* ended connections that a context has at most */
#define LATER	  900u	/* fewer than a context keeps */
#define SLACK	  65536u
#define NUM_KEPT  1u
#define MAX_BLOB  512u

struct end {
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_rdma_connection *connections[MANY];
	uint8_t blobs[MANY][MAX_BLOB];
	size_t lens[MANY];
};

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct end sender, receiver;
static unsigned int num_sent, num_received;
static bool has_received[MANY];

static void on_send(struct doca_rdma_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	num_sent++;
	doca_task_free(doca_rdma_task_send_as_task(task));
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data data,
		       union doca_data ctx_data)
{
	const struct doca_rdma_connection *from =
		doca_rdma_task_receive_get_result_rdma_connection(task);
	union doca_data number = {0};

	(void)data;
	(void)ctx_data;
	if (doca_task_get_status(doca_rdma_task_receive_as_task(task)) == DOCA_SUCCESS) {
		assert_ok(doca_rdma_connection_get_user_data(from, &number));
		assert_false(has_received[number.u64]);
		has_received[number.u64] = true;
		num_received++;
	}
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static doca_error_t open_end(struct end *end)
{
	doca_error_t result = doca_rdma_create(dev, &end->rdma);

	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_rdma_as_ctx(end->rdma);
	result = doca_pe_connect_ctx(pe, end->ctx);
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_max_num_connections(end->rdma, MANY));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_send_queue_size(end->rdma, 1));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_max_send_buf_list_len(end->rdma, 1));
	return result;
}

static int open_ends(void **state)
{
	num_sent = num_received = 0;
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ||
	    doca_pe_create(&pe) != DOCA_SUCCESS || open_end(&sender) != DOCA_SUCCESS ||
	    open_end(&receiver) != DOCA_SUCCESS ||
	    doca_rdma_task_send_set_conf(sender.rdma, on_send, on_send, MANY) != DOCA_SUCCESS ||
	    doca_rdma_task_receive_set_conf(receiver.rdma, on_receive, on_receive, MANY) !=
		    DOCA_SUCCESS)
		return -1;
	return doca_ctx_start(sender.ctx) == DOCA_SUCCESS &&
			       doca_ctx_start(receiver.ctx) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int close_ends(void **state)
{
	doca_error_t result = doca_ctx_stop(sender.ctx);

	DOCA_ERROR_PROPAGATE(result, doca_ctx_stop(receiver.ctx));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(sender.rdma));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(receiver.rdma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(pe));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define many_test(function) cmocka_unit_test_setup_teardown(function, open_ends, close_ends)

static void export(struct end *end, unsigned int i)
{
	const void *blob;

	assert_ok(doca_rdma_export(end->rdma, &blob, &end->lens[i], &end->connections[i]));
	assert_true(end->lens[i] <= MAX_BLOB);
	memcpy(end->blobs[i], blob, end->lens[i]);
	assert_ok(doca_rdma_connection_set_user_data(end->connections[i],
						     (union doca_data){.u64 = i}));
}

static unsigned long resident_kib(void)
{
	unsigned long total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file) {
		if (fscanf(file, "%lu %lu", &total, &resident) != 2)
			resident = 0;
		fclose(file);
	}
	return resident * ((unsigned long)sysconf(_SC_PAGESIZE) / 1024);
}

static void connect_all(void)
{
	unsigned long before = resident_kib();
	uint64_t begin = monotonic_ms();

	for (unsigned int i = 0; i < MANY; i++) {
		export(&sender, i);
		export(&receiver, i);
	}
	for (unsigned int i = 0; i < MANY; i++) {
		assert_ok(doca_rdma_connect(sender.rdma, receiver.blobs[i], receiver.lens[i],
					    sender.connections[i]));
		assert_ok(doca_rdma_connect(receiver.rdma, sender.blobs[i], sender.lens[i],
					    receiver.connections[i]));
	}
	printf("%u connections, both ends: %llu ms, %lu KiB\n", MANY,
	       (unsigned long long)(monotonic_ms() - begin), resident_kib() - before);
}

static void post_receive(void)
{
	struct doca_rdma_task_receive *task;

	assert_ok(doca_rdma_task_receive_allocate_init(receiver.rdma, NULL, (union doca_data){0},
						       &task));
	assert_ok(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

static void send_to(unsigned int i)
{
	struct doca_rdma_task_send *task;

	assert_ok(doca_rdma_task_send_allocate_init(sender.rdma, sender.connections[i], NULL,
						    (union doca_data){0}, &task));
	assert_ok(doca_task_submit(doca_rdma_task_send_as_task(task)));
}

/* rule: RD-5a, RT-7 */
static void a_thousand_connections_share_one_pool_of_receives(void **state)
{
	uint64_t limit;

	connect_all();
	for (unsigned int i = 0; i < MANY; i++)
		post_receive();
	for (unsigned int i = 0; i < MANY; i++)
		send_to(i);
	limit = monotonic_ms() + 2 * FIXTURE_TIMEOUT_MS;
	while (num_sent < MANY || num_received < MANY) {
		assert_true(monotonic_ms() < limit);
		doca_pe_progress(pe);
	}
	for (unsigned int i = 0; i < MANY; i++)
		assert_true(has_received[i]);
}

/* rule: RD-5a, CM-R5b */
static void connections_that_ended_do_not_accumulate(void **state)
{
	struct doca_rdma_task_send *task;
	union doca_data data = {.u64 = 0x5ca1ab1e};
	uint32_t id = 0, id_then = 1;
	size_t early = 0;

	export(&sender, 0);
	assert_ok(doca_rdma_connection_set_user_data(sender.connections[0], data));
	assert_ok(doca_rdma_connection_get_id(sender.connections[0], &id));
	/* A task keeps the object of its connection. */
	assert_ok(doca_rdma_task_send_allocate_init(sender.rdma, sender.connections[0], NULL,
						    (union doca_data){0}, &task));
	for (unsigned int i = 0; i < NUM_ENDED; i++) {
		export(&sender, NUM_KEPT);
		assert_ok(doca_rdma_connection_disconnect(sender.connections[NUM_KEPT]));
		assert_ok(doca_rdma_connection_disconnect(sender.connections[NUM_KEPT]));
		if (i == 0)
			assert_ok(doca_rdma_connection_disconnect(sender.connections[0]));
		if (i == EARLY)
			early = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks <= early + SLACK);
	assert_ok(doca_rdma_connection_disconnect(sender.connections[0]));
	assert_ok(doca_rdma_connection_get_user_data(sender.connections[0], &data));
	assert_ok(doca_rdma_connection_get_id(sender.connections[0], &id_then));
	assert_int_equal(data.u64, 0x5ca1ab1e);
	assert_int_equal(id_then, id);
	assert_ok(doca_task_submit(doca_rdma_task_send_as_task(task)));
	while (!num_sent)
		doca_pe_progress(pe);
}

static void end_some(unsigned int n)
{
	while (n--) {
		export(&sender, NUM_KEPT);
		assert_ok(doca_rdma_connection_disconnect(sender.connections[NUM_KEPT]));
	}
}

/* Programs disconnect a connection in the callback that reports its end, maybe after they connect anew. */
/* rule: CM-R5b */
static void the_connection_that_ended_last_stays_however_old_it_is(void **state)
{
	union doca_data data = {.u64 = 0x5ca1ab1e};
	uint32_t id = 0, id_then = 1;

	export(&sender, 0);
	assert_ok(doca_rdma_connection_set_user_data(sender.connections[0], data));
	assert_ok(doca_rdma_connection_get_id(sender.connections[0], &id));
	end_some(LIMIT - 1);
	assert_ok(doca_rdma_connection_disconnect(sender.connections[0]));
	end_some(LATER);
	assert_ok(doca_rdma_connection_get_user_data(sender.connections[0], &data));
	assert_ok(doca_rdma_connection_get_id(sender.connections[0], &id_then));
	assert_int_equal(data.u64, 0x5ca1ab1e);
	assert_int_equal(id_then, id);
	assert_ok(doca_rdma_connection_disconnect(sender.connections[0]));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		many_test(a_thousand_connections_share_one_pool_of_receives),
		many_test(connections_that_ended_do_not_accumulate),
		many_test(the_connection_that_ended_last_stays_however_old_it_is),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
