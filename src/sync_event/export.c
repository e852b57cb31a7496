/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include <stdlib.h>

#include "core/mmap/mmap.h"
#include "log/log.h"
#include "secret/secret.h"
#include "sync_event/blob.h"

#define NET_ACCESS                                                                   \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))
#define PCI_ACCESS (NET_ACCESS | (uint32_t)DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* --- exporting -------------------------------------------------------------------------------- */

static doca_error_t open_map(const struct doca_sync_event *event, struct sync_export *e)
{
	doca_error_t result = doca_mmap_create(&e->map);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(e->map, event->cell, sizeof(*event->cell));
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(e->map, e->to_net ? NET_ACCESS : PCI_ACCESS);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(e->map, e->dev);
	return result == DOCA_SUCCESS ? doca_mmap_start(e->map) : result;
}

static doca_error_t write_blob(struct sync_export *e)
{
	const void *desc;
	doca_error_t result;
	size_t len;

	result = e->to_net ? doca_mmap_export_rdma(e->map, e->dev, &desc, &len)
			   : doca_mmap_export_pci(e->map, e->dev, &desc, &len);
	if (result != DOCA_SUCCESS)
		return result;
	e->blob = dpumap_secret_alloc(SYNC_BLOB_HEADER + len);
	if (!e->blob)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory to export a sync event");
	e->len = SYNC_BLOB_HEADER + len;
	dpumap_sync_blob_seal(e->blob, e->to_net, desc, len);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sync_destroy_map(struct doca_mmap *map)
{
	return doca_mmap_destroy(map) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_DRIVER;
}

static doca_error_t close_export(struct sync_export *e)
{
	doca_error_t result = e->map ? dpumap_sync_destroy_map(e->map) : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_secret_free(e->blob, e->len);
	free(e);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sync_end_exports(struct doca_sync_event *event)
{
	struct sync_export *first;

	while ((first = event->exports)) {
		struct sync_export *next = first->next;

		doca_error_t result = close_export(first);

		if (result != DOCA_SUCCESS)
			return result;
		event->exports = next;
	}
	return DOCA_SUCCESS;
}

static doca_error_t fill_export(struct doca_sync_event *event, struct sync_export *e)
{
	doca_error_t result = open_map(event, e);

	if (result == DOCA_SUCCESS)
		result = write_blob(e);
	if (result == DOCA_SUCCESS && !event->counter)
		result = dpumap_sync_open_counter(event, e->map, e->dev, (uintptr_t)event->cell);
	return result;
}

/* If an export that failed cannot be closed, it is closed when the event stops. */
static doca_error_t add_export(struct doca_sync_event *event, struct doca_dev *dev, bool to_net,
			       struct sync_export **added)
{
	struct sync_export *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory to export a sync event");
	e->dev = dev;
	e->to_net = to_net;
	result = fill_export(event, e);
	if (result == DOCA_SUCCESS) {
		*added = e;
	} else if (close_export(e) == DOCA_SUCCESS) {
		return result;
	} else {
		e->dev = NULL;
	}
	e->next = event->exports;
	event->exports = e;
	return result;
}

/* Map an error to those that doca_sync_event.h documents for exports. */
static doca_error_t export_error(doca_error_t result)
{
	switch (result) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_NOT_SUPPORTED:
	case DOCA_ERROR_NO_MEMORY:
		return result;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

static doca_error_t find_or_export(struct doca_sync_event *event, struct doca_dev *dev, bool to_net,
				   const uint8_t **data, size_t *sz)
{
	struct sync_export *e = event->exports;
	doca_error_t result = DOCA_SUCCESS;

	while (e && (e->dev != dev || e->to_net != to_net))
		e = e->next;
	if (!e)
		result = export_error(add_export(event, dev, to_net, &e));
	if (result != DOCA_SUCCESS)
		return result;
	*data = e->blob;
	*sz = e->len;
	return DOCA_SUCCESS;
}

static doca_error_t refuse_locations(const struct doca_sync_event *event, const char *function)
{
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: sync event %p %s", function,
			   (const void *)event,
			   event->import ? "was imported: only its creator can export it"
					 : "has other locations: add those of this export before "
					   "starting the event");
}

static doca_error_t check_atomics(const struct doca_dev *dev)
{
	if (dpumap_device_caps(dev->device)->has_atomics)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s does not support atomics",
			   dpumap_hca_name(dev->info.hca));
}

static bool is_on_card(enum sync_location location)
{
	return location == SYNC_CPU || location == SYNC_REMOTE_PCI;
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
						  struct doca_dev *dev, const uint8_t **data,
						  size_t *sz)
{
	doca_error_t result;

	if (!event || !dev || !data || !sz)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_check_started(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	result = check_atomics(dev);
	if (result != DOCA_SUCCESS)
		return result;
	if (event->import || !is_on_card(event->publisher) || !is_on_card(event->subscriber))
		return refuse_locations(event, __func__);
	return find_or_export(event, dev, false, data, sz);
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
						  const uint8_t **data, size_t *sz)
{
	doca_error_t result;

	if (!event || !data || !sz)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_check_started(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (event->publisher != SYNC_REMOTE_NET || event->subscriber != SYNC_CPU)
		return refuse_locations(event, __func__);
	result = check_atomics(event->subscriber_dev);
	if (result != DOCA_SUCCESS)
		return result;
	return find_or_export(event, event->subscriber_dev, true, data, sz);
}

/* --- importing -------------------------------------------------------------------------------- */

doca_error_t dpumap_sync_import(struct doca_dev *dev, const uint8_t *data, size_t sz, bool to_net,
				struct doca_mmap **map)
{
	struct doca_mmap *created;
	const uint8_t *desc;
	doca_error_t result;
	size_t len;

	result = dpumap_sync_blob_open(data, sz, to_net, &desc, &len);
	if (result == DOCA_SUCCESS)
		result = check_atomics(dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create_from_export(NULL, desc, len, dev, &created);
	if (result != DOCA_SUCCESS)
		return result;
	if (created->range.len != sizeof(uint64_t) || created->range.addr % sizeof(uint64_t) ||
	    !created->slots[0].peer_key != !to_net) {
		doca_mmap_destroy(created);
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import of a sync event: its memory is not a counter");
	}
	*map = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						size_t sz, struct doca_sync_event **event)
{
	struct doca_sync_event *created;
	doca_error_t result;

	if (!dev || !data || !event)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_create(&created);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_sync_import(dev, data, sz, false, &created->import);
	if (result != DOCA_SUCCESS) {
		dpumap_ctx_release(&created->ctx);
		return result;
	}
	created->addr = created->import->range.addr;
	dpumap_dev_add_user(dev);
	created->ctx.dev = dev;
	*event = created;
	return DOCA_SUCCESS;
}
