/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of RDMA connections that DOCA lacks: private data in the request of a connection by
 * address, and the addresses of a connection by exchanged details.
 */
#ifndef DPUMAP_RDMA_H
#define DPUMAP_RDMA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_rdma;
struct doca_rdma_addr;
struct doca_rdma_connection;

/** Most bytes of private data in the request of a connection (IBA volume 1, A11.4.2). */
#define DPUMAP_RDMA_REQUEST_DATA_MAX 56

/**
 * Connect to a server by its address, like doca_rdma_connect_to_addr(), and send private data with the
 * request. A server that uses librdmacm finds the data in the event of the request, followed by zeros
 * up to DPUMAP_RDMA_REQUEST_DATA_MAX bytes. The network carries the data unencrypted.
 *
 * Thread safety: as doca_rdma_connect_to_addr().
 *
 * @param rdma a running context
 * @param addr the server's address, in use until the connection is established or has failed
 * @param private_data bytes for the server, which are copied; or NULL
 * @param private_data_len number of bytes; 0 if private_data is NULL
 * @param connection_user_data passed to the state callbacks of the connection
 * @return
 * - DOCA_SUCCESS: a state callback reports whether the connection was established or failed
 * - DOCA_ERROR_INVALID_VALUE: an object is NULL; or the private data is NULL with a length, or too
 *   long
 * - DOCA_ERROR_BAD_STATE: the context is not running
 * - DOCA_ERROR_NOT_SUPPORTED: this machine has no connection manager
 * - DOCA_ERROR_CONNECTION_ABORTED: the device or the system refuses, or has no memory
 */
DOCA_STABLE doca_error_t dpumap_rdma_connect_to_addr(struct doca_rdma *rdma,
						     struct doca_rdma_addr *addr,
						     const void *private_data,
						     uint8_t private_data_len,
						     union doca_data connection_user_data);

/**
 * Get the IP addresses that doca_rdma_connect() would connect. doca_rdma_connect() waits while the kernel
 * searches for the peer's link address, for one second if nothing answers. A program that must not wait
 * searches first, for example with rdma_resolve_addr() of librdmacm: then the kernel knows the address.
 *
 * Thread safety: as doca_rdma_connect().
 *
 * @param rdma_connection made by doca_rdma_export(), and not connected
 * @param remote_rdma_conn_details the peer's details, as for doca_rdma_connect()
 * @param remote_rdma_conn_details_size their size in bytes
 * @param own set to the address of this end, with port 0
 * @param peer set to the address of the peer, with port 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the details are malformed
 * - DOCA_ERROR_BAD_STATE: the connection was not made by doca_rdma_export(), is connected or has ended
 * - DOCA_ERROR_NOT_SUPPORTED: doca_rdma_connect() does not search: one end is on InfiniBand, or only one
 *   of the addresses is of IPv4. Not logged.
 */
DOCA_STABLE doca_error_t dpumap_rdma_connection_get_ips(
	const struct doca_rdma_connection *rdma_connection, const void *remote_rdma_conn_details,
	size_t remote_rdma_conn_details_size, struct sockaddr_storage *own,
	struct sockaddr_storage *peer);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_RDMA_H */
