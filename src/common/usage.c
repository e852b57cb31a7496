/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fault.h"
#include "common/usage.h"

void dpumap_usage_error(const struct argp_state *state, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	argp_error(state, "%s", text);
	/* argp_error() returns only with flags that the agents do not set. */
	exit(DPUMAP_EXIT_USAGE);
}
