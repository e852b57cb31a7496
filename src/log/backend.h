/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Backends: where messages go, and which of them. One lock serves the whole log, so that lines come
 * in the same order everywhere. A message that is logged while its thread writes another one (by
 * the callback of a backend, by a signal handler) passes over the backends that are being written
 * to.
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

enum dpumap_log_side {
	DPUMAP_LOG_PROGRAM,
	DPUMAP_LOG_SDK,
	DPUMAP_LOG_SIDES,
};

/* The most and the least talkative level that is shown. */
enum dpumap_log_end {
	DPUMAP_LOG_LOWER,
	DPUMAP_LOG_UPPER,
	DPUMAP_LOG_ENDS,
};

struct dpumap_log_limit {
	uint32_t level;
	bool strict; /* the global one does not change it */
};

struct doca_log_backend {
	struct doca_log_backend *next;
	enum dpumap_log_side side;
	struct dpumap_log_limit limits[DPUMAP_LOG_ENDS];
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
 * Copies a backend, of which side and where it writes are set, and puts it to work with the global
 * limits. NULL without memory.
 */
struct doca_log_backend *dpumap_log_backend_add(const struct doca_log_backend *backend);

void dpumap_log_set_global(enum dpumap_log_side side, enum dpumap_log_end end, uint32_t level);
uint32_t dpumap_log_get_global(enum dpumap_log_side side, enum dpumap_log_end end);
/* What goes to standard error for lack of an SDK backend; takes no lock. */
uint32_t dpumap_log_get_fallback(void);
void dpumap_log_set_limit(struct doca_log_backend *backend, enum dpumap_log_end end, uint32_t level,
			  bool strict);

/* Whether any backend of that side may show messages of that level; takes no lock. */
bool dpumap_log_wanted(enum dpumap_log_side side, uint32_t level);

/*
 * Shows a message on the backends of that side whose limits admit it; without a file the name of
 * the source is shown in its place. True if one of them wrote to standard error.
 */
__attribute__((format(printf, 4, 0))) bool dpumap_log_emit(enum dpumap_log_side side, int source,
							   const struct dpumap_log_message *message,
							   const char *fmt, va_list ap);

#endif
