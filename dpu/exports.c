/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_mmap.h>

#include <dpumap/arena.h>
#include <dpumap/dm.h>

#include "common/size.h"
#include "exports.h"
#include "say.h"

/* Device memory is read and written in words. */
#define DM_WORD 4u

struct export
{
	struct export_spec spec;
	void *memory;
	struct dpumap_arena *arena; /* that memory is of, or NULL */
	struct dpumap_dm *dm;
	struct doca_mmap *mmap;
	const void *desc; /* the library's, until the map stops */
	size_t desc_len;
};

struct exports {
	struct dpumap_device device;
	size_t count;
	uint8_t *bounce; /* what was read of device memory */
	struct export list[];
};

static doca_error_t wipe_dm(const struct export *e)
{
	static const uint8_t zeros[4096];
	doca_error_t result = DOCA_SUCCESS;
	size_t len;

	for (size_t at = 0; at < e->spec.size && result == DOCA_SUCCESS; at += len) {
		len = e->spec.size - at < sizeof(zeros) ? e->spec.size - at : sizeof(zeros);
		result = dpumap_dm_write(e->dm, at, zeros, len);
	}
	return result;
}

static doca_error_t check_dm_size(const struct exports *exports, struct export_spec *spec,
				  struct dpumap_fault *fault)
{
	uint64_t max;
	doca_error_t result;

	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(exports->device.dev), &max);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "export %s: cannot learn how much device memory %s has",
					 spec->name, exports->device.name);
	if (max == 0)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_SUPPORTED,
					"export %s: %s has no device memory", spec->name,
					exports->device.name);
	if (spec->size == EXPORT_SIZE_MAX)
		spec->size = max - max % DM_WORD;
	if (spec->size > max)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"export %s: %" PRIu64 " bytes of device memory wanted, %s "
					"has at most %" PRIu64,
					spec->name, spec->size, exports->device.name, max);
	if (spec->size % DM_WORD != 0)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"export %s: the size of device memory is a multiple of %u, "
					"not %" PRIu64,
					spec->name, DM_WORD, spec->size);
	return DOCA_SUCCESS;
}

static doca_error_t check_dm_align(const struct exports *exports, const struct export_spec *spec,
				   struct dpumap_fault *fault)
{
	doca_error_t result;
	uint32_t max;

	result = dpumap_dm_cap_get_max_log_align(doca_dev_as_devinfo(exports->device.dev), &max);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "export %s: cannot learn how %s aligns device memory",
					 spec->name, exports->device.name);
	if (spec->log_align > max)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"export %s: device memory aligned to %" PRIu64
					" bytes wanted, %s can do %" PRIu64,
					spec->name, UINT64_C(1) << spec->log_align,
					exports->device.name, UINT64_C(1) << max);
	return DOCA_SUCCESS;
}

static doca_error_t allocate_dm(struct exports *exports, struct export *e,
				struct dpumap_fault *fault)
{
	doca_error_t result = check_dm_size(exports, &e->spec, fault);

	if (result == DOCA_SUCCESS)
		result = check_dm_align(exports, &e->spec, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dm_alloc(exports->device.dev, e->spec.size, e->spec.log_align, &e->dm);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "export %s: cannot allocate %" PRIu64
					 " bytes of device memory on %s",
					 e->spec.name, e->spec.size, exports->device.name);
	/* The bytes of the last owner are nobody's business. */
	result = wipe_dm(e);
	if (result == DOCA_SUCCESS)
		result = dpumap_mmap_set_dm_memrange(e->mmap, e->dm, 0, e->spec.size);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot use its device memory",
					 e->spec.name);
	return DOCA_SUCCESS;
}

