/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The compression engine: what zlib and LZ4 say to its streams, what it says to theirs, and what it refuses. */
#include "engine_pair.h"

#include <string.h>

#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"

#define LOG_LIMIT 21
#define BIG	  (1u << LOG_LIMIT)
#define FRAME_BEGIN \
	7 /* bytes before the first block: magic, two bytes of flags, a checksum of them */
#define FRAME_END 4 /* the mark after the last block */

/* The last word of the control segment. */
#define CONTROL_DEFLATE(window, block, table) ((window) << 12 | (block) << 16 | (table) << 20)
#define CONTROL_DYNAMIC			      CONTROL_DEFLATE(5u, 15u, 15u)
#define CONTROL_INFLATE			      0u
#define CONTROL_LZ4(form, independent)	      (2u << 8 | (form) << 20 | (independent) << 22)

#define VENDOR				      0x9d
#define BAD_DATA			      0x11
#define TOO_LONG			      0x84

enum opmod { COMPRESS = 2, DECOMPRESS = 3 };

/* Offsets of results, in words. */
enum {
	SYNDROME,
	LENGTH = 2,
	NEW_CRC32,
	NEW_ADLER32,
	NEW_CRC32C,
	NEW_XXH32,
	OLD_CRC32 = 8,
	OLD_ADLER32
};

struct rig {
	struct pair *p;
	struct fixture_qp qp;
	uint8_t *plain, *packed, *result; /* of A, BIG bytes, twice BIG bytes and 256 bytes */
	uint32_t key;
};

static struct rig rig;

static void set_engine(struct fixture_qp *qp, bool compresses, bool newer)
{
	qp->entry->mmo = (struct emu_mmo){.log_copy = LOG_LIMIT,
					  .log_compress = compresses ? LOG_LIMIT : 0,
					  .log_decompress = LOG_LIMIT,
					  .newer = newer};
}

static int setup(void **state)
{
	uint8_t *memory;

	if (pair_setup(state))
		return -1;
	rig.p = *state;
	add_loopback(rig.p, &rig.qp);
	set_engine(&rig.qp, true, false);
	memory = fixture_alloc(3 * BIG + 4096);
	rig.plain = memory;
	rig.packed = memory + BIG;
	rig.result = memory + 3 * BIG;
	rig.key = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, memory, 3 * BIG + 4096);
	return 0;
}

static int teardown(void **state)
{
	int result = pair_teardown(state);

	munmap(rig.plain, 3 * BIG + 4096);
	return result;
}

/* Text with some repetition. */
static void fill(uint8_t *out, size_t len)
{
	uint32_t random = 1;

	for (size_t i = 0; i < len; i++) {
		random = random * 1103515245 + 12345;
		out[i] = i > 5000 && random >> 29 ? out[i - 4321]
						  : (uint8_t)('a' + (random >> 20) % 26);
	}
}

static uint32_t result_word(unsigned int word)
{
	return emu_get32(rig.result + (size_t)4 * word);
}

static struct fixture_wr request(enum opmod opmod, uint32_t control, struct fixture_sge src,
				 struct fixture_sge dst)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	wr.raw[0] = opmod;
	emu_put32(wr.raw + 12, control);
	fixture_wr_meta(&wr, rig.result, rig.key);
	fixture_wr_sge(&wr, &src);
	fixture_wr_sge(&wr, &dst);
	return wr;
}

static void post(struct fixture_qp *qp, enum opmod opmod, uint32_t control, struct fixture_sge src,
		 struct fixture_sge dst)
{
	struct fixture_wr wr = request(opmod, control, src, dst);

	memset(rig.result, 0xee, 256);
	post_one(qp, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
}

static struct fixture_sge part(const uint8_t *from, size_t len)
{
	return (struct fixture_sge){from, (uint32_t)len, rig.key};
}

/* Returns the length of the output. */
static uint32_t run(enum opmod opmod, uint32_t control, struct fixture_sge src,
		    struct fixture_sge dst)
{
	struct fixture_cqe cqe;

