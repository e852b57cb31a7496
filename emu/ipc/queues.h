/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queues segment: QPs, CQs, SRQs, and the engines that execute them. */
#ifndef EMU_IPC_QUEUES_H
#define EMU_IPC_QUEUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/counters.h"
#include "emu/ipc/limits.h"
#include "emu/ipc/message.h"

/*
 * All kinds of queues begin with the same members. `file` names the file in which the object has a
 * handle, by the inode of the client's socket; 0: none, as the queue has no memory of a client.
 */
struct emu_queue {
	_Atomic uint32_t serial;
	uint32_t engine;
	uint64_t file;
	uint32_t handle;
};

/* The numbers of enum ibv_qp_state. */
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
	/* No numbers of verbs: */
	EMU_QPT_FRAMES = 32, /* the send queue of a network interface */
	EMU_QPT_DCI = 33,    /* an initiator of DC: each request names its target */
	EMU_QPT_DCT = 34,    /* a target of DC: it serves each initiator that knows its key */
};

#define EMU_GSI_QPN 1u /* of each port, in datagrams */

/* Values of emu_qp.dest_func other than a function. */
#define EMU_NOWHERE UINT32_MAX	     /* packets are lost */
#define EMU_ON_WIRE (UINT32_MAX - 1) /* packets are UDP datagrams: emu_qp.route */

/* The way of a queue pair's packets on the wire. The server writes it before EMU_ON_WIRE. */
struct emu_route {
	uint32_t endpoint; /* that sends and receives them: index in emu_tables.endpoint */
	uint32_t flow_label;
	uint8_t dst[16]; /* the peer's IP address, as a GID */
	uint8_t tclass;
	uint8_t hop_limit;
};

/* What a queue may ask of its card's engines (MMO); all is 0 if its extension is not enabled. */
struct emu_mmo {
	uint8_t log_copy;	/* log2 of the longest copy */
	uint8_t log_compress;	/* log2 of the longest input; 0: it does not compress */
	uint8_t log_decompress; /* the same */
	uint8_t newer;		/* it decompresses LZ4 too, and has the newer layout of results */
	uint8_t log_crypto;	/* the same as log_compress, for AES-GCM */
};

/* The user index of a queue that has none: its completions are of version 0, and name the shared receive queue. */
#define EMU_NO_UIDX 0xffffffu

/* A QP; its number is the index. The server writes it; engines also write `state`, to ERR. */
struct emu_qp {
	_Atomic uint32_t serial;
	uint32_t engine; /* the engine that executes it */
	uint64_t file;
	uint32_t handle;
	_Atomic uint32_t state;
	_Atomic uint32_t resets; /* counts transitions to RESET: the engine forgets its indices */
	uint16_t func;
	uint8_t type;
	bool releases, is_released; /* send queues: see `released` */
	uint8_t block_self;	    /* UD: it gets no copy of its own multicast datagrams */
	struct emu_mmo mmo;
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
	_Atomic uint32_t dest_func; /* where its address leads now, or EMU_NOWHERE, EMU_ON_WIRE */
	uint32_t qkey;		    /* UD */
	uint32_t srqn;		    /* 0: it has its own receive queue, or none */
	uint32_t xrcdn;	 /* XRC_TGT: its messages name the SRQ, which must be of this domain */
	uint64_t dc_key; /* DCT: requests must have it */
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t mtu; /* of the path: enum ibv_mtu; 0: not yet known */
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint32_t sq_psn, rq_psn;
	struct emu_route route;
	_Atomic uint32_t
		established_reported; /* it has sent COMM_EST: a message of its peer arrived in RTR */
	/*
	 * Written by the engine: executed blocks of the send ring, and the epoch of the last pass in which the send
	 * queue could not go on, as it is empty or the peer cannot take what is next.
	 */
	_Atomic uint32_t done;
	_Atomic uint32_t at_rest;
	/* Written by the engine, if is_released: a work request of another queue allows the blocks before it. */
	_Atomic uint32_t released;
	/* XRC_TGT: slot + 1 of the engine that took a WQE of an SRQ for it, not yet completed */
	_Atomic uint32_t taker;
	/*
	 * DCI: failed streams, each as its number + 1; 0: none. The engine adds one as long as there are fewer than
	 * `tolerated`. The server removes them.
	 */
	uint32_t tolerated;
	_Atomic uint32_t failed[EMU_DCI_TOLERATED];
	_Atomic uint32_t fault; /* enum emu_qp_fault */
	uint32_t slow_us;	/* EMU_QP_SLOW: written before */
	_Atomic uint16_t pkey;	/* the entry at pkey_index in the P_Key table of its port */
	uint16_t pkey_index;
	struct emu_page_fault page_fault[EMU_PAGE_FAULT_SIDES];
	struct emu_umr umr[EMU_UMR_SIDES];
	struct emu_msg inbox;
};

