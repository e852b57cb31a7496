/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/memlock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#define IPC_LOCK_BIT 14

bool dpumap_memlock_is_exempt(void)
{
	char line[256];
	uint64_t caps = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	fclose(f);
	return caps >> IPC_LOCK_BIT & 1;
}

/* False if no limit is enforced. */
static bool limit_of_memory(uint64_t *bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	    dpumap_memlock_is_exempt())
		return false;
	*bytes = limit.rlim_cur;
	return true;
}

doca_error_t dpumap_error_locking(struct dpumap_error *error, doca_error_t code, size_t bytes,
				  const char *fmt, ...)
{
	bool may_be_limit = code == DOCA_ERROR_NO_MEMORY || code == DOCA_ERROR_DRIVER;
	uint64_t limit;
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (!may_be_limit || !limit_of_memory(&limit))
		return dpumap_error_doca(error, code, "%s", what);
	if (code == DOCA_ERROR_NO_MEMORY || bytes > limit)
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_PERMITTED,
			"%s: the limit on locked memory, %" PRIu64
			" KiB, is too low; raise it with ulimit -l or LimitMEMLOCK=",
			what, limit >> 10);
	return dpumap_error_doca(error, code, "%s (the limit on locked memory is %" PRIu64 " KiB)",
				 what, limit >> 10);
}
