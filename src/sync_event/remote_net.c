/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/remote_net.h"

#include <stdlib.h>

#include "core/mmap/resolve.h"
#include "log/log.h"
#include "sync_event/sync_event.h"

struct doca_sync_event_remote_net {
	struct doca_mmap *map;
};

static doca_error_t import_net(struct doca_dev *dev, const uint8_t *data, size_t sz,
			       struct doca_mmap **map)
{
	return dpumap_sync_import(dev, data, sz, true, map);
}

doca_error_t
doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
					      struct doca_sync_event_remote_net **event)
{
	struct doca_sync_event_remote_net *created;
	doca_error_t result;

	if (!dev || !data || !event)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a sync event");
	result = import_net(dev, data, sz, &created->map);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_destroy_map(event->map);
	if (result != DOCA_SUCCESS)
		return result;
	free(event);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sync_event_remote_net_find(const struct doca_sync_event_remote_net *event,
					       const struct doca_dev *dev,
					       struct dpumap_remote_counter *counter)
{
	doca_error_t result = dpumap_mmap_resolve_peer(event->map, dev, &counter->key);

	if (result == DOCA_SUCCESS)
		counter->addr = event->map->range.addr;
	return result;
}
