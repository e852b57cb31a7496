/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/job.h"

#include <stdlib.h>

enum phase {
	IDLE,
	LOADING, /* by a worker */
	MAKING,	 /* by a worker */
	APPLYING,
	DISPOSING, /* by a worker */
};

struct job {
	struct work work;
	struct workers *workers;
	enum phase phase;
	struct export_change *change;
	struct job_events events;
	doca_error_t result; /* of the work */
	struct dpumap_error error;
};

static void run(void *context)
{
	struct job *job = context;

	if (job->phase == LOADING)
		job->result = job->events.load(job->events.context, &job->error);
	else if (job->phase == MAKING)
		job->result = export_change_make(job->change, &job->error);
	else
		export_change_dispose(job->change);
}

static void end(struct job *job)
{
	struct job_events events = job->events;

	job->phase = IDLE;
	export_change_destroy(job->change);
	job->change = NULL;
	events.ended(events.context, job->result, &job->error);
}

/* The worker stores its result in the job: it must not be stored here afterwards. */
static doca_error_t enter(struct job *job, enum phase phase, struct dpumap_error *error)
{
	job->phase = phase;
	return workers_start(job->workers, &job->work, error);
}

/* The configuration is loaded. */
static void make(struct job *job)
{
	doca_error_t result = job->events.plan(job->events.context, &job->change, &job->error);

	if (result == DOCA_SUCCESS)
		result = enter(job, MAKING, &job->error);
	if (result == DOCA_SUCCESS)
		return;
	job->result = result;
	end(job);
}

static void on_work_end(void *context)
{
	struct job *job = context;

	if (job->phase == DISPOSING || job->result != DOCA_SUCCESS) {
		end(job);
		return;
	}
	if (job->phase == LOADING) {
		make(job);
		return;
	}
	job->phase = APPLYING;
	if (job->events.made)
		job->events.made(job->events.context);
}

doca_error_t job_create(struct workers *workers, struct job **job, struct dpumap_error *error)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	j->workers = workers;
	j->work = (struct work){.run = run, .ended = on_work_end, .context = j};
	*job = j;
	return DOCA_SUCCESS;
}

void job_destroy(struct job *job)
{
	if (!job)
		return;
	if (job->phase == MAKING)
		export_change_cancel(job->change);
	if (job->phase != IDLE && job->phase != APPLYING)
		workers_wait(job->workers, &job->work);
	export_change_destroy(job->change);
	free(job);
}

bool job_is_active(const struct job *job)
{
	return job->phase != IDLE;
}

doca_error_t job_start(struct job *job, struct export_change *change,
		       const struct job_events *events, struct dpumap_error *error)
{
	doca_error_t result;

	job->change = change;
	job->events = *events;
	job->error = (struct dpumap_error){0};
	result = enter(job, change ? MAKING : LOADING, error);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	export_change_destroy(change);
	job->change = NULL;
	job->phase = IDLE;
	return result;
}

bool job_has_work(const struct job *job)
{
	return job->phase == APPLYING && !export_change_must_wait(job->change);
}

void job_work(struct job *job)
{
	struct dpumap_error ignored;

	if (job->phase != APPLYING || export_change_apply(job->change) ||
	    (job->events.must_wait && job->events.must_wait(job->events.context)))
		return;
	if (enter(job, DISPOSING, &ignored) != DOCA_SUCCESS)
		end(job); /* which frees the memory in this thread */
}
