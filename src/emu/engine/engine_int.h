/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inside of the DMA engine, shared by the engine_*.c files.
 *
 * Everything runs on the engine's one thread and within a pass (see shm.h): a pointer into the
 * tables, once its entry's serial was seen non-zero, stays good until the pass ends and no longer.
 * What must survive a pass is in struct emu_qp_run and struct emu_cq_run, keyed by the serial.
 */
#ifndef EMU_ENGINE_INT_H
#define EMU_ENGINE_INT_H

#include "engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* Most bytes that one QP moves in a pass: bounds how long a revocation waits. */
#define ENGINE_CHUNK (1u << 20)
/* Most work requests that one QP executes in a pass. */
#define ENGINE_BUDGET 64
/* Of them, most small copies at once. */
#define ENGINE_SEGS    128
#define ENGINE_MEM_FDS 4
#define ENGINE_FILES   16
#define ENGINE_EVENTS  64
/* Most completions that are made known together, and copies so long that none waits for them. */
#define ENGINE_CQES 8
#define ENGINE_LONG 4096u
/* How long receptions are held back for more to be compressed with: after one, and in all. */
#define ENGINE_QUIET_NS	  3000u
#define ENGINE_SESSION_NS 200000u
#define ENGINE_WQE_MAX	  (63 * 16)
#define ENGINE_MAX_MSG	  (1ull << 31)
#define ENGINE_UD_MTU	  4096u /* of the port: a datagram is one packet */

/* CQE syndromes of the PRM. */
enum emu_syndrome {
	EMU_SYN_OK = 0x00,
	EMU_SYN_LOC_LEN = 0x01,
	EMU_SYN_LOC_QP_OP = 0x02,
	EMU_SYN_LOC_PROT = 0x04,
	EMU_SYN_FLUSH = 0x05,
	EMU_SYN_MW_BIND = 0x06,
	EMU_SYN_REM_INV_REQ = 0x12,
	EMU_SYN_REM_ACCESS = 0x13,
	EMU_SYN_REM_OP = 0x14,
	EMU_SYN_RETRY = 0x15,
	EMU_SYN_RNR_RETRY = 0x16,
};

enum emu_wqe_opcode {
	EMU_WQE_NOP = 0x00,
	EMU_WQE_SEND_INVAL = 0x01,
	EMU_WQE_RDMA_WRITE = 0x08,
	EMU_WQE_RDMA_WRITE_IMM = 0x09,
	EMU_WQE_SEND = 0x0a,
	EMU_WQE_SEND_IMM = 0x0b,
	EMU_WQE_RDMA_READ = 0x10,
	EMU_WQE_ATOMIC_CS = 0x11,
	EMU_WQE_ATOMIC_FA = 0x12,
	EMU_WQE_UMR = 0x25,
	EMU_WQE_MMO = 0x2f,
};

enum emu_cqe_opcode {
	EMU_CQE_REQ = 0,
	EMU_CQE_RESP_WR_IMM = 1,
	EMU_CQE_RESP_SEND = 2,
	EMU_CQE_RESP_SEND_IMM = 3,
	EMU_CQE_RESP_SEND_INV = 4,
	EMU_CQE_REQ_ERR = 13,
	EMU_CQE_RESP_ERR = 14,
};

/* enum ibv_event_type's numbers. */
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

