/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames of doca_comch of any content, for Frama-C's Eva. The file is included because its functions for
 * payloads are static: Eva takes each of them with every payload that the header can announce.
 */
#include <__fc_builtin.h>

#include "comch/link/wire.c"

#define FRAME_MAX   (COMCH_HEADER_SIZE + COMCH_MAX_MESSAGE)
#define HELLO_FIXED 24u /* bytes before the name */
#define PATH_FIXED  12u /* bytes before the details */

/* The sizes of frames that main_frame() tries: all, but for the planted defects. */
#ifndef SIZES
#define SIZES COMCH_MAX_MESSAGE
#endif

static uint8_t bytes[FRAME_MAX];
static uint8_t *const end = bytes + FRAME_MAX;
static uint8_t header[COMCH_HEADER_SIZE];
static struct comch_frame frame;
static const char *why;
static size_t size;

/* Bytes that are copied, into objects of their own: in a frame, they could run over into what follows. */
static void copy_payload(enum comch_frame_type type, size_t min, size_t max)
{
	struct reader r = {.end = end, .left = Frama_C_size_t_interval(min, max)};
	struct comch_path path;
	struct dpumap_comch_place place;

	if (type == COMCH_HELLO)
		(void)get_name(&r, &place);
	else
		(void)get_path(&r, &path);
}

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
		copy_payload(first, len, len);
	}
	read_payload(first, last, fixed + copied + 1, COMCH_MAX_MESSAGE);
	copy_payload(first, fixed + copied + 1, COMCH_MAX_MESSAGE);
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

/* Frames of a type without a payload, for the header and the padding of payloads of min to max bytes. */
static void put_frame(uint8_t *at, uint32_t min, uint32_t max)
{
	const uint32_t len = Frama_C_unsigned_int_interval(min, max);

	Frama_C_make_unknown((char *)at, COMCH_HEADER_SIZE);
	at[0] = (uint8_t)len;
	at[1] = (uint8_t)(len >> 8);
	at[2] = 0;
	at[3] = 0;
	at[4] = COMCH_CREDIT;
}

static void decode_size(uint32_t min, uint32_t max)
{
	const size_t full = COMCH_HEADER_SIZE + (max + 7) / 8 * 8;

	put_frame(end - full, min, max);
	(void)dpumap_comch_decode(end - full, full, &frame, &size, &why);
	Frama_C_make_unknown((char *)(end - full), COMCH_HEADER_SIZE);
	if (full == COMCH_HEADER_SIZE)
		return;
	/* The frame is not complete: the array ends behind the header. */
	put_frame(header, min, max);
	(void)dpumap_comch_decode(header, Frama_C_size_t_interval(COMCH_HEADER_SIZE, full - 1),
				  &frame, &size, &why);
}

void main_frame(void)
{
	struct reader r = {.end = end, .left = COMCH_HEADER_SIZE};
	uint32_t len;

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	(void)get_header(&r, &frame, &len);
	(void)dpumap_comch_decode(end, 0, &frame, &size, &why);
	(void)dpumap_comch_decode(end - 7, Frama_C_size_t_interval(0, 7), &frame, &size, &why);
	/* Two bytes hold the length: no interval crosses a multiple of 256. */
	decode_size(0, 0);
	//@ loop unroll SIZES / 8;
	for (uint32_t full = 8; full <= SIZES; full += 8) {
		//@ slevel merge;
		decode_size(full - 7, full - 1);
		decode_size(full, full);
	}
}
