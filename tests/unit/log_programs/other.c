/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* With a semicolon, and with traces. */
#define DOCA_LOGGING_ALLOW_TRACE
#include <doca_log.h>

#include "program.h"

DOCA_LOG_REGISTER(OTHER);

int other_source(void)
{
	return log_source;
}

void log_other(void)
{
	DOCA_LOG_TRC("traced %d", 1);
	doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 2, NULL, "x");
}
