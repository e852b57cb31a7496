/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Descriptions of exports, by name. */
#ifndef DPUMAPD_EXPORT_LIST_H
#define DPUMAPD_EXPORT_LIST_H

#include <stddef.h>

#include "dpu/spec/export_spec.h"
#include "local/error.h"

/* All zero: empty. */
struct export_list {
	struct export_spec *specs;
	size_t num, room;
};

void export_list_free(struct export_list *list);
/* Takes the spec over; ALREADY_EXIST for a second one of its name. */
doca_error_t export_list_add(struct export_list *list, struct export_spec *spec,
			     struct dpumap_error *error);
/* Moves the others to the end of the list, which is not sorted then. */
doca_error_t export_list_append(struct export_list *list, struct export_list *others,
				struct dpumap_error *error);
/* Sorts the list. Returns the first of two neighbours of the same name, or NULL. */
const struct export_spec *export_list_sort(struct export_list *list);

#endif
