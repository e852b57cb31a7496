/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/errno.h"

#include <errno.h>

#include <infiniband/verbs.h>

doca_error_t dpumap_errno_to_error(int err)
{
	switch (err) {
	case 0:
		return DOCA_SUCCESS;
	case EINVAL:
		return DOCA_ERROR_INVALID_VALUE;
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	case EOPNOTSUPP:
	case ENOSYS:
	case EPROTONOSUPPORT:
		return DOCA_ERROR_NOT_SUPPORTED;
	case EPERM:
	case EACCES:
		return DOCA_ERROR_NOT_PERMITTED;
	case EAGAIN:
		return DOCA_ERROR_AGAIN;
	case EBUSY:
		return DOCA_ERROR_IN_USE;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

doca_error_t dpumap_errno_narrow(int err, const doca_error_t *allowed)
{
	doca_error_t error = dpumap_errno_to_error(err);

	while (*allowed != DOCA_SUCCESS && *allowed != error)
		allowed++;
	/* Never success: some functions of libibverbs fail without setting errno. */
	return *allowed != DOCA_SUCCESS ? error : DOCA_ERROR_DRIVER;
}

int dpumap_errno_unless_gone(struct ibv_context *context, int err)
{
	struct ibv_device_attr attr;

	/* The kernel says so to each command to a device that was removed. */
	return ibv_query_device(context, &attr) == EIO ? 0 : err;
}
