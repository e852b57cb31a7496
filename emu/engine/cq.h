/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues: writing CQEs, compressing them, and the events of armed queues. */
#ifndef EMU_ENGINE_CQ_H
#define EMU_ENGINE_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/note.h"
#include "emu/ipc/shm.h"

/* The most completions that become visible together. */
#define ENGINE_CQES 8
/* The most completion channels that are open: a program may have few descriptors. */
#define ENGINE_CHANNELS 64
/* How long receptions wait to be compressed with others: after the last one, and in total. */
#define ENGINE_SESSION_IDLE_NS 3000u
#define ENGINE_SESSION_NS      200000u
/* How long the event of a message that was acknowledged waits for its reply. */
#define ENGINE_REPLY_NS 30000u

struct engine;

enum emu_cqe_opcode {
	EMU_CQE_REQ = 0,
	EMU_CQE_RESP_WR_IMM = 1,
	EMU_CQE_RESP_SEND = 2,
	EMU_CQE_RESP_SEND_IMM = 3,
	EMU_CQE_RESP_SEND_INV = 4,
	EMU_CQE_REQ_ERR = 13,
	EMU_CQE_RESP_ERR = 14,
};

/* What the engine remembers of a CQ between passes. */
struct emu_cq_run {
	uint32_t serial;
	uint32_t ci;	    /* the consumer's index when it was read last */
	uint32_t solicited; /* pi after the last solicited or error CQE */
	bool any_solicited; /* since the last event */
	bool any;	    /* any_arm requests any completion, and there was no event since */
	uint32_t any_arm;   /* the arm word */
	bool fired;	    /* an event went out for fired_sn */
	uint8_t fired_sn;
	uint32_t fired_pi;   /* the producer's index then */
	uint64_t held_since; /* ns; since then moderation delays an event; 0 = none */
	uint64_t sent_at;    /* ns; when the last message was acknowledged; 0 = it has a reply */
	uint32_t sent_pi;    /* the producer's index then */
	bool is_answered;    /* the message before had a reply */
	int channel; /* descriptor of its completion channel + 1; 0: the server reports events */
	uint64_t element; /* what names the CQ in the channel */
	bool doubled; /* a fault on demand wrote a CQE twice, the second one before doubled_pi */
	uint32_t doubled_pi;
};

/* Completions of one CQ that are written in this pass except for the ownership byte. */
struct emu_cq_batch {
	struct emu_cq *cq;
	uint32_t cqn;
	uint32_t n;
	uint8_t op_own[ENGINE_CQES];
};

struct emu_cqe {
	uint8_t opcode;
	uint8_t syndrome;
	uint8_t hw_syndrome; /* what an engine found wrong with its data; 0: nothing */
	uint8_t wqe_opcode;
	bool solicited;
	uint16_t wqe_counter;
	uint32_t qpn;
	uint32_t src_qpn;
	uint8_t net; /* the byte above src_qpn: GRH and network type */
	uint32_t uidx;
	uint32_t imm; /* big endian */
	uint32_t byte_cnt;
};

/*
 * Receptions of one QP that are not yet written, because following ones may be compressed with
 * them. It outlives passes: the serials tell whether it still belongs to its QP and CQ.
 */
struct emu_cq_session {
	uint32_t n; /* 0: there is none */
	uint32_t cqn;
	uint32_t cq_serial;
	uint32_t qp_serial;
	uint32_t qp_resets;
	uint64_t opened; /* ns */
	uint64_t grown;	 /* ns */
	struct emu_cqe first;
	uint32_t byte_cnt[EMU_MAX_SESSION];
};

struct emu_completions {
	struct emu_cq_batch batch;
	struct emu_cq_session session;
	uint64_t reported; /* ns; when a completion event was sent last; 0: never */
	uint32_t channels; /* how many of `run` have one */
	struct emu_cq_run run[EMU_MAX_CQS];
};

/* Does the server change the CQ? Then nothing may be written to it in this pass. */
bool emu_cq_frozen(const struct engine *e, uint32_t cqn);
/*
 * Write a CQE, to be published; false if the QP must fail: the CQ was overrun, or a fault on demand
 * requires it.
 */
bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe);
/* How many completions were pushed: a difference counts. */
uint32_t emu_cq_produced(const struct engine *e, uint32_t cqn);
/*
 * Make what was written visible to the driver. The driver polls the very cache line that is written
 * next, which is expensive for both, so a few CQEs become visible together. They must do so before
 * a long copy, before the end of the pass, and before any later event.
 */
void emu_cq_publish(struct engine *e);
/* Write the session's receptions now, or if they have waited long enough. */
void emu_cq_end_session(struct engine *e);
void emu_cq_age_session(struct engine *e);
/* From now on the engine writes the events of a CQ into its completion channel itself. */
void emu_cq_accept(struct engine *e, const struct emu_channel_fd *g, int fd);
/* Close the channels of CQs that do not exist any more; or all, so that programs see their end. */
void emu_cq_prune(struct engine *e);
void emu_cq_close_channels(struct engine *e);
/*
 * A message was acknowledged whose reply would complete on the same CQ: one event may report both. Called after the
 * completion was pushed, and emu_cq_answered() when a message is received.
 */
void emu_cq_sent(struct engine *e, uint32_t cqn);
void emu_cq_answered(struct engine *e, uint32_t cqn);
/* Send the CQ's event if it is armed and due. */
void emu_cq_notify(struct engine *e, uint32_t cqn);

#endif
