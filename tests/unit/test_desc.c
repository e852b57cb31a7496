/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rules for every descriptor; single cases are in tests/vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "desc/crc32c.h"
#include "desc/layout.h"
#include "vectors/vectors.h"

/* The largest of all kinds. */
#define SAMPLE_MAX DPUMAP_DESC_UMEM_SIZE

#define FIRST_KIND DPUMAP_DESC_KIND_PCI
#define LAST_KIND  DPUMAP_DESC_KIND_UMEM

static struct dpumap_desc sample(uint16_t kind)
{
	struct dpumap_desc d = {
		.kind = kind,
		.source = DPUMAP_DESC_SOURCE_DEVICE_MEMORY,
		.access = DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE | DPUMAP_DESC_ACCESS_RDMA_READ |
			  DPUMAP_DESC_ACCESS_PCI_READ_WRITE,
		.device_guid = 0x1122334455667788,
		.vhca_id = 3,
		.mkey = 0x00abcd01,
		.addr = 0x7f0000001000,
		.len = 0x4000,
	};

	for (size_t i = 0; kind == DPUMAP_DESC_KIND_PCI && i < sizeof(d.access_key); i++)
		d.access_key[i] = (uint8_t)(0x80 + i);
	if (kind == DPUMAP_DESC_KIND_RDMA)
		d.port = (struct dpumap_desc_port){
			.link_layer = DPUMAP_DESC_LINK_INFINIBAND,
			.lid = 0x1234,
			.gid = {0xfe, 0x80, [15] = 0x11},
		};
	if (kind == DPUMAP_DESC_KIND_UMEM) {
		d.source = DPUMAP_DESC_SOURCE_MEMORY;
		d.umem = (struct dpumap_desc_umem){
			.start = 0x3000,
			.pd_handle = 7,
			.pdn = 0x102,
			.form = DPUMAP_DESC_UMEM_LIBMLX5,
			.token_len = 6,
			.token = {0x91, 0x92, 0x93, 0x94, 0x95, 0x96},
		};
	}
	return d;
}

static size_t sample_size(uint16_t kind)
{
	static const size_t sizes[] = {
		[DPUMAP_DESC_KIND_PCI] = DPUMAP_DESC_PCI_SIZE,
		[DPUMAP_DESC_KIND_RDMA] = DPUMAP_DESC_RDMA_SIZE,
		[DPUMAP_DESC_KIND_UMEM] = DPUMAP_DESC_UMEM_SIZE,
	};

	return sizes[kind];
}

/* Returns the size. */
static size_t encode_sample(uint16_t kind, uint8_t bytes[SAMPLE_MAX])
{
	struct dpumap_desc d = sample(kind);
	size_t written = 0;

	assert_int_equal(dpumap_desc_encode(&d, bytes, SAMPLE_MAX, &written), DPUMAP_DESC_OK);
	assert_int_equal(written, sample_size(kind));
	return written;
}

static void assert_same(const struct dpumap_desc *a, const struct dpumap_desc *b)
{
	assert_true(desc_vector_same(a, b));
}

static void assert_wiped(const struct dpumap_desc *d)
{
	const uint8_t *byte = (const uint8_t *)d;

	for (size_t i = 0; i < sizeof(*d); i++)
		assert_int_equal(byte[i], 0);
}

/*
 * Decode a copy that ends where its allocation ends, so that a sanitizer detects a read beyond it.
 */
static dpumap_desc_status_t decode_exact(const uint8_t *bytes, size_t len, struct dpumap_desc *d)
{
	uint8_t *copy = malloc(len ? len : 1);
	dpumap_desc_status_t status;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	memset(d, 0xee, sizeof(*d));
	status = dpumap_desc_decode(copy, len, d);
	free(copy);
	if (status != DPUMAP_DESC_OK)
		assert_wiped(d);
	return status;
}

static void repair_checksum(uint8_t *bytes, size_t len)
{
	uint32_t crc = dpumap_desc_checksum(bytes, len);

	for (size_t i = 0; i < 4; i++)
		bytes[CRC_OFFSET + i] = (uint8_t)(crc >> (8 * i));
}

