/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A client looks for its server. Nothing blocks; see link.h about descriptors. */
#ifndef DPUMAP_COMCH_DIAL_H
#define DPUMAP_COMCH_DIAL_H

#include "comch/link/link.h"
#include "comch/link/place.h"

struct dpumap_comch_dial;

/* Looks for a server that is not there yet again, for wait_ms. Copies the place. */
doca_error_t dpumap_comch_dial_create(const struct dpumap_comch_place *place, unsigned int wait_ms,
				      struct dpumap_comch_dial **dial);
/*
 * Call it once after create and then whenever the descriptor is readable, or as often as you like.
 * SUCCESS: *link is the caller's. IN_PROGRESS: not yet. Everything else is final and was logged:
 * NOT_FOUND (no server after wait_ms), NOT_PERMITTED (the server, or a directory, belongs to another
 * user; or dpumapd does not allow it), AUTHENTICATION (TLS), CONNECTION_RESET, BAD_CONFIG,
 * NOT_SUPPORTED (a server elsewhere needs libdpumap-channel, which is missing), TIME_OUT.
 */
doca_error_t dpumap_comch_dial_poll(struct dpumap_comch_dial *dial,
				    struct dpumap_comch_link **link);
int dpumap_comch_dial_fd(const struct dpumap_comch_dial *dial);
/* Ends what is not finished. dial may be NULL. */
void dpumap_comch_dial_destroy(struct dpumap_comch_dial *dial);

#endif
