/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "local/line.h"
#include "local/quota.h"
#include "log/backend.h"

/* How many lines one place in the code may write to standard error at once. */
#define SITE_BURST 2000u
#define UNREAD	   (-2)
#define UNSET	   (-1)

static const struct {
	const char *name;
	uint32_t level;
	enum dpumap_line_level line;
} levels[] = {
	[DPUMAP_LOG_OFF] = {"off", DOCA_LOG_LEVEL_DISABLE, DPUMAP_LINE_DEBUG},
	[DPUMAP_LOG_ERROR] = {"error", DOCA_LOG_LEVEL_ERROR, DPUMAP_LINE_ERROR},
	[DPUMAP_LOG_WARNING] = {"warning", DOCA_LOG_LEVEL_WARNING, DPUMAP_LINE_WARNING},
	[DPUMAP_LOG_INFO] = {"info", DOCA_LOG_LEVEL_INFO, DPUMAP_LINE_INFO},
	[DPUMAP_LOG_DEBUG] = {"debug", DOCA_LOG_LEVEL_DEBUG, DPUMAP_LINE_DEBUG},
};

/* From DPUMAP_LOG_LEVEL: an index of levels, UNREAD or UNSET. */
static atomic_int wanted = UNREAD;

/* The level that the environment names, else UNSET. A wrong name is reported once. */
static int read_environment(void)
{
	static atomic_flag is_reported = ATOMIC_FLAG_INIT;
	const char *name = getenv("DPUMAP_LOG_LEVEL");

	if (!name || !*name)
		return UNSET;
	for (int i = 0; i < (int)ARRAY_SIZE(levels); i++)
		if (!strcmp(name, levels[i].name))
			return i;
	if (!atomic_flag_test_and_set(&is_reported))
		fprintf(stderr,
			"dpumap: warning: DPUMAP_LOG_LEVEL must be off, error, warning, info or "
			"debug, not \"%s\"\n",
			name);
	return UNSET;
}

/* A wrong level is reported when the library is loaded, not with its first message. */
__attribute__((constructor)) static void check_environment(void)
{
	read_environment();
}

static int read_wanted(void)
{
	int found = read_environment();

	atomic_store(&wanted, found);
	return found;
}

/* The most verbose level on standard error. */
static uint32_t stderr_limit(void)
{
	int found = atomic_load_explicit(&wanted, memory_order_relaxed);

	if (found == UNREAD)
		found = read_wanted();
	return found == UNSET ? dpumap_log_get_fallback() : levels[found].level;
}

/* True if a backend wrote it to standard error. */
__attribute__((format(printf, 3, 0))) static bool
write_backends(const struct dpumap_log_message *message, int saved_errno, const char *fmt,
	       va_list ap)
{
	va_list again;
	bool on_stderr;

	va_copy(again, ap);
	errno = saved_errno;
	on_stderr = dpumap_log_emit(DPUMAP_LOG_SDK, 0, message, fmt, again);
	va_end(again);
	return on_stderr;
}

__attribute__((format(printf, 4, 0))) static void write_stderr(enum dpumap_log_level level,
							       const char *suffix, int saved_errno,
							       const char *fmt, va_list ap)
{
	char text[512], line[640];

	errno = saved_errno;
	vsnprintf(text, sizeof(text), fmt, ap);
	snprintf(line, sizeof(line), "%s: %s%s", levels[level].name, text, suffix);
	dpumap_line_write(levels[level].line, "dpumap", line);
}

/* Others may cause messages in places that do not know who they are. */
static bool admits_site(const char *file, int line)
{
	char site[DPUMAP_QUOTA_SOURCE_MAX];

	dpumap_log_report();
	snprintf(site, sizeof(site), "%s:%d", file, line);
	return dpumap_quota_take(site, SITE_BURST);
}

void dpumap_log_at(enum dpumap_log_level level, doca_error_t error, const char *file, int line,
		   const char *func, const char *fmt, ...)
{
	struct dpumap_log_message message = {
		.level = levels[level].level, .file = file, .line = line, .func = func};
	int saved_errno = errno;
	bool on_stderr = false;
	char suffix[64] = "";
	va_list ap;

	if (error != DOCA_SUCCESS)
		snprintf(suffix, sizeof(suffix), ": %s", doca_error_get_name(error));
	message.suffix = suffix;
	va_start(ap, fmt);
	if (dpumap_log_wanted(DPUMAP_LOG_SDK, message.level))
		on_stderr = write_backends(&message, saved_errno, fmt, ap);
	if (message.level <= stderr_limit() && !on_stderr && admits_site(file, line))
		write_stderr(level, suffix, saved_errno, fmt, ap);
	va_end(ap);
	errno = saved_errno;
}

static bool is_shown(enum dpumap_log_level level)
{
	return dpumap_log_wanted(DPUMAP_LOG_SDK, levels[level].level) ||
	       levels[level].level <= stderr_limit();
}

void dpumap_log_report(void)
{
	char source[DPUMAP_QUOTA_SOURCE_MAX];
	unsigned int counted;

	while (dpumap_quota_report(source, &counted))
		dpumap_log(DPUMAP_LOG_WARNING, "%s caused %u more messages, which are not shown",
			   source, counted);
}

bool dpumap_log_admits(enum dpumap_log_level level, const char *source)
{
	if (!is_shown(level))
		return false;
	dpumap_log_report();
	return dpumap_quota_take(source, DPUMAP_QUOTA_BURST);
}
