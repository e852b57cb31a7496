/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {
	[DPUMAP_LOG_OFF] = "off",   [DPUMAP_LOG_ERROR] = "error", [DPUMAP_LOG_WARNING] = "warning",
	[DPUMAP_LOG_INFO] = "info", [DPUMAP_LOG_DEBUG] = "debug",
};

static enum dpumap_log_level threshold = DPUMAP_LOG_WARNING;
static pthread_once_t threshold_once = PTHREAD_ONCE_INIT;

static void read_threshold(void)
{
	const char *wanted = getenv("DPUMAP_LOG_LEVEL");

	if (!wanted)
		return;
	for (unsigned int i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++)
		if (!strcmp(wanted, level_names[i]))
			threshold = (enum dpumap_log_level)i;
}

void dpumap_log_line(enum dpumap_log_level level, doca_error_t error, const char *fmt, ...)
{
	const char *colon = error == DOCA_SUCCESS ? "" : ": ";
	const char *name = error == DOCA_SUCCESS ? "" : doca_error_get_name(error);
	int saved_errno = errno;
	char text[512];
	va_list ap;

	pthread_once(&threshold_once, read_threshold);
	if (level <= threshold) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		fprintf(stderr, "dpumap: %s: %s%s%s\n", level_names[level], text, colon, name);
	}
	errno = saved_errno;
}
