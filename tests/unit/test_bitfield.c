/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The macros of doca_bitfield.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <doca_bitfield.h>

/* Constant expressions, also outside functions. */
static const doca_be16_t mask16 = DOCA_BE16_GENMASK(11, 4);
static const doca_be32_t mask32 = DOCA_BE32P_GENMASK(23, 8, 1);
static const uint8_t set8 = DOCA_U8_SET(DOCA_U8_GENMASK(5, 2), 9);

static void assert_bytes(const void *value, const char *bytes, size_t len)
{
	assert_memory_equal(value, bytes, len);
}

static void conversions_are_big_endian(void **state)
{
	doca_be16_t be16 = DOCA_HTOBE16(0x0102);
	doca_be32_t be32 = DOCA_HTOBE32(0x01020304);

	assert_bytes(&be16, "\1\2", 2);
	assert_bytes(&be32, "\1\2\3\4", 4);
	assert_int_equal(DOCA_BETOH16(be16), 0x0102);
	assert_int_equal(DOCA_BETOH32(be32), 0x01020304);
	assert_int_equal(be16, htons(0x0102));
	assert_int_equal(be32, htonl(0x01020304));
}

static void shift_is_the_lowest_bit_set(void **state)
{
	assert_int_equal(DOCA_SHIFT(1), 0);
	assert_int_equal(DOCA_SHIFT(0x50), 4);
	assert_int_equal(DOCA_SHIFT(0x80000000), 31);
	assert_int_equal(DOCA_SHIFT((uint64_t)1 << 63), 63);
	assert_int_equal(DOCA_SHIFT(0), 0);
}

static void masks_cover_the_bits_h_to_l(void **state)
{
	doca_be16_t top16 = DOCA_BE16_GENMASK(15, 15);
	doca_be32_t all32 = DOCA_BE32_GENMASK(31, 0);

	assert_int_equal(DOCA_U8_GENMASK(7, 0), 0xff);
	assert_int_equal(DOCA_U8_GENMASK(5, 2), 0x3c);
	assert_int_equal(DOCA_U8_GENMASK(0, 0), 0x01);
	assert_int_equal(DOCA_U8_GENMASK(7, 7), 0x80);
	assert_bytes(&mask16, "\x0f\xf0", 2);
	assert_bytes(&top16, "\x80\x00", 2);
	assert_bytes(&mask32, "\x00\xff\xff\x00", 4);
	assert_bytes(&all32, "\xff\xff\xff\xff", 4);
}

static void set_places_a_value_and_get_returns_it(void **state)
{
	doca_be16_t field16 = DOCA_BE16_SET(mask16, 0xab);
	doca_be32_t field32 = DOCA_BE32_SET(mask32, 0x1234);

	assert_int_equal(set8, 9 << 2);
	assert_int_equal(DOCA_U8_GET(DOCA_U8_GENMASK(5, 2), set8 | 0xc3), 9);
	assert_bytes(&field16, "\x0a\xb0", 2);
	assert_int_equal(DOCA_BE16_GET(mask16, field16 | DOCA_HTOBE16(0xf00f)), 0xab);
	assert_bytes(&field32, "\x00\x12\x34\x00", 4);
	assert_int_equal(DOCA_BE32_GET(mask32, field32 | DOCA_HTOBE32(0xff0000ff)), 0x1234);
}

static void set_drops_bits_that_do_not_fit(void **state)
{
	assert_int_equal(DOCA_U8_SET(DOCA_U8_GENMASK(5, 2), 0xff), 0x3c);
	assert_int_equal(DOCA_BE16_SET(mask16, 0xffff), mask16);
	assert_int_equal(DOCA_BE32_SET(mask32, 0xffffffff), mask32);
	assert_int_equal(DOCA_U8_SET(0, 0xff), 0);
	assert_int_equal(DOCA_BE16_SET(0, 0xffff), 0);
}

static void macros_with_p_are_0_unless_p(void **state)
{
	for (int p = 0; p < 2; p++) {
		assert_int_equal(DOCA_U8P_GENMASK(5, 2, p), p ? 0x3c : 0);
		assert_int_equal(DOCA_U8P_SET(0x3c, 9, p), p ? 9 << 2 : 0);
		assert_int_equal(DOCA_BE16P_GENMASK(11, 4, p), p ? mask16 : 0);
		assert_int_equal(DOCA_BE16P_SET(mask16, 1, p), p ? DOCA_HTOBE16(1 << 4) : 0);
		assert_int_equal(DOCA_BE32P_GENMASK(23, 8, p), p ? mask32 : 0);
		assert_int_equal(DOCA_BE32P_SET(mask32, 1, p), p ? DOCA_HTOBE32(1 << 8) : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions_are_big_endian),
		cmocka_unit_test(shift_is_the_lowest_bit_set),
		cmocka_unit_test(masks_cover_the_bits_h_to_l),
		cmocka_unit_test(set_places_a_value_and_get_returns_it),
		cmocka_unit_test(set_drops_bits_that_do_not_fit),
		cmocka_unit_test(macros_with_p_are_0_unless_p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