	post(&rig.qp, opmod, control, src, dst);
	cqe = fixture_expect(&rig.p->cq_a, 0);
	assert_int_equal(cqe.wqe_opcode, EMU_WQE_MMO);
	assert_int_equal(result_word(SYNDROME), 0);
	assert_int_equal(result_word(LENGTH), cqe.byte_cnt);
	return cqe.byte_cnt;
}

static void assert_older_sums(size_t len)
{
	assert_int_equal(result_word(OLD_CRC32), crc32(0, rig.plain, (uInt)len));
	assert_int_equal(result_word(OLD_ADLER32), adler32(1, rig.plain, (uInt)len));
}

static uint32_t swap(uint32_t v)
{
	return __builtin_bswap32(v);
}

static void assert_newer_sums(size_t len)
{
	assert_int_equal(result_word(NEW_CRC32), crc32(0, rig.plain, (uInt)len));
	assert_int_equal(result_word(NEW_ADLER32), adler32(1, rig.plain, (uInt)len));
	assert_int_equal(result_word(NEW_XXH32), swap(XXH32(rig.plain, len, 0)));
}

/* What zlib reads with this window, which must be all of the stream. */
static void assert_inflates(int log_window, size_t packed, size_t len)
{
	uint8_t *out = malloc(len + 1);
	z_stream z = {.next_in = rig.packed,
		      .avail_in = (uInt)packed,
		      .next_out = out,
		      .avail_out = (uInt)len + 1};

	assert_non_null(out);
	assert_int_equal(inflateInit2(&z, -log_window), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, len);
	assert_memory_equal(out, rig.plain, len);
	inflateEnd(&z);
	free(out);
}

/* Put a stream of zlib's into the packed memory. */
static size_t deflate_all(size_t len, int level)
{
	z_stream z = {.next_in = rig.plain,
		      .avail_in = (uInt)len,
		      .next_out = rig.packed,
		      .avail_out = 2 * BIG};
	size_t n;

	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	n = z.total_out;
	deflateEnd(&z);
	return n;
}

/* Put the blocks of a frame into the packed memory, without what is around them. */
static size_t lz4_all(size_t len, bool linked, bool checked)
{
	const LZ4F_preferences_t how = {
		.frameInfo = {.blockSizeID = LZ4F_max64KB,
			      .blockMode = linked ? LZ4F_blockLinked : LZ4F_blockIndependent,
			      .blockChecksumFlag =
				      checked ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum}};
	size_t n = LZ4F_compressFrame(rig.packed, 2 * BIG, rig.plain, len, &how);

	assert_false(LZ4F_isError(n));
	memmove(rig.packed, rig.packed + FRAME_BEGIN, n - FRAME_BEGIN - FRAME_END);
	return n - FRAME_BEGIN - FRAME_END;
}

static void decompress(uint32_t control, size_t packed, size_t len)
{
	uint8_t *expected = malloc(len);

	assert_non_null(expected);
	memcpy(expected, rig.plain, len);
	memset(rig.plain, 0, BIG);
	assert_int_equal(run(DECOMPRESS, control, part(rig.packed, packed), part(rig.plain, len)),
			 len);
	assert_memory_equal(rig.plain, expected, len);
	free(expected);
}

static const size_t lengths[] = {1, 2, 100, 4096, 65535, 65536, 65537, 131073, 700001, BIG};

/* --- what it does ----------------------------------------------------------------------------- */

static void zlib_reads_what_the_engine_compresses(void **state)
{
	(void)state;
	fill(rig.plain, BIG);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		uint32_t n = run(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, lengths[i]),
				 part(rig.packed, 2 * BIG));

		assert_older_sums(lengths[i]);
		assert_inflates(15, n, lengths[i]);
	}
}

static void windows_are_not_larger_than_requested(void **state)
{
	(void)state;
	fill(rig.plain, BIG);
	for (uint32_t window = 0; window <= 5; window++) {
		uint32_t n = run(COMPRESS, CONTROL_DEFLATE(window, 4u, 15u),
				 part(rig.plain, 200000), part(rig.packed, 2 * BIG));

		assert_inflates(10 + (int)window, n, 200000);
	}
}

/* The first bits of the stream say which codes its first block has: RFC 1951, 3.2.3. */
static void codes_are_fixed_or_dynamic_as_requested(void **state)
{
	(void)state;
	fill(rig.plain, 20000);
	run(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, 20000), part(rig.packed, BIG));
	assert_int_equal(rig.packed[0] >> 1 & 3, 2);
	run(COMPRESS, CONTROL_DEFLATE(5u, 15u, 0u), part(rig.plain, 20000), part(rig.packed, BIG));
	assert_int_equal(rig.packed[0] >> 1 & 3, 1);
}

static void the_engine_reads_what_zlib_compresses(void **state)
{
	(void)state;
	fill(rig.plain, BIG);
	for (int level = 0; level <= 9; level += 3)
		for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
			size_t n = deflate_all(lengths[i], level);

			if (n > BIG)
				continue; /* stored, and longer than an input may be */
			decompress(CONTROL_INFLATE, n, lengths[i]);
			assert_older_sums(lengths[i]);
		}
}

