/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Throughput under loss: RDMA WRITEs over a network in memory, with a clock of its own, a delay
 * that dominates everything and seeded losses in both directions. What arrives per second must be
 * what go-back-N with the requester's window predicts. tests/lab/netem.py has the same model, and
 * measures it in real time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/wire/qp.h"
#include "emu/wire/window.h"

#define MTU	  1024u
#define MESSAGE	  (64u * MTU)
#define MESSAGES  1000u
#define WINDOW	  64u
#define DELAY_NS  10000000ull /* one way */
#define RTT_NS	  (2 * DELAY_NS)
#define TIMEOUT	  14
#define PACKETS	  1024u
#define TOLERANCE 1.2

struct travelling {
	uint64_t due;
	unsigned int to;
	uint32_t len;
	uint8_t bytes[WIRE_MAX_HEADERS + MTU + WIRE_ICRC];
};

static struct {
	uint64_t now, random;
	uint32_t lost; /* of 10000 packets */
	uint32_t posted, finished;
	uint32_t first, last; /* of the ring of packets, in the order in which they arrive */
	struct travelling packet[PACKETS];
	struct wire_qp qp[2];
} net;

static enum emu_syndrome on_gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				   uint32_t len)
{
	memset(out, 0, len);
	return EMU_SYN_OK;
}

static void on_finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	assert_int_equal(syndrome, EMU_SYN_OK);
	assert_int_equal(wr->cookie, net.finished);
	net.finished++;
}

static enum wire_answer on_check_access(void *ctx, enum wire_access access,
					const struct wire_remote *m)
{
	return WIRE_DONE;
}

static enum wire_answer on_write(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	return WIRE_DONE;
}

static int on_receives(void *ctx)
{
	return -1;
}

static void on_event(void *ctx, enum wire_event event)
{
	assert_int_equal(event, WIRE_EVENT_ESTABLISHED);
}

static void on_count(void *ctx, enum wire_count what)
{
}

static const struct wire_ops ops = {
	.gather = on_gather,
	.finished = on_finished,
	.check_access = on_check_access,
	.write = on_write,
	.receives = on_receives,
	.event = on_event,
	.count = on_count,
};

static void open_network(uint32_t lost)
{
	memset(&net, 0, sizeof(net));
	net.now = 1;
	net.random = 4711;
	net.lost = lost;
	for (unsigned int i = 0; i < 2; i++) {
		struct wire_attr attr = {
			.service = WIRE_RC,
			.qpn = 1 + i,
			.dest_qpn = 2 - i,
			.mtu = MTU,
			.pkey = 0xffff,
			.timeout = TIMEOUT,
			.retry_cnt = 7,
			.rnr_retry = 7,
			.max_rd_atomic = 1,
			.max_dest_rd_atomic = 1,
			.window = WINDOW,
		};

		attr.path.src[15] = (uint8_t)(1 + i);
		attr.path.dst[15] = (uint8_t)(2 - i);
		wire_qp_open(&net.qp[i], &attr, &ops, NULL);
	}
}

static bool is_lost(void)
{
	net.random = net.random * 6364136223846793005ull + 1442695040888963407ull;
	return (net.random >> 33) % 10000 < net.lost;
}

static void post_all(void)
{
	struct wire_wr wr = {.work = WIRE_WORK_WRITE, .len = MESSAGE, .rkey = 1};

	for (; net.posted < MESSAGES; net.posted++) {
		wr.cookie = net.posted;
		if (!wire_qp_post(&net.qp[0], &wr))
			return;
	}
}

static void send_all(unsigned int from)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t len;

	while ((len = wire_qp_output(&net.qp[from], net.now, bytes))) {
		struct travelling *t = &net.packet[net.last % PACKETS];

		if (is_lost())
			continue;
		assert_true(net.last - net.first < PACKETS && len <= sizeof(t->bytes) - WIRE_ICRC);
		memcpy(t->bytes, bytes, len);
		t->len = (uint32_t)len;
		t->to = !from;
		t->due = net.now + DELAY_NS;
		net.last++;
	}
}

static void deliver(void)
{
	const struct travelling *t = &net.packet[net.first % PACKETS];
	struct wire_qp *to = &net.qp[t->to];
	struct wire_packet p;

	assert_int_equal(wire_parse(t->bytes, t->len + WIRE_ICRC, &p), WIRE_ACCEPTED);
	(void)wire_qp_input(to, net.now, &net.qp[!t->to].attr.path, &p);
	net.first++;
}

static uint64_t next_event(void)
{
	uint64_t next = wire_qp_deadline(&net.qp[0]);

	if (net.first != net.last && net.packet[net.first % PACKETS].due < next)
		next = net.packet[net.first % PACKETS].due;
	return next;
}

/* Seconds for all messages. */
static double measure(uint32_t lost)
{
	open_network(lost);
	while (net.finished < MESSAGES) {
		post_all();
		send_all(0);
		send_all(1);
		assert_true(next_event() != UINT64_MAX);
		net.now = next_event() > net.now ? next_event() : net.now;
		while (net.first != net.last && net.packet[net.first % PACKETS].due <= net.now)
			deliver();
	}
	return (double)net.now / 1e9;
}

/* Rounds between two losses: each halves the window, and each round sends one and makes it larger by a packet. */
static double sawtooth(double loss)
{
	double window = WINDOW, rounds = 0, left;

	for (int i = 0; i < 200; i++) {
		window = window / 2 > WIRE_WINDOW_MIN ? window / 2 : WIRE_WINDOW_MIN;
		rounds = 0;
		left = 1 / loss;
		while (left > 0) {
			rounds += left < window ? left / window : 1;
			left -= window;
			if (left > 0 && window < WINDOW)
				window++;
		}
	}
	return rounds;
}

/*
 * A loss costs one more round, because the NAK takes as long as the packets that are sent in vain;
 * and the timer, if the NAK or the packet that is sent again is lost too.
 */
static double predict(double loss)
{
	const unsigned int number = MESSAGES * (MESSAGE / MTU);
	double packets = number;
	double timer = 4.096e-6 * (1 << TIMEOUT), rtt = RTT_NS / 1e9;

	if (loss <= 0)
		return packets / WINDOW * rtt;
	return packets * loss * ((sawtooth(loss) + 1) * rtt + 2 * loss * timer);
}

static void throughput_is_what_go_back_n_predicts(void **state)
{
	static const uint32_t rates[] = {0, 3, 10, 30, 100, 300, 1000};
	const double bytes = (double)MESSAGES * MESSAGE;

	for (unsigned int i = 0; i < ARRAY_SIZE(rates); i++) {
		double took = measure(rates[i]), model = predict(rates[i] / 1e4);

		printf("| %.2f %% | %.3f MB/s | %.3f MB/s |\n", rates[i] / 100.0,
		       bytes / took / 1e6, bytes / model / 1e6);
		assert_true(took < model * TOLERANCE && took > model / TOLERANCE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(throughput_is_what_go_back_n_predicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
