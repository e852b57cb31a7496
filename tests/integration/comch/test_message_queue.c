/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queues of messages (src/device/queue/message_queue.h): order, shared receives, waiting, failures
 * of either side, the end, wrapping indices, events, and a failure of each allocation and command.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "core/mmap/mmap.h"
#include "device/queue/message_queue.h"
#include "faults.h"
#include "fixture.h"

#define SLOTS	  64u
#define SLOT	  8192u
#define MANY	  66000u /* more than indices of 16 bits, and many rounds through the queues */
#define SENDERS	  3u
#define PEER_ENV  "DPUMAP_TEST_MESSAGES"
#define PEER_LEN  (3u << 20)
#define NO_COOKIE ((void *)-1)

struct sender {
	struct dpumap_mq_send *send;
	struct dpumap_mq_responder *responder;
};

static struct doca_dev *dev;
static struct dpumap_device *device;
static struct fixture_buf src, dst;
static struct dpumap_mq_recv *recv_queue;

static int open_all(void **state)
{
	struct fixture f;

	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	f.dev = dev;
	device = dev->device;
	if (fixture_buf_create(&f, (size_t)SLOTS * SLOT, LOCAL_RW, &src) != DOCA_SUCCESS ||
	    fixture_buf_create(&f, (size_t)SLOTS * SLOT, LOCAL_RW, &dst) != DOCA_SUCCESS)
		return -1;
	fixture_fill(src.bytes, src.len, 1);
	return 0;
}

static int close_all(void **state)
{
	doca_error_t result = fixture_buf_destroy(&src);

	DOCA_ERROR_PROPAGATE(result, fixture_buf_destroy(&dst));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

static void *cookie(size_t number)
{
	return (void *)number;
}

static uint64_t source(uint32_t slot)
{
	return (uintptr_t)src.bytes + (uint64_t)(slot % SLOTS) * SLOT;
}

static uint64_t room(uint32_t slot)
{
	return (uintptr_t)dst.bytes + (uint64_t)(slot % SLOTS) * SLOT;
}

static void open_receiver(uint32_t depth, uint32_t header_len, struct dpumap_events *events)
{
	struct dpumap_mq_attr attr = {.depth = depth, .header_len = header_len, .events = events};

	assert_ok(dpumap_mq_recv_create(device, &attr, &recv_queue));
}

static void open_sender(struct sender *s, uint32_t depth, uint32_t header_len,
			struct dpumap_events *events)
{
	struct dpumap_mq_attr attr = {.depth = depth, .header_len = header_len, .events = events};
	struct dpumap_qp_info ours, theirs;

	assert_ok(dpumap_mq_send_create(device, &attr, &s->send));
	assert_ok(dpumap_mq_responder_create(recv_queue, &s->responder));
	dpumap_mq_send_describe(s->send, &ours);
	dpumap_mq_responder_describe(s->responder, &theirs);
	assert_ok(dpumap_mq_responder_connect(s->responder, &ours));
	assert_ok(dpumap_mq_send_connect(s->send, &theirs));
}

static uint32_t qpn_of(const struct dpumap_mq_responder *responder)
{
	struct dpumap_qp_info info;

	dpumap_mq_responder_describe(responder, &info);
	return info.qpn;
}

static void close_sender(struct sender *s)
{
	assert_ok(dpumap_mq_send_destroy(s->send));
	assert_ok(dpumap_mq_responder_destroy(s->responder));
}

static void close_receiver(void)
{
	assert_ok(dpumap_mq_recv_destroy(recv_queue));
}

static bool post_receive(uint32_t number, uint32_t len)
{
	return dpumap_mq_recv_post(recv_queue, &dst.mmap->fast_key, room(number), len,
				   cookie(number));
}

static const uint8_t *header_of(uint32_t number)
{
	return src.bytes + number % 1000;
}

static bool post_message(struct sender *s, uint32_t number, uint32_t len)
{
	struct dpumap_mq_message message = {
		.header = header_of(number),
		.tag = 0x80000000u + number,
		.len = len,
		.key = &src.mmap->fast_key,
		.addr = source(number),
		.cookie = cookie(number),
	};

	return dpumap_mq_send_post(s->send, &message);
}

static void send_message(struct sender *s, uint32_t number, uint32_t len)
{
	assert_true(post_message(s, number, len));
	dpumap_mq_send_flush(s->send);
}

static struct dpumap_mq_received received(void)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct dpumap_mq_received out = {.cookie = NO_COOKIE};

	while (!dpumap_mq_recv_poll(recv_queue, &out))
		assert_true(monotonic_ms() < end);
	return out;
}

