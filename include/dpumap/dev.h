/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device contexts that several processes share, several contexts of a device in one process, and
 * the events of a device.
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

#include <stdint.h>

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
 * Get the number of the card that a device is a function of. All functions of a card, on the host
 * and on the DPU, have the same number, and no two cards do.
 *
 * @param dev an open device
 * @param guid out: the system image GUID of the device, as a number: be64toh() of the value of verbs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dev_get_card_guid(const struct doca_dev *dev, uint64_t *guid);

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

/** What happened to a device. */
enum dpumap_dev_event {
	/**
	 * The device failed or was removed. Its memory, keys and connections are lost, for all
	 * processes, and the objects on it can no longer be used. If it was removed, they are
	 * destroyed as usual, and the device can be opened again when it has returned; libibverbs
	 * frees its own memory of them only if RDMAV_ALLOW_DISASSOC_DESTROY is set. Otherwise
	 * destroying them may fail: the kernel frees them when the process ends.
	 */
	DPUMAP_DEV_EVENT_FATAL = 1,
	/** The port is down: copies to other machines fail until it is up again. */
	DPUMAP_DEV_EVENT_PORT_DOWN = 2,
	/** The port is up. */
	DPUMAP_DEV_EVENT_PORT_UP = 3,
	/**
	 * A queue of this process on the device failed, for example because it was overrun: it
	 * completes no more work. The error that is logged says which kind of queue. Stop the
	 * contexts on the device, which ends their tasks, and start them again.
	 */
	DPUMAP_DEV_EVENT_QUEUE_FAILED = 4,
};

/**
 * Get a file descriptor that is readable while the device has an event, for poll(2).
 *
 * @param dev an open device
 * @param fd out: the file descriptor, owned by dev; do not read or close it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device was opened from a protection domain of the program, which
 *   reads the events of its context itself
 * - DOCA_ERROR_OPERATING_SYSTEM: the file descriptor cannot be made non-blocking
 */
DOCA_STABLE doca_error_t dpumap_dev_get_event_handle(const struct doca_dev *dev, int *fd);

/**
 * Take the next event of a device, without waiting. A context has one list of events: if several
 * parts of a program read it, each event goes to one of them.
 *
 * @param dev an open device
 * @param event out: the event
 * @return as dpumap_dev_get_event_handle(), and
 * - DOCA_ERROR_AGAIN: there is no event
 */
DOCA_STABLE doca_error_t dpumap_dev_next_event(const struct doca_dev *dev,
					       enum dpumap_dev_event *event);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DEV_H */
