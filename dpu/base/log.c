/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "local/line.h"
#include "local/quota.h"

#define TEXT_MAX 512

void log_begin(void)
{
	dpumap_line_show_time();
}

__attribute__((format(printf, 1, 0))) static void write_line(const char *fmt, va_list args)
{
	char text[TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, args);
	dpumap_line_write(DPUMAP_LINE_INFO, "dpumapd", text);
}

void log_line(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(fmt, args);
	va_end(args);
}

void log_from(const char *source, const char *fmt, ...)
{
	va_list args;

	if (!dpumap_quota_take(source, DPUMAP_QUOTA_BURST))
		return;
	va_start(args, fmt);
	write_line(fmt, args);
	va_end(args);
}

void log_tick(void)
{
	char source[DPUMAP_QUOTA_SOURCE_MAX];
	unsigned int counted;

	while (dpumap_quota_report(source, &counted))
		log_line("%s caused %u more lines, which are not in the log", source, counted);
}