static struct dpumap_mq_sent sent(struct sender *s)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct dpumap_mq_sent out = {.cookie = NO_COOKIE};

	while (!dpumap_mq_send_poll(s->send, &out))
		assert_true(monotonic_ms() < end);
	return out;
}

static void expect_sent(struct sender *s, uint32_t number, doca_error_t status)
{
	struct dpumap_mq_sent out = sent(s);

	assert_error(out.status, status);
	assert_ptr_equal(out.cookie, cookie(number));
}

/* A message with that number and length, in the receive with that number. */
static void expect_received(uint32_t receive, uint32_t number, uint32_t len, uint32_t header_len)
{
	struct dpumap_mq_received out = received();

	assert_error(out.status, DOCA_SUCCESS);
	assert_ptr_equal(out.cookie, cookie(receive));
	assert_int_equal(out.len, len);
	assert_int_equal(out.tag, 0x80000000u + number);
	if (header_len)
		assert_memory_equal(dpumap_mq_recv_header(recv_queue, &out), header_of(number),
				    header_len);
	assert_memory_equal((void *)room(receive), (void *)source(number), len);
}

static void expect_nothing_received(void)
{
	struct dpumap_mq_received out;

	assert_false(dpumap_mq_recv_poll(recv_queue, &out));
}

static uint32_t length_of(uint32_t number)
{
	static const uint32_t lengths[] = {64, 0, 1, 5000, 28, SLOT, 8};

	return lengths[number % ARRAY_SIZE(lengths)];
}

/* Batches of every size up to `depth`, through all positions of the rings. */
static void exchange(uint32_t depth, uint32_t header_len, uint32_t messages)
{
	struct sender s;
	uint32_t n = 1;

	open_receiver(depth, header_len, NULL);
	open_sender(&s, depth, header_len, NULL);
	for (uint32_t done = 0; done < messages; done += n, n = n % depth + 1) {
		for (uint32_t i = done; i < done + n; i++) {
			assert_true(post_receive(i, SLOT));
			assert_true(post_message(&s, i, length_of(i)));
		}
		dpumap_mq_send_flush(s.send);
		for (uint32_t i = done; i < done + n; i++)
			expect_received(i, i, length_of(i), header_len);
		for (uint32_t i = done; i < done + n; i++)
			expect_sent(&s, i, DOCA_SUCCESS);
	}
	close_sender(&s);
	close_receiver();
}

static void messages_arrive_in_order_with_tag_header_and_data(void **state)
{
	for (uint32_t header_len = 0; header_len <= DPUMAP_MQ_MAX_HEADER; header_len += 8)
		exchange(SLOTS, header_len, 300);
}

static void indices_wrap_without_loss(void **state)
{
	struct sender s;
	uint32_t depth = 7, posted = 0, taken = 0;

	open_receiver(depth, 32, NULL);
	open_sender(&s, depth, 32, NULL);
	for (uint32_t i = 0; i < depth; i++)
		assert_true(post_receive(i, 8));
	assert_false(post_receive(depth, 8));
	for (; taken < MANY; taken++) {
		struct dpumap_mq_sent out;

		do {
			while (dpumap_mq_send_poll(s.send, &out))
				assert_error(out.status, DOCA_SUCCESS);
			while (posted < MANY && post_message(&s, posted, posted % 3 * 4))
				posted++;
			dpumap_mq_send_flush(s.send);
		} while (posted == taken);
		expect_received(taken, taken, taken % 3 * 4, 32);
		assert_true(post_receive(taken + depth, 8));
	}
	close_sender(&s);
	close_receiver();
}

