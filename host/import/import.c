/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_mmap.h>

#include "base/clock.h"
#include "common/memlock.h"
#include "host/import/transport.h"

#define REQUEST_MAX ((uint64_t)1 << 20)

doca_error_t import_decode(const void *bytes, size_t len, const char *what,
			   struct dpumap_desc *desc, struct dpumap_error *error)
{
	dpumap_desc_status_t status = dpumap_desc_decode(bytes, len, desc);

	if (status != DPUMAP_DESC_OK)
		return dpumap_error_set(
			error, DOCA_ERROR_INVALID_VALUE,
			"the descriptor of %s (%zu bytes) is not valid: %s (DPUMAP_DESC_ERR_%s)",
			what, len, dpumap_desc_status_descr(status),
			dpumap_desc_status_name(status));
	return DOCA_SUCCESS;
}

/* Chooses the transport; *guid is that of the exporter's card. */
static doca_error_t choose_transport(struct import *import, const struct remote_export *export,
				     uint64_t *guid, struct dpumap_error *error)
{
	struct dpumap_desc desc;
	doca_error_t result;

	result = import_decode(export->desc, export->desc_len, import->name, &desc, error);
	if (result != DOCA_SUCCESS)
		return result;
	import->transport = desc.kind == DPUMAP_DESC_KIND_RDMA ? &transport_rdma : &transport_dma;
	*guid = desc.device_guid;
	dpumap_desc_wipe(&desc);
	return DOCA_SUCCESS;
}

static doca_error_t import_map(struct import *import, const struct remote_export *export,
			       uint64_t guid, struct dpumap_error *error)
{
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, export->desc, export->desc_len,
					      import->device.dev, &import->map);
	if (result != DOCA_SUCCESS && import->transport == &transport_dma)
		return dpumap_error_doca(
			error, result,
			"cannot import %s with device %s: it needs a function of card %016" PRIx64
			", and an export that still exists",
			import->name, import->device.name, guid);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot import %s with device %s",
					 import->name, import->device.name);
	return DOCA_SUCCESS;
}

static doca_error_t query_range(struct import *import, const struct remote_export *export,
				struct dpumap_error *error)
{
	doca_error_t result;
	void *addr;
	size_t len;

	result = doca_mmap_get_memrange(import->map, &addr, &len);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot query the range of %s",
					 import->name);
	if (len != export->info.size)
		return dpumap_error_set(
			error, DOCA_ERROR_UNEXPECTED,
			"%s has %" PRIu64
			" bytes according to dpumapd, but %zu according to its descriptor",
			import->name, export->info.size, len);
	import->base = addr;
	import->size = len;
	return DOCA_SUCCESS;
}

doca_error_t import_open(const struct options *options, struct dpumap_client *client,
			 const struct remote_export *export, struct import *import,
			 struct dpumap_error *error)
{
	doca_error_t result;
	uint64_t guid;

	*import = (struct import){.name = export->info.name,
				  .timeout_ns = options->timeout_s * NSEC_PER_SEC};
	result = choose_transport(import, export, &guid, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_device_open(options->device, import->transport->is_supported,
					    import->transport->capability, &import->device, error);
	if (result == DOCA_SUCCESS)
		result = import_map(import, export, guid, error);
	if (result == DOCA_SUCCESS)
		result = query_range(import, export, error);
	if (result == DOCA_SUCCESS)
		result = import->transport->open(import, client, error);
	if (import->max_request > REQUEST_MAX)
		import->max_request = REQUEST_MAX;
	if (result != DOCA_SUCCESS)
		import_close(import);
	return result;
}

static void destroy_buffer(struct import_buffer *buffer)
{
	if (buffer->map)
		doca_mmap_destroy(buffer->map);
	if (buffer->memory)
		munmap(buffer->memory, buffer->size);
}

void import_close(struct import *import)
{
	/* A queue that cannot be destroyed may still write: keep its memory. */
	if (import->transport && !import->transport->close(import))
		return;
	for (unsigned int i = 0; i < IMPORT_DIRECTIONS; i++)
		destroy_buffer(&import->buffers[i]);
	if (import->map)
		doca_mmap_destroy(import->map);
	if (import->device.dev)
		doca_dev_close(import->device.dev);
	*import = (struct import){0};
}

static doca_error_t start_buffer(struct import *import, struct import_buffer *buffer)
{
	doca_error_t result = doca_mmap_create(&buffer->map);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(buffer->map, buffer->memory, buffer->size);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(buffer->map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(buffer->map, import->device.dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(buffer->map);
	return result;
}

doca_error_t import_add_buffer(struct import *import, enum import_direction direction, size_t size,
			       struct dpumap_error *error)
{
	struct import_buffer *buffer = &import->buffers[direction];
	doca_error_t result;
	void *memory;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return dpumap_error_errno(error, errno, "no memory for a buffer of %zu bytes",
					  size);
	/* A buffer of few pages is registered faster. */
	madvise(memory, size, MADV_HUGEPAGE);
	buffer->memory = memory;
	buffer->size = size;
	result = start_buffer(import, buffer);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, size,
					    "cannot register a buffer of %zu bytes with %s", size,
					    import->device.name);
	return DOCA_SUCCESS;
}