static doca_error_t fill_arena(struct export *e)
{
	struct dpumap_allocator allocator;
	doca_error_t result;

	if (e->spec.huge_pages)
		result = dpumap_arena_create_huge_pages(0, e->spec.size, &e->arena);
	else
		result = dpumap_arena_create_on_node(e->spec.node, e->spec.size, &e->arena);
	if (result == DOCA_SUCCESS)
		result = dpumap_arena_get_allocator(e->arena, &allocator);
	if (result != DOCA_SUCCESS)
		return result;
	e->memory = allocator.alloc(allocator.context, e->spec.size, 1, (enum dpumap_resource)0);
	return e->memory ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t allocate_special(struct export *e, struct dpumap_fault *fault)
{
	doca_error_t result = fill_arena(e);

	if (result == DOCA_SUCCESS)
		return result;
	if (e->spec.huge_pages)
		return dpumap_fault_doca(
			fault, result, "export %s: cannot allocate %" PRIu64 " bytes of huge pages",
			e->spec.name, e->spec.size);
	return dpumap_fault_doca(fault, result,
				 "export %s: cannot allocate %" PRIu64 " bytes on NUMA node %u",
				 e->spec.name, e->spec.size, e->spec.node);
}

static doca_error_t allocate_usual(struct export *e, struct dpumap_fault *fault)
{
	e->memory = mmap(NULL, e->spec.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (e->memory == MAP_FAILED) {
		e->memory = NULL;
		return dpumap_fault_errno(fault, errno,
					  "export %s: cannot allocate %" PRIu64 " bytes",
					  e->spec.name, e->spec.size);
	}
	return DOCA_SUCCESS;
}

static doca_error_t allocate_dram(struct export *e, struct dpumap_fault *fault)
{
	doca_error_t result;

	if (e->spec.huge_pages || e->spec.on_node)
		result = allocate_special(e, fault);
	else
		result = allocate_usual(e, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_set_memrange(e->mmap, e->memory, e->spec.size);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot use its memory",
					 e->spec.name);
	return DOCA_SUCCESS;
}

static uint32_t access_of(const struct export_spec *spec)
{
	return DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
	       (spec->writable ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY);
}

static doca_error_t start_map(struct exports *exports, struct export *e, struct dpumap_fault *fault)
{
	const char *step = "set its permissions";
	doca_error_t result;

	result = doca_mmap_set_permissions(e->mmap, access_of(&e->spec));
	if (result == DOCA_SUCCESS) {
		step = "add the device";
		result = doca_mmap_add_dev(e->mmap, exports->device.dev);
	}
	if (result == DOCA_SUCCESS) {
		step = "register its memory";
		result = doca_mmap_start(e->mmap);
	}
	if (result == DOCA_SUCCESS) {
		step = "export it";
		result = doca_mmap_export_pci(e->mmap, exports->device.dev, &e->desc, &e->desc_len);
	}
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot %s on %s", e->spec.name,
					 step, exports->device.name);
	if (e->desc_len > DPUMAP_DESCRIPTOR_MAX)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"export %s: a descriptor of %zu bytes, the channel carries "
					"%u",
					e->spec.name, e->desc_len, DPUMAP_DESCRIPTOR_MAX);
	return DOCA_SUCCESS;
}

static doca_error_t make_export(struct exports *exports, struct export *e,
				struct dpumap_fault *fault)
{
	char size[DPUMAP_SIZE_TEXT_MAX];
	doca_error_t result;

	result = doca_mmap_create(&e->mmap);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot create a map",
					 e->spec.name);
	if (e->spec.kind == EXPORT_DEVICE_MEMORY)
		result = allocate_dm(exports, e, fault);
	else
		result = allocate_dram(e, fault);
	if (result == DOCA_SUCCESS)
		result = start_map(exports, e, fault);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_size_format(e->spec.size, size);
	say("exports %s: %s, %s, %s, descriptor of %zu bytes, on %s", e->spec.name,
	    options_kind_name(e->spec.kind), size, e->spec.writable ? "read-write" : "read-only",
	    e->desc_len, exports->device.name);
	return DOCA_SUCCESS;
}

static void free_dram(const struct export *e)
{
	struct dpumap_allocator allocator;

	if (!e->arena) {
		if (e->memory)
			munmap(e->memory, e->spec.size);
		return;
	}
	dpumap_arena_get_allocator(e->arena, &allocator);
	if (e->memory)
		allocator.free(allocator.context, e->memory, (enum dpumap_resource)0);
	dpumap_arena_destroy(e->arena);
}

/* Takes down whatever part of an export exists, the map first: from then on nobody reaches it. */
static void unmake_export(struct export *e)
{
	doca_error_t result;

	if (e->mmap) {
		result = doca_mmap_destroy(e->mmap);
		if (result != DOCA_SUCCESS)
			say("export %s: cannot destroy its map: %s", e->spec.name,
			    doca_error_get_descr(result));
	}
	if (e->dm) {
		wipe_dm(e);
		result = dpumap_dm_free(e->dm);
		if (result != DOCA_SUCCESS)
			say("export %s: cannot free its device memory: %s", e->spec.name,
			    doca_error_get_descr(result));
	}
	free_dram(e);
}

