/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sync events of RDMA peers, for the tasks of doca_rdma on them. */
#ifndef DPUMAP_SYNC_EVENT_REMOTE_NET_H
#define DPUMAP_SYNC_EVENT_REMOTE_NET_H

#include <doca_sync_event.h>

struct doca_dev;

/* Where the exporter has the counter of 8 bytes, and the key by which peers access it. */
struct dpumap_remote_counter {
	uint64_t addr;
	uint32_t key;
};

/* DOCA_ERROR_NOT_FOUND: the sync event was imported with another device. */
doca_error_t dpumap_sync_event_remote_net_find(const struct doca_sync_event_remote_net *event,
					       const struct doca_dev *dev,
					       struct dpumap_remote_counter *counter);

#endif
