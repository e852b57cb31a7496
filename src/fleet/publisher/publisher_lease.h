/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The lease of a publisher: granted, renewed, lost and revoked. */
#ifndef DPUMAP_FLEET_PUBLISHER_LEASE_H
#define DPUMAP_FLEET_PUBLISHER_LEASE_H

#include "fleet/publisher/publisher_priv.h"

struct json_object;

/* The answer to the request for a lease. */
void dpumap_publisher_granted(struct dpumap_publisher *p, struct json_object *json);
void dpumap_publisher_begin_renewal(struct dpumap_publisher *p);
/* The lease ended while this DPU lives: everything is published again, under a new one. */
void dpumap_publisher_lease_lost(struct dpumap_publisher *p);
/* Waits for the answer: the next DPU may take the name at once. */
void dpumap_publisher_revoke(struct dpumap_publisher *p, unsigned int wait_ms);

#endif