static void crc32c_gives_the_known_answers(void **state)
{
	uint8_t bytes[32];

	assert_int_equal(dpumap_desc_crc32c(0, "", 0), 0);
	assert_int_equal(dpumap_desc_crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(dpumap_desc_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(dpumap_desc_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(dpumap_desc_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
}

static void crc32c_of_parts_is_that_of_the_whole(void **state)
{
	uint32_t crc = dpumap_desc_crc32c(0, "1234", 4);

	assert_int_equal(dpumap_desc_crc32c(crc, "56789", 5), 0xe3069283);
}

static void decoding_returns_what_was_encoded(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		struct dpumap_desc before = sample(kind);
		uint8_t bytes[SAMPLE_MAX];
		struct dpumap_desc after;
		size_t size = encode_sample(kind, bytes);

		assert_int_equal(decode_exact(bytes, size, &after), DPUMAP_DESC_OK);
		assert_same(&before, &after);
	}
}

static void decode_reads_at_any_alignment(void **state)
{
	uint8_t space[SAMPLE_MAX + 8];

	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		struct dpumap_desc want = sample(kind);

		for (size_t shift = 0; shift < 8; shift++) {
			size_t size = encode_sample(kind, space + shift);
			struct dpumap_desc d;

			assert_int_equal(dpumap_desc_decode(space + shift, size, &d),
					 DPUMAP_DESC_OK);
			assert_same(&want, &d);
		}
	}
}

static void decode_refuses_every_truncation(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[SAMPLE_MAX];
		struct dpumap_desc d;
		size_t size = encode_sample(kind, bytes);

		for (size_t len = 0; len < size; len++)
			assert_int_equal(decode_exact(bytes, len, &d),
					 len < HEADER_SIZE ? DPUMAP_DESC_ERR_TOO_SHORT
							   : DPUMAP_DESC_ERR_TRUNCATED);
	}
}

/* Shorter descriptors with valid length and checksum still lack fields. */
static void decode_refuses_every_consistent_truncation(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[SAMPLE_MAX];
		struct dpumap_desc d;
		size_t size = encode_sample(kind, bytes);

		for (size_t len = HEADER_SIZE; len < size; len++) {
			bytes[TOTAL_OFFSET] = (uint8_t)len;
			repair_checksum(bytes, len);
			assert_int_equal(decode_exact(bytes, len, &d), DPUMAP_DESC_ERR_BODY);
		}
	}
}

/* Bytes after the fields of a kind are extensions: they are not read as an access key. */
static void decode_reads_no_key_after_rdma_fields(void **state)
{
	uint8_t bytes[SAMPLE_MAX];
	struct dpumap_desc d;
	size_t size;

	size = encode_sample(DPUMAP_DESC_KIND_PCI, bytes);
	bytes[KIND_OFFSET] = DPUMAP_DESC_KIND_RDMA;
	memset(bytes + KEY_OFFSET, 0, DPUMAP_DESC_ACCESS_KEY_SIZE);
	repair_checksum(bytes, size);
	assert_int_equal(decode_exact(bytes, size, &d), DPUMAP_DESC_ERR_TLV_NUMBER);
}

static void decode_refuses_every_bit_flip(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[SAMPLE_MAX];
		struct dpumap_desc d;
		size_t size = encode_sample(kind, bytes);

		for (size_t bit = 0; bit < 8 * size; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(decode_exact(bytes, size, &d), DPUMAP_DESC_OK);
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void flip_bit(uint8_t *bytes, size_t size, size_t bit)
{
	bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	if (bit / 8 < CRC_OFFSET || bit / 8 >= CRC_END)
		repair_checksum(bytes, size);
}

/* One map has one encoding: only bits of the minor version may change without an error. */
static void decode_ignores_no_bit(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		for (size_t bit = 0; bit < 8 * sample_size(kind); bit++) {
			uint8_t bytes[SAMPLE_MAX], again[SAMPLE_MAX];
			struct dpumap_desc d;
			size_t size = encode_sample(kind, bytes);

			if (bit / 8 == MINOR_OFFSET)
				continue;
			flip_bit(bytes, size, bit);
			if (decode_exact(bytes, size, &d) != DPUMAP_DESC_OK)
				continue;
			assert_int_equal(dpumap_desc_encode(&d, again, sizeof(again), &size),
					 DPUMAP_DESC_OK);
			assert_int_equal(size, sample_size(kind));
			assert_memory_equal(bytes, again, size);
		}
	}
}

/* A possible version 1.7: the sample with an extension at its end. */
static size_t encode_future(uint16_t kind, uint16_t type, uint8_t bytes[DPUMAP_DESC_MAX_SIZE])
{
	const uint8_t extension[] = {(uint8_t)type, (uint8_t)(type >> 8), 3, 0, 'n', 'e', 'w'};
	size_t size = encode_sample(kind, bytes);

	memcpy(bytes + size, extension, sizeof(extension));
	size += sizeof(extension);
	bytes[MINOR_OFFSET] = 7;
	bytes[TOTAL_OFFSET] = (uint8_t)size;
	repair_checksum(bytes, size);
	return size;
}

static void unknown_optional_field_of_a_future_minor_is_ignored(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[DPUMAP_DESC_MAX_SIZE];
		struct dpumap_desc want = sample(kind), d;
		size_t size = encode_future(kind, 0x7f00, bytes);

		assert_int_equal(decode_exact(bytes, size, &d), DPUMAP_DESC_OK);
		assert_same(&want, &d);
	}
}

