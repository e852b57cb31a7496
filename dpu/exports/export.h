/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One named export: memory and a map of it that clients may import. Each state that a client may
 * have a descriptor of has an id, which is never used again.
 */
#ifndef DPUMAPD_EXPORT_H
#define DPUMAPD_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/message.h"
#include "common/device.h"
#include "dpu/base/workers.h"
#include "dpu/spec/export_spec.h"

struct cm_listener;
struct file_sync;
struct named_export;
struct rdma_cm_id;
struct rdma_conn;
struct rdma_details;

/*
 * Takes the spec over on success. device is shared by all exports over PCI. Registering much memory
 * takes long: these functions and export_destroy() may run in any thread. later: an export over PCI is
 * not registered before export_begin_registering().
 */
doca_error_t export_create(const struct dpumap_device *device, struct export_spec *spec, bool later,
			   struct named_export **export, struct dpumap_error *error);
/*
 * Creates an export of the memory of another one, which must not be destroyed before
 * export_succeed().
 */
doca_error_t export_create_successor(const struct dpumap_device *device,
				     const struct named_export *old, struct export_spec *spec,
				     struct named_export **export, struct dpumap_error *error);
/*
 * Revokes the descriptor and ends all connections: no client reaches the memory from then on. What
 * the device refuses, export_destroy() tries again.
 */
void export_end(const struct dpumap_device *device, struct named_export *export);
/* Moves the memory of an export that has ended to its successor. */
void export_succeed(struct named_export *export, struct named_export *old);
/* Ends the export, which is not being registered, and frees its memory. NULL is allowed. */
void export_destroy(struct named_export *export);
void export_log(const struct named_export *export, const struct dpumap_device *device,
		const char *what);

uint64_t export_id(const struct named_export *export);
void export_set_id(struct named_export *export, uint64_t id);
const struct export_spec *export_get_spec(const struct named_export *export);
/* What follows changes nothing for clients: the file that a configured export comes from. */
void export_set_file(struct named_export *export, uint32_t file);
/* Exchanges the labels. */
void export_swap_labels(struct named_export *export, struct export_labels *labels);
/* Does spec describe this export apart from its labels, or at least the same memory? */
bool export_is(const struct named_export *export, const struct export_spec *spec);
bool export_has_memory_of(const struct named_export *export, const struct export_spec *spec);
void export_describe(const struct named_export *export, struct dpumap_export_info *info);

bool export_is_registered(const struct named_export *export);
bool export_is_registering(const struct named_export *export);
/* Why it could not be registered, the last time; NULL: no reason. */
const struct dpumap_error *export_registration_error(const struct named_export *export);
/*
 * A worker registers the memory, which takes long for much of it, and creates the descriptor. Until registered(), which
 * is called in the loop, also on failure, the export must not end.
 */
typedef void export_registered_fn(void *context, struct named_export *export);
doca_error_t export_begin_registering(struct workers *workers, const struct dpumap_device *device,
				      struct named_export *export, export_registered_fn *registered,
				      void *context, struct dpumap_error *error);
/* Counts one more holder of the descriptor. The export is registered. */
void export_acquire(struct named_export *export);
/* A client releases the descriptor: counts one holder less. */
void export_release(struct named_export *export);
/* Clients disconnected that had not released the descriptor: counts num holders less. */
void export_abandon(struct named_export *export, uint64_t num);
/* Must the descriptor be replaced? A client released it, and no connected client holds it. */
bool export_is_rekey_due(const struct named_export *export);
/* How often connected clients hold the descriptor. */
uint64_t export_num_imports(const struct named_export *export);
/* How often clients got the valid descriptor and did not release it, connected or not. */
uint64_t export_num_outstanding(const struct named_export *export);
/* The descriptor: a secret, valid until the export changes. */
void export_descriptor(const struct named_export *export, const void **desc, size_t *len);
/*
 * Replaces the descriptor of an export over PCI, or ends the connections of one over RDMA, which
 * revokes all imports. On failure they are still valid.
 */
doca_error_t export_rekey(const struct dpumap_device *device, struct named_export *export,
			  struct dpumap_error *error);

/*
 * Connects the client that owner identifies over RDMA (rdma_conns.h); NOT_SUPPORTED for an export
 * over PCI. Connections last until they are dropped, or the export changes or ends.
 */
doca_error_t export_connect(struct named_export *export, const void *owner,
			    const struct rdma_details *details, struct cm_listener *cm,
			    struct rdma_details *answer, struct dpumap_error *error);
doca_error_t export_finish_connecting(struct named_export *export, const void *owner,
				      struct rdma_details *answer, struct dpumap_error *error);
/* The same for a request of the client to the address of dpumapd, which it takes over. */
doca_error_t export_accept(struct named_export *export, const void *owner,
			   struct rdma_cm_id *request, struct cm_listener *cm,
			   struct dpumap_error *error);
doca_error_t export_finish_accepting(struct named_export *export, struct rdma_conn *conn,
				     struct dpumap_error *error);
/* NOT_SUPPORTED for an export over PCI. */
doca_error_t export_check_connects(const struct named_export *export, struct dpumap_error *error);
/* Drops all connections of the owner to this export. */
void export_disconnect(struct named_export *export, const void *owner);

/* memory_share() of its memory; NOT_PERMITTED if the export is read-only. */
doca_error_t export_share(const struct named_export *export, int *fd, struct dpumap_error *error);
/* INVALID_VALUE when the range is not within the export. */
doca_error_t export_check_range(const struct named_export *export, uint64_t offset, uint64_t len,
				struct dpumap_error *error);
/* memory_check() of its memory. */
doca_error_t export_check(const struct named_export *export, struct dpumap_error *error);
/* memory_needs_sync() and memory_begin_sync() of its memory. */
bool export_needs_sync(const struct named_export *export);
doca_error_t export_begin_sync(const struct named_export *export, struct workers *workers,
			       void (*ended)(void *context), void *context, struct file_sync **sync,
			       struct dpumap_error *error);
/* memory_read() of its memory. */
doca_error_t export_read(struct named_export *export, uint64_t offset, size_t len,
			 const void **data, struct dpumap_error *error);

#endif
