/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each form of the descriptors' checksum: by the table, by the processor's instructions, and as the
 * library chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "desc/crc32c.h"
#include "desc/crc32c_insn.h"
#include "desc/crc32c_table.h"

#define MAX_LEN 64
#define SHIFTS	8

typedef uint32_t crc32c_form(uint32_t crc, const uint8_t *at, size_t len);

static uint32_t as_library(uint32_t crc, const uint8_t *at, size_t len)
{
	return dpumap_desc_crc32c(crc, at, len);
}

/* RFC 3720, B.4, and the check value that catalogues of CRCs give. */
static void assert_known_answers(crc32c_form *form)
{
	uint8_t bytes[32];

	assert_int_equal(form(0, (const uint8_t *)"", 0), 0);
	assert_int_equal(form(0, (const uint8_t *)"123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(form(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(form(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(form(0, bytes, sizeof(bytes)), 0x46dd794e);
	assert_int_equal(form(form(0, (const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5),
			 0xe3069283);
}

/* Bit by bit, as docs/wire-format.md defines it. */
static uint32_t by_definition(uint32_t crc, const uint8_t *at, size_t len)
{
	crc = ~crc;
	for (size_t i = 0; i < 8 * len; i++) {
		crc ^= at[i / 8] >> i % 8 & 1u;
		crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static void assert_defined(crc32c_form *form)
{
	uint8_t bytes[SHIFTS + MAX_LEN];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 151 + 7);
	for (size_t shift = 0; shift < SHIFTS; shift++)
		for (size_t len = 0; len <= MAX_LEN; len++)
			assert_int_equal(form((uint32_t)len, bytes + shift, len),
					 by_definition((uint32_t)len, bytes + shift, len));
}

static void table_gives_the_known_answers(void **state)
{
	assert_known_answers(crc32c_by_table);
	assert_defined(crc32c_by_table);
}

static void choice_of_the_library_gives_the_known_answers(void **state)
{
	assert_known_answers(as_library);
	assert_defined(as_library);
}

#ifdef __x86_64__
/* Other processors cannot be asked in another way than the library's. */
static void instructions_give_the_known_answers(void **state)
{
	if (!__builtin_cpu_supports("sse4.2"))
		skip();
	assert_known_answers(crc32c_by_insn);
	assert_defined(crc32c_by_insn);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_gives_the_known_answers),
		cmocka_unit_test(choice_of_the_library_gives_the_known_answers),
#ifdef __x86_64__
		cmocka_unit_test(instructions_give_the_known_answers),
#endif
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
