/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "local/fault.h"

#define FREE_DESCRIPTORS 8

static void append(struct dpumap_fault *fault, const char *name, const char *more)
{
	size_t used = strlen(fault->text);
	char *end = fault->text + used;
	size_t room = sizeof(fault->text) - used;

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

doca_error_t dpumap_fault_set(struct dpumap_fault *fault, doca_error_t code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(fault->text, sizeof(fault->text), fmt, args);
	va_end(args);
	fault->code = code;
	return code;
}

doca_error_t dpumap_fault_errno(struct dpumap_fault *fault, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(fault->text, sizeof(fault->text), fmt, args);
	va_end(args);
	append(fault, NULL, strerror(err));
	fault->code = from_errno(err);
	return fault->code;
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

bool dpumap_fault_is_descriptors(struct dpumap_fault *fault, const char *doing)
{
	unsigned int n = count_free_descriptors();

	if (n == FREE_DESCRIPTORS)
		return false;
	dpumap_fault_set(fault, DOCA_ERROR_OPERATING_SYSTEM,
			 "cannot %s: the process can open only %u more files; raise the limit "
			 "(ulimit -n)",
			 doing, n);
	return true;
}

/* The cause that drivers do not report. */
static void append_descriptors(struct dpumap_fault *fault)
{
	unsigned int n = count_free_descriptors();
	size_t used = strlen(fault->text);

	if (n < FREE_DESCRIPTORS)
		snprintf(fault->text + used, sizeof(fault->text) - used,
			 "; the process can open only %u more files: raise the limit (ulimit -n)",
			 n);
}

doca_error_t dpumap_fault_doca(struct dpumap_fault *fault, doca_error_t code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(fault->text, sizeof(fault->text), fmt, args);
	va_end(args);
	append(fault, doca_error_get_name(code), doca_error_get_descr(code));
	append_descriptors(fault);
	fault->code = code;
	return code;
}

doca_error_t dpumap_fault_see_doctor(struct dpumap_fault *fault)
{
	size_t used = strlen(fault->text);

	snprintf(fault->text + used, sizeof(fault->text) - used, "; see %s doctor",
		 program_invocation_short_name);
	return fault->code;
}

enum dpumap_exit dpumap_fault_exit(doca_error_t code)
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
