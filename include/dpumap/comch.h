/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the control channel that DOCA lacks: who the peer of a connection is.
 */
#ifndef DPUMAP_COMCH_H
#define DPUMAP_COMCH_H

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_connection;

/**
 * Get the identity of the peer, which was checked when the connection was established:
 * - `uid:N`: the user of a process on the same kernel
 * - `cert:NAME`: the common name of the certificate of a process on another machine
 * - `psk:NAME`: the name of the pre-shared key of a process on another machine
 *
 * Thread safety: callable from any thread as long as the connection is valid.
 *
 * @param connection a connection of a server or a client, also in its disconnect callback
 * @param identity out: the identity, valid as long as the connection
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_comch_connection_get_peer(
	const struct doca_comch_connection *connection, const char **identity);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_COMCH_H */
