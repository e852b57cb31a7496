/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/json.h"

static void print(FILE *out, struct json_object *object, int flags)
{
	const char *text = json_object_to_json_string_ext(
		object, flags | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

	fprintf(out, "%s\n", text ? text : "null");
}

void cli_json_print(FILE *out, struct json_object *object)
{
	print(out, object, JSON_C_TO_STRING_PRETTY);
}

void cli_json_print_line(FILE *out, struct json_object *object)
{
	print(out, object, 0);
	fflush(out);
}

void cli_json_error(FILE *out, const char *status, const char *error, int exit)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "status", json_object_new_string(status));
	json_object_object_add(object, "error", json_object_new_string(error));
	json_object_object_add(object, "exit", json_object_new_int(exit));
	cli_json_print_line(out, object);
	json_object_put(object);
}
