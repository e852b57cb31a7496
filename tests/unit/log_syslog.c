/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replace the C library's syslog(): print what a program sends to it. */
#include "unit/log_process.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

static const char *identity = "";

void openlog(const char *ident, int option, int facility)
{
	CHECK(facility == LOG_USER);
	identity = ident;
}

__attribute__((format(printf, 2, 0))) static void say(int priority, const char *format, va_list ap)
{
	printf("%s %d ", identity, priority);
	vprintf(format, ap);
	printf("\n");
}

__attribute__((format(printf, 2, 3))) void syslog(int priority, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(priority, format, ap);
	va_end(ap);
}

/* The name of syslog() when compiled with _FORTIFY_SOURCE. */
__attribute__((format(printf, 3, 4))) void __syslog_chk(int priority, int flag, const char *format,
							...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(priority, format, ap);
	va_end(ap);
}
