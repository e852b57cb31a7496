/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Blocks of queue pair numbers: each engine has its own, and numbers rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/server/card/blocks.h"

static bool used[EMU_MAX_QPS];
static unsigned int changes;
static int refusal;

static bool is_free(uint32_t qpn)
{
	return !used[qpn];
}

static int changed(void)
{
	changes++;
	return refusal;
}

static uint32_t take(uint32_t slot)
{
	uint32_t qpn = emu_block_number(slot, is_free);

	if (!qpn)
		return 0;
	assert_false(used[qpn]);
	assert_int_equal(emu_block_owner(qpn), slot);
	used[qpn] = true;
	return qpn;
}

static int setup(void **state)
{
	memset(used, 0, sizeof(used));
	for (uint32_t slot = 0; slot < EMU_MAX_ENGINES; slot++)
		emu_blocks_release(slot);
	emu_blocks_begin(EMU_BLOCKS - 1);
	emu_blocks_changed = changed;
	changes = 0;
	refusal = 0;
	return 0;
}

static void engines_share_no_block(void **state)
{
	uint32_t a, b;

	for (uint32_t i = 0; i < 3 * EMU_BLOCK_QPS; i++) {
		a = take(1);
		b = take(2);
		assert_int_not_equal(a / EMU_BLOCK_QPS, b / EMU_BLOCK_QPS);
	}
	assert_int_equal(changes, 6);
}

static void number_rests_as_long_as_possible(void **state)
{
	uint32_t first = take(1), qpn = first, i;

	for (i = 1; i < EMU_NUM_QPS; i++) {
		used[qpn] = false;
		qpn = take(1);
		assert_int_not_equal(qpn, first);
	}
	used[qpn] = false;
	assert_int_equal(take(1), first);
}

static void one_engine_can_have_all_numbers(void **state)
{
	for (uint32_t i = 0; i < EMU_NUM_QPS; i++)
		assert_int_not_equal(take(7), 0);
	assert_int_equal(take(7), 0);
	used[EMU_FIRST_QPN + 5] = false;
	assert_int_equal(take(7), EMU_FIRST_QPN + 5);
}

static void each_engine_can_have_a_block(void **state)
{
	for (uint32_t slot = 0; slot < EMU_MAX_ENGINES; slot++)
		assert_int_not_equal(take(slot), 0);
	for (uint32_t slot = 0; slot < EMU_MAX_ENGINES; slot++)
		assert_int_not_equal(take(slot), 0);
}

static void numbers_of_an_ended_engine_are_not_given_again_while_used(void **state)
{
	uint32_t old = take(3), i, qpn;

	emu_blocks_release(3);
	assert_int_equal(emu_block_owner(old), EMU_NO_ENGINE);
	for (i = 0; i < EMU_NUM_QPS - EMU_BLOCK_QPS; i++) {
		qpn = take(4);
		assert_int_not_equal(qpn / EMU_BLOCK_QPS, old / EMU_BLOCK_QPS);
	}
	assert_int_equal(take(4), 0);
}

static void refused_change_gives_no_number(void **state)
{
	refusal = -1;
	assert_int_equal(take(1), 0);
	refusal = 0;
	assert_int_equal(take(1), EMU_FIRST_QPN);
}

static void numbers_outside_have_no_owner(void **state)
{
	assert_int_equal(emu_block_owner(0), EMU_NO_ENGINE);
	assert_int_equal(emu_block_owner(EMU_MAX_QPS), EMU_NO_ENGINE);
	assert_int_equal(emu_block_number(EMU_MAX_ENGINES, is_free), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(engines_share_no_block, setup),
		cmocka_unit_test_setup(number_rests_as_long_as_possible, setup),
		cmocka_unit_test_setup(one_engine_can_have_all_numbers, setup),
		cmocka_unit_test_setup(each_engine_can_have_a_block, setup),
		cmocka_unit_test_setup(numbers_of_an_ended_engine_are_not_given_again_while_used,
				       setup),
		cmocka_unit_test_setup(refused_change_gives_no_number, setup),
		cmocka_unit_test_setup(numbers_outside_have_no_owner, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
