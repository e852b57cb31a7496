/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure a task of doca_compress that decompresses, compared with the same work request by hand (mmo.h), and with zlib
 * on the CPU.
 */
#define ZLIB_CONST
#include <zlib.h>

#include <doca_compress.h>

#include "device.h"
#include "mmo.h"

#define DECOMPRESS 0x0300002fu

static struct doca_compress *compress_object;

static void on_end(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	mmo_count(doca_compress_task_decompress_deflate_as_task(task));
}

static struct doca_ctx *create(void)
{
	if (!bench_is_ok(doca_compress_create(mmo.dev, &compress_object), "a context") ||
	    !bench_is_ok(doca_compress_task_decompress_deflate_set_conf(compress_object, on_end,
									on_end, MMO_DEPTH),
			 "its tasks"))
		return NULL;
	return doca_compress_as_ctx(compress_object);
}

static doca_error_t alloc(const struct doca_buf *src, struct doca_buf *dst, struct doca_task **task)
{
	struct doca_compress_task_decompress_deflate *allocated = NULL;
	doca_error_t result = doca_compress_task_decompress_deflate_alloc_init(
		compress_object, src, dst, (union doca_data){0}, &allocated);

	*task = doca_compress_task_decompress_deflate_as_task(allocated);
	return result;
}

static void destroy(void)
{
	if (compress_object)
		doca_compress_destroy(compress_object);
}

/* A small text is stored. */
static bool fill(uint8_t *source, const uint8_t *text, size_t len)
{
	int level = len == MMO_SMALL ? Z_NO_COMPRESSION : Z_DEFAULT_COMPRESSION;
	z_stream z = {
		.next_in = text, .avail_in = (uInt)len, .next_out = source, .avail_out = MMO_BIG};
	bool done =
		deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK &&
		deflate(&z, Z_FINISH) == Z_STREAM_END;

	mmo.in = z.total_out;
	mmo.out = len;
	deflateEnd(&z);
	return done;
}

static bool inflate_one(const uint8_t *source, uint8_t *destination)
{
	z_stream z = {.next_in = source,
		      .avail_in = (uInt)mmo.in,
		      .next_out = destination,
		      .avail_out = (uInt)mmo.out};
	bool done = inflateInit2(&z, -MAX_WBITS) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END;

	inflateEnd(&z);
	return done;
}

int main(int argc, char **argv)
{
	static const struct mmo_ops ops = {
		.many = "streams",
		.title = "64 KiB decompressed",
		.ratio = "time of 64 KiB decompressed : work request",
		.opcode = DECOMPRESS,
		.fill = fill,
		.create = create,
		.alloc = alloc,
		.destroy = destroy,
		.cpu = "zlib",
		.on_cpu = inflate_one,
	};

	return mmo_main(&ops, argc, argv);
}