/* What the engine remembers of a QP between passes; of another's XRC target the rx_ fields. */
struct emu_qp_run {
	uint32_t serial;
	uint32_t resets;
	uint16_t sq_ci;		 /* of the WQE in execution, in 64-byte blocks */
	uint16_t rq_ci;		 /* next receive WQE */
	uint16_t rx_index;	 /* of the SRQ's WQE that the message in its inbox fills */
	uint32_t rx_srqn;	 /* that SRQ; 0 = it has taken none */
	bool last_wqe;		 /* told that no SRQ WQE will complete any more */
	bool active;		 /* the WQE at sq_ci has begun */
	bool posted;		 /* its message is in the inbox of peer_qpn */
	bool umr[EMU_UMR_SIDES]; /* a change of an mkey is with the server */
	uint8_t rnr_count;	 /* RNR NAKs of this WQE */
	uint32_t peer_qpn;	 /* valid if posted */
	uint32_t peer_serial;	 /* valid if posted */
	uint64_t done;		 /* bytes of the WQE */
	uint64_t rx_done;	 /* bytes of the message in its inbox */
	uint64_t retry_end;	 /* ns; the transport gives up; 0 = not waiting */
	uint64_t rnr_end;	 /* ns; try again after an RNR NAK; 0 = not waiting */
	uint64_t held_until;  /* ns; the WQE is done, its completion is held back; 0 = it is not */
	uint64_t stuck_since; /* ns; its message can't be taken back from an engine that is in */
	uint32_t stuck_epoch; /* this one, and does not move; 0 = it can */
};

/* What the engine remembers of a CQ between passes. */
struct emu_cq_run {
	uint32_t serial;
	uint32_t ci;	    /* the consumer's index when it was looked at last */
	uint32_t solicited; /* pi after the last solicited or error CQE */
	bool any_solicited; /* since the last event */
	bool fired;	    /* an event went out for fired_sn */
	uint8_t fired_sn;
	uint32_t fired_pi;   /* where the ring ended then */
	uint64_t held_since; /* ns; an event is held back by moderation; 0 = none */
};

/* What the engine remembers of an SRQ between passes. */
struct emu_srq_run {
	uint32_t serial;
	uint16_t head;	/* index of the next WQE */
	uint16_t taken; /* WQEs so far */
};

struct emu_mem_fd {
	int32_t pid;
	int fd;
};

/* The file of an mkey, kept open between passes; `id` 0: a free entry. */
struct emu_open_file {
	uint32_t id;
	uint32_t mkey;
	uint32_t serial; /* of the mkey */
	int fd;
	uint64_t ino;
	uint64_t dev;
	uint8_t *cells; /* the page of the last atomic operation, mapped; or NULL */
	uint64_t cells_at;
};

/* Completions that are written, but for the byte that tells of them: of one CQ, within a pass. */
struct emu_cq_batch {
	struct emu_cq *cq;
	uint32_t cqn;
	uint32_t n;
	uint8_t op_own[ENGINE_CQES];
};

