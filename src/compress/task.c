/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "compress/compress.h"

#include <endian.h>
#include <inttypes.h>

#include "core/buf/list.h"
#include "core/mmap/bufs.h"
#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "log/log.h"

/* The last word of the control segment. */
#define LARGEST_WINDOW	   (5u << 12) /* log2, in KiB */
#define LARGEST_BLOCK	   (15u << 16)
#define DYNAMIC_CODES	   (15u << 20)
#define FORMAT_LZ4	   (2u << 8)
#define LZ4_BLOCKS	   (1u << 20)
#define LZ4_CHECKED_BLOCKS (2u << 20)
#define LZ4_INDEPENDENT	   (1u << 22)

static struct compress_task *task_of(const struct doca_task *task)
{
	return (struct compress_task *)task;
}

struct compress_task *dpumap_compress_take(struct doca_compress *compress, enum compress_kind kind,
					   const struct doca_buf *src, struct doca_buf *dst,
					   union doca_data user_data, doca_error_t *why,
					   const char *function)
{
	struct task_pool *pool = &compress->pools[kind].pool;
	struct compress_task *task;

	if (doca_unlikely(!dpumap_task_pool_has_task(pool, &compress->ctx))) {
		*why = dpumap_task_pool_refuse(pool, &compress->ctx, function);
		return NULL;
	}
	task = task_of(dpumap_task_pool_take(pool, user_data));
	task->kind = kind;
	task->src = src;
	task->dst = dst;
	*why = DOCA_SUCCESS;
	return task;
}

/* --- submitting ------------------------------------------------------------------------------- */

/* A buf's part of a work request, and its key if no other place has it. */
struct piece {
	struct dpumap_sq_piece at;
	struct dpumap_sq_key key;
};

__attribute__((cold, noinline)) static doca_error_t refuse_access(const struct doca_buf *buf,
								  dpumap_desc_status_t why)
{
	if (why == DPUMAP_DESC_ERR_DENIED)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "compress task: map %p does not permit the access",
				   (const void *)buf->mmap);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "compress task: buf %p is outside map %p",
			   (const void *)buf, (const void *)buf->mmap);
}

/* A map that was imported, or that this device has not used yet. */
__attribute__((noinline)) static doca_error_t
find_key(const struct doca_buf *buf, const struct doca_dev *dev, uint32_t op, struct piece *piece)
{
	const struct dpumap_region *region = NULL;
	dpumap_desc_status_t status;
	doca_error_t result = dpumap_mmap_resolve(buf->mmap, dev, &region);

	if (!region)
		return result;
	status = dpumap_mmap_check_ops(buf->mmap, piece->at.addr, piece->at.len, op);
	if (status != DPUMAP_DESC_OK)
		return refuse_access(buf, status);
	piece->key = dpumap_sq_key(region);
	piece->at.key = &piece->key;
	return DOCA_SUCCESS;
}

static inline doca_error_t find_piece(const struct doca_buf *buf, const struct doca_dev *dev,
				      uint64_t addr, size_t len, uint32_t op, struct piece *piece)
{
	piece->at = (struct dpumap_sq_piece){&buf->mmap->fast_key, addr, len};
	if (doca_likely(dpumap_mmap_has_fast_key(buf->mmap, dev) &&
			buf->mmap->ops == DPUMAP_DESC_OP_ALL))
		return DOCA_SUCCESS;
	return find_key(buf, dev, op, piece);
}

__attribute__((cold, noinline)) static doca_error_t refuse_bufs(const struct compress_task *task)
{
	if (!task->src || !task->dst)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "compress task: the %s buf is NULL",
				   task->src ? "destination" : "source");
	if (task->src->next || task->dst->next)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "compress task: the %s is a list of bufs, and must be one buf",
				   task->src->next ? "source" : "destination");
	if (!dpumap_buf_room(task->dst))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "compress task: the destination has no room after its data");
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "compress task: invalid length of %zu bytes, must be 1 to %" PRIu64,
			   task->src->data_len,
			   dpumap_compress_of(task->base.ctx)->pools[task->kind].max_len);
}

static inline doca_error_t find_pieces(const struct compress_task *task, struct piece *from,
				       struct piece *to)
{
	const struct doca_compress *compress = dpumap_compress_of(task->base.ctx);
	const struct doca_dev *dev = compress->ctx.dev;
	const struct doca_buf *src = task->src, *dst = task->dst;
	doca_error_t result;
	size_t room;

	if (doca_unlikely(!src || !dst || src->next || dst->next))
		return refuse_bufs(task);
	room = dpumap_buf_room(dst);
	if (doca_unlikely(src->data_len - 1 >= compress->pools[task->kind].max_len || !room))
		return refuse_bufs(task);
	result = find_piece(src, dev, (uintptr_t)src->data, src->data_len, DPUMAP_DESC_OP_READ,
			    from);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (room > DPUMAP_SQ_MAX_LEN)
		room = DPUMAP_SQ_MAX_LEN;
	return find_piece(dst, dev, (uintptr_t)dst->data + dst->data_len, room,
			  DPUMAP_DESC_OP_WRITE, to);
}

doca_error_t dpumap_compress_check(const struct doca_task *task)
{
	struct piece from, to;

	return find_pieces(task_of(task), &from, &to);
}

