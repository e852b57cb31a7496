/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/pe/pe.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log/log.h"

/* Events of one device, for all running contexts on it. */
struct pe_source {
	struct doca_dev *dev;
	struct dpumap_events *events;
	uint32_t users;
	struct pe_source *next;
};

/* A descriptor that contexts watch. */
struct pe_watch {
	int fd;
	uint32_t users;
	struct pe_watch *next;
};

/*
 * The engine has a list of contexts that is never empty: without contexts it holds `nobody`, which
 * is always IDLE.
 */
struct doca_pe {
	struct doca_ctx *next_ctx; /* to progress next, in a circular list */
	struct pe_source *sources;
	struct pe_watch *watches;
	int handle; /* epoll descriptor of the sources, the watches and event */
	int event;  /* eventfd: signals work that no device reports */
	atomic_bool is_armed;
	atomic_bool is_set; /* event */
	struct doca_ctx nobody;
};

static int watch(const struct doca_pe *pe, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(pe->handle, EPOLL_CTL_ADD, fd, &event);
}

static bool open_handle(struct doca_pe *pe)
{
	pe->handle = epoll_create1(EPOLL_CLOEXEC);
	pe->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return pe->handle >= 0 && pe->event >= 0 && !watch(pe, pe->event);
}

static void free_pe(struct doca_pe *pe)
{
	if (pe->handle >= 0)
		close(pe->handle);
	if (pe->event >= 0)
		close(pe->event);
	free(pe);
}

static void put_nobody(struct doca_pe *pe)
{
	pe->nobody.pe = pe;
	pe->nobody.next = pe->nobody.prev = &pe->nobody;
	pe->next_ctx = &pe->nobody;
}

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *created;
	int err;

	if (!pe)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a progress engine");
	if (!open_handle(created)) {
		err = errno;
		free_pe(created);
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "creating a progress engine failed: %s", strerror(err));
	}
	put_nobody(created);
	*pe = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	if (!pe)
		return dpumap_fail_null(__func__);
	if (pe->next_ctx != &pe->nobody)
		return dpumap_fail(
			DOCA_ERROR_IN_USE,
			"progress engine %p: %s context %p is connected; destroy it first",
			(void *)pe, pe->next_ctx->ops->name, (void *)pe->next_ctx);
	free_pe(pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!pe || !ctx)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->pe)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s context %p is connected to a progress engine already",
				   ctx->ops->name, (void *)ctx);
	dpumap_pe_connect(pe, ctx);
	return DOCA_SUCCESS;
}

void dpumap_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx)
{
	ctx->pe = pe;
	if (pe->next_ctx == &pe->nobody) {
		ctx->next = ctx->prev = ctx;
		pe->next_ctx = ctx;
		return;
	}
	ctx->next = pe->next_ctx;
	ctx->prev = pe->next_ctx->prev;
	ctx->prev->next = ctx;
	ctx->next->prev = ctx;
}

void dpumap_pe_disconnect(struct doca_ctx *ctx)
{
	struct doca_pe *pe = ctx->pe;

	if (pe->next_ctx == ctx)
		pe->next_ctx = ctx->next;
	if (ctx->next == ctx)
		put_nobody(pe);
	ctx->next->prev = ctx->prev;
	ctx->prev->next = ctx->next;
	ctx->pe = NULL;
}

static bool is_active(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_RUNNING || ctx->state == DOCA_CTX_STATE_STOPPING;
}

/* Try again to stop a context whose resources could not all be destroyed. */
static bool retry_stop(struct doca_ctx *ctx)
{
	bool is_stopped;

	if (doca_likely(ctx->state != DOCA_CTX_STATE_STOPPING))
		return false;
	dpumap_ctx_get(ctx);
	is_stopped = dpumap_ctx_try_stop(ctx) == DOCA_SUCCESS;
	dpumap_ctx_put(ctx);
	return is_stopped;
}

/* Progress that completes no task. */
static __attribute__((noinline)) bool change_state(struct doca_ctx *ctx)
{
	return retry_stop(ctx) ||
	       (ctx->state == DOCA_CTX_STATE_STARTING && dpumap_ctx_poll_start(ctx));
}

/* If true, a callback may have destroyed the context and the engine. */
static inline bool progress_one(struct doca_ctx *ctx)
{
	if (doca_likely(is_active(ctx)) && doca_likely(ctx->ops->progress(ctx)))
		return true;
	return doca_unlikely(ctx->state != DOCA_CTX_STATE_RUNNING) && change_state(ctx);
}

static __attribute__((noinline)) uint8_t progress_others(struct doca_pe *pe,
							 const struct doca_ctx *first)
{
	struct doca_ctx *ctx;

	while ((ctx = pe->next_ctx) != first) {
		pe->next_ctx = ctx->next;
		if (progress_one(ctx))
			return 1;
	}
	return 0;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	struct doca_ctx *ctx;

	if (doca_unlikely(!pe))
		return 0;
	ctx = pe->next_ctx;
	pe->next_ctx = ctx->next;
	return doca_likely(progress_one(ctx)) ? 1 : progress_others(ctx->pe, ctx);
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks)
{
	const struct doca_ctx *ctx;
	size_t num = 0;

	if (!pe || !num_inflight_tasks)
		return dpumap_fail_null(__func__);
	ctx = pe->next_ctx;
	do
		num += ctx->num_inflight;
	while ((ctx = ctx->next) != pe->next_ctx);
	*num_inflight_tasks = num;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle)
{
	if (!pe || !handle)
		return dpumap_fail_null(__func__);
	*handle = pe->handle;
	return DOCA_SUCCESS;
}

