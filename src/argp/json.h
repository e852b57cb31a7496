/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters from a JSON file. */
#ifndef DPUMAP_ARGP_JSON_H
#define DPUMAP_ARGP_JSON_H

#include "argp/argp.h"

/* Read the JSON file at argp->json_path. */
doca_error_t dpumap_argp_read_file(struct dpumap_argp *argp);

/* Log that value is not `wanted`, such as "a string". */
doca_error_t dpumap_argp_json_wrong_type(const char *key, struct json_object *value,
					 const char *wanted);
/* The text belongs to the JSON object and lives as long. */
doca_error_t dpumap_argp_json_string(const char *key, struct json_object *value, char **text);
doca_error_t dpumap_argp_json_boolean(const char *key, struct json_object *value, bool *on);

#endif
