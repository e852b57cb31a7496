/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_compress: what the engine of each card does, judged by zlib and LZ4, and what it refuses. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <lz4frame.h>
#include <xxhash.h>
#include <zlib.h>

#include <doca_compress.h>
#include <dpumap/mmap.h>

#include "base/array.h"
#include "tasks.h"

#define NUM	    8u
#define PATIENCE_MS 60000
#define FRAME_BEGIN \
	7 /* bytes before the first block of an LZ4 frame without options: magic, flags, their checksum */
#define FRAME_END 4 /* the mark after the last block */

enum kind { DEFLATE, INFLATE, LZ4, LZ4_STREAM, LZ4_BLOCK, NUM_KINDS };

static struct compress {
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	unsigned int num_done, num_failed;
	struct doca_task *last;
	doca_error_t last_error;
	uint64_t last_data;
	uint64_t order[4 * NUM];
} c;

static const union doca_data no_data;

/* --- kinds of tasks --------------------------------------------------------------------------- */

static void on_done(struct doca_task *task, union doca_data data)
{
	c.order[(c.num_done + c.num_failed) % ARRAY_SIZE(c.order)] = data.u64;
	c.num_done++;
	c.last = task;
	c.last_error = doca_task_get_status(task);
	assert_ok(c.last_error);
}

static void on_failed(struct doca_task *task, union doca_data data)
{
	c.order[(c.num_done + c.num_failed) % ARRAY_SIZE(c.order)] = data.u64;
	c.num_failed++;
	c.last = task;
	c.last_error = doca_task_get_status(task);
	assert_int_not_equal(c.last_error, DOCA_SUCCESS);
}

#define KIND(name)                                                                              \
	static void name##_done(struct doca_compress_task_##name *task, union doca_data data,   \
				union doca_data ctx_data)                                       \
	{                                                                                       \
		assert_ptr_equal(ctx_data.ptr, &c);                                             \
		on_done(doca_compress_task_##name##_as_task(task), data);                       \
	}                                                                                       \
	static void name##_failed(struct doca_compress_task_##name *task, union doca_data data, \
				  union doca_data ctx_data)                                     \
	{                                                                                       \
		assert_ptr_equal(ctx_data.ptr, &c);                                             \
		on_failed(doca_compress_task_##name##_as_task(task), data);                     \
	}                                                                                       \
	static doca_error_t name##_set_conf(uint32_t num)                                       \
	{                                                                                       \
		return doca_compress_task_##name##_set_conf(c.compress, name##_done,            \
							    name##_failed, num);                \
	}                                                                                       \
	static uint32_t name##_crc(struct doca_task *task)                                      \
	{                                                                                       \
		return doca_compress_task_##name##_get_crc_cs(                                  \
			(const struct doca_compress_task_##name *)task);                        \
	}
#define ALLOC(name)                                                                                \
	static doca_error_t name##_alloc(const struct doca_buf *src, struct doca_buf *dst,         \
					 union doca_data data, struct doca_task **task)            \
	{                                                                                          \
		struct doca_compress_task_##name *allocated = NULL;                                \
		doca_error_t result = doca_compress_task_##name##_alloc_init(c.compress, src, dst, \
									     data, &allocated);    \
                                                                                                   \
		if (result == DOCA_SUCCESS)                                                        \
			*task = doca_compress_task_##name##_as_task(allocated);                    \
		return result;                                                                     \
	}