static void unknown_critical_field_of_a_future_minor_is_refused(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[DPUMAP_DESC_MAX_SIZE];
		struct dpumap_desc d;
		size_t offset = 0, size = encode_future(kind, TLV_CRITICAL | 0x7f00, bytes);

		assert_int_equal(decode_exact(bytes, size, &d), DPUMAP_DESC_ERR_TLV_CRITICAL);
		assert_int_equal(dpumap_desc_diagnose(bytes, size, &offset),
				 DPUMAP_DESC_ERR_TLV_CRITICAL);
		assert_int_equal(offset, sample_size(kind));
	}
}

static void decode_refuses_null(void **state)
{
	uint8_t bytes[SAMPLE_MAX];
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);

	encode_sample(DPUMAP_DESC_KIND_PCI, bytes);
	assert_int_equal(dpumap_desc_decode(bytes, sizeof(bytes), NULL), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_decode(NULL, sizeof(bytes), &d), DPUMAP_DESC_ERR_NULL);
	assert_wiped(&d);
}

static void encode_refuses_null(void **state)
{
	uint8_t bytes[SAMPLE_MAX];
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);
	size_t size = 7;

	assert_int_equal(dpumap_desc_encode(NULL, bytes, sizeof(bytes), &size),
			 DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_encode(&d, NULL, sizeof(bytes), &size), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_encode(&d, bytes, sizeof(bytes), NULL), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_encoded_size(NULL, &size), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_encoded_size(&d, NULL), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(size, 7);
}

static void assert_encode_needs(const struct dpumap_desc *d, size_t size)
{
	for (size_t len = 0; len < size; len++) {
		uint8_t *bytes = calloc(1, len + 1);
		size_t written = 7;

		assert_non_null(bytes);
		assert_int_equal(dpumap_desc_encode(d, bytes, len, &written),
				 DPUMAP_DESC_ERR_BUFFER);
		assert_int_equal(written, 7);
		for (size_t i = 0; i <= len; i++)
			assert_int_equal(bytes[i], 0);
		free(bytes);
	}
}

static void encode_needs_the_announced_size(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		struct dpumap_desc d = sample(kind);
		size_t size = 0;

		assert_int_equal(dpumap_desc_encoded_size(&d, &size), DPUMAP_DESC_OK);
		assert_int_equal(size, sample_size(kind));
		assert_encode_needs(&d, size);
	}
}

static void encode_stays_in_its_size(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[SAMPLE_MAX + 16];
		struct dpumap_desc d = sample(kind);
		size_t written = 0;

		memset(bytes, 0xee, sizeof(bytes));
		assert_int_equal(dpumap_desc_encode(&d, bytes, sizeof(bytes), &written),
				 DPUMAP_DESC_OK);
		assert_int_equal(written, sample_size(kind));
		for (size_t i = written; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], 0xee);
	}
}

/* The exact buffer of the smaller kind: a sanitizer detects a write of the larger one. */
static void encode_fits_its_exact_size(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		struct dpumap_desc d = sample(kind);
		uint8_t *bytes = malloc(sample_size(kind));
		size_t written = 0;

		assert_non_null(bytes);
		assert_int_equal(dpumap_desc_encode(&d, bytes, sample_size(kind), &written),
				 DPUMAP_DESC_OK);
		assert_int_equal(written, sample_size(kind));
		free(bytes);
	}
}

