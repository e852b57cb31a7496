/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses of dpumapd: unix:PATH or just PATH (with a colon only after a slash) on the same
 * machine; tls:HOST:PORT or
 * tls:[IPV6]:PORT from another one.
 */
#ifndef DPUMAP_CHANNEL_ADDRESS_H
#define DPUMAP_CHANNEL_ADDRESS_H

#include <stddef.h>
#include <sys/un.h>

#include "local/error.h"

#define DPUMAP_HOST_MAX 254 /* with the NUL */
#define DPUMAP_PORT_MAX 6   /* with the NUL */

enum dpumap_address_kind {
	DPUMAP_ADDRESS_UNIX,
	DPUMAP_ADDRESS_TLS,
};

struct dpumap_address {
	enum dpumap_address_kind kind;
	struct sockaddr_un path;
	char host[DPUMAP_HOST_MAX];
	char port[DPUMAP_PORT_MAX];
};

/* INVALID_VALUE with the reason. */
doca_error_t dpumap_address_parse(const char *text, struct dpumap_address *address,
				  struct dpumap_error *error);
/* The socket on which dpumapd listens by default: $XDG_RUNTIME_DIR/dpumapd.sock or
 * /run/dpumapd.sock.
 */
void dpumap_address_default_path(char *path, size_t size);
/* The socket to which clients connect by default: $XDG_RUNTIME_DIR/dpumapd.sock, the socket of the
 * packaged service, or that of its socket unit: the first with a server. Else the one above.
 */
void dpumap_address_find_default(char *path, size_t size);

#endif
