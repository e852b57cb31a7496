/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sizes, input files, SHA-256 and exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "common/digest.h"
#include "common/size.h"
#include "local/file.h"
#include "temporary.h"

#define LEN(a) ARRAY_SIZE(a)

static void sizes_are_parsed_exactly_or_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"1", 1},
		{"64K", 65536},
		{"16m", 16 << 20},
		{"3G", UINT64_C(3) << 30},
		{"2T", UINT64_C(2) << 40},
		{"18446744073709551615", UINT64_MAX},
		{"16777215T", UINT64_C(16777215) << 40},
	};
	static const char *const bad[] = {"",
					  "K",
					  "-1",
					  "+1",
					  " 1",
					  "1 ",
					  "0x10",
					  "1KB",
					  "1.5K",
					  "1P",
					  "18446744073709551616",
					  "16777216T"};
	uint64_t bytes;

	for (size_t i = 0; i < LEN(good); i++) {
		assert_true(dpumap_size_parse(good[i].text, &bytes));
		assert_true(bytes == good[i].bytes);
	}
	bytes = 77;
	for (size_t i = 0; i < LEN(bad); i++)
		assert_false(dpumap_size_parse(bad[i], &bytes));
	assert_true(bytes == 77);
}

static void numbers_are_parsed_up_to_the_limit(void **state)
{
	uint64_t value = 0;

	assert_true(dpumap_number_parse("900", 900, &value));
	assert_true(value == 900);
	assert_false(dpumap_number_parse("901", 900, &value));
	assert_false(dpumap_number_parse("1K", 90000, &value));
	assert_false(dpumap_number_parse("-1", UINT64_MAX, &value));
}

static void sizes_are_formatted_with_an_exact_unit(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{0, "0"},
		{1023, "1023"},
		{1024, "1K"},
		{65537, "65537"},
		{16 << 20, "16M"},
		{UINT64_C(1) << 50, "1024T"},
		{UINT64_MAX, "18446744073709551615"},
	};
	char text[DPUMAP_SIZE_TEXT_MAX];

	for (size_t i = 0; i < LEN(sizes); i++) {
		dpumap_size_format(sizes[i].bytes, text);
		assert_string_equal(text, sizes[i].text);
	}
}

static void check_final(struct dpumap_hasher *hasher, const char *expected)
{
	char text[DPUMAP_DIGEST_TEXT_MAX];
	struct dpumap_digest digest;
	struct dpumap_error error;

	assert_int_equal(dpumap_hasher_final(hasher, &digest, &error), DOCA_SUCCESS);
	dpumap_digest_format(&digest, text);
	assert_string_equal(text, expected);
}

/* As sha256sum and xxh128sum print them; in pieces, and again after the end. */
static void hashes_give_the_known_answers(void **state)
{
	static const struct {
		enum dpumap_hash hash;
		const char *abc, *empty;
	} known[] = {
		{DPUMAP_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{DPUMAP_XXH128, "06b05ab6733a618578af5f94892f3950",
		 "99aa06d3014798d86001c324468d497f"},
	};
	struct dpumap_hasher *hasher = NULL;
	struct dpumap_error error;

	for (size_t i = 0; i < LEN(known); i++) {
		assert_int_equal(dpumap_hasher_create(known[i].hash, &hasher, &error),
				 DOCA_SUCCESS);
		assert_int_equal(dpumap_hasher_update(hasher, "a", 1, &error), DOCA_SUCCESS);
		assert_int_equal(dpumap_hasher_update(hasher, "bc", 2, &error), DOCA_SUCCESS);
		check_final(hasher, known[i].abc);
		check_final(hasher, known[i].empty);
		dpumap_hasher_destroy(hasher);
	}
}

static struct dpumap_digest digest_of(const uint8_t *bytes, size_t len)
{
	struct dpumap_hasher *hasher = NULL;
	struct dpumap_digest digest;
	struct dpumap_error error;

	assert_int_equal(dpumap_hasher_create(DPUMAP_XXH128, &hasher, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_hasher_update(hasher, bytes, len, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_hasher_final(hasher, &digest, &error), DOCA_SUCCESS);
	dpumap_hasher_destroy(hasher);
	return digest;
}

/* One bit of any byte: first, last, and in each block and lane of the hash. */
static void changed_byte_changes_the_digest(void **state)
{
	static uint8_t bytes[20008];
	struct dpumap_digest good = digest_of(bytes, sizeof(bytes)), bad;

	for (size_t i = 0; i < sizeof(bytes); i += 19) {
		bytes[i] ^= (uint8_t)(1u << i % 8);
		bad = digest_of(bytes, sizeof(bytes));
		assert_false(dpumap_digest_is_equal(&good, &bad));
		bytes[i] = 0;
	}
	bad = digest_of(bytes, sizeof(bytes) - 1);
	assert_false(dpumap_digest_is_equal(&good, &bad));
}

static void digests_of_two_hashes_differ(void **state)
{
	struct dpumap_digest a = {DPUMAP_SHA256, {0}}, b = {DPUMAP_XXH128, {0}};

	assert_true(dpumap_digest_is_equal(&a, &a));
	assert_false(dpumap_digest_is_equal(&a, &b));
	b = a;
	b.bytes[dpumap_hash_len(a.hash) - 1] = 1;
	assert_false(dpumap_digest_is_equal(&a, &b));
}

static struct dpumap_error error;

static void open_of_a_non_file_is_refused(void **state)
{
	uint64_t size;
	int fd;

	assert_int_equal(dpumap_file_open(temporary_path, &fd, &size, &error),
			 DOCA_ERROR_NOT_FOUND);
	assert_int_equal(dpumap_file_open(temporary_directory, &fd, &size, &error),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(mkfifo(temporary_path, 0600), 0);
	assert_int_equal(dpumap_file_open(temporary_path, &fd, &size, &error),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(unlink(temporary_path), 0);
}

static void each_error_has_an_exit_code(void **state)
{
	assert_int_equal(dpumap_error_exit(DOCA_SUCCESS), 0);
	assert_int_equal(dpumap_error_exit(DOCA_ERROR_IO_FAILED), 1);
	assert_int_equal(dpumap_error_exit(DOCA_ERROR_NOT_FOUND), 13);
	assert_int_equal(dpumap_error_exit(DOCA_ERROR_NOT_PERMITTED), 14);
	assert_int_equal(dpumap_error_exit(DOCA_ERROR_DRIVER), 15);
	for (int code = 1; code <= DOCA_ERROR_SKIPPED; code++)
		assert_int_not_equal(dpumap_error_exit((doca_error_t)code), 0);
}

/* A line that does not fit is truncated. */
static void fault_text_is_bounded(void **state)
{
	char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(dpumap_error_doca(&error, DOCA_ERROR_DRIVER, "%s", text),
			 DOCA_ERROR_DRIVER);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_int_equal(dpumap_error_doca(&error, DOCA_ERROR_DRIVER, "no"), DOCA_ERROR_DRIVER);
	assert_non_null(strstr(error.text, "DOCA_ERROR_DRIVER"));
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, temporary_set_up, temporary_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_parsed_exactly_or_refused),
		cmocka_unit_test(numbers_are_parsed_up_to_the_limit),
		cmocka_unit_test(sizes_are_formatted_with_an_exact_unit),
		cmocka_unit_test(hashes_give_the_known_answers),
		cmocka_unit_test(changed_byte_changes_the_digest),
		cmocka_unit_test(digests_of_two_hashes_differ),
		FILE_TEST(open_of_a_non_file_is_refused),
		cmocka_unit_test(each_error_has_an_exit_code),
		cmocka_unit_test(fault_text_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
