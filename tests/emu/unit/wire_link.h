/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two queue pairs back to back over a network in memory, with a clock of its own. A seed decides which
 * packets are lost, late, repeated or falsified. Memory, receives and the work of both ends are known to a
 * model, which says what every byte and every completion must be.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/wire/qp.h"

#define LINK_MEMORY   (128u << 10)
#define LINK_WORK     48u
#define LINK_RECEIVES 256u
#define LINK_PACKETS  4096u

/* Probabilities in 1/1000 of a packet. */
struct link_faults {
	uint32_t lost, repeated, falsified, late;
	uint32_t late_ns;   /* at most */
	uint32_t congested; /* marked */
};

struct link_work {
	struct wire_wr wr;
	uint32_t local;	   /* offset in the memory of the requester */
	uint64_t original; /* of an atomic: what must be returned */
	bool finished;
};

struct link_receive {
	uint32_t at, room;
	bool done;
	struct wire_receipt receipt;
};

struct link_end {
	struct link *link;
	unsigned int side;
	struct wire_qp qp;
	uint8_t memory[LINK_MEMORY], model[LINK_MEMORY];
	uint32_t used; /* of the memory */
	struct link_work work[LINK_WORK];
	uint32_t posted, finished;
	struct link_receive receive[LINK_RECEIVES];
	uint32_t rx_posted, rx_taken, rx_done;
	struct wire_receipt expected[LINK_RECEIVES]; /* what the peer's work must bring */
	uint32_t rx_expected;
	bool holds;	/* the receive rx_taken - 1 is taken and not done */
	bool shared;	/* it tells the peer no credits */
	uint32_t later; /* how often WIRE_LATER comes first, in 1/1000 */
	uint32_t events[WIRE_EVENT_SEND_ERROR + 1];
	uint32_t drops[WIRE_DROP_COUNT];
	uint32_t counts[WIRE_COUNT_COUNT];
	uint32_t sent;
};

struct link_packet {
	uint64_t due;	/* 0: the place is free */
	uint64_t order; /* in which packets entered the network */
	unsigned int to;
	size_t len;
	bool falsified, congested;
	uint8_t bytes[WIRE_MAX_PACKET];
};

struct link {
	uint64_t now;
	uint64_t random;
	struct link_faults faults;
	struct link_end end[2];
	uint64_t orders;
	uint32_t packets; /* in the network */
	struct link_packet packet[LINK_PACKETS];
};

uint32_t link_random(struct link *l, uint32_t below);
/* Open both ends with these attributes, but for queue pairs, PSNs and addresses. */
void link_open(struct link *l, uint64_t seed, const struct wire_attr *attr);
/* Post a receive; false: no room for it. */
bool link_receive(struct link_end *e, uint32_t room);
/* Post work of `len` bytes to memory that nobody used; false: no room for it. */
bool link_post(struct link_end *e, enum wire_work work, uint32_t len);
/* Run until both ends are idle or `ns` have passed; false: they were not idle. */
bool link_run(struct link *l, uint64_t ns);
/* Forget all completed work and use the memory again. */
void link_recycle(struct link *l);
/* Everything was completed without an error, in order and once, and every byte is what it must be. */
void link_check(struct link *l);

#endif
