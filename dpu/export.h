/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One export: memory, and a map of it that others may reach. */
#ifndef DPUMAPD_EXPORT_H
#define DPUMAPD_EXPORT_H

#include "exports.h"
#include "links.h"
#include "memory.h"

struct export
{
	struct export_spec spec;
	uint64_t wanted_size; /* the spec's, which may have been "max" */
	uint64_t id;
	struct dpumap_device own; /* via RDMA; of others dev is NULL, and they share one */
	struct links links;
	struct memory *memory;
	struct doca_mmap *mmap;
	const void *desc; /* the library's, until the map stops or is revoked; NULL: none now */
	size_t desc_len;
	uint64_t given; /* how often the descriptor was given and not given back */
};

/* Takes the spec over on success. */
doca_error_t export_create(const struct dpumap_device *device, struct export_spec *spec,
			   struct export **export, struct dpumap_fault *fault);
/* Is it what spec says, or at least of the same memory? */
bool export_is(const struct export *export, const struct export_spec *spec);
bool export_has_memory_of(const struct export *export, const struct export_spec *spec);
/* Makes the descriptor if there is none. */
doca_error_t export_open(const struct dpumap_device *device, struct export *export,
			 struct dpumap_fault *fault);
/* Another descriptor: who has the one of before, or imported it, has nothing. */
doca_error_t export_rekey(const struct dpumap_device *device, struct export *export,
			  struct dpumap_fault *fault);
/* The map first: from then on nobody reaches the memory. */
void export_destroy(struct export *export);
/*
 * Others may do other things with it: every descriptor of before is void, the bytes stay. The spec
 * is exchanged for the one of before. On failure nobody can reach the export any more; it is to be
 * destroyed.
 */
doca_error_t export_renew(const struct dpumap_device *device, struct export *export,
			  struct export_spec *spec, struct dpumap_fault *fault);

#endif
