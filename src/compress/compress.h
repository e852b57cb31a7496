/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_compress: compress.c has the object and its settings, caps.c what devices can do, task.c executes tasks, and
 * kinds.c has the functions of users that all kinds of tasks have alike.
 *
 * Each task is one work request, written straight to the send queue, with a completion of its own. The device
 * completes them in the order in which they were submitted.
 */
#ifndef DPUMAP_COMPRESS_COMPRESS_H
#define DPUMAP_COMPRESS_COMPRESS_H

#include <doca_compress.h>

#include "core/buf/buf.h"
#include "core/pe/task_pool.h"
#include "device/queue/queue.h"
#include "device/queue/send_queue.h"

enum compress_kind {
	COMPRESS_DEFLATE,
	COMPRESS_INFLATE,
	COMPRESS_LZ4,
	COMPRESS_LZ4_STREAM,
	COMPRESS_LZ4_BLOCK,
	COMPRESS_NUM_KINDS,
};

typedef void compress_callback(void);

struct compress_task {
	struct doca_task base;
	enum compress_kind kind;
	uint8_t has_block_checksum, are_blocks_independent;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint32_t number;	  /* of its work request */
	uint32_t crc, adler, xxh; /* after success */
};

/* The tasks of one kind. */
struct compress_pool {
	struct task_pool pool; /* first, so that a task finds its pool */
	compress_callback *success, *error;
	uint64_t max_len; /* of a source */
};

struct doca_compress {
	struct doca_ctx ctx;
	struct compress_pool pools[COMPRESS_NUM_KINDS];

	struct dpumap_queue *queue; /* this and the following while the context is not IDLE */
	struct dpumap_sq *sq;
	struct dpumap_events *events;
	uint32_t completed; /* work requests */
	bool failed;	    /* the queue: it completes nothing any more */
	bool is_newer;	    /* the layout of results */
	struct task_list submitted;
};

static inline struct doca_compress *dpumap_compress_of(const struct doca_ctx *ctx)
{
	return (struct doca_compress *)ctx;
}

/* caps.c. The capability that a kind of tasks needs, and the longest source; 0: the device lacks it. */
uint64_t dpumap_compress_max_len(const struct dpumap_caps *caps, enum compress_kind kind);
doca_error_t dpumap_compress_is_supported(const struct doca_devinfo *devinfo,
					  enum compress_kind kind, const char *function);
doca_error_t dpumap_compress_get_max_len(const struct doca_devinfo *devinfo,
					 enum compress_kind kind, uint64_t *len,
					 const char *function);
doca_error_t dpumap_compress_get_max_list_len(const struct doca_devinfo *devinfo,
					      enum compress_kind kind, uint32_t *len,
					      const char *function);

/* compress.c */
doca_error_t dpumap_compress_configure(struct doca_compress *compress, enum compress_kind kind,
				       compress_callback *success, compress_callback *error,
				       uint32_t num_tasks, const char *function);

/* kinds.c. Run the program's callback. */
void dpumap_compress_call(struct compress_task *task, compress_callback *callback);

/* task.c. NULL: *why says why, and is logged. */
struct compress_task *dpumap_compress_take(struct doca_compress *compress, enum compress_kind kind,
					   const struct doca_buf *src, struct doca_buf *dst,
					   union doca_data user_data, doca_error_t *why,
					   const char *function);
doca_error_t dpumap_compress_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_compress_check(const struct doca_task *task);
void dpumap_compress_flush(struct doca_ctx *ctx);
struct doca_task *dpumap_compress_poll(struct doca_ctx *ctx);
void dpumap_compress_complete(struct doca_task *task);
void dpumap_compress_enter_graph(struct doca_ctx *ctx);
bool dpumap_compress_is_ready(struct doca_ctx *ctx);

#endif