struct emu_cqe {
	uint8_t opcode;
	uint8_t syndrome;
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
 * Receptions of one QP that are not yet written, as more may follow that can be compressed with
 * them. It outlives passes: whose they are is told by the serials.
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

/* Whether faults of copies are ours to handle (engine_guard.c). */
struct emu_guard {
	uint64_t asked; /* ns; when it was found out; 0 = never */
	bool safe;
	bool wanted; /* this thread gets the signals */
};

struct engine {
	struct emu_engine_config cfg;
	struct emu_engine *slot;
	uint32_t serial; /* of the slot */
	int32_t pid;
	uint32_t change; /* as of the last scan */
	bool scanned;
	bool worked;	 /* this pass made progress */
	bool no_vm;	 /* the kernel has no process_vm_* */
	bool abandoned;	 /* the server is gone */
	uint64_t looked; /* ns; when it was last seen */
	uint64_t now;	 /* ns; when it was asked for last, which is in each pass */
	bool timed;	 /* it has been, in this one */
	uint32_t rule;	 /* enum emu_cqe_action: what completions meet in this pass */
	struct emu_guard guard;
	struct emu_cq_batch batch;
	struct emu_cq_session session;
	int scratch_fd; /* if no_vm */
	uint32_t qp_count;
	uint32_t cq_count;
	uint32_t srq_count;
	bool has_xsrqs; /* or had: messages to XRC targets of others may be ours to execute */
	uint32_t tgt_count;
	uint32_t tgt_list[EMU_MAX_QPS]; /* XRC targets of other engines, if has_xsrqs */
	uint32_t qp_list[EMU_MAX_QPS];
	uint32_t cq_list[EMU_MAX_CQS];
	struct emu_qp_run qp_run[EMU_MAX_QPS];
	struct emu_cq_run cq_run[EMU_MAX_CQS];
	uint32_t srq_list[EMU_MAX_SRQS];
	struct emu_srq_run srq_run[EMU_MAX_SRQS];
	struct emu_mem_fd mem_fd[ENGINE_MEM_FDS];
	uint32_t mem_fd_next;
	struct emu_open_file file[ENGINE_FILES];
	uint32_t file_count;
	uint32_t file_next;
	uint32_t trace_lost;  /* records that nobody took in time */
	uint32_t event_count; /* events that the notify socket had no room for */
	struct emu_note event[ENGINE_EVENTS];
	uint8_t bounce[ENGINE_CHUNK];
};

/* Physical pieces in order; `len` is their sum. */
struct emu_seg_list {
	uint32_t n;
	uint64_t len;
	struct emu_seg seg[ENGINE_SEGS];
};

/* Whose keys are looked up, and the rights (enum emu_right) that the access needs. */
struct emu_domain {
	uint32_t func;
	uint32_t pdn;
	uint32_t need;
	int32_t pid;  /* of the QP's process, where inline data are */
	uint32_t qpn; /* that uses the keys */
};

/* Where a datagram goes, by its WQE's address vector. */
struct emu_av {
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
	uint32_t imm; /* big endian */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t operand[2];
	uint32_t srqn; /* XRC */
	uint32_t nsge;
	uint64_t len;	  /* sum over sge */
	struct emu_av av; /* valid only for UD, as is what follows for as much as there is of it */
	struct emu_sge sge[EMU_MSG_SEGS];
	struct emu_umr umr; /* of a UMR WQE: its segments; valid only for one */
};

enum emu_fault {
	EMU_FAULT_NONE,
	EMU_FAULT_SRC,
	EMU_FAULT_DST,
};

static inline uint16_t emu_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t emu_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t emu_get64(const uint8_t *p)
{
	return (uint64_t)emu_get32(p) << 32 | emu_get32(p + 4);
}

static inline void emu_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void emu_put32(uint8_t *p, uint32_t v)
{
	emu_put16(p, (uint16_t)(v >> 16));
	emu_put16(p + 2, (uint16_t)v);
}

static inline void emu_put64(uint8_t *p, uint64_t v)
{
	emu_put32(p, (uint32_t)(v >> 32));
	emu_put32(p + 4, (uint32_t)v);
}

/* Does the requester learn what became of its requests? */
static inline bool emu_qp_reliable(const struct emu_qp *q)
{
	return q->type != EMU_QPT_UC && q->type != EMU_QPT_UD;
}

/* Memory of this process that the driver gave the device: rings, doorbell records, CQEs. */
static inline uint8_t *emu_own(uint64_t addr)
{
	return (uint8_t *)(uintptr_t)addr;
}

/* A word of a doorbell record; acquires what the driver wrote before it. */
static inline uint32_t emu_dbr_word(uint64_t dbr_addr, unsigned int word)
{
	uint8_t *p = emu_own(dbr_addr) + (size_t)word * 4;
	uint32_t raw = __atomic_load_n((uint32_t *)(void *)p, __ATOMIC_ACQUIRE);

	return emu_get32((const uint8_t *)&raw);
}

static inline uint64_t emu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* engine.c */

/* Tell the server; false if its socket is full and the note must be tried again. */
bool emu_engine_note(struct engine *e, const struct emu_note *note);
/* The same for a record of another size. */
bool emu_engine_record(struct engine *e, const void *record, size_t len);
/* The same for what happens once: kept until there is room. */
void emu_engine_event(struct engine *e, const struct emu_note *note);
/* End the sleep of the engine in `slot`, if it sleeps. */
void emu_engine_kick(struct engine *e, uint32_t slot);
/* Move a QP that can carry traffic to ERR; false if it is in RESET or INIT. */
bool emu_engine_qp_fail(struct emu_qp *q);
/* What a failed work request of the send queue makes of it: of a UC or UD QP only that half. */
bool emu_engine_sq_fail(struct emu_qp *q);

/* engine_mkey.c */

/* Is the whole access allowed? */
bool emu_mkey_check(const struct engine *e, const struct emu_domain *dom, uint32_t key,
		    uint64_t addr, uint64_t len);
/*
 * Append the pieces of [addr, addr + len), which may be only the first ones if the list fills up.
 * False: refused.
 */
bool emu_mkey_translate(const struct engine *e, const struct emu_domain *dom, uint32_t key,
			uint64_t addr, uint64_t len, struct emu_seg_list *out);
/* Are all entries allowed? */
bool emu_sge_check(const struct engine *e, const struct emu_domain *dom, const struct emu_sge *sge,
		   uint32_t nsge);
/* The pieces of bytes [off, off + len) of a scatter/gather list, as emu_mkey_translate. */
bool emu_sge_translate(const struct engine *e, const struct emu_domain *dom,
		       const struct emu_sge *sge, uint32_t nsge, uint64_t off, uint64_t len,
		       struct emu_seg_list *out);
/* The mkey that `key` leads to, through an alias perhaps; NULL if the domain may not use it. */
const struct emu_mkey *emu_mkey_find(const struct engine *e, const struct emu_domain *dom,
				     uint32_t key);
/* The pieces, as emu_mkey_translate, of what that mkey was seen to grant. */
bool emu_mkey_reach(const struct engine *e, const struct emu_domain *dom, const struct emu_mkey *m,
		    uint64_t addr, uint64_t len, struct emu_seg_list *out);

static inline bool emu_mkey_is_list(const struct emu_mkey *m)
{
	return m->mode == EMU_MKEY_KLM || m->mode == EMU_MKEY_KSM || m->mode == EMU_MKEY_STRIDED;
}

/* engine_guard.c */

#define ENGINE_TRUST_NS 1000000u /* how long we believe that the signals are still ours */

/* Are they? */
bool emu_guard_ask(struct engine *e);
/* False, with some of it done perhaps, if a page was missing. */
bool emu_guard_move(void *dst, const void *src, size_t len);

/* A copy within this process. False, with some of it done perhaps, if it was not possible. */
static inline bool emu_guard_copy(struct engine *e, void *dst, const void *src, size_t len)
{
	bool safe = e->guard.asked && e->now - e->guard.asked < ENGINE_TRUST_NS ? e->guard.safe
										: emu_guard_ask(e);

	return safe && emu_guard_move(dst, src, len);
}

/* engine_copy.c */

/* Copy len bytes (at most ENGINE_CHUNK, dst->len and src->len). */
enum emu_fault emu_engine_copy(struct engine *e, const struct emu_seg_list *dst,
			       const struct emu_seg_list *src, uint64_t len);
/* Find out how this kernel lets an engine reach user memory. */
void emu_engine_probe_vm(struct engine *e);
/*
 * Where a piece of this process, of a file or of the dm segment can be changed atomically; NULL if
 * nowhere.
 */
uint64_t *emu_engine_atomic_cell(struct engine *e, const struct emu_seg *seg);
void emu_engine_close_fds(struct engine *e);

/* engine_file.c: pieces with an mkey */

bool emu_file_read(struct engine *e, const struct emu_seg *s, void *buf, size_t len);
bool emu_file_write(struct engine *e, const struct emu_seg *s, const void *buf, size_t len);
uint64_t *emu_file_cell(struct engine *e, const struct emu_seg *s);
/* Close the files of mkeys that are gone. */
void emu_files_prune(struct engine *e);
void emu_files_close(struct engine *e);

/* engine_cq.c */

/* Is a CQ being changed by the server? Nothing may be written to it in this pass. */
bool emu_cq_frozen(const struct engine *e, uint32_t cqn);
/*
 * Write a CQE, to be published; false if the QP must fail: the CQ was overrun, or a fault on demand
 * says so.
 */
bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe);
/*
 * Let the driver see what was written. It waits for the next completion by reading the very line
 * that is to be written, which is dear for both: so they come a few at a time. None waits for a
 * long copy or the end of the pass, nor may anybody be told of what comes after it.
 */
