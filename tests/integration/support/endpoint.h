/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One endpoint of an RDMA connection, as a program has it: a context on its own progress engine,
 * memory to export and to work with, and a record of every callback. The two endpoints may be in
 * one process or on two nodes.
 */
#ifndef DPUMAP_TESTS_ENDPOINT_H
#define DPUMAP_TESTS_ENDPOINT_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "sharer.h"

#define ENDPOINT_LEN	     65536u
#define ENDPOINT_TASKS	     16u /* of reads, and of writes */
#define ENDPOINT_MAX_CHANGES 16
#define RDMA_R		     ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W		     ((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)

struct endpoint_change {
	enum doca_ctx_states prev, next;
};

struct endpoint {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap; /* ENDPOINT_LEN bytes of its own */
	uint8_t *bytes;

	/* of the connection that endpoint_offer() made last */
	struct doca_rdma_connection *connection;
	struct doca_mmap *peer; /* imported from the remote endpoint */
	uint8_t *peer_addr;

	struct endpoint_change changes[ENDPOINT_MAX_CHANGES];
	unsigned int num_changes;
	unsigned int num_done, num_failed;
	doca_error_t last_error;
	uint64_t last_data; /* of the last task */
	bool keep_tasks;    /* do not free them in their callbacks */
};

/* What an endpoint sends to the remote one. */
struct endpoint_offer {
	struct descriptor details;
	struct descriptor map;
};

/*
 * Call endpoint_close() even if this fails. map_access is for the memory, access for the
 * connections.
 */
doca_error_t endpoint_open(struct endpoint *endpoint, struct doca_dev *dev, uint32_t map_access,
			   uint32_t access);
doca_error_t endpoint_close(struct endpoint *endpoint);

/* Make a connection; export the memory too if its permissions allow it. */
doca_error_t endpoint_offer(struct endpoint *endpoint, struct endpoint_offer *offer);
doca_error_t endpoint_accept(struct endpoint *endpoint, const struct endpoint_offer *offer);
/* Start both, and connect them to each other. */
doca_error_t endpoint_pair(struct endpoint *a, struct endpoint *b);
/* Stop and progress until IDLE. */
doca_error_t endpoint_stop(struct endpoint *endpoint);

enum doca_ctx_states endpoint_state(const struct endpoint *endpoint);

struct doca_buf *endpoint_source(struct endpoint *endpoint, struct doca_mmap *mmap,
				 const uint8_t *at, size_t len);
struct doca_buf *endpoint_room(struct endpoint *endpoint, struct doca_mmap *mmap, const uint8_t *at,
			       size_t len);

doca_error_t endpoint_submit(struct endpoint *endpoint, bool is_read, const struct doca_buf *src,
			     struct doca_buf *dst, uint64_t data);
/* Progress until num tasks have completed; DOCA_ERROR_TIME_OUT if they do not. */
doca_error_t endpoint_wait(struct endpoint *endpoint, unsigned int num);

/* Run one task between the two memories; returns the error of the task. */
doca_error_t endpoint_read(struct endpoint *endpoint, size_t local, size_t remote, size_t len);
doca_error_t endpoint_write(struct endpoint *endpoint, size_t local, size_t remote, size_t len);

#endif
