/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_log.h>

#include <stdarg.h>

#include "log/backend.h"
#include "log/log.h"
#include "log/source.h"

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	int number;

	if (!source_name || !source)
		return dpumap_fail_null(__func__);
	number = dpumap_log_source_add(source_name);
	if (!number)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for log source %s",
				   source_name);
	*source = number;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_unregister_source(int source)
{
	if (!dpumap_log_source_remove(source))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "log source %d is not registered",
				   source);
	return DOCA_SUCCESS;
}

void doca_log(uint32_t level, int source, const char *file, int line, const char *func,
	      const char *format, ...)
{
	const struct dpumap_log_message message = {
		.level = level, .file = file, .line = line, .func = func};
	va_list ap;

	if (!dpumap_log_wanted(DPUMAP_LOG_PROGRAM, level) || !format)
		return;
	va_start(ap, format);
	dpumap_log_emit(DPUMAP_LOG_PROGRAM, source, &message, format, ap);
	va_end(ap);
}
