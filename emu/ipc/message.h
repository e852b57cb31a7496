/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What engines pass to each other and to the server: messages of a requester, and changes of mkeys. */
#ifndef EMU_IPC_MESSAGE_H
#define EMU_IPC_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A piece of memory that an engine can access: of a process, of a file, or of the dm segment. */
struct emu_seg {
	uint64_t addr; /* address in process `pid`; offset in the file or in the dm segment */
	uint64_t len;
	int32_t pid;   /* 0: a file or the dm segment; EMU_SEG_*: no memory */
	uint32_t mkey; /* index of the EMU_MKEY_FILE mkey that names the file; 0: no file */
};

#define EMU_SEG_DEAD (-1) /* the process ended: every access fails */
#define EMU_SEG_NULL (-2) /* reads return zeros, and writes have no effect */

/* One piece of a request's payload, as its requester's WQE names it. */
struct emu_sge {
	uint64_t addr;
	uint64_t len;
	uint32_t lkey; /* in the requester's function and PD */
	uint32_t inl;  /* inline data: addr is in the requester's ring; no lkey */
};

#define EMU_MSG_SEGS	  64
#define EMU_GRH		  40
#define EMU_MSG_SOLICITED 1u	 /* emu_msg.flags */
#define EMU_NAK_RNR	  0x100u /* no receive WQE: retry after the responder's min_rnr_timer */

enum emu_msg_state {
	EMU_MSG_FREE = 0,
	EMU_MSG_CLAIMED = 1, /* a requester is filling it (FREE -> CLAIMED by compare and swap) */
	EMU_MSG_POSTED = 2,  /* for the responder's engine */
	EMU_MSG_BUSY = 3,    /* owned by the responder's engine, which set it by compare and swap */
	EMU_MSG_DONE = 4,    /* answered: the requester reads `syndrome` and stores FREE */
};

/*
 * From POSTED to DONE the state also names the engine that executes the message, so that taking it
 * is one step: the responder QP's engine or, for an XRC target, the engine of the process that has
 * the SRQ.
 */
#define EMU_MSG_FOR(slot, state) ((slot) << 8 | (uint32_t)(state))
#define EMU_MSG_STATE(word)	 ((word)&0xffu)
#define EMU_MSG_SLOT(word)	 ((word) >> 8)

/*
 * A request that an engine on the responder's side must execute, because it consumes a receive WQE
 * or changes memory atomically. At most one is outstanding per responder QP, as its requester
 * waits for the answer before the next one. `opcode` is the WQE's. The payload stays in the
 * requester's memory (`sge`) and is copied once, by the responder. The source is named by QP
 * number, serial and resets: a message whose source no longer exists is dropped. The server stores
 * FREE when it creates the responder QP and, after the grace period, at each RESET.
 */
struct emu_msg {
	_Atomic uint32_t state; /* EMU_MSG_FOR() of an enum emu_msg_state */
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
	uint8_t grh[EMU_GRH]; /* UD: the network header that the receiver gets */
	uint32_t nsge;
	uint64_t operand[2]; /* atomics: swap or add, compare; host order */
	uint64_t result;     /* atomics: the old value; host order */
	struct emu_sge sge[EMU_MSG_SEGS];
};

/*
 * A change of an mkey that a work request requires. Only the server writes the tables: the engine
 * posts the change, sends a note, and continues the queue when the answer has arrived.
 */
#define EMU_UMR_KLMS 56 /* the most that fit in the longest WQE */
#define EMU_UMR_SEGS 32 /* pieces of memory that have a list which the WQE points to */

enum emu_umr_state {
	EMU_UMR_IDLE = 0,
	EMU_UMR_POSTED = 1, /* owned by the server */
	EMU_UMR_DONE = 2,   /* owned by the engine again: `syndrome` is the answer */
};

enum emu_umr_op {
	EMU_UMR_CHANGE = 1,	/* a UMR WQE: `ctrl`, `mkc` and `klm` are its segments */
	EMU_UMR_INVALIDATE = 2, /* of a send with invalidate */
};

/* The change that a QP's send queue requires, and the one that its responder requires. */
enum emu_umr_side { EMU_UMR_SQ, EMU_UMR_RQ, EMU_UMR_SIDES };

struct emu_umr {
	_Atomic uint32_t state;
	uint32_t resets; /* of the QP, when it was posted */
	uint32_t op;
	uint32_t key;
	uint32_t srqn;	   /* of a message to an XRC target: the key is of that SRQ's PD */
	uint32_t nklm;	   /* entries of 16 bytes */
	uint32_t nseg;	   /* 0: the list is in the WQE */
	uint32_t syndrome; /* of the CQE; 0: done */
	uint8_t ctrl[48];
	uint8_t mkc[64];
	union {
		uint8_t klm[EMU_UMR_KLMS * 16];
		struct emu_seg seg[EMU_UMR_SEGS]; /* memory of the engine's process */
	};
};

/*
 * A request needs a page that its mkey does not have yet. The queue waits until the driver of the function has given
 * the page and resumes the queue (PAGE_FAULT_RESUME).
 */
enum emu_page_fault_state {
	EMU_PAGE_FAULT_NONE = 0,
	EMU_PAGE_FAULT_POSTED = 1, /* the server or the driver has it */
	EMU_PAGE_FAULT_FAILED = 2, /* the driver cannot give the page */
};

/* Of the QP's own requests, and of its peer's. */
enum emu_page_fault_side {
	EMU_PAGE_FAULT_REQUESTER,
	EMU_PAGE_FAULT_RESPONDER,
	EMU_PAGE_FAULT_SIDES,
};

/* The numbers of page_fault_type in the firmware's command. */
enum emu_page_fault_type {
	EMU_PAGE_FAULT_SHARED_RECEIVE = 0, /* a WQE of an SRQ */
	EMU_PAGE_FAULT_REQUEST_OUT = 1,	   /* a WQE of a send or write */
	EMU_PAGE_FAULT_RECEIVE = 2,
	EMU_PAGE_FAULT_REQUEST_IN = 3, /* a WQE of a read or atomic */
	EMU_PAGE_FAULT_READ = 4,       /* no WQE: an address in the peer's request */
	EMU_PAGE_FAULT_WRITE = 6,
};

struct emu_page_fault {
	_Atomic uint32_t state;
	uint32_t turn;	 /* counts the faults: what resumes an older one is too late */
	uint32_t engine; /* that waits: not the QP's own if that of its peer executes the request */
	uint32_t wq;	 /* the queue with the WQE: of the QP's number, or of that of an SRQ */
	uint16_t wqe;	 /* its index in the ring */
	uint8_t type;	 /* enum emu_page_fault_type */
	bool by_key;	 /* no WQE has the address, but a peer's request: `key`, `address`, `len` */
	uint32_t key;
	uint32_t len;
	uint64_t address;
};

#endif
