/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The requester of RC, XRC and UC: work requests become packets, which are sent again from any PSN until the
 * responder has acknowledged them (IBA 9.7.3, 9.7.6, 9.9.2).
 *
 *        head                    at              tail
 *   entry [ READ ][ SEND ][ WRITE ][ SEND ][ SEND ]
 *            ^una             ^next       ^top     ^end        PSNs
 *
 * Everything before `una` is acknowledged, everything before `next` has been sent since the last retry,
 * and everything before `top` has been sent at least once. `una` is within the entry `head`.
 */
#ifndef EMU_WIRE_REQUESTER_H
#define EMU_WIRE_REQUESTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/packet.h"
#include "emu/wire/window.h"
#include "emu/wire/work.h"

#define WIRE_ENTRIES 64u /* work requests that are not completed; a power of two */

struct wire_qp;

struct wire_entry {
	struct wire_wr wr;
	uint32_t psn; /* of its first packet; of a read, also of the first response */
	uint32_t packets;
	uint32_t ssn;	/* send sequence number (IBA 9.7.7.2) */
	uint8_t failed; /* enum emu_syndrome: its memory could not be read */
	bool resent;
};

struct wire_requester {
	struct wire_entry entry[WIRE_ENTRIES];
	uint32_t head, at, tail; /* counters; modulo WIRE_ENTRIES an index */
	uint32_t una, next, top, end;
	uint32_t ssn;	/* of the entry that was posted last */
	uint32_t lsn;	/* the last entry that may take a receive, if `limited` */
	uint32_t msn;	/* the newest that the responder has sent */
	uint32_t reads; /* reads and atomics that are sent and not answered */
	bool went_back; /* since `una` was reached, because of a NAK or an implied one */
	bool limited;
	bool failed;		      /* it sends no more */
	uint8_t retries, rnr_retries; /* that are left */
	uint64_t ack_at;	      /* when the answer is late; 0: none is awaited */
	uint64_t rnr_at;	      /* until then the responder is not ready; 0: it is */
	struct wire_window window;
};

void wire_requester_open(struct wire_qp *qp);
/* The enum wire_operation of a packet, by its index in the message. Reads and atomics are one packet. */
uint8_t wire_operation_of(enum wire_work work, uint32_t index, uint32_t packets);
/* The newest work request whose packets, or the answers to them, have this PSN; NULL: it is forgotten. */
const struct wire_wr *wire_requester_find(const struct wire_qp *qp, uint32_t psn);
/* False: there is no room now; it will be when work requests complete. */
bool wire_requester_post(struct wire_qp *qp, const struct wire_wr *wr);
/* A response: ACK, READ response or atomic ACK. */
enum wire_drop wire_requester_input(struct wire_qp *qp, uint64_t now, const struct wire_packet *p);
/* Write the next packet without pad and CRC; 0: none is due. */
size_t wire_requester_output(struct wire_qp *qp, uint64_t now, uint8_t *out);
/* Act on the timers that have expired. */
void wire_requester_expire(struct wire_qp *qp, uint64_t now);
/* When wire_requester_expire() has to be called; UINT64_MAX: no timer runs. */
uint64_t wire_requester_deadline(const struct wire_qp *qp);
/* Complete all work requests, the first one with `first`, the others as flushed. */
void wire_requester_flush(struct wire_qp *qp, enum emu_syndrome first);

#endif
