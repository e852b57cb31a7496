/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Changes the exports while clients are served: what takes long, loading the configuration, registering and
 * freeing memory, is work for a worker.
 */
#ifndef DPUMAPD_JOB_H
#define DPUMAPD_JOB_H

#include <stdbool.h>

#include "dpu/base/workers.h"
#include "dpu/exports/export_change.h"

struct job;

struct job_events {
	/* Runs in a worker, before there is a change. NULL: none. */
	doca_error_t (*load)(void *context, struct dpumap_error *error);
	/* After load(): creates the change. */
	doca_error_t (*plan)(void *context, struct export_change **change,
			     struct dpumap_error *error);
	/* All that may fail has succeeded; no export has changed yet. NULL: none. */
	void (*made)(void *context);
	/* After made(): whether more must happen before the end, in later turns. NULL: nothing. */
	bool (*must_wait)(const void *context);
	void (*ended)(void *context, doca_error_t result, const struct dpumap_error *why);
	void *context;
};

/* Borrows the workers until job_destroy(). */
doca_error_t job_create(struct workers *workers, struct job **job, struct dpumap_error *error);
/* Ends a running change, which may take as long as registering one export. NULL is allowed. */
void job_destroy(struct job *job);

/* Is a change running? */
bool job_is_active(const struct job *job);
/*
 * Takes the change over, also on failure, which ended() does not report. The change is NULL if the events
 * have load() and plan().
 */
doca_error_t job_start(struct job *job, struct export_change *change,
		       const struct job_events *events, struct dpumap_error *error);

/* Is there work that no descriptor announces? job_work() does a little of it. */
bool job_has_work(const struct job *job);
void job_work(struct job *job);

#endif
