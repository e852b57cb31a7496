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
#include "common/sha256.h"
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

/* FIPS 180-2, appendix B.1, and the empty message; in pieces, and again after the end. */
static void sha256_gives_the_known_answers(void **state)
{
	static const char *const abc =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char *const empty =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	uint8_t digest[DPUMAP_SHA256_LEN];
	char text[DPUMAP_SHA256_TEXT_MAX];
	struct dpumap_sha256 *sha = NULL;
	struct dpumap_error error;

	assert_int_equal(dpumap_sha256_create(&sha, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_sha256_update(sha, "a", 1, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_sha256_update(sha, "bc", 2, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_sha256_final(sha, digest, &error), DOCA_SUCCESS);
	dpumap_sha256_format(digest, text);
	assert_string_equal(text, abc);
	assert_int_equal(dpumap_sha256_final(sha, digest, &error), DOCA_SUCCESS);
	dpumap_sha256_format(digest, text);
	assert_string_equal(text, empty);
	dpumap_sha256_destroy(sha);
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
		cmocka_unit_test(sha256_gives_the_known_answers),
		FILE_TEST(open_of_a_non_file_is_refused),
		cmocka_unit_test(each_error_has_an_exit_code),
		cmocka_unit_test(fault_text_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
