/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies of each length for which the engine has a way of its own, from and to any place in a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/engine/memory/guard.h"

#define PAGE	  4096u
#define LONGEST	  300001u
#define ROOM	  (76 * PAGE)
#define UNTOUCHED 0xaa

static const size_t lengths[] = {0, 1, 511, 512, 4096, 32767, 32768, 40001, 262144, LONGEST};
static uint8_t *from, *to;

static int allocate(void **state)
{
	from = aligned_alloc(PAGE, ROOM);
	to = aligned_alloc(PAGE, ROOM);
	for (size_t i = 0; from && i < ROOM; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 24);
	return !from || !to;
}

static int release(void **state)
{
	free(from);
	free(to);
	return 0;
}

static void copy(size_t target, size_t source, size_t len)
{
	memset(to, UNTOUCHED, PAGE + len);
	assert_true(emu_guard_copy(to + target, from + source, len));
	assert_memory_equal(to + target, from + source, len);
	assert_int_equal(to[target - 1], UNTOUCHED);
	assert_int_equal(to[target + len], UNTOUCHED);
}

/* A target a few bytes further in its page than the source is copied without the processor's string copy. */
static void bytes_are_copied_over_each_distance(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		for (size_t distance = 0; distance <= 20; distance++) {
			copy(64 + distance, 64, lengths[i]);
			copy(61 + distance, 61, lengths[i]);
			copy(64, 64 + distance, lengths[i]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_copied_over_each_distance)};

	return cmocka_run_group_tests(tests, allocate, release);
}
