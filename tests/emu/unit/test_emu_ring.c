/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records from the server to a client, whatever the client stores in the shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/ipc/ring.h"

#define RECORD 4099u /* no power of two: records wrap at every place */

static int create(void **state)
{
	*state = calloc(1, sizeof(struct emu_ring));
	return !*state;
}

static int destroy(void **state)
{
	free(*state);
	return 0;
}

static void fill(uint8_t record[RECORD], uint32_t n)
{
	for (uint32_t i = 0; i < RECORD; i++)
		record[i] = (uint8_t)(n * 31 + i);
}

static void records_wrap_at_the_end_of_the_ring(void **state)
{
	struct emu_ring *ring = *state;
	uint8_t in[RECORD], out[RECORD];
	uint64_t head = 0;

	for (uint32_t i = 0; i < 3 * EMU_RING_BYTES / RECORD; i++) {
		fill(in, i);
		assert_true(emu_ring_put(ring, &head, in, sizeof(in)));
		assert_int_equal(emu_ring_get(ring, out, 8), 8);
		assert_int_equal(emu_ring_get(ring, out + 8, sizeof(out) - 8), sizeof(out) - 8);
		assert_memory_equal(in, out, sizeof(in));
	}
	assert_int_equal(emu_ring_get(ring, out, sizeof(out)), 0);
}

static void full_ring_takes_no_part_of_a_record(void **state)
{
	struct emu_ring *ring = *state;
	uint8_t in[RECORD], out[RECORD];
	uint64_t head = 0;
	uint32_t i, n = 0;

	for (fill(in, 0); emu_ring_put(ring, &head, in, sizeof(in)); fill(in, n))
		n++;
	assert_int_equal(n, EMU_RING_BYTES / RECORD);
	for (i = 0; i < n; i++) {
		fill(in, i);
		assert_int_equal(emu_ring_get(ring, out, sizeof(out)), sizeof(out));
		assert_memory_equal(in, out, sizeof(in));
	}
	assert_int_equal(emu_ring_get(ring, out, sizeof(out)), 0);
}

static void impossible_tail_leaves_no_room(void **state)
{
	static const uint64_t tails[] = {1, EMU_RING_BYTES, UINT64_MAX,
					 UINT64_MAX - EMU_RING_BYTES};
	struct emu_ring *ring = *state;
	uint8_t in[RECORD] = {0};
	uint64_t head = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		atomic_store(&ring->tail, tails[i]);
		atomic_store(&ring->head, tails[i] / 3);
		/* UINT64_MAX: one byte is used. */
		if (emu_ring_put(ring, &head, in, sizeof(in)))
			assert_in_range(head - tails[i], 0, EMU_RING_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_wrap_at_the_end_of_the_ring, create,
						destroy),
		cmocka_unit_test_setup_teardown(full_ring_takes_no_part_of_a_record, create,
						destroy),
		cmocka_unit_test_setup_teardown(impossible_tail_leaves_no_room, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