/* Does the requester get an answer to each request? */
static inline bool emu_qp_reliable(const struct emu_qp *q)
{
	return q->type != EMU_QPT_UC && q->type != EMU_QPT_UD;
}

/*
 * How many blocks are posted after the first `done`, if this is the word of the doorbell record? A queue that another
 * one releases may be ahead of its own record; it has at most 2^14 blocks.
 */
static inline uint16_t emu_qp_posted(const struct emu_qp *q, uint16_t record, uint16_t done)
{
	uint16_t rung = (uint16_t)(record - done);
	int16_t released;

	if (!q->is_released)
		return rung;
	released = (int16_t)(uint16_t)(atomic_load(&q->released) - done);
	if ((int16_t)rung < 0)
		rung = 0;
	return released > rung ? (uint16_t)released : rung;
}

/* Is a message of a peer with the QP's own engine, and not yet answered? */
static inline bool emu_qp_has_message(const struct emu_qp *q)
{
	uint32_t state = atomic_load(&q->state), word = atomic_load(&q->inbox.state);

	return state >= EMU_QPS_RTR && state <= EMU_QPS_SQE && EMU_MSG_SLOT(word) == q->engine &&
	       (EMU_MSG_STATE(word) == EMU_MSG_POSTED || EMU_MSG_STATE(word) == EMU_MSG_BUSY);
}

/*
 * Arm word of a CQ that was never armed. libmlx5 starts with 0, which is also its first arm, so the
 * server writes this into a new CQ's doorbell record before it answers CREATE_CQ.
 */
#define EMU_CQ_UNARMED 0xffffffffu
/*
 * What Linux's driver stores when it has created a CQ of its own: no CQ is armed by it as long as it has sent no
 * event.
 */
#define EMU_CQ_INITIAL 0x20000000u

/* Formats of a compressed CQE: mini_cqe_res_format of the CQ context. */
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
	uint8_t padded;	    /* all 128 bytes are written, not only the half with the CQE */
	uint8_t overwrites; /* overrun is not detected: the oldest CQEs are lost */
	uint8_t session;    /* the most CQEs compressed together; 0: no compression */
	uint8_t mini;	    /* enum emu_mini */
	uint32_t has_channel;
	_Atomic uint32_t error; /* overrun: the engine stops writing */
	/*
	 * CQEs written: owned by the engine, but by the server while `frozen`. To change the ring
	 * the server freezes the CQ and waits for the grace period; engines do not touch queues
	 * whose CQ is frozen.
	 */
	uint32_t pi;
	_Atomic uint32_t frozen;
	_Atomic uint32_t moderation; /* period in microseconds << 16 | count; 0 = none */
	_Atomic uint32_t events; /* that the engine has written to the completion channel itself */
};

enum emu_srq_type {
	EMU_SRQT_BASIC,
	EMU_SRQT_XRC,
};

/*
 * A shared receive queue: its WQEs are a list, linked by their first segments, from index 0 on, or
 * a ring.
 */
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
	uint32_t xrcdn; /* XRC: the domain, the CQ of completions, and their user index */
	uint32_t cqn;
	uint32_t uidx;
	_Atomic uint32_t limit; /* armed: event when fewer WQEs are left; the engine clears it */
	uint32_t cyclic;	/* a ring: the links have no meaning */
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
	_Atomic uint32_t epoch;	   /* odd within a pass */
	_Atomic uint32_t change;   /* the server increments it when this engine's queues change */
	_Atomic uint32_t wake;	   /* futex word: incremented and woken to end the engine's sleep */
	_Atomic uint32_t asleep;   /* the engine is in, or about to enter, a futex wait */
	_Atomic uint64_t copies;   /* work requests that moved bytes */
	_Atomic uint64_t bytes;	   /* bytes moved */
	_Atomic uint64_t errors;   /* work requests that failed */
	_Atomic int32_t tid;	   /* its thread; 0 = not yet known */
	_Atomic uint32_t orphaned; /* the engine stores it: the server has closed its socket */
	/* Requests to unmap the memory of mkeys that do not exist any more, and how many were served. */
	_Atomic uint32_t unmap;
	_Atomic uint32_t unmapped;
	_Atomic uint32_t maps;	    /* pieces of other processes' memory that it has mapped */
	_Atomic uint32_t doorbells; /* EMU_DOORBELLS() of an enum emu_doorbell_way */
	uint32_t pad[14];
};

