/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The connections with something for the program, in the order in which they got it. */
#ifndef DPUMAP_COMCH_READY_H
#define DPUMAP_COMCH_READY_H

#include "comch/connection/connection_priv.h"

/* NO_MEMORY, not logged. */
doca_error_t dpumap_comch_ready_init(struct comch_owner *owner);
void dpumap_comch_ready_destroy(struct comch_owner *owner);

/* There is something for the program, or the connection ended. The connection is locked. Any thread. */
void dpumap_comch_ready_add(struct doca_comch_connection *connection);
/* The first one, or NULL. */
struct doca_comch_connection *dpumap_comch_ready_take(struct comch_owner *owner);
void dpumap_comch_ready_forget(struct comch_owner *owner, struct doca_comch_connection *connection);

#endif
