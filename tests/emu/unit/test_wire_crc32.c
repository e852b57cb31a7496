/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The CRC-32 of Ethernet, compared with its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "emu/wire/crc32.h"

#define POLYNOMIAL 0xedb88320u
#define MAX	   4200u
#define ALIGNMENTS 33u

static uint8_t bytes[ALIGNMENTS + MAX];

/* IEEE 802.3, 3.2.9: bit by bit. */
static uint32_t by_definition(uint32_t crc, const uint8_t *at, size_t len)
{
	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
	}
	return ~crc;
}

static int fill(void **state)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	return 0;
}

static void known_answers_are_computed(void **state)
{
	assert_int_equal(wire_crc32(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	assert_int_equal(wire_crc32(0x12345678, bytes, 0), 0x12345678);
}

static void each_length_agrees_with_the_definition(void **state)
{
	for (size_t len = 0; len <= MAX; len += len < 1100 ? 1 : 61)
		assert_int_equal(wire_crc32(0, bytes, len), by_definition(0, bytes, len));
}

static void each_alignment_and_beginning_agrees_with_the_definition(void **state)
{
	static const uint32_t begins[] = {0, 1, 0x80000000, 0xffffffff, 0xdeadbeef};

	for (size_t at = 0; at < ALIGNMENTS; at++)
		for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
			assert_int_equal(wire_crc32(begins[i], bytes + at, 1000),
					 by_definition(begins[i], bytes + at, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers_are_computed),
		cmocka_unit_test(each_length_agrees_with_the_definition),
		cmocka_unit_test(each_alignment_and_beginning_agrees_with_the_definition),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
