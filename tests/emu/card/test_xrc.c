/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * XRC between processes: one has the target queue pair, others the shared receive queues that the
 * messages name; what each process observes, and what the others observe when one of them ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "fixture.h"
#include "xrc.h"

#define LONG_BYTES (3u << 20) /* more than one pass of an engine */
#define FOREVER	   7	      /* RNR retries */
#define HALF	   (XRC_BYTES / 2)

struct queue {
	uint64_t number, rkey, addr;
};

static char domain_file[] = "/tmp/dpumap-test-xrc.XXXXXX";
static struct process a, b;

#define ask(peer, operation, ...) \
	xrc_ask(peer, &(struct xrc_call){.op = (operation), .arg = {__VA_ARGS__}})
#define assert_done(peer, ...) assert_int_equal(ask(peer, __VA_ARGS__).err, 0)

static struct queue make_queue(struct process *peer)
{
	struct xrc_answer r = ask(peer, XRC_SRQ, 0);

	assert_int_equal(r.err, 0);
	return (struct queue){r.v[0], r.v[1], r.v[2]};
}

static uint64_t make(struct process *peer, enum xrc_op op)
{
	struct xrc_answer r = ask(peer, op, 0);

	assert_int_equal(r.err, 0);
	return r.v[0];
}

/* Initiator and target, each wherever it is to be. */
static uint64_t connect_both(struct process *from, struct process *to, uint64_t rnr_retry)
{
	uint64_t initiator = make(from, XRC_INITIATOR), target = make(to, XRC_TARGET);

	assert_done(to, XRC_CONNECT, XRC_THE_TARGET, initiator, 0);
	assert_done(from, XRC_CONNECT, XRC_THE_INITIATOR, target, rnr_retry);
	return target;
}

static struct xrc_answer completion(struct process *peer)
{
	struct xrc_answer r = ask(peer, XRC_COMPLETION, 0);

	assert_int_equal(r.err, 0);
	return r;
}

static void expect(struct process *peer, enum ibv_wc_status status)
{
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)completion(peer).v[0]),
			    ibv_wc_status_str(status));
}

static uint64_t state_of(struct process *peer, enum xrc_which which)
{
	struct xrc_answer r = ask(peer, XRC_STATE, which);

	assert_int_equal(r.err, 0);
	return r.v[0];
}

static void expect_event(struct process *peer, enum ibv_event_type type, enum xrc_which which)
{
	struct xrc_answer r = ask(peer, XRC_EVENT, 0);

	assert_int_equal(r.err, 0);
	assert_string_equal(ibv_event_type_str((enum ibv_event_type)r.v[0]),
			    ibv_event_type_str(type));
	assert_int_equal(r.v[1], which);
}

#define BIT(event) (1ull << (event))
#define REFUSED	   (BIT(IBV_EVENT_QP_REQ_ERR) | BIT(IBV_EVENT_QP_LAST_WQE_REACHED))

/* Events of two processes, in either order. */
static void expect_events(struct process *peer, uint64_t wanted)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS, seen = 0;

	while (seen != wanted && monotonic_ms() < end) {
		struct xrc_answer r = ask(peer, XRC_EVENTS, 0);

		assert_int_equal(r.err, 0);
		seen |= r.v[0];
		usleep(1000);
	}
	assert_int_equal(seen, wanted);
}

static void send_to(const struct queue *q, uint64_t len)
{
	assert_done(NULL, XRC_SEND, IBV_WR_SEND, q->number, 0, len);
}

/* Send from here to the queue of a process; check the bytes and both completions. */
static void deliver(struct process *to, const struct queue *q, uint64_t target, uint64_t len,
		    uint64_t seed)
{
	struct xrc_answer r;

	assert_done(NULL, XRC_WRITE, 0, len, seed);
	assert_done(to, XRC_RECEIVE, HALF, len);
	send_to(q, len);
	expect(NULL, IBV_WC_SUCCESS);
	r = completion(to);
	assert_int_equal(r.v[0], IBV_WC_SUCCESS);
	assert_int_equal(r.v[1], IBV_WC_RECV);
	assert_int_equal(r.v[2], len);
	assert_int_equal(r.v[3], target);
	assert_done(to, XRC_HOLDS, HALF, len, seed);
}

