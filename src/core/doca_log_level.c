/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_log.h>

#include <stdbool.h>

#include "log/backend.h"
#include "log/log.h"

static bool is_level(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

static doca_error_t set_global(enum dpumap_log_side side, enum dpumap_log_end end, uint32_t level)
{
	if (!is_level(level))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "there is no log level %u", level);
	dpumap_log_set_global(side, end, level);
	return DOCA_SUCCESS;
}

static doca_error_t set_limit(struct doca_log_backend *backend, enum dpumap_log_side side,
			      enum dpumap_log_end end, uint32_t level, bool strict)
{
	if (!backend)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "a limit without a log backend");
	if (backend->side != side)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "the log backend is one of the %s",
				   backend->side == DPUMAP_LOG_SDK ? "SDK" : "program");
	if (!is_level(level))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "there is no log level %u", level);
	dpumap_log_set_limit(backend, end, level, strict);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	return set_global(DPUMAP_LOG_PROGRAM, DPUMAP_LOG_LOWER, level);
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
	return dpumap_log_get_global(DPUMAP_LOG_PROGRAM, DPUMAP_LOG_LOWER);
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t level)
{
	return set_global(DPUMAP_LOG_PROGRAM, DPUMAP_LOG_UPPER, level);
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
	return dpumap_log_get_global(DPUMAP_LOG_PROGRAM, DPUMAP_LOG_UPPER);
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	return set_global(DPUMAP_LOG_SDK, DPUMAP_LOG_LOWER, level);
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return dpumap_log_get_global(DPUMAP_LOG_SDK, DPUMAP_LOG_LOWER);
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	return set_limit(backend, DPUMAP_LOG_SDK, DPUMAP_LOG_LOWER, level, false);
}

doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend,
						    uint32_t level)
{
	return set_limit(backend, DPUMAP_LOG_PROGRAM, DPUMAP_LOG_LOWER, level, false);
}

doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
						    uint32_t level)
{
	return set_limit(backend, DPUMAP_LOG_PROGRAM, DPUMAP_LOG_UPPER, level, false);
}

doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend,
							   uint32_t level)
{
	return set_limit(backend, DPUMAP_LOG_PROGRAM, DPUMAP_LOG_LOWER, level, true);
}

doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend,
							   uint32_t level)
{
	return set_limit(backend, DPUMAP_LOG_PROGRAM, DPUMAP_LOG_UPPER, level, true);
}
