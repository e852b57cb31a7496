/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One end of an RDMA connection as a program has it: a context on an engine of its own, memory that
 * it offers and works with, and a record of every callback. The two ends of a connection may be in
 * one process, on two nodes, or anything between.
 */
#ifndef DPUMAP_TESTS_ENDS_H
#define DPUMAP_TESTS_ENDS_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "side.h"

#define END_LEN		65536u
#define END_TASKS	16u /* of reads, and of writes */
#define END_MAX_CHANGES 16
#define RDMA_R		((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W		((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)

struct end_change {
	enum doca_ctx_states prev, next;
};

struct end {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap; /* END_LEN bytes of its own */
	uint8_t *bytes;

	/* Of the connection that was offered last. */
	struct doca_rdma_connection *connection;
	struct doca_mmap *peer; /* what the other end offered */
	uint8_t *peer_addr;

	struct end_change changes[END_MAX_CHANGES];
	unsigned int num_changes;
	unsigned int num_done, num_failed;
	doca_error_t last_error;
	uint64_t last_data; /* of the task that was called back last */
	bool keep_tasks;    /* do not free them in their callbacks */
};

/* What one end sends to the other. */
struct end_offer {
	struct side_desc details;
	struct side_desc map;
};

/* What is opened is closed by end_close(), whether or not it worked. map_access is what the memory
 * permits, access what the connections do. */
doca_error_t end_open(struct end *end, struct doca_dev *dev, uint32_t map_access, uint32_t access);
doca_error_t end_close(struct end *end);

/* Make a connection, and export the memory if that may be. */
doca_error_t end_offer(struct end *end, struct end_offer *offer);
doca_error_t end_accept(struct end *end, const struct end_offer *offer);
/* Start both, and connect them to one another. */
doca_error_t end_pair(struct end *a, struct end *b);
/* Stop and progress until IDLE. */
doca_error_t end_stop(struct end *end);

enum doca_ctx_states end_state(const struct end *end);

struct doca_buf *end_source(struct end *end, struct doca_mmap *mmap, const uint8_t *at, size_t len);
struct doca_buf *end_room(struct end *end, struct doca_mmap *mmap, const uint8_t *at, size_t len);

doca_error_t end_submit(struct end *end, bool is_read, const struct doca_buf *src,
			struct doca_buf *dst, uint64_t data);
/* Progress until so many tasks were called back; DOCA_ERROR_TIME_OUT when they are not. */
doca_error_t end_wait(struct end *end, unsigned int num);

/* One task between here and the other end, to how it ended. */
doca_error_t end_read(struct end *end, size_t here, size_t there, size_t len);
doca_error_t end_write(struct end *end, size_t here, size_t there, size_t len);

#endif
