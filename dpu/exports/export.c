/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_mmap.h>
#include <dpumap/dev.h>

#include "common/size.h"
#include "dpu/base/log.h"
#include "dpu/exports/export_map.h"
#include "dpu/rdma/rdma_conns.h"

/* What only an export over RDMA has. */
struct rdma_side {
	struct dpumap_device device;
	struct rdma_conns conns;
	bool is_stuck; /* a connection cannot be ended: the device stays open */
};

/* There may be very many. */
struct named_export {
	struct export_spec spec; /* its name is that below */
	uint64_t id;
	struct rdma_side *rdma; /* NULL over PCI */
	struct memory *memory;
	struct export_map map;
	struct registration *registration; /* that runs, or has failed; NULL: neither */
	uint64_t num_imports;		   /* how often connected clients hold the descriptor */
	uint64_t num_abandoned;		   /* how often clients disconnected without releasing it */
	bool takes_all;			   /* the size was "max" */
	bool is_released;		   /* a client released it, and may have kept a copy */
	char name[];
};

static bool is_over_rdma(const struct named_export *export)
{
	return export->spec.via == EXPORT_VIA_RDMA;
}

static const struct dpumap_device *device_of(const struct named_export *e,
					     const struct dpumap_device *shared)
{
	return e->rdma ? &e->rdma->device : shared;
}

void export_log(const struct named_export *e, const struct dpumap_device *device, const char *what)
{
	char size[DPUMAP_SIZE_TEXT_MAX], state[48];

	dpumap_size_format(e->spec.size, size);
	snprintf(state, sizeof(state), "descriptor of %zu bytes", e->map.desc_len);
	log_line("export %s %s: %s, %s, %s, over %s, %s, on %s", e->spec.name, what,
		 export_kind_name(e->spec.kind), size,
		 e->spec.writable ? "read-write" : "read-only",
		 e->spec.via == EXPORT_VIA_RDMA ? "RDMA" : "PCI",
		 e->map.desc ? state : "not yet registered", device->name);
}

/* False when a connection remains. */
static bool drop_connections(struct rdma_side *rdma)
{
	rdma->is_stuck = !rdma_conns_drop_all(&rdma->conns);
	return !rdma->is_stuck;
}

/* Destroying the map would revoke the descriptor too, but takes as long as its memory is large. */
static bool revoke_map(const struct dpumap_device *device, struct named_export *export)
{
	if (is_over_rdma(export))
		return drop_connections(export->rdma);
	return export_map_revoke(device, &export->map) == DOCA_SUCCESS;
}

void export_end(const struct dpumap_device *device, struct named_export *export)
{
	if (!revoke_map(device, export))
		export_map_destroy(&export->map);
}

static void destroy_rdma(struct rdma_side *rdma)
{
	if (rdma && !rdma->is_stuck && rdma->device.dev)
		doca_dev_close(rdma->device.dev);
	free(rdma);
}

static void destroy_parts(struct named_export *e)
{
	doca_error_t result = export_map_destroy(&e->map);

	if (e->rdma)
		drop_connections(e->rdma);
	if (e->map.mmap) {
		memory_keep_bytes(e->memory);
		log_error("export %s: cannot destroy its map, so its descriptor stays valid: %s; "
			  "restart dpumapd",
			  e->spec.name, doca_error_get_descr(result));
	}
	memory_destroy(e->memory);
	destroy_rdma(e->rdma);
	free(e->registration);
}

void export_destroy(struct named_export *export)
{
	if (!export)
		return;
	destroy_parts(export);
	export->spec.name = NULL;
	export_spec_free(&export->spec);
	free(export);
}

static doca_error_t check_via(const struct dpumap_device *device, const struct export_spec *spec,
			      struct dpumap_error *error)
{
	bool is_rdma = spec->via == EXPORT_VIA_RDMA;
	dpumap_device_cap *cap =
		is_rdma ? dpumap_device_can_connect : doca_mmap_cap_is_export_pci_supported;
	uint8_t supported = 0;
	doca_error_t result = cap(doca_dev_as_devinfo(device->dev), &supported);

	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "export %s: cannot query the capabilities of %s",
					 spec->name, device->name);
	if (supported)
		return DOCA_SUCCESS;
	return dpumap_error_set(
		error, DOCA_ERROR_NOT_SUPPORTED,
		is_rdma ? "export %s: device %s cannot export memory over RDMA"
			: "export %s: device %s cannot export memory over PCI; use via=rdma",
		spec->name, device->name);
}

