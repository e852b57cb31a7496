/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports as both programs list them: members of a JSON object, and columns of a table. */
#ifndef DPUMAP_COMMON_EXPORT_TEXT_H
#define DPUMAP_COMMON_EXPORT_TEXT_H

#include <stdint.h>

#include "cli/table.h"

/* perm and via as in dpumapd's configuration; perm may be "none", too. */
void dpumap_export_describe(struct json_object *object, const char *kind, uint64_t size,
			    const char *perm, const char *via);

/* For people: "read-write" for "rw", "RDMA" for "rdma". */
const char *dpumap_export_permissions(const char *perm);
const char *dpumap_export_via(const char *via);

void dpumap_export_write_size(FILE *out, struct json_object *value);
void dpumap_export_write_permissions(FILE *out, struct json_object *value);
void dpumap_export_write_via(FILE *out, struct json_object *value);

/* Columns after the name; a list may have more. */
#define DPUMAP_EXPORT_COLUMNS                                                       \
	{"KIND", "kind", -6, NULL}, {"SIZE", "size", 12, dpumap_export_write_size}, \
		{" PERMISSIONS", "perm", -12, dpumap_export_write_permissions},     \
	{                                                                           \
		"VIA", "via", -5, dpumap_export_write_via                           \
	}

#endif
