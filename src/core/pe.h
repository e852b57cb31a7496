/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_CORE_PE_H
#define DPUMAP_CORE_PE_H

#include "core/ctx.h"
#include "device/events.h"

/* Events of a device, for queues of a context that starts; to be let go when it stops. */
doca_error_t dpumap_pe_get_events(struct doca_pe *pe, struct doca_dev *dev,
				  struct dpumap_events **events);
void dpumap_pe_put_events(struct doca_pe *pe, struct dpumap_events *events);

/* There is work that no device will tell of. */
void dpumap_pe_kick(struct doca_pe *pe);

void dpumap_pe_disconnect(struct doca_ctx *ctx);

#endif
