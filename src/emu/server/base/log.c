/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/base/log.h"

#include <stdarg.h>
#include <stdio.h>

void emu_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("dpumap-emu: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}
