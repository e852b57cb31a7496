/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A name of several tokens, one of which is a macro, and no semicolon. */
#include <doca_log.h>

#include "program.h"

#define THIRD expanded

DOCA_LOG_REGISTER(THIRD FILE::of.three)

int third_source(void)
{
	return log_source;
}

void log_third(void)
{
	doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 3, NULL, "x");
}
