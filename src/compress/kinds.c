/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The functions of users that all kinds of tasks have alike. */
#include "compress/compress.h"

#include "log/log.h"

#define CAPS(name, kind)                                                                   \
	doca_error_t doca_compress_cap_task_##name##_is_supported(                         \
		const struct doca_devinfo *devinfo)                                        \
	{                                                                                  \
		return dpumap_compress_is_supported(devinfo, kind, __func__);              \
	}                                                                                  \
	doca_error_t doca_compress_cap_task_##name##_get_max_buf_size(                     \
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size)                \
	{                                                                                  \
		return dpumap_compress_get_max_len(devinfo, kind, max_buf_size, __func__); \
	}                                                                                  \
	doca_error_t doca_compress_cap_task_##name##_get_max_buf_list_len(                 \
		const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)            \
	{                                                                                  \
		return dpumap_compress_get_max_list_len(devinfo, kind, max_buf_list_len,   \
							__func__);                         \
	}

#define TASK(name, kind)                                                \
	ENGINE_TASK(doca_compress, name, kind, struct compress_task)    \
	ENGINE_FIELD(doca_compress, name, src, const struct doca_buf *) \
	ENGINE_FIELD(doca_compress, name, dst, struct doca_buf *)

#define ALLOC(name, kind)                                                                         \
	doca_error_t doca_compress_task_##name##_alloc_init(                                      \
		struct doca_compress *compress, const struct doca_buf *src, struct doca_buf *dst, \
		union doca_data user_data, struct doca_compress_task_##name **task)               \
	{                                                                                         \
		struct compress_task *taken;                                                      \
		doca_error_t result;                                                              \
                                                                                                  \
		if (!compress || !task)                                                           \
			return dpumap_fail_null(__func__);                                        \
		taken = dpumap_compress_take(compress, kind, src, dst, user_data, &result,        \
					     __func__);                                           \
		if (taken)                                                                        \
			*task = (struct doca_compress_task_##name *)taken;                        \
		return result;                                                                    \
	}

#define SUM(name, sum, field)                                 \
	uint32_t doca_compress_task_##name##_get_##sum(       \
		const struct doca_compress_task_##name *task) \
	{                                                     \
		return task->task.field;                      \
	}

#define KIND(name, kind) CAPS(name, kind) TASK(name, kind) SUM(name, crc_cs, crc)

KIND(compress_deflate, COMPRESS_DEFLATE)
KIND(decompress_deflate, COMPRESS_INFLATE)
KIND(decompress_lz4, COMPRESS_LZ4)
KIND(decompress_lz4_stream, COMPRESS_LZ4_STREAM)
KIND(decompress_lz4_block, COMPRESS_LZ4_BLOCK)

ALLOC(compress_deflate, COMPRESS_DEFLATE)
ALLOC(decompress_deflate, COMPRESS_INFLATE)
ALLOC(decompress_lz4, COMPRESS_LZ4)
ALLOC(decompress_lz4_block, COMPRESS_LZ4_BLOCK)

SUM(compress_deflate, adler_cs, adler)
SUM(decompress_deflate, adler_cs, adler)
SUM(decompress_lz4, adler_cs, adler)
SUM(decompress_lz4_stream, xxh_cs, xxh)
SUM(decompress_lz4_block, xxh_cs, xxh)

void (*const dpumap_compress_calls[COMPRESS_NUM_KINDS])(struct engine_task *, engine_callback *) = {
	[COMPRESS_DEFLATE] = call_compress_deflate,
	[COMPRESS_INFLATE] = call_decompress_deflate,
	[COMPRESS_LZ4] = call_decompress_lz4,
	[COMPRESS_LZ4_STREAM] = call_decompress_lz4_stream,
	[COMPRESS_LZ4_BLOCK] = call_decompress_lz4_block,
};

/* --- LZ4 streams ------------------------------------------------------------------------------ */

doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(
	struct doca_compress *compress, uint8_t has_block_checksum, uint8_t are_blocks_independent,
	const struct doca_buf *src, struct doca_buf *dst, union doca_data user_data,
	struct doca_compress_task_decompress_lz4_stream **task)
{
	struct compress_task *taken;
	doca_error_t result;

	if (!compress || !task)
		return dpumap_fail_null(__func__);
	taken = dpumap_compress_take(compress, COMPRESS_LZ4_STREAM, src, dst, user_data, &result,
				     __func__);
	if (!taken)
		return result;
	taken->has_block_checksum = has_block_checksum;
	taken->are_blocks_independent = are_blocks_independent;
	*task = (struct doca_compress_task_decompress_lz4_stream *)taken;
	return DOCA_SUCCESS;
}

void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t has_block_checksum)
{
	task->task.has_block_checksum = has_block_checksum;
}

uint8_t doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
	const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task->task.has_block_checksum;
}

void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(
	struct doca_compress_task_decompress_lz4_stream *task, uint8_t are_blocks_independent)
{
	task->task.are_blocks_independent = are_blocks_independent;
}

uint8_t doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(
	const struct doca_compress_task_decompress_lz4_stream *task)
{
	return task->task.are_blocks_independent;
}
