/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The exports of the configuration that cannot be made, or have ended by themselves. */
#ifndef DPUMAPD_FAILED_EXPORTS_H
#define DPUMAPD_FAILED_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "dpu/spec/export_spec.h"
#include "local/error.h"

struct failed_export {
	char name[DPUMAP_EXPORT_NAME_MAX];
	char *why;
};

/* By name. All zero: none. */
struct failed_exports {
	struct failed_export *list;
	size_t num;
};

void failed_exports_free(struct failed_exports *failed);
/* Replaces an earlier reason. NO_MEMORY: the list is unchanged. */
doca_error_t failed_exports_add(struct failed_exports *failed, const char *name,
				const struct dpumap_error *why);
bool failed_exports_has(const struct failed_exports *failed, const char *name);
void failed_exports_remove(struct failed_exports *failed, const char *name);

#endif