static void encode_refused_writes_nothing(void **state)
{
	uint8_t bytes[SAMPLE_MAX] = {0};
	static const uint8_t untouched[SAMPLE_MAX];
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);
	size_t written = 7;

	d.mkey = 0;
	assert_int_equal(dpumap_desc_encode(&d, bytes, sizeof(bytes), &written),
			 DPUMAP_DESC_ERR_MKEY);
	assert_int_equal(dpumap_desc_encoded_size(&d, &written), DPUMAP_DESC_ERR_MKEY);
	assert_int_equal(written, 7);
	assert_memory_equal(bytes, untouched, sizeof(bytes));
}

static void wipe_clears_the_descriptor(void **state)
{
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);

	dpumap_desc_wipe(&d);
	assert_wiped(&d);
	dpumap_desc_wipe(NULL);
}

#define LAST_STATUS DPUMAP_DESC_ERR_OUTSIDE

static void each_status_has_texts_of_its_own(void **state)
{
	assert_string_equal(dpumap_desc_status_name(DPUMAP_DESC_OK), "OK");
	assert_string_equal(dpumap_desc_status_descr(DPUMAP_DESC_OK), "success");
	assert_string_equal(dpumap_desc_status_name(DPUMAP_DESC_ERR_NULL), "NULL");
	assert_string_equal(dpumap_desc_status_name(LAST_STATUS), "OUTSIDE");
	assert_string_equal(dpumap_desc_status_descr(LAST_STATUS), "outside of the range");
	for (dpumap_desc_status_t a = 0; a >= LAST_STATUS; a--) {
		assert_string_not_equal(dpumap_desc_status_name(a), "UNKNOWN");
		for (dpumap_desc_status_t b = 0; b > a; b--) {
			assert_string_not_equal(dpumap_desc_status_name(a),
						dpumap_desc_status_name(b));
			assert_string_not_equal(dpumap_desc_status_descr(a),
						dpumap_desc_status_descr(b));
		}
	}
}

static void unknown_status_has_a_text(void **state)
{
	static const dpumap_desc_status_t unknown[] = {1, LAST_STATUS - 1, INT32_MAX, INT32_MIN};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		assert_string_equal(dpumap_desc_status_name(unknown[i]), "UNKNOWN");
		assert_string_equal(dpumap_desc_status_descr(unknown[i]),
				    "unknown descriptor status");
	}
}

static void assert_diagnosed(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	dpumap_desc_status_t status;
	size_t offset = SIZE_MAX;
	struct dpumap_desc d;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	status = dpumap_desc_diagnose(copy, size, &offset);
	free(copy);
	assert_int_equal(status, decode_exact(bytes, size, &d));
	assert_in_range(offset, 0, size);
	if (status == DPUMAP_DESC_OK)
		assert_int_equal(offset, size);
}

/* It returns the status of decoding, and an offset within the descriptor or at its end. */
static void diagnosis_returns_the_status_of_decoding(void **state)
{
	for (uint16_t kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
		uint8_t bytes[SAMPLE_MAX];
		size_t size = encode_sample(kind, bytes);

		for (size_t len = 0; len <= size; len++)
			assert_diagnosed(bytes, len);
		for (size_t bit = 0; bit < 8 * size; bit++) {
			encode_sample(kind, bytes);
			flip_bit(bytes, size, bit);
			assert_diagnosed(bytes, size);
		}
	}
}

static void diagnose_refuses_null(void **state)
{
	uint8_t bytes[SAMPLE_MAX];
	size_t offset = 7;

	encode_sample(DPUMAP_DESC_KIND_PCI, bytes);
	assert_int_equal(dpumap_desc_diagnose(NULL, 80, &offset), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_diagnose(bytes, sizeof(bytes), NULL), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(offset, 7);
}

static void access_check_refuses_null(void **state)
{
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);
	struct dpumap_desc_window w = {.addr = 7};

	assert_int_equal(dpumap_desc_check_access(NULL, 0, 0, DPUMAP_DESC_OP_READ),
			 DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_get_window(NULL, &w), DPUMAP_DESC_ERR_NULL);
	assert_int_equal(dpumap_desc_get_window(&d, NULL), DPUMAP_DESC_ERR_NULL);
	d.kind = 0;
	assert_int_equal(dpumap_desc_get_window(&d, &w), DPUMAP_DESC_ERR_KIND);
	assert_int_equal(w.addr, 7);
}

