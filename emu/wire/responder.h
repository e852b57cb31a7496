/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The responder of RC and XRC: requests in, acknowledgements and answers out (IBA 9.7.4, 9.7.5, 9.9.3). */
#ifndef EMU_WIRE_RESPONDER_H
#define EMU_WIRE_RESPONDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/message.h"
#include "emu/wire/packet.h"
#include "emu/wire/replies.h"

struct wire_qp;

struct wire_responder {
	uint32_t epsn; /* expected next */
	uint32_t msn;  /* messages that are completed (IBA 9.7.7.1) */
	struct wire_message message;
	struct wire_replies replies;
	uint32_t ack_psn; /* of an ACK: the last request that is executed and has no response */
	bool ack_due;
	bool nak_due;  /* with nak and nak_psn */
	bool nak_sent; /* a NAK was sent: later packets get none until `epsn` arrives */
	bool unready;  /* it was an RNR NAK */
	bool established;
	bool stalled; /* the packet `last` is executed but for its end */
	bool cnp_due;
	uint8_t nak;
	uint32_t nak_psn;
	uint64_t stalled_at; /* when its end is tried again */
	uint64_t cnp_at;     /* when congestion was last notified; 0: never */
	struct wire_packet last;
};

void wire_responder_open(struct wire_qp *qp);
enum wire_drop wire_responder_input(struct wire_qp *qp, uint64_t now, const struct wire_packet *p);
/* Write the next packet without pad and CRC; 0: none is due. Also in the error state: a NAK is. */
size_t wire_responder_output(struct wire_qp *qp, uint64_t now, uint8_t *out);
/* The sender of the packets must learn that they met congestion on their way. */
void wire_responder_congested(struct wire_qp *qp, uint64_t now);

#endif
