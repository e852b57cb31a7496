/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The daemon: exports, server, admin socket and metrics, and their reconfiguration. */
#ifndef DPUMAPD_DAEMON_H
#define DPUMAPD_DAEMON_H

#include <stdint.h>
#include <stdio.h>

#include "dpu/clients/server.h"
#include "dpu/exports/export_table.h"
#include "dpu/registry/registry.h"
#include "dpu/settings/options.h"

struct daemon;

/* Prepares everything that clients need. Borrows the options. SHUTDOWN after signals_ask_stop(). */
doca_error_t daemon_create(const struct options *options, struct daemon **daemon,
			   struct dpumap_error *error);
/* Ends every connection, revokes every export. NULL is allowed. */
void daemon_destroy(struct daemon *daemon);
/* Serves until signals_ask_stop() (SUCCESS) or until waiting fails. */
doca_error_t daemon_run(struct daemon *daemon, struct dpumap_error *error);

/*
 * Changes may take long, and clients are served meanwhile: these functions return AGAIN. If *ticket
 * is 0 then, another change is running, and the caller tries again when that has ended; otherwise
 * the change has begun, and daemon_outcome() returns AGAIN until it has ended. A change that fails
 * changes nothing.
 *
 * Reads the configuration again: exports, authorized peers, addresses, TLS files and limits. A
 * configuration that changes what only a start can apply fails.
 */
doca_error_t daemon_reload(struct daemon *daemon, uint64_t *ticket, struct dpumap_error *error);
/* Takes the spec over if the change has begun. */
doca_error_t daemon_add_export(struct daemon *daemon, struct export_spec *spec, uint64_t *ticket,
			       struct dpumap_error *error);
doca_error_t daemon_remove_export(struct daemon *daemon, const char *name, uint64_t *ticket,
				  struct dpumap_error *error);
/* The result of the change: of the one that ended last if ticket is not that of a running one. */
doca_error_t daemon_outcome(const struct daemon *daemon, uint64_t ticket,
			    struct dpumap_error *error);

/* How many commands of ctl wait for the end of a change? */
unsigned int daemon_num_waiting(const struct daemon *daemon);

/* Writes the addresses listened on, and returns their number (listeners_describe()). */
size_t daemon_describe(const struct daemon *daemon, FILE *out);

struct loop_stats;
void daemon_get_turns(const struct daemon *daemon, struct loop_stats *turns);
struct export_table *daemon_exports(struct daemon *daemon);
/* NOT_FOUND if no such client is connected. Its connections end by and by. */
doca_error_t daemon_disconnect(struct daemon *daemon, const char *identity,
			       struct dpumap_error *error);
/* Are there connections that dpumapd ends, and has not yet? */
bool daemon_ends_clients(const struct daemon *daemon);
/* NULL: none. */
const struct registry *daemon_registry(const struct daemon *daemon);
/* What assesses the certificates for etcd; NULL: none. */
const struct dpumap_tls *daemon_registry_tls(const struct daemon *daemon);
const struct server *daemon_server(const struct daemon *daemon);

#endif
