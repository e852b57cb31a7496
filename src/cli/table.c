/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

/* A line whose blanks are written only before more text. */
struct line {
	FILE *out;
	int blanks;
};

static int gap_of(const struct cli_column *column)
{
	return (int)strspn(column->heading, " ");
}

static void write_cell(struct line *line, const struct cli_column *column, const char *text)
{
	int pad = abs(column->width) - (int)strlen(text);

	pad = pad > 0 ? pad : 0;
	line->blanks += gap_of(column) + (column->width > 0 ? pad : 0);
	if (text[0]) {
		fprintf(line->out, "%*s%s", line->blanks, "", text);
		line->blanks = 0;
	}
	line->blanks += 1 + (column->width < 0 ? pad : 0);
}

void cli_table_head(FILE *out, const struct cli_column *columns)
{
	struct line line = {.out = out};

	for (const struct cli_column *c = columns; c->heading; c++)
		write_cell(&line, c, c->heading + gap_of(c));
	fputc('\n', out);
}

static void write_member(FILE *out, const struct cli_column *column, struct json_object *row)
{
	struct json_object *value = column->key ? json_object_object_get(row, column->key) : row;

	if (value && column->write)
		column->write(out, value);
	else if (value)
		fputs(json_object_get_string(value), out);
}

void cli_table_row(FILE *out, const struct cli_column *columns, struct json_object *row)
{
	struct line line = {.out = out};

	for (const struct cli_column *c = columns; c->heading; c++) {
		char *text = NULL;
		size_t len;
		FILE *cell = open_memstream(&text, &len);

		if (cell)
			write_member(cell, c, row);
		if (cell && !fclose(cell))
			write_cell(&line, c, text);
		free(text);
	}
	fputc('\n', out);
}

void cli_table_list(FILE *out, struct json_object *value)
{
	for (size_t i = 0; i < json_object_array_length(value); i++)
		fprintf(out, "%s%s", i ? "," : "",
			json_object_get_string(json_object_array_get_idx(value, i)));
}
