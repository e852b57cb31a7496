/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON output. A member that cannot be allocated is omitted. */
#ifndef DPUMAP_HOST_JSON_H
#define DPUMAP_HOST_JSON_H

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

/* Both free the object. */
void json_print(struct json_object *object);
/* Prints one line and flushes it, for readers of events. */
void json_print_line(struct json_object *object);

#endif
