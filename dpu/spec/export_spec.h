/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The description of an export, from the configuration, an option or dpumapd ctl. */
#ifndef DPUMAPD_SPEC_H
#define DPUMAPD_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/message.h"
#include "dpu/spec/export_labels.h"
#include "dpu/spec/export_peers.h"
#include "local/error.h"

enum export_kind {
	EXPORT_DEVICE_MEMORY,
	EXPORT_DRAM,
	EXPORT_FILE,
	EXPORT_DMABUF,
	EXPORT_KINDS,
};

/* How clients reach it. */
enum export_via {
	EXPORT_VIA_PCI,	 /* for the functions of the same card */
	EXPORT_VIA_RDMA, /* for other machines, each through a connection */
	EXPORT_VIAS,
};

#define EXPORT_SIZE_MAX UINT64_MAX /* all of the device memory, file or dma-buf */

/* There may be very many: without holes between the members. */
struct export_spec {
	char *name; /* valid; NULL: not yet set */
	enum export_kind kind : 8;
	enum export_via via : 8;
	uint16_t node; /* see on_node */
	uint32_t file; /* of exports_dir, see export_dir.h; 0: another */
	uint64_t size;
	uint8_t log_align;	    /* of device memory; 0: chosen by the device */
	uint8_t log_page_size;	    /* of main memory on huge pages; 0: of the default size */
	bool on_huge_pages : 1;	    /* main memory */
	bool on_node : 1;	    /* main memory of this NUMA node */
	bool writable : 1;	    /* by clients */
	bool is_temporary : 1;	    /* added by dpumapd ctl, not by the configuration */
	int fd;			    /* of a dma-buf that was passed to dpumapd; -1: none */
	char *path;		    /* of a file, or of the heap that a dma-buf comes from */
	struct export_peers *allow; /* peers that may import, or "*" for every authenticated one */
	struct export_labels labels;
};

/* The names of a kind and of a transport in options, replies and logs. */
const char *export_kind_name(enum export_kind kind);
const char *export_via_name(enum export_via via);

void export_spec_init(struct export_spec *spec);
void export_spec_free(struct export_spec *spec);
/* An exact copy. NO_MEMORY: copy is empty. */
doca_error_t export_spec_copy(struct export_spec *copy, const struct export_spec *spec,
			      struct dpumap_error *error);
/* If both have the same peers, spec drops its own list of them. */
void export_spec_share_peers(struct export_spec *spec, const struct export_spec *other);
/* Labels do not count: a change of them does not concern clients that hold the export. */
bool export_spec_is_equal(const struct export_spec *a, const struct export_spec *b);

/*
 * Sets one key: name, kind, via, size, perm, align, pages, node, path or fd; or adds to allow or label.
 * INVALID_VALUE with the reason.
 */
doca_error_t export_spec_set(struct export_spec *spec, const char *key, const char *value,
			     struct dpumap_error *error);
/* Is the spec complete and free of contradictions? */
doca_error_t export_spec_check(const struct export_spec *spec, struct dpumap_error *error);
/* Parses name=NAME,kind=KIND,... On failure spec is as after export_spec_init(). */
doca_error_t export_spec_parse(const char *text, struct export_spec *spec,
			       struct dpumap_error *error);

/* Does the text have the form of an identity, or is it "*"? */
bool export_spec_is_peer(const char *text);
bool export_spec_allows(const struct export_spec *spec, const char *peer);
/* Does a peer have fewer rights by this spec than by the old one? */
bool export_spec_takes_rights(const struct export_spec *spec, const struct export_spec *old);
/* May other users than root and the one of this process import it? */
bool export_spec_allows_others(const struct export_spec *spec);

#endif
