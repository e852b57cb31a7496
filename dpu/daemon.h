/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The daemon: exports, server, admin socket and metrics, and their reconfiguration. */
#ifndef DPUMAPD_DAEMON_H
#define DPUMAPD_DAEMON_H

#include "export_table.h"
#include "options.h"
#include "server.h"

struct daemon;

/*
 * Refuses what daemon_create() refuses, as far as that needs neither sockets nor the device. Changes
 * nothing, also if the daemon is running.
 */
doca_error_t daemon_check(const struct options *options, struct dpumap_fault *fault);
/* Prepares everything that clients need. Borrows the options. */
doca_error_t daemon_create(const struct options *options, struct daemon **daemon,
			   struct dpumap_fault *fault);
/* Ends every connection, revokes every export. NULL is allowed. */
void daemon_destroy(struct daemon *daemon);
/* Serves until daemon_stop() (SUCCESS) or until waiting fails. */
doca_error_t daemon_run(struct daemon *daemon, struct dpumap_fault *fault);

/* Both may be called from a signal handler. */
void daemon_stop(void);
void daemon_ask_reload(void);

/*
 * Reads the configuration again: exports, authorized peers, addresses, TLS files and limits. A
 * configuration that is invalid, or that changes what only a start can apply, changes nothing; an
 * export that cannot be created does not affect the others.
 */
doca_error_t daemon_reload(struct daemon *daemon, struct dpumap_fault *fault);

/* The first address listened on, for the ready line; with the port chosen if it was 0. */
const char *daemon_address(const struct daemon *daemon);

struct export_table *daemon_exports(struct daemon *daemon);
const struct server *daemon_server(const struct daemon *daemon);

#endif