static void bytes_behind_the_final_block_are_ignored(void **state)
{
	size_t n;

	(void)state;
	fill(rig.plain, 1000);
	n = deflate_all(1000, 6);
	memset(rig.packed + n, 0xff, 100);
	decompress(CONTROL_INFLATE, n + 100, 1000);
}

static void the_engine_reads_the_blocks_of_lz4_frames(void **state)
{
	(void)state;
	set_engine(&rig.qp, false, true);
	fill(rig.plain, BIG);
	for (unsigned int linked = 0; linked < 2; linked++)
		for (unsigned int checked = 0; checked < 2; checked++)
			for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
				size_t n = lz4_all(lengths[i], linked, checked);

				if (n > BIG)
					continue;
				decompress(CONTROL_LZ4(1u + checked, !linked), n, lengths[i]);
				assert_newer_sums(lengths[i]);
			}
}

static void the_engine_reads_single_lz4_blocks(void **state)
{
	(void)state;
	set_engine(&rig.qp, false, true);
	fill(rig.plain, BIG);
	for (size_t i = 0; i < ARRAY_SIZE(lengths) - 1; i++) {
		int n = LZ4_compress_default((char *)rig.plain, (char *)rig.packed, (int)lengths[i],
					     2 * BIG);

		decompress(CONTROL_LZ4(0u, 1u), (size_t)n, lengths[i]);
		assert_newer_sums(lengths[i]);
	}
}

static void the_newer_engine_reports_all_checksums(void **state)
{
	(void)state;
	set_engine(&rig.qp, false, true);
	memcpy(rig.plain, "123456789", 9);
	decompress(CONTROL_INFLATE, deflate_all(9, 6), 9);
	assert_newer_sums(9);
	assert_int_equal(result_word(NEW_CRC32C), 0xe3069283); /* the check value of CRC-32C */
}

static void a_stored_lz4_block_may_be_followed_by_the_mark_of_the_end(void **state)
{
	(void)state;
	set_engine(&rig.qp, false, true);
	memcpy(rig.packed,
	       "\3\0\0\x80"
	       "abc"
	       "\0\0\0\0"
	       "garbage",
	       18);
	memcpy(rig.plain, "abc", 3);
	decompress(CONTROL_LZ4(1u, 1u), 18, 3);
}

/* --- data that are wrong: the queue goes on --------------------------------------------------- */

static void expect_bad(uint8_t what, uint32_t control, size_t len, size_t room)
{
	struct fixture_cqe cqe;

	post(&rig.qp, DECOMPRESS, control, part(rig.packed, len), part(rig.plain, room));
	cqe = fixture_expect(&rig.p->cq_a, EMU_SYN_LOC_QP_OP);
	assert_int_equal(cqe.opcode, EMU_CQE_REQ_ERR);
	assert_int_equal(cqe.hw_syndrome, what);
	assert_int_equal(cqe.vendor, VENDOR);
	assert_int_equal(cqe.byte_cnt, 0);
	assert_int_equal(result_word(SYNDROME), what);
	assert_int_equal(result_word(LENGTH), 0);
	expect_state(&rig.qp, EMU_QPS_RTS);
}

static void a_stream_that_ends_too_early_is_reported(void **state)
{
	size_t n;

	(void)state;
	fill(rig.plain, 3000);
	n = deflate_all(3000, 6);
	for (size_t len = 1; len < n; len += 37)
		expect_bad(BAD_DATA, CONTROL_INFLATE, len, BIG);
	expect_bad(BAD_DATA, CONTROL_INFLATE, n - 1, BIG);
	assert_int_equal(
		run(DECOMPRESS, CONTROL_INFLATE, part(rig.packed, n), part(rig.plain, BIG)), 3000);
}

static void an_lz4_block_that_ends_too_early_is_reported(void **state)
{
	size_t n;

	(void)state;
	set_engine(&rig.qp, false, true);
	fill(rig.plain, 3000);
	n = lz4_all(3000, false, true);
	for (size_t len = 1; len < n; len += 37)
		expect_bad(BAD_DATA, CONTROL_LZ4(2u, 1u), len, BIG);
	rig.packed[n - 1] ^= 1;
	expect_bad(BAD_DATA, CONTROL_LZ4(2u, 1u), n, BIG);
	rig.packed[n - 1] ^= 1;
	assert_int_equal(
		run(DECOMPRESS, CONTROL_LZ4(2u, 1u), part(rig.packed, n), part(rig.plain, BIG)),
		3000);
}

