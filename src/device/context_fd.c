/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device_priv.h"
#include "device/hca_priv.h"
#include "log/log.h"

static doca_error_t duplicate(int fd, const char *what, int *copy)
{
	int made = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int err = errno;

	if (made < 0)
		return dpumap_fail(
			err == EBADF ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_OPERATING_SYSTEM,
			"%s: cannot duplicate file descriptor %d: %s", what, fd, strerror(err));
	*copy = made;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_export_fd(const struct dpumap_device *device, int *fd)
{
	return duplicate(device->context->cmd_fd, dpumap_hca_name(device->hca), fd);
}

static bool is_same_file(int fd, const struct stat *was)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
	       now.st_rdev == was->st_rdev;
}

/* libibverbs may or may not have closed the descriptor, and does not say which. */
static doca_error_t fail_import(int fd, const struct stat *was)
{
	int err = errno;

	if (is_same_file(fd, was))
		close(fd);
	if (!err || err == EOPNOTSUPP)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "importing a device failed: its driver does not support it");
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "importing a device failed: %s",
			   strerror(err));
}

doca_error_t dpumap_context_import(int fd, struct ibv_context **context)
{
	struct ibv_context *imported;
	doca_error_t result;
	struct stat st;
	int own;

	if (fstat(fd, &st) || !S_ISCHR(st.st_mode))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "file descriptor %d is not that of a device", fd);
	result = duplicate(fd, "importing a device", &own);
	if (result != DOCA_SUCCESS)
		return result;
	errno = 0; /* drivers without support leave it alone */
	imported = ibv_import_device(own);
	if (!imported)
		return fail_import(own, &st);
	*context = imported;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_import_fd(int fd, struct dpumap_hca **hca, struct dpumap_device **device)
{
	struct ibv_context *context;
	struct dpumap_hca *found = NULL;
	doca_error_t result;

	result = dpumap_context_import(fd, &context);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_hca_find(context->device, &found);
	if (result == DOCA_SUCCESS && !found)
		result = dpumap_fail(DOCA_ERROR_NOT_FOUND,
				     "importing a device failed: %s is not supported",
				     ibv_get_device_name(context->device));
	if (result != DOCA_SUCCESS)
		goto close_context;
	/* Assume that the exporter opened it with DEVX; otherwise the queries fail. */
	result = dpumap_device_create(found, context, true, device);
	if (result != DOCA_SUCCESS)
		goto put_hca;
	*hca = found;
	return DOCA_SUCCESS;

put_hca:
	dpumap_hca_put(found);
close_context:
	ibv_close_device(context);
	return result;
}
