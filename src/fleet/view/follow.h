/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps a view as etcd has it: reads all records of a fleet, or of one DPU, at one revision, page by page,
 * then watches from that revision on. Reads everything again when changes may have been missed.
 */
#ifndef DPUMAP_FLEET_FOLLOW_H
#define DPUMAP_FLEET_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/etcd/etcd.h"
#include "fleet/view/view.h"

struct dpumap_follow;

struct dpumap_follow_config {
	const char *fleet;	  /* borrowed */
	const char *dpu;	  /* borrowed; NULL: all */
	struct dpumap_etcd *etcd; /* borrowed */
	struct dpumap_view *view; /* borrowed */
	/* RESYNCED, STALE, LIVE */
	void (*happened)(void *context, enum dpumap_fleet_event event);
	void (*log)(void *context, const char *line);
	void *context;
};

struct dpumap_follow_state {
	bool is_live;
	bool has_failed;       /* since the last time it was live, or ever */
	uint64_t confirmed_ns; /* monotonic time at which etcd confirmed the view; 0: never */
	int64_t revision;
	uint64_t skipped, resyncs;
	struct dpumap_error error; /* why it is not live */
};

/* Nothing is sent before dpumap_follow_process(). NULL: no memory. */
struct dpumap_follow *dpumap_follow_create(const struct dpumap_follow_config *config);
/* The view already has records of that cluster, from an earlier time. */
void dpumap_follow_resume(struct dpumap_follow *follow, uint64_t cluster_id);
void dpumap_follow_destroy(struct dpumap_follow *follow); /* NULL is allowed */

/* Begins what is due. The answers come by dpumap_etcd_process(). */
void dpumap_follow_process(struct dpumap_follow *follow);
/* Monotonic time in nanoseconds at which to process; UINT64_MAX: none. */
uint64_t dpumap_follow_next(const struct dpumap_follow *follow);
const struct dpumap_follow_state *dpumap_follow_state(const struct dpumap_follow *follow);

#endif
