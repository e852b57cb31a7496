/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the emulated firmware (the server) and the DMA engines (one thread in each client process)
 * share. Three segments, each a memfd that the server makes:
 *
 *   tables  mkeys and their KLM lists: written by the server alone, mapped read-only by engines.
 *   queues  QPs, CQs and engine slots: written by the server and by the engine that owns the entry.
 *   dm      on-chip memory (MEMIC) of all cards, EMU_DM_STRIDE bytes a card.
 *
 * Life of an entry: `serial` is 0 while the entry is free. The server fills an entry and then
 * publishes it by storing a non-zero, never repeated serial (release); a reader loads the serial
 * first (acquire). To retire one the server stores 0 and then waits until every engine that might
 * still be looking has left its pass (emu_engine.epoch moves on or is even) before it reuses the
 * entry or tells the client that the command is done: read-copy-update's grace period. An engine
 * therefore never blocks on the server inside a pass, and looks every entry up anew in each pass.
 *
 * Of a server that ended, `gone` tells every engine: who finds out stores it. From then on clients
 * retire what they destroy themselves (shim/gone.c).
 */
#ifndef EMU_SHM_H
#define EMU_SHM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_MAX_CARDS	8
#define EMU_MAX_KLMS	(1u << 18)
#define EMU_MAX_GIDS	256u
#define EMU_MAX_ENGINES 256u
#define EMU_MAX_SESSION 64u /* of a CQ with compressed entries */
#define EMU_DM_STRIDE	(16ull << 20)
#define EMU_NO_ENGINE	UINT32_MAX

/*
 * EMU_NUM_* there are, as many as devices say: powers of two. Numbers are from EMU_FIRST_* on, and
 * below EMU_MAX_*, because some have a meaning: mkey 0, so that key 0 never exists, and the
 * reserved lkeys 0x100 and below 0x200; QPs 0 and 1, of which devices leave some more; CQ and SRQ 0
 * are none.
 */
#define EMU_FIRST_MKEY 0x10u
#define EMU_FIRST_QPN  0x40u
#define EMU_NUM_MKEYS  (1u << 18)
#define EMU_NUM_QPS    (1u << 13)
#define EMU_NUM_CQS    (1u << 13)
#define EMU_NUM_SRQS   (1u << 12)
#define EMU_MAX_MKEYS  (EMU_FIRST_MKEY + EMU_NUM_MKEYS)
#define EMU_MAX_QPS    (EMU_FIRST_QPN + EMU_NUM_QPS)
#define EMU_MAX_CQS    (1u + EMU_NUM_CQS)
#define EMU_MAX_SRQS   (1u + EMU_NUM_SRQS)

/* mkey rights, as in the mkey context of the PRM (lr, lw, rr, rw, a). */
enum emu_right {
	EMU_LR = 1u << 0,
	EMU_LW = 1u << 1,
	EMU_RR = 1u << 2,
	EMU_RW = 1u << 3,
	EMU_RA = 1u << 4,
	EMU_MB = 1u << 5, /* memory windows may be bound to it; no bit of the mkey context */
};

enum emu_mkey_flag {
	EMU_MK_FREE = 1u << 0,	 /* it exists but leads nowhere: until UMR gives it a meaning */
	EMU_MK_UMR = 1u << 1,	 /* work requests may change it */
	EMU_MK_RINVAL = 1u << 2, /* a peer may free it by a send with invalidate */
};

enum emu_mkey_mode {
	EMU_MKEY_MEM = 1,   /* memory of a process: u.mem */
	EMU_MKEY_DM = 2,    /* on-chip memory: u.dm */
	EMU_MKEY_KLM = 3,   /* consecutive pieces of any length: u.klm */
	EMU_MKEY_KSM = 4,   /* equal pieces of 2^log_entity bytes: u.klm */
	EMU_MKEY_ALIAS = 5, /* another function's mkey: u.alias */
	EMU_MKEY_FILE = 6,  /* a dma-buf, played by a memfd: u.file */
	/*
	 * u.klm, in turns: of each entry as many bytes as the low half of `bytes` says; its high
	 * half is how far the entry moves on after a turn.
	 */
	EMU_MKEY_STRIDED = 7,
};

