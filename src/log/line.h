/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A message as the line that backends write. */
#ifndef DPUMAP_LOG_LINE_H
#define DPUMAP_LOG_LINE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct dpumap_log_message {
	uint32_t level;
	const char *file; /* only its last component is shown */
	int line;
	const char *func;
	const char *suffix; /* appended to the text */
};

struct dpumap_log_text {
	char *text; /* ends with a line feed, and a NUL that len does not count */
	size_t len;
	char small[1024]; /* for most messages, without an allocation */
};

/*
 * Format a message. now is in UTC; local time is utc_offset seconds ahead. Without memory a long
 * line is cut. To be released by dpumap_log_text_release().
 */
__attribute__((format(printf, 5, 0))) void
dpumap_log_text_make(struct dpumap_log_text *line, const struct dpumap_log_message *message,
		     const struct timespec *now, long utc_offset, const char *fmt, va_list ap);
void dpumap_log_text_release(struct dpumap_log_text *line);

#endif
