/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An export as this process reaches it: imported on a device, with a copy queue and buffers. */
#ifndef DPUMAP_HOST_IMPORT_H
#define DPUMAP_HOST_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dpumap/desc.h>
#include <dpumap/dma.h>

#include "common/device.h"
#include "options.h"
#include "remote.h"

#define IMPORT_BUFFERS	   2
#define IMPORT_QUEUE_DEPTH 32u

/* Memory of ours that the device can copy from and to. */
struct import_buffer {
	void *memory;
	size_t size;
	struct doca_mmap *map;
};

struct peer;
struct way;

struct import {
	const char *name;
	uint64_t timeout_ns;
	const struct way *way; /* that bytes take */
	struct dpumap_device device;
	struct doca_mmap *map;
	uint8_t *base; /* the exporter's address: names bytes, never dereferenced */
	uint64_t size;
	struct dpumap_dma *dma; /* one way */
	struct peer *peer;	/* the other one */
	const char *engine;	/* for people */
	uint64_t max_request;
	uint64_t copy_ns; /* spent in import_copy() */
	struct import_buffer buffers[IMPORT_BUFFERS];
};

/* Reads a descriptor of any origin; the reason names what it is of. The caller wipes *desc. */
doca_error_t import_decode(const void *bytes, size_t len, const char *what,
			   struct dpumap_desc *desc, struct dpumap_fault *fault);

/*
 * Opens the device, imports the export and makes a copy queue; over RDMA by way of the client that
 * got it, which is NULL for a saved descriptor. On failure nothing stays.
 */
doca_error_t import_open(const struct options *options, struct dpumap_client *client,
			 const struct remote_export *export, struct import *import,
			 struct dpumap_fault *fault);
/* Frees everything, the queue first: copies in flight are abandoned. All zero is allowed. */
void import_close(struct import *import);

/* Makes buffers[which], which belongs to the import. */
doca_error_t import_add_buffer(struct import *import, unsigned int which, size_t size,
			       struct dpumap_fault *fault);

enum import_direction {
	IMPORT_PUT, /* from the buffer to the export */
	IMPORT_GET,
};

/* A piece of a copy, on both sides. */
struct import_piece {
	enum import_direction direction;
	struct doca_mmap *local;
	uint8_t *local_addr;
	uint8_t *remote_addr; /* the exporter's */
	size_t len;	      /* up to max_request */
};

/* Copies len bytes between the buffer's beginning and offset in the export; waits for the end. */
doca_error_t import_copy(struct import *import, enum import_direction direction, unsigned int which,
			 uint64_t offset, size_t len, struct dpumap_fault *fault);

#endif