static void start(struct process *peer, uint64_t domain)
{
	assert_true(xrc_start(peer));
	assert_done(peer, XRC_OPEN, domain);
}

static void finish(struct process *peer)
{
	assert_done(peer, XRC_CLOSE, 0);
	assert_true(process_finish(peer));
}

static int set_up(void **state)
{
	if (fixture_count(state))
		return -1;
	start(&a, 0);
	start(&b, 0);
	assert_done(NULL, XRC_OPEN, 0);
	return 0;
}

static int tear_down(void **state)
{
	assert_done(NULL, XRC_CLOSE, 0);
	return fixture_recount(state);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* The target is in this process, as is one queue; the other queues are in theirs. */
static void each_process_receives_by_its_own_queue(void **state)
{
	struct queue here = make_queue(NULL), at_a = make_queue(&a), at_b = make_queue(&b);
	uint64_t target = connect_both(NULL, NULL, FOREVER), i;

	for (i = 0; i < 8; i++) {
		deliver(&a, &at_a, target, 64 + i, 10 + i);
		deliver(&b, &at_b, target, i & 1 ? LONG_BYTES : 1, 20 + i);
	}
	assert_done(NULL, XRC_RECEIVE, HALF, 64);
	send_to(&here, 64);
	expect(NULL, IBV_WC_SUCCESS);
	expect(NULL, IBV_WC_SUCCESS);
	assert_int_equal(ask(&a, XRC_IDLE, 0).v[0], 0);
	assert_int_equal(ask(&b, XRC_IDLE, 0).v[0], 0);
	finish(&a);
	deliver(&b, &at_b, target, 64, 30);
	finish(&b);
}

/* The target is in one process, the queue in another, the sender in a third. */
static void target_queue_and_sender_may_be_in_three_processes(void **state)
{
	struct queue at_b = make_queue(&b);
	uint64_t target = connect_both(NULL, &a, FOREVER), i;

	for (i = 0; i < 4; i++)
		deliver(&b, &at_b, target, LONG_BYTES, i);
	finish(&b);
	finish(&a);
}

/* A queue that comes after the target, and a sender that waits for a buffer. */
static void a_sender_waits_for_a_buffer(void **state)
{
	uint64_t target = connect_both(NULL, NULL, FOREVER);
	struct queue at_a = make_queue(&a);

	assert_done(NULL, XRC_WRITE, 0, 100, 1);
	send_to(&at_a, 100);
	usleep(20000);
	assert_int_equal(ask(NULL, XRC_IDLE, 0).v[0], 0);
	assert_done(&a, XRC_RECEIVE, HALF, 100);
	expect(NULL, IBV_WC_SUCCESS);
	assert_int_equal(completion(&a).v[3], target);
	assert_done(&a, XRC_HOLDS, HALF, 100, 1);
	finish(&a);
	finish(&b);
}

static void a_sender_without_a_buffer_fails_after_its_retries(void **state)
{
	struct queue at_a;

	connect_both(NULL, NULL, 1);
	at_a = make_queue(&a);
	send_to(&at_a, 100);
	expect(NULL, IBV_WC_RNR_RETRY_EXC_ERR);
	assert_int_equal(state_of(NULL, XRC_THE_TARGET), IBV_QPS_RTS);
	finish(&a);
	finish(&b);
}

/* The other kinds of messages: the key is of the domain of the queue. */
static void a_message_uses_the_memory_of_its_queues_process(void **state)
{
	struct queue at_a = make_queue(&a), at_b = make_queue(&b);
	uint64_t target = connect_both(NULL, NULL, FOREVER);
	struct xrc_answer r;

	assert_done(NULL, XRC_WRITE, 0, LONG_BYTES, 3);
	assert_done(&a, XRC_RECEIVE, HALF, 0);
	assert_done(NULL, XRC_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, at_a.number, 0, LONG_BYTES,
		    at_a.addr, at_a.rkey);
	expect(NULL, IBV_WC_SUCCESS);
	r = completion(&a);
	assert_int_equal(r.v[1], IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(r.v[3], target);
	assert_int_equal(r.v[4], 0x1234);
	assert_done(&a, XRC_HOLDS, 0, LONG_BYTES, 3);
	assert_done(NULL, XRC_SEND, IBV_WR_RDMA_WRITE, at_b.number, 0, 4096, at_b.addr, at_b.rkey);
	assert_done(NULL, XRC_SEND, IBV_WR_RDMA_READ, at_b.number, HALF, 4096, at_b.addr,
		    at_b.rkey);
	expect(NULL, IBV_WC_SUCCESS);
	expect(NULL, IBV_WC_SUCCESS);
	assert_done(&b, XRC_HOLDS, 0, 4096, 3);
	assert_done(NULL, XRC_HOLDS, HALF, 4096, 3);
	r = ask(&b, XRC_CELL, 8);
	assert_done(NULL, XRC_SEND, IBV_WR_ATOMIC_FETCH_AND_ADD, at_b.number, 0, 8, at_b.addr + 8,
		    at_b.rkey);
	expect(NULL, IBV_WC_SUCCESS);
	assert_int_equal(ask(NULL, XRC_CELL, 0).v[0], r.v[0]);
	assert_int_equal(ask(&b, XRC_CELL, 8).v[0], r.v[0] + 5);
	finish(&a);
	finish(&b);
}

/* A buffer that is too small is an error of its process; the target's process is notified too. */
static void a_buffer_that_is_too_small_fails_both_sides(void **state)
{
	struct queue at_a = make_queue(&a);

	connect_both(NULL, NULL, FOREVER);
	assert_done(&a, XRC_RECEIVE, HALF, 10);
	send_to(&at_a, 11);
	expect(NULL, IBV_WC_REM_INV_REQ_ERR);
	expect(&a, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(state_of(NULL, XRC_THE_TARGET), IBV_QPS_ERR);
	expect_event(NULL, IBV_EVENT_QP_LAST_WQE_REACHED, XRC_THE_TARGET);
	assert_int_equal(ask(&a, XRC_EVENTS, 0).v[0], 0);
	finish(&a);
	finish(&b);
}

/* A queue with the same number in another process's domain is not available to this target. */
static void a_queue_of_a_foreign_domain_is_not_available(void **state)
{
	struct process other;
	struct queue q;

	start(&other, 1);
	q = make_queue(&other);
	connect_both(NULL, NULL, FOREVER);
	assert_done(&other, XRC_RECEIVE, HALF, 64);
	send_to(&q, 64);
	expect(NULL, IBV_WC_REM_INV_REQ_ERR);
	expect_events(NULL, REFUSED);
	assert_int_equal(ask(&other, XRC_IDLE, 0).v[0], 0);
	finish(&other);
	finish(&a);
	finish(&b);
}

static void a_send_fails_when_its_queue_is_destroyed(void **state)
{
	struct queue at_a = make_queue(&a);
	uint64_t target = connect_both(NULL, NULL, FOREVER);

	deliver(&a, &at_a, target, 64, 1);
	send_to(&at_a, 64); /* and waits for a buffer */
	assert_done(&a, XRC_DROP, XRC_THE_SRQ);
	expect(NULL, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(state_of(NULL, XRC_THE_TARGET), IBV_QPS_ERR);
	expect_events(NULL, REFUSED);
	finish(&a);
	finish(&b);
}

/* Killed while messages arrive in its memory: those that completed are intact. */
static void death_of_a_queues_owner_leaves_other_queues(void **state)
{
	struct queue at_a = make_queue(&a), at_b = make_queue(&b);
	uint64_t target, status;

	connect_both(NULL, NULL, FOREVER);
	for (uint64_t i = 0; i < 16; i++) {
		assert_done(&a, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_a, LONG_BYTES);
	}
	expect(NULL, IBV_WC_SUCCESS);
	assert_true(process_kill(&a));
	send_to(&at_a, 64);
	do
		status = completion(NULL).v[0];
	while (status == IBV_WC_SUCCESS);
	assert_int_equal(status, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(state_of(NULL, XRC_THE_TARGET), IBV_QPS_ERR);
	/* The other processes go on with another target. */
	while (ask(NULL, XRC_IDLE, 0).v[0])
		;
	assert_done(NULL, XRC_DROP, XRC_THE_INITIATOR);
	assert_done(NULL, XRC_DROP, XRC_THE_TARGET);
	target = connect_both(NULL, NULL, FOREVER);
	deliver(&b, &at_b, target, LONG_BYTES, 5);
	finish(&b);
}

/* No other process has the target, so no process answers. */
static void death_of_the_targets_owner_fails_the_sender(void **state)
{
	struct queue at_b = make_queue(&b);
	uint64_t i, status, received = 0, sent = 0;
	struct xrc_answer r;

	connect_both(NULL, &a, FOREVER);
	for (i = 0; i < 16; i++) {
		assert_done(&b, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_b, LONG_BYTES);
	}
	assert_true(process_kill(&a));
	send_to(&at_b, 64);
	while ((status = completion(NULL).v[0]) == IBV_WC_SUCCESS)
		sent++;
	assert_int_equal(status, IBV_WC_RETRY_EXC_ERR);
	while (received < sent) {
		r = completion(&b);
		assert_int_equal(r.v[0], IBV_WC_SUCCESS);
		received++;
	}
	finish(&b);
}

static void a_queue_outlives_a_killed_sender(void **state)
{
	struct queue at_b = make_queue(&b);
	uint64_t target;

	connect_both(&a, NULL, FOREVER);
	for (uint64_t i = 0; i < 16; i++) {
		assert_done(&b, XRC_RECEIVE, HALF, LONG_BYTES);
		assert_done(&a, XRC_SEND, IBV_WR_SEND, at_b.number, 0, LONG_BYTES);
	}
	expect(&b, IBV_WC_SUCCESS);
	assert_done(&b, XRC_RECEIVE, HALF, LONG_BYTES);
	assert_true(process_kill(&a));
	assert_done(NULL, XRC_FAIL, XRC_THE_TARGET);
	expect_event(NULL, IBV_EVENT_QP_LAST_WQE_REACHED, XRC_THE_TARGET);
	while (ask(&b, XRC_IDLE, 0).v[0])
		;
	assert_done(NULL, XRC_DROP, XRC_THE_TARGET);
	target = connect_both(NULL, NULL, FOREVER);
	send_to(&at_b, 64);
	expect(NULL, IBV_WC_SUCCESS);
	assert_int_equal(completion(&b).v[3], target);
	finish(&b);
}

/*
 * The target fails in the middle: when its owner is told that no more buffers will complete, each
 * buffer that was taken has completed, and what was reported as sent has arrived.
 */
static void no_buffer_completes_after_the_last_wqe_event(void **state)
{
	struct queue at_a = make_queue(&a);
	uint64_t sent, n;

	for (uint64_t i = 0; i < 12; i++) {
		connect_both(NULL, NULL, FOREVER);
		assert_done(&a, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_a, LONG_BYTES);
		if (i % 3)
			usleep((useconds_t)(100 * i));
		assert_done(NULL, XRC_FAIL, XRC_THE_TARGET);
		expect_event(NULL, IBV_EVENT_QP_LAST_WQE_REACHED, XRC_THE_TARGET);
		n = ask(&a, XRC_IDLE, 0).v[0];
		sent = completion(NULL).v[0];
		assert_true(sent == IBV_WC_SUCCESS || sent == IBV_WC_RETRY_EXC_ERR);
		assert_true(n == 1 || sent != IBV_WC_SUCCESS);
		assert_int_equal(ask(&a, XRC_IDLE, 0).v[0], 0);
		assert_done(NULL, XRC_DROP, XRC_THE_INITIATOR);
		assert_done(NULL, XRC_DROP, XRC_THE_TARGET);
		if (!n) /* the buffer is still posted */
			assert_done(&a, XRC_DROP, XRC_THE_SRQ);
		if (!n)
			at_a = make_queue(&a);
	}
	finish(&a);
	finish(&b);
}

static void drop_both(void)
{
	assert_done(NULL, XRC_DROP, XRC_THE_INITIATOR);
	assert_done(NULL, XRC_DROP, XRC_THE_TARGET);
	while (ask(NULL, XRC_IDLE, 0).v[0])
		;
}

/* What is sent while the queue is destroyed either arrives or is refused. */
static void a_message_to_a_queue_in_destruction_arrives_or_is_refused(void **state)
{
	struct queue at_a;
	uint64_t sent;

	for (uint64_t i = 0; i < 8; i++) {
		at_a = make_queue(&a);
		connect_both(NULL, NULL, FOREVER);
		assert_done(&a, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_a, LONG_BYTES);
		usleep((useconds_t)(200 * i));
		assert_done(&a, XRC_DROP, XRC_THE_SRQ);
		sent = completion(NULL).v[0];
		assert_true(sent == IBV_WC_SUCCESS || sent == IBV_WC_REM_INV_REQ_ERR);
		if (sent != IBV_WC_SUCCESS)
			expect_events(NULL, REFUSED);
		drop_both();
	}
	finish(&a);
	finish(&b);
}

/* The target is destroyed without notice: a buffer may be lost, but nothing else. */
static void destruction_of_the_target_loses_at_most_a_buffer(void **state)
{
	struct queue at_a = make_queue(&a);
	uint64_t sent;

	for (uint64_t i = 0; i < 8; i++) {
		connect_both(NULL, NULL, FOREVER);
		assert_done(&a, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_a, LONG_BYTES);
		usleep((useconds_t)(200 * i));
		assert_done(NULL, XRC_DROP, XRC_THE_TARGET);
		sent = completion(NULL).v[0];
		assert_true(sent == IBV_WC_SUCCESS || sent == IBV_WC_RETRY_EXC_ERR);
		assert_done(NULL, XRC_DROP, XRC_THE_INITIATOR);
		while (ask(&a, XRC_IDLE, 0).v[0])
			;
	}
	deliver(&a, &at_a, connect_both(NULL, NULL, FOREVER), LONG_BYTES, 4);
	finish(&a);
	finish(&b);
}

/* --- targets that are shared ------------------------------------------------------------------ */

static void open_of_a_missing_queue_is_refused(void **state)
{
	uint64_t target = make(NULL, XRC_TARGET), initiator = make(NULL, XRC_INITIATOR);
	struct process other;

	start(&other, 1);
	assert_int_equal(ask(&other, XRC_OPEN_QP, target, IBV_QPT_XRC_RECV).err, EINVAL);
	assert_int_equal(ask(&a, XRC_OPEN_QP, initiator, IBV_QPT_XRC_RECV).err, EINVAL);
	assert_int_equal(ask(&a, XRC_OPEN_QP, target, IBV_QPT_RC).err, EINVAL);
	assert_int_equal(ask(&a, XRC_OPEN_QP, 0xffffff, IBV_QPT_XRC_RECV).err, EINVAL);
	finish(&other);
	finish(&a);
	finish(&b);
}

/* Each of its handles is the queue pair: all of them share states and events. */
static void target_is_shared(void **state)
{
	uint64_t target = connect_both(NULL, NULL, FOREVER);
	struct queue at_b = make_queue(&b);
	struct xrc_answer r;

	r = ask(&a, XRC_OPEN_QP, target, IBV_QPT_XRC_RECV);
	assert_int_equal(r.err, 0);
	assert_int_equal(r.v[0], target);
	assert_int_equal(state_of(&a, XRC_THE_OPENED), IBV_QPS_RTS);
	assert_int_equal(ask(&a, XRC_STATE, XRC_THE_OPENED).v[1],
			 ask(NULL, XRC_STATE, XRC_THE_TARGET).v[1]);
	deliver(&b, &at_b, target, 64, 1);
	assert_done(&a, XRC_FAIL, XRC_THE_OPENED);
	assert_int_equal(state_of(NULL, XRC_THE_TARGET), IBV_QPS_ERR);
	expect_event(NULL, IBV_EVENT_QP_LAST_WQE_REACHED, XRC_THE_TARGET);
	expect_event(&a, IBV_EVENT_QP_LAST_WQE_REACHED, XRC_THE_OPENED);
	assert_int_equal(ask(&b, XRC_EVENTS, 0).v[0], 0);
	finish(&b);
	finish(&a);
}

/* Its creator closes it, or dies, in the middle of messages: all of them arrive. */
static void go_on_without_its_maker(bool killed)
{
	struct queue at_b = make_queue(&b);
	uint64_t target = connect_both(NULL, &a, FOREVER), i;

	assert_done(&b, XRC_OPEN_QP, target, IBV_QPT_XRC_RECV);
	for (i = 0; i < 16; i++) {
		assert_done(&b, XRC_RECEIVE, HALF, LONG_BYTES);
		send_to(&at_b, LONG_BYTES);
	}
	if (killed)
		assert_true(process_kill(&a));
	else
		finish(&a);
	for (i = 0; i < 16; i++) {
		expect(NULL, IBV_WC_SUCCESS);
		expect(&b, IBV_WC_SUCCESS);
	}
	deliver(&b, &at_b, target, 64, 2);
	/* It is still served. */
	assert_done(&b, XRC_DROP, XRC_THE_SRQ);
	send_to(&at_b, 64);
	expect(NULL, IBV_WC_REM_INV_REQ_ERR);
	expect_events(&b, REFUSED);
	finish(&b);
}

static void a_target_outlives_its_killed_maker(void **state)
{
	go_on_without_its_maker(true);
}

static void a_target_outlives_its_maker_that_closes(void **state)
{
	go_on_without_its_maker(false);
}

static int remove_files(void **state)
{
	char path[sizeof(domain_file) + 4];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s.%d", domain_file, i);
		unlink(path);
	}
	return unlink(domain_file);
}

static int make_file(void **state)
{
	int fd = mkstemp(domain_file);

	if (fd < 0)
		return -1;
	close(fd);
	return setenv(XRC_FILE_ENV, domain_file, 1);
}

#define XRC(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		XRC(each_process_receives_by_its_own_queue),
		XRC(target_queue_and_sender_may_be_in_three_processes),
		XRC(a_sender_waits_for_a_buffer),
		XRC(a_sender_without_a_buffer_fails_after_its_retries),
		XRC(a_message_uses_the_memory_of_its_queues_process),
		XRC(a_buffer_that_is_too_small_fails_both_sides),
		XRC(a_queue_of_a_foreign_domain_is_not_available),
		XRC(a_send_fails_when_its_queue_is_destroyed),
		XRC(death_of_a_queues_owner_leaves_other_queues),
		XRC(death_of_the_targets_owner_fails_the_sender),
		XRC(a_queue_outlives_a_killed_sender),
		XRC(no_buffer_completes_after_the_last_wqe_event),
		XRC(a_message_to_a_queue_in_destruction_arrives_or_is_refused),
		XRC(destruction_of_the_target_loses_at_most_a_buffer),
		XRC(open_of_a_missing_queue_is_refused),
		XRC(target_is_shared),
		XRC(a_target_outlives_its_killed_maker),
		XRC(a_target_outlives_its_maker_that_closes),
	};

	test_parse_options(argc, argv);
	if (getenv(XRC_STEP_ENV))
		return xrc_serve();
	return cmocka_run_group_tests(tests, make_file, remove_files);
}
