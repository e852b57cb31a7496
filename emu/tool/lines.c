/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/tool/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json_pointer.h>

#define MAX_NAME 64

struct row {
	struct json_object *object;
	const char *key; /* of a member; else NULL */
	const struct row *outer;
};

static uint64_t sum_of(struct json_object *object)
{
	uint64_t sum = 0;

	json_object_object_foreach(object, key, value)
	{
		(void)key;
		sum += json_object_get_uint64(value);
	}
	return sum;
}

static void write_value(FILE *out, struct json_object *value, size_t skip)
{
	if (json_object_is_type(value, json_type_array))
		fprintf(out, "%zu", json_object_array_length(value));
	else if (json_object_is_type(value, json_type_object))
		fprintf(out, "%" PRIu64, sum_of(value));
	else
		fputs(json_object_get_string(value) + skip, out);
}

static struct json_object *find(const struct row *row, const char *name)
{
	char path[MAX_NAME + 1];
	struct json_object *found;

	snprintf(path, sizeof(path), "/%s", name);
	for (; row; row = row->outer) {
		if (row->key && !strcmp(name, "value"))
			return row->object;
		if (!json_pointer_get(row->object, path, &found))
			return found;
	}
	return NULL;
}

/* Writes what a "{name}" stands for; false: there is nothing. Without `out`, only looks. */
static bool write_name(FILE *out, const struct row *row, const char *text)
{
	char name[MAX_NAME];
	struct json_object *value;
	char *plus;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "}"), text);
	plus = strchr(name, '+');
	if (plus)
		*plus++ = '\0';
	if (row->key && !strcmp(name, "key")) {
		if (out)
			fputs(row->key, out);
		return true;
	}
	value = find(row, name);
	if (value && out)
		write_value(out, value, plus ? strtoul(plus, NULL, 10) : 0);
	return value;
}

/* The end of an optional part whose first name exists, or where the text goes on after it. */
static const char *enter(const struct row *row, const char *text)
{
	return write_name(NULL, row, strchr(text, '{') + 1) ? text + 1 : strchr(text, ']') + 1;
}

static void write_line(FILE *out, const struct row *row, const char *text)
{
	while (*text) {
		if (*text == '[') {
			text = enter(row, text);
		} else if (*text == '{') {
			write_name(out, row, text + 1);
			text = strchr(text, '}') + 1;
		} else if (*text++ != ']') {
			fputc(text[-1], out);
		}
	}
	fputc('\n', out);
}

static void print_lists(FILE *out, const struct tool_lines *lines, const struct row *outer);

static void print_row(FILE *out, const struct tool_lines *l, const struct row *row)
{
	if (l->omits_zero && !json_object_get_uint64(row->object))
		return;
	if (l->line)
		write_line(out, row, l->line);
	if (l->inside)
		print_lists(out, l->inside, row);
}

static void print_rows(FILE *out, const struct tool_lines *l, struct json_object *list,
		       const struct row *outer)
{
	size_t n;

	if (json_object_is_type(list, json_type_object)) {
		json_object_object_foreach(list, key, value)
		{
			print_row(out, l, &(struct row){value, key, outer});
		}
		return;
	}
	n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	for (size_t i = 0; i < n; i++)
		print_row(out, l, &(struct row){json_object_array_get_idx(list, i), NULL, outer});
}

static void print_lists(FILE *out, const struct tool_lines *lines, const struct row *outer)
{
	for (const struct tool_lines *l = lines; l->list || l->line; l++) {
		if (l->list)
			print_rows(out, l, json_object_object_get(outer->object, l->list), outer);
		else
			print_row(out, l, outer);
	}
}

void tool_lines_print(FILE *out, const struct tool_lines *lines, struct json_object *object)
{
	print_lists(out, lines, &(struct row){.object = object});
}
