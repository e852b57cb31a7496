/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Backends: where messages go, and which of them. One lock serves the whole log, so that all
 * backends have the same order. A message that a backend's callback or a signal handler logs while
 * its thread writes another one skips the backends that are being written to.
 */
#ifndef DPUMAP_LOG_BACKEND_H
#define DPUMAP_LOG_BACKEND_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_log.h>

#include "log/line.h"

enum dpumap_log_origin {
	DPUMAP_LOG_PROGRAM,
	DPUMAP_LOG_SDK,
	DPUMAP_LOG_ORIGINS,
};

/* The most and the least verbose level that is shown. */
enum dpumap_log_bound {
	DPUMAP_LOG_LOWER,
	DPUMAP_LOG_UPPER,
	DPUMAP_LOG_BOUNDS,
};

struct dpumap_log_limit {
	uint32_t level;
	bool strict; /* a change of the global limit does not apply */
};

struct doca_log_backend {
	struct doca_log_backend *next;
	enum dpumap_log_origin origin;
	struct dpumap_log_limit limits[DPUMAP_LOG_BOUNDS];
	bool busy;
	void (*write)(const struct doca_log_backend *backend, uint32_t level,
		      const struct dpumap_log_text *line);
	FILE *file;
	int fd;
	char *buf;
	size_t capacity;
	log_flush_callback handler;
	char *identity;
};

/*
 * Copy a backend whose origin and destination are set, and use it with the global limits. NULL
 * without memory.
 */
struct doca_log_backend *dpumap_log_backend_add(const struct doca_log_backend *backend);

/* Whether level is one of DOCA_LOG_LEVEL_*. */
static inline bool dpumap_log_is_level(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

void dpumap_log_set_global(enum dpumap_log_origin origin, enum dpumap_log_bound bound,
			   uint32_t level);
uint32_t dpumap_log_get_global(enum dpumap_log_origin origin, enum dpumap_log_bound bound);
/* The limit on standard error without an SDK backend; takes no lock. */
uint32_t dpumap_log_get_fallback(void);
void dpumap_log_set_limit(struct doca_log_backend *backend, enum dpumap_log_bound bound,
			  uint32_t level, bool strict);

/* Whether any backend for that origin may show messages of that level; takes no lock. */
bool dpumap_log_wanted(enum dpumap_log_origin origin, uint32_t level);

/*
 * Write a message that the level of its source admits to the backends for that origin whose limits
 * admit it, with the name of the source in place of a missing file. True if one of them wrote to
 * standard error.
 */
__attribute__((format(printf, 4, 0))) bool dpumap_log_emit(enum dpumap_log_origin origin,
							   int source,
							   const struct dpumap_log_message *message,
							   const char *fmt, va_list ap);

#endif
