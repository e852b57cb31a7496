/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports and imports of sync events. */
#ifndef DPUMAP_SYNC_EVENT_EXPORT_H
#define DPUMAP_SYNC_EVENT_EXPORT_H

#include "sync_event/sync_event.h"

/* Import the map of a counter, over PCI or from an RDMA peer. */
doca_error_t dpumap_sync_import(struct doca_dev *dev, const uint8_t *data, size_t sz, bool to_net,
				struct doca_mmap **map);
doca_error_t dpumap_sync_destroy_map(struct doca_mmap *map);
/* End all exports. On failure call again. */
doca_error_t dpumap_sync_end_exports(struct doca_sync_event *event);

#endif
