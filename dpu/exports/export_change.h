/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A change of the exports is first planned, which changes nothing, then made, and then applied. Only one
 * exists at a time, and nothing else may add or remove exports meanwhile.
 */
#ifndef DPUMAPD_EXPORT_CHANGE_H
#define DPUMAPD_EXPORT_CHANGE_H

#include "dpu/exports/export_table.h"

struct export_change;

/* Plans to add an export. Takes the spec over on success. ALREADY_EXIST. */
doca_error_t export_change_add(struct export_table *exports, struct export_spec *spec,
			       struct export_change **change, struct dpumap_error *error);
/* Plans to remove an export. NOT_FOUND. */
doca_error_t export_change_remove(struct export_table *exports, const char *name,
				  struct export_change **change, struct dpumap_error *error);
/*
 * Plans to make the exports those of the list and those that came from the unchanged files of dir. Unchanged
 * exports stay untouched, with their imports, also if their labels change; a change of permissions
 * or authorized peers keeps the bytes; any other difference replaces the export. List and dir are
 * borrowed until export_change_make() has returned; the rest of the list is the caller's to free.
 * An export that had failed may fail again, which does not prevent the change.
 * ALREADY_EXIST for an export of the list that an unchanged file has as well.
 */
doca_error_t export_change_set(struct export_table *exports, struct export_list *wanted,
			       const struct export_dir *dir, struct export_change **change,
			       struct dpumap_error *error);
/*
 * Makes the new exports beside the old ones, or fails and undoes it. Takes long; may run in another
 * thread while the table is in use.
 */
doca_error_t export_change_make(struct export_change *change, struct dpumap_error *error);
/* Lets export_change_make() fail soon. May be called in any thread. */
void export_change_cancel(struct export_change *change);
/* Changes some exports, which cannot fail, and says whether others are left. */
bool export_change_apply(struct export_change *change);
/* Is the next one being registered? Then it cannot end now. */
bool export_change_must_wait(const struct export_change *change);
/* Frees the memory of what the change replaced and removed. As export_change_make(). */
void export_change_dispose(struct export_change *change);
/* Undoes what was not applied. NULL is allowed. */
void export_change_destroy(struct export_change *change);
/*
 * All steps of export_change_set() at once. SHUTDOWN, and no change, as soon as stops() is true. may_fail: an
 * export that cannot be made does not prevent the others, unless there are none.
 */
doca_error_t export_change_set_now(struct export_table *exports, struct export_list *wanted,
				   const struct export_dir *dir, bool may_fail, bool (*stops)(void),
				   struct dpumap_error *error);

/* The export ends outside the change in progress, if there is one: the table calls this. */
void export_change_forget(struct export_table *exports, const struct named_export *export);

#endif
