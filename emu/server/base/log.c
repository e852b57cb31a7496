/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/base/log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

/* By one write: other processes may write to the same file. */
void emu_log(const char *fmt, ...)
{
	char text[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "dpumap-emu: %s\n", text);
}
