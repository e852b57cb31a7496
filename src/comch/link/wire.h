/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The frames of doca_comch between a client and a server. Pure functions, no allocation. Numbers are
 * little-endian. A frame is a header of 8 bytes, a payload, and zeros up to a multiple of 8 bytes:
 *
 *	offset	width
 *	0	4	length of the payload, at most COMCH_MAX_MESSAGE
 *	4	1	type
 *	5	1	0
 *	6	2	credits: messages that the sender's program has consumed since its last frame
 *
 * The client sends HELLO, the server answers WELCOME or REFUSE. From then on both send the other
 * frames. A side sends at most `window` messages that the program of its peer has not consumed yet.
 * A producer reaches a consumer of the peer by a path of its own: a pair of connected queue pairs.
 */
#ifndef DPUMAP_COMCH_WIRE_H
#define DPUMAP_COMCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "comch/link/place.h"

#define COMCH_VERSION	  1
#define COMCH_HEADER_SIZE 8u
#define COMCH_MAX_MESSAGE 4080u
#define COMCH_MAX_FRAME	  (COMCH_HEADER_SIZE + COMCH_MAX_MESSAGE)
#define COMCH_MAX_WINDOW  65535u
#define COMCH_QP_INFO_MAX 64u
#define COMCH_ID_LIMIT	  0xffffu /* ids of consumers and producers are 1 to this, exclusive */

enum comch_frame_type {
	COMCH_HELLO = 1,     /* client: struct comch_hello */
	COMCH_WELCOME,	     /* server: struct comch_limits */
	COMCH_REFUSE,	     /* server: code */
	COMCH_MESSAGE,	     /* message */
	COMCH_CREDIT,	     /* nothing but the header */
	COMCH_BYE,	     /* the last frame of its sender */
	COMCH_CONSUMER_NEW,  /* struct comch_consumer_info: a consumer of the sender has started */
	COMCH_CONSUMER_ACK,  /* struct comch_answer: it is known; or code says why not */
	COMCH_CONSUMER_GONE, /* struct comch_answer, code 0 */
	COMCH_PATH_OPEN,     /* producer to consumer: struct comch_path */
	COMCH_PATH_UP,	     /* consumer to producer, answer to PATH_OPEN: struct comch_path */
	COMCH_PATH_DOWN,     /* consumer to producer: refused, or broken: struct comch_path */
	COMCH_PATH_CLOSE,    /* producer to consumer: struct comch_path */
	COMCH_NUM_TYPES,
};

/* What a side accepts: the length of a message, and the number of messages without a credit. */
struct comch_limits {
	uint32_t max_message;
	uint32_t window;
};

struct comch_hello {
	struct dpumap_comch_place place;
	struct comch_limits limits;
};

struct comch_consumer_info {
	uint32_t id;
	uint32_t num_tasks;
	uint32_t imm_len;
	uint64_t max_buf_size;
};

struct comch_answer {
	uint32_t id;
	uint32_t code; /* doca_error_t */
};

struct comch_path {
	uint32_t producer_id;
	uint32_t consumer_id;
	uint32_t code;	   /* doca_error_t; of PATH_DOWN */
	uint32_t info_len; /* of PATH_OPEN and PATH_UP */
	uint8_t info[COMCH_QP_INFO_MAX];
};

struct comch_frame {
	enum comch_frame_type type;
	uint16_t credits;
	union {
		struct comch_hello hello;
		struct comch_limits limits;
		uint32_t code;
		struct {
			const uint8_t *bytes; /* in the buffer that was decoded */
			uint32_t len;
		} message;
		struct comch_consumer_info consumer;
		struct comch_answer answer;
		struct comch_path path;
	};
};

/* The size of a frame with a payload of len bytes. */
static inline size_t dpumap_comch_frame_size(uint32_t len)
{
	return COMCH_HEADER_SIZE + (((size_t)len + 7) & ~(size_t)7);
}

/* Encode a frame. Return its size; `to` has room for COMCH_MAX_FRAME bytes. */
size_t dpumap_comch_encode(const struct comch_frame *frame, uint8_t *to);

/*
 * Decode untrusted bytes. SUCCESS: *size bytes were the frame. AGAIN: the frame is not complete.
 * INVALID_VALUE: no valid frame can begin like this; *why says why. Nothing is logged.
 */
doca_error_t dpumap_comch_decode(const uint8_t *bytes, size_t len, struct comch_frame *frame,
				 size_t *size, const char **why);

#endif