/*
 * One mkey; its index is the key >> 8. The low byte of a key must equal `tag`.
 * Valid addresses are [start, start + len).
 */
struct emu_mkey {
	_Atomic uint32_t serial;
	uint8_t mode;
	uint8_t tag;
	uint16_t func; /* the function (VHCA) that it belongs to */
	uint32_t rights;
	uint32_t pdn; /* for an alias: the importer's PD; the target is used with its own PD */
	uint64_t start;
	uint64_t len;
	uint32_t log_entity; /* KSM */
	uint32_t shared;     /* ALLOW_OTHER_VHCA_ACCESS was granted: aliases may reach it */
	uint32_t birth;	     /* its first serial: UMR changes `serial`, but it stays the same key */
	uint32_t flags;	     /* enum emu_mkey_flag */
	uint32_t qpn;	     /* the only QP that may use it; 0: any of its PD */
	uint32_t mw;	     /* a memory window of this type; 0: none */
	union {
		struct {
			uint64_t addr; /* process address of `start` */
			int32_t pid;
		} mem;
		struct {
			uint64_t offset; /* of `start` in the dm segment */
		} dm;
		struct {
			uint32_t first; /* index of the first entry in emu_tables.klm */
			uint32_t count;
			uint32_t room;	 /* entries that are its own, from the first on */
			uint32_t repeat; /* strided: turns */
		} klm;
		struct {
			uint32_t index;	 /* the target, and */
			uint32_t serial; /* birth of the one mkey there that was granted */
		} alias;
		struct {
			uint64_t offset; /* of `start` in the file */
			uint64_t ino;	 /* of the file, to tell that it is the right one */
			int32_t pid;	 /* who keeps it open while the mkey lives, and */
			int32_t fd;	 /* as what: engines open /proc/PID/fd/FD */
			uint32_t id;	 /* a serial: never another open file's */
		} file;
	} u;
};

struct emu_klm {
	uint32_t bytes; /* KLM only */
	uint32_t key;
	uint64_t addr;
};

/* A GID of the fabric: whose it is. They are there before the first client and never change. */
struct emu_gid {
	uint8_t raw[16];
	uint16_t func;
	uint8_t index; /* in the function's table */
	uint8_t type;  /* 1: RoCE v1, 2: RoCE v2 */
	uint32_t pad;
};

struct emu_tables {
	_Atomic uint32_t generation; /* of the tables' layout; 1 */
	uint32_t ngids;
	uint32_t pad[14];
	struct emu_gid gid[EMU_MAX_GIDS];
	struct emu_mkey mkey[EMU_MAX_MKEYS];
	struct emu_klm klm[EMU_MAX_KLMS];
};

/* A piece of memory that an engine can reach: of a process, of a file, or of the dm segment. */
struct emu_seg {
	uint64_t addr; /* address in process `pid`; offset in the file or in the dm segment */
	uint64_t len;
	int32_t pid;   /* 0: a file or the dm segment */
	uint32_t mkey; /* index of the EMU_MKEY_FILE mkey that names the file; 0: no file */
};

/* One piece of a request's payload, as its requester's WQE names it. */
struct emu_sge {
	uint64_t addr;
	uint64_t len;
	uint32_t lkey; /* in the requester's function and PD, translated by whoever copies */
	uint32_t inl;  /* inline data: addr is the ring's in the requester's process, no lkey */
};

#define EMU_MSG_SEGS 64
#define EMU_GRH	     40

enum emu_msg_state {
	EMU_MSG_FREE = 0,
	EMU_MSG_CLAIMED = 1, /* a requester is filling it (FREE -> CLAIMED by compare and swap) */
	EMU_MSG_POSTED = 2,  /* for the responder's engine */
	EMU_MSG_BUSY = 3,    /* the responder's, who made it so by compare and swap */
	EMU_MSG_DONE = 4,    /* answered: the requester reads `syndrome` and stores FREE */
};

/*
 * From POSTED to DONE the state names the engine that executes the message as well, so that to take
 * it is one step: the responder QP's, but of an XRC target the one whose process has the SRQ.
 */
#define EMU_MSG_FOR(slot, state) ((slot) << 8 | (uint32_t)(state))
#define EMU_MSG_STATE(word)	 ((word)&0xffu)
#define EMU_MSG_SLOT(word)	 ((word) >> 8)