static void senders_take_receives_in_posting_order(void **state)
{
	struct sender senders[SENDERS];
	uint32_t next[SENDERS] = {0};

	open_receiver(SLOTS, 8, NULL);
	for (uint32_t i = 0; i < SENDERS; i++)
		open_sender(&senders[i], SLOTS, 8, NULL);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_true(post_receive(i, 64));
	assert_false(post_receive(SLOTS, 64));
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_true(post_message(&senders[i % SENDERS], i, 16));
	for (uint32_t i = 0; i < SENDERS; i++)
		dpumap_mq_send_flush(senders[i].send);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct dpumap_mq_received out = received();
		uint32_t number = out.tag - 0x80000000u;

		assert_error(out.status, DOCA_SUCCESS);
		assert_ptr_equal(out.cookie, cookie(i));
		assert_int_equal(out.qpn, qpn_of(senders[number % SENDERS].responder));
		assert_int_equal(number / SENDERS, next[number % SENDERS]++);
		assert_memory_equal((void *)room(i), (void *)source(number), 16);
	}
	for (uint32_t i = 0; i < SENDERS; i++)
		close_sender(&senders[i]);
	close_receiver();
}

#define MOST_ROUNDS 10000

/*
 * A message of three parts, behind which short ones arrive: work requests of the shared receive
 * queue complete in another order than they were posted.
 */
static void short_messages_overtake_a_long_one(void **state)
{
	struct fixture f = {.dev = dev};
	struct fixture_buf from, to;
	struct sender slow, fast;
	uint32_t overtaken = 0;

	assert_ok(fixture_buf_create(&f, PEER_LEN, LOCAL_RW, &from));
	assert_ok(fixture_buf_create(&f, PEER_LEN, LOCAL_RW, &to));
	open_receiver(3, 8, NULL);
	open_sender(&slow, 3, 8, NULL);
	open_sender(&fast, 3, 8, NULL);
	for (uint32_t round = 0; round < 100 || overtaken < 10; round++) {
		struct dpumap_mq_message message = {.header = src.bytes,
						    .tag = UINT32_MAX,
						    .len = PEER_LEN,
						    .key = &from.mmap->fast_key,
						    .addr = (uintptr_t)from.bytes};

		assert_true(round < MOST_ROUNDS);
		fixture_fill(from.bytes, 4096, round);
		fixture_fill(from.bytes + PEER_LEN - 4096, 4096, round);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(dpumap_mq_recv_post(recv_queue, &to.mmap->fast_key,
							(uintptr_t)to.bytes, PEER_LEN, NULL));
		assert_true(dpumap_mq_send_post(slow.send, &message));
		dpumap_mq_send_flush(slow.send);
		send_message(&fast, 1, 0);
		send_message(&fast, 2, 0);
		for (uint32_t i = 0; i < 3; i++) {
			struct dpumap_mq_received out = received();

			assert_error(out.status, DOCA_SUCCESS);
			if (out.tag == UINT32_MAX)
				overtaken += i;
		}
		assert_memory_equal(to.bytes, from.bytes, PEER_LEN);
		assert_error(sent(&slow).status, DOCA_SUCCESS);
		expect_sent(&fast, 1, DOCA_SUCCESS);
		expect_sent(&fast, 2, DOCA_SUCCESS);
	}
	close_sender(&slow);
	close_sender(&fast);
	close_receiver();
	assert_ok(fixture_buf_destroy(&from));
	assert_ok(fixture_buf_destroy(&to));
}

