/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/**
 * The connection of a host agent to dpumapd. It lists and imports exports and reports changes.
 *
 * This is the interface of libdpumap-channel (pkg-config dpumap-channel). It contains what
 * libdpumap does not need: TLS and the protocol between host agents and dpumapd. Over TCP, both
 * sides authenticate with certificates or with a pre-shared key. Over a Unix socket on one machine,
 * the kernel identifies the client.
 *
 * Thread safety: only one thread at a time may use a channel. Different threads may use different
 * channels at once. A call blocks until dpumapd replies, at most for the time of
 * dpumap_channel_set_timeout().
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

/** Properties of an export, known before it is imported. */
struct dpumap_channel_export {
	const char *name; /**< name, 1 to 63 printable characters */
	const char *kind; /**< kind: "dm", "dram", "file" or "dmabuf" */
	uint64_t size;	  /**< number of bytes */
	uint32_t access;  /**< bits of enum doca_access_flag for PCI or for RDMA */
};

/** Events that a watcher receives. */
enum dpumap_channel_event {
	DPUMAP_CHANNEL_ADDED = 0,   /**< the export can be imported */
	DPUMAP_CHANNEL_CHANGED = 1, /**< earlier imports are invalid: import again */
	DPUMAP_CHANNEL_REMOVED = 2, /**< earlier imports are invalid; the export is gone */
	DPUMAP_CHANNEL_LOST = 3,    /**< connection lost, reconnecting; name is NULL */
	DPUMAP_CHANNEL_BACK = 4,    /**< reconnected: import again; name is NULL */
};

/**
 * Report an export of a list.
 *
 * @param user_data the value passed to dpumap_channel_list()
 * @param export_info the export; valid during the call
 */
typedef void (*dpumap_channel_list_cb_t)(union doca_data user_data,
					 const struct dpumap_channel_export *export_info);

/**
 * Report the answer for one name of dpumap_channel_get_many().
 *
 * @param user_data the value passed to dpumap_channel_get_many()
 * @param index index of the name
 * @param result DOCA_SUCCESS, or why there is no descriptor: dpumap_channel_get_error() describes it during the call
 * @param descriptor the descriptor, which contains a key to the memory; valid during the call; NULL if there is none
 * @param len number of bytes of the descriptor, at most DPUMAP_CHANNEL_DESCRIPTOR_MAX; 0 if there is none
 */
typedef void (*dpumap_channel_get_cb_t)(union doca_data user_data, size_t index,
					doca_error_t result, const void *descriptor, size_t len);

/**
 * Report an event. Only dpumap_channel_process() calls this function. It may use the channel, but
 * not destroy it.
 *
 * @param user_data the value passed to dpumap_channel_watch()
 * @param event the event
 * @param name name of the export; valid during the call
 */
typedef void (*dpumap_channel_watch_cb_t)(union doca_data user_data,
					  enum dpumap_channel_event event, const char *name);

/**
 * Create a channel, which is not connected.
 *
 * @param channel out: the channel, owned by the caller until dpumap_channel_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted, or no file descriptor is available
 */
DOCA_STABLE doca_error_t dpumap_channel_create(struct dpumap_channel **channel);

/**
 * Disconnect and destroy a channel. Imported maps and unreleased descriptors stay valid until the
 * key of the export changes, for which dpumapd no longer waits.
 *
 * @param channel the channel; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_destroy(struct dpumap_channel *channel);

/**
 * Set the address of dpumapd.
 *
 * @param channel a channel that is not connected
 * @param address "unix:PATH" or "tls:HOST:PORT"; copied
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the address is not valid
 * - DOCA_ERROR_BAD_STATE: the channel is connected
 */
DOCA_STABLE doca_error_t dpumap_channel_set_address(struct dpumap_channel *channel,
						    const char *address);

