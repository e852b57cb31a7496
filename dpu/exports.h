/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory that this process owns and exports, by name. Exports come and go and change; each
 * state that somebody may have a descriptor of has an id of its own, which is never used again.
 */
#ifndef DPUMAPD_EXPORTS_H
#define DPUMAPD_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"
#include "spec.h"

struct exports;
struct export;

/* device is a name or a PCI address; NULL: the first that can export, over PCI if there is one. */
doca_error_t exports_create(const char *device, struct exports **exports,
			    struct dpumap_fault *fault);
/* Revokes every export, then gives the memory back. NULL is allowed. */
void exports_destroy(struct exports *exports);

/*
 * Hears of every change once it has taken effect: what was revoked is revoked. was is NULL and its
 * id 0 for an export that is new, is is NULL for one that is gone.
 */
typedef void exports_watch_fn(void *context, const struct export_spec *was, uint64_t was_id,
			      const struct export_spec *is);
void exports_watch(struct exports *exports, exports_watch_fn *heard, void *context);

/* Takes the spec over, which is then empty; on failure it is the caller's. ALREADY_EXIST. */
doca_error_t exports_add(struct exports *exports, struct export_spec *spec,
			 struct dpumap_fault *fault);
/*
 * Somebody gets its descriptor, or does not need it any more: when nobody does, it is void. Over
 * RDMA it is of use only to who is connected, and stays.
 */
doca_error_t exports_give(struct exports *exports, struct export *export,
			  struct dpumap_fault *fault);
void exports_take_back(struct exports *exports, struct export *export);
/* Somebody is to lose it. Over PCI all lose it, and may get it again; over RDMA he did already,
 * with his connections. */
void exports_revoke(struct exports *exports, struct export *export);
/* NOT_FOUND. */
doca_error_t exports_remove(struct exports *exports, const char *name, struct dpumap_fault *fault);
/*
 * Makes the exports those of the list: what is the same stays untouched, with those who have
 * imported it; who may do what changes without losing the bytes; what is else different is made
 * anew. Goes on after a failure, and returns the first. The list is in the order of names; what it
 * consists of afterwards is the caller's to free.
 */
doca_error_t exports_set(struct exports *exports, struct export_spec *specs, size_t num,
			 struct dpumap_fault *fault);

size_t exports_count(const struct exports *exports);
/* In the order of names. */
struct export *exports_get(const struct exports *exports, size_t index);
/* The index of the first export with a name behind this one. */
size_t exports_after(const struct exports *exports, const char *name);
/* NULL with the reason. */
struct export *exports_find(const struct exports *exports, const char *name,
			    struct dpumap_fault *fault);
/* NULL when there is no export of that state any more. */
struct export *exports_of_id(const struct exports *exports, uint64_t id);

uint64_t export_id(const struct export *export);
const struct export_spec *export_spec(const struct export *export);
void export_describe(const struct export *export, struct dpumap_export_info *info);
/* A secret that is good until the export changes. */
void export_descriptor(const struct export *export, const void **desc, size_t *len);
/*
 * Connects the client that owner stands for over RDMA (links.h); NOT_SUPPORTED for an export that
 * is reached in another way. Connections last until they are dropped, or the export changes or
 * ends.
 */
doca_error_t export_connect(struct export *export, const void *owner, const void *details,
			    size_t len, const void **answer, size_t *answer_len,
			    struct dpumap_fault *fault);
/* Drops all that it has to this export. */
void export_disconnect(struct export *export, const void *owner);
/* INVALID_VALUE when the bytes are not all within the export. */
doca_error_t export_check_range(const struct export *export, uint64_t offset, uint64_t len,
				struct dpumap_fault *fault);
/* memory_read() of its memory. */
doca_error_t export_read(struct export *export, uint64_t offset, size_t len, const void **data,
			 struct dpumap_fault *fault);

const char *exports_device_name(const struct exports *exports);

/* The memory of the card itself, in bytes; longest is what is free in one piece. */
struct exports_dm_usage {
	uint64_t total;
	uint64_t free;
	uint64_t longest;
};

doca_error_t exports_dm_usage(const struct exports *exports, struct exports_dm_usage *usage,
			      struct dpumap_fault *fault);

#endif
