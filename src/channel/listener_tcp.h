/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening on TCP sockets. */
#ifndef DPUMAP_CHANNEL_LISTENER_TCP_H
#define DPUMAP_CHANNEL_LISTENER_TCP_H

#include "channel/address.h"
#include "local/error.h"

/* A listening TCP socket, which is the caller's. NOT_FOUND; as dpumap_error_errno(). */
doca_error_t dpumap_listen_tcp(const struct dpumap_address *address, int *fd,
			       struct dpumap_error *error);

#endif