static void message_without_receive_waits_for_one(void **state)
{
	struct sender s;
	struct dpumap_mq_sent out;

	open_receiver(4, 8, NULL);
	open_sender(&s, 4, 8, NULL);
	send_message(&s, 1, 64);
	usleep(20000); /* many times the delay of the device's next attempt */
	expect_nothing_received();
	assert_false(dpumap_mq_send_poll(s.send, &out));
	assert_true(post_receive(2, 64));
	expect_received(2, 1, 64, 8);
	expect_sent(&s, 1, DOCA_SUCCESS);
	close_sender(&s);
	close_receiver();
}

static void full_send_queue_refuses_until_a_completion(void **state)
{
	struct sender s;

	open_receiver(4, 8, NULL);
	open_sender(&s, 3, 8, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(post_message(&s, i, 64));
	assert_false(post_message(&s, 3, 64));
	dpumap_mq_send_flush(s.send);
	assert_true(post_receive(0, 64));
	assert_true(post_receive(1, 64));
	assert_true(post_receive(2, 64));
	for (uint32_t i = 0; i < 3; i++)
		expect_sent(&s, i, DOCA_SUCCESS);
	assert_true(post_message(&s, 3, 64));
	close_sender(&s);
	close_receiver();
}

/* The message before it succeeds, the one after it is flushed; a new connection works. */
static void message_longer_than_its_receive_fails_both_ends(void **state)
{
	struct dpumap_mq_received out;
	struct sender s;

	open_receiver(4, 16, NULL);
	open_sender(&s, 4, 16, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(post_receive(i, 64));
	assert_true(post_message(&s, 0, 64));
	assert_true(post_message(&s, 1, 65));
	assert_true(post_message(&s, 2, 64));
	dpumap_mq_send_flush(s.send);
	expect_sent(&s, 0, DOCA_SUCCESS);
	expect_sent(&s, 1, DOCA_ERROR_TOO_BIG);
	expect_sent(&s, 2, DOCA_ERROR_SHUTDOWN);
	expect_received(0, 0, 64, 16);
	out = received();
	assert_error(out.status, DOCA_ERROR_TOO_BIG);
	assert_ptr_equal(out.cookie, cookie(1));
	assert_int_equal(out.qpn, qpn_of(s.responder));
	expect_nothing_received();
	close_sender(&s);
	open_sender(&s, 4, 16, NULL);
	send_message(&s, 3, 64);
	expect_received(2, 3, 64, 16);
	close_sender(&s);
	close_receiver();
}

static void receive_into_unwritable_memory_fails_both_ends(void **state)
{
	struct fixture f = {.dev = dev};
	struct fixture_buf fixed;
	struct dpumap_mq_received out;
	struct sender s;

	assert_ok(fixture_buf_create(&f, SLOT, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &fixed));
	open_receiver(4, 8, NULL);
	open_sender(&s, 4, 8, NULL);
	assert_true(dpumap_mq_recv_post(recv_queue, &fixed.mmap->fast_key, (uintptr_t)fixed.bytes,
					64, NULL));
	send_message(&s, 0, 64);
	out = received();
	assert_error(out.status, DOCA_ERROR_NOT_PERMITTED);
	assert_error(sent(&s).status, DOCA_ERROR_IO_FAILED);
	close_sender(&s);
	close_receiver();
	assert_ok(fixture_buf_destroy(&fixed));
}

static void message_from_unregistered_memory_fails_the_sender(void **state)
{
	struct dpumap_mq_message message = {
		.header = src.bytes,
		.len = 64,
		.key = &src.mmap->fast_key,
		.addr = (uintptr_t)src.bytes + src.len,
	};
	struct sender s, other;

	open_receiver(4, 8, NULL);
	open_sender(&s, 4, 8, NULL);
	open_sender(&other, 4, 8, NULL);
	assert_true(post_receive(0, 64));
	assert_true(dpumap_mq_send_post(s.send, &message));
	dpumap_mq_send_flush(s.send);
	assert_error(sent(&s).status, DOCA_ERROR_NOT_PERMITTED);
	send_message(&other, 1, 64);
	expect_received(0, 1, 64, 8);
	close_sender(&s);
	close_sender(&other);
	close_receiver();
}

/* A peer may send anything: here less than the header. */
static void message_shorter_than_the_header_is_an_error(void **state)
{
	struct dpumap_mq_received out;
	struct sender s;

	open_receiver(4, 24, NULL);
	open_sender(&s, 4, 0, NULL);
	assert_true(post_receive(0, 64));
	assert_true(post_receive(1, 64));
	send_message(&s, 1, 23);
	out = received();
	assert_error(out.status, DOCA_ERROR_IO_FAILED);
	assert_ptr_equal(out.cookie, cookie(0));
	send_message(&s, 2, 24);
	out = received();
	assert_error(out.status, DOCA_SUCCESS);
	assert_int_equal(out.len, 0);
	close_sender(&s);
	close_receiver();
}

static void message_to_a_destroyed_responder_is_aborted(void **state)
{
	struct sender s;

	open_receiver(4, 8, NULL);
	open_sender(&s, 4, 8, NULL);
	assert_ok(dpumap_mq_responder_destroy(s.responder));
	assert_true(post_receive(0, 64));
	send_message(&s, 0, 64);
	send_message(&s, 1, 64);
	expect_sent(&s, 0, DOCA_ERROR_CONNECTION_ABORTED);
	expect_sent(&s, 1, DOCA_ERROR_SHUTDOWN);
	assert_ok(dpumap_mq_send_destroy(s.send));
	close_receiver();
}

static void completions_outlive_their_responder(void **state)
{
	struct sender s;

	open_receiver(8, 8, NULL);
	open_sender(&s, 8, 8, NULL);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(post_receive(i, 64));
	for (uint32_t i = 0; i < 4; i++)
		send_message(&s, i, 64);
	for (uint32_t i = 0; i < 4; i++)
		expect_sent(&s, i, DOCA_SUCCESS);
	expect_received(0, 0, 64, 8);
	close_sender(&s);
	for (uint32_t i = 1; i < 4; i++)
		expect_received(i, i, 64, 8);
	expect_nothing_received();
	open_sender(&s, 8, 8, NULL);
	send_message(&s, 9, 64);
	expect_received(4, 9, 64, 8);
	close_sender(&s);
	close_receiver();
}

static void stopped_receive_queue_returns_receives_in_posting_order(void **state)
{
	struct sender senders[2];

	open_receiver(8, 8, NULL);
	open_sender(&senders[0], 8, 8, NULL);
	open_sender(&senders[1], 8, 8, NULL);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(post_receive(i, 64));
	for (uint32_t i = 0; i < 3; i++)
		send_message(&senders[i % 2], i, 64);
	for (uint32_t i = 0; i < 3; i++)
		expect_sent(&senders[i % 2], i, DOCA_SUCCESS);
	assert_error(received().status, DOCA_SUCCESS);
	assert_true(post_receive(8, 64)); /* in the work request of the first */
	assert_error(dpumap_mq_recv_stop(recv_queue), DOCA_ERROR_DRIVER); /* has responders */
	close_sender(&senders[0]);
	close_sender(&senders[1]);
	assert_ok(dpumap_mq_recv_stop(recv_queue));
	assert_ok(dpumap_mq_recv_stop(recv_queue));
	assert_false(post_receive(9, 64));
	assert_error(dpumap_mq_responder_create(recv_queue, &senders[0].responder),
		     DOCA_ERROR_BAD_STATE);
	for (uint32_t i = 1; i <= 8; i++) {
		struct dpumap_mq_received out = received();

		assert_error(out.status, i < 3 ? DOCA_SUCCESS : DOCA_ERROR_SHUTDOWN);
		assert_ptr_equal(out.cookie, cookie(i));
	}
	expect_nothing_received();
	close_receiver();
}

static void stopped_send_queue_returns_messages_in_order(void **state)
{
	struct dpumap_mq_sent out;
	struct sender s;

	open_receiver(4, 8, NULL);
	open_sender(&s, 8, 8, NULL);
	assert_true(post_receive(0, 64));
	for (uint32_t i = 0; i < 4; i++)
		send_message(&s, i, 64);
	assert_true(post_message(&s, 4, 64)); /* without doorbell */
	expect_received(0, 0, 64, 8);
	expect_sent(&s, 0, DOCA_SUCCESS);
	assert_ok(dpumap_mq_send_stop(s.send));
	assert_ok(dpumap_mq_send_stop(s.send));
	assert_false(post_message(&s, 5, 64));
	dpumap_mq_send_flush(s.send);
	for (uint32_t i = 1; i <= 4; i++)
		expect_sent(&s, i, DOCA_ERROR_SHUTDOWN);
	assert_false(dpumap_mq_send_poll(s.send, &out));
	close_sender(&s);
	close_receiver();
}

static bool has_event(struct dpumap_events *events, int timeout_ms)
{
	struct pollfd fd = {.fd = dpumap_events_fd(events), .events = POLLIN};

	assert_return_code(poll(&fd, 1, timeout_ms), errno);
	return fd.revents & POLLIN;
}

static void armed_queues_raise_one_event_each(void **state)
{
	struct dpumap_events *at_receiver, *at_sender;
	struct sender s;

	assert_ok(dpumap_events_create(device, &at_receiver));
	assert_ok(dpumap_events_create(device, &at_sender));
	open_receiver(8, 8, at_receiver);
	open_sender(&s, 8, 8, at_sender);
	for (uint32_t round = 0; round < 5; round++) { /* more than the 2 bits of its number */
		dpumap_mq_recv_arm(recv_queue);
		dpumap_mq_send_arm(s.send);
		assert_false(has_event(at_receiver, 0));
		assert_true(post_receive(round, 64));
		send_message(&s, round, 64);
		assert_true(has_event(at_receiver, FIXTURE_TIMEOUT_MS));
		assert_true(has_event(at_sender, FIXTURE_TIMEOUT_MS));
		assert_ok(dpumap_events_take(at_receiver));
		assert_ok(dpumap_events_take(at_sender));
		expect_received(round, round, 64, 8);
		expect_sent(&s, round, DOCA_SUCCESS);
	}
	assert_false(has_event(at_receiver, 0));
	assert_false(has_event(at_sender, 0));
	close_sender(&s);
	close_receiver();
	dpumap_events_destroy(at_receiver);
	dpumap_events_destroy(at_sender);
}

static void invalid_attributes_are_refused(void **state)
{
	static const struct dpumap_mq_attr invalid[] = {
		{.depth = 0},
		{.depth = UINT32_MAX},
		{.depth = 1, .header_len = 4},
		{.depth = 1, .header_len = DPUMAP_MQ_MAX_HEADER + 8}};
	struct dpumap_mq_send *send;

	assert_ok(dpumap_mq_check(device));
	assert_true(dpumap_mq_max_depth(device) >= 1024);
	assert_true(dpumap_mq_max_len(device) >= 1u << 20);
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		assert_error(dpumap_mq_recv_create(device, &invalid[i], &recv_queue),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(dpumap_mq_send_create(device, &invalid[i], &send),
			     DOCA_ERROR_INVALID_VALUE);
	}
}

static void largest_queues_can_be_created(void **state)
{
	uint32_t depth = dpumap_mq_max_depth(device);
	struct sender s;

	open_receiver(depth, DPUMAP_MQ_MAX_HEADER, NULL);
	open_sender(&s, depth, DPUMAP_MQ_MAX_HEADER, NULL);
	for (uint32_t i = 0; i < depth; i++) {
		assert_true(post_receive(i, 64));
		assert_true(post_message(&s, i, 64));
	}
	assert_false(post_receive(depth, 64));
	assert_false(post_message(&s, depth, 64));
	dpumap_mq_send_flush(s.send);
	for (uint32_t i = 0; i < depth; i++)
		assert_ptr_equal(received().cookie, cookie(i));
	for (uint32_t i = 0; i < depth; i++)
		expect_sent(&s, i, DOCA_SUCCESS);
	close_sender(&s);
	close_receiver();
}

/* What the peer on the other function tells this process. */
struct hello {
	struct dpumap_qp_info qp;
};

static void message_crosses_functions(void **state)
{
	struct dpumap_mq_attr attr = {.depth = 4, .header_len = 8};
	struct fixture f = {.dev = dev};
	struct dpumap_mq_responder *responder;
	struct dpumap_mq_received out;
	struct fixture_buf room_for_it;
	struct process sender;
	struct hello ours = {0}, theirs;

	assert_ok(fixture_buf_create(&f, PEER_LEN, LOCAL_RW, &room_for_it));
	assert_ok(dpumap_mq_recv_create(device, &attr, &recv_queue));
	assert_ok(dpumap_mq_responder_create(recv_queue, &responder));
	assert_true(process_start_on_socket(&sender, test_options.peer_as, PEER_ENV));
	assert_true(process_receive(sender.from, &theirs, sizeof(theirs)));
	assert_ok(dpumap_mq_responder_connect(responder, &theirs.qp));
	dpumap_mq_responder_describe(responder, &ours.qp);
	assert_true(dpumap_mq_recv_post(recv_queue, &room_for_it.mmap->fast_key,
					(uintptr_t)room_for_it.bytes, PEER_LEN, NULL));
	assert_true(process_send(sender.to, &ours, sizeof(ours)));
	out = received();
	assert_error(out.status, DOCA_SUCCESS);
	assert_int_equal(out.len, PEER_LEN);
	fixture_fill(room_for_it.bytes + PEER_LEN / 2, 8, 7);
	assert_memory_equal(dpumap_mq_recv_header(recv_queue, &out), room_for_it.bytes, 8);
	assert_true(process_finish(&sender));
	assert_ok(dpumap_mq_responder_destroy(responder));
	close_receiver();
	assert_ok(fixture_buf_destroy(&room_for_it));
}

static int send_to_parent(int socket)
{
	struct dpumap_mq_attr attr = {.depth = 4, .header_len = 8};
	struct dpumap_mq_message message = {.len = PEER_LEN};
	struct fixture f;
	struct fixture_buf buf;
	struct hello ours = {0}, theirs;
	struct sender s;

	assert_ok(fixture_open_device(&f.dev));
	assert_ok(fixture_buf_create(&f, PEER_LEN, LOCAL_RW, &buf));
	fixture_fill(buf.bytes, PEER_LEN, 7);
	assert_ok(dpumap_mq_send_create(f.dev->device, &attr, &s.send));
	dpumap_mq_send_describe(s.send, &ours.qp);
	assert_true(process_send(socket, &ours, sizeof(ours)));
	assert_true(process_receive(socket, &theirs, sizeof(theirs)));
	assert_ok(dpumap_mq_send_connect(s.send, &theirs.qp));
	message.header = buf.bytes;
	message.key = &buf.mmap->fast_key;
	message.addr = (uintptr_t)buf.bytes;
	assert_true(dpumap_mq_send_post(s.send, &message));
	dpumap_mq_send_flush(s.send);
	assert_error(sent(&s).status, DOCA_SUCCESS);
	assert_ok(dpumap_mq_send_destroy(s.send));
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(doca_dev_close(f.dev));
	return 0;
}

/* The steps of both ends; each fails as a whole, and works when it is repeated. */
static struct sender swept;
static const struct dpumap_mq_attr swept_attr = {.depth = 4, .header_len = 8};

static doca_error_t create_receiver(void)
{
	return dpumap_mq_recv_create(device, &swept_attr, &recv_queue);
}

static doca_error_t create_responder(void)
{
	return dpumap_mq_responder_create(recv_queue, &swept.responder);
}

static doca_error_t create_send(void)
{
	return dpumap_mq_send_create(device, &swept_attr, &swept.send);
}

static doca_error_t connect_responder(void)
{
	struct dpumap_qp_info info;

	dpumap_mq_send_describe(swept.send, &info);
	return dpumap_mq_responder_connect(swept.responder, &info);
}

static doca_error_t connect_send(void)
{
	struct dpumap_qp_info info;

	dpumap_mq_responder_describe(swept.responder, &info);
	return dpumap_mq_send_connect(swept.send, &info);
}

static doca_error_t stop_send(void)
{
	return dpumap_mq_send_stop(swept.send);
}

static doca_error_t destroy_send(void)
{
	return dpumap_mq_send_destroy(swept.send);
}

static doca_error_t destroy_responder(void)
{
	return dpumap_mq_responder_destroy(swept.responder);
}

static doca_error_t stop_receiver(void)
{
	return dpumap_mq_recv_stop(recv_queue);
}

static doca_error_t destroy_receiver(void)
{
	return dpumap_mq_recv_destroy(recv_queue);
}

static doca_error_t (*const steps[])(void) = {
	create_receiver, create_responder, create_send,	      connect_responder, connect_send,
	stop_send,	 destroy_send,	   destroy_responder, stop_receiver,	 destroy_receiver,
};
#define STEPS	     ARRAY_SIZE(steps)
#define LAST_CONNECT 4u

static bool fail_once(size_t step, enum fault_kind fault, unsigned int n, int err)
{
	bool fired = false;

	for (size_t i = 0; i < STEPS; i++) {
		doca_error_t result;

		if (i == step)
			fault_arm(fault, n, err);
		result = steps[i]();
		if (i == step) {
			fired = fault_fired();
			fault_disarm();
		}
		if (result != DOCA_SUCCESS) {
			assert_true(fired && i == step);
			assert_ok(steps[i]());
		}
		if (i != LAST_CONNECT)
			continue;
		assert_true(post_receive(0, 64));
		send_message(&swept, 0, 64);
		expect_received(0, 0, 64, 8);
	}
	return fired;
}

static void sweep(enum fault_kind fault, int err)
{
	unsigned int live = fault_count_live(), points = 0;

	for (size_t step = 0; step < STEPS; step++)
		for (unsigned int n = 1; fail_once(step, fault, n, err); n++, points++)
			assert_true(n < 100);
	assert_true(points > 4);
	assert_int_equal(fault_count_live(), live);
}

static void failure_of_each_allocation_is_undone(void **state)
{
	sweep(FAULT_ALLOC, ENOMEM);
}

static void failure_of_each_command_is_undone(void **state)
{
	sweep(FAULT_COMMAND, EIO);
}

static void failure_to_destroy_leaves_an_object_to_destroy(void **state)
{
	sweep(FAULT_DESTROY, EIO);
}

#define message_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		message_test(messages_arrive_in_order_with_tag_header_and_data),
		message_test(indices_wrap_without_loss),
		message_test(senders_take_receives_in_posting_order),
		message_test(short_messages_overtake_a_long_one),
		message_test(message_without_receive_waits_for_one),
		message_test(full_send_queue_refuses_until_a_completion),
		message_test(message_longer_than_its_receive_fails_both_ends),
		message_test(receive_into_unwritable_memory_fails_both_ends),
		message_test(message_from_unregistered_memory_fails_the_sender),
		message_test(message_shorter_than_the_header_is_an_error),
		message_test(message_to_a_destroyed_responder_is_aborted),
		message_test(completions_outlive_their_responder),
		message_test(stopped_receive_queue_returns_receives_in_posting_order),
		message_test(stopped_send_queue_returns_messages_in_order),
		message_test(armed_queues_raise_one_event_each),
		message_test(invalid_attributes_are_refused),
		message_test(largest_queues_can_be_created),
		message_test(message_crosses_functions),
		message_test(failure_of_each_allocation_is_undone),
		message_test(failure_of_each_command_is_undone),
		message_test(failure_to_destroy_leaves_an_object_to_destroy),
	};

	test_parse_options(argc, argv);
	if (process_inherited(PEER_ENV) >= 0)
		return send_to_parent(process_inherited(PEER_ENV));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
