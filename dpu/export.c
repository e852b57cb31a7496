/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/mmap.h>

#include "common/size.h"
#include "say.h"

/* What peers over RDMA may do, of connections as of memory. */
static uint32_t rdma_access_of(const struct export_spec *spec)
{
	return spec->writable ? DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE
			      : DOCA_ACCESS_FLAG_RDMA_READ;
}

static uint32_t pci_access_of(const struct export_spec *spec)
{
	return spec->writable ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY;
}

/* What is read-only may be so to us too: a file that we cannot write. */
static uint32_t access_of(const struct export_spec *spec)
{
	uint32_t ours = spec->writable ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
				       : DOCA_ACCESS_FLAG_LOCAL_READ_ONLY;

	return ours | (spec->via == EXPORT_VIA_RDMA ? rdma_access_of(spec) : pci_access_of(spec));
}

static const struct dpumap_device *device_of(const struct export *e,
					     const struct dpumap_device *shared)
{
	return e->own.dev ? &e->own : shared;
}

static doca_error_t describe(const struct dpumap_device *device, struct export *e)
{
	if (e->spec.via == EXPORT_VIA_RDMA)
		return doca_mmap_export_rdma(e->mmap, device->dev, &e->desc, &e->desc_len);
	return doca_mmap_export_pci(e->mmap, device->dev, &e->desc, &e->desc_len);
}

static doca_error_t start(const struct dpumap_device *device, struct export *e,
			  struct dpumap_fault *fault)
{
	const char *step = "set its permissions";
	doca_error_t result;

	result = doca_mmap_set_permissions(e->mmap, access_of(&e->spec));
	if (result == DOCA_SUCCESS) {
		step = "register its memory";
		result = doca_mmap_start(e->mmap);
	}
	if (result == DOCA_SUCCESS) {
		step = "export it";
		result = describe(device, e);
	}
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot %s on %s", e->spec.name,
					 step, device->name);
	if (e->desc_len > DPUMAP_DESCRIPTOR_MAX)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"export %s: a descriptor of %zu bytes, the channel carries "
					"%u",
					e->spec.name, e->desc_len, DPUMAP_DESCRIPTOR_MAX);
	return DOCA_SUCCESS;
}

static doca_error_t make_map(const struct dpumap_device *device, struct export *e,
			     struct dpumap_fault *fault)
{
	doca_error_t result = doca_mmap_create(&e->mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(e->mmap, device->dev);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot create a map on %s",
					 e->spec.name, device->name);
	result = memory_give_to(e->memory, e->mmap, fault);
	if (result == DOCA_SUCCESS)
		result = start(device, e, fault);
	return result;
}

static void tell(const struct dpumap_device *device, const struct export *e, const char *what)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(e->spec.size, size);
	say("%s %s: %s, %s, %s, over %s, descriptor of %zu bytes, on %s", what, e->spec.name,
	    spec_kind_name(e->spec.kind), size, e->spec.writable ? "read-write" : "read-only",
	    e->spec.via == EXPORT_VIA_RDMA ? "RDMA" : "PCI", e->desc_len, device->name);
}

/* The map's key first: who is connected reaches nothing from then on. */
static void take_down(struct export *e)
{
	doca_error_t result;
	bool is_free;

	if (e->mmap) {
		result = doca_mmap_destroy(e->mmap);
		if (result != DOCA_SUCCESS)
			say("export %s: cannot destroy its map: %s", e->spec.name,
			    doca_error_get_descr(result));
	}
	is_free = links_drop_all(&e->links);
	memory_destroy(e->memory);
	if (is_free && e->own.dev)
		doca_dev_close(e->own.dev);
}

static doca_error_t check_via(const struct dpumap_device *device, const struct export_spec *spec,
			      struct dpumap_fault *fault)
{
	bool is_rdma = spec->via == EXPORT_VIA_RDMA;
	dpumap_device_cap *cap =
		is_rdma ? dpumap_device_can_connect : doca_mmap_cap_is_export_pci_supported;
	uint8_t supported = 0;
	doca_error_t result = cap(doca_dev_as_devinfo(device->dev), &supported);

	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot learn what %s can do",
					 spec->name, device->name);
	if (supported)
		return DOCA_SUCCESS;
	return dpumap_fault_set(fault, DOCA_ERROR_NOT_SUPPORTED,
				is_rdma ? "export %s: %s cannot export memory over RDMA"
					: "export %s: %s cannot export memory over PCI, only via "
					  "rdma",
				spec->name, device->name);
}

/*
 * Any key of a device's memory opens it to any connection of that device, and a key is easily
 * guessed: so each export over RDMA has a device of its own.
 */
static doca_error_t open_own(const struct dpumap_device *shared, struct export *e,
			     struct dpumap_fault *fault)
{
	if (e->spec.via != EXPORT_VIA_RDMA)
		return DOCA_SUCCESS;
	return dpumap_device_open_own(shared, &e->own, fault);
}

