/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/base/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/json.h"

void json_add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

void json_add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

void json_add_real(struct json_object *object, const char *key, double number)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6g", number);
	json_object_object_add(object, key, json_object_new_double_s(number, text));
}

static bool is_printed;
static char schema[64];

void json_set_command(const char *command)
{
	static const char *const transfers[] = {"read", "write", "cp", "fill"};
	bool is_transfer = false;

	for (size_t i = 0; i < ARRAY_SIZE(transfers); i++)
		is_transfer |= strcmp(command, transfers[i]) == 0;
	if (is_transfer)
		snprintf(schema, sizeof(schema), "dpumap-transfer-2");
	else
		snprintf(schema, sizeof(schema), "dpumap-%s-1", command);
	for (char *c = schema; *c; c++)
		if (*c == ' ')
			*c = '-';
}

const char *json_schema(void)
{
	return schema;
}

void json_set_printed(void)
{
	is_printed = true;
}

void json_print_error(const struct dpumap_error *error)
{
	if (!is_printed)
		cli_json_error(stdout, doca_error_get_name(error->code), error->text,
			       (int)dpumap_error_exit(error->code));
}

static void add_schema(struct json_object *object)
{
	if (!json_object_object_get_ex(object, "schema", NULL))
		json_add_text(object, "schema", schema);
}

/* The head without its closing brace. */
static void begin_list(struct json_list *list)
{
	const char *text;

	add_schema(list->head);
	text = cli_json_text(list->head);
	printf("%.*s,\n  \"%s\": [", (int)(strlen(text) - strlen("\n}")), text, list->key);
	list->has_begun = true;
	is_printed = true;
}

void json_list_add(struct json_list *list, struct json_object *object)
{
	if (list->has_begun)
		putchar(',');
	else
		begin_list(list);
	fputs("\n    ", stdout);
	for (const char *c = cli_json_text(object); *c; c++) {
		putchar(*c);
		if (*c == '\n')
			fputs("    ", stdout);
	}
	json_object_put(object);
}

void json_list_end(struct json_list *list, bool is_complete)
{
	bool is_empty = !list->has_begun;

	if (is_complete && is_empty)
		begin_list(list);
	if (is_complete)
		puts(is_empty ? "]\n}" : "\n  ]\n}");
	json_object_put(list->head);
}

static void print(struct json_object *object, void (*write)(FILE *out, struct json_object *object))
{
	add_schema(object);
	write(stdout, object);
	json_object_put(object);
	is_printed = true;
}

void json_print(struct json_object *object)
{
	print(object, cli_json_print);
}

void json_print_line(struct json_object *object)
{
	print(object, cli_json_print_line);
}
