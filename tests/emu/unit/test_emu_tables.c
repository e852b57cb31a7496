/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables of the emulated cards hold as many objects as the cards announce. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/server/card/blocks.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/mkey_table.h"
#include "emu/server/card/path.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"

#define WINDOW_ENTRIES 4u /* that the driver allocates for a window */

struct emu_tables *emu_tables;
struct emu_queues *emu_queues;
struct emu_private *emu_private;

void emu_grace(void)
{
}

static unsigned int unmaps;

void emu_unmap(void)
{
	unmaps++;
}

void emu_engine_wake(uint32_t slot)
{
	(void)slot;
}

static unsigned int passes;

void emu_engine_let_pass(uint32_t slot)
{
	(void)slot;
	passes++;
}

void emu_path_clear(struct emu_qp *q)
{
	(void)q;
}

struct emu_topology emu_topology;
static bool on_wire;

int emu_endpoint_find(const struct emu_func *f, const uint8_t *addr)
{
	(void)f;
	(void)addr;
	return on_wire ? 0 : EMU_NO_ENDPOINT;
}

uint32_t emu_new_serial(void)
{
	static uint32_t last;

	return ++last;
}

static int setup(void **state)
{
	emu_tables = calloc(1, sizeof(*emu_tables));
	emu_queues = calloc(1, sizeof(*emu_queues));
	emu_private = calloc(1, sizeof(*emu_private));
	return !emu_tables || !emu_queues || !emu_private;
}

static int teardown(void **state)
{
	free(emu_tables);
	free(emu_queues);
	free(emu_private);
	return 0;
}

/* All mkeys of a function may be windows, each with entries of its own; max_mw says so. */
static void all_mkeys_can_be_windows(void **state)
{
	uint32_t *first = calloc(EMU_NUM_MKEYS, sizeof(*first));
	struct emu_mkey m = {.mode = EMU_MKEY_KLM};

	assert_non_null(first);
	for (uint32_t i = 0; i < EMU_NUM_MKEYS; i++) {
		first[i] = emu_klm_alloc(WINDOW_ENTRIES);
		if (first[i] == UINT32_MAX || !emu_mkey_create(&m, true))
			fail_msg("only %u of %u windows", i, EMU_NUM_MKEYS);
	}
	assert_int_equal(emu_mkey_create(&m, true), 0);
	for (uint32_t i = 0; i < EMU_NUM_MKEYS; i++) {
		emu_klm_free(first[i], WINDOW_ENTRIES);
		emu_mkey_retire(EMU_FIRST_MKEY + i);
	}
	assert_int_not_equal(emu_mkey_create(&m, true), 0);
	free(first);
}

/* Engines are asked to unmap memory only if one of them may have mapped it. */
static void retired_mkey_is_unmapped_if_it_was_mapped(void **state)
{
	struct emu_mkey m = {.mode = EMU_MKEY_MEM};
	uint32_t key = emu_mkey_create(&m, true);

	unmaps = 0;
	emu_mkey_update(key, &m);
	assert_int_equal(unmaps, 0);
	atomic_store(&emu_queues->mapped[key >> 8], 1);
	emu_mkey_update(key, &m);
	assert_int_equal(unmaps, 1);
	emu_mkey_retire(key >> 8);
	assert_int_equal(unmaps, 1);
}

/* The receive of a shared queue that its engine holds would be lost otherwise. */
static void failed_qp_is_flushed_before_it_is_withdrawn(void **state)
{
	const struct {
		uint32_t state, srqn;
		unsigned int passes;
	} cases[] = {{EMU_QPS_ERR, 1, 1}, {EMU_QPS_ERR, 0, 0}, {EMU_QPS_RTS, 1, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct emu_qp q = {.srqn = cases[i].srqn};
		uint32_t qpn;

		atomic_store(&q.state, cases[i].state);
		qpn = emu_qp_publish(&q);
		passes = 0;
		emu_qp_withdraw(qpn);
		assert_int_equal(passes, cases[i].passes);
	}
	emu_qp_withdraw(0);
}

static void all_queues_can_be_created(void **state)
{
	struct emu_srq srq = {0};
	struct emu_cq cq = {0};
	struct emu_qp qp = {0};

	for (uint32_t i = 0; i < EMU_NUM_QPS; i++)
		assert_int_not_equal(emu_qp_publish(&qp), 0);
	assert_int_equal(emu_qp_publish(&qp), 0);
	for (uint32_t i = 0; i < EMU_NUM_CQS; i++)
		assert_int_not_equal(emu_cq_publish(&cq), 0);
	assert_int_equal(emu_cq_publish(&cq), 0);
	for (uint32_t i = 0; i < EMU_NUM_SRQS; i++)
		assert_int_not_equal(emu_srq_publish(&srq), 0);
	assert_int_equal(emu_srq_publish(&srq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_mkeys_can_be_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(retired_mkey_is_unmapped_if_it_was_mapped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(failed_qp_is_flushed_before_it_is_withdrawn, setup,
						teardown),
		cmocka_unit_test_setup_teardown(all_queues_can_be_created, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
