/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Labels of an export: what an administrator says about it, KEY=VALUE, for clients that search. */
#ifndef DPUMAPD_EXPORT_LABELS_H
#define DPUMAPD_EXPORT_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "local/error.h"

#define EXPORT_LABELS_MAX 16

/* All zero: none. */
struct export_labels {
	char **list; /* "KEY=VALUE", by key */
	size_t num;
};

/*
 * Adds a label. Key and value have the form of an export name. INVALID_VALUE with the reason, which
 * does not name the export; NO_MEMORY.
 */
doca_error_t export_labels_add(struct export_labels *labels, const char *text,
			       struct dpumap_error *error);
/* NO_MEMORY: copy is empty. */
doca_error_t export_labels_copy(struct export_labels *copy, const struct export_labels *labels,
				struct dpumap_error *error);
void export_labels_free(struct export_labels *labels);
bool export_labels_are_equal(const struct export_labels *a, const struct export_labels *b);

#endif
