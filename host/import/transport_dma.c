/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/import/transport.h"

#include <doca_mmap.h>

#include "common/memlock.h"

static doca_error_t open_queue(struct import *import, struct dpumap_client *client,
			       struct dpumap_error *error)
{
	enum dpumap_dma_engine engine = DPUMAP_DMA_ENGINE_RDMA;
	doca_error_t result;

	(void)client;
	result = dpumap_dma_create(import->device.dev, IMPORT_QUEUE_DEPTH, &import->dma);
	if (result == DOCA_SUCCESS)
		result = dpumap_dma_get_engine(import->dma, &engine);
	if (result == DOCA_SUCCESS)
		result = dpumap_dma_get_max_len(import->dma, &import->max_request);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0, "cannot create a copy queue on %s",
					    import->device.name);
	import->engine = engine == DPUMAP_DMA_ENGINE_MMO ? "MMO DMA" : "RDMA read/write";
	return DOCA_SUCCESS;
}

static doca_error_t post(struct import *import, const struct import_piece *piece)
{
	if (piece->direction == IMPORT_PUT)
		return dpumap_dma_memcpy(import->dma, import->map, piece->remote_addr, piece->local,
					 piece->local_addr, piece->len, piece->tag);
	return dpumap_dma_memcpy(import->dma, piece->local, piece->local_addr, import->map,
				 piece->remote_addr, piece->len, piece->tag);
}

static doca_error_t poll_queue(struct import *import, struct dpumap_dma_completion *out,
			       uint32_t max, uint32_t *n)
{
	return dpumap_dma_poll(import->dma, out, max, n);
}

static bool close_queue(struct import *import)
{
	return !import->dma || dpumap_dma_destroy(import->dma) == DOCA_SUCCESS;
}

const struct transport transport_dma = {
	.is_supported = doca_mmap_cap_is_create_from_export_pci_supported,
	.capability = "import memory over PCI",
	.open = open_queue,
	.post = post,
	.poll = poll_queue,
	.close = close_queue,
};