static void garbage_is_reported(void **state)
{
	(void)state;
	set_engine(&rig.qp, false, true);
	memset(rig.packed, 0xff, 100);
	expect_bad(BAD_DATA, CONTROL_INFLATE, 100, BIG);
	for (uint32_t form = 0; form < 3; form++)
		expect_bad(BAD_DATA, CONTROL_LZ4(form, 1u), 100, BIG);
}

/* Each but the first block refers to the one before it. */
static void linked_blocks_are_not_independent(void **state)
{
	size_t n;

	(void)state;
	set_engine(&rig.qp, false, true);
	fill(rig.plain, 65536);
	memcpy(rig.plain + 65536, rig.plain, 65536);
	n = lz4_all(131072, true, false);
	expect_bad(BAD_DATA, CONTROL_LZ4(1u, 1u), n, BIG);
}

static void output_ends_where_the_destination_ends(void **state)
{
	static const size_t rooms[] = {1, 1000, 65536, 65537, 199999};
	size_t n, z;

	(void)state;
	memset(rig.plain, 'x', BIG);
	n = deflate_all(200000, 9);
	set_engine(&rig.qp, true, true);
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		rig.plain[rooms[i]] = 'y';
		expect_bad(TOO_LONG, CONTROL_INFLATE, n, rooms[i]);
		assert_int_equal(rig.plain[rooms[i]], 'y');
	}
	memset(rig.plain, 'x', BIG);
	z = lz4_all(200000, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		rig.plain[rooms[i]] = 'y';
		expect_bad(TOO_LONG, CONTROL_LZ4(1u, 1u), z, rooms[i]);
		assert_int_equal(rig.plain[rooms[i]], 'y');
	}
	fill(rig.packed, 5000);
	post(&rig.qp, COMPRESS, CONTROL_DYNAMIC, part(rig.packed, 5000), part(rig.plain, 100));
	assert_int_equal(fixture_expect(&rig.p->cq_a, EMU_SYN_LOC_QP_OP).hw_syndrome, TOO_LONG);
	expect_state(&rig.qp, EMU_QPS_RTS);
}

/* --- requests that are wrong: the queue ends -------------------------------------------------- */

static void refuse_on(struct fixture_qp *qp, struct fixture_wr wr, uint8_t syndrome)
{
	struct fixture_cqe cqe;

	post_one(qp, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
	cqe = fixture_expect(&rig.p->cq_a, syndrome);
	assert_int_equal(cqe.opcode, EMU_CQE_REQ_ERR);
	assert_int_equal(cqe.hw_syndrome, 0);
	expect_state(qp, EMU_QPS_ERR);
}

static void refuse(struct fixture_wr wr, uint8_t syndrome, bool compresses, bool newer)
{
	struct fixture_qp qp;

	add_loopback(rig.p, &qp);
	set_engine(&qp, compresses, newer);
	refuse_on(&qp, wr, syndrome);
}

static void what_the_card_lacks_is_refused(void **state)
{
	struct fixture_sge src = part(rig.plain, 64), dst = part(rig.packed, 64);

	(void)state;
	refuse(request(COMPRESS, CONTROL_DYNAMIC, src, dst), EMU_SYN_LOC_QP_OP, false, true);
	refuse(request(DECOMPRESS, CONTROL_LZ4(1u, 1u), src, dst), EMU_SYN_LOC_QP_OP, true, false);
	refuse(request(DECOMPRESS, CONTROL_LZ4(3u, 1u), src, dst), EMU_SYN_LOC_QP_OP, true, true);
	refuse(request(DECOMPRESS, 1u << 8, src, dst), EMU_SYN_LOC_QP_OP, true, true);
	refuse(request(COMPRESS, CONTROL_DEFLATE(6u, 15u, 15u), src, dst), EMU_SYN_LOC_QP_OP, true,
	       false);
	refuse(request(COMPRESS, CONTROL_DEFLATE(5u, 3u, 15u), src, dst), EMU_SYN_LOC_QP_OP, true,
	       false);
	refuse(request((enum opmod)6, 0, src, dst), EMU_SYN_LOC_QP_OP, true, true);
}

static void lengths_and_the_place_of_the_result_are_checked(void **state)
{
	struct fixture_sge src = part(rig.plain, 64), dst = part(rig.packed, 64);
	struct fixture_wr wr;

	(void)state;
	refuse(request(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, BIG + 1), dst), EMU_SYN_LOC_LEN,
	       true, false);
	refuse(request(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, 0), dst), EMU_SYN_LOC_LEN, true,
	       false); /* 2^31 */
	rig.result += 64;
	wr = request(COMPRESS, CONTROL_DYNAMIC, src, dst);
	rig.result -= 64;
	refuse(wr, EMU_SYN_LOC_QP_OP, true, false);
}

