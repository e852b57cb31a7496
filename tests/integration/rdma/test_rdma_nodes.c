/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma between two nodes: the parent is on the DPU of card 0, the peer on the DPU of card 1.
 * They exchange by pipes what programs send over a socket.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoint.h"
#include "fixture.h"

enum op { OP_OPEN, OP_ACCEPT, OP_READ, OP_WRITE, OP_PEEK, OP_STOP_MAP, OP_CLOSE };

struct order {
	enum op op;
	uint32_t map_access, access;
	size_t local, remote, len; /* as the receiver of the order counts them */
	struct endpoint_offer offer;
};

#define PEEK_LEN 64

struct answer {
	doca_error_t result;
	struct endpoint_offer offer;
	uint8_t bytes[PEEK_LEN];
};

static struct process peer;
static struct doca_dev *dev;
static struct endpoint local;

/* The peer. */

static doca_error_t open_remote(struct endpoint *end, const struct order *order,
				struct answer *answer)
{
	doca_error_t result = endpoint_open(end, dev, order->map_access, order->access);

	if (result != DOCA_SUCCESS)
		return result;
	fixture_fill(end->bytes, ENDPOINT_LEN, 2);
	result = doca_ctx_start(end->ctx);
	return result == DOCA_SUCCESS ? endpoint_offer(end, &answer->offer) : result;
}

