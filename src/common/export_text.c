/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/export_text.h"

#include <string.h>

#include "common/size.h"

void dpumap_export_describe(struct json_object *object, const char *kind, uint64_t size,
			    const char *perm, const char *via)
{
	json_object_object_add(object, "kind", json_object_new_string(kind));
	json_object_object_add(object, "size", json_object_new_uint64(size));
	json_object_object_add(object, "perm", json_object_new_string(perm));
	json_object_object_add(object, "via", json_object_new_string(via));
}

const char *dpumap_export_permissions(const char *perm)
{
	if (strcmp(perm, "rw") == 0)
		return "read-write";
	return strcmp(perm, "ro") == 0 ? "read-only" : perm;
}

const char *dpumap_export_via(const char *via)
{
	return strcmp(via, "rdma") == 0 ? "RDMA" : "PCI";
}

void dpumap_export_write_size(FILE *out, struct json_object *value)
{
	char text[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(json_object_get_uint64(value), text);
	fputs(text, out);
}

void dpumap_export_write_permissions(FILE *out, struct json_object *value)
{
	fputs(dpumap_export_permissions(json_object_get_string(value)), out);
}

void dpumap_export_write_via(FILE *out, struct json_object *value)
{
	fputs(dpumap_export_via(json_object_get_string(value)), out);
}