#define SUM(name, sum)                                                   \
	static uint32_t name##_sum(struct doca_task *task)               \
	{                                                                \
		return doca_compress_task_##name##_get_##sum(            \
			(const struct doca_compress_task_##name *)task); \
	}

KIND(compress_deflate)
KIND(decompress_deflate)
KIND(decompress_lz4)
KIND(decompress_lz4_stream)
KIND(decompress_lz4_block)
ALLOC(compress_deflate)
ALLOC(decompress_deflate)
ALLOC(decompress_lz4)
ALLOC(decompress_lz4_block)
SUM(compress_deflate, adler_cs)
SUM(decompress_deflate, adler_cs)
SUM(decompress_lz4, adler_cs)
SUM(decompress_lz4_stream, xxh_cs)
SUM(decompress_lz4_block, xxh_cs)

static uint8_t has_checksums, are_independent;

static doca_error_t decompress_lz4_stream_alloc(const struct doca_buf *src, struct doca_buf *dst,
						union doca_data data, struct doca_task **task)
{
	struct doca_compress_task_decompress_lz4_stream *allocated = NULL;
	doca_error_t result = doca_compress_task_decompress_lz4_stream_alloc_init(
		c.compress, has_checksums, are_independent, src, dst, data, &allocated);

	if (result == DOCA_SUCCESS)
		*task = doca_compress_task_decompress_lz4_stream_as_task(allocated);
	return result;
}

static const struct {
	doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
	doca_error_t (*get_max_size)(const struct doca_devinfo *devinfo, uint64_t *size);
	doca_error_t (*get_max_list)(const struct doca_devinfo *devinfo, uint32_t *len);
	doca_error_t (*set_conf)(uint32_t num);
	doca_error_t (*alloc)(const struct doca_buf *src, struct doca_buf *dst,
			      union doca_data data, struct doca_task **task);
	uint32_t (*crc)(struct doca_task *task);
	uint32_t (*sum)(struct doca_task *task); /* Adler-32 or xxHash-32 */
} kinds[NUM_KINDS] = {
#define ROW(name)                                                                              \
	{                                                                                      \
		doca_compress_cap_task_##name##_is_supported,                                  \
			doca_compress_cap_task_##name##_get_max_buf_size,                      \
			doca_compress_cap_task_##name##_get_max_buf_list_len, name##_set_conf, \
			name##_alloc, name##_crc, name##_sum                                   \
	}
	[DEFLATE] = ROW(compress_deflate),
	[INFLATE] = ROW(decompress_deflate),
	[LZ4] = ROW(decompress_lz4),
	[LZ4_STREAM] = ROW(decompress_lz4_stream),
	[LZ4_BLOCK] = ROW(decompress_lz4_block),
};

/*
 * What the card must do: its kinds of tasks, and the logarithms of their longest sources. Emulated cards are not asked,
 * they are judged; hardware is asked.
 */
static unsigned int expected, log_max[NUM_KINDS];

static bool expects(enum kind kind)
{
	return expected & 1u << kind;
}

static void needs(enum kind kind)
{
	if (!expects(kind))
		test_lacks("the card's engine lacks this kind of tasks");
}

/* --- the fixture ------------------------------------------------------------------------------ */

static int open_compress(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	if (tasks_open(state))
		return -1;
	memset(&c, 0, sizeof(c));
	if (!expected)
		return 0;
	result = doca_compress_create(tasks.dev, &c.compress);
	if (result != DOCA_SUCCESS)
		return -1;
	c.ctx = doca_compress_as_ctx(c.compress);
	result = doca_pe_connect_ctx(tasks.pe, c.ctx);
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(c.ctx, (union doca_data){.ptr = &c}));
	for (unsigned int kind = 0; kind < NUM_KINDS; kind++)
		if (expects((enum kind)kind))
			DOCA_ERROR_PROPAGATE(result, kinds[kind].set_conf(NUM));
	return result == DOCA_SUCCESS ? 0 : -1;
}

static enum doca_ctx_states state_of(void)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(c.ctx, &now));
	return now;
}

static void stop(void)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	(void)doca_ctx_stop(c.ctx);
	while (state_of() != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
}

static int close_compress(void **state)
{
	if (c.compress) {
		stop();
		if (doca_compress_destroy(c.compress))
			return -1;
	}
	return tasks_close(state);
}

static void wait_for(unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	while (c.num_done + c.num_failed < num) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(c.num_done + c.num_failed, num);
}

/* Text, in the half of the memory that tasks read; the other half is the room. */
static void fill(size_t len)
{
	uint32_t random = 7;

	for (size_t i = 0; i < len; i++) {
		random = random * 1103515245 + 12345;
		tasks.bytes[i] = i > 999 && random >> 30 ? tasks.bytes[i - 999]
							 : (uint8_t)('a' + (random >> 20) % 20);
	}
}

static struct doca_buf *source(const uint8_t *bytes, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, tasks.mmap, (void *)bytes,
						     len, &buf));
	return buf;
}

static struct doca_buf *room(uint8_t *bytes, size_t len)
{
	struct doca_buf *buf;

	assert_ok(
		doca_buf_inventory_buf_get_by_addr(tasks.inventory, tasks.mmap, bytes, len, &buf));
	return buf;
}

static struct doca_task *alloc(enum kind kind, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = NULL;

	assert_ok(kinds[kind].alloc(src, dst, no_data, &task));
	return task;
}

