/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What an export is to be, as a configuration, an option or an administrator says it. */
#ifndef DPUMAPD_SPEC_H
#define DPUMAPD_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"

enum export_kind {
	EXPORT_DEVICE_MEMORY,
	EXPORT_DRAM,
	EXPORT_FILE,
	EXPORT_DMABUF,
	EXPORT_KINDS,
};

/* How others reach it. */
enum export_via {
	EXPORT_VIA_PCI,	 /* the functions of the same card */
	EXPORT_VIA_RDMA, /* other machines, each through a connection to us */
	EXPORT_VIAS,
};

#define EXPORT_SIZE_MAX UINT64_MAX /* what there is: of device memory, a file or a dma-buf */

struct export_spec {
	char name[DPUMAP_EXPORT_NAME_MAX];
	enum export_kind kind;
	enum export_via via;
	uint64_t size;
	bool writable;
	uint32_t log_align; /* of device memory; 0: as the device likes */
	uint64_t page_size; /* of main memory; 0: the usual, 1: huge ones of the usual size */
	bool on_node;	    /* main memory of this NUMA node */
	unsigned int node;
	char *path;   /* of a file, or of the heap that a dma-buf comes from */
	int fd;	      /* of a dma-buf that was passed to us; -1: none */
	char **allow; /* peers that may import, or "*" for every authenticated one */
	size_t num_allow;
	bool is_temporary; /* an administrator's, not the configuration's */
};

/* What a kind is called in options, replies and logs. */
const char *spec_kind_name(enum export_kind kind);
const char *spec_via_name(enum export_via via);

void spec_init(struct export_spec *spec);
void spec_free(struct export_spec *spec);
/* An exact copy; NO_MEMORY leaves nothing. */
doca_error_t spec_copy(struct export_spec *copy, const struct export_spec *spec,
		       struct dpumap_fault *fault);
bool spec_is_equal(const struct export_spec *a, const struct export_spec *b);

/*
 * One part: name, kind, via, size, perm, align, pages, node, path, fd, or allow, which adds to
 * those before. INVALID_VALUE with the reason.
 */
doca_error_t spec_set(struct export_spec *spec, const char *key, const char *value,
		      struct dpumap_fault *fault);
/* Do the parts make an export? */
doca_error_t spec_check(const struct export_spec *spec, struct dpumap_fault *fault);
/* name=NAME,kind=KIND,...: all of an export. On failure spec is as after spec_init(). */
doca_error_t spec_parse(const char *text, struct export_spec *spec, struct dpumap_fault *fault);

bool spec_allows(const struct export_spec *spec, const char *peer);

#endif