static void each_key_needs_its_right(void **state)
{
	uint32_t read_only = fixture_mkey_mem(FUNC_A, PD_A, EMU_LR, rig.plain, BIG);
	struct fixture_sge src = part(rig.plain, 64), dst = part(rig.packed, 64);
	struct fixture_sge other = {rig.plain, 64, rig.p->key_b};
	struct fixture_wr wr;

	(void)state;
	refuse(request(COMPRESS, CONTROL_DYNAMIC, other, dst), EMU_SYN_LOC_PROT, true, false);
	refuse(request(COMPRESS, CONTROL_DYNAMIC, src, other), EMU_SYN_LOC_PROT, true, false);
	refuse(request(COMPRESS, CONTROL_DYNAMIC, src,
		       (struct fixture_sge){rig.plain, 64, read_only}),
	       EMU_SYN_LOC_PROT, true, false);
	wr = request(COMPRESS, CONTROL_DYNAMIC, src, dst);
	emu_put32(wr.raw + 20, read_only);
	refuse(wr, EMU_SYN_LOC_PROT, true, false);
	/* Without the extension of its context a queue has no engine. */
	rig.qp.entry->mmo = (struct emu_mmo){0};
	refuse_on(&rig.qp, request(COMPRESS, CONTROL_DYNAMIC, src, dst), EMU_SYN_LOC_QP_OP);
}

/* --- several queues --------------------------------------------------------------------------- */

static void queues_take_turns(void **state)
{
	struct fixture_qp other;
	uint32_t lengths_seen = 0;

	(void)state;
	fill(rig.plain, BIG);
	add_loopback(rig.p, &other);
	set_engine(&other, true, false);
	for (unsigned int i = 0; i < 4; i++) {
		struct fixture_wr wr = request(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, BIG / 4),
					       part(rig.packed + i * (BIG / 2), BIG / 2));

		fixture_wr_put(i & 1 ? &other : &rig.qp, &wr, EMU_WQE_MMO, FIXTURE_SIGNALED);
	}
	fixture_ring(&rig.qp);
	fixture_ring(&other);
	for (unsigned int i = 0; i < 4; i++)
		lengths_seen ^= fixture_expect(&rig.p->cq_a, 0).byte_cnt;
	assert_int_equal(lengths_seen, 0); /* four times the same */
	for (unsigned int i = 1; i < 4; i++)
		assert_memory_equal(rig.packed + i * (BIG / 2), rig.packed, 1000);
}

/* A queue that ends or fails in the middle of its request leaves the engine to others. */
static void the_engine_survives_its_queue(void **state)
{
	struct fixture_qp other;

	(void)state;
	fill(rig.plain, BIG);
	for (unsigned int i = 0; i < 3; i++) {
		add_loopback(rig.p, &other);
		set_engine(&other, true, false);
		post(&other, COMPRESS, CONTROL_DYNAMIC, part(rig.plain, BIG),
		     part(rig.packed, 2 * BIG));
		if (i == 0)
			fixture_qp_reset(&other);
		else if (i == 1)
			fixture_qp_state(&other, EMU_QPS_ERR);
		else
			fixture_qp_retire(&other);
		if (i == 1)
			fixture_expect(&rig.p->cq_a, EMU_SYN_FLUSH);
		assert_int_not_equal(run(COMPRESS, CONTROL_DYNAMIC, part(rig.plain, 5000),
					 part(rig.packed, BIG)),
				     0);
		assert_older_sums(5000);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(zlib_reads_what_the_engine_compresses),
		TEST(windows_are_not_larger_than_requested),
		TEST(codes_are_fixed_or_dynamic_as_requested),
		TEST(the_engine_reads_what_zlib_compresses),
		TEST(bytes_behind_the_final_block_are_ignored),
		TEST(the_engine_reads_the_blocks_of_lz4_frames),
		TEST(the_engine_reads_single_lz4_blocks),
		TEST(the_newer_engine_reports_all_checksums),
		TEST(a_stored_lz4_block_may_be_followed_by_the_mark_of_the_end),
		TEST(a_stream_that_ends_too_early_is_reported),
		TEST(an_lz4_block_that_ends_too_early_is_reported),
		TEST(garbage_is_reported),
		TEST(linked_blocks_are_not_independent),
		TEST(output_ends_where_the_destination_ends),
		TEST(what_the_card_lacks_is_refused),
		TEST(lengths_and_the_place_of_the_result_are_checked),
		TEST(each_key_needs_its_right),
		TEST(queues_take_turns),
		TEST(the_engine_survives_its_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
