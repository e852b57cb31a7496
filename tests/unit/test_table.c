/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables of JSON objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/table.h"

static void write_sum(FILE *out, struct json_object *row)
{
	fprintf(out, "%d",
		json_object_get_int(json_object_object_get(row, "a")) +
			json_object_get_int(json_object_object_get(row, "b")));
}

static const struct cli_column columns[] = {
	{"NAME", "name", -6, NULL},	     {"A", "a", 4, NULL},
	{" SUM", NULL, -4, write_sum},	     {"B", "b", 3, NULL},
	{"LIST", "list", 0, cli_table_list}, {0}};

static void assert_row(const char *json, const char *wanted)
{
	struct json_object *row = json ? json_tokener_parse(json) : NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (json)
		cli_table_row(out, columns, row);
	else
		cli_table_head(out, columns);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
	json_object_put(row);
}

static void columns_are_aligned(void **state)
{
	assert_row(NULL, "NAME      A  SUM    B LIST\n");
	assert_row("{\"name\": \"x\", \"a\": 1, \"b\": 22, \"list\": [\"p\", \"q\"]}",
		   "x         1  23    22 p,q\n");
}

static void long_cell_moves_the_others(void **state)
{
	assert_row("{\"name\": \"longest\", \"a\": 12345, \"b\": 1, \"list\": [\"p\"]}",
		   "longest 12345  12346   1 p\n");
}

static void line_does_not_end_in_blanks(void **state)
{
	assert_row("{\"name\": \"x\", \"a\": 1, \"b\": 2, \"list\": []}",
		   "x         1  3      2\n");
	assert_row("{\"name\": \"x\", \"a\": 1}", "x         1  1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned),
		cmocka_unit_test(long_cell_moves_the_others),
		cmocka_unit_test(line_does_not_end_in_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
