/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/**
 * A host agent's connection to a dpumapd: what it exports, its descriptors, maps of them, and word
 * of what changes.
 *
 * This is the interface of libdpumap-channel (pkg-config dpumap-channel), which has what libdpumap
 * does not need: TLS and the protocol between the agents. A DPU that is reached over TCP is
 * authenticated and authenticates us, with certificates or with a key that both have; on one
 * machine a Unix socket knows who we are.
 *
 * Thread safety: an object is used by one thread at a time; several threads use several objects. A
 * call waits for the reply, at most as long as dpumap_channel_set_timeout() says, and does not
 * start when the last one is not over.
 */
#ifndef DPUMAP_CHANNEL_PUBLIC_H
#define DPUMAP_CHANNEL_PUBLIC_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_rdma;
struct doca_rdma_connection;
struct dpumap_channel;

/** The longest descriptor that dpumap_channel_get() writes, in bytes. */
#define DPUMAP_CHANNEL_DESCRIPTOR_MAX 512

/** What is known about an export before it is imported. */
struct dpumap_channel_export {
	const char *name; /**< 1 to 63 printable characters */
	const char *kind; /**< "dm", "dram", "file" or "dmabuf" */
	uint64_t size;	  /**< bytes */
	uint32_t access;  /**< of enum doca_access_flag: those for PCI, or those for RDMA */
};

/** What a watcher hears of. */
enum dpumap_channel_event {
	DPUMAP_CHANNEL_ADDED = 0,   /**< the export can be had from now on */
	DPUMAP_CHANNEL_CHANGED = 1, /**< imports of before are dead: get it again */
	DPUMAP_CHANNEL_REMOVED = 2, /**< imports are dead, the export cannot be had any more */
	DPUMAP_CHANNEL_LOST = 3,    /**< no connection: it is tried again; name is NULL */
	DPUMAP_CHANNEL_BACK = 4, /**< connected again; events may have been missed; name is NULL */
};

/**
 * Called for each export that a list has.
 *
 * @param user_data as given to dpumap_channel_list()
 * @param export good during the call
 */
typedef void (*dpumap_channel_list_cb_t)(union doca_data user_data,
					 const struct dpumap_channel_export *export_info);

/**
 * Called by dpumap_channel_process(), never otherwise. May use the channel, but not destroy it.
 *
 * @param user_data as given to dpumap_channel_watch()
 * @param event what happened
 * @param name of the export; good during the call
 */
typedef void (*dpumap_channel_watch_cb_t)(union doca_data user_data,
					  enum dpumap_channel_event event, const char *name);

/**
 * Create a channel, which is not connected.
 *
 * @param channel where the object goes; the caller destroys it
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NO_MEMORY when there is none, or no file descriptor
 */
DOCA_STABLE doca_error_t dpumap_channel_create(struct dpumap_channel **channel);

/**
 * Disconnect and free. Maps that were imported stay, and descriptors that were got and not released
 * stay good.
 *
 * @param channel NULL is allowed
 */
DOCA_STABLE void dpumap_channel_destroy(struct dpumap_channel *channel);

/**
 * Say where dpumapd is.
 *
 * @param channel not connected
 * @param address "unix:PATH" or "tls:HOST:PORT"; copied
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL or what is no address,
 *         DOCA_ERROR_BAD_STATE when connected
 */
DOCA_STABLE doca_error_t dpumap_channel_set_address(struct dpumap_channel *channel,
						    const char *address);

/**
 * Say who we are and whom to believe, by certificates. The files are read when connecting; they are
 * refused if others can change them, and the key if others can read it.
 *
 * @param channel not connected
 * @param cert PEM file with our certificate, and those between it and the authority's
 * @param key PEM file with its key, mode 0600
 * @param ca PEM file with the authorities that dpumapd's certificate may come from
 * @param crl PEM file with what they have revoked; NULL: nothing is looked up
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL where it is not allowed,
 *         DOCA_ERROR_BAD_STATE when connected,
 *         DOCA_ERROR_NO_MEMORY when there is none for the copy
 */
