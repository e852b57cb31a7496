/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bounded cursors of the descriptor codec: they neither read nor write past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "desc/cursor.h"

static const uint8_t bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* Exactly n bytes, so that a sanitizer detects an access beyond them. */
static uint8_t *exactly(size_t n)
{
	uint8_t *copied = malloc(n ? n : 1);

	assert_non_null(copied);
	memcpy(copied, bytes, n);
	return copied;
}

static uint64_t get(struct reader *r, size_t width)
{
	switch (width) {
	case 1:
		return get_u8(r);
	case 2:
		return get_u16(r);
	case 4:
		return get_u32(r);
	default:
		return get_u64(r);
	}
}

/* Not inlined: gcc 12 warns of the writes that the cursor does not do. */
__attribute__((noinline)) static void put(struct writer *w, uint64_t value, size_t width)
{
	switch (width) {
	case 1:
		put_u8(w, (uint8_t)value);
		break;
	case 2:
		put_u16(w, (uint16_t)value);
		break;
	case 4:
		put_u32(w, (uint32_t)value);
		break;
	default:
		put_u64(w, value);
	}
}

static void get_is_little_endian(void **state)
{
	struct reader r;

	read_from(&r, bytes, 15);
	assert_int_equal(get_u8(&r), 0x01);
	assert_int_equal(get_u16(&r), 0x0302);
	assert_int_equal(get_u32(&r), 0x07060504);
	assert_true(get_u64(&r) == 0x0f0e0d0c0b0a0908);
	assert_int_equal(r.left, 0);
	assert_false(r.overrun);
}

static void put_is_little_endian(void **state)
{
	uint8_t out[15];
	struct writer w = writer_of(out, sizeof(out));

	put_u8(&w, 0x01);
	put_u16(&w, 0x0302);
	put_u32(&w, 0x07060504);
	put_u64(&w, 0x0f0e0d0c0b0a0908);
	assert_memory_equal(out, bytes, sizeof(out));
	assert_int_equal(w.left, 0);
	assert_false(w.overrun);
}

static void get_past_the_end_is_an_overrun(void **state)
{
	for (size_t width = 1; width <= 8; width *= 2) {
		for (size_t have = 0; have < width; have++) {
			uint8_t *few = exactly(have);
			struct reader r;

			read_from(&r, few, have);
			assert_true(get(&r, width) == 0);
			assert_true(r.overrun);
			assert_int_equal(r.left, have);
			/* After an overflow, even a value that fits is not written. */
			assert_int_equal(get_u8(&r), 0);
			assert_null(take(&r, 0));
			free(few);
		}
	}
}

static void put_past_the_end_is_an_overrun(void **state)
{
	for (size_t width = 1; width <= 8; width *= 2) {
		for (size_t room = 0; room < width; room++) {
			uint8_t *out = exactly(room);
			struct writer w = writer_of(out, room);

			put(&w, UINT64_MAX, width);
			assert_true(w.overrun);
			assert_int_equal(w.left, room);
			put(&w, 0xff, 1);
			assert_memory_equal(out, bytes, room);
			free(out);
		}
	}
}

static void bytes_past_the_end_are_not_copied(void **state)
{
	uint8_t out[4] = {0xee, 0xee, 0xee, 0xee};
	struct reader r;
	struct writer w = writer_of(out, 3);
	read_from(&r, bytes, 3);
	get_bytes(&r, out, 4);
	put_bytes(&w, bytes, 4);
	assert_true(r.overrun && w.overrun);
	for (size_t i = 0; i < sizeof(out); i++)
		assert_int_equal(out[i], 0xee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get_is_little_endian),
		cmocka_unit_test(put_is_little_endian),
		cmocka_unit_test(get_past_the_end_is_an_overrun),
		cmocka_unit_test(put_past_the_end_is_an_overrun),
		cmocka_unit_test(bytes_past_the_end_are_not_copied),
	};

	return cmocka_run_group_tests_name("desc_cursor", tests, NULL, NULL);
}
