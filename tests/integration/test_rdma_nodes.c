/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma between two nodes: the test is on the DPU of card 0, another process on the DPU of
 * card 1, which is another computer. What they tell each other by pipes, programs send by a socket.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "fixture.h"

enum op { OP_OPEN, OP_ACCEPT, OP_READ, OP_WRITE, OP_PEEK, OP_STOP_MAP, OP_CLOSE };

struct order {
	enum op op;
	uint32_t map_access, access;
	size_t here, there, len; /* as the one who is told counts them */
	struct end_offer offer;
};

#define PEEK_LEN 64

struct answer {
	doca_error_t result;
	struct end_offer offer;
	uint8_t bytes[PEEK_LEN];
};

static struct {
	pid_t pid;
	int to;
	int from;
} node;
static struct doca_dev *dev;
static struct end here;

/* The other node. */

static doca_error_t open_there(struct end *end, const struct order *order, struct answer *answer)
{
	doca_error_t result = end_open(end, dev, order->map_access, order->access);

	if (result != DOCA_SUCCESS)
		return result;
	rig_fill(end->bytes, END_LEN, 2);
	result = doca_ctx_start(end->ctx);
	return result == DOCA_SUCCESS ? end_offer(end, &answer->offer) : result;
}

static doca_error_t obey(struct end *end, const struct order *order, struct answer *answer)
{
	switch (order->op) {
	case OP_OPEN:
		return open_there(end, order, answer);
	case OP_ACCEPT:
		return end_accept(end, &order->offer);
	case OP_READ:
		return end_read(end, order->here, order->there, order->len);
	case OP_WRITE:
		return end_write(end, order->here, order->there, order->len);
	case OP_PEEK:
		memcpy(answer->bytes, end->bytes + order->here, PEEK_LEN);
		return DOCA_SUCCESS;
	case OP_STOP_MAP:
		return doca_mmap_stop(end->mmap);
	case OP_CLOSE:
		return end_close(end);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static int be_node(void)
{
	static struct end end;
	struct order order;
	bool good = true;

	if (rig_open_device(&dev) != DOCA_SUCCESS)
		return 1;
	while (good && rig_receive(STDIN_FILENO, &order, sizeof(order))) {
		struct answer answer = {0};

		answer.result = obey(&end, &order, &answer);
		good = rig_send(STDOUT_FILENO, &answer, sizeof(answer));
	}
	return doca_dev_close(dev) != DOCA_SUCCESS || !good;
}

/* This one. */

static struct answer tell(const struct order *order)
{
	struct answer answer;

	assert_true(rig_send(node.to, order, sizeof(*order)));
	assert_true(rig_receive(node.from, &answer, sizeof(answer)));
	return answer;
}

static bool start_node(void)
{
	const char *const argv[] = {
		rig_options.emu, "run", "--as", "dpu1", "--", rig_options.self, "--be-peer", NULL,
	};

	node.pid = rig_spawn(argv, &node.to, &node.from);
	return node.pid > 0;
}

static int end_node(void)
{
	close(node.to);
	close(node.from);
	return rig_reap(node.pid);
}

static int open_both(void **state)
{
	uint32_t access = LOCAL_RW | RDMA_R | RDMA_W;

	if (fixture_count(state) || rig_open_device(&dev) != DOCA_SUCCESS ||
	    end_open(&here, dev, access, access) != DOCA_SUCCESS)
		return -1;
	rig_fill(here.bytes, END_LEN, 1);
	return start_node() ? 0 : -1;
}

static int close_both(void **state)
{
	doca_error_t result = end_close(&here);

	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	if (node.pid && end_node())
		return -1;
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define nodes_test(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

static void connect_to(uint32_t map_access, uint32_t access)
{
	struct order order = {.op = OP_OPEN, .map_access = map_access, .access = access};
	struct answer answer = tell(&order);

	assert_ok(answer.result);
	assert_ok(doca_ctx_start(here.ctx));
	order.op = OP_ACCEPT;
	assert_ok(end_offer(&here, &order.offer));
	assert_ok(end_accept(&here, &answer.offer));
	assert_ok(tell(&order).result);
}

static void connect_freely(void)
{
	connect_to(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R | RDMA_W);
}

static void assert_there(size_t at, const uint8_t *wanted)
{
	struct answer answer = tell(&(struct order){.op = OP_PEEK, .here = at});

	assert_memory_equal(answer.bytes, wanted, PEEK_LEN);
}

static void close_there(void)
{
	assert_ok(tell(&(struct order){.op = OP_CLOSE}).result);
}

static void reads_and_writes_go_both_ways(void **state)
{
	static uint8_t theirs[END_LEN];
	uint8_t before[PEEK_LEN];

	(void)state;
	rig_fill(theirs, END_LEN, 2);
	connect_freely();
	assert_ok(end_read(&here, 0, 0, END_LEN));
	assert_memory_equal(here.bytes, theirs, END_LEN);
	rig_fill(here.bytes, END_LEN, 3);
	assert_ok(end_write(&here, 1000, 30000, 20000));
	assert_there(30000, here.bytes + 1000);
	assert_there(50000 - PEEK_LEN, here.bytes + 21000 - PEEK_LEN);
	assert_there(50000, theirs + 50000);

	assert_ok(tell(&(struct order){.op = OP_READ, .there = 7000, .len = 100}).result);
	assert_there(0, here.bytes + 7000);
	memcpy(before, here.bytes + 264, sizeof(before));
	assert_ok(tell(&(struct order){.op = OP_WRITE, .here = 50000, .there = 200, .len = 64})
			  .result);
	assert_memory_equal(here.bytes + 200, theirs + 50000, 64);
	assert_memory_equal(here.bytes + 264, before, sizeof(before));
	assert_int_equal(here.num_failed, 0);
	close_there();
}

static void what_is_not_permitted_fails(void **state)
{
	uint8_t theirs[PEEK_LEN];

	(void)state;
	rig_fill(theirs, sizeof(theirs), 2);
	connect_to(LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R | RDMA_W);
	assert_ok(end_read(&here, 0, 0, 64));
	assert_error(end_write(&here, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
	assert_there(0, theirs);
	close_there();

	connect_to(LOCAL_RW | RDMA_R | RDMA_W, LOCAL_RW | RDMA_R);
	assert_ok(end_read(&here, 0, 0, 64));
	assert_error(end_write(&here, 64, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_there(0, theirs);
	close_there();
}

static void a_map_that_was_stopped_is_not_permitted(void **state)
{
	struct doca_buf *src, *dst;

	(void)state;
	connect_freely();
	assert_ok(end_read(&here, 0, 0, 64));
	assert_ok(tell(&(struct order){.op = OP_STOP_MAP}).result);
	src = end_source(&here, here.peer, here.peer_addr, 64);
	dst = end_room(&here, here.mmap, here.bytes, 64);
	for (unsigned int i = 0; i < END_TASKS; i++)
		assert_ok(end_submit(&here, true, src, dst, i));
	assert_ok(end_wait(&here, 2));
	assert_error(here.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_ok(end_wait(&here, 1 + END_TASKS));
	assert_error(here.last_error, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(here.num_failed, END_TASKS);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	close_there();
}

static void kill_node(void)
{
	int status;

	assert_int_equal(kill(node.pid, SIGKILL), 0);
	status = end_node();
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	node.pid = 0;
}

/* The device learns of a process that was killed a little later than its parent. */
static void wait_until_alone(void)
{
	uint64_t limit = rig_now_ms() + RIG_PATIENCE_MS;
	unsigned long contexts = 0;
	struct rig_counts counts;

	while (contexts != 1) {
		assert_true(rig_read_counts(&counts));
		for (unsigned int i = 0; i < counts.n; i++)
			if (!strcmp(counts.counts[i].name, "contexts"))
				contexts = counts.counts[i].value;
		assert_true(rig_now_ms() < limit);
	}
}

static void a_killed_peer_aborts_the_connection(void **state)
{
	(void)state;
	connect_freely();
	assert_ok(end_write(&here, 0, 0, END_LEN));
	kill_node();
	wait_until_alone();
	assert_error(end_write(&here, 0, 0, END_LEN), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);

	/* The context goes on with another peer. */
	assert_true(start_node());
	connect_freely();
	assert_ok(end_read(&here, 0, 0, 64));
	close_there();
}

/* Its keys and its queue pair go one after the other: either can be what is missed. */
static void a_peer_that_is_killed_meanwhile(void **state)
{
	struct doca_buf *src, *dst;
	doca_error_t first;

	(void)state;
	connect_freely();
	src = end_source(&here, here.mmap, here.bytes, END_LEN);
	dst = end_room(&here, here.peer, here.peer_addr, END_LEN);
	assert_ok(end_submit(&here, false, src, dst, 0));
	assert_ok(end_wait(&here, 1));
	assert_ok(here.last_error);
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	dst = end_room(&here, here.peer, here.peer_addr, END_LEN);
	kill(node.pid, SIGKILL);
	do {
		assert_ok(doca_buf_reset_data_len(dst));
		assert_ok(end_submit(&here, false, src, dst, 0));
		assert_ok(end_wait(&here, here.num_done + here.num_failed + 1));
	} while (here.last_error == DOCA_SUCCESS);
	first = here.last_error;
	assert_true(first == DOCA_ERROR_CONNECTION_ABORTED || first == DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_IDLE);
	end_node();
	node.pid = 0;
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
}

/* It uses nothing of ours any more, and we do not notice. */
static void a_responder_outlives_its_peer(void **state)
{
	(void)state;
	connect_freely();
	assert_ok(tell(&(struct order){.op = OP_READ, .len = 64}).result);
	kill_node();
	assert_int_equal(doca_pe_progress(here.pe), 0);
	assert_int_equal(end_state(&here), DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_ctx_stop(here.ctx));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		nodes_test(reads_and_writes_go_both_ways),
		nodes_test(what_is_not_permitted_fails),
		nodes_test(a_map_that_was_stopped_is_not_permitted),
		nodes_test(a_killed_peer_aborts_the_connection),
		nodes_test(a_peer_that_is_killed_meanwhile),
		nodes_test(a_responder_outlives_its_peer),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return be_node();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