static doca_error_t no_memory(const struct export_spec *spec, struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for export %s", spec->name);
}

/*
 * A memory key is valid on every connection of its device, and easily guessed: therefore each
 * export over RDMA has a device of its own.
 */
static doca_error_t open_own(const struct dpumap_device *shared, struct named_export *e,
			     struct dpumap_error *error)
{
	if (e->spec.via != EXPORT_VIA_RDMA)
		return DOCA_SUCCESS;
	e->rdma = calloc(1, sizeof(*e->rdma));
	if (!e->rdma)
		return no_memory(&e->spec, error);
	return dpumap_device_open_own(shared, &e->rdma->device, error);
}

/* With the spec, which is the caller's until finish(). */
static struct named_export *allocate(const struct export_spec *spec, struct dpumap_error *error)
{
	size_t len = strlen(spec->name) + 1;
	struct named_export *e = calloc(1, sizeof(*e) + len);

	if (!e) {
		no_memory(spec, error);
		return NULL;
	}
	e->spec = *spec;
	e->spec.name = memcpy(e->name, spec->name, len);
	return e;
}

/* Takes the spec over if the creation succeeded. */
static doca_error_t finish(struct named_export *e, doca_error_t result, struct export_spec *spec,
			   struct named_export **export)
{
	if (result != DOCA_SUCCESS) {
		destroy_parts(e);
		free(e); /* the caller still owns the spec */
		return result;
	}
	e->takes_all = spec->size == EXPORT_SIZE_MAX;
	free(spec->name);
	export_spec_init(spec);
	*export = e;
	return DOCA_SUCCESS;
}

doca_error_t export_create(const struct dpumap_device *device, struct export_spec *spec, bool later,
			   struct named_export **export, struct dpumap_error *error)
{
	struct named_export *e = allocate(spec, error);
	doca_error_t result;

	if (!e)
		return error->code;
	result = check_via(device, &e->spec, error);
	if (result == DOCA_SUCCESS)
		result = open_own(device, e, error);
	device = device_of(e, device);
	if (result == DOCA_SUCCESS)
		result = memory_create(device, &e->spec, &e->memory, error);
	if (result == DOCA_SUCCESS && (!later || e->rdma))
		result = export_map_make(device, &e->spec, e->memory, &e->map, error);
	return finish(e, result, spec, export);
}

doca_error_t export_create_successor(const struct dpumap_device *device,
				     const struct named_export *old, struct export_spec *spec,
				     struct named_export **export, struct dpumap_error *error)
{
	struct named_export *e = allocate(spec, error);
	doca_error_t result;

	if (!e)
		return error->code;
	e->spec.size = old->spec.size;
	result = export_map_make(device_of(old, device), &e->spec, old->memory, &e->map, error);
	return finish(e, result, spec, export);
}

void export_succeed(struct named_export *export, struct named_export *old)
{
	export->memory = old->memory;
	memory_set_spec(export->memory, &export->spec);
	old->memory = NULL;
	export->rdma = old->rdma;
	old->rdma = NULL;
}

bool export_is(const struct named_export *export, const struct export_spec *spec)
{
	struct export_spec now = export->spec;

	if (export->takes_all)
		now.size = EXPORT_SIZE_MAX;
	return export_spec_is_equal(&now, spec);
}

bool export_has_memory_of(const struct named_export *export, const struct export_spec *spec)
{
	struct export_spec now = export->spec;

	if (export->takes_all)
		now.size = EXPORT_SIZE_MAX;
	now.writable = spec->writable;
	now.allow = spec->allow;
	if (export->spec.kind == EXPORT_FILE && export->spec.writable != spec->writable)
		return false;
	/* Who loses a right may have a dma-buf, which only the end of the memory revokes. */
	if (memory_is_shared(export->memory) && export_spec_takes_rights(spec, &export->spec))
		return false;
	return export_spec_is_equal(&now, spec);
}

void export_set_file(struct named_export *export, uint32_t file)
{
	export->spec.file = file;
	export->spec.is_temporary = false;
}

void export_swap_labels(struct named_export *export, struct export_labels *labels)
{
	struct export_labels before = export->spec.labels;

	export->spec.labels = *labels;
	*labels = before;
}

static void forget_holders(struct named_export *export)
{
	export->num_imports = 0;
	export->num_abandoned = 0;
	export->is_released = false;
}

/* --- registration ----------------------------------------------------------------------------- */

struct registration {
	struct work work;
	const struct dpumap_device *device;
	struct named_export *export;
	struct export_map map; /* the worker's until the end */
	doca_error_t result;
	struct dpumap_error error;
	bool has_failed;
	export_registered_fn *registered;
	void *context;
};

