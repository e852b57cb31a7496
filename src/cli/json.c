/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/json.h"

static const char *text_of(struct json_object *object, int flags)
{
	const char *text = json_object_to_json_string_ext(
		object, flags | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

	return text ? text : "null";
}

const char *cli_json_text(struct json_object *object)
{
	return text_of(object, JSON_C_TO_STRING_PRETTY);
}

void cli_json_print(FILE *out, struct json_object *object)
{
	fprintf(out, "%s\n", cli_json_text(object));
}

void cli_json_print_line(FILE *out, struct json_object *object)
{
	fprintf(out, "%s\n", text_of(object, 0));
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