DOCA_STABLE doca_error_t dpumap_channel_set_certificate(struct dpumap_channel *channel,
							const char *cert, const char *key,
							const char *ca, const char *crl);

/**
 * Say who we are by a key that we share with dpumapd, instead of certificates.
 *
 * @param channel not connected
 * @param file lines NAME:HEX, mode 0600
 * @param name which of them; NULL: the first
 * @return as dpumap_channel_set_certificate()
 */
DOCA_STABLE doca_error_t dpumap_channel_set_psk(struct dpumap_channel *channel, const char *file,
						const char *name);

/**
 * Say whom dpumapd's certificate must name, if that is not the host in the address.
 *
 * @param channel not connected
 * @param name a DNS name or an address; copied
 * @return as dpumap_channel_set_address()
 */
DOCA_STABLE doca_error_t dpumap_channel_set_server_name(struct dpumap_channel *channel,
							const char *name);

/**
 * Say how long a call may wait. Without, 10 seconds.
 *
 * @param channel in any state
 * @param milliseconds not 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or 0
 */
DOCA_STABLE doca_error_t dpumap_channel_set_timeout(struct dpumap_channel *channel,
						    uint32_t milliseconds);

/**
 * Connect, each side proving who it is.
 *
 * @param channel with an address
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when it has no address or is connected,
 *         DOCA_ERROR_NOT_FOUND when there is no such host, socket or file,
 *         DOCA_ERROR_NOT_CONNECTED when nobody listens there,
 *         DOCA_ERROR_AUTHENTICATION when one side does not believe the other,
 *         DOCA_ERROR_NOT_PERMITTED when dpumapd has nothing for us, or others can change a file or
 *         put another socket in the place of this one,
 *         DOCA_ERROR_BAD_CONFIG for a file that does not hold what it should,
 *         DOCA_ERROR_UNSUPPORTED_VERSION when the other side speaks other versions of TLS or of the
 * protocol,
 *         DOCA_ERROR_FULL when dpumapd serves as many as it may,
 *         DOCA_ERROR_TIME_OUT when it does not answer in time
 */
DOCA_STABLE doca_error_t dpumap_channel_connect(struct dpumap_channel *channel);

/**
 * Go through the exports that we may import, in the order of their names.
 *
 * @param channel connected
 * @param each called for each of them; must not use the channel
 * @param user_data for each
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_CONNECTED when there is no connection: the next call, or
 * dpumap_channel_process(), tries to have one again,
 *         DOCA_ERROR_CONNECTION_RESET when it ends meanwhile,
 *         DOCA_ERROR_TIME_OUT when dpumapd does not answer in time
 */
DOCA_STABLE doca_error_t dpumap_channel_list(struct dpumap_channel *channel,
					     dpumap_channel_list_cb_t each,
					     union doca_data user_data);

/**
 * Get an export's descriptor, which holds a key to its memory: wipe it after use.
 *
 * @param channel connected
 * @param name of the export
 * @param descriptor where it goes
 * @param len in: bytes there, DPUMAP_CHANNEL_DESCRIPTOR_MAX is always enough; out: its length
 * @return as dpumap_channel_list(), and
 *         DOCA_ERROR_NOT_FOUND when there is no such export,
 *         DOCA_ERROR_NOT_PERMITTED when it is not for us,
 *         DOCA_ERROR_TOO_BIG when the descriptor does not fit
 */
DOCA_STABLE doca_error_t dpumap_channel_get(struct dpumap_channel *channel, const char *name,
					    void *descriptor, size_t *len);

/**
 * Tell dpumapd that what was got is not used any more, once for each time. When everybody has
 * released what he got, its descriptors are void.
 *
 * @param channel connected
 * @param name of the export
 * @return as dpumap_channel_get(); DOCA_ERROR_NOT_PERMITTED when it was not got
 */
