/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"

#define FREE_DESCRIPTORS 8
#define FREE_MEMORY	 (UINT64_C(256) << 20) /* the largest map of a device needs less */

static void append(struct dpumap_error *error, const char *name, const char *more)
{
	size_t used = strlen(error->text);
	char *end = error->text + used;
	size_t room = sizeof(error->text) - used;

	if (name)
		snprintf(end, room, ": %s (%s)", more, name);
	else
		snprintf(end, room, ": %s", more);
}

static doca_error_t from_errno(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case ENOTDIR:
		return DOCA_ERROR_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return DOCA_ERROR_NOT_PERMITTED;
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	case EADDRINUSE:
	case EBUSY:
		return DOCA_ERROR_IN_USE;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return DOCA_ERROR_NOT_CONNECTED;
	case ECONNRESET:
	case EPIPE:
		return DOCA_ERROR_CONNECTION_RESET;
	case ETIMEDOUT:
		return DOCA_ERROR_TIME_OUT;
	case EISDIR:
	case EINVAL:
	case ENAMETOOLONG:
		return DOCA_ERROR_INVALID_VALUE;
	case EFBIG:
		return DOCA_ERROR_TOO_BIG;
	case ENOSPC:
	case EDQUOT:
	case EIO:
		return DOCA_ERROR_IO_FAILED;
	default:
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
}

/* How many bytes of a limit the process uses: a field of /proc/self/statm, in pages. False if it is unknown. */
static bool read_usage(unsigned int field, uint64_t *bytes)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	bool is_read = f != NULL;

	for (unsigned int i = 0; is_read && i <= field; i++)
		// NOLINTNEXTLINE(cert-err34-c): the kernel's number
		is_read = fscanf(f, "%lu", &pages) == 1;
	if (f)
		fclose(f);
	*bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return is_read;
}

/* The limit that a lack of memory may come from: the system may have enough. False: there is none. */
static bool append_memory(struct dpumap_error *error)
{
	static const struct {
		int limit;
		unsigned int field;
		const char *what, *option;
	} all[] = {{RLIMIT_AS, 0, "address space", "-v"}, {RLIMIT_DATA, 5, "data", "-d"}};
	size_t used = strlen(error->text);
	struct rlimit limit;
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (getrlimit(all[i].limit, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
		    !read_usage(all[i].field, &bytes) || bytes + FREE_MEMORY < limit.rlim_cur)
			continue;
		snprintf(error->text + used, sizeof(error->text) - used,
			 "; the process can have only %" PRIu64 " KiB more %s: raise the limit "
			 "(ulimit %s)",
			 bytes < limit.rlim_cur ? (limit.rlim_cur - bytes) >> 10 : 0, all[i].what,
			 all[i].option);
		return true;
	}
	return false;
}

doca_error_t dpumap_error_set(struct dpumap_error *error, doca_error_t code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	if (code == DOCA_ERROR_NO_MEMORY)
		append_memory(error);
	error->code = code;
	return code;
}

doca_error_t dpumap_error_errno(struct dpumap_error *error, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	append(error, NULL, strerror(err));
	if (err == ENOMEM || err == EAGAIN) /* EAGAIN: no stack for a thread */
		append_memory(error);
	error->code = from_errno(err);
	return error->code;
}

/* How many files the process may still open, up to a number that suffices for a device. */
static unsigned int count_free_descriptors(void)
{
	int fds[FREE_DESCRIPTORS];
	bool lacking = false;
	unsigned int n = 0;

	while (n < FREE_DESCRIPTORS) {
		fds[n] = open("/", O_PATH | O_CLOEXEC);
		if (fds[n] < 0) {
			lacking = errno == EMFILE || errno == ENFILE;
			break;
		}
		n++;
	}
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
	return lacking ? n : FREE_DESCRIPTORS;
}

bool dpumap_error_is_limit(struct dpumap_error *error, const char *doing)
{
	unsigned int n = count_free_descriptors();

	if (n == FREE_DESCRIPTORS) {
		snprintf(error->text, sizeof(error->text), "cannot %s", doing);
		error->code = DOCA_ERROR_NO_MEMORY;
		return append_memory(error);
	}
	dpumap_error_set(error, DOCA_ERROR_OPERATING_SYSTEM,
			 "cannot %s: the process can open only %u more files; raise the limit "
			 "(ulimit -n)",
			 doing, n);
	return true;
}

/* The cause that drivers do not report. */
static void append_descriptors(struct dpumap_error *error)
{
	unsigned int n = count_free_descriptors();
	size_t used = strlen(error->text);

	if (n < FREE_DESCRIPTORS)
		snprintf(error->text + used, sizeof(error->text) - used,
			 "; the process can open only %u more files: raise the limit (ulimit -n)",
			 n);
}

doca_error_t dpumap_error_doca(struct dpumap_error *error, doca_error_t code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	append(error, doca_error_get_name(code), doca_error_get_descr(code));
	append_descriptors(error);
	/* Drivers do not report this cause either. */
	if (code == DOCA_ERROR_NO_MEMORY || code == DOCA_ERROR_DRIVER)
		append_memory(error);
	error->code = code;
	return code;
}

doca_error_t dpumap_error_see_doctor(struct dpumap_error *error)
{
	size_t used = strlen(error->text);

	snprintf(error->text + used, sizeof(error->text) - used, "; see %s doctor",
		 program_invocation_short_name);
	return error->code;
}

enum dpumap_exit dpumap_error_exit(doca_error_t code)
{
	switch (code) {
	case DOCA_SUCCESS:
		return DPUMAP_EXIT_OK;
	case DOCA_ERROR_NOT_FOUND:
	case DOCA_ERROR_NOT_CONNECTED:
	case DOCA_ERROR_IN_USE:
	case DOCA_ERROR_FULL:
		return DPUMAP_EXIT_NOT_FOUND;
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_AUTHENTICATION:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_TOO_BIG:
	case DOCA_ERROR_BAD_STATE:
	case DOCA_ERROR_ALREADY_EXIST:
	case DOCA_ERROR_BAD_CONFIG:
	case DOCA_ERROR_UNSUPPORTED_VERSION:
		return DPUMAP_EXIT_REFUSED;
	case DOCA_ERROR_NOT_SUPPORTED:
	case DOCA_ERROR_DRIVER:
	case DOCA_ERROR_INITIALIZATION:
	case DOCA_ERROR_NO_MEMORY:
		return DPUMAP_EXIT_DEVICE;
	default:
		return DPUMAP_EXIT_FAILED;
	}
}
