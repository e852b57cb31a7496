/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a connection ends. It is locked. */
#ifndef DPUMAP_COMCH_STATE_H
#define DPUMAP_COMCH_STATE_H

#include "comch/connection/connection_priv.h"

/* Disconnect after all that was sent, as soon as there are no endpoints. */
void dpumap_comch_conn_close(struct doca_comch_connection *connection);
/* It has ended: complete its tasks, and tell its endpoints. */
void dpumap_comch_conn_down(struct doca_comch_connection *connection);
/* The peer has taken too long to connect or to disconnect. */
void dpumap_comch_conn_check_deadline(struct doca_comch_connection *connection);
/* End a connection that is CLOSING, if its peer has got all that it will get. */
void dpumap_comch_conn_end_if_shut(struct doca_comch_connection *connection);

#endif