/**
 * Authenticate with certificates. The files are read by dpumap_channel_connect(). It refuses a
 * file that other users can write, and a key that other users can read.
 *
 * @param channel a channel that is not connected
 * @param cert PEM file with the certificate of this host and its intermediate certificates
 * @param key PEM file with the private key of @p cert, mode 0600
 * @param ca PEM file with the CA certificates that verify the certificate of dpumapd
 * @param crl PEM file with the revocation lists of these CAs; NULL: no certificate is considered
 *         revoked
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument other than @p crl is NULL
 * - DOCA_ERROR_BAD_STATE: the channel is connected
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_STABLE doca_error_t dpumap_channel_set_certificate(struct dpumap_channel *channel,
							const char *cert, const char *key,
							const char *ca, const char *crl);

/**
 * Authenticate with a pre-shared key instead of certificates.
 *
 * @param channel a channel that is not connected
 * @param file file of keys with lines NAME:HEX, mode 0600
 * @param name name of the key to use; NULL: the first key of the file
 * @return as dpumap_channel_set_certificate()
 */
DOCA_STABLE doca_error_t dpumap_channel_set_psk(struct dpumap_channel *channel, const char *file,
						const char *name);

/**
 * Set the name that the certificate of dpumapd must contain. The default is the host of the
 * address.
 *
 * @param channel a channel that is not connected
 * @param name a DNS name or an address; copied
 * @return as dpumap_channel_set_address()
 */
DOCA_STABLE doca_error_t dpumap_channel_set_server_name(struct dpumap_channel *channel,
							const char *name);

/**
 * Set the time-out of all calls. The default is 10 seconds.
 *
 * @param channel the channel, in any state
 * @param milliseconds time-out in milliseconds, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the channel is NULL, or the time-out is 0
 */
DOCA_STABLE doca_error_t dpumap_channel_set_timeout(struct dpumap_channel *channel,
						    uint32_t milliseconds);

/**
 * Connect to dpumapd. Both sides authenticate.
 *
 * @param channel a channel with an address
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the channel has no address, or is already connected
 * - DOCA_ERROR_NOT_FOUND: the host, the socket or a file does not exist
 * - DOCA_ERROR_NOT_CONNECTED: nothing listens at the address
 * - DOCA_ERROR_AUTHENTICATION: authentication failed on either side
 * - DOCA_ERROR_NOT_PERMITTED: dpumapd has no exports for this host; or other users can change a
 *   file or replace the socket
 * - DOCA_ERROR_BAD_CONFIG: a file has invalid content
 * - DOCA_ERROR_UNSUPPORTED_VERSION: dpumapd uses another version of TLS or of the protocol
 * - DOCA_ERROR_FULL: dpumapd has its maximum number of clients
 * - DOCA_ERROR_TIME_OUT: dpumapd does not answer in time
 */
DOCA_STABLE doca_error_t dpumap_channel_connect(struct dpumap_channel *channel);

/**
 * List the exports that this host may import, in the order of their names.
 *
 * @param channel a connected channel
 * @param each called for each export; must not use the channel
 * @param user_data passed to @p each
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_CONNECTED: the channel is not connected; the next call of this function or of
 *   dpumap_channel_process() tries to reconnect
 * - DOCA_ERROR_CONNECTION_RESET: the connection ends during the call
 * - DOCA_ERROR_TIME_OUT: dpumapd does not answer in time
 */
DOCA_STABLE doca_error_t dpumap_channel_list(struct dpumap_channel *channel,
					     dpumap_channel_list_cb_t each,
					     union doca_data user_data);

/**
 * Get the descriptor of an export. It contains a key to the memory: wipe it after use.
 *
 * @param channel a connected channel
 * @param name name of the export
 * @param descriptor buffer for the descriptor
 * @param len in: number of bytes of the buffer, for which DPUMAP_CHANNEL_DESCRIPTOR_MAX is always
 *         sufficient; out: number of bytes of the descriptor
 * @return as dpumap_channel_list(), and
 * - DOCA_ERROR_NOT_FOUND: there is no such export, or this host may not import it
 * - DOCA_ERROR_TOO_BIG: the buffer is too small
 */
