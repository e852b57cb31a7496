/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON output. A member that cannot be allocated is omitted. */
#ifndef DPUMAP_HOST_JSON_H
#define DPUMAP_HOST_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "local/error.h"

void json_add_text(struct json_object *object, const char *key, const char *text);
void json_add_number(struct json_object *object, const char *key, uint64_t number);
void json_add_real(struct json_object *object, const char *key, double number);

/*
 * Before any output: the command. Its objects get the name of its published schema (docs/schema), unless they have
 * one already.
 */
void json_set_command(const char *command);
/* The name of the schema. */
const char *json_schema(void);

/* Prints the error unless the command has printed JSON before. */
void json_print_error(const struct dpumap_error *error);
/* The command has printed JSON by other means. */
void json_set_printed(void);

/*
 * A document with a list that may be very long: its objects are printed as they come, after the members of the head.
 * Nothing is printed before the first one, so that an error until then is printed as usual.
 */
struct json_list {
	struct json_object *head;
	const char *key;
	bool has_begun;
};

/* Frees the object. */
void json_list_add(struct json_list *list, struct json_object *object);
/* Frees the head. A list that has begun and is not complete leaves a document without its end. */
void json_list_end(struct json_list *list, bool is_complete);

/* Both free the object. */
void json_print(struct json_object *object);
/* Prints one line and flushes it, for readers of events. */
void json_print_line(struct json_object *object);

#endif
