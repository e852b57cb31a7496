/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An open device in several processes of one side, or several times in one.
 *
 * What the kernel knows of an open device, its context, is a file descriptor. A process that gets
 * it opens a device of its own on the same context: both reach the same objects there, and the
 * context ends with the last descriptor, however the processes end. Objects that a process does not
 * destroy stay until then. Hand a context only to processes that may do everything that its owner
 * may do.
 *
 * Thread safety: callable from any thread. On any error the outputs keep their values. Semantics:
 * ibv_import_device(3).
 */
#ifndef DPUMAP_DEV_H
#define DPUMAP_DEV_H

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;

/**
 * Open a device for oneself: on a context and with a protection domain of its own, whoever has it
 * open besides; doca_dev_open() never gives it to anybody else. A peer that is connected to it
 * over RDMA reaches what is registered with it and nothing that is with others.
 *
 * @param devinfo the device
 * @param dev out: the device, open and owned by the caller until doca_dev_close()
 * @return as doca_dev_open()
 */
DOCA_STABLE doca_error_t dpumap_dev_open_own(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * The context of an open device as a file descriptor, to be passed on (SCM_RIGHTS, inheritance).
 *
 * @param dev an open device
 * @param fd out: a new descriptor, closed by exec; the caller closes it
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_OPERATING_SYSTEM when the process has no descriptor left
 */
DOCA_STABLE doca_error_t dpumap_dev_export_fd(const struct doca_dev *dev, int *fd);

/**
 * Open a device on the context of another one. Every call gives a device of its own, with a
 * protection domain of its own; doca_dev_open() never gives it to anybody else.
 *
 * @param fd a descriptor from dpumap_dev_export_fd() of any process; stays the caller's, who may
 *        close it
 * @param dev out: the device, open and owned by the caller until doca_dev_close()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a descriptor of anything
 *         but a device, DOCA_ERROR_NOT_FOUND when it is of a device that the library cannot drive,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails or the device has no protection domain
 *         left, DOCA_ERROR_OPERATING_SYSTEM when the process has no descriptor left,
 *         DOCA_ERROR_NOT_SUPPORTED when its driver does not know how,
 *         DOCA_ERROR_NOT_SUPPORTED when its driver does not know how,
 *         DOCA_ERROR_NOT_CONNECTED when the context cannot be used, DOCA_ERROR_DRIVER when the
 *         device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dev_open_from_fd(int fd, struct doca_dev **dev);

/**
 * Send the context of a device through a connected Unix socket, in a message of one byte.
 *
 * @param dev an open device
 * @param socket a socket of AF_UNIX, stream, datagram or packets; the call waits until there is
 * room
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or when the socket takes no descriptors,
 *         DOCA_ERROR_CONNECTION_RESET when nobody is at the other end,
 *         DOCA_ERROR_OPERATING_SYSTEM when sending fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dev_send(const struct doca_dev *dev, int socket);

/**
 * Take what dpumap_dev_send() sends and open a device on it.
 *
 * @param socket the other end of the socket; the call waits for the message
 * @param dev out: the device, open and owned by the caller until doca_dev_close()
 * @return as dpumap_dev_open_from_fd(), DOCA_ERROR_INVALID_VALUE also for a message without a
 *         descriptor, DOCA_ERROR_CONNECTION_RESET when the other end is closed,
 *         DOCA_ERROR_OPERATING_SYSTEM also when receiving fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dev_receive(int socket, struct doca_dev **dev);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DEV_H */