/*
 * A request that an engine of the responder's side must execute because it consumes a receive WQE
 * or changes memory atomically. At most one is outstanding per responder QP, as its requester waits
 * for the answer before the next one. `opcode` is the WQE's. The payload stays in the requester's
 * memory (`sge`) and is copied once, by the responder.
 *
 * The source is named by QP number, serial and resets: a message whose source is gone is dropped.
 * The server stores FREE when it makes the responder QP and, after the grace period, at each RESET.
 */
struct emu_msg {
	_Atomic uint32_t state; /* EMU_MSG_FOR() an enum emu_msg_state */
	uint32_t src_engine;
	uint32_t src_qpn;
	uint32_t src_serial;
	uint32_t src_resets;
	uint32_t opcode;
	uint32_t imm;	   /* as in the WQE, big endian: immediate or key to invalidate */
	uint32_t flags;	   /* EMU_MSG_SOLICITED */
	uint32_t syndrome; /* answer: 0, an emu_nak, or a CQE syndrome for the requester */
	uint64_t len;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t qkey;	      /* UD */
	uint32_t srqn;	      /* XRC */
	uint8_t grh[EMU_GRH]; /* UD: the network header as the receiver sees it */
	uint32_t nsge;
	uint64_t operand[2]; /* atomics: swap or add, compare; host order */
	uint64_t result;     /* atomics: the old value; host order */
	struct emu_sge sge[EMU_MSG_SEGS];
};

/*
 * A change of an mkey that a work request asks for. Only the server writes the tables: the engine
 * posts this, sends a note, and goes on with the queue when the answer is there.
 */
#define EMU_UMR_KLMS 56 /* as many as fit in the longest WQE */

enum emu_umr_state {
	EMU_UMR_IDLE = 0,
	EMU_UMR_POSTED = 1, /* the server's */
	EMU_UMR_DONE = 2,   /* the engine's again: `syndrome` is the answer */
};

enum emu_umr_op {
	EMU_UMR_CHANGE = 1,	/* a UMR WQE: `ctrl`, `mkc` and `klm` are its segments */
	EMU_UMR_INVALIDATE = 2, /* of a send with invalidate */
};

/* Of a QP: its send queue's, and its responder's. */
enum emu_umr_side { EMU_UMR_SQ, EMU_UMR_RQ, EMU_UMR_SIDES };

struct emu_umr {
	_Atomic uint32_t state;
	uint32_t resets; /* of the QP, when it was posted */
	uint32_t op;
	uint32_t key;
	uint32_t srqn; /* of a message to an XRC target: the key is of that SRQ's PD */
	uint32_t nklm;
	uint32_t syndrome; /* of the CQE; 0: done */
	uint8_t ctrl[48];
	uint8_t mkc[64];
	uint8_t klm[EMU_UMR_KLMS * 16];
};

#define EMU_MSG_SOLICITED 1u
#define EMU_NAK_RNR	  0x100u /* no receive WQE: try again after the responder's min_rnr_timer */

/*
 * Queues of all kinds begin alike. The file in which an object has a handle is named by the inode
 * of the client's socket; 0: in none that matters, as there is no memory of a client's.
 */
struct emu_queue {
	_Atomic uint32_t serial;
	uint32_t engine;
	uint64_t file;
	uint32_t handle;
};

/* enum ibv_qp_state's numbers. */
enum emu_qp_state {
	EMU_QPS_RESET,
	EMU_QPS_INIT,
	EMU_QPS_RTR,
	EMU_QPS_RTS,
	EMU_QPS_SQD,
	EMU_QPS_SQE,
	EMU_QPS_ERR,
};

enum emu_qp_type {
	EMU_QPT_RC = 2,
	EMU_QPT_UC = 3,
	EMU_QPT_UD = 4,
	EMU_QPT_XRC_INI = 9,
	EMU_QPT_XRC_TGT = 10,
};

