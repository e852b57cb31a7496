/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs as the engine sees them: its memory of each, and their move to the error state. */
#ifndef EMU_ENGINE_QP_H
#define EMU_ENGINE_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

/* The numbers of enum ibv_event_type. */
enum emu_qp_event {
	EMU_EVENT_QP_REQ_ERR = 2,
	EMU_EVENT_QP_ACCESS_ERR = 3,
	EMU_EVENT_QP_COMM_EST = 4,
	EMU_EVENT_SRQ_LIMIT = 15,
	EMU_EVENT_QP_LAST_WQE = 16,
};

/* IBV_ACCESS_REMOTE_* as in emu_qp.access. */
enum emu_qp_access {
	EMU_QP_REMOTE_WRITE = 2,
	EMU_QP_REMOTE_READ = 4,
	EMU_QP_REMOTE_ATOMIC = 8,
};

/*
 * What the engine remembers of a QP between passes. Of an XRC target that another engine serves
 * only the rx_ fields are used.
 */
struct emu_qp_run {
	uint32_t serial;
	uint32_t resets;
	uint16_t sq_ci;	   /* of the current WQE, in 64-byte blocks */
	uint16_t rq_ci;	   /* next receive WQE */
	uint16_t rx_index; /* of the SRQ's WQE that the message in its inbox fills */
	uint32_t rx_srqn;  /* that SRQ; 0 = the QP has taken none */
	uint32_t src_qpn;  /* the source of the message in its inbox, if that is answered */
	uint32_t src_serial;
	uint32_t src_resets;
	bool last_wqe;		 /* the event LAST_WQE_REACHED was sent */
	bool active;		 /* the WQE at sq_ci has begun */
	bool posted;		 /* its message is in the inbox of peer_qpn */
	bool umr[EMU_UMR_SIDES]; /* a change of an mkey is with the server */
	uint8_t rnr_count;	 /* RNR NAKs of this WQE */
	bool barred;		 /* the peer cannot take this WQE now */
	bool wrong_pkey;	 /* the peer dropped this WQE's packets for their P_Key: counted */
	uint32_t member;	 /* of the multicast group, which gets the datagram now; 0: none */
	uint32_t peer_qpn;	 /* valid if posted */
	uint32_t peer_serial;	 /* valid if posted */
	uint64_t done;		 /* bytes of the WQE */
	uint32_t produced;	 /* bytes of the destination, if the WQE transforms */
	uint8_t hw_syndrome;	 /* emu_cqe.hw_syndrome */
	bool key_refused;	 /* that the request names */
	uint64_t key_asked;	 /* ns; when the server was asked for it; 0: it was not */
	uint64_t rx_done;	 /* bytes of the message in its inbox */
	uint64_t retry_end;	 /* ns; the transport gives up; 0 = not waiting */
	uint64_t rnr_end;	 /* ns; try again after an RNR NAK; 0 = not waiting */
	uint64_t held_until;	 /* ns; delays the completion of a done WQE; 0 = not delayed */
	uint64_t stuck_since;	 /* ns; the engine that has its message is in one pass since then */
	uint32_t stuck_epoch;	 /* the epoch of that pass; 0 = none */
	uint32_t shown_packets;	 /* of local_packets.c */
	uint32_t shown_messages;
};

struct engine;

/* The send queue cannot go on in this pass; what waits for its work need not wait. */
void emu_engine_qp_note_rest(const struct engine *e, struct emu_qp *q);
/* A message of its peer has arrived in RTR: its program may wait for that before it moves to RTS (IBA 11.6.3.2). */
void emu_engine_qp_established(struct engine *e, struct emu_qp *q);
/* Move a QP that can carry traffic to ERR; false if it is in RESET or INIT. */
bool emu_engine_qp_fail(struct emu_qp *q);
/* The same after a failed send: a UC or UD QP moves to SQE, so that it still receives. */
bool emu_engine_sq_fail(struct emu_qp *q);

#endif
