/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_compress: compress.c has the object and its settings, caps.c what devices can do, task.c executes tasks, and
 * kinds.c has the functions of users that all kinds of tasks have alike. core/engine/ has its queue.
 */
#ifndef DPUMAP_COMPRESS_COMPRESS_H
#define DPUMAP_COMPRESS_COMPRESS_H

#include <doca_compress.h>

#include "core/engine/engine.h"

enum compress_kind {
	COMPRESS_DEFLATE,
	COMPRESS_INFLATE,
	COMPRESS_LZ4,
	COMPRESS_LZ4_STREAM,
	COMPRESS_LZ4_BLOCK,
	COMPRESS_NUM_KINDS,
};

struct compress_task {
	struct engine_task task;
	uint8_t has_block_checksum, are_blocks_independent;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint32_t crc, adler, xxh; /* after success */
};

struct doca_compress {
	struct engine_ctx engine;
	struct engine_pool pools[COMPRESS_NUM_KINDS];
	uint64_t max_len[COMPRESS_NUM_KINDS]; /* of a source */
	bool is_newer;			      /* the layout of results */
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

/* kinds.c. By the kind of the task. */
extern void (*const dpumap_compress_calls[COMPRESS_NUM_KINDS])(struct engine_task *task,
							       engine_callback *callback);

/* task.c. NULL: *why says why, and is logged. */
struct compress_task *dpumap_compress_take(struct doca_compress *compress, enum compress_kind kind,
					   const struct doca_buf *src, struct doca_buf *dst,
					   union doca_data user_data, doca_error_t *why,
					   const char *function);
doca_error_t dpumap_compress_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_compress_check(const struct doca_task *task);
void dpumap_compress_complete(struct doca_task *task);
void dpumap_compress_log_data_error(const struct doca_task *task, enum dpumap_sq_data_error error);

#endif