DOCA_STABLE doca_error_t dpumap_channel_release(struct dpumap_channel *channel, const char *name);

/**
 * Get an export and make a map of it: dpumap_channel_get() and doca_mmap_create_from_export() in
 * one, without the descriptor being seen. Release it after the map is destroyed.
 *
 * @param channel connected
 * @param name of the export
 * @param dev an open device of the card that exports; for an export over RDMA any device with a way
 * to that one
 * @param mmap where the map goes; the caller destroys it
 * @return what dpumap_channel_get() and doca_mmap_create_from_export() return, and
 *         DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_import(struct dpumap_channel *channel, const char *name,
					       struct doca_dev *dev, struct doca_mmap **mmap);

/**
 * Connect to dpumapd's device over RDMA, to read and write an export that is reached in this way:
 * doca_rdma_export(), an exchange of details with dpumapd, and doca_rdma_connect() in one. Tasks on
 * the connection reach this export and no other. dpumapd drops its end when all that was got of the
 * export is released, when the export changes or ends, and when the channel is destroyed or loses
 * its connection: from then on tasks fail. It holds up to 64 of a channel.
 *
 * @param channel connected
 * @param name of an export that was got or imported and not released
 * @param rdma on the device of the import, its context running
 * @param connection where the connection goes; it is rdma's, as one of doca_rdma_export()
 * @return what dpumap_channel_get() and doca_rdma_export() return, and
 *         DOCA_ERROR_INVALID_VALUE for NULL or another kind of network,
 *         DOCA_ERROR_NOT_PERMITTED when the export was not got,
 *         DOCA_ERROR_NOT_SUPPORTED when it is reached in another way,
 *         DOCA_ERROR_FULL when there are too many connections,
 *         DOCA_ERROR_DRIVER when a device fails, or has no way to the other one: dpumapd
 * may have disconnected us
 */
DOCA_EXPERIMENTAL doca_error_t
dpumap_channel_connect_rdma(struct dpumap_channel *channel, const char *name,
			    struct doca_rdma *rdma, struct doca_rdma_connection **connection);

/**
 * Hear of exports that come, change and go, from now on; also after the connection was lost and is
 * back. What dpumapd revokes is revoked before it is told.
 *
 * @param channel connected
 * @param heard called by dpumap_channel_process()
 * @param user_data for it
 * @return as dpumap_channel_list()
 */
DOCA_STABLE doca_error_t dpumap_channel_watch(struct dpumap_channel *channel,
					      dpumap_channel_watch_cb_t heard,
					      union doca_data user_data);

/**
 * Tell what happened, without waiting; keep the connection alive, and try to have it again when it
 * was lost: first soon, then more and more seldom, up to every 30 seconds. To be called when the
 * handle is readable and at least as often as dpumap_channel_get_next_time() says.
 *
 * @param channel one that was connected
 * @return DOCA_SUCCESS, also while it is being tried again,
 *         DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when it was never connected
 */
DOCA_STABLE doca_error_t dpumap_channel_process(struct dpumap_channel *channel);

/**
 * What to poll for reading. It is the same for the channel's life.
 *
 * @param channel in any state
 * @param handle where it goes; the channel's
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_get_notification_handle(
	const struct dpumap_channel *channel, doca_notification_handle_t *handle);

/**
 * How long until dpumap_channel_process() has something to do by itself.
 *
 * @param channel in any state
 * @param milliseconds where it goes; a time-out for poll()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_get_next_time(const struct dpumap_channel *channel,
						      int *milliseconds);

/**
 * What the last failed call failed of, as one line for people.
 *
 * @param channel in any state
 * @return the line, good until the next call; "" if none failed
 */
DOCA_STABLE const char *dpumap_channel_get_error(const struct dpumap_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
