/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reliable connections over networks of all kinds: wire_link.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "wire_link.h"

#define SECOND 1000000000ull
#define ROUNDS 12u

static unsigned int seeds = 3; /* the first argument; more for a long run */

static const struct wire_attr rc = {
	.service = WIRE_RC,
	.mtu = 1024,
	.pkey = 0xffff,
	.sq_psn = 0xfffff0, /* the sequence wraps soon */
	.rq_psn = 77,
	.timeout = 8, /* 1 ms */
	.retry_cnt = 7,
	.rnr_retry = WIRE_RNR_FOREVER,
	.min_rnr_timer = 1,
	.max_rd_atomic = 4,
	.max_dest_rd_atomic = 4,
	.window = 64,
};

static struct link *new_link(void)
{
	struct link *l = malloc(sizeof(*l));

	assert_non_null(l);
	return l;
}

static uint32_t some_len(struct link *l)
{
	static const uint32_t limit[] = {1, 5, 300, 1025, 4097, 20000};

	return link_random(l, limit[link_random(l, 6)]);
}

/* Post a receive with the message that takes it, or later: then the peer is not ready. */
static void post_some(struct link *l, struct link_end *e)
{
	enum wire_work work = (enum wire_work)link_random(l, WIRE_WORK_FETCH_ADD + 1);
	uint32_t len = work >= WIRE_WORK_COMPARE_SWAP ? 8 : some_len(l);
	struct link_end *to = &l->end[!e->side];

	if (to->rx_posted == to->rx_expected && !link_receive(to, 20000 + link_random(l, 100)))
		return;
	(void)link_post(e, work, len);
}

static void run_rounds(struct link *l, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < LINK_WORK; i++) {
			post_some(l, &l->end[0]);
			post_some(l, &l->end[1]);
			if (!link_random(l, 8))
				(void)link_run(l, link_random(l, 20000));
		}
		assert_true(link_run(l, 600 * SECOND));
		link_check(l);
		link_recycle(l);
	}
}

static void report(const struct link *l, const char *name)
{
	printf("%s: %.3f s of protocol, %u and %u packets sent\n", name,
	       (double)l->now / (double)SECOND, l->end[0].sent, l->end[1].sent);
	for (unsigned int side = 0; side < 2; side++) {
		for (unsigned int i = 0; i < WIRE_DROP_COUNT; i++) {
			if (l->end[side].drops[i])
				printf("  end %u: %u: %s\n", side, l->end[side].drops[i],
				       wire_drop_words((enum wire_drop)i));
		}
	}
}

static void run(const char *name, const struct wire_attr *attr, const struct link_faults *faults,
		uint32_t later)
{
	struct link *l = new_link();

	for (unsigned int seed = 1; seed <= seeds; seed++) {
		link_open(l, seed, attr);
		l->faults = *faults;
		l->end[0].later = l->end[1].later = later;
		l->end[1].shared = seed % 3 == 2;
		run_rounds(l, ROUNDS);
	}
	report(l, name);
	free(l);
}

static void fair_network_drops_nothing(void **state)
{
	const struct link_faults fair = {0};
	struct link *l = new_link();

	link_open(l, 1, &rc);
	run_rounds(l, ROUNDS);
	for (unsigned int i = 1; i < WIRE_DROP_COUNT; i++) {
		assert_int_equal(l->end[0].drops[i], 0);
		assert_int_equal(l->end[1].drops[i], 0);
	}
	free(l);
	run("fair", &rc, &fair, 100);
}

static void a_lossy_network_loses_no_message(void **state)
{
	const struct link_faults w = {.lost = 10};

	run("1 % lost", &rc, &w, 0);
}

static void a_very_lossy_network_loses_no_message(void **state)
{
	const struct link_faults w = {.lost = 100};
	struct wire_attr attr = rc;

	attr.window = 16;
	run("10 % lost", &attr, &w, 50);
}

static void a_network_that_repeats_delivers_once(void **state)
{
	const struct link_faults w = {.repeated = 300};

	run("30 % repeated", &rc, &w, 0);
}

static void a_network_that_reorders_delivers_in_order(void **state)
{
	const struct link_faults w = {.late = 50, .late_ns = 100000};

	run("5 % late", &rc, &w, 0);
}

static void a_network_that_falsifies_delivers_no_falsified_byte(void **state)
{
	const struct link_faults w = {.falsified = 30};

	run("3 % falsified", &rc, &w, 0);
}

static void a_congested_network_loses_no_message(void **state)
{
	const struct link_faults w = {.congested = 200, .lost = 1};

	run("20 % congested", &rc, &w, 0);
}

static void faults_of_all_kinds_lose_no_message_at_any_mtu(void **state)
{
	const struct link_faults w = {.lost = 20,
				      .repeated = 20,
				      .falsified = 10,
				      .late = 30,
				      .late_ns = 3000000,
				      .congested = 20};
	struct wire_attr attr = rc;
	static const uint32_t mtu[] = {256, 512, 1024, 2048, 4096};

	for (unsigned int i = 0; i < ARRAY_SIZE(mtu); i++) {
		attr.mtu = mtu[i];
		run("everything", &attr, &w, 50);
	}
}

static void xrc_survives_loss_and_delay(void **state)
{
	const struct link_faults w = {.lost = 20, .late = 20, .late_ns = 10000};
	struct wire_attr attr = rc;

	attr.service = WIRE_XRC;
	run("XRC", &attr, &w, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fair_network_drops_nothing),
		cmocka_unit_test(a_lossy_network_loses_no_message),
		cmocka_unit_test(a_very_lossy_network_loses_no_message),
		cmocka_unit_test(a_network_that_repeats_delivers_once),
		cmocka_unit_test(a_network_that_reorders_delivers_in_order),
		cmocka_unit_test(a_network_that_falsifies_delivers_no_falsified_byte),
		cmocka_unit_test(a_congested_network_loses_no_message),
		cmocka_unit_test(faults_of_all_kinds_lose_no_message_at_any_mtu),
		cmocka_unit_test(xrc_survives_loss_and_delay),
	};

	if (argc > 1)
		seeds = (unsigned int)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
