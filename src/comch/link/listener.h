/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A server waits for its clients. Nothing blocks; see link.h about descriptors. */
#ifndef DPUMAP_COMCH_LISTENER_H
#define DPUMAP_COMCH_LISTENER_H

#include "comch/link/link.h"
#include "comch/link/place.h"

struct dpumap_comch_listener;

/*
 * IN_USE: another server has the place. NOT_PERMITTED: other users could replace the socket. All
 * errors are logged. Clients can connect as soon as this returns.
 */
doca_error_t dpumap_comch_listener_create(const struct dpumap_comch_place *place,
					  struct dpumap_comch_listener **listener);
/*
 * The next client whose checks are done; AGAIN, not logged, if there is none. A client that is
 * refused is logged and closed. Every other error concerns the listener: it is logged, and the next
 * call may succeed.
 */
doca_error_t dpumap_comch_listener_next(struct dpumap_comch_listener *listener,
					struct dpumap_comch_link **link);
/* Covers the clients whose checks are not done yet, and their time limits. */
int dpumap_comch_listener_fd(const struct dpumap_comch_listener *listener);
/* Removes the socket and closes clients whose checks are not done. Links stay. May be NULL. */
void dpumap_comch_listener_destroy(struct dpumap_comch_listener *listener);

#endif
