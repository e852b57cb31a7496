/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Passes the context of a device through a Unix socket. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dpumap/dev.h>

#include "core/dev/dev.h"
#include "device/device.h"
#include "local/passed_fd.h"
#include "log/log.h"

doca_error_t dpumap_dev_export_fd(const struct doca_dev *dev, int *fd)
{
	if (!dev || !fd)
		return dpumap_fail_null(__func__);
	return dpumap_device_export_fd(dev->device, fd);
}

static doca_error_t fail(const char *what)
{
	int err = errno;
	doca_error_t error = DOCA_ERROR_OPERATING_SYSTEM;

	if (err == EPIPE || err == ECONNRESET || err == ENOTCONN || err == ECONNREFUSED)
		error = DOCA_ERROR_CONNECTION_RESET;
	else if (err == ENOTSOCK || err == EBADF || err == EINVAL)
		error = DOCA_ERROR_INVALID_VALUE;
	return dpumap_fail(error, "%s a device through a socket failed: %s", what, strerror(err));
}

doca_error_t dpumap_dev_send(const struct doca_dev *dev, int socket)
{
	static const char byte;
	doca_error_t result;
	int fd;

	if (!dev)
		return dpumap_fail_null(__func__);
	result = dpumap_device_export_fd(dev->device, &fd);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_send_fd(socket, &byte, sizeof(byte), MSG_NOSIGNAL, fd) < 0)
		result = fail("sending");
	close(fd);
	return result;
}

static doca_error_t receive_fd(int socket, int *fd)
{
	char byte;
	ssize_t got = dpumap_receive_fd(socket, &byte, sizeof(byte), 0, fd);

	if (got < 0)
		return fail("receiving");
	if (!got)
		return dpumap_fail(DOCA_ERROR_CONNECTION_RESET,
				   "receiving a device: the peer closed the socket");
	if (*fd < 0)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"receiving a device: the message does not contain one file descriptor");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dev_receive(int socket, struct doca_dev **dev)
{
	doca_error_t result;
	int fd = -1;

	if (!dev)
		return dpumap_fail_null(__func__);
	result = receive_fd(socket, &fd);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dev_open_from_fd(fd, dev);
	close(fd);
	return result;
}