/* How a doorbell wakes the engine; with all but the second, it takes naps. */
enum emu_doorbell_way {
	EMU_DOORBELLS_UNKNOWN,
	EMU_DOORBELLS_UFFD,	/* write-protected pages wake it */
	EMU_DOORBELLS_NO_UFFD,	/* userfaultfd failed with the error */
	EMU_DOORBELLS_NO_PROC,	/* /proc/self/pagemap failed with the error */
	EMU_DOORBELLS_NO_TABLE, /* the thread has no descriptor table of its own */
	EMU_DOORBELLS_VALGRIND,
	EMU_DOORBELLS_SHARED, /* other processes may write doorbell records of its queues */
};

#define EMU_DOORBELLS(way, error) ((uint32_t)(way) | (error) << 8)
#define EMU_DOORBELLS_WAY(word)	  ((word)&0xffu)
#define EMU_DOORBELLS_ERROR(word) ((word) >> 8)

/* A fault on demand: what happens to successful completions. */
enum emu_cqe_action {
	EMU_CQE_NORMAL = 0,
	EMU_CQE_LOSE = 1,  /* it is never written */
	EMU_CQE_DELAY = 2, /* it and all later ones of its send queue are delayed */
	EMU_CQE_ERROR = 3, /* it gets an error syndrome, and the QP fails */
	EMU_CQE_TWICE = 4, /* that of a request is written twice */
};

#define EMU_ANY_FUNC UINT32_MAX

/*
 * Written by the server while `action` is 0, after a grace period as for a retired entry. Engines count
 * the completions, or the bytes, that the rule covers; the count decides which ones it affects.
 */
struct emu_rule {
	_Atomic uint32_t action; /* enum emu_cqe_action; of bytes: 1; 0: there is no rule */
	uint32_t func;		 /* of the QP; EMU_ANY_FUNC: all */
	uint64_t nth;
	uint64_t count;
	uint32_t syndrome;
	uint32_t delay_us;
	_Atomic uint64_t seen;
	_Atomic uint64_t hit;
};

/*
 * A queue pair of a multicast group. The members whose groups hash to the same bucket are a list in
 * the order of their numbers, so that an engine that has served a member can continue after it in a
 * later pass, whatever was attached or detached meanwhile. Written by the server.
 */
struct emu_member {
	_Atomic uint32_t serial;
	_Atomic uint32_t next; /* the number of the next member of the bucket; 0: none */
	uint32_t qpn;
	uint8_t gid[16]; /* of the group */
};

/* A fault on demand of one QP: what happens to its packets. */
enum emu_qp_fault {
	EMU_QP_NO_FAULT = 0,
	EMU_QP_SILENT = 1,  /* all packets from it and to it are lost */
	EMU_QP_UNREADY = 2, /* it answers as if it had no receive WQE */
	EMU_QP_SLOW = 3,    /* each of its work requests lasts `slow_us` longer */
};

enum emu_capture_of {
	EMU_CAPTURE_WIRE = 1u << 0,
	EMU_CAPTURE_LOCAL = 1u << 1, /* what transfers within this emulator would be on a wire */
};

struct emu_queues {
	_Atomic uint32_t qp_high; /* all QPs in use are below */
	_Atomic uint32_t cq_high;
	_Atomic uint32_t tracing; /* engines send a record of each finished work request */
	_Atomic uint32_t srq_high;
	_Atomic uint32_t server_ended; /* stored by a client */
	_Atomic uint32_t qp_faults;    /* some QP's is not EMU_QP_NO_FAULT */
	_Atomic uint32_t capturing;    /* enum emu_capture_of: engines send records of packets */
	/* The engine that executes an atomic: its serial << 32 | its slot + 1; 0 = none. */
	_Atomic uint64_t atomic_owner;
	uint32_t pad[6];
	struct emu_rule rule;	   /* for completions */
	struct emu_rule data_rule; /* for bytes that change while they are moved */
	struct emu_engine engine[EMU_MAX_ENGINES];
	/* The counters of the engine in that slot: when it ends, the server adds them to the sum and clears them. */
	_Atomic uint64_t counter[EMU_MAX_ENGINES][EMU_MAX_FUNCS][EMU_COUNTERS];
	struct emu_cq cq[EMU_MAX_CQS];
	struct emu_srq srq[EMU_MAX_SRQS];
	struct emu_qp qp[EMU_MAX_QPS];
	_Atomic uint32_t bucket[EMU_MEMBER_BUCKETS]; /* the first member; 0: none */
	struct emu_member member[EMU_MAX_MEMBERS];   /* 0 is not used */
	/* An engine has mapped memory by this mkey: stored by engines, cleared when it is retired. */
	_Atomic uint8_t mapped[EMU_MAX_MKEYS];
};

#endif
