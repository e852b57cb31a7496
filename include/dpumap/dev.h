/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device contexts that several processes share, and several contexts of a device in one process.
 *
 * The kernel represents an open device as a context, which is a file descriptor. A process that
 * receives the file descriptor can open the device on the same context. All processes with the
 * context can access all objects in it. The context ends when its last file descriptor is closed,
 * even if the processes crash. Objects that a process does not destroy exist until then. Pass a
 * context only to processes that are trusted like its owner.
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
 * Open a device on its own context, with its own protection domain, even if the process has
 * already opened the device. doca_dev_open() never returns this object. A peer that is connected
 * to it over RDMA can access only memory that is registered with this object.
 *
 * @param devinfo the device
 * @param dev out: the open device, owned by the caller until doca_dev_close()
 * @return as doca_dev_open()
 */
DOCA_STABLE doca_error_t dpumap_dev_open_own(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Get the context of an open device as a file descriptor, to pass it to another process
 * (SCM_RIGHTS, inheritance).
 *
 * @param dev an open device
 * @param fd out: a new file descriptor with close-on-exec; owned by the caller
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: the process has no free file descriptor
 */
DOCA_STABLE doca_error_t dpumap_dev_export_fd(const struct doca_dev *dev, int *fd);

/**
 * Open a device on an existing context. Each call creates a new object with its own protection
 * domain, which doca_dev_open() never returns.
 *
 * @param fd a file descriptor of dpumap_dev_export_fd() of any process; owned by the caller, who
 *         may close it after the call
 * @param dev out: the open device, owned by the caller until doca_dev_close()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the file descriptor is not a context of a
 *   device
 * - DOCA_ERROR_NOT_FOUND: the library does not support the device
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the device has no free protection domain
 * - DOCA_ERROR_OPERATING_SYSTEM: the process has no free file descriptor
 * - DOCA_ERROR_NOT_SUPPORTED: the driver cannot import contexts
 * - DOCA_ERROR_NOT_CONNECTED: the context cannot be used
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dev_open_from_fd(int fd, struct doca_dev **dev);

/**
 * Send the context of a device over a connected Unix socket, in a message of one byte.
 *
 * @param dev an open device
 * @param socket a socket of AF_UNIX and any type; the call blocks until the message can be sent
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the socket cannot pass file descriptors
 * - DOCA_ERROR_CONNECTION_RESET: the peer has closed the socket
 * - DOCA_ERROR_OPERATING_SYSTEM: sending fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dev_send(const struct doca_dev *dev, int socket);

/**
 * Receive a context that dpumap_dev_send() sent, and open a device on it.
 *
 * @param socket the other socket of the connection; the call blocks until the message arrives
 * @param dev out: the open device, owned by the caller until doca_dev_close()
 * @return as dpumap_dev_open_from_fd(), and
 * - DOCA_ERROR_INVALID_VALUE: the message contains no file descriptor
 * - DOCA_ERROR_CONNECTION_RESET: the peer has closed the socket
 * - DOCA_ERROR_OPERATING_SYSTEM: receiving fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dev_receive(int socket, struct doca_dev **dev);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DEV_H */