/* One QP; its number is the index. Written by the server; `state` also by engines, to ERR. */
struct emu_qp {
	_Atomic uint32_t serial;
	uint32_t engine; /* owner */
	uint64_t file;
	uint32_t handle;
	_Atomic uint32_t state;
	_Atomic uint32_t resets; /* counts transitions to RESET: the engine forgets its indices */
	uint16_t func;
	uint8_t type;
	uint8_t mmo; /* the MMO extension was enabled */
	uint32_t pdn;
	uint32_t uidx;
	uint32_t send_cqn;
	uint32_t recv_cqn;
	uint32_t access;   /* IBV_ACCESS_REMOTE_{WRITE,READ,ATOMIC} = 2, 4, 8 */
	uint64_t buf_addr; /* receive ring first, then the send ring */
	uint64_t dbr_addr;
	uint32_t sq_wqe_count; /* in 64-byte blocks; a power of two, 0 = no send queue */
	uint32_t rq_wqe_count;
	uint32_t rq_wqe_shift;
	uint32_t dest_qpn;
	uint32_t dest_func; /* resolved from the GID or LID; UINT32_MAX = nobody there */
	uint32_t qkey;	    /* UD */
	uint32_t srqn;	    /* 0: it has a receive queue of its own, or none */
	uint32_t xrcdn;	    /* XRC_TGT: its messages name the SRQ, which must be of this domain */
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	_Atomic uint32_t heard; /* in RTR, of its peer: told once */
	_Atomic uint32_t done;	/* the engine's: blocks of the send ring that are executed */
	/* XRC_TGT: slot + 1 of the engine that took a WQE of an SRQ for it, not yet completed */
	_Atomic uint32_t taker;
	struct emu_umr umr[EMU_UMR_SIDES];
	struct emu_msg inbox;
};

/*
 * Arm word of a CQ that was never armed. libmlx5 starts with 0, which is also its first arm, so the
 * server writes this into a new CQ's doorbell record before it answers CREATE_CQ.
 */
#define EMU_CQ_UNARMED 0xffffffffu

/* mini_cqe_res_format of the CQ context. */
enum emu_mini {
	EMU_MINI_HASH = 0,
	EMU_MINI_CSUM = 1,
	EMU_MINI_CSUM_STRIDX = 3,
};

struct emu_cq {
	_Atomic uint32_t serial;
	uint32_t engine;
	uint64_t file;
	uint32_t handle;
	uint64_t buf_addr;
	uint64_t dbr_addr;
	uint32_t entries;   /* a power of two */
	uint32_t cqe_size;  /* 64 or 128 */
	uint8_t padded;	    /* all 128 bytes are written, not only the half that is the CQE */
	uint8_t overwrites; /* overrun is not looked for: the oldest CQEs are lost */
	uint8_t session;    /* so many CQEs at most are compressed together; 0: none */
	uint8_t mini;	    /* enum emu_mini: what is told of each */
	uint32_t has_channel;
	_Atomic uint32_t error; /* overrun: the engine writes no more */
	/*
	 * CQEs written: the engine's, but the server's while `frozen`. To change the ring the
	 * server freezes the CQ and waits for the grace period; engines leave queues alone whose
	 * CQ they find frozen.
	 */
	uint32_t pi;
	_Atomic uint32_t frozen;
	_Atomic uint32_t moderation; /* period in microseconds << 16 | count; 0 = none */
};

enum emu_srq_type {
	EMU_SRQT_BASIC,
	EMU_SRQT_XRC,
};

/* A shared receive queue: WQEs are a list linked by their first segments, from index 0 on, or a
 * ring. */
struct emu_srq {
	_Atomic uint32_t serial;
	uint32_t engine;
	uint64_t file;
	uint32_t handle;
	uint16_t func;
	uint8_t type;
	uint8_t wqe_shift;
	uint32_t pdn;
	uint32_t wqe_count; /* a power of two */
	uint64_t buf_addr;
	uint64_t dbr_addr;
	uint32_t xrcdn; /* XRC: domain, where completions go, and as whose */
	uint32_t cqn;
	uint32_t uidx;
	_Atomic uint32_t limit; /* armed: an event when fewer WQEs are left; the engine clears it */
	uint32_t cyclic;	/* the links say nothing */
};