static doca_error_t execute(struct endpoint *end, const struct order *order, struct answer *answer)
{
	switch (order->op) {
	case OP_OPEN:
		return open_remote(end, order, answer);
	case OP_ACCEPT:
		return endpoint_accept(end, &order->offer);
	case OP_READ:
		return endpoint_read(end, order->local, order->remote, order->len);
	case OP_WRITE:
		return endpoint_write(end, order->local, order->remote, order->len);
	case OP_PEEK:
		memcpy(answer->bytes, end->bytes + order->local, PEEK_LEN);
		return DOCA_SUCCESS;
	case OP_STOP_MAP:
		return doca_mmap_stop(end->mmap);
	case OP_CLOSE:
		return endpoint_close(end);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static int serve(void)
{
	static struct endpoint end;
	struct order order;
	bool good = true;

	if (fixture_open_device(&dev) != DOCA_SUCCESS)
		return 1;
	while (good && process_receive(STDIN_FILENO, &order, sizeof(order))) {
		struct answer answer = {0};

		answer.result = execute(&end, &order, &answer);
		good = process_send(STDOUT_FILENO, &answer, sizeof(answer));
	}
	return doca_dev_close(dev) != DOCA_SUCCESS || !good;
}

/* The parent. */

static struct answer call_peer(const struct order *order)
{
	struct answer answer;

	assert_true(process_send(peer.to, order, sizeof(*order)));
	assert_true(process_receive(peer.from, &answer, sizeof(answer)));
	return answer;
}

static int open_both(void **state)
{
	uint32_t access = LOCAL_RW | RDMA_R | RDMA_W;

	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ||
	    endpoint_open(&local, dev, access, access) != DOCA_SUCCESS)
		return -1;
	fixture_fill(local.bytes, ENDPOINT_LEN, 1);
	return process_start_peer(&peer, "dpu1") ? 0 : -1;
}

static int close_both(void **state)
{
	doca_error_t result = endpoint_close(&local);

	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	if (peer.pid && !process_finish(&peer))
		return -1;
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define peer_test(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

static void connect_to(uint32_t map_access, uint32_t access)
{
	struct order order = {.op = OP_OPEN, .map_access = map_access, .access = access};
	struct answer answer = call_peer(&order);

	assert_ok(answer.result);
	assert_ok(doca_ctx_start(local.ctx));
	order.op = OP_ACCEPT;
	assert_ok(endpoint_offer(&local, &order.offer));
	assert_ok(endpoint_accept(&local, &answer.offer));
	assert_ok(call_peer(&order).result);
}

static void connect_freely(void)
{
	connect_to(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W);
}

static void assert_remote(size_t at, const uint8_t *wanted)
{
	struct answer answer = call_peer(&(struct order){.op = OP_PEEK, .local = at});

	assert_memory_equal(answer.bytes, wanted, PEEK_LEN);
}

static void close_remote(void)
{
	assert_ok(call_peer(&(struct order){.op = OP_CLOSE}).result);
}

static void reads_and_writes_go_both_ways(void **state)
{
	static uint8_t theirs[ENDPOINT_LEN];
	uint8_t before[PEEK_LEN];

	fixture_fill(theirs, ENDPOINT_LEN, 2);
	connect_freely();
	assert_ok(endpoint_read(&local, 0, 0, ENDPOINT_LEN));
	assert_memory_equal(local.bytes, theirs, ENDPOINT_LEN);
	fixture_fill(local.bytes, ENDPOINT_LEN, 3);
	assert_ok(endpoint_write(&local, 1000, 30000, 20000));
	assert_remote(30000, local.bytes + 1000);
	assert_remote(50000 - PEEK_LEN, local.bytes + 21000 - PEEK_LEN);
	assert_remote(50000, theirs + 50000);

	assert_ok(call_peer(&(struct order){.op = OP_READ, .remote = 7000, .len = 100}).result);
	assert_remote(0, local.bytes + 7000);
	memcpy(before, local.bytes + 264, sizeof(before));
	assert_ok(
		call_peer(&(struct order){.op = OP_WRITE, .local = 50000, .remote = 200, .len = 64})
			.result);
	assert_memory_equal(local.bytes + 200, theirs + 50000, 64);
	assert_memory_equal(local.bytes + 264, before, sizeof(before));
	assert_int_equal(local.num_failed, 0);
	close_remote();
}

static void forbidden_access_fails(void **state)
{
	uint8_t theirs[PEEK_LEN];

	fixture_fill(theirs, sizeof(theirs), 2);
	connect_to(LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R | RDMA_W);
	assert_ok(endpoint_read(&local, 0, 0, 64));
	assert_error(endpoint_write(&local, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	assert_remote(0, theirs);
	close_remote();

	connect_to(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R);
	assert_ok(endpoint_read(&local, 0, 0, 64));
	assert_error(endpoint_write(&local, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_remote(0, theirs);
	close_remote();
}

static void a_map_that_was_stopped_is_not_permitted(void **state)
{
	struct doca_buf *src, *dst;

	connect_freely();
	assert_ok(endpoint_read(&local, 0, 0, 64));
	assert_ok(call_peer(&(struct order){.op = OP_STOP_MAP}).result);
	src = endpoint_source(&local, local.peer, local.peer_addr, 64);
	dst = endpoint_room(&local, local.mmap, local.bytes, 64);
	for (unsigned int i = 0; i < ENDPOINT_TASKS; i++)
		assert_ok(endpoint_submit(&local, true, src, dst, i));
	assert_ok(endpoint_wait(&local, 2));
	assert_error(local.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_ok(endpoint_wait(&local, 1 + ENDPOINT_TASKS));
	assert_error(local.last_error, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(local.num_failed, ENDPOINT_TASKS);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	close_remote();
}

/* The device notices a killed process a little later than its parent. */
static void wait_until_alone(void)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	unsigned long contexts = 0;
	struct objects counts;

	while (contexts != 1) {
		assert_true(objects_read(&counts));
		for (unsigned int i = 0; i < counts.n; i++)
			if (!strcmp(counts.counts[i].name, "contexts"))
				contexts = counts.counts[i].value;
		assert_true(monotonic_ms() < limit);
	}
}

static void a_killed_peer_aborts_the_connection(void **state)
{
	connect_freely();
	assert_ok(endpoint_write(&local, 0, 0, ENDPOINT_LEN));
	assert_true(process_kill(&peer));
	wait_until_alone();
	assert_error(endpoint_write(&local, 0, 0, ENDPOINT_LEN), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);

	/* The context goes on with another peer. */
	assert_true(process_start_peer(&peer, "dpu1"));
	connect_freely();
	assert_ok(endpoint_read(&local, 0, 0, 64));
	close_remote();
}

/*
 * The device destroys its keys and its queue pair one after the other, so the error depends on
 * which is missing first.
 */
static void peer_killed_during_writes_aborts_the_connection(void **state)
{
	struct doca_buf *src, *dst;
	doca_error_t first;

	connect_freely();
	src = endpoint_source(&local, local.mmap, local.bytes, ENDPOINT_LEN);
	dst = endpoint_room(&local, local.peer, local.peer_addr, ENDPOINT_LEN);
	assert_ok(endpoint_submit(&local, false, src, dst, 0));
	assert_ok(endpoint_wait(&local, 1));
	assert_ok(local.last_error);
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	dst = endpoint_room(&local, local.peer, local.peer_addr, ENDPOINT_LEN);
	kill(peer.pid, SIGKILL);
	do {
		assert_ok(doca_buf_reset_data_len(dst));
		assert_ok(endpoint_submit(&local, false, src, dst, 0));
		assert_ok(endpoint_wait(&local, local.num_done + local.num_failed + 1));
	} while (local.last_error == DOCA_SUCCESS);
	first = local.last_error;
	assert_true(first == DOCA_ERROR_CONNECTION_ABORTED || first == DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	assert_true(process_kill(&peer));
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
}

/* The responder uses nothing of the peer, so it does not notice. */
static void a_responder_outlives_its_peer(void **state)
{
	connect_freely();
	assert_ok(call_peer(&(struct order){.op = OP_READ, .len = 64}).result);
	assert_true(process_kill(&peer));
	assert_int_equal(doca_pe_progress(local.pe), 0);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_ctx_stop(local.ctx));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		peer_test(reads_and_writes_go_both_ways),
		peer_test(forbidden_access_fails),
		peer_test(a_map_that_was_stopped_is_not_permitted),
		peer_test(a_killed_peer_aborts_the_connection),
		peer_test(peer_killed_during_writes_aborts_the_connection),
		peer_test(a_responder_outlives_its_peer),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