void emu_cq_publish(struct engine *e);
/* Write what is held back to be compressed; or do so if it has been for long enough. */
void emu_cq_end_session(struct engine *e);
void emu_cq_age_session(struct engine *e);
void emu_cq_notify(struct engine *e, uint32_t cqn);

/* engine_wqe.c */

/* Parse the WQE at block `ci`, of which `avail` blocks are posted; EMU_SYN_OK or the syndrome. */
enum emu_syndrome emu_wqe_parse(const struct emu_qp *q, uint32_t qpn, uint16_t ci, uint16_t avail,
				struct emu_wqe *w);
/* Parse the receive WQE `index`: its entries and their sum. */
void emu_rqe_parse(const struct emu_qp *q, uint16_t index, struct emu_wqe *w);
/* The same for the data segments of an SRQ's WQE, which are in [p, end). */
void emu_rqe_parse_segs(const uint8_t *p, const uint8_t *end, struct emu_wqe *w);

/* engine_srq.c */

/* The SRQ with that number if this engine serves it, or NULL. */
struct emu_srq *emu_srq_find(struct engine *e, uint32_t srqn);
/* The SRQ, anybody's, that a message for `tgt` may name; or NULL. */
const struct emu_srq *emu_srq_of_xrc(const struct engine *e, const struct emu_qp *tgt,
				     uint32_t srqn);
