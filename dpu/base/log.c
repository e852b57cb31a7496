/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "local/quota.h"

#define TEXT_MAX 512

void log_begin(void)
{
	dpumap_line_show_time();
}

__attribute__((format(printf, 2, 0))) static void write_line(enum dpumap_line_level level,
							     const char *fmt, va_list args)
{
	char text[TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, args);
	dpumap_line_write(level, "dpumapd", text);
}

void log_line(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(DPUMAP_LINE_INFO, fmt, args);
	va_end(args);
}

void log_warning(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(DPUMAP_LINE_WARNING, fmt, args);
	va_end(args);
}

void log_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(DPUMAP_LINE_ERROR, fmt, args);
	va_end(args);
}

void log_from(enum dpumap_line_level level, const char *source, const char *fmt, ...)
{
	va_list args;

	if (!dpumap_quota_take(source, DPUMAP_QUOTA_BURST))
		return;
	va_start(args, fmt);
	write_line(level, fmt, args);
	va_end(args);
}

void log_tick(void)
{
	char source[DPUMAP_QUOTA_SOURCE_MAX];
	unsigned int counted;

	while (dpumap_quota_report(source, &counted))
		log_warning("%s caused %u more lines, which are not in the log", source, counted);
}
