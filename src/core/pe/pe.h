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

/*
 * Signal work that no device reports, from any thread: make the notification handle readable if the
 * program has armed it. First make the work visible to progress(), is_ready() and is_state_ready()
 * of its context, then wake. The engine must not be destroyed meanwhile.
 */
void dpumap_pe_wake(struct doca_pe *pe);

/*
 * Make the notification handle readable while a descriptor is readable, armed or not. The contexts of
 * an engine may watch one descriptor several times; unwatch it as often, before it is closed. An epoll
 * descriptor can stand for others and for other events. A context reads from its descriptor in the
 * first progress() after doca_pe_clear_notification() or arm(), or the program does not sleep.
 */
doca_error_t dpumap_pe_watch(struct doca_pe *pe, int fd);
void dpumap_pe_unwatch(struct doca_pe *pe, int fd);

/* Connect a context that is not connected. */
void dpumap_pe_connect(struct doca_pe *pe, struct doca_ctx *ctx);
void dpumap_pe_disconnect(struct doca_ctx *ctx);

#endif
