/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of progress engines, for contexts. */
#ifndef DPUMAP_CORE_PE_PE_H
#define DPUMAP_CORE_PE_PE_H

#include "core/pe/ctx.h"
#include "device/queue/events.h"

/* Get a device's events for the queues of a context that starts; put them when it stops. */
doca_error_t dpumap_pe_get_events(struct doca_pe *pe, struct doca_dev *dev,
				  struct dpumap_events **events);
void dpumap_pe_put_events(struct doca_pe *pe, struct dpumap_events *events);

/* Signal work that no device reports. */
void dpumap_pe_wake(struct doca_pe *pe);

void dpumap_pe_disconnect(struct doca_ctx *ctx);

#endif