static doca_error_t make_all(struct exports *exports, const struct options *options,
			     struct dpumap_fault *fault)
{
	doca_error_t result;

	exports->bounce = malloc(EXPORTS_READ_MAX + (size_t)2 * DM_WORD);
	if (!exports->bounce)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the exports");
	result = dpumap_device_open(options->device, doca_mmap_cap_is_export_pci_supported,
				    "export memory over PCI", &exports->device, fault);
	for (size_t i = 0; i < options->num_exports && result == DOCA_SUCCESS; i++) {
		exports->list[i].spec = options->exports[i];
		exports->count = i + 1;
		result = make_export(exports, &exports->list[i], fault);
	}
	return result;
}

doca_error_t exports_create(const struct options *options, struct exports **exports,
			    struct dpumap_fault *fault)
{
	size_t size = sizeof(struct exports) + options->num_exports * sizeof(struct export);
	struct exports *e = calloc(1, size);
	doca_error_t result;

	if (!e)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the exports");
	result = make_all(e, options, fault);
	if (result != DOCA_SUCCESS) {
		exports_destroy(e);
		return result;
	}
	*exports = e;
	return DOCA_SUCCESS;
}

void exports_destroy(struct exports *exports)
{
	if (!exports)
		return;
	for (size_t i = exports->count; i > 0; i--)
		unmake_export(&exports->list[i - 1]);
	if (exports->device.dev)
		doca_dev_close(exports->device.dev);
	free(exports->bounce);
	free(exports);
}

const char *exports_device_name(const struct exports *exports)
{
	return exports->device.name;
}

doca_error_t exports_dm_usage(const struct exports *exports, struct exports_dm_usage *usage,
			      struct dpumap_fault *fault)
{
	struct doca_dev *dev = exports->device.dev;
	doca_error_t result;

	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(dev), &usage->total);
	if (result == DOCA_SUCCESS)
		result = dpumap_dm_query_free(dev, &usage->longest, &usage->free);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "cannot learn how much device memory %s has free",
					 exports->device.name);
	return DOCA_SUCCESS;
}

size_t exports_count(const struct exports *exports)
{
	return exports->count;
}

doca_error_t exports_find(const struct exports *exports, const char *name, size_t *index,
			  struct dpumap_fault *fault)
{
	for (size_t i = 0; i < exports->count; i++) {
		if (strcmp(exports->list[i].spec.name, name) == 0) {
			*index = i;
			return DOCA_SUCCESS;
		}
	}
	return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND, "there is no export called \"%s\"",
				name);
}

void exports_describe(const struct exports *exports, size_t index, struct dpumap_export_info *info)
{
	const struct export_spec *spec = &exports->list[index].spec;

	memcpy(info->name, spec->name, sizeof(info->name));
	snprintf(info->kind, sizeof(info->kind), "%s", options_kind_name(spec->kind));
	info->size = spec->size;
	info->access = access_of(spec);
}

void exports_descriptor(const struct exports *exports, size_t index, const void **desc, size_t *len)
{
	*desc = exports->list[index].desc;
	*len = exports->list[index].desc_len;
}

doca_error_t exports_check_range(const struct exports *exports, size_t index, uint64_t offset,
				 uint64_t len, struct dpumap_fault *fault)
{
	const struct export_spec *spec = &exports->list[index].spec;

	if (offset > spec->size || len > spec->size - offset)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"export %s has %" PRIu64 " bytes: %" PRIu64
					" bytes at %" PRIu64 " are not all within",
					spec->name, spec->size, len, offset);
	return DOCA_SUCCESS;
}

static doca_error_t read_dm(struct exports *exports, struct export *e, uint64_t offset, size_t len,
			    const void **data, struct dpumap_fault *fault)
{
	size_t skip = offset % DM_WORD;
	size_t words = (skip + len + DM_WORD - 1) / DM_WORD * DM_WORD;
	doca_error_t result;

	result = dpumap_dm_read(e->dm, offset - skip, exports->bounce, words);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot read its device memory",
					 e->spec.name);
	*data = exports->bounce + skip;
	return DOCA_SUCCESS;
}

doca_error_t exports_read(struct exports *exports, size_t index, uint64_t offset, size_t len,
			  const void **data, struct dpumap_fault *fault)
{
	struct export *e = &exports->list[index];

	if (e->spec.kind == EXPORT_DEVICE_MEMORY)
		return read_dm(exports, e, offset, len, data, fault);
	*data = (const uint8_t *)e->memory + offset;
	return DOCA_SUCCESS;
}