/* Run a task over these bytes. Returns how many bytes it has produced. */
static size_t run(enum kind kind, const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len,
		  doca_error_t wanted)
{
	struct doca_buf *src = source(in, in_len), *dst = room(out, out_len);
	struct doca_task *task = alloc(kind, src, dst);
	size_t len = 0;

	c.num_done = c.num_failed = 0;
	assert_ok(doca_task_submit(task));
	wait_for(1);
	assert_ptr_equal(c.last, task);
	assert_error(c.last_error, wanted);
	assert_int_equal(c.num_failed, wanted != DOCA_SUCCESS);
	assert_ok(doca_buf_get_data_len(dst, &len));
	tasks_drop(src);
	tasks_drop(dst);
	return len;
}

static void start(void)
{
	assert_ok(doca_ctx_start(c.ctx));
}

/* Compress with zlib: a raw stream. */
static size_t deflate_all(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	z_stream z = {.next_in = (uint8_t *)in,
		      .avail_in = (uInt)in_len,
		      .next_out = out,
		      .avail_out = (uInt)out_len};
	size_t len;

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	len = z.total_out;
	deflateEnd(&z);
	return len;
}

/* The blocks of a frame that lz4 makes, without what is around them. */
static size_t lz4_all(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
	const LZ4F_preferences_t how = {
		.frameInfo = {.blockSizeID = LZ4F_max64KB,
			      .blockMode =
				      are_independent ? LZ4F_blockIndependent : LZ4F_blockLinked,
			      .blockChecksumFlag = has_checksums ? LZ4F_blockChecksumEnabled
								 : LZ4F_noBlockChecksum}};
	size_t n = LZ4F_compressFrame(out, out_len, in, in_len, &how);

	assert_false(LZ4F_isError(n));
	memmove(out, out + FRAME_BEGIN, n - FRAME_BEGIN - FRAME_END);
	return n - FRAME_BEGIN - FRAME_END;
}

/* --- capabilities ----------------------------------------------------------------------------- */

