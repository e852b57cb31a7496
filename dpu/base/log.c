/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <stdarg.h>
#include <stdio.h>

#include "dpu/base/log.h"

void log_line(const char *fmt, ...)
{
	char line[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	/* One write per line: the lines of several processes in one file stay whole. */
	fprintf(stderr, "dpumapd: %s\n", line);
}
