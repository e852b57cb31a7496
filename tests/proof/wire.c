/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames of doca_comch of any content, for Frama-C's Eva. The file is included because its functions for
 * payloads are static: Eva takes each of them with every payload that the header can announce.
 */
#include <__fc_builtin.h>

#include "comch/wire.c"

#define FRAME_MAX   (COMCH_HEADER_SIZE + COMCH_MAX_MESSAGE)
#define HELLO_FIXED 24u /* bytes before the name */
#define PATH_FIXED  12u /* bytes before the details */

static uint8_t bytes[FRAME_MAX];
static uint8_t *const end = bytes + FRAME_MAX;
static struct comch_frame frame;
static const char *why;
static size_t size;

/* Any payload of min to max bytes, as a frame of one of the types. */
static void read_payload(enum comch_frame_type first, enum comch_frame_type last, size_t min,
			 size_t max)
{
	struct reader r = {.end = end, .left = Frama_C_size_t_interval(min, max)};

	frame.type = (enum comch_frame_type)Frama_C_unsigned_int_interval(first, last);
	(void)get_payload(&r, &frame);
}

/* Payloads whose end is copied: each length alone up to those that are too long. */
static void read_copied(enum comch_frame_type first, enum comch_frame_type last, size_t fixed,
			size_t copied)
{
	//@ loop unroll 200;
	for (size_t len = 0; len <= fixed + copied; len++) {
		//@ slevel merge;
		read_payload(first, last, len, len);
	}
	read_payload(first, last, fixed + copied + 1, COMCH_MAX_MESSAGE);
}

void main_payload(void)
{
	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	Frama_C_make_unknown((char *)&frame, sizeof(frame));
	read_copied(COMCH_HELLO, COMCH_HELLO, HELLO_FIXED, sizeof(frame.hello.place.name));
	read_copied(COMCH_PATH_OPEN, COMCH_PATH_CLOSE, PATH_FIXED, sizeof(frame.path.info));
	//@ loop unroll COMCH_PATH_OPEN;
	for (unsigned int type = COMCH_WELCOME; type < COMCH_PATH_OPEN; type++)
		read_payload(type, type, 0, COMCH_MAX_MESSAGE);
	read_payload(0, 0, 0, COMCH_MAX_MESSAGE);
	read_payload(COMCH_NUM_TYPES, UINT8_MAX, 0, COMCH_MAX_MESSAGE);
}

/* Frames of a type without a payload: the header, and the padding of payloads of 8k - 7 to 8k bytes. */
static void decode_size(size_t full)
{
	uint8_t *frame_bytes = end - COMCH_HEADER_SIZE - full;
	const uint32_t len =
		full ? Frama_C_unsigned_int_interval((uint32_t)full - 7, (uint32_t)full) : 0;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	frame_bytes[0] = (uint8_t)len;
	frame_bytes[1] = (uint8_t)(len >> 8);
	frame_bytes[2] = 0;
	frame_bytes[3] = 0;
	frame_bytes[4] = COMCH_CREDIT;
	(void)dpumap_comch_decode(frame_bytes, COMCH_HEADER_SIZE + full, &frame, &size, &why);
}

void main_frame(void)
{
	/* A header of any content, and nothing after it. */
	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	(void)dpumap_comch_decode(end, 0, &frame, &size, &why);
	(void)dpumap_comch_decode(end - 7, Frama_C_size_t_interval(0, 7), &frame, &size, &why);
	//@ loop unroll COMCH_MAX_MESSAGE / 8 + 1;
	for (size_t full = 0; full <= COMCH_MAX_MESSAGE; full += 8) {
		//@ slevel merge;
		decode_size(full);
	}
}
