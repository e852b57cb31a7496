/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The numbers of "top". tests/agents/test_top.py tests the views, on terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "cli/live.h"

#define HEAD 24
#define CELL 11

static void is_row(double number, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	cli_live_row(out, "a name that is longer than its column", &number, 1);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(len, HEAD + CELL + 1);
	assert_string_equal(text + HEAD + strspn(text + HEAD, " "), expected);
	free(text);
}

static void number_fits_its_column(void **state)
{
	is_row(0, "0 \n");
	is_row(1, "1 \n");
	is_row(0.04, "0.0 \n");
	is_row(12.34, "12.3 \n");
	is_row(123.4, "123 \n");
	is_row(9999, "9999 \n");
	is_row(9999.4, "9999 \n");
	is_row(9999.5, "9.8K\n");
	is_row(10240, "10.0K\n");
	is_row(1048576, "1024K\n");
	is_row(1e9, "954M\n");
	is_row(1.5e12, "1397G\n");
	is_row(1.8e19, "15.6E\n");
	is_row((double)UINT64_MAX, "16.0E\n");
}

static void names_are_above_their_numbers(void **state)
{
	static const char *const names[] = {"copies", "bytes", NULL};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	cli_live_head(out, "", names);
	cli_live_row(out, "", (double[]){1, 2}, 2);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(len, 2 * (HEAD + 2 * CELL + 1));
	assert_int_equal(text[HEAD + CELL - 2], 's');
	assert_int_equal(text[len / 2 + HEAD + CELL - 2], '1');
	free(text);
}

static void rate_is_the_difference_per_second(void **state)
{
	assert_true(cli_live_rate(10, 30, 2000000000) == 10);
	assert_true(cli_live_rate(10, 10, 1) == 0);
	assert_true(cli_live_rate(0, UINT64_MAX, 1000000000) > 1.8e19);
	/* The server has begun again. */
	assert_true(cli_live_rate(30, 10, 1000000000) == 0);
}

static void intervals_are_parsed_within_their_bounds(void **state)
{
	static const char *const wrong[] = {"",	      " ",    ".",   "0",	   "0.0999",
					    "3600.1", "1s",   "-1",  "+1",	   "1e1",
					    "0x10",   "1..2", "nan", "99999999999"};
	unsigned int ms = 7;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(cli_live_interval(wrong[i], &ms));
	assert_int_equal(ms, 7);
	assert_true(cli_live_interval("0.1", &ms));
	assert_int_equal(ms, 100);
	assert_true(cli_live_interval("3600", &ms));
	assert_int_equal(ms, 3600000);
	assert_true(cli_live_interval(".25", &ms));
	assert_int_equal(ms, 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_fits_its_column),
		cmocka_unit_test(names_are_above_their_numbers),
		cmocka_unit_test(rate_is_the_difference_per_second),
		cmocka_unit_test(intervals_are_parsed_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
