/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/registry/publishing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "dpu/base/log.h"

/* How long the end of dpumapd waits for etcd. */
#define CLOSE_MS 1000
/* After a lack of memory. */
#define RETRY_MS  5000
#define TEXT_SIZE 512

struct state {
	struct dpumap_publisher_state figures;
	char problem[TEXT_SIZE], endpoint[TEXT_SIZE];
	uint64_t taken; /* when */
};

struct publishing {
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher; /* the thread's, once it has started */
	struct state asked;		    /* the main thread's */
	int wake;
	pthread_t thread;
	bool has_started;
	pthread_mutex_t lock; /* guards what follows */
	struct snapshot *next;
	struct dpumap_publisher *fresh;
	bool stops;
	struct state state;
};

/* --- the state -------------------------------------------------------------------------------- */

static void copy_state(const struct publishing *p, struct state *state)
{
	struct dpumap_publisher_state *figures = &state->figures;

	p->fleet->publisher_get_state(p->publisher, figures);
	snprintf(state->problem, sizeof(state->problem), "%s", figures->problem);
	snprintf(state->endpoint, sizeof(state->endpoint), "%s", figures->endpoint);
	state->taken = monotonic_ns();
}

static void store_state(struct publishing *p)
{
	struct state state;

	copy_state(p, &state);
	pthread_mutex_lock(&p->lock);
	p->state = state;
	pthread_mutex_unlock(&p->lock);
}

void publishing_get_state(struct publishing *publishing, struct dpumap_publisher_state *state)
{
	struct state *asked = &publishing->asked;
	int64_t passed_ms;

	pthread_mutex_lock(&publishing->lock);
	*asked = publishing->state;
	pthread_mutex_unlock(&publishing->lock);
	passed_ms = (int64_t)((monotonic_ns() - asked->taken) / NSEC_PER_MSEC);
	*state = asked->figures;
	state->problem = asked->problem;
	state->endpoint = asked->endpoint;
	state->lease_remaining_ms =
		state->lease_remaining_ms > passed_ms ? state->lease_remaining_ms - passed_ms : 0;
	if (state->published_age_ms != UINT64_MAX)
		state->published_age_ms += (uint64_t)passed_ms;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Returns whether the publisher was given what it should publish. */
static bool publish(const struct publishing *p, const struct snapshot *snapshot)
{
	struct dpumap_error error = {0};

	if (snapshot_publish(snapshot, p->fleet, p->publisher, &error) == DOCA_SUCCESS)
		return true;
	log_from(DPUMAP_LINE_WARNING, "registry",
		 "registry: cannot publish the exports, trying again: %s", error.text);
	return false;
}

/* False: the thread ends. */
static bool take_changes(struct publishing *p, struct snapshot **snapshot)
{
	struct dpumap_publisher *fresh;
	bool goes_on;

	pthread_mutex_lock(&p->lock);
	goes_on = !p->stops;
	fresh = p->fresh;
	p->fresh = NULL;
	if (p->next) {
		snapshot_free(*snapshot);
		*snapshot = p->next;
		p->next = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	if (fresh)
		p->fleet->publisher_renew(p->publisher, fresh);
	return goes_on;
}

static void await_events(const struct publishing *p, bool retries)
{
	int next_ms = p->fleet->publisher_next_ms(p->publisher);
	struct pollfd fds[] = {{.fd = p->fleet->publisher_fd(p->publisher), .events = POLLIN},
			       {.fd = p->wake, .events = POLLIN}};
	uint64_t count;

	if (retries && (next_ms < 0 || next_ms > RETRY_MS))
		next_ms = RETRY_MS;
	if (poll(fds, 2, next_ms) > 0 && fds[1].revents &&
	    read(p->wake, &count, sizeof(count)) != sizeof(count))
		log_error("registry: cannot read an event: %s", strerror(errno));
}

static void *run(void *context)
{
	struct snapshot *snapshot = NULL;
	struct publishing *p = context;
	uint64_t retry_at = 0;

	while (take_changes(p, &snapshot)) {
		if (snapshot && monotonic_ns() >= retry_at) {
			retry_at = 0;
			if (publish(p, snapshot)) {
				snapshot_free(snapshot);
				snapshot = NULL;
			} else {
				retry_at = monotonic_ns() + RETRY_MS * NSEC_PER_MSEC;
			}
		}
		p->fleet->publisher_process(p->publisher);
		store_state(p);
		await_events(p, snapshot != NULL);
	}
	snapshot_free(snapshot);
	return NULL;
}

static void wake(const struct publishing *p)
{
	const uint64_t one = 1;
	ssize_t n = write(p->wake, &one, sizeof(one));

	(void)n; /* cannot fail: the counter is far from its limit */
}

/* --- the main thread -------------------------------------------------------------------------- */

doca_error_t publishing_create(const struct dpumap_fleet_table *fleet,
			       struct dpumap_publisher *publisher, struct publishing **publishing,
			       struct dpumap_error *error)
{
	struct publishing *p = calloc(1, sizeof(*p));

	if (!p || pthread_mutex_init(&p->lock, NULL)) {
		free(p);
		fleet->publisher_close(publisher, 0);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	}
	p->fleet = fleet;
	p->publisher = publisher;
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake < 0) {
		publishing_destroy(p);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	}
	copy_state(p, &p->state);
	*publishing = p;
	return DOCA_SUCCESS;
}

void publishing_destroy(struct publishing *publishing)
{
	struct publishing *p = publishing;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stops = true;
	pthread_mutex_unlock(&p->lock);
	if (p->has_started) {
		wake(p);
		pthread_join(p->thread, NULL);
	}
	p->fleet->publisher_close(p->fresh, 0);
	p->fleet->publisher_close(p->publisher, CLOSE_MS);
	snapshot_free(p->next);
	if (p->wake >= 0)
		close(p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* It starts late, because it would keep privileges that dpumapd drops. */
static doca_error_t start(struct publishing *p, struct dpumap_error *error)
{
	int err = p->has_started ? 0 : thread_start(&p->thread, run, p);

	if (err)
		return dpumap_error_errno(error, err, "cannot start a thread for the registry");
	p->has_started = true;
	return DOCA_SUCCESS;
}

doca_error_t publishing_pass(struct publishing *publishing, struct snapshot *snapshot,
			     struct dpumap_error *error)
{
	struct publishing *p = publishing;
	doca_error_t result = start(p, error);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&p->lock);
	snapshot_free(p->next);
	p->next = snapshot;
	pthread_mutex_unlock(&p->lock);
	wake(p);
	return DOCA_SUCCESS;
}

void publishing_renew(struct publishing *publishing, struct dpumap_publisher *fresh)
{
	struct publishing *p = publishing;
	struct dpumap_publisher *unused;

	pthread_mutex_lock(&p->lock);
	unused = p->fresh;
	p->fresh = fresh;
	pthread_mutex_unlock(&p->lock);
	p->fleet->publisher_close(unused, 0);
	wake(p);
}
