/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define LINE_SIZE 640

void dpumap_fleet_log_line(const struct dpumap_fleet_log *log, const char *fmt, ...)
{
	char line[LINE_SIZE];
	va_list args;

	if (!log->line)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	log->line(log->context, line);
}
