/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The steps of a publisher, one request after the other: a lease, the claim of the name, checks, changes. */
#ifndef DPUMAP_FLEET_PUBLISHER_STEPS_H
#define DPUMAP_FLEET_PUBLISHER_STEPS_H

#include "fleet/publisher/publisher_priv.h"

enum publisher_step dpumap_publisher_due_step(const struct dpumap_publisher *p);
void dpumap_publisher_begin_step(struct dpumap_publisher *p);

#endif