static void run_registration(void *context)
{
	struct registration *r = context;
	const struct named_export *e = r->export;

	r->result = export_map_make(r->device, &e->spec, e->memory, &r->map, &r->error);
}

static void end_registration(void *context)
{
	struct registration *r = context;
	struct named_export *export = r->export;
	export_registered_fn *registered = r->registered;
	void *to = r->context;

	export->map = r->map;
	r->has_failed = r->result != DOCA_SUCCESS;
	if (!r->has_failed) {
		free(r);
		export->registration = NULL;
	}
	registered(to, export);
}

bool export_is_registered(const struct named_export *export)
{
	return export->map.desc;
}

bool export_is_registering(const struct named_export *export)
{
	return export->registration && !export->registration->has_failed;
}

const struct dpumap_error *export_registration_error(const struct named_export *export)
{
	const struct registration *r = export->registration;

	return r && r->has_failed ? &r->error : NULL;
}

doca_error_t export_begin_registering(struct workers *workers, const struct dpumap_device *device,
				      struct named_export *export, export_registered_fn *registered,
				      void *context, struct dpumap_error *error)
{
	struct registration *r = calloc(1, sizeof(*r));
	doca_error_t result;

	if (!r)
		return no_memory(&export->spec, error);
	r->work = (struct work){.run = run_registration, .ended = end_registration, .context = r};
	r->device = device_of(export, device);
	r->export = export;
	r->map = export->map;
	r->registered = registered;
	r->context = context;
	result = workers_start(workers, &r->work, error);
	if (result != DOCA_SUCCESS) {
		free(r);
		return result;
	}
	free(export->registration);
	export->registration = r;
	return DOCA_SUCCESS;
}

/* --- holders ---------------------------------------------------------------------------------- */

void export_acquire(struct named_export *export)
{
	export->num_imports++;
}

/* Over RDMA a descriptor without a connection is useless, and stays. */
void export_release(struct named_export *export)
{
	if (export->num_imports > 0)
		export->num_imports--;
	export->is_released = !is_over_rdma(export);
}

void export_abandon(struct named_export *export, uint64_t num)
{
	if (num > export->num_imports)
		num = export->num_imports;
	export->num_imports -= num;
	if (!is_over_rdma(export))
		export->num_abandoned += num;
}

bool export_is_rekey_due(const struct named_export *export)
{
	return export->is_released && export->num_imports == 0;
}

uint64_t export_num_imports(const struct named_export *export)
{
	return export->num_imports;
}

uint64_t export_num_outstanding(const struct named_export *export)
{
	return export->num_imports + export->num_abandoned;
}

static doca_error_t end_connections(struct named_export *export, struct dpumap_error *error)
{
	if (drop_connections(export->rdma))
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_DRIVER,
				"export %s: cannot end its connections on %s: remove the export",
				export->spec.name, export->rdma->device.name);
}

static doca_error_t revoke(const struct dpumap_device *device, struct named_export *export,
			   struct dpumap_error *error)
{
	doca_error_t result;

	if (is_over_rdma(export))
		return end_connections(export, error);
	/* The descriptor that is being made is nobody's yet. */
	if (export_is_registering(export))
		return DOCA_SUCCESS;
	result = export_map_revoke(device, &export->map);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(
			error, result,
			"export %s: cannot revoke its descriptor on %s, which stays valid: remove "
			"the export",
			export->spec.name, device->name);
	return DOCA_SUCCESS;
}

doca_error_t export_rekey(const struct dpumap_device *device, struct named_export *export,
			  struct dpumap_error *error)
{
	doca_error_t result = revoke(device, export, error);
	struct dpumap_error later = {0};

	if (result != DOCA_SUCCESS)
		return result;
	forget_holders(export);
	if (export->map.desc || !export->map.mmap || export_is_registering(export))
		return DOCA_SUCCESS;
	/* The next client's request for the descriptor tries again. */
	if (export_map_make(device, &export->spec, export->memory, &export->map, &later) !=
	    DOCA_SUCCESS)
		log_from(DPUMAP_LINE_ERROR, "changed keys", "%s", later.text);
	return DOCA_SUCCESS;
}

uint64_t export_id(const struct named_export *export)
{
	return export->id;
}

void export_set_id(struct named_export *export, uint64_t id)
{
	export->id = id;
}

const struct export_spec *export_get_spec(const struct named_export *export)
{
	return &export->spec;
}

