/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables of JSON objects, as all programs print them: a line of headings and a line for each object. */
#ifndef DPUMAP_CLI_TABLE_H
#define DPUMAP_CLI_TABLE_H

#include <stdio.h>

#include <json-c/json.h>

struct cli_column {
	const char *heading; /* blanks before it are before each cell; NULL: there are no more */
	const char *key;     /* the member that it shows */
	int width;	     /* below 0: flush left */
	/* Writes the member, or the object if key is NULL. NULL: numbers and texts as they are. */
	void (*write)(FILE *out, struct json_object *value);
};

void cli_table_head(FILE *out, const struct cli_column *columns);
void cli_table_row(FILE *out, const struct cli_column *columns, struct json_object *row);

/* Writes a list of texts, separated by commas. */
void cli_table_list(FILE *out, struct json_object *value);

#endif
