/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The records that are known of a fleet. An export is in the view only while its DPU is, and only if
 * etcd gives both the same lease: what an earlier or another DPU left behind is ignored.
 */
#ifndef DPUMAP_FLEET_VIEW_H
#define DPUMAP_FLEET_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dpumap/fleet.h>

#include "fleet/record/names.h"
#include "local/error.h"

#define DPUMAP_VIEW_BYTES_MAX (256u << 20)

struct dpumap_view;

/* One of the records is NULL. The record is valid during the call. Must not change the view. */
typedef void dpumap_view_changed_fn(void *context, enum dpumap_fleet_event event,
				    const struct dpumap_fleet_dpu *dpu,
				    const struct dpumap_fleet_export *export_info);

/* NULL: no memory. */
struct dpumap_view *dpumap_view_create(dpumap_view_changed_fn *changed, void *context);
void dpumap_view_destroy(struct dpumap_view *view); /* NULL is allowed */

/* A key and its value as etcd has them. */
struct dpumap_view_record {
	struct dpumap_fleet_key key;
	const void *value;
	size_t len;
	int64_t lease, revision; /* of the last change of the key */
};

/*
 * Adds or changes a record. After a failure the view has no record of this key: INVALID_VALUE or
 * TOO_BIG (the record), NOT_FOUND (an export without its DPU, or with another lease), FULL (the view
 * has DPUMAP_VIEW_BYTES_MAX), NO_MEMORY.
 */
doca_error_t dpumap_view_put(struct dpumap_view *view, const struct dpumap_view_record *record,
			     struct dpumap_error *error);
/* Nothing happens if there is no such record. The exports of a DPU go with it. */
void dpumap_view_remove(struct dpumap_view *view, const struct dpumap_fleet_key *key);

/* Reading everything again: records that are not put between the two calls are removed. */
void dpumap_view_sync_begin(struct dpumap_view *view);
void dpumap_view_sync_end(struct dpumap_view *view);
/* Revisions of another cluster mean nothing. */
void dpumap_view_forget_revisions(struct dpumap_view *view);

const struct dpumap_fleet_dpu *dpumap_view_find_dpu(const struct dpumap_view *view,
						    const char *dpu);
/*
 * The export is valid until it is removed or changes, or dpumap_view_forget_found(). NOT_FOUND,
 * NO_MEMORY.
 */
doca_error_t dpumap_view_find_export(struct dpumap_view *view, const struct dpumap_fleet_key *key,
				     const struct dpumap_fleet_export **export_info);
void dpumap_view_forget_found(struct dpumap_view *view);
/* The revision of the record's last change; 0: there is no such record. */
int64_t dpumap_view_revision(const struct dpumap_view *view, const struct dpumap_fleet_key *key,
			     int64_t *lease);

/* All DPUs, sorted by name; the caller frees the array. NO_MEMORY. */
doca_error_t dpumap_view_sort_dpus(const struct dpumap_view *view,
				   const struct dpumap_fleet_dpu ***sorted, size_t *num);
/* All exports, by name; each is valid during the call, which must not change the view. NO_MEMORY. */
typedef void dpumap_view_export_fn(void *context, const struct dpumap_fleet_export *export_info);
doca_error_t dpumap_view_each_export(const struct dpumap_view *view, dpumap_view_export_fn *each,
				     void *context);

size_t dpumap_view_num_dpus(const struct dpumap_view *view);
size_t dpumap_view_num_exports(const struct dpumap_view *view);
size_t dpumap_view_num_newer(const struct dpumap_view *view);

#endif
