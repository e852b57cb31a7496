/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_log.h>

#include "log/backend.h"
#include "log/log.h"

static doca_error_t set_global(enum dpumap_log_origin origin, enum dpumap_log_bound bound,
			       uint32_t level)
{
	if (!dpumap_log_is_level(level))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "invalid log level %u: use one of DOCA_LOG_LEVEL_*", level);
	dpumap_log_set_global(origin, bound, level);
	return DOCA_SUCCESS;
}

static doca_error_t set_limit(struct doca_log_backend *backend, enum dpumap_log_origin origin,
			      enum dpumap_log_bound bound, uint32_t level, bool strict)
{
	if (!backend)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "setting a log limit: the backend is NULL");
	if (backend->origin != origin)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "setting a log limit: the backend is for messages of the %s",
				   backend->origin == DPUMAP_LOG_SDK ? "library" : "program");
	if (!dpumap_log_is_level(level))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "invalid log level %u: use one of DOCA_LOG_LEVEL_*", level);
	dpumap_log_set_limit(backend, bound, level, strict);
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
