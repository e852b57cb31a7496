/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parts together: what is exported, who is served, and what changes while it runs. */
#ifndef DPUMAPD_DAEMON_H
#define DPUMAPD_DAEMON_H

#include "exports.h"
#include "options.h"
#include "server.h"

struct daemon;

/* Everything up to the moment when clients can come. Borrows the options. */
doca_error_t daemon_create(const struct options *options, struct daemon **daemon,
			   struct dpumap_fault *fault);
/* Ends every connection, revokes every export. NULL is allowed. */
void daemon_destroy(struct daemon *daemon);
/* Returns when told to stop (SUCCESS) or when the waiting itself fails. */
doca_error_t daemon_run(struct daemon *daemon, struct dpumap_fault *fault);

/* From a signal handler. */
void daemon_stop(void);
void daemon_ask_reload(void);

/*
 * Reads the configuration again: exports, who may import them, TLS files and limits; device, user
 * and addresses are as at the start. What is wrong as a whole changes nothing; an export that
 * cannot be made does not keep the others.
 */
doca_error_t daemon_reload(struct daemon *daemon, struct dpumap_fault *fault);

/* The first address that it listens on, for people; with a free port chosen, that one. */
const char *daemon_address(const struct daemon *daemon);

struct exports *daemon_exports(struct daemon *daemon);
const struct server *daemon_server(const struct daemon *daemon);

#endif
