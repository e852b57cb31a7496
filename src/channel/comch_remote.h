/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A client of doca_comch on its way to a server on another machine. It connects to the dpumapd of the
 * configuration, asks for the server, ends that TLS session, and begins a second one with the server
 * on the same connection, which dpumapd passes to the server. See local/comch_tls.h.
 */
#ifndef DPUMAP_CHANNEL_COMCH_REMOTE_H
#define DPUMAP_CHANNEL_COMCH_REMOTE_H

#include "local/comch_tls.h"

doca_error_t dpumap_comch_remote_create(const struct dpumap_comch_place *place,
					struct dpumap_comch_remote **remote,
					struct dpumap_error *error);
doca_error_t dpumap_comch_remote_poll(struct dpumap_comch_remote *remote,
				      struct dpumap_comch_session **session,
				      char identity[DPUMAP_COMCH_IDENTITY_SIZE],
				      struct dpumap_error *error);
void dpumap_comch_remote_retry(struct dpumap_comch_remote *remote);
int dpumap_comch_remote_fd(const struct dpumap_comch_remote *remote);
void dpumap_comch_remote_destroy(struct dpumap_comch_remote *remote);

#endif
