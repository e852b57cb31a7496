/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a responder remembers of the last reads and atomics, to answer them and to answer them again (IBA
 * 9.7.5.1, 9.4.5): an atomic must not be executed twice, and a read may be asked for from the middle.
 */
#ifndef EMU_WIRE_REPLIES_H
#define EMU_WIRE_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/packet.h"
#include "emu/wire/work.h"

#define WIRE_REPLIES 16u /* the largest max_dest_rd_atomic of the emulated cards; a power of two */

struct wire_qp;

struct wire_reply {
	uint8_t kind; /* WIRE_KIND_READ or _ATOMIC */
	bool pending; /* packets from `at` on are to be sent */
	bool fresh;   /* it was never answered completely */
	bool begun;   /* the next packet is not the first of its answer */
	uint32_t psn; /* of the request and of the first packet of its answer */
	uint32_t packets;
	uint32_t at; /* the next packet to send, counted from `psn` */
	uint32_t msn;
	struct wire_remote remote;
	uint64_t original; /* of an atomic */
};

struct wire_replies {
	struct wire_reply reply[WIRE_REPLIES];
	uint32_t end;	/* counter: the next one */
	uint32_t count; /* how many are remembered */
};

/* May the requester have one more request outstanding? */
bool wire_replies_have_room(const struct wire_qp *qp);
/*
 * A place for the request `p`, which is new; NULL: the requester has more requests outstanding than
 * the responder allows.
 */
struct wire_reply *wire_replies_add(struct wire_qp *qp, const struct wire_packet *p);
/* Answer a duplicate request again. */
enum wire_drop wire_replies_repeat(struct wire_qp *qp, const struct wire_packet *p);
/* Are packets to be sent? */
bool wire_replies_are_pending(const struct wire_qp *qp);
/* Send nothing of what is pending. */
void wire_replies_cancel(struct wire_qp *qp);
/*
 * Write the next packet, as wire_requester_output(), with this syndrome; one must be pending. An answer other
 * than WIRE_DONE: the memory cannot be read, and `psn` is that of the packet.
 */
size_t wire_replies_output(struct wire_qp *qp, uint8_t syndrome, uint8_t *out,
			   enum wire_answer *answer, uint32_t *psn);

#endif
