/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Everything that the contracts of src/desc permit, for Frama-C's Eva. Buffers end where an array ends,
 * so that any access beyond them is an alarm.
 *
 * Eva does not relate a pointer to a length. A reader counts in one number, so an interval of lengths
 * is enough for it. The checksum takes a pointer and a length, so main_lengths() takes each length
 * alone, and main_read() replaces the checksum by any number. main_lengths() in turn leaves out what
 * main_read() and main_values() have. main_find() takes each status that main_read() shows to be possible.
 */
#include <dpumap/desc.h>

#include <__fc_builtin.h>
#include <string.h>

#include "desc/cursor.h"
#include "desc/decode.h"
#include "desc/layout.h"

#define LONGEST 520u
#ifndef LENGTHS
#define LENGTHS LONGEST
#endif
#define KINDS DPUMAP_DESC_KIND_UMEM

static uint8_t bytes[LONGEST];
static uint8_t *const end = bytes + LONGEST;
static struct dpumap_desc values;
static struct dpumap_desc_window window;

#ifdef ANY_CHECKSUM /* for main_read() */
uint32_t dpumap_desc_crc32c(uint32_t crc, const void *buf, size_t len)
{
	(void)crc;
	(void)buf;
	(void)len;
	return Frama_C_unsigned_int_interval(0, UINT32_MAX);
}
#endif

#ifdef ANY_VALUES /* for main_lengths() */
dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d)
{
	(void)d;
	return Frama_C_int_interval(INT32_MIN, INT32_MAX);
}

void dpumap_desc_wipe(struct dpumap_desc *d)
{
	Frama_C_make_unknown((char *)d, sizeof(*d));
}
#endif

#ifdef ANY_STATUS /* for main_find(): as main_read() asserts */
dpumap_desc_status_t dpumap_desc_read(struct reader *r, struct dpumap_desc *d)
{
	Frama_C_make_unknown((char *)d, sizeof(*d));
	if (r->left < HEADER_SIZE)
		return DPUMAP_DESC_ERR_TOO_SHORT;
	r->left = Frama_C_size_t_interval(0, r->left);
	return Frama_C_int_interval(DPUMAP_DESC_ERR_TLV_CRITICAL, DPUMAP_DESC_OK);
}
#endif

/* --- reading: all lengths and kinds at once, with ANY_CHECKSUM -------------------------------- */

void main_read(void)
{
	struct reader r = {.end = end, .left = Frama_C_size_t_interval(0, LONGEST)};
	dpumap_desc_status_t status;
	struct dpumap_desc d;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	status = dpumap_desc_read(&r, &d);
	//@ assert DPUMAP_DESC_ERR_TLV_CRITICAL <= status <= DPUMAP_DESC_OK;
}

void main_find(void)
{
	size_t offset;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	(void)dpumap_desc_diagnose(end - (HEADER_SIZE - 1),
				   Frama_C_size_t_interval(0, HEADER_SIZE - 1), &offset);
	(void)dpumap_desc_diagnose(end - HEADER_SIZE,
				   Frama_C_size_t_interval(HEADER_SIZE, SIZE_MAX), &offset);
}

/* --- each length alone, with the checksum. No kind: main_read() has what follows the header. --- */

static void decode_length(size_t len)
{
	struct dpumap_desc d;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	if (len >= HEADER_SIZE) {
		bytes[LONGEST - len + KIND_OFFSET] = 0;
		bytes[LONGEST - len + KIND_OFFSET + 1] = 0;
	}
	(void)dpumap_desc_decode(end - len, len, &d);
}

void main_lengths(void)
{
	//@ loop unroll LENGTHS + 1;
	for (size_t len = 0; len <= LENGTHS; len++) {
		//@ slevel merge;
		decode_length(len);
	}
}

/* --- encoding: buffers with and without room for the kind ------------------------------------- */

static void encode_any(uint16_t kind, size_t min, size_t max)
{
	const size_t len = Frama_C_size_t_interval(min, max);
	size_t written;

	Frama_C_make_unknown((char *)&values, sizeof(values));
	values.kind = kind;
	(void)dpumap_desc_encode(&values, end - len, len, &written);
}

void main_encode(void)
{
	encode_any(0, 0, LONGEST);
	encode_any(Frama_C_unsigned_short_interval(KINDS + 1, UINT16_MAX), 0, LONGEST);
	//@ loop unroll KINDS;
	for (uint16_t kind = 1; kind <= KINDS; kind++) {
		//@ slevel merge;
		encode_any(kind, 0, dpumap_desc_size(kind) - 1);
		encode_any(kind, dpumap_desc_size(kind), LONGEST);
	}
}

/* --- values and statuses ---------------------------------------------------------------------- */

void main_values(void)
{
	const uint64_t addr = Frama_C_unsigned_long_long_interval(0, UINT64_MAX);
	const uint64_t len = Frama_C_unsigned_long_long_interval(0, UINT64_MAX);
	const uint32_t ops = Frama_C_unsigned_int_interval(0, UINT32_MAX);
	const dpumap_desc_status_t any = Frama_C_int_interval(INT32_MIN, INT32_MAX);
	size_t size;

	Frama_C_make_unknown((char *)&values, sizeof(values));
	Frama_C_make_unknown((char *)&window, sizeof(window));
	(void)dpumap_desc_encoded_size(&values, &size);
	(void)dpumap_desc_check_access(&values, addr, len, ops);
	(void)dpumap_desc_window_check(&window, addr, len, ops);
	(void)dpumap_desc_get_window(&values, &window);
	(void)strlen(dpumap_desc_status_name(any));
	(void)strlen(dpumap_desc_status_descr(any));
	dpumap_desc_wipe(&values);
}

/* --- NULL where it is permitted --------------------------------------------------------------- */

void main_null(void)
{
	const size_t len = Frama_C_size_t_interval(0, LONGEST);
	size_t size;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	Frama_C_make_unknown((char *)&values, sizeof(values));
	(void)dpumap_desc_decode(NULL, len, NULL);
	(void)dpumap_desc_decode(NULL, len, &values);
	(void)dpumap_desc_decode(bytes, len, NULL);
	(void)dpumap_desc_diagnose(NULL, len, NULL);
	(void)dpumap_desc_diagnose(NULL, len, &size);
	(void)dpumap_desc_diagnose(bytes, len, NULL);
	(void)dpumap_desc_encode(NULL, bytes, len, &size);
	(void)dpumap_desc_encode(&values, NULL, len, &size);
	(void)dpumap_desc_encode(&values, bytes, len, NULL);
	(void)dpumap_desc_encoded_size(NULL, &size);
	(void)dpumap_desc_encoded_size(&values, NULL);
	(void)dpumap_desc_get_window(NULL, &window);
	(void)dpumap_desc_get_window(&values, NULL);
	(void)dpumap_desc_check_access(NULL, len, len, DPUMAP_DESC_OP_READ);
	dpumap_desc_wipe(NULL);
}
