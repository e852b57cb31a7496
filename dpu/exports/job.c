/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/job.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dpu/base/log.h"
#include "dpu/base/thread.h"

enum phase {
	IDLE,
	LOADING, /* in the thread */
	MAKING,	 /* in the thread */
	APPLYING,
	DISPOSING, /* in the thread */
};

struct job {
	struct watch watch; /* of the thread's end */
	struct loop *loop;
	enum phase phase;
	struct export_change *change;
	struct job_events events;
	pthread_t thread;
	doca_error_t result; /* of the thread */
	struct dpumap_error error;
};

static void *run(void *context)
{
	const uint64_t one = 1;
	struct job *job = context;
	ssize_t n;

	if (job->phase == LOADING)
		job->result = job->events.load(job->events.context, &job->error);
	else if (job->phase == MAKING)
		job->result = export_change_make(job->change, &job->error);
	else
		export_change_dispose(job->change);
	n = write(job->watch.fd, &one, sizeof(one));
	(void)n; /* cannot fail: the counter is far from its limit */
	return NULL;
}

static void end(struct job *job)
{
	struct job_events events = job->events;

	job->phase = IDLE;
	export_change_destroy(job->change);
	job->change = NULL;
	events.ended(events.context, job->result, &job->error);
}

/* The thread stores its result in the job: it must not be stored here afterwards. */
static doca_error_t enter(struct job *job, enum phase phase, struct dpumap_error *error)
{
	int err;

	job->phase = phase;
	err = thread_start(&job->thread, run, job);
	return err ? dpumap_error_errno(error, err, "cannot start a thread to change the exports")
		   : DOCA_SUCCESS;
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

static void on_thread_end(struct watch *watch, uint32_t events)
{
	struct job *job = (struct job *)((char *)watch - offsetof(struct job, watch));
	uint64_t count;

	(void)events;
	if (read(watch->fd, &count, sizeof(count)) != sizeof(count))
		return;
	pthread_join(job->thread, NULL);
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

doca_error_t job_create(struct loop *loop, struct job **job, struct dpumap_error *error)
{
	struct job *j = calloc(1, sizeof(*j));
	doca_error_t result;
	int fd;

	if (!j)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		free(j);
		return dpumap_error_errno(error, errno, "cannot set up changes of the exports");
	}
	j->loop = loop;
	result = loop_add(loop, &j->watch, fd, EPOLLIN, on_thread_end, error);
	if (result != DOCA_SUCCESS) {
		close(fd);
		free(j);
		return result;
	}
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
		pthread_join(job->thread, NULL);
	export_change_destroy(job->change);
	loop_remove(job->loop, &job->watch);
	close(job->watch.fd);
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
	return job->phase == APPLYING;
}

void job_work(struct job *job)
{
	if (job->phase != APPLYING || export_change_apply(job->change) ||
	    (job->events.must_wait && job->events.must_wait(job->events.context)))
		return;
	job->phase = DISPOSING;
	if (thread_start(&job->thread, run, job) != 0)
		end(job); /* which frees the memory in this thread */
}
