/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An imported export: its map on a device, a transport, and local buffers. */
#ifndef DPUMAP_HOST_IMPORT_H
#define DPUMAP_HOST_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dpumap/desc.h>
#include <dpumap/dma.h>

#include "common/device.h"
#include "host/remote/remote.h"
#include "host/settings/options.h"

#define IMPORT_QUEUE_DEPTH 32u

enum import_direction {
	IMPORT_PUT, /* from the buffer to the export */
	IMPORT_GET,
	IMPORT_DIRECTIONS,
};

/* Local memory that the device can copy from and to. */
struct import_buffer {
	void *memory;
	size_t size;
	struct doca_mmap *map;
};

/* Copies in flight; import_queue.h */
struct import_queue {
	unsigned int inflight;
	unsigned int idle; /* consecutive polls without a completion */
	uint64_t deadline;
	uint64_t busy_since;
	uint64_t busy_ns; /* with copies in flight */
};

struct rdma_transport;
struct transport;

struct import {
	const char *name;
	uint64_t timeout_ns;
	const struct transport *transport;
	struct dpumap_device device;
	struct doca_mmap *map;
	uint8_t *base; /* the exporter's address; never dereferenced */
	uint64_t size;
	struct dpumap_dma *dma;	     /* of transport_dma */
	struct rdma_transport *rdma; /* of transport_rdma */
	const char *engine;	     /* for people */
	uint64_t max_request;
	struct import_queue queue;
	struct import_buffer buffers[IMPORT_DIRECTIONS];
};

/* Decodes an untrusted descriptor; errors call it what. The caller wipes *desc. */
doca_error_t import_decode(const void *bytes, size_t len, const char *what,
			   struct dpumap_desc *desc, struct dpumap_error *error);

/*
 * Opens the device, imports the export and opens its transport. client is the one that got the
 * export; RDMA connects through it. It is NULL for a saved descriptor. On failure nothing remains.
 */
doca_error_t import_open(const struct options *options, struct dpumap_client *client,
			 const struct remote_export *export, struct import *import,
			 struct dpumap_error *error);
/* Frees everything, the transport first: copies in flight are abandoned. All zero is allowed. */
void import_close(struct import *import);

/* Creates buffers[direction], which the import owns. */
doca_error_t import_add_buffer(struct import *import, enum import_direction direction, size_t size,
			       struct dpumap_error *error);

/* One copy: local and remote range. */
struct import_piece {
	enum import_direction direction;
	struct doca_mmap *local;
	uint8_t *local_addr;
	uint8_t *remote_addr; /* the exporter's */
	size_t len;	      /* up to max_request */
	union doca_data tag;  /* set by import_post() */
};

#endif