/* Who executes such a message: the engine of that SRQ, or who refuses it. */
uint32_t emu_xrc_engine(const struct engine *e, const struct emu_qp *tgt, uint32_t srqn);
/* Take the next WQE off its list; false if there is none. */
bool emu_srq_take(struct engine *e, uint32_t srqn, uint16_t *index);
void emu_srq_parse(const struct emu_srq *srq, uint16_t index, struct emu_wqe *w);
/* Send the limit event if it is due. */
void emu_srq_notify(struct engine *e, uint32_t srqn);

/* engine_ud.c */

/* The QP that a datagram of `q` reaches, or NULL. */
struct emu_qp *emu_ud_peer(struct engine *e, const struct emu_qp *q, const struct emu_av *av);
/* The GRH area (EMU_GRH bytes) as the receiver finds it. */
void emu_ud_header(const struct engine *e, const struct emu_qp *q, const struct emu_av *av,
		   uint64_t len, uint8_t *grh);
/* The network part of the receiver's CQE for such a header. */
uint8_t emu_ud_network(const uint8_t *grh);

/* engine_umr.c */

#define ENGINE_UMR_WAIT UINT32_MAX /* the server has not answered yet */

/* Ask the server for a change of an mkey, or look for its answer: the syndrome of a CQE. */
uint32_t emu_umr_step(struct engine *e, uint32_t qpn, enum emu_umr_side side,
		      const struct emu_umr *what);

/* engine_sq.c and engine_rq.c: as much as fits a pass */

void emu_sq_advance(struct engine *e, uint32_t qpn);
/* Both also for XRC targets of other engines. */
void emu_rq_serve(struct engine *e, uint32_t qpn);
void emu_rq_flush(struct engine *e, uint32_t qpn);
/* The access was refused at responder p: its QP fails and its owner is told. */
void emu_rq_violation(struct engine *e, struct emu_qp *p, uint32_t event);

/* engine_report.c */

/* A work request is finished: count it, and tell who traces. */
void emu_report(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome);
/* What a fault on demand makes of a completion: itself, NULL if it is lost, or `*other`. */
const struct emu_cqe *emu_rule_fate(struct engine *e, const struct emu_cqe *cqe,
				    struct emu_cqe *other);
/* Until when (ns) a fault on demand holds the QP's next completion back; 0: not at all. */
uint64_t emu_rule_delay(struct engine *e, uint32_t qpn);

#endif
