/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies between local buffers and an export, many at once. */
#ifndef DPUMAP_HOST_IMPORT_QUEUE_H
#define DPUMAP_HOST_IMPORT_QUEUE_H

#include <poll.h>

#include "host/import/import.h"

/* Posts a copy of up to max_request bytes. AGAIN: poll first. */
doca_error_t import_post(struct import *import, struct import_piece *piece,
			 struct dpumap_error *error);
/*
 * Adds the bytes of copies that have completed, in the order in which they were posted, to done[] by
 * direction. Does not wait.
 */
doca_error_t import_poll(struct import *import, uint64_t done[static IMPORT_DIRECTIONS],
			 struct dpumap_error *error);
/*
 * To be called after a poll that found nothing: waits a little for copies in flight, or, if there are
 * none, until one of the descriptors is ready. With spin, it polls for a while before it sleeps.
 * TIME_OUT: no copy completed for too long. SHUTDOWN: interrupted.
 */
doca_error_t import_wait(struct import *import, bool spin, struct pollfd *fds, nfds_t num_fds,
			 struct dpumap_error *error);

#endif