/* The same check, in an order in which nothing overflows. */
static bool is_inside(const struct dpumap_desc *d, uint64_t addr, uint64_t len)
{
	return addr >= d->addr && len <= d->len && addr - d->addr <= d->len - len;
}

static const uint64_t corners[] = {
	0,	    1,		2,	    7,		8,
	0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, INT64_MAX - 1u,
	INT64_MAX,  1ull << 63, ~0ull - 8,  ~0ull - 7,	~0ull - 2,
	~0ull - 1,  ~0ull,
};

#define NUM_CORNERS ARRAY_SIZE(corners)

static void assert_ranges(struct dpumap_desc *d)
{
	for (size_t i = 0; i < NUM_CORNERS; i++) {
		for (size_t j = 0; j < NUM_CORNERS; j++) {
			bool inside = is_inside(d, corners[i], corners[j]);

			assert_int_equal(dpumap_desc_check_access(d, corners[i], corners[j],
								  DPUMAP_DESC_OP_READ),
					 inside ? DPUMAP_DESC_OK : DPUMAP_DESC_ERR_OUTSIDE);
		}
	}
}

static void access_does_not_overflow(void **state)
{
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);
	unsigned int ranges = 0;
	size_t size;

	for (size_t i = 0; i < NUM_CORNERS * NUM_CORNERS; i++) {
		d.addr = corners[i / NUM_CORNERS];
		d.len = corners[i % NUM_CORNERS];
		if (dpumap_desc_encoded_size(&d, &size) != DPUMAP_DESC_OK)
			continue;
		assert_ranges(&d);
		ranges++;
	}
	assert_in_range(ranges, NUM_CORNERS, NUM_CORNERS * NUM_CORNERS);
}

/* A misaligned access that is not permitted is denied, wherever it is. */
static void access_is_denied_before_its_alignment_is_checked(void **state)
{
	struct dpumap_desc d = sample(DPUMAP_DESC_KIND_PCI);

	assert_int_equal(dpumap_desc_check_access(&d, d.addr + 1, 3, DPUMAP_DESC_OP_ATOMIC),
			 DPUMAP_DESC_ERR_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c_gives_the_known_answers),
		cmocka_unit_test(crc32c_of_parts_is_that_of_the_whole),
		cmocka_unit_test(decoding_returns_what_was_encoded),
		cmocka_unit_test(decode_reads_at_any_alignment),
		cmocka_unit_test(decode_refuses_every_truncation),
		cmocka_unit_test(decode_refuses_every_consistent_truncation),
		cmocka_unit_test(decode_reads_no_key_after_rdma_fields),
		cmocka_unit_test(decode_refuses_every_bit_flip),
		cmocka_unit_test(decode_ignores_no_bit),
		cmocka_unit_test(unknown_optional_field_of_a_future_minor_is_ignored),
		cmocka_unit_test(unknown_critical_field_of_a_future_minor_is_refused),
		cmocka_unit_test(decode_refuses_null),
		cmocka_unit_test(encode_refuses_null),
		cmocka_unit_test(encode_needs_the_announced_size),
		cmocka_unit_test(encode_stays_in_its_size),
		cmocka_unit_test(encode_fits_its_exact_size),
		cmocka_unit_test(encode_refused_writes_nothing),
		cmocka_unit_test(wipe_clears_the_descriptor),
		cmocka_unit_test(each_status_has_texts_of_its_own),
		cmocka_unit_test(unknown_status_has_a_text),
		cmocka_unit_test(diagnosis_returns_the_status_of_decoding),
		cmocka_unit_test(diagnose_refuses_null),
		cmocka_unit_test(access_check_refuses_null),
		cmocka_unit_test(access_does_not_overflow),
		cmocka_unit_test(access_is_denied_before_its_alignment_is_checked),
	};

	return cmocka_run_group_tests_name("desc", tests, NULL, NULL);
}