void export_describe(const struct named_export *export, struct dpumap_export_info *info)
{
	snprintf(info->name, sizeof(info->name), "%s", export->spec.name);
	snprintf(info->kind, sizeof(info->kind), "%s", export_kind_name(export->spec.kind));
	info->size = export->spec.size;
	info->access = export_map_access(&export->spec);
}

void export_descriptor(const struct named_export *export, const void **desc, size_t *len)
{
	*desc = export->map.desc;
	*len = export->map.desc_len;
}

doca_error_t export_check_connects(const struct named_export *export, struct dpumap_error *error)
{
	if (is_over_rdma(export))
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
				"export %s is over PCI: it takes no RDMA connections",
				export->spec.name);
}

/* Adds the name of the export. */
static doca_error_t no_connection(const struct named_export *export, doca_error_t result,
				  const struct dpumap_error *why, struct dpumap_error *error)
{
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		dpumap_error_set(error, result, "export %s: %.200s", export->spec.name, why->text);
	return result;
}

doca_error_t export_connect(struct named_export *export, const void *owner,
			    const struct rdma_details *details, struct cm_listener *cm,
			    struct rdma_details *answer, struct dpumap_error *error)
{
	doca_error_t result = export_check_connects(export, error);
	struct dpumap_error why = {0};

	if (result != DOCA_SUCCESS)
		return result;
	result = rdma_conns_add(&export->rdma->conns, export->rdma->device.dev,
				export_map_rdma_access(&export->spec), owner, details, cm, answer,
				&why);
	return no_connection(export, result, &why, error);
}

doca_error_t export_finish_connecting(struct named_export *export, const void *owner,
				      struct rdma_details *answer, struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	doca_error_t result = rdma_conns_finish(&export->rdma->conns, owner, answer, &why);

	return no_connection(export, result, &why, error);
}

doca_error_t export_accept(struct named_export *export, const void *owner,
			   struct rdma_cm_id *request, struct cm_listener *cm,
			   struct dpumap_error *error)
{
	doca_error_t result = export_check_connects(export, error);
	struct dpumap_error why = {0};

	if (result != DOCA_SUCCESS)
		return result;
	result = rdma_conns_accept(&export->rdma->conns, export->rdma->device.dev,
				   export_map_rdma_access(&export->spec), owner, export->id,
				   request, cm, &why);
	return no_connection(export, result, &why, error);
}

doca_error_t export_finish_accepting(struct named_export *export, struct rdma_conn *conn,
				     struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	doca_error_t result = rdma_conn_accept(conn, &why);

	return no_connection(export, result, &why, error);
}

void export_disconnect(struct named_export *export, const void *owner)
{
	if (export->rdma)
		rdma_conns_drop(&export->rdma->conns, owner);
}

doca_error_t export_check_range(const struct named_export *export, uint64_t offset, uint64_t len,
				struct dpumap_error *error)
{
	uint64_t size = export->spec.size;

	if (offset > size || len > size - offset)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export %s has %" PRIu64 " bytes: the range of %" PRIu64
					" bytes at offset %" PRIu64 " ends outside it",
					export->spec.name, size, len, offset);
	return DOCA_SUCCESS;
}

/* Events of its own context are those of the shared one, or of one queue pair: only their memory counts. */
static void discard_events(const struct named_export *export)
{
	enum dpumap_dev_event event = DPUMAP_DEV_EVENT_PORT_UP;

	while (export->rdma && event != DPUMAP_DEV_EVENT_FATAL &&
	       dpumap_dev_next_event(export->rdma->device.dev, &event) == DOCA_SUCCESS)
		;
}

doca_error_t export_check(const struct named_export *export, struct dpumap_error *error)
{
	discard_events(export);
	return memory_check(export->memory, error);
}

bool export_needs_sync(const struct named_export *export)
{
	return memory_needs_sync(export->memory);
}

doca_error_t export_begin_sync(const struct named_export *export, struct workers *workers,
			       void (*ended)(void *context), void *context, struct file_sync **sync,
			       struct dpumap_error *error)
{
	return memory_begin_sync(export->memory, workers, ended, context, sync, error);
}

doca_error_t export_read(struct named_export *export, uint64_t offset, size_t len,
			 const void **data, struct dpumap_error *error)
{
	return memory_read(export->memory, offset, len, data, error);
}

doca_error_t export_share(const struct named_export *export, int *fd, struct dpumap_error *error)
{
	if (!export->spec.writable)
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"export %s is read-only, and a dma-buf allows writes",
					export->spec.name);
	return memory_share(export->memory, fd, error);
}
