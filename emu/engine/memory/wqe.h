/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parsing work requests: entries of send queues, receive queues and shared receive queues. */
#ifndef EMU_ENGINE_MEMORY_WQE_H
#define EMU_ENGINE_MEMORY_WQE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/segments.h"
#include "emu/ipc/codes.h"
#include "emu/ipc/shm.h"

#define ENGINE_WQE_MAX (63 * 16)
#define ENGINE_MAX_MSG (1ull << 30) /* max_msg_sz and log_max_msg, as the server announces them */
#define ENGINE_UD_MTU  4096u	    /* of the port: a datagram is one packet */
#define ENGINE_MAX_SEG (1ull << 31) /* a length of 0 */

/* The destination of a datagram, or the target of a DC initiator's request: the address vector of the WQE. */
struct emu_av {
	uint64_t dc_key;
	uint32_t qkey;
	uint32_t qpn;
	uint32_t flow; /* label */
	uint8_t sgid_index;
	uint8_t tclass;
	uint8_t hop_limit;
	uint8_t dgid[16];
};

/* A parsed WQE of the send queue. */
struct emu_wqe {
	uint8_t opcode;
	uint8_t opmod;
	uint8_t flags; /* fm_ce_se */
	uint8_t blocks;
	uint16_t stream; /* DCI */
	uint32_t imm;	 /* big endian */
	uint64_t raddr;
	uint32_t rkey;
	uint32_t control; /* of an MMO: the word after the control segment */
	uint64_t operand[2];
	uint32_t srqn; /* XRC */
	uint32_t nsge;
	uint64_t len; /* sum over sge; of an MMO, of the source */
	struct emu_av
		av; /* valid only for UD and DCI; of what follows only the used entries are valid */
	struct emu_sge sge[EMU_MSG_SEGS];
	struct emu_umr umr; /* the segments of a UMR WQE; valid only for one */
};

/* Does the destination get other bytes than those of the source? */
static inline bool emu_wqe_transforms(const struct emu_wqe *w)
{
	return w->opcode == EMU_WQE_MMO && w->opmod != EMU_MMO_dma;
}

/*
 * Parse the WQE at block `ci`, of which `avail` blocks are posted. Returns EMU_SYN_OK or the
 * syndrome.
 */
enum emu_syndrome emu_wqe_parse(const struct emu_qp *q, uint32_t qpn, uint16_t ci, uint16_t avail,
				struct emu_wqe *w);
/* Parse the receive WQE `index`: its entries and their sum. */
void emu_rqe_parse(const struct emu_qp *q, uint16_t index, struct emu_wqe *w);
/* The same for the data segments of an SRQ's WQE, which are in [p, end). */
void emu_rqe_parse_segs(const uint8_t *p, const uint8_t *end, struct emu_wqe *w);

#endif
