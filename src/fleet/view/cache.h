/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A view in a file: a line of JSON about the view, then a line for each record, with the record as it
 * is in etcd. The file must be trusted (local/trusted.h).
 */
#ifndef DPUMAP_FLEET_CACHE_H
#define DPUMAP_FLEET_CACHE_H

#include <stdint.h>

#include "fleet/view/view.h"

struct dpumap_cache_about {
	uint64_t confirmed_ms; /* time since 1970 at which etcd last confirmed the view */
	int64_t revision;
	uint64_t cluster_id;
};

/* Replaces the file. Records that need a newer dpumap are left out. */
doca_error_t dpumap_cache_write(const char *path, const char *fleet, const struct dpumap_view *view,
				const struct dpumap_cache_about *about, struct dpumap_error *error);
/*
 * Adds the records to a view, or those of one DPU. NOT_FOUND, NOT_PERMITTED; BAD_CONFIG: the file is
 * of another fleet or not a cache. Lines that are no records are skipped. Without a view, only `about`
 * is read.
 */
doca_error_t dpumap_cache_read(const char *path, const char *fleet, const char *dpu,
			       struct dpumap_view *view, struct dpumap_cache_about *about,
			       struct dpumap_error *error);

#endif
