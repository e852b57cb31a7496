/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A connected queue pair (RC, UC, either end of XRC) as a machine: work requests and packets in, packets
 * and completions out. It reads no clock, has no buffers, allocates nothing, and knows of memory what
 * struct wire_ops says. Times are nanoseconds of any clock that does not go back, and are not 0.
 *
 * Its user calls wire_qp_input() for each packet, then wire_qp_output() until it returns 0, and again when
 * work was posted or wire_qp_deadline() is over. Packets are lost, late and repeated as the network likes:
 * the user may drop any of them, too.
 */
#ifndef EMU_WIRE_QP_H
#define EMU_WIRE_QP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/packet.h"
#include "emu/wire/path.h"
#include "emu/wire/requester.h"
#include "emu/wire/responder.h"
#include "emu/wire/work.h"

#define WIRE_RNR_FOREVER 7u /* rnr_retry (IBA 9.7.5.2) */

/* As ibv_modify_qp() sets them. */
struct wire_attr {
	enum wire_service service; /* WIRE_RC, WIRE_UC or WIRE_XRC */
	uint32_t qpn, dest_qpn;
	uint32_t mtu; /* bytes: 256 to 4096, a power of two */
	uint16_t pkey;
	uint32_t sq_psn, rq_psn;
	uint8_t timeout; /* 4.096 us * 2^timeout; 0: for ever */
	uint8_t retry_cnt, rnr_retry;
	uint8_t min_rnr_timer;	    /* a code: see wire_rnr_ns() */
	uint8_t max_rd_atomic;	    /* outstanding, as requester */
	uint8_t max_dest_rd_atomic; /* as responder, at most WIRE_REPLIES */
	uint32_t window; /* packets outstanding, as requester: what the network's buffers hold */
	struct wire_path path; /* to the peer */
};

struct wire_qp {
	struct wire_attr attr;
	const struct wire_ops *ops;
	void *ctx;
	bool dead; /* the error state */
	struct wire_requester requester;
	struct wire_responder responder;
};

void wire_qp_open(struct wire_qp *qp, const struct wire_attr *attr, const struct wire_ops *ops,
		  void *ctx);
/*
 * Post a work request that the service has: UC neither reads nor invalidates. False: there is no room before
 * others are completed, or the send queue has failed.
 */
bool wire_qp_post(struct wire_qp *qp, const struct wire_wr *wr);
/* Process a packet that wire_parse() accepted; `from` is what it had in front. */
enum wire_drop wire_qp_input(struct wire_qp *qp, uint64_t now, const struct wire_path *from,
			     const struct wire_packet *p);
/*
 * Write the next packet into `out` (WIRE_MAX_PACKET bytes), to be completed by wire_seal() and sent along
 * qp->attr.path. Returns its length, 0: none is due now.
 */
size_t wire_qp_output(struct wire_qp *qp, uint64_t now, uint8_t *out);
/* When to call wire_qp_output() even if no packet arrives; UINT64_MAX: never. */
uint64_t wire_qp_deadline(const struct wire_qp *qp);
/* Move to the error state: complete all posted work requests as flushed. Also after an error of its own. */
void wire_qp_fail(struct wire_qp *qp);

/* For the other files of this room: how long an answer may take; 0: for ever (IBA 9.7.6.1). */
uint64_t wire_qp_timeout(const struct wire_qp *qp);
/* A packet to the peer with this enum wire_operation: what all of them have in common. */
struct wire_packet wire_qp_packet(const struct wire_qp *qp, uint8_t operation, uint32_t psn);
/* The number of packets of a message. */
uint32_t wire_qp_packets(const struct wire_qp *qp, uint32_t len);

#endif
