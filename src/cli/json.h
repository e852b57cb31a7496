/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON as all programs print it. */
#ifndef DPUMAP_CLI_JSON_H
#define DPUMAP_CLI_JSON_H

#include <stdio.h>

#include <json-c/json.h>

/* The text of an object over several lines, which is the object's. */
const char *cli_json_text(struct json_object *object);
/* An object over several lines, or in one. */
void cli_json_print(FILE *out, struct json_object *object);
void cli_json_print_line(FILE *out, struct json_object *object);
/* What every command prints if it fails before it has printed JSON: dpumap-error-1. */
void cli_json_error(FILE *out, const char *status, const char *error, int exit);

#endif