DOCA_STABLE doca_error_t dpumap_channel_get(struct dpumap_channel *channel, const char *name,
					    void *descriptor, size_t *len);

/**
 * Get the descriptors of many exports, in a few round trips. Each name gets the answer that dpumap_channel_get() would
 * give, whatever the others get, and each success is to be released. The memory that this takes does not grow with the
 * number of names, and dpumapd serves its other clients meanwhile.
 *
 * The time-out of dpumap_channel_set_timeout() limits the wait for each answer. If the connection ends, this function
 * returns the reason, which is also the result of each name without an answer. The channel then holds no export; maps
 * and descriptors stay valid as with dpumap_channel_destroy().
 *
 * @param channel a connected channel
 * @param names names of exports in any order, @p num of them, valid during the call; each occurrence of a name gets an
 *         answer
 * @param num number of names, which may be 0
 * @param each called once for each name, in their order; must not use the channel, except dpumap_channel_get_error()
 * @param user_data passed to @p each
 * @return as dpumap_channel_list(): DOCA_SUCCESS if each name has an answer. With DOCA_ERROR_INVALID_VALUE, which also
 * means that a name is NULL, @p each is not called. An answer is the result of dpumap_channel_get(), or
 * - DOCA_ERROR_FULL: the channel holds too many exports: release some
 *
 * Source: dpumap.
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_channel_get_many(struct dpumap_channel *channel,
						       const char *const *names, size_t num,
						       dpumap_channel_get_cb_t each,
						       union doca_data user_data);

/**
 * Get a dma-buf of the device memory of an export of this machine's dpumapd, for programs and devices of this machine:
 * see dpumap_dm_export_dmabuf(). The channel holds the export as with dpumap_channel_get().
 *
 * Who has the dma-buf reads and writes the memory until the export is removed, also after dpumap_channel_release() and
 * the end of the channel. If a new configuration takes a right of a client of the export, dpumapd gives the export new
 * memory, without its content, which revokes the dma-buf.
 *
 * @param channel a connected channel, to a Unix socket
 * @param name name of an export of kind "dm" that can be written
 * @param fd out: a new descriptor, with close-on-exec; the caller closes it
 * @param len out: number of bytes of the export; the dma-buf has whole pages and may be longer
 * @return as dpumap_channel_list(), and
 * - DOCA_ERROR_NOT_FOUND: there is no such export, or this client may not import it
 * - DOCA_ERROR_NOT_PERMITTED: the export is read-only
 * - DOCA_ERROR_NOT_SUPPORTED: the channel is not to a Unix socket, the export is of another kind, or the rdma-core of
 *   dpumapd, its kernel or its device do not export device memory
 * - DOCA_ERROR_IN_USE: dpumapd is changing its exports; try again
 * - DOCA_ERROR_UNEXPECTED: this process has no descriptor left
 *
 * Source: dpumap.
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_channel_get_dmabuf(struct dpumap_channel *channel,
							 const char *name, int *fd, size_t *len);

/**
 * Release the descriptor of an export, once for each dpumap_channel_get(), dpumap_channel_get_dmabuf() and
 * dpumap_channel_import(). As soon as no connected client holds the export, all descriptors of it
 * that a client got so far are invalid. A client that disconnects no longer holds any.
 *
 * @param channel a connected channel
 * @param name name of the export
 * @return as dpumap_channel_get(), and
 * - DOCA_ERROR_NOT_PERMITTED: the channel does not hold the descriptor
 */
DOCA_STABLE doca_error_t dpumap_channel_release(struct dpumap_channel *channel, const char *name);

