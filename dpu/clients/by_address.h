/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMA connections, as far as the connection manager has to do with them. By address: finds the client of a
 * request by its ticket, and gives the request to the export. Requests without a valid ticket are rejected.
 * By details: the end of the search for the client's address wakes its session.
 */
#ifndef DPUMAPD_BY_ADDRESS_H
#define DPUMAPD_BY_ADDRESS_H

#include "dpu/clients/session.h"
#include "dpu/exports/export_table.h"
#include "dpu/rdma/cm_listener.h"

struct by_address;

/* Borrows the loop, and the list that *sessions begins. wake() ends the sleep of a session's job. */
doca_error_t by_address_create(struct loop *loop, struct session *const *sessions,
			       void (*wake)(struct session *session),
			       struct by_address **by_address, struct dpumap_error *error);
/* All sessions have ended. NULL is allowed. */
void by_address_destroy(struct by_address *by_address);
/* To be called before the loop runs. */
void by_address_set_exports(struct by_address *by_address, struct export_table *exports);
/* To change the address. */
struct cm_listener *by_address_listener(const struct by_address *by_address);
/* Where clients connect; NULL: nowhere. */
const struct cm_endpoint *by_address_endpoint(const struct by_address *by_address);

#endif