static doca_error_t set_event(struct doca_pe *pe)
{
	if (atomic_exchange(&pe->is_set, true))
		return DOCA_SUCCESS;
	if (eventfd_write(pe->event, 1)) {
		atomic_store(&pe->is_set, false);
		return dpumap_fail(
			DOCA_ERROR_OPERATING_SYSTEM,
			"progress engine %p: signaling the notification handle failed: %s",
			(void *)pe, strerror(errno));
	}
	return DOCA_SUCCESS;
}

/*
 * The fence is the partner of the one in doca_pe_request_notification(): either this thread sees that
 * the engine is armed, or the thread that arms it sees the work.
 */
void dpumap_pe_wake(struct doca_pe *pe)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (doca_unlikely(atomic_load_explicit(&pe->is_armed, memory_order_relaxed)))
		(void)set_event(pe);
}

/* Whether progress could change the state now. A library that cannot tell is polled. */
static bool may_change_state(struct doca_ctx *ctx)
{
	bool is_pending = ctx->state == DOCA_CTX_STATE_STARTING ||
			  (ctx->state == DOCA_CTX_STATE_STOPPING && !ctx->num_allocated);

	return is_pending && (!ctx->ops->is_state_ready || ctx->ops->is_state_ready(ctx));
}

static doca_error_t arm(struct doca_pe *pe, struct doca_ctx *ctx)
{
	doca_error_t result;

	if (may_change_state(ctx))
		return set_event(pe);
	if (!is_active(ctx))
		return DOCA_SUCCESS;
	result = ctx->ops->arm(ctx);
	if (result == DOCA_SUCCESS && ctx->ops->is_ready(ctx))
		result = set_event(pe);
	return result;
}

doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	struct doca_ctx *ctx;
	doca_error_t result = DOCA_SUCCESS;

	if (!pe)
		return dpumap_fail_null(__func__);
	atomic_store(&pe->is_armed, true);
	atomic_thread_fence(memory_order_seq_cst);
	ctx = pe->next_ctx;
	do
		result = arm(pe, ctx);
	while (result == DOCA_SUCCESS && (ctx = ctx->next) != pe->next_ctx);
	return result;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	doca_error_t result = DOCA_SUCCESS;
	eventfd_t value;

	(void)handle;
	if (!pe)
		return dpumap_fail_null(__func__);
	atomic_store(&pe->is_armed, false);
	for (struct pe_source *s = pe->sources; s; s = s->next) {
		doca_error_t taken = dpumap_events_take(s->events);

		DOCA_ERROR_PROPAGATE(result, taken);
	}
	/* Read first: a thread that sees is_set later relies on the progress that follows. */
	if (atomic_load(&pe->is_set) && !eventfd_read(pe->event, &value))
		atomic_exchange(&pe->is_set, false);
	return result;
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode mode)
{
	if (!pe)
		return dpumap_fail_null(__func__);
	if (mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
	    mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "progress engine: invalid event mode %d", (int)mode);
	return DOCA_SUCCESS;
}

static struct pe_watch **find_watch(struct doca_pe *pe, int fd)
{
	struct pe_watch **at = &pe->watches;

	while (*at && (*at)->fd != fd)
		at = &(*at)->next;
	return at;
}

doca_error_t dpumap_pe_watch(struct doca_pe *pe, int fd)
{
	struct pe_watch *added = *find_watch(pe, fd);
	int err;

	if (added) {
		added->users++;
		return DOCA_SUCCESS;
	}
	added = malloc(sizeof(*added));
	if (!added)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for a progress engine's events");
	if (watch(pe, fd)) {
		err = errno;
		free(added);
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "progress engine %p: watching descriptor %d failed: %s",
				   (void *)pe, fd, strerror(err));
	}
	*added = (struct pe_watch){.fd = fd, .users = 1, .next = pe->watches};
	pe->watches = added;
	return DOCA_SUCCESS;
}

void dpumap_pe_unwatch(struct doca_pe *pe, int fd)
{
	struct pe_watch **at = find_watch(pe, fd), *found = *at;

	if (!found || --found->users)
		return;
	*at = found->next;
	epoll_ctl(pe->handle, EPOLL_CTL_DEL, fd, NULL);
	free(found);
}

static doca_error_t add_source(struct doca_pe *pe, struct doca_dev *dev, struct pe_source **source)
{
	struct pe_source *added = calloc(1, sizeof(*added));
	doca_error_t result;
	int err;

	if (!added)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for a progress engine's events");
	result = dpumap_events_create(dev->device, &added->events);
	if (result != DOCA_SUCCESS) {
		free(added);
		return result;
	}
	if (watch(pe, dpumap_events_fd(added->events))) {
		err = errno;
		dpumap_events_destroy(added->events);
		free(added);
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "progress engine %p: watching a device's events failed: %s",
				   (void *)pe, strerror(err));
	}
	added->dev = dev;
	added->next = pe->sources;
	pe->sources = added;
	*source = added;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_pe_get_events(struct doca_pe *pe, struct doca_dev *dev,
				  struct dpumap_events **events)
{
	struct pe_source *source = pe->sources;
	doca_error_t result;

	while (source && source->dev != dev)
		source = source->next;
	if (!source) {
		result = add_source(pe, dev, &source);
		if (result != DOCA_SUCCESS)
			return result;
	}
	source->users++;
	*events = source->events;
	return DOCA_SUCCESS;
}

void dpumap_pe_put_events(struct doca_pe *pe, struct dpumap_events *events)
{
	struct pe_source **at = &pe->sources, *source;

	while ((*at)->events != events)
		at = &(*at)->next;
	source = *at;
	if (--source->users)
		return;
	*at = source->next;
	epoll_ctl(pe->handle, EPOLL_CTL_DEL, dpumap_events_fd(events), NULL);
	dpumap_events_destroy(events);
	free(source);
}
