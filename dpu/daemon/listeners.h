/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where dpumapd accepts clients: at the addresses of the settings, and at the sockets that systemd has passed. */
#ifndef DPUMAPD_LISTENERS_H
#define DPUMAPD_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "channel/listener.h"
#include "dpu/clients/server.h"
#include "dpu/settings/settings.h"

struct listeners {
	struct server *server;
	bool is_starting; /* waits until another server has left an address */
	bool has_adopted_tcp;
};

/*
 * A listener at one address. Another server may be starting there. A start waits for it, unless asked to
 * stop (SHUTDOWN); a reload does not, because it has clients (IN_USE).
 */
doca_error_t listeners_create_one(const struct listeners *listeners,
				  const struct dpumap_address *address, bool open_to_all,
				  struct dpumap_listener **listener, struct dpumap_error *error);

/* Takes sockets from systemd over. One of them may be at an address of the configuration. */
doca_error_t listeners_adopt(struct listeners *listeners, struct dpumap_error *error);
/*
 * Opens the addresses that are not open yet: waits for the resolver, and may run in a worker while no other thread
 * changes the listeners. On failure and afterwards, they are to be closed.
 */
struct opened {
	struct dpumap_listener **list;
	size_t num;
};

doca_error_t listeners_open(const struct listeners *listeners, const struct settings *settings,
			    struct opened *opened, struct dpumap_error *error);
/* Gives them to the server. Nothing is accepted there before listeners_use(). */
doca_error_t listeners_add(const struct listeners *listeners, struct opened *opened,
			   struct dpumap_error *error);
/* Closes those that the server did not get. */
void listeners_close(struct opened *opened);
/* Accepts connections at the addresses of the settings and at the sockets from systemd, and nowhere else. */
void listeners_use(struct listeners *listeners, const struct settings *settings, bool open_to_all);

/* Writes all addresses, those of the settings first, with ", " between them. Returns their number. */
size_t listeners_describe(const struct listeners *listeners, const struct settings *settings,
			  FILE *out);

#endif
