/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A kernel context in several processes: the file descriptor is the context. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "log/log.h"

static doca_error_t duplicate(int fd, const char *what, int *copy)
{
	int made = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int err = errno;

	if (made < 0)
		return dpumap_fail(
			err == EBADF ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_OPERATING_SYSTEM,
			"%s: descriptor %d cannot be duplicated: %s", what, fd, strerror(err));
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

/* A context that could not be made has closed the descriptor, or has not: nothing tells which. */
static doca_error_t fail_import(int fd, const struct stat *was)
{
	int err = errno;

	if (is_same_file(fd, was))
		close(fd);
	if (!err || err == EOPNOTSUPP)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "descriptor cannot be opened as a device: its driver does not "
				   "know how");
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "descriptor cannot be opened as a device: %s",
			   strerror(err));
}

static doca_error_t import_context(int fd, struct ibv_context **context)
{
	struct ibv_context *imported;
	doca_error_t result;
	struct stat st;
	int own;

	if (fstat(fd, &st) || !S_ISCHR(st.st_mode))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "descriptor %d is of no device", fd);
	result = duplicate(fd, "import of a device", &own);
	if (result != DOCA_SUCCESS)
		return result;
	errno = 0; /* which drivers without it leave alone */
	imported = ibv_import_device(own);
	if (!imported)
		return fail_import(own, &st);
	*context = imported;
	return DOCA_SUCCESS;
}

static doca_error_t find_hca(const struct ibv_device *ibdev, struct dpumap_hca **hca)
{
	struct dpumap_hca **hcas = NULL;
	doca_error_t result;
	uint32_t n = 0;

	result = dpumap_hca_list(&hcas, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < n; i++) {
		if (result != DOCA_SUCCESS && dpumap_hca_has(hcas[i], ibdev)) {
			*hca = dpumap_hca_get(hcas[i]);
			result = DOCA_SUCCESS;
		}
		dpumap_hca_put(hcas[i]);
	}
	free(hcas);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "%s is no device that the library can drive",
				   ibv_get_device_name((struct ibv_device *)ibdev));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_import_fd(int fd, struct dpumap_hca **hca, struct dpumap_device **device)
{
	struct ibv_context *context;
	struct dpumap_hca *found = NULL;
	doca_error_t result;

	result = import_context(fd, &context);
	if (result != DOCA_SUCCESS)
		return result;
	result = find_hca(context->device, &found);
	if (result != DOCA_SUCCESS)
		goto close_context;
	/* Who exports a context has opened it with DEVX; without, the queries say so. */
	result = dpumap_device_set_up(found, context, true, device);
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