/* The old kind of LZ4 task has no parameters: its blocks may refer to each other, and have no checksums. */
static inline uint32_t control_of(const struct compress_task *task)
{
	static const uint32_t controls[COMPRESS_NUM_KINDS] = {
		[COMPRESS_DEFLATE] = LARGEST_WINDOW | LARGEST_BLOCK | DYNAMIC_CODES,
		[COMPRESS_LZ4] = FORMAT_LZ4 | LZ4_BLOCKS,
		[COMPRESS_LZ4_BLOCK] = FORMAT_LZ4 | LZ4_INDEPENDENT,
	};

	if (task->kind != COMPRESS_LZ4_STREAM)
		return controls[task->kind];
	return FORMAT_LZ4 | (task->has_block_checksum ? LZ4_CHECKED_BLOCKS : LZ4_BLOCKS) |
	       (task->are_blocks_independent ? LZ4_INDEPENDENT : 0);
}

doca_error_t dpumap_compress_submit(struct doca_task *base, uint32_t flags)
{
	struct compress_task *task = task_of(base);
	struct doca_compress *compress = dpumap_compress_of(base->ctx);
	uint32_t opcode =
		task->kind == COMPRESS_DEFLATE ? DPUMAP_WQE_COMPRESS : DPUMAP_WQE_DECOMPRESS;
	struct piece from, to;
	doca_error_t result = find_pieces(task, &from, &to);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return dpumap_task_refuse(base, result);
	task->number = dpumap_sq_posted(compress->sq);
	if (doca_unlikely(!dpumap_sq_post_stream(compress->sq, opcode, control_of(task), &to.at,
						 &from.at)))
		return dpumap_task_refuse(base, DOCA_ERROR_AGAIN);
	base->status = DOCA_SUCCESS;
	dpumap_task_list_append(&compress->submitted, base);
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		dpumap_sq_flush(compress->sq);
	return DOCA_SUCCESS;
}

void dpumap_compress_flush(struct doca_ctx *ctx)
{
	dpumap_sq_flush(dpumap_compress_of(ctx)->sq);
}

/* --- completing ------------------------------------------------------------------------------- */

static inline bool is_finished(const struct doca_compress *compress,
			       const struct compress_task *task)
{
	return (int32_t)(compress->completed - task->number) > 0;
}

static void log_data_error(const struct compress_task *task, enum dpumap_sq_data_error error)
{
	const bool compresses = task->kind == COMPRESS_DEFLATE;

	if (error == DPUMAP_SQ_NO_ROOM)
		dpumap_log(DPUMAP_LOG_ERROR,
			   "compress task %p: the %s data do not fit into %zu bytes",
			   (const void *)task, compresses ? "compressed" : "uncompressed",
			   dpumap_buf_room(task->dst));
	else
		dpumap_log(DPUMAP_LOG_ERROR,
			   "compress task %p: the source, %zu bytes, is no whole and valid stream",
			   (const void *)task, task->src->data_len);
}

/* The last work request that is completed has failed. */
__attribute__((cold, noinline)) static void fail_last(struct doca_compress *compress,
						      const struct dpumap_sq_completion *completion)
{
	struct doca_task *task = compress->submitted.first;

	while (task && task_of(task)->number + 1 != completion->end)
		task = task->next;
	if (!task)
		return;
	task->status = completion->status;
	compress->failed = !completion->data;
	if (completion->data)
		log_data_error(task_of(task), completion->data);
}

/* Take one completion; false if there is none. */
static bool take_completion(struct doca_compress *compress)
{
	struct dpumap_sq_completion completion;

	if (!dpumap_sq_poll(compress->sq, &completion))
		return false;
	compress->completed = completion.end;
	if (doca_unlikely(completion.status != DOCA_SUCCESS))
		fail_last(compress, &completion);
	return true;
}

static bool has_finished(struct doca_compress *compress)
{
	const struct compress_task *task = task_of(compress->submitted.first);

	if (!task)
		return false;
	while (!is_finished(compress, task))
		if (!take_completion(compress))
			return false;
	return true;
}

bool dpumap_compress_is_ready(struct doca_ctx *ctx)
{
	return has_finished(dpumap_compress_of(ctx));
}

struct doca_task *dpumap_compress_poll(struct doca_ctx *ctx)
{
	struct doca_compress *compress = dpumap_compress_of(ctx);

	if (!has_finished(compress))
		return NULL;
	if (doca_unlikely(compress->failed))
		dpumap_ctx_begin_stop(ctx);
	return dpumap_task_list_take(&compress->submitted);
}

/* False: the device reports more bytes than there was room for. */
static bool take_result(struct compress_task *task)
{
	const struct doca_compress *compress = dpumap_compress_of(task->base.ctx);
	const struct dpumap_sq_result *result = dpumap_sq_result(compress->sq, task->number);
	const bool newer = compress->is_newer;
	uint32_t len = be32toh(result->len);

	if (doca_unlikely(len > dpumap_buf_room(task->dst))) {
		task->base.status = dpumap_fail(
			DOCA_ERROR_IO_FAILED,
			"compress task %p: its destination was changed after submission, or the "
			"device reports %" PRIu32 " bytes, more than there was room for",
			(void *)task, len);
		return false;
	}
	task->crc = be32toh(newer ? result->newer_crc32 : result->older_crc32);
	task->adler = be32toh(newer ? result->newer_adler32 : result->older_adler32);
	task->xxh = be32toh(result->newer_xxh32);
	task->dst->data_len += len;
	return true;
}

void dpumap_compress_complete(struct doca_task *base)
{
	struct compress_task *task = task_of(base);
	const struct compress_pool *pool = (const struct compress_pool *)base->pool;
	bool good = base->status == DOCA_SUCCESS && take_result(task);

	if (!dpumap_task_complete_node(base))
		dpumap_compress_call(task, good ? pool->success : pool->error);
}

/* Each completion looks for a node. */
void dpumap_compress_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}
