/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Moves a stream of bytes from a source into an export, from an export to a sink, or through an
 * export. Reading, copying, writing and hashing overlap.
 */
#ifndef DPUMAP_HOST_PUMP_H
#define DPUMAP_HOST_PUMP_H

#include "channel/client.h"
#include "host/copy/progress.h"
#include "host/copy/sink.h"
#include "host/copy/source.h"
#include "host/import/import.h"

struct pump {
	struct import *import; /* gets buffers */
	struct dpumap_client *client;
	struct source *source; /* NULL: the export's bytes are read */
	struct sink *sink;     /* NULL: the bytes stay in the export */
	uint64_t offset;       /* of the export */
	uint64_t room;	       /* bytes of the export from there */
	bool is_loop;	       /* the bytes go through the same room again and again */
	bool verify;	       /* hash at the source, on the DPU and at the sink */
	uint64_t digest;       /* on the DPU */
	uint64_t total;	       /* UINT64_MAX: until the source ends; then the number of bytes */
	struct progress *progress;
	uint64_t dma_bytes; /* out: in both directions */
};

/* The digests of source and sink are complete on success. */
doca_error_t pump_run(struct pump *pump, struct dpumap_error *error);

#endif
