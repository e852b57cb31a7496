/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "compress/compress.h"

#include <endian.h>
#include <inttypes.h>

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
	struct engine_task *taken =
		dpumap_engine_take(&compress->engine, kind, user_data, why, function);
	struct compress_task *task = (struct compress_task *)taken;

	if (!taken)
		return NULL;
	task->src = src;
	task->dst = dst;
	return task;
}

/* --- submitting ------------------------------------------------------------------------------- */

__attribute__((cold, noinline)) static doca_error_t refuse_lengths(const struct compress_task *task)
{
	if (!dpumap_buf_room(task->dst))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "compress task: the destination has no room after its data");
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "compress task: invalid length of %zu bytes, must be 1 to %" PRIu64,
			   task->src->data_len,
			   dpumap_compress_of(task->task.base.ctx)->max_len[task->task.kind]);
}

static inline doca_error_t find_pieces(const struct compress_task *task, struct engine_piece *from,
				       struct engine_piece *to)
{
	const struct doca_compress *compress = dpumap_compress_of(task->task.base.ctx);
	const struct doca_buf *src = task->src, *dst = task->dst;
	doca_error_t result;
	size_t room;

	if (doca_unlikely(!src || !dst || src->next || dst->next)) {
		dpumap_engine_log_bufs(&compress->engine, src, dst);
		return DOCA_ERROR_INVALID_VALUE;
	}
	room = dpumap_buf_room(dst);
	if (doca_unlikely(src->data_len - 1 >= compress->max_len[task->task.kind] || !room))
		return refuse_lengths(task);
	result = dpumap_engine_find_piece(&compress->engine, src, (uintptr_t)src->data,
					  src->data_len, DPUMAP_DESC_OP_READ, from);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (room > DPUMAP_SQ_MAX_LEN)
		room = DPUMAP_SQ_MAX_LEN;
	return dpumap_engine_find_piece(&compress->engine, dst,
					(uintptr_t)dst->data + dst->data_len, room,
					DPUMAP_DESC_OP_WRITE, to);
}

doca_error_t dpumap_compress_check(const struct doca_task *task)
{
	struct engine_piece from, to;

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

	if (task->task.kind != COMPRESS_LZ4_STREAM)
		return controls[task->task.kind];
	return FORMAT_LZ4 | (task->has_block_checksum ? LZ4_CHECKED_BLOCKS : LZ4_BLOCKS) |
	       (task->are_blocks_independent ? LZ4_INDEPENDENT : 0);
}

doca_error_t dpumap_compress_submit(struct doca_task *base, uint32_t flags)
{
	struct compress_task *task = task_of(base);
	struct doca_compress *compress = dpumap_compress_of(base->ctx);
	uint32_t opcode =
		task->task.kind == COMPRESS_DEFLATE ? DPUMAP_WQE_COMPRESS : DPUMAP_WQE_DECOMPRESS;
	struct engine_piece from, to;
	doca_error_t result = find_pieces(task, &from, &to);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return dpumap_task_refuse(base, result);
	task->task.number = dpumap_sq_posted(compress->engine.sq);
	if (doca_unlikely(!dpumap_sq_post_stream(compress->engine.sq, opcode, control_of(task),
						 &to.at, &from.at)))
		return dpumap_task_refuse(base, DOCA_ERROR_AGAIN);
	return dpumap_engine_append(&compress->engine, base, flags);
}

/* --- completing ------------------------------------------------------------------------------- */

void dpumap_compress_log_data_error(const struct doca_task *base, enum dpumap_sq_data_error error)
{
	const struct compress_task *task = task_of(base);
	const bool compresses = task->task.kind == COMPRESS_DEFLATE;

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

/* False: the device reports more bytes than there was room for. */
static bool take_result(struct compress_task *task)
{
	const struct doca_compress *compress = dpumap_compress_of(task->task.base.ctx);
	const struct dpumap_sq_result *result =
		dpumap_sq_result(compress->engine.sq, task->task.number);
	const bool newer = compress->is_newer;
	uint32_t len = be32toh(result->len);

	if (doca_unlikely(len > dpumap_buf_room(task->dst))) {
		task->task.base.status = dpumap_fail(
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
	bool good = base->status == DOCA_SUCCESS && take_result(task);

	dpumap_engine_complete(base, good);
}
