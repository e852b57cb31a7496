/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The object. */
#ifndef DPUMAP_SYNC_EVENT_EVENT_H
#define DPUMAP_SYNC_EVENT_EVENT_H

#include "sync_event/sync_event.h"

/* An event without a counter yet. */
doca_error_t dpumap_sync_create(struct doca_sync_event **event);

/* Log and return BAD_STATE unless the event is started. */
doca_error_t dpumap_sync_check_started(const struct doca_sync_event *event, const char *function);
/* Create the queue for the counter in a map's memory. */
doca_error_t dpumap_sync_open_counter(struct doca_sync_event *event, const struct doca_mmap *map,
				      struct doca_dev *dev, uint64_t addr);

#endif