/**
 * Get an export and create a map of it: dpumap_channel_get() and doca_mmap_create_from_export() in
 * one call, which does not expose the descriptor. Release the export after the map was destroyed.
 *
 * @param channel a connected channel
 * @param name name of the export
 * @param dev an open device of the card that exports the memory; for an export over RDMA, any
 *         device that can reach that card
 * @param mmap out: the map, owned by the caller until doca_mmap_destroy()
 * @return the results of dpumap_channel_get() and doca_mmap_create_from_export(), and
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_import(struct dpumap_channel *channel, const char *name,
					       struct doca_dev *dev, struct doca_mmap **mmap);

/**
 * Connect to the device of dpumapd over RDMA, to read and write an export over RDMA. This is
 * doca_rdma_export(), an exchange of connection details with dpumapd, and doca_rdma_connect() in
 * one call.
 *
 * Tasks on the connection can access only this export. dpumapd ends the connection when the
 * channel has released the export, when the export changes or is removed, and when the channel is
 * destroyed or loses its connection. Tasks then fail. A channel can have at most 64 such
 * connections.
 *
 * @param channel a connected channel
 * @param name name of an export that the channel holds, from dpumap_channel_get() or
 *         dpumap_channel_import()
 * @param rdma an RDMA object on the device of the import, whose context is RUNNING
 * @param connection out: the connection, owned by @p rdma as with doca_rdma_export()
 * @return the results of dpumap_channel_get() and doca_rdma_export(), and
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or dpumapd is on another kind of network
 * - DOCA_ERROR_NOT_PERMITTED: the channel does not hold the export
 * - DOCA_ERROR_NOT_SUPPORTED: the export is not over RDMA
 * - DOCA_ERROR_FULL: there are too many connections
 * - DOCA_ERROR_DRIVER: a device fails or cannot reach the other device; dpumapd may have
 *   disconnected the channel
 */
DOCA_EXPERIMENTAL doca_error_t
dpumap_channel_connect_rdma(struct dpumap_channel *channel, const char *name,
			    struct doca_rdma *rdma, struct doca_rdma_connection **connection);

/**
 * Watch for exports that are added, changed or removed, from now on and also after the connection
 * was lost and reopened. dpumapd revokes an export before it reports the event.
 *
 * @param channel a connected channel
 * @param heard called by dpumap_channel_process()
 * @param user_data passed to @p heard
 * @return as dpumap_channel_list()
 */
DOCA_STABLE doca_error_t dpumap_channel_watch(struct dpumap_channel *channel,
					      dpumap_channel_watch_cb_t heard,
					      union doca_data user_data);

/**
 * Report events without blocking, keep the connection alive, and reconnect with exponential
 * backoff of up to 30 seconds if the connection was lost. To connect takes several calls, of which none
 * waits. Call this function when the notification handle is readable, and at least as often as
 * dpumap_channel_get_next_time() requires.
 *
 * @param channel a channel that was connected before
 * @return
 * - DOCA_SUCCESS: also while the channel is reconnecting
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the channel was never connected
 */
DOCA_STABLE doca_error_t dpumap_channel_process(struct dpumap_channel *channel);

/**
 * Get the file descriptor to poll for reading. A channel has one such file descriptor for its
 * whole life.
 *
 * @param channel the channel, in any state
 * @param handle out: the file descriptor, owned by the channel
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_get_notification_handle(
	const struct dpumap_channel *channel, doca_notification_handle_t *handle);

/**
 * Get the time after which dpumap_channel_process() must be called even if the notification handle
 * is not readable.
 *
 * @param channel the channel, in any state
 * @param milliseconds out: the time in milliseconds, as a time-out for poll()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_channel_get_next_time(const struct dpumap_channel *channel,
						      int *milliseconds);

/**
 * Get a one-line description of the last error.
 *
 * @param channel the channel, in any state
 * @return the description, valid until the next call; "" if no call has failed
 */
DOCA_STABLE const char *dpumap_channel_get_error(const struct dpumap_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
