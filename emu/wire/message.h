/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The responder's half of a SEND or RDMA WRITE: the packets of one message in order, whatever the service
 * (IBA 9.4.1, 9.4.3). What a refusal means depends on the service: see responder.c and uc.c.
 */
#ifndef EMU_WIRE_MESSAGE_H
#define EMU_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/wire/packet.h"
#include "emu/wire/work.h"

struct wire_qp;

struct wire_message {
	uint8_t kind;  /* WIRE_KIND_SEND or _WRITE; _NONE: no message has begun */
	bool taken;    /* it has a receive */
	uint64_t room; /* of the receive */
	uint32_t at;   /* bytes that have arrived */
	uint32_t len;  /* of a write */
	uint64_t va;   /* of a write */
	uint32_t rkey; /* of a write */
	uint32_t srqn; /* XRC */
};

/* What became of a packet. */
struct wire_verdict {
	enum wire_drop drop; /* WIRE_ACCEPTED, or why not */
	uint8_t nak; /* enum wire_syndrome, for a requester that gets an answer; 0: silence */
	enum emu_syndrome own; /* how the receive completes; EMU_SYN_OK: the message has none */
};

/* Execute a packet, the next one of its queue pair. WIRE_DROP_BUSY: only its end is missing. */
struct wire_verdict wire_message_input(struct wire_qp *qp, const struct wire_packet *p);
/* Continue with the end of the message, after WIRE_DROP_BUSY. */
struct wire_verdict wire_message_end(struct wire_qp *qp, const struct wire_packet *p);
/* Forget the message: it will not be completed. Its receive stays for the next one. */
void wire_message_abandon(struct wire_qp *qp);
/* Complete the receive of the message with an error, if it has one. */
void wire_message_fail(struct wire_qp *qp, enum emu_syndrome own);

#endif