static void capabilities_are_those_of_the_card(void **state)
{
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(tasks.dev);
	struct doca_compress *none = NULL;

	for (unsigned int kind = 0; kind < NUM_KINDS; kind++) {
		doca_error_t wanted =
			expects((enum kind)kind) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
		uint64_t size = 77;
		uint32_t len = 77;

		assert_error(kinds[kind].is_supported(devinfo), wanted);
		assert_error(kinds[kind].get_max_size(devinfo, &size), wanted);
		assert_error(kinds[kind].get_max_list(devinfo, &len), wanted);
		assert_int_equal(size, wanted ? 77 : 1u << log_max[kind]);
		assert_int_equal(len, wanted ? 77 : 1);
		assert_error(kinds[kind].is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[kind].get_max_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[kind].get_max_size(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
		assert_error(kinds[kind].get_max_list(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
		if (wanted && expected)
			assert_error(kinds[kind].set_conf(1), DOCA_ERROR_NOT_SUPPORTED);
	}
	if (!expected)
		assert_error(doca_compress_create(tasks.dev, &none), DOCA_ERROR_INITIALIZATION);
	assert_error(doca_compress_create(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_compress_create(tasks.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
}

static void tasks_of_all_kinds_share_a_maximum(void **state)
{
	uint32_t max = 0;

	needs(INFLATE);
	assert_ok(doca_compress_cap_get_max_num_tasks(c.compress, &max));
	assert_in_range(max, 128, 8192);
	assert_error(doca_compress_cap_get_max_num_tasks(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_compress_cap_get_max_num_tasks(c.compress, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(kinds[INFLATE].set_conf(0), DOCA_ERROR_INVALID_VALUE);
	assert_error(kinds[INFLATE].set_conf(max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_compress_task_decompress_deflate_set_conf(c.compress, NULL,
								    decompress_deflate_failed, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_compress_task_decompress_deflate_set_conf(
			     c.compress, decompress_deflate_done, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	for (unsigned int kind = 0; kind < NUM_KINDS; kind++)
		if (kind != INFLATE && expects((enum kind)kind))
			max -= NUM;
	assert_error(kinds[INFLATE].set_conf(max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(kinds[INFLATE].set_conf(max));
	start();
	assert_error(kinds[INFLATE].set_conf(1), DOCA_ERROR_BAD_STATE);
}

static void a_context_without_tasks_does_not_start(void **state)
{
	struct doca_compress *idle;

	needs(INFLATE);
	assert_ok(doca_compress_create(tasks.dev, &idle));
	assert_ok(doca_pe_connect_ctx(tasks.pe, doca_compress_as_ctx(idle)));
	assert_error(doca_ctx_start(doca_compress_as_ctx(idle)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_compress_destroy(idle));
}

/* --- what the engine does --------------------------------------------------------------------- */

static size_t longest(enum kind kind)
{
	return log_max[kind] < 19 ? (size_t)1 << log_max[kind] : TASKS_LEN / 2;
}

static void assert_sums(enum kind kind, const uint8_t *plain, size_t len)
{
	uint32_t xxh = XXH32(plain, len, 0);

	assert_int_equal(kinds[kind].crc(c.last), crc32(0, plain, (uInt)len));
	if (kind < LZ4_STREAM)
		assert_int_equal(kinds[kind].sum(c.last), adler32(1, plain, (uInt)len));
	else
		assert_int_equal(kinds[kind].sum(c.last), __builtin_bswap32(xxh));
}

static void assert_plain(enum kind kind, size_t in_len, size_t len)
{
	uint8_t *packed = tasks.bytes + TASKS_LEN, *again = tasks.bytes + TASKS_LEN / 2;

	memset(again, 0, len);
	assert_int_equal(run(kind, packed, in_len, again, len, DOCA_SUCCESS), len);
	assert_memory_equal(again, tasks.bytes, len);
	assert_sums(kind, tasks.bytes, len);
	doca_task_free(c.last);
}

static void zlib_reads_what_was_compressed(void **state)
{
	uint8_t *packed = tasks.bytes + TASKS_LEN, *again = tasks.bytes + TASKS_LEN / 2;
	const size_t lens[] = {1, 1000, 65536, longest(DEFLATE)};

	needs(DEFLATE);
	start();
	fill(longest(DEFLATE));
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		size_t n = run(DEFLATE, tasks.bytes, lens[i], packed, TASKS_LEN, DOCA_SUCCESS);
		z_stream z = {.next_in = packed,
			      .avail_in = (uInt)n,
			      .next_out = again,
			      .avail_out = (uInt)lens[i] + 1};

		assert_sums(DEFLATE, tasks.bytes, lens[i]);
		doca_task_free(c.last);
		assert_int_equal(inflateInit2(&z, -15), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.total_out, lens[i]);
		assert_int_equal(z.avail_in, 0);
		assert_memory_equal(again, tasks.bytes, lens[i]);
		inflateEnd(&z);
		if (n <= 1u << log_max[INFLATE])
			assert_plain(INFLATE, n, lens[i]);
	}
}

static void what_zlib_compressed_is_read(void **state)
{
	const size_t lens[] = {1, 1000, 65536, longest(INFLATE)};

	needs(INFLATE);
	start();
	fill(longest(INFLATE));
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++)
		assert_plain(INFLATE,
			     deflate_all(tasks.bytes, lens[i], tasks.bytes + TASKS_LEN, TASKS_LEN),
			     lens[i]);
}

static void what_lz4_compressed_is_read(void **state)
{
	const size_t lens[] = {1, 1000, 65536, 65537, longest(INFLATE)};

	needs(LZ4_STREAM);
	start();
	fill(longest(INFLATE));
	for (unsigned int form = 0; form < 4; form++)
		for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
			size_t n;

			has_checksums = form & 1;
			are_independent = form >> 1;
			n = lz4_all(tasks.bytes, lens[i], tasks.bytes + TASKS_LEN, TASKS_LEN);
			assert_plain(LZ4_STREAM, n, lens[i]);
			if (!has_checksums)
				assert_plain(LZ4, n, lens[i]);
		}
}

static void single_blocks_of_lz4_are_read(void **state)
{
	int n;

	needs(LZ4_BLOCK);
	start();
	fill(50000);
	n = LZ4_compress_default((char *)tasks.bytes, (char *)tasks.bytes + TASKS_LEN, 50000,
				 TASKS_LEN);
	assert_plain(LZ4_BLOCK, (size_t)n, 50000);
}

/* Programs leave room for a header, and keep their task. */
static void results_are_appended_and_tasks_used_again(void **state)
{
	uint8_t *out = tasks.bytes + TASKS_LEN / 2;
	struct doca_buf *src, *dst, *other;
	struct doca_compress_task_decompress_deflate *task;
	void *head, *data;
	size_t n, len;

	needs(INFLATE);
	start();
	fill(1000);
	n = deflate_all(tasks.bytes, 1000, tasks.bytes + TASKS_LEN, TASKS_LEN);
	src = source(tasks.bytes + TASKS_LEN, n);
	dst = room(out, 5000);
	other = room(out + 5000, 5000);
	assert_ok(doca_buf_set_data(dst, out + 2, 3));
	assert_ok(doca_compress_task_decompress_deflate_alloc_init(c.compress, NULL, NULL, no_data,
								   &task));
	doca_compress_task_decompress_deflate_set_src(task, src);
	doca_compress_task_decompress_deflate_set_dst(task, dst);
	assert_ptr_equal(doca_compress_task_decompress_deflate_get_src(task), src);
	assert_ptr_equal(doca_compress_task_decompress_deflate_get_dst(task), dst);
	for (unsigned int i = 1; i <= 2; i++) {
		assert_ok(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
		wait_for(i);
		assert_ok(doca_buf_get_data_len(dst, &len));
		assert_int_equal(len, 3 + i * 1000);
		assert_memory_equal(out + 5 + (i - 1) * 1000, tasks.bytes, 1000);
	}
	assert_ok(doca_buf_get_head(dst, &head));
	assert_ok(doca_buf_get_data(dst, &data));
	assert_ptr_equal(head, out);
	assert_ptr_equal(data, out + 2);
	doca_compress_task_decompress_deflate_set_dst(task, other);
	assert_ok(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	wait_for(3);
	assert_memory_equal(out + 5000, tasks.bytes, 1000);
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	tasks_drop(src);
	tasks_drop(dst);
	tasks_drop(other);
}

static void expect_settings(const struct doca_compress_task_decompress_lz4_stream *task,
			    uint8_t checksum, uint8_t independent)
{
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task),
			 checksum);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task),
			 independent);
}

static void settings_of_lz4_streams_can_change(void **state)
{
	struct doca_compress_task_decompress_lz4_stream *task;

	needs(LZ4_STREAM);
	start();
	/* The second task is the first one again. */
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(doca_compress_task_decompress_lz4_stream_alloc_init(
			c.compress, 1, 0, NULL, NULL, no_data, &task));
		expect_settings(task, 1, 0);
		doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, 0);
		doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, 1);
		expect_settings(task, 0, 1);
		doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(task));
	}
}

/* All tasks in flight, of several kinds, with one doorbell. */
static void tasks_complete_in_their_order(void **state)
{
	struct doca_task *all[2 * NUM];
	struct doca_buf *bufs[4 * NUM];
	unsigned int num = 0;
	size_t n, z;

	needs(INFLATE);
	start();
	fill(20000);
	has_checksums = are_independent = 0;
	n = deflate_all(tasks.bytes, 20000, tasks.bytes + TASKS_LEN, TASKS_LEN / 2);
	z = lz4_all(tasks.bytes, 20000, tasks.bytes + TASKS_LEN + n, TASKS_LEN / 2);
	for (unsigned int i = 0; i < 2 * NUM; i++) {
		enum kind kind = i & 1 && expects(LZ4_STREAM) ? LZ4_STREAM : INFLATE;

		if (kind == INFLATE && i & 1)
			continue;
		bufs[2 * num] = kind == INFLATE ? source(tasks.bytes + TASKS_LEN, n)
						: source(tasks.bytes + TASKS_LEN + n, z);
		bufs[2 * num + 1] = room(tasks.bytes + 20000 * (num + 1), 20000);
		assert_ok(kinds[kind].alloc(bufs[2 * num], bufs[2 * num + 1],
					    (union doca_data){.u64 = num}, &all[num]));
		assert_ok(doca_task_submit_ex(all[num], DOCA_TASK_SUBMIT_FLAG_NONE));
		num++;
	}
	doca_ctx_flush_tasks(c.ctx);
	wait_for(num);
	for (unsigned int i = 0; i < num; i++) {
		assert_int_equal(c.order[i], i);
		assert_memory_equal(tasks.bytes + 20000 * (i + 1), tasks.bytes, 20000);
		doca_task_free(all[i]);
		tasks_drop(bufs[2 * i]);
		tasks_drop(bufs[2 * i + 1]);
	}
}

static void an_event_tells_of_completions(void **state)
{
	struct pollfd handle = {.events = POLLIN};
	struct doca_buf *src, *dst;
	struct doca_task *task;

	needs(INFLATE);
	start();
	assert_ok(doca_pe_get_notification_handle(tasks.pe, &handle.fd));
	fill(longest(INFLATE) / 2);
	src = source(tasks.bytes + TASKS_LEN, deflate_all(tasks.bytes, longest(INFLATE) / 2,
							  tasks.bytes + TASKS_LEN, TASKS_LEN));
	dst = room(tasks.bytes + TASKS_LEN / 2, longest(INFLATE) / 2);
	task = alloc(INFLATE, src, dst);
	assert_ok(doca_task_submit(task));
	while (!c.num_done) {
		assert_ok(doca_pe_request_notification(tasks.pe));
		assert_int_equal(poll(&handle, 1, PATIENCE_MS), 1);
		assert_ok(doca_pe_clear_notification(tasks.pe, 0));
		(void)doca_pe_progress(tasks.pe);
	}
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
}

/* --- data that are wrong: the task fails, and the context goes on ------------------------------ */

static void expect_failure(enum kind kind, size_t in_len, size_t out_len)
{
	assert_int_equal(run(kind, tasks.bytes + TASKS_LEN, in_len, tasks.bytes + TASKS_LEN / 2,
			     out_len, DOCA_ERROR_IO_FAILED),
			 0);
	doca_task_free(c.last);
	assert_int_equal(state_of(), DOCA_CTX_STATE_RUNNING);
}

static void streams_that_are_not_whole_fail_alone(void **state)
{
	size_t n;

	needs(INFLATE);
	start();
	fill(3000);
	n = deflate_all(tasks.bytes, 3000, tasks.bytes + TASKS_LEN, TASKS_LEN);
	expect_failure(INFLATE, n - 1, 3000);
	expect_failure(INFLATE, 1, 3000);
	expect_failure(INFLATE, n, 2999);
	assert_plain(INFLATE, n, 3000);
	if (!expects(LZ4_STREAM))
		return;
	has_checksums = are_independent = 1;
	n = lz4_all(tasks.bytes, 3000, tasks.bytes + TASKS_LEN, TASKS_LEN);
	expect_failure(LZ4_STREAM, n - 1, 3000);
	expect_failure(LZ4_STREAM, n, 2999);
	tasks.bytes[TASKS_LEN + n - 1] ^= 1;
	expect_failure(LZ4_STREAM, n, 3000);
	tasks.bytes[TASKS_LEN + n - 1] ^= 1;
	assert_plain(LZ4_STREAM, n, 3000);
}

static void a_result_without_room_fails_alone(void **state)
{
	needs(DEFLATE);
	start();
	fill(3000);
	memcpy(tasks.bytes + TASKS_LEN, tasks.bytes, 3000);
	expect_failure(DEFLATE, 3000, 100);
	assert_true(run(DEFLATE, tasks.bytes, 3000, tasks.bytes + TASKS_LEN, 3000, DOCA_SUCCESS) >
		    0);
	doca_task_free(c.last);
}

/* --- tasks that are wrong: refused ------------------------------------------------------------- */

static void refuse(struct doca_task *task, struct doca_buf *src, struct doca_buf *dst,
		   doca_error_t wanted)
{
	struct doca_compress_task_decompress_deflate *inflate =
		(struct doca_compress_task_decompress_deflate *)task;
	size_t inflight = 77;

	doca_compress_task_decompress_deflate_set_src(inflate, src);
	doca_compress_task_decompress_deflate_set_dst(inflate, dst);
	assert_error(doca_task_submit(task), wanted);
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_get_num_inflight_tasks(c.ctx, &inflight));
	assert_int_equal(inflight, 0);
}

static void bad_bufs_are_refused_when_they_are_submitted(void **state)
{
	struct doca_buf *src, *dst, *second, *empty, *too_long;
	struct doca_task *task;

	needs(INFLATE);
	start();
	src = source(tasks.bytes, 100);
	dst = room(tasks.bytes + TASKS_LEN, 100);
	second = source(tasks.bytes + 200, 100);
	empty = room(tasks.bytes, 100);
	too_long = source(tasks.bytes, 2 * TASKS_LEN);
	task = alloc(INFLATE, src, dst);
	refuse(task, NULL, dst, DOCA_ERROR_INVALID_VALUE);
	refuse(task, src, NULL, DOCA_ERROR_INVALID_VALUE);
	refuse(task, empty, dst, DOCA_ERROR_INVALID_VALUE);
	refuse(task, src, second, DOCA_ERROR_INVALID_VALUE); /* full */
	if (log_max[INFLATE] < 21)
		refuse(task, too_long, dst, DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_chain_list(src, second));
	refuse(task, src, dst, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(c.num_done + c.num_failed, 0);
	assert_int_equal(state_of(), DOCA_CTX_STATE_RUNNING);
	doca_task_free(task);
	tasks_drop(src); /* with the second one */
	tasks_drop(dst);
	tasks_drop(too_long);
	tasks_drop(empty);
}

/* The exporter gives the right to read alone, so the library knows that the engine may not write. */
static void an_import_without_the_right_is_no_destination(void **state)
{
	struct doca_mmap *exported, *peer;
	struct doca_buf *src, *dst;
	struct doca_task *task;
	size_t n;

	needs(INFLATE);
	start();
	fill(1000);
	n = deflate_all(tasks.bytes, 1000, tasks.bytes + TASKS_LEN, TASKS_LEN);
	assert_ok(doca_mmap_create(&exported));
	assert_ok(doca_mmap_set_memrange(exported, tasks.bytes, TASKS_LEN));
	assert_ok(doca_mmap_add_dev(exported, tasks.dev));
	assert_ok(doca_mmap_set_permissions(exported, LOCAL_RW | PCI_RO));
	assert_ok(doca_mmap_start(exported));
	peer = fixture_import_pci(tasks.dev, exported);
	src = source(tasks.bytes + TASKS_LEN, n);
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, peer,
						     tasks.bytes + TASKS_LEN / 2, 1000, &dst));
	task = alloc(INFLATE, src, dst);
	refuse(task, src, dst, DOCA_ERROR_NOT_PERMITTED);
	doca_task_free(task);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(peer));
	assert_ok(doca_mmap_destroy(exported));
}

/* The data of a DPU go to the host's memory without a copy. */
static void an_import_is_source_and_destination(void **state)
{
	struct doca_mmap *exported, *peer;
	struct doca_buf *src, *dst;
	struct doca_task *task;
	size_t n;

	needs(INFLATE);
	start();
	fill(1000);
	n = deflate_all(tasks.bytes, 1000, tasks.bytes + TASKS_LEN / 4, TASKS_LEN / 4);
	assert_ok(doca_mmap_create(&exported));
	assert_ok(doca_mmap_set_memrange(exported, tasks.bytes, TASKS_LEN));
	assert_ok(doca_mmap_add_dev(exported, tasks.dev));
	assert_ok(doca_mmap_set_permissions(exported, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_start(exported));
	peer = fixture_import_pci(tasks.dev, exported);
	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, peer,
						     tasks.bytes + TASKS_LEN / 4, n, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, peer,
						     tasks.bytes + TASKS_LEN / 2, 1000, &dst));
	task = alloc(INFLATE, src, dst);
	assert_ok(doca_task_submit(task));
	wait_for(1);
	assert_ok(c.last_error);
	assert_memory_equal(tasks.bytes + TASKS_LEN / 2, tasks.bytes, 1000);
	/* Revoked: the device refuses it, and its queue has failed. */
	assert_ok(doca_buf_reset_data_len(dst));
	assert_ok(dpumap_mmap_revoke_pci(exported, tasks.dev));
	assert_ok(doca_task_submit(task));
	wait_for(2);
	assert_error(c.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(state_of(), DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	assert_int_equal(state_of(), DOCA_CTX_STATE_IDLE);
	start();
	doca_task_free(alloc(INFLATE, src, dst));
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(peer));
	assert_ok(doca_mmap_destroy(exported));
}

static void tasks_behind_a_refused_one_are_flushed(void **state)
{
	static uint8_t constant[4096] __attribute__((aligned(4096)));
	struct doca_buf *src, *dst, *bad;
	struct doca_task *all[3];
	struct doca_mmap *read_only;
	size_t n;

	needs(INFLATE);
	start();
	fill(1000);
	n = deflate_all(tasks.bytes, 1000, tasks.bytes + TASKS_LEN, TASKS_LEN);
	assert_ok(doca_mmap_create(&read_only));
	assert_ok(doca_mmap_set_memrange(read_only, constant, sizeof(constant)));
	assert_ok(doca_mmap_add_dev(read_only, tasks.dev));
	assert_ok(doca_mmap_set_permissions(read_only, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	assert_ok(doca_mmap_start(read_only));
	src = source(tasks.bytes + TASKS_LEN, n);
	dst = room(tasks.bytes + TASKS_LEN / 2, 1000);
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, read_only, constant, 1000,
						     &bad));
	for (unsigned int i = 0; i < 3; i++) {
		all[i] = alloc(INFLATE, src, i ? dst : bad);
		assert_ok(doca_task_submit_ex(all[i], DOCA_TASK_SUBMIT_FLAG_NONE));
	}
	doca_ctx_flush_tasks(c.ctx);
	wait_for(3);
	assert_error(doca_task_get_status(all[0]), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_task_get_status(all[1]), DOCA_ERROR_SHUTDOWN);
	assert_error(doca_task_get_status(all[2]), DOCA_ERROR_SHUTDOWN);
	assert_int_equal(c.num_failed, 3);
	for (unsigned int i = 0; i < 3; i++)
		doca_task_free(all[i]);
	assert_int_equal(state_of(), DOCA_CTX_STATE_IDLE);
	tasks_drop(src);
	tasks_drop(dst);
	tasks_drop(bad);
	assert_ok(doca_mmap_destroy(read_only));
}

static void all_tasks_of_a_kind_can_be_allocated(void **state)
{
	struct doca_task *all[NUM], *more = NULL;

	needs(INFLATE);
	assert_error(kinds[INFLATE].alloc(NULL, NULL, no_data, &more), DOCA_ERROR_BAD_STATE);
	start();
	for (unsigned int i = 0; i < NUM; i++)
		all[i] = alloc(INFLATE, NULL, NULL);
	assert_error(kinds[INFLATE].alloc(NULL, NULL, no_data, &more), DOCA_ERROR_NO_MEMORY);
	if (expects(LZ4_STREAM))
		doca_task_free(alloc(LZ4_STREAM, NULL, NULL));
	for (unsigned int i = 0; i < NUM; i++)
		doca_task_free(all[i]);
	assert_null(more);
	assert_error(
		doca_compress_task_decompress_deflate_alloc_init(NULL, NULL, NULL, no_data, NULL),
		DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_compress_task_decompress_deflate_as_task(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_compress, close_compress)

static void ask(void)
{
	struct doca_dev *dev;
	uint64_t size;

	if (fixture_open_device(&dev))
		return;
	for (unsigned int kind = 0; kind < NUM_KINDS; kind++)
		if (kinds[kind].get_max_size(doca_dev_as_devinfo(dev), &size) == DOCA_SUCCESS) {
			expected |= 1u << kind;
			log_max[kind] = 63u - (unsigned int)__builtin_clzll(size);
		}
	doca_dev_close(dev);
}

static void find_expectations(void)
{
	if (!getenv("DPUMAP_TEST_COMPRESS")) {
		ask();
		return;
	}
	expected = (unsigned int)test_setting("DPUMAP_TEST_COMPRESS", 0);
	for (unsigned int kind = 0; kind < NUM_KINDS; kind++)
		log_max[kind] = (unsigned int)test_setting(
			kind == DEFLATE ? "DPUMAP_TEST_LOG_COMPRESS" : "DPUMAP_TEST_LOG_DECOMPRESS",
			21);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(capabilities_are_those_of_the_card),
		TEST(tasks_of_all_kinds_share_a_maximum),
		TEST(a_context_without_tasks_does_not_start),
		TEST(zlib_reads_what_was_compressed),
		TEST(what_zlib_compressed_is_read),
		TEST(what_lz4_compressed_is_read),
		TEST(single_blocks_of_lz4_are_read),
		TEST(results_are_appended_and_tasks_used_again),
		TEST(settings_of_lz4_streams_can_change),
		TEST(tasks_complete_in_their_order),
		TEST(an_event_tells_of_completions),
		TEST(streams_that_are_not_whole_fail_alone),
		TEST(a_result_without_room_fails_alone),
		TEST(bad_bufs_are_refused_when_they_are_submitted),
		TEST(an_import_without_the_right_is_no_destination),
		TEST(an_import_is_source_and_destination),
		TEST(tasks_behind_a_refused_one_are_flushed),
		TEST(all_tasks_of_a_kind_can_be_allocated),
	};

	test_parse_options(argc, argv);
	find_expectations();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
