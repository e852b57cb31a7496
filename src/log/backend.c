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
static struct doca_log_backend *backends[DPUMAP_LOG_SIDES];
static uint32_t global_levels[DPUMAP_LOG_SIDES][DPUMAP_LOG_ENDS] = {
	[DPUMAP_LOG_PROGRAM] = {DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT},
	[DPUMAP_LOG_SDK] = {DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT},
};
static bool sdk_limit_set;
static unsigned int depth; /* of messages in this thread */
static long utc_offset;

/* Read without the lock: the most talkative level that any backend shows, and that standard error
 * shows of the SDK's messages. */
static _Atomic uint32_t talk[DPUMAP_LOG_SIDES];
static _Atomic uint32_t fallback = DOCA_LOG_LEVEL_WARNING;

static uint32_t most_talkative(enum dpumap_log_side side)
{
	uint32_t most = 0;

	for (const struct doca_log_backend *b = backends[side]; b; b = b->next)
		if (b->limits[DPUMAP_LOG_LOWER].level > most)
			most = b->limits[DPUMAP_LOG_LOWER].level;
	return most;
}

/* After each change. */
static void look_around(enum dpumap_log_side side)
{
	atomic_store_explicit(&talk[side], most_talkative(side), memory_order_relaxed);
	if (backends[DPUMAP_LOG_SDK])
		atomic_store_explicit(&fallback, DOCA_LOG_LEVEL_DISABLE, memory_order_relaxed);
	else if (sdk_limit_set)
		atomic_store_explicit(&fallback, global_levels[DPUMAP_LOG_SDK][DPUMAP_LOG_LOWER],
				      memory_order_relaxed);
}

struct doca_log_backend *dpumap_log_backend_add(const struct doca_log_backend *backend)
{
	struct doca_log_backend *copy = malloc(sizeof(*copy)), **last;
	struct dpumap_log_hold hold;

	if (!copy)
		return NULL;
	*copy = *backend;
	dpumap_log_lock(&hold);
	for (int end = 0; end < DPUMAP_LOG_ENDS; end++)
		copy->limits[end].level = global_levels[copy->side][end];
	last = &backends[copy->side];
	while (*last)
		last = &(*last)->next;
	*last = copy;
	look_around(copy->side);
	dpumap_log_unlock(&hold);
	return copy;
}

void dpumap_log_set_global(enum dpumap_log_side side, enum dpumap_log_end end, uint32_t level)
{
	struct dpumap_log_hold hold;

	dpumap_log_lock(&hold);
	global_levels[side][end] = level;
	sdk_limit_set |= side == DPUMAP_LOG_SDK;
	for (struct doca_log_backend *b = backends[side]; b; b = b->next)
		if (!b->limits[end].strict)
			b->limits[end].level = level;
	look_around(side);
	dpumap_log_unlock(&hold);
}

uint32_t dpumap_log_get_global(enum dpumap_log_side side, enum dpumap_log_end end)
{
	struct dpumap_log_hold hold;
	uint32_t level;

	dpumap_log_lock(&hold);
	level = global_levels[side][end];
	dpumap_log_unlock(&hold);
	return level;
}

uint32_t dpumap_log_get_fallback(void)
{
	return atomic_load_explicit(&fallback, memory_order_relaxed);
}

void dpumap_log_set_limit(struct doca_log_backend *backend, enum dpumap_log_end end, uint32_t level,
			  bool strict)
{
	struct dpumap_log_hold hold;

	dpumap_log_lock(&hold);
	backend->limits[end] = (struct dpumap_log_limit){.level = level, .strict = strict};
	look_around(backend->side);
	dpumap_log_unlock(&hold);
}

bool dpumap_log_wanted(enum dpumap_log_side side, uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_CRIT &&
	       level <= atomic_load_explicit(&talk[side], memory_order_relaxed);
}

static bool shows(const struct doca_log_backend *b, uint32_t level)
{
	return !b->busy && level <= b->limits[DPUMAP_LOG_LOWER].level &&
	       level >= b->limits[DPUMAP_LOG_UPPER].level;
}

static bool any_shows(enum dpumap_log_side side, uint32_t level)
{
	for (const struct doca_log_backend *b = backends[side]; b; b = b->next)
		if (shows(b, level))
			return true;
	return false;
}

static bool is_stderr(const struct doca_log_backend *b)
{
	return b->fd == STDERR_FILENO || (b->file && fileno(b->file) == STDERR_FILENO);
}

/*
 * A signal handler that interrupts the C library in local time must not go there, for its lock:
 * what is logged inside a message is told the time with the last known offset.
 */
static void tell_time(struct timespec *now)
{
	struct tm local;

	clock_gettime(CLOCK_REALTIME, now);
	if (depth == 1 && localtime_r(&now->tv_sec, &local))
		utc_offset = local.tm_gmtoff;
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

static bool write_to_all(enum dpumap_log_side side, uint32_t level,
			 const struct dpumap_log_text *line)
{
	bool on_stderr = false;

	for (struct doca_log_backend *b = backends[side]; b; b = b->next) {
		if (!shows(b, level))
			continue;
		b->busy = true;
		b->write(b, level, line);
		b->busy = false;
		on_stderr |= is_stderr(b);
	}
	return on_stderr;
}

bool dpumap_log_emit(enum dpumap_log_side side, int source,
		     const struct dpumap_log_message *message, const char *fmt, va_list ap)
{
	struct dpumap_log_message full;
	struct dpumap_log_text line;
	struct dpumap_log_hold hold;
	int saved_errno = errno; /* for %m, and the caller */
	struct timespec now;
	bool on_stderr = false;

	dpumap_log_lock(&hold);
	depth++;
	if (any_shows(side, message->level)) {
		full = complete(message, source);
		tell_time(&now);
		errno = saved_errno;
		dpumap_log_text_make(&line, &full, &now, utc_offset, fmt, ap);
		on_stderr = write_to_all(side, full.level, &line);
		dpumap_log_text_release(&line);
	}
	depth--;
	dpumap_log_unlock(&hold);
	errno = saved_errno;
	return on_stderr;
}
