/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/backend.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "log/lock.h"
#include "log/source.h"

/* Guarded by the lock, and ready before any constructor runs. */
static struct doca_log_backend *backends[DPUMAP_LOG_ORIGINS];
static uint32_t global_levels[DPUMAP_LOG_ORIGINS][DPUMAP_LOG_BOUNDS] = {
	[DPUMAP_LOG_PROGRAM] = {DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT},
	[DPUMAP_LOG_SDK] = {DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT},
};
static bool sdk_limit_set;
static unsigned int depth; /* of messages in this thread */
static long utc_offset;

/* Read without the lock: the most verbose level that any backend shows, and the limit of the
 * library's messages on standard error without a backend. */
static _Atomic uint32_t verbosest[DPUMAP_LOG_ORIGINS];
static _Atomic uint32_t fallback = DOCA_LOG_LEVEL_WARNING;

static uint32_t find_verbosest(enum dpumap_log_origin origin)
{
	uint32_t most = 0;

	for (const struct doca_log_backend *b = backends[origin]; b; b = b->next)
		if (b->limits[DPUMAP_LOG_LOWER].level > most)
			most = b->limits[DPUMAP_LOG_LOWER].level;
	return most;
}

/* After each change. */
static void update_shortcuts(enum dpumap_log_origin origin)
{
	atomic_store_explicit(&verbosest[origin], find_verbosest(origin), memory_order_relaxed);
	if (backends[DPUMAP_LOG_SDK])
		atomic_store_explicit(&fallback, DOCA_LOG_LEVEL_DISABLE, memory_order_relaxed);
	else if (sdk_limit_set)
		atomic_store_explicit(&fallback, global_levels[DPUMAP_LOG_SDK][DPUMAP_LOG_LOWER],
				      memory_order_relaxed);
}

struct doca_log_backend *dpumap_log_backend_add(const struct doca_log_backend *backend)
{
	struct doca_log_backend *copy = malloc(sizeof(*copy)), **last;
	struct dpumap_log_lock_state state;

	if (!copy)
		return NULL;
	*copy = *backend;
	dpumap_log_lock(&state);
	for (int bound = 0; bound < DPUMAP_LOG_BOUNDS; bound++)
		copy->limits[bound].level = global_levels[copy->origin][bound];
	last = &backends[copy->origin];
	while (*last)
		last = &(*last)->next;
	*last = copy;
	update_shortcuts(copy->origin);
	dpumap_log_unlock(&state);
	return copy;
}

void dpumap_log_set_global(enum dpumap_log_origin origin, enum dpumap_log_bound bound,
			   uint32_t level)
{
	struct dpumap_log_lock_state state;

	dpumap_log_lock(&state);
	global_levels[origin][bound] = level;
	sdk_limit_set |= origin == DPUMAP_LOG_SDK;
	for (struct doca_log_backend *b = backends[origin]; b; b = b->next)
		if (!b->limits[bound].strict)
			b->limits[bound].level = level;
	update_shortcuts(origin);
	dpumap_log_unlock(&state);
}

uint32_t dpumap_log_get_global(enum dpumap_log_origin origin, enum dpumap_log_bound bound)
{
	struct dpumap_log_lock_state state;
	uint32_t level;

	dpumap_log_lock(&state);
	level = global_levels[origin][bound];
	dpumap_log_unlock(&state);
	return level;
}

uint32_t dpumap_log_get_fallback(void)
{
	return atomic_load_explicit(&fallback, memory_order_relaxed);
}

void dpumap_log_set_limit(struct doca_log_backend *backend, enum dpumap_log_bound bound,
			  uint32_t level, bool strict)
{
	struct dpumap_log_lock_state state;

	dpumap_log_lock(&state);
	backend->limits[bound] = (struct dpumap_log_limit){.level = level, .strict = strict};
	update_shortcuts(backend->origin);
	dpumap_log_unlock(&state);
}

bool dpumap_log_wanted(enum dpumap_log_origin origin, uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_CRIT &&
	       level <= atomic_load_explicit(&verbosest[origin], memory_order_relaxed);
}

static bool shows(const struct doca_log_backend *b, uint32_t level)
{
	return !b->busy && level <= b->limits[DPUMAP_LOG_LOWER].level &&
	       level >= b->limits[DPUMAP_LOG_UPPER].level;
}

static bool any_shows(enum dpumap_log_origin origin, uint32_t level)
{
	for (const struct doca_log_backend *b = backends[origin]; b; b = b->next)
		if (shows(b, level))
			return true;
	return false;
}

static bool is_stderr(const struct doca_log_backend *b)
{
	return b->fd == STDERR_FILENO || (b->file && fileno(b->file) == STDERR_FILENO);
}

/*
 * localtime_r() takes a lock, which a signal handler must not wait for. So a message within a
 * message uses the last known offset of local time.
 */
static void read_clock(struct timespec *now)
{
	struct tm local;

	clock_gettime(CLOCK_REALTIME, now);
	if (depth <= 1 && localtime_r(&now->tv_sec, &local))
		utc_offset = local.tm_gmtoff;
}

/* The first call of localtime_r() allocates memory, and may be in a signal handler: make it now. */
__attribute__((constructor)) static void read_time_zone(void)
{
	struct timespec now;

	read_clock(&now);
}

static struct dpumap_log_message complete(const struct dpumap_log_message *message, int source)
{
	struct dpumap_log_message full = *message;

	if (!full.file)
		full.file = dpumap_log_source_name(source);
	if (!full.file)
		full.file = "-";
	if (!full.func)
		full.func = "-";
	if (!full.suffix)
		full.suffix = "";
	return full;
}

static bool write_to_all(enum dpumap_log_origin origin, uint32_t level,
			 const struct dpumap_log_text *line)
{
	bool on_stderr = false;

	for (struct doca_log_backend *b = backends[origin]; b; b = b->next) {
		if (!shows(b, level))
			continue;
		b->busy = true;
		b->write(b, level, line);
		b->busy = false;
		on_stderr |= is_stderr(b);
	}
	return on_stderr;
}

bool dpumap_log_emit(enum dpumap_log_origin origin, int source,
		     const struct dpumap_log_message *message, const char *fmt, va_list ap)
{
	struct dpumap_log_message full;
	struct dpumap_log_text line;
	struct dpumap_log_lock_state state;
	int saved_errno = errno; /* for %m, and the caller */
	struct timespec now;
	bool on_stderr = false;

	dpumap_log_lock(&state);
	depth++;
	if (any_shows(origin, message->level) &&
	    message->level <= dpumap_log_source_level(source)) {
		full = complete(message, source);
		read_clock(&now);
		errno = saved_errno;
		dpumap_log_text_make(&line, &full, &now, utc_offset, fmt, ap);
		on_stderr = write_to_all(origin, full.level, &line);
		dpumap_log_text_release(&line);
	}
	depth--;
	dpumap_log_unlock(&state);
	errno = saved_errno;
	return on_stderr;
}