#define EMU_IS_QUEUE(type)                                                                     \
	_Static_assert(offsetof(type, serial) == offsetof(struct emu_queue, serial) &&         \
			       offsetof(type, engine) == offsetof(struct emu_queue, engine) && \
			       offsetof(type, file) == offsetof(struct emu_queue, file) &&     \
			       offsetof(type, handle) == offsetof(struct emu_queue, handle),   \
		       #type)
EMU_IS_QUEUE(struct emu_qp);
EMU_IS_QUEUE(struct emu_cq);
EMU_IS_QUEUE(struct emu_srq);

struct emu_engine {
	_Atomic uint32_t serial; /* 0 = free slot */
	int32_t pid;
	_Atomic uint32_t epoch;	 /* odd while a pass runs */
	_Atomic uint32_t change; /* the server counts changes of this engine's QPs and CQs */
	_Atomic uint32_t wake;	 /* futex word: counted up and woken to end an engine's sleep */
	_Atomic uint32_t asleep; /* the engine is in, or about to enter, a futex wait */
	_Atomic uint64_t copies; /* work requests that moved bytes, */
	_Atomic uint64_t bytes;	 /* how many, */
	_Atomic uint64_t errors; /* and work requests that failed */
	_Atomic int32_t tid;	 /* its thread; 0 = not yet known */
	uint32_t pad[3];
};

/* A fault on demand: what happens to completions that would tell of success. */
enum emu_cqe_action {
	EMU_CQE_NORMAL = 0,
	EMU_CQE_LOSE = 1,  /* is never written */
	EMU_CQE_DELAY = 2, /* of a send queue: comes late, and all behind it */
	EMU_CQE_ERROR = 3, /* has an error syndrome instead, and the QP fails */
};

#define EMU_ANY_FUNC UINT32_MAX

/*
 * Written by the server while `action` is EMU_CQE_NORMAL, for which it waits as if it retired an
 * entry. Engines count what the rule is about, and the count decides who is meant.
 */
struct emu_cqe_rule {
	_Atomic uint32_t action;
	uint32_t func; /* of the QP; EMU_ANY_FUNC: all */
	uint64_t nth;
	uint64_t count;
	uint32_t syndrome;
	uint32_t delay_us;
	_Atomic uint64_t seen;
	_Atomic uint64_t hit;
};

struct emu_queues {
	_Atomic uint32_t qp_high; /* all QPs in use are below */
	_Atomic uint32_t cq_high;
	_Atomic uint32_t tracing; /* engines report the work requests that they finish */
	_Atomic uint32_t srq_high;
	_Atomic uint32_t gone; /* the server; stored by a client */
	uint32_t pad[11];
	struct emu_cqe_rule rule;
	struct emu_engine engine[EMU_MAX_ENGINES];
	struct emu_cq cq[EMU_MAX_CQS];
	struct emu_srq srq[EMU_MAX_SRQS];
	struct emu_qp qp[EMU_MAX_QPS];
};

/* What an engine tells the server, one record a datagram on its notify socket, without an answer.
 */
enum emu_note_type {
	EMU_NOTE_COMP = 1,   /* completion event of CQ `number` */
	EMU_NOTE_QP = 2,     /* async event `event` (enum ibv_event_type) of QP `number` */
	EMU_NOTE_CQ_ERR = 3, /* CQ `number` was overrun */
	EMU_NOTE_UMR = 4,    /* QP `number` posted an emu_umr */
	EMU_NOTE_SRQ = 5,    /* async event `event` of SRQ `number` */
	EMU_NOTE_WR = 6,     /* struct emu_note_wr */
};

struct emu_note {
	uint32_t type;
	uint32_t number;
	uint32_t serial; /* of the QP or CQ, so that a late note finds nobody */
	uint32_t event;
};

/* A work request that an engine finished, while somebody traces: another record of that socket. */
#define EMU_TRACE_SGES 4

struct emu_note_wr {
	struct emu_note note; /* of the QP */
	uint8_t opcode;
	uint8_t flags; /* fm_ce_se */
	uint8_t syndrome;
	uint8_t nsge;
	uint32_t imm;
	uint32_t rkey;
	uint32_t lost; /* records before this one that could not be sent */
	uint64_t raddr;
	uint64_t len;
	uint64_t operand[2];
	struct emu_sge sge[EMU_TRACE_SGES];
};

#endif