doca_error_t export_create(const struct dpumap_device *device, struct export_spec *spec,
			   struct export **export, struct dpumap_fault *fault)
{
	struct export *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for export %s",
					spec->name);
	e->spec = *spec;
	result = check_via(device, &e->spec, fault);
	if (result == DOCA_SUCCESS)
		result = open_own(device, e, fault);
	device = device_of(e, device);
	if (result == DOCA_SUCCESS)
		result = memory_create(device, &e->spec, &e->memory, fault);
	if (result == DOCA_SUCCESS)
		result = make_map(device, e, fault);
	if (result != DOCA_SUCCESS) {
		take_down(e);
		free(e); /* the spec is still the caller's */
		return result;
	}
	e->wanted_size = spec->size;
	spec_init(spec);
	tell(device, e, "exports");
	*export = e;
	return DOCA_SUCCESS;
}

void export_destroy(struct export *export)
{
	take_down(export);
	spec_free(&export->spec);
	free(export);
}

bool export_is(const struct export *export, const struct export_spec *spec)
{
	struct export_spec now = export->spec;

	now.size = export->wanted_size;
	return spec_is_equal(&now, spec);
}

bool export_has_memory_of(const struct export *export, const struct export_spec *spec)
{
	struct export_spec now = export->spec;

	now.size = export->wanted_size;
	now.writable = spec->writable;
	now.allow = spec->allow;
	now.num_allow = spec->num_allow;
	return spec_is_equal(&now, spec) &&
	       (export->spec.kind != EXPORT_FILE || export->spec.writable == spec->writable);
}

doca_error_t export_renew(const struct dpumap_device *device, struct export *export,
			  struct export_spec *spec, struct dpumap_fault *fault)
{
	struct export_spec wanted = *spec;
	doca_error_t result = doca_mmap_stop(export->mmap);

	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot revoke it",
					 export->spec.name);
	links_drop_all(&export->links);
	device = device_of(export, device);
	*spec = export->spec;
	export->spec = wanted;
	export->spec.size = spec->size;
	export->given = 0;
	result = start(device, export, fault);
	if (result == DOCA_SUCCESS)
		tell(device, export, "exports anew");
	return result;
}

doca_error_t export_open(const struct dpumap_device *device, struct export *export,
			 struct dpumap_fault *fault)
{
	doca_error_t result;

	if (export->desc)
		return DOCA_SUCCESS;
	device = device_of(export, device);
	result = describe(device, export);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot export it again on %s",
					 export->spec.name, device->name);
	return DOCA_SUCCESS;
}

doca_error_t export_rekey(const struct dpumap_device *device, struct export *export,
			  struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_mmap_revoke_pci(export->mmap, device->dev);

	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "export %s: cannot revoke it on %s",
					 export->spec.name, device->name);
	export->desc = NULL;
	export->given = 0;
	return export_open(device, export, fault);
}

uint64_t export_id(const struct export *export)
{
	return export->id;
}

const struct export_spec *export_spec(const struct export *export)
{
	return &export->spec;
}

void export_describe(const struct export *export, struct dpumap_export_info *info)
{
	memcpy(info->name, export->spec.name, sizeof(info->name));
	snprintf(info->kind, sizeof(info->kind), "%s", spec_kind_name(export->spec.kind));
	info->size = export->spec.size;
	info->access = access_of(&export->spec);
}

void export_descriptor(const struct export *export, const void **desc, size_t *len)
{
	*desc = export->desc;
	*len = export->desc_len;
}

doca_error_t export_connect(struct export *export, const void *owner, const void *details,
			    size_t len, const void **answer, size_t *answer_len,
			    struct dpumap_fault *fault)
{
	struct dpumap_fault why = {0};
	doca_error_t result;

	if (export->spec.via != EXPORT_VIA_RDMA)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_SUPPORTED,
					"export %s is reached over PCI, not by a connection",
					export->spec.name);
	result = links_add(&export->links, export->own.dev, rdma_access_of(&export->spec), owner,
			   details, len, answer, answer_len, &why);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_set(fault, result, "export %s: %.200s", export->spec.name,
					why.text);
	return DOCA_SUCCESS;
}

void export_disconnect(struct export *export, const void *owner)
{
	links_drop(&export->links, owner);
}

doca_error_t export_check_range(const struct export *export, uint64_t offset, uint64_t len,
				struct dpumap_fault *fault)
{
	uint64_t size = export->spec.size;

	if (offset > size || len > size - offset)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"export %s has %" PRIu64 " bytes: %" PRIu64
					" bytes at %" PRIu64 " are not all within",
					export->spec.name, size, len, offset);
	return DOCA_SUCCESS;
}

doca_error_t export_read(struct export *export, uint64_t offset, size_t len, const void **data,
			 struct dpumap_fault *fault)
{
	return memory_read(export->memory, offset, len, data, fault);
}
