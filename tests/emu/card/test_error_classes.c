/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What requester and responder see of each error (InfiniBand architecture, volume 1, 9.9 and 11.6).
 * The cases are the table in docs/emu/emulator.md: with --table the program prints it.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "verbs.h"

#define BYTES	 64u
#define REGION	 4096u
#define BAD_KEY	 0x00badbadu
#define NOTHING	 (-1)
#define NO_EVENT (-1)

/* What is wrong with a request, or with its receiver. */
enum twist {
	LKEY_UNKNOWN = 1 << 0,
	LKEY_OTHER_PD = 1 << 1,
	LKEY_READ_ONLY = 1 << 2,
	LKEY_TOO_SHORT = 1 << 3,
	RKEY_UNKNOWN = 1 << 4,
	RKEY_OTHER_PD = 1 << 5,
	RKEY_NO_RIGHT = 1 << 6,
	RKEY_TOO_SHORT = 1 << 7,
	RKEY_BEFORE = 1 << 8,
	RKEY_UNBOUND = 1 << 9, /* a memory window that is not bound */
	MISALIGNED = 1 << 10,
	LIST_TOO_SHORT = 1 << 11,
	LIST_TOO_LONG = 1 << 12, /* more than max_msg_sz */
	EMPTY = 1 << 13,
	INLINED = 1 << 14,
	NO_RECEIVE = 1 << 15,
	RECEIVE_TOO_SHORT = 1 << 16,
	RECEIVE_KEY_UNKNOWN = 1 << 17,
	RECEIVE_READ_ONLY = 1 << 18,
	QP_NO_RIGHT = 1 << 19,
	QP_NO_DEPTH = 1 << 20, /* max_dest_rd_atomic is 0 */
	PEER_FAILED = 1 << 21,
	PEER_RESET = 1 << 22,
	SHARED = 1 << 23, /* the receiver has a shared receive queue */
	INV_UNKNOWN = 1 << 24,
	INV_REGION = 1 << 25,
	INV_TYPE_1 = 1 << 26,
	INV_OTHER_QP = 1 << 27,
	QKEY_WRONG = 1 << 28,
	PKEY_FOREIGN = 1 << 29, /* of another partition */
	PKEY_LIMITED =
		1 << 30, /* of a limited member; FOREIGN and LIMITED: of two limited members */
};

/* Entries of the P_Key table. */
enum { INDEX_FULL, INDEX_LIMITED, INDEX_FOREIGN };
#define PKEYS_DIFFER (PKEY_FOREIGN | PKEY_LIMITED)

/* After the error the responder */
enum state {
	READY, /* goes on */
	FAILED /* is in ERR */
};

struct error_case {
	const char *name;
	const char *what; /* for the table */
	enum ibv_qp_type type;
	enum ibv_wr_opcode opcode;
	unsigned int twists;
	int requester; /* status of its completion */
	int responder; /* of the receive, or NOTHING */
	int event;     /* at the responder, or NO_EVENT */
	enum state state;
	bool changed; /* the remote memory; of a READ, the local memory */
};

#define RC	   IBV_QPT_RC
#define UC	   IBV_QPT_UC
#define UD	   IBV_QPT_UD
#define SEND	   IBV_WR_SEND
#define SEND_IMM   IBV_WR_SEND_WITH_IMM
#define SEND_INV   IBV_WR_SEND_WITH_INV
#define WRITE	   IBV_WR_RDMA_WRITE
#define WRITEIMM   IBV_WR_RDMA_WRITE_WITH_IMM
#define READ	   IBV_WR_RDMA_READ
#define CAS	   IBV_WR_ATOMIC_CMP_AND_SWP
#define FAA	   IBV_WR_ATOMIC_FETCH_AND_ADD

#define OK	   IBV_WC_SUCCESS
#define PROT	   IBV_WC_LOC_PROT_ERR
#define LEN	   IBV_WC_LOC_LEN_ERR
#define QP_OP	   IBV_WC_LOC_QP_OP_ERR
#define REM_ACCESS IBV_WC_REM_ACCESS_ERR
#define REM_INV	   IBV_WC_REM_INV_REQ_ERR
#define REM_OP	   IBV_WC_REM_OP_ERR
#define RETRY	   IBV_WC_RETRY_EXC_ERR
#define RNR	   IBV_WC_RNR_RETRY_EXC_ERR
#define ACCESS	   IBV_EVENT_QP_ACCESS_ERR
#define REQUEST	   IBV_EVENT_QP_REQ_ERR

/* clang-format off */
static const struct error_case cases[] = {
	/* Errors that the requester finds before it sends. */
	{"send_lkey_unknown", "SEND, unknown lkey", RC, SEND, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"send_lkey_of_other_pd", "SEND, lkey of another PD", RC, SEND, LKEY_OTHER_PD, PROT, NOTHING, NO_EVENT, READY, false},
	{"send_lkey_too_short", "SEND, beyond the local region", RC, SEND, LKEY_TOO_SHORT, PROT, NOTHING, NO_EVENT, READY, false},
	{"send_lkey_unknown_peer_failed", "SEND, unknown lkey, failed peer", RC, SEND, LKEY_UNKNOWN | PEER_FAILED, PROT, NOTHING, NO_EVENT, FAILED, false},
	{"send_too_long", "SEND of more than 1 GiB", RC, SEND, LIST_TOO_LONG, LEN, NOTHING, NO_EVENT, READY, false},
	{"write_lkey_unknown", "WRITE, unknown lkey", RC, WRITE, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"write_lkey_of_other_pd", "WRITE, lkey of another PD", RC, WRITE, LKEY_OTHER_PD, PROT, NOTHING, NO_EVENT, READY, false},
	{"write_lkey_and_rkey_unknown", "WRITE, unknown lkey and rkey", RC, WRITE, LKEY_UNKNOWN | RKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"write_lkey_unknown_qp_without_right", "WRITE, unknown lkey, QP without the right", RC, WRITE, LKEY_UNKNOWN | QP_NO_RIGHT, PROT, NOTHING, NO_EVENT, READY, false},
	{"write_lkey_unknown_peer_failed", "WRITE, unknown lkey, failed peer", RC, WRITE, LKEY_UNKNOWN | PEER_FAILED, PROT, NOTHING, NO_EVENT, FAILED, false},
	{"write_too_long", "WRITE of more than 1 GiB", RC, WRITE, LIST_TOO_LONG, LEN, NOTHING, NO_EVENT, READY, false},
	{"write_imm_lkey_unknown", "WRITE_WITH_IMM, unknown lkey", RC, WRITEIMM, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"write_imm_lkey_and_rkey_unknown", "WRITE_WITH_IMM, unknown lkey and rkey", RC, WRITEIMM, LKEY_UNKNOWN | RKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"read_too_long", "READ of more than 1 GiB", RC, READ, LIST_TOO_LONG, LEN, NOTHING, NO_EVENT, READY, false},
	{"read_inline", "READ with inline data", RC, READ, INLINED, QP_OP, NOTHING, NO_EVENT, READY, false},
	{"cas_entry_too_short", "CMP_SWP, a local entry of 4 bytes", RC, CAS, LIST_TOO_SHORT, OK, NOTHING, NO_EVENT, READY, true},
	{"faa_entry_too_short", "FETCH_ADD, a local entry of 4 bytes", RC, FAA, LIST_TOO_SHORT, OK, NOTHING, NO_EVENT, READY, true},
	/* READ and atomics use local memory only when the answer arrives. */
	{"read_lkey_unknown", "READ, unknown lkey", RC, READ, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"read_lkey_of_other_pd", "READ, lkey of another PD", RC, READ, LKEY_OTHER_PD, PROT, NOTHING, NO_EVENT, READY, false},
	{"read_lkey_read_only", "READ into a region without local write", RC, READ, LKEY_READ_ONLY, PROT, NOTHING, NO_EVENT, READY, false},
	{"read_lkey_unknown_peer_failed", "READ, unknown lkey, failed peer", RC, READ, LKEY_UNKNOWN | PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	{"cas_lkey_unknown", "CMP_SWP, unknown lkey", RC, CAS, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, true},
	{"cas_lkey_read_only", "CMP_SWP into a region without local write", RC, CAS, LKEY_READ_ONLY, PROT, NOTHING, NO_EVENT, READY, true},
	{"faa_lkey_unknown", "FETCH_ADD, unknown lkey", RC, FAA, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, true},
	{"faa_lkey_of_other_pd", "FETCH_ADD, lkey of another PD", RC, FAA, LKEY_OTHER_PD, PROT, NOTHING, NO_EVENT, READY, true},
	{"cas_lkey_unknown_peer_failed", "CMP_SWP, unknown lkey, failed peer", RC, CAS, LKEY_UNKNOWN | PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	/* Class C: the remote key. */
	{"write_rkey_unknown", "WRITE, unknown rkey", RC, WRITE, RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_rkey_of_other_pd", "WRITE, rkey of another PD", RC, WRITE, RKEY_OTHER_PD, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_rkey_without_right", "WRITE, region without remote write", RC, WRITE, RKEY_NO_RIGHT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_beyond_region", "WRITE beyond the remote region", RC, WRITE, RKEY_TOO_SHORT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_before_region", "WRITE before the remote region", RC, WRITE, RKEY_BEFORE, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_window_unbound", "WRITE, window that is not bound", RC, WRITE, RKEY_UNBOUND, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_empty_rkey_unknown", "WRITE of 0 bytes, unknown rkey", RC, WRITE, EMPTY | RKEY_UNKNOWN, OK, NOTHING, NO_EVENT, READY, false},
	{"read_rkey_unknown", "READ, unknown rkey", RC, READ, RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_rkey_of_other_pd", "READ, rkey of another PD", RC, READ, RKEY_OTHER_PD, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_rkey_without_right", "READ, region without remote read", RC, READ, RKEY_NO_RIGHT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_beyond_region", "READ beyond the remote region", RC, READ, RKEY_TOO_SHORT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_window_unbound", "READ, window that is not bound", RC, READ, RKEY_UNBOUND, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_lkey_and_rkey_unknown", "READ, unknown lkey and rkey", RC, READ, LKEY_UNKNOWN | RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"read_empty_rkey_unknown", "READ of 0 bytes, unknown rkey", RC, READ, EMPTY | RKEY_UNKNOWN, OK, NOTHING, NO_EVENT, READY, false},
	{"cas_rkey_unknown", "CMP_SWP, unknown rkey", RC, CAS, RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"cas_rkey_without_right", "CMP_SWP, region without remote atomic", RC, CAS, RKEY_NO_RIGHT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"cas_lkey_and_rkey_unknown", "CMP_SWP, unknown lkey and rkey", RC, CAS, LKEY_UNKNOWN | RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"faa_rkey_of_other_pd", "FETCH_ADD, rkey of another PD", RC, FAA, RKEY_OTHER_PD, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"faa_beyond_region", "FETCH_ADD beyond the remote region", RC, FAA, RKEY_TOO_SHORT, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"faa_lkey_and_rkey_unknown", "FETCH_ADD, unknown lkey and rkey", RC, FAA, LKEY_UNKNOWN | RKEY_UNKNOWN, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	{"write_imm_rkey_unknown", "WRITE_WITH_IMM, unknown rkey", RC, WRITEIMM, RKEY_UNKNOWN, REM_ACCESS, IBV_WC_LOC_ACCESS_ERR, NO_EVENT, FAILED, false},
	{"write_imm_rkey_without_right", "WRITE_WITH_IMM, region without remote write", RC, WRITEIMM, RKEY_NO_RIGHT, REM_ACCESS, IBV_WC_LOC_ACCESS_ERR, NO_EVENT, FAILED, false},
	{"write_imm_beyond_region", "WRITE_WITH_IMM beyond the remote region", RC, WRITEIMM, RKEY_TOO_SHORT, REM_ACCESS, IBV_WC_LOC_ACCESS_ERR, NO_EVENT, FAILED, false},
	{"write_imm_rkey_unknown_srq", "WRITE_WITH_IMM, unknown rkey, SRQ", RC, WRITEIMM, RKEY_UNKNOWN | SHARED, REM_ACCESS, IBV_WC_LOC_ACCESS_ERR, IBV_EVENT_QP_LAST_WQE_REACHED, FAILED, false},
	{"write_imm_rkey_unknown_no_receive", "WRITE_WITH_IMM, unknown rkey, no receive posted", RC, WRITEIMM, RKEY_UNKNOWN | NO_RECEIVE, REM_ACCESS, NOTHING, ACCESS, FAILED, false},
	/* Class C: requests that the responder does not accept. */
	{"write_qp_without_right", "WRITE, QP without remote write", RC, WRITE, QP_NO_RIGHT, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"read_qp_without_right", "READ, QP without remote read", RC, READ, QP_NO_RIGHT, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"read_lkey_unknown_qp_without_right", "READ, unknown lkey, QP without the right", RC, READ, LKEY_UNKNOWN | QP_NO_RIGHT, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"cas_qp_without_right", "CMP_SWP, QP without remote atomic", RC, CAS, QP_NO_RIGHT, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"read_without_resources", "READ, `max_dest_rd_atomic` 0", RC, READ, QP_NO_DEPTH, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"cas_without_resources", "CMP_SWP, `max_dest_rd_atomic` 0", RC, CAS, QP_NO_DEPTH, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"faa_without_resources", "FETCH_ADD, `max_dest_rd_atomic` 0", RC, FAA, QP_NO_DEPTH, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"write_without_resources", "WRITE, `max_dest_rd_atomic` 0", RC, WRITE, QP_NO_DEPTH, OK, NOTHING, NO_EVENT, READY, true},
	{"cas_misaligned", "CMP_SWP, misaligned address", RC, CAS, MISALIGNED, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"cas_misaligned_rkey_unknown", "CMP_SWP, misaligned address, unknown rkey", RC, CAS, MISALIGNED | RKEY_UNKNOWN, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"cas_misaligned_lkey_unknown", "CMP_SWP, misaligned address, unknown lkey", RC, CAS, MISALIGNED | LKEY_UNKNOWN, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"faa_misaligned", "FETCH_ADD, misaligned address", RC, FAA, MISALIGNED, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"faa_misaligned_lkey_unknown", "FETCH_ADD, misaligned address, unknown lkey", RC, FAA, MISALIGNED | LKEY_UNKNOWN, REM_INV, NOTHING, REQUEST, FAILED, false},
	{"send_longer_than_receive", "SEND longer than the receive", RC, SEND, RECEIVE_TOO_SHORT, REM_INV, LEN, NO_EVENT, FAILED, false},
	{"send_imm_longer_than_receive", "SEND_WITH_IMM longer than the receive", RC, SEND_IMM, RECEIVE_TOO_SHORT, REM_INV, LEN, NO_EVENT, FAILED, false},
	{"send_longer_than_receive_srq", "SEND longer than the receive, SRQ", RC, SEND, RECEIVE_TOO_SHORT | SHARED, REM_INV, LEN, IBV_EVENT_QP_LAST_WQE_REACHED, FAILED, false},
	/* Class A: the receive itself. */
	{"receive_lkey_unknown", "SEND, receive with an unknown lkey", RC, SEND, RECEIVE_KEY_UNKNOWN, REM_OP, PROT, NO_EVENT, FAILED, false},
	{"receive_read_only", "SEND, receive without local write", RC, SEND, RECEIVE_READ_ONLY, REM_OP, PROT, NO_EVENT, FAILED, false},
	{"receive_lkey_unknown_srq", "SEND, receive of an SRQ with an unknown lkey", RC, SEND, RECEIVE_KEY_UNKNOWN | SHARED, REM_OP, PROT, IBV_EVENT_QP_LAST_WQE_REACHED, FAILED, false},
	{"receive_lkey_unknown_empty_send", "SEND of 0 bytes, receive with an unknown lkey", RC, SEND, RECEIVE_KEY_UNKNOWN | EMPTY, OK, OK, NO_EVENT, READY, false},
	/* Class B, and no answer. */
	{"send_no_receive", "SEND, no receive posted, RNR retries exhausted", RC, SEND, NO_RECEIVE, RNR, NOTHING, NO_EVENT, READY, false},
	{"send_no_receive_srq", "SEND, empty SRQ, RNR retries exhausted", RC, SEND, NO_RECEIVE | SHARED, RNR, NOTHING, NO_EVENT, READY, false},
	{"write_imm_no_receive", "WRITE_WITH_IMM, no receive posted", RC, WRITEIMM, NO_RECEIVE, RNR, NOTHING, NO_EVENT, READY, false},
	{"send_peer_failed", "SEND, failed peer", RC, SEND, PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	{"write_peer_failed", "WRITE, failed peer", RC, WRITE, PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	{"read_peer_failed", "READ, failed peer", RC, READ, PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	{"faa_peer_failed", "FETCH_ADD, failed peer", RC, FAA, PEER_FAILED, RETRY, NOTHING, NO_EVENT, FAILED, false},
	{"send_pkey_foreign", "SEND, P_Key of another partition", RC, SEND, PKEY_FOREIGN, RETRY, NOTHING, NO_EVENT, READY, false},
	{"write_pkey_foreign", "WRITE, P_Key of another partition", RC, WRITE, PKEY_FOREIGN, RETRY, NOTHING, NO_EVENT, READY, false},
	{"read_pkey_foreign", "READ, P_Key of another partition", RC, READ, PKEY_FOREIGN, RETRY, NOTHING, NO_EVENT, READY, false},
	{"faa_pkey_foreign", "FETCH_ADD, P_Key of another partition", RC, FAA, PKEY_FOREIGN, RETRY, NOTHING, NO_EVENT, READY, false},
	{"write_pkey_both_limited", "WRITE, both QPs are limited members", RC, WRITE, PKEYS_DIFFER, RETRY, NOTHING, NO_EVENT, READY, false},
	{"write_pkey_one_limited", "WRITE, one QP is a limited member", RC, WRITE, PKEY_LIMITED, OK, NOTHING, NO_EVENT, READY, true},
	{"send_peer_reset", "SEND, peer in RESET", RC, SEND, PEER_RESET, RETRY, NOTHING, NO_EVENT, READY, false},
	{"write_peer_reset", "WRITE, peer in RESET", RC, WRITE, PEER_RESET, RETRY, NOTHING, NO_EVENT, READY, false},
	/* Class J: no ACK and no NAK. */
	{"invalidate_unknown", "SEND_WITH_INV, unknown key", RC, SEND_INV, INV_UNKNOWN, RETRY, IBV_WC_MW_BIND_ERR, NO_EVENT, FAILED, true},
	{"invalidate_region", "SEND_WITH_INV, key of a region", RC, SEND_INV, INV_REGION, RETRY, IBV_WC_MW_BIND_ERR, NO_EVENT, FAILED, true},
	{"invalidate_type_1", "SEND_WITH_INV, window of type 1", RC, SEND_INV, INV_TYPE_1, RETRY, IBV_WC_MW_BIND_ERR, NO_EVENT, FAILED, true},
	{"invalidate_of_other_qp", "SEND_WITH_INV, window of another QP", RC, SEND_INV, INV_OTHER_QP, RETRY, IBV_WC_MW_BIND_ERR, NO_EVENT, FAILED, true},
	{"invalidate_unknown_srq", "SEND_WITH_INV, unknown key, SRQ", RC, SEND_INV, INV_UNKNOWN | SHARED, RETRY, IBV_WC_MW_BIND_ERR, IBV_EVENT_QP_LAST_WQE_REACHED, FAILED, true},
	{"invalidate_no_receive", "SEND_WITH_INV, no receive posted", RC, SEND_INV, INV_UNKNOWN | NO_RECEIVE, RNR, NOTHING, NO_EVENT, READY, false},
	/* Unreliable connections: class D, the message is dropped. */
	{"uc_send_lkey_unknown", "UC SEND, unknown lkey", UC, SEND, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"uc_write_lkey_unknown", "UC WRITE, unknown lkey", UC, WRITE, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"uc_write_rkey_unknown", "UC WRITE, unknown rkey", UC, WRITE, RKEY_UNKNOWN, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_write_qp_without_right", "UC WRITE, QP without remote write", UC, WRITE, QP_NO_RIGHT, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_write_imm_rkey_unknown", "UC WRITE_WITH_IMM, unknown rkey", UC, WRITEIMM, RKEY_UNKNOWN, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_send_longer_than_receive", "UC SEND longer than the receive", UC, SEND, RECEIVE_TOO_SHORT, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_send_longer_than_receive_srq", "UC SEND longer than the receive, SRQ", UC, SEND, RECEIVE_TOO_SHORT | SHARED, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_receive_lkey_unknown", "UC SEND, receive with an unknown lkey", UC, SEND, RECEIVE_KEY_UNKNOWN, OK, PROT, NO_EVENT, FAILED, false},
	{"uc_send_no_receive", "UC SEND, no receive posted", UC, SEND, NO_RECEIVE, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_send_peer_failed", "UC SEND, failed peer", UC, SEND, PEER_FAILED, OK, NOTHING, NO_EVENT, FAILED, false},
	{"uc_send_pkey_foreign", "UC SEND, P_Key of another partition", UC, SEND, PKEY_FOREIGN, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_write_pkey_foreign", "UC WRITE, P_Key of another partition", UC, WRITE, PKEY_FOREIGN, OK, NOTHING, NO_EVENT, READY, false},
	{"uc_read", "UC READ", UC, READ, 0, QP_OP, NOTHING, NO_EVENT, READY, false},
	{"uc_cas", "UC CMP_SWP", UC, CAS, 0, QP_OP, NOTHING, NO_EVENT, READY, false},
	/* Datagrams: class D. */
	{"ud_send_lkey_unknown", "UD SEND, unknown lkey", UD, SEND, LKEY_UNKNOWN, PROT, NOTHING, NO_EVENT, READY, false},
	{"ud_send_longer_than_receive", "UD SEND longer than the receive", UD, SEND, RECEIVE_TOO_SHORT, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_longer_than_receive_srq", "UD SEND longer than the receive, SRQ", UD, SEND, RECEIVE_TOO_SHORT | SHARED, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_qkey_wrong", "UD SEND, wrong Q_Key", UD, SEND, QKEY_WRONG, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_pkey_foreign", "UD SEND, P_Key of another partition", UD, SEND, PKEY_FOREIGN, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_pkey_both_limited", "UD SEND, both QPs are limited members", UD, SEND, PKEYS_DIFFER, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_pkey_one_limited", "UD SEND, one QP is a limited member", UD, SEND, PKEY_LIMITED, OK, OK, NO_EVENT, READY, true},
	{"ud_receive_lkey_unknown", "UD SEND, receive with an unknown lkey", UD, SEND, RECEIVE_KEY_UNKNOWN, OK, PROT, NO_EVENT, FAILED, false},
	{"ud_send_no_receive", "UD SEND, no receive posted", UD, SEND, NO_RECEIVE, OK, NOTHING, NO_EVENT, READY, false},
	{"ud_send_peer_failed", "UD SEND, failed peer", UD, SEND, PEER_FAILED, OK, NOTHING, NO_EVENT, FAILED, false},
};
/* clang-format on */

#define NCASES ARRAY_SIZE(cases)

/* One side of a connection: queues, and a region with the rights that the case leaves. */
struct side {
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *all;
	struct ibv_mr *other_pd;
	struct ibv_mr *read_only;
	struct ibv_mr *local;
	uint8_t *buf; /* REGION bytes */
};

struct bench {
	struct verbs *n;
	const struct error_case *c;
	struct ibv_pd *other_pd;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct side req;
	struct side resp;
	struct ibv_qp *third; /* owns a window */
};

#define ALL_RIGHTS                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static bool has(const struct bench *b, unsigned int twists)
{
	return b->c->twists & twists;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == CAS || opcode == FAA;
}

static void open_side(struct bench *b, struct side *s, uint8_t *buf, bool shared)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_qp_init_attr init = {.qp_type = b->c->type};
	struct verbs *n = b->n;

	s->buf = buf;
	memset(buf, 0, REGION);
	s->cq = ibv_create_cq(n->ctx, 64, NULL, NULL, 0);
	s->srq = shared ? ibv_create_srq(n->pd, &srq) : NULL;
	s->all = ibv_reg_mr(n->pd, buf, REGION, ALL_RIGHTS);
	s->other_pd = ibv_reg_mr(b->other_pd, buf, REGION, ALL_RIGHTS);
	s->read_only = ibv_reg_mr(n->pd, buf, REGION, 0);
	s->local = ibv_reg_mr(n->pd, buf, REGION, IBV_ACCESS_LOCAL_WRITE);
	assert_true(s->cq && s->all && s->other_pd && s->read_only && s->local);
	init.send_cq = init.recv_cq = s->cq;
	init.srq = s->srq;
	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = 4;
	init.cap.max_recv_sge = 2;
	init.cap.max_inline_data = 64;
	s->qp = ibv_create_qp(n->pd, &init);
	assert_non_null(s->qp);
}

static void close_side(struct side *s)
{
	if (s->qp)
		assert_int_equal(ibv_destroy_qp(s->qp), 0);
	if (s->srq)
		assert_int_equal(ibv_destroy_srq(s->srq), 0);
	assert_int_equal(ibv_dereg_mr(s->all), 0);
	assert_int_equal(ibv_dereg_mr(s->other_pd), 0);
	assert_int_equal(ibv_dereg_mr(s->read_only), 0);
	assert_int_equal(ibv_dereg_mr(s->local), 0);
	assert_int_equal(ibv_destroy_cq(s->cq), 0);
}

static int init_mask(enum ibv_qp_type type)
{
	return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	       (type == UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static int rtr_mask(enum ibv_qp_type type)
{
	int mask = IBV_QP_STATE;

	if (type != UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (type == RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return mask;
}

static int rts_mask(enum ibv_qp_type type)
{
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (type == RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

static uint16_t pkey_index(const struct bench *b, const struct ibv_qp *qp)
{
	bool is_requester = qp == b->req.qp;

	switch (b->c->twists & PKEYS_DIFFER) {
	case PKEY_FOREIGN:
		return is_requester ? INDEX_FOREIGN : INDEX_FULL;
	case PKEY_LIMITED:
		return is_requester ? INDEX_LIMITED : INDEX_FULL;
	case PKEYS_DIFFER:
		return INDEX_LIMITED;
	default:
		return INDEX_FULL;
	}
}

static void connect_qp(struct bench *b, struct ibv_qp *qp, uint32_t to)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = VERBS_QKEY};
	enum ibv_qp_type type = b->c->type;

	a.qp_access_flags = has(b, QP_NO_RIGHT) ? 0 : ALL_RIGHTS & ~IBV_ACCESS_MW_BIND;
	a.pkey_index = pkey_index(b, qp);
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = to;
	a.max_dest_rd_atomic = has(b, QP_NO_DEPTH) ? 0 : 4;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = b->n->gid;
	a.ah_attr.grh.sgid_index = 1;
	a.timeout = 8;
	a.retry_cnt = 1;
	a.rnr_retry = 1;
	a.max_rd_atomic = 1;
	assert_int_equal(ibv_modify_qp(qp, &a, init_mask(type)), 0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, rtr_mask(type)), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, rts_mask(type)), 0);
}

static void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(qp, wr, &bad), 0);
}

/* A window of type 2 that another QP has bound, or one of type 1. */
static void open_window(struct bench *b)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw_bind_info info = {b->resp.all, (uintptr_t)b->resp.buf, BYTES,
					IBV_ACCESS_REMOTE_WRITE};
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED, .bind_info = info};
	struct ibv_qp_init_attr init = {.qp_type = RC, .cap = {2, 2, 1, 1, 0}};

	b->mw = ibv_alloc_mw(b->n->pd, has(b, INV_TYPE_1) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	assert_non_null(b->mw);
	if (has(b, RKEY_UNBOUND))
		return;
	init.send_cq = init.recv_cq = b->n->cq;
	b->third = ibv_create_qp(b->n->pd, &init);
	assert_non_null(b->third);
	connect_qp(b, b->third, b->third->qp_num);
	if (has(b, INV_TYPE_1)) {
		assert_int_equal(ibv_bind_mw(b->third, b->mw, &bind), 0);
	} else {
		wr.bind_mw.mw = b->mw;
		wr.bind_mw.rkey = ibv_inc_rkey(b->mw->rkey);
		wr.bind_mw.bind_info = info;
		post(b->third, &wr);
		b->mw->rkey = wr.bind_mw.rkey;
	}
	verbs_expect(b->n->cq, OK);
}

static void open_bench(struct bench *b, struct verbs *n, const struct error_case *c)
{
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};

	memset(b, 0, sizeof(*b));
	b->n = n;
	b->c = c;
	b->other_pd = ibv_alloc_pd(n->ctx);
	assert_non_null(b->other_pd);
	open_side(b, &b->req, n->buf, false);
	open_side(b, &b->resp, n->buf + REGION, has(b, SHARED));
	connect_qp(b, b->req.qp, b->resp.qp->qp_num);
	connect_qp(b, b->resp.qp, b->req.qp->qp_num);
	ah.grh.dgid = n->gid;
	ah.grh.sgid_index = 1;
	b->ah = ibv_create_ah(n->pd, &ah);
	assert_non_null(b->ah);
	if (has(b, RKEY_UNBOUND | INV_TYPE_1 | INV_OTHER_QP))
		open_window(b);
}

static void close_bench(struct bench *b)
{
	if (b->third)
		assert_int_equal(ibv_destroy_qp(b->third), 0);
	if (b->mw)
		assert_int_equal(ibv_dealloc_mw(b->mw), 0);
	assert_int_equal(ibv_destroy_ah(b->ah), 0);
	close_side(&b->req);
	close_side(&b->resp);
	assert_int_equal(ibv_dealloc_pd(b->other_pd), 0);
}

static void post_receive(struct bench *b, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)b->resp.buf, len, lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (b->resp.srq)
		assert_int_equal(ibv_post_srq_recv(b->resp.srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(b->resp.qp, &wr, &bad), 0);
}

static uint32_t header(const struct bench *b)
{
	return b->c->type == UD ? VERBS_GRH : 0;
}

static void prepare_receiver(struct bench *b)
{
	uint32_t lkey = b->resp.all->lkey;
	uint32_t len = BYTES + header(b);

	if (has(b, RECEIVE_KEY_UNKNOWN))
		lkey = BAD_KEY;
	if (has(b, RECEIVE_READ_ONLY))
		lkey = b->resp.read_only->lkey;
	if (has(b, RECEIVE_TOO_SHORT))
		len--;
	if (!has(b, NO_RECEIVE | PEER_FAILED | PEER_RESET))
		post_receive(b, len, lkey);
	if (has(b, PEER_FAILED))
		assert_int_equal(verbs_modify(b->resp.qp, IBV_QPS_ERR, 0), 0);
	if (has(b, PEER_RESET))
		assert_int_equal(verbs_modify(b->resp.qp, IBV_QPS_RESET, 0), 0);
}

static uint32_t local_key(const struct bench *b)
{
	if (has(b, LKEY_UNKNOWN))
		return BAD_KEY;
	if (has(b, LKEY_OTHER_PD))
		return b->req.other_pd->lkey;
	return has(b, LKEY_READ_ONLY) ? b->req.read_only->lkey : b->req.all->lkey;
}

static uint32_t remote_key(const struct bench *b)
{
	if (has(b, RKEY_UNKNOWN))
		return BAD_KEY;
	if (has(b, RKEY_OTHER_PD))
		return b->resp.other_pd->rkey;
	if (has(b, RKEY_UNBOUND))
		return b->mw->rkey;
	return has(b, RKEY_NO_RIGHT) ? b->resp.local->rkey : b->resp.all->rkey;
}

static uint64_t remote_address(const struct bench *b, uint32_t len)
{
	uint64_t at = (uintptr_t)b->resp.buf;

	if (has(b, RKEY_TOO_SHORT))
		at += is_atomic(b->c->opcode) ? REGION : REGION - len + 1;
	if (has(b, RKEY_BEFORE))
		at--;
	return has(b, MISALIGNED) ? at + 4 : at;
}

static uint32_t key_to_invalidate(const struct bench *b)
{
	if (has(b, INV_REGION))
		return b->resp.all->rkey;
	return has(b, INV_TYPE_1 | INV_OTHER_QP) ? b->mw->rkey : BAD_KEY;
}

/* At most four entries. */
static int make_list(const struct bench *b, uint32_t len, struct ibv_sge *list)
{
	uint64_t at = (uintptr_t)b->req.buf;

	if (has(b, EMPTY))
		return 0;
	if (has(b, LKEY_TOO_SHORT))
		at += REGION - len + 1;
	list[0] = (struct ibv_sge){at, len, local_key(b)};
	if (has(b, LIST_TOO_SHORT))
		list[0].length = 4;
	if (!has(b, LIST_TOO_LONG))
		return 1;
	list[0].length = 1u << 30;
	list[1] = list[0];
	list[1].length = 1;
	return 2;
}

static void post_request(struct bench *b)
{
	uint32_t len = is_atomic(b->c->opcode) ? 8 : BYTES;
	struct ibv_sge list[4];
	struct ibv_send_wr wr = {.opcode = b->c->opcode, .sg_list = list};

	wr.num_sge = make_list(b, len, list);
	if (has(b, INLINED))
		wr.send_flags |= IBV_SEND_INLINE;
	if (b->c->requester == OK) /* an error is reported without it */
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (b->c->type == UD) {
		wr.wr.ud.ah = b->ah;
		wr.wr.ud.remote_qpn = b->resp.qp->qp_num;
		wr.wr.ud.remote_qkey = VERBS_QKEY + (has(b, QKEY_WRONG) ? 1 : 0);
	} else if (is_atomic(b->c->opcode)) {
		wr.wr.atomic.remote_addr = remote_address(b, len);
		wr.wr.atomic.rkey = remote_key(b);
		wr.wr.atomic.compare_add = b->c->opcode == FAA;
		wr.wr.atomic.swap = 1;
	} else {
		wr.wr.rdma.remote_addr = remote_address(b, len);
		wr.wr.rdma.rkey = remote_key(b);
	}
	if (b->c->opcode == SEND_INV)
		wr.invalidate_rkey = key_to_invalidate(b);
	post(b->req.qp, &wr);
}

static void expect_status(struct ibv_cq *cq, int status)
{
	struct ibv_wc wc = verbs_completion(cq);

	assert_string_equal(ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	if (wc.status != OK)
		assert_int_not_equal(wc.vendor_err, 0);
}

static void expect_empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

/* A receive that the error did not use up is flushed if the queue pair failed, unless it is shared. */
static bool flushes_receive(const struct bench *b)
{
	return b->c->state == FAILED && b->c->responder == NOTHING && !b->resp.srq &&
	       !has(b, NO_RECEIVE | PEER_FAILED | PEER_RESET);
}

static void expect_responder(struct bench *b)
{
	struct ibv_async_event e;

	if (b->c->responder != NOTHING)
		expect_status(b->resp.cq, b->c->responder);
	if (flushes_receive(b))
		expect_status(b->resp.cq, IBV_WC_WR_FLUSH_ERR);
	expect_empty(b->resp.cq);
	if (b->c->event != NO_EVENT) {
		e = verbs_expect_event(b->n, (enum ibv_event_type)b->c->event);
		assert_ptr_equal(e.element.qp, b->resp.qp);
		ibv_ack_async_event(&e);
	}
	verbs_expect_no_event(b->n);
	if (has(b, PEER_RESET))
		assert_int_equal(verbs_state_of(b->resp.qp), IBV_QPS_RESET);
	else
		assert_int_equal(verbs_state_of(b->resp.qp),
				 b->c->state == FAILED ? IBV_QPS_ERR : IBV_QPS_RTS);
}

/* A failed request stops the send queue: an unreliable one stops in SQE. */
static void expect_requester_stopped(struct bench *b)
{
	assert_int_equal(verbs_state_of(b->req.qp), b->c->type == RC ? IBV_QPS_ERR : IBV_QPS_SQE);
	post_request(b);
	expect_status(b->req.cq, IBV_WC_WR_FLUSH_ERR);
}

/* The receive that a dropped message did not consume takes the next one. */
static void expect_receive_left(struct bench *b)
{
	struct ibv_sge sge = {(uintptr_t)b->req.buf, BYTES - 1, b->req.all->lkey};
	struct ibv_send_wr wr = {.opcode = SEND, .sg_list = &sge, .num_sge = 1};

	if (b->c->type == UD) {
		wr.wr.ud.ah = b->ah;
		wr.wr.ud.remote_qpn = b->resp.qp->qp_num;
		wr.wr.ud.remote_qkey = VERBS_QKEY;
	}
	wr.send_flags = IBV_SEND_SIGNALED;
	post(b->req.qp, &wr);
	expect_status(b->req.cq, OK);
	expect_status(b->resp.cq, OK);
}

static bool is_unused(const uint8_t *bytes)
{
	for (size_t i = 0; i < REGION; i++)
		if (bytes[i])
			return false;
	return true;
}

static struct ibv_port_attr query_port(const struct bench *b)
{
	struct ibv_port_attr port;

	assert_int_equal(ibv_query_port(b->n->ctx, 1, &port), 0);
	return port;
}

static bool drops_for_pkey(const struct error_case *c)
{
	return (c->twists & PKEYS_DIFFER) && (c->twists & PKEYS_DIFFER) != PKEY_LIMITED;
}

/* The retries of a request are not counted. */
static void expect_violations(const struct bench *b, const struct ibv_port_attr *before)
{
	struct ibv_port_attr now = query_port(b);

	assert_int_equal(now.bad_pkey_cntr, before->bad_pkey_cntr + drops_for_pkey(b->c));
	assert_int_equal(now.qkey_viol_cntr, before->qkey_viol_cntr + has(b, QKEY_WRONG));
}

static void run_case(void **state)
{
	const struct error_case *c = *state;
	void *verbs = NULL;
	struct ibv_port_attr before;
	struct bench b;

	assert_int_equal(verbs_open(&verbs), 0);
	open_bench(&b, verbs, c);
	before = query_port(&b);
	if (!is_atomic(c->opcode) && c->opcode != READ)
		memset(b.req.buf, 0x5a, REGION);
	if (c->opcode == READ)
		memset(b.resp.buf, 0x5a, REGION);
	prepare_receiver(&b);
	post_request(&b);
	expect_status(b.req.cq, c->requester);
	expect_responder(&b);
	expect_violations(&b, &before);
	assert_int_equal(!is_unused(c->opcode == READ ? b.req.buf : b.resp.buf), c->changed);
	if (c->requester != OK)
		expect_requester_stopped(&b);
	else if (c->responder == NOTHING && c->state == READY && c->opcode != READ &&
		 !has(&b, NO_RECEIVE) && !drops_for_pkey(c))
		expect_receive_left(&b);
	close_bench(&b);
	assert_int_equal(verbs_close(&verbs), 0);
}

/* --- the table -------------------------------------------------------------------------------- */

static const char *status_name(int status)
{
	static const char *const names[] = {
		[OK] = "success",
		[PROT] = "`LOC_PROT_ERR`",
		[LEN] = "`LOC_LEN_ERR`",
		[QP_OP] = "`LOC_QP_OP_ERR`",
		[REM_ACCESS] = "`REM_ACCESS_ERR`",
		[REM_INV] = "`REM_INV_REQ_ERR`",
		[REM_OP] = "`REM_OP_ERR`",
		[RETRY] = "`RETRY_EXC_ERR`",
		[RNR] = "`RNR_RETRY_EXC_ERR`",
		[IBV_WC_LOC_ACCESS_ERR] = "`LOC_ACCESS_ERR`",
		[IBV_WC_MW_BIND_ERR] = "`MW_BIND_ERR`",
	};

	return names[status];
}

static void print_responder(const struct error_case *c)
{
	if (c->responder != NOTHING)
		printf("receive: %s%s", status_name(c->responder),
		       c->state == FAILED ? ", ERR" : "");
	else if (c->event == ACCESS)
		printf("event `QP_ACCESS_ERR`, ERR");
	else if (c->event == REQUEST)
		printf("event `QP_REQ_ERR`, ERR");
	else
		printf("nothing%s", c->changed ? "; its memory has changed" : "");
}

static int print_table(void)
{
	printf("| case | requester | responder | test |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < NCASES; i++) {
		printf("| %s | %s | ", cases[i].what, status_name(cases[i].requester));
		print_responder(&cases[i]);
		printf(" | `%s` |\n", cases[i].name);
	}
	return 0;
}

static int fill_pkeys(void **state)
{
	static const char *const words[][2] = {
		[INDEX_LIMITED] = {"0x7fff", "1"}, [INDEX_FOREIGN] = {"0x8001", "2"}};

	for (int i = INDEX_LIMITED; i <= INDEX_FOREIGN; i++) {
		const char *argv[] = {test_options.emu, "port",	     "pkey", words[i][0],
				      "--index",	words[i][1], NULL};

		if (process_run(argv))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[NCASES];

	if (argc == 2 && !strcmp(argv[1], "--table"))
		return print_table();
	test_parse_options(argc, argv);
	for (size_t i = 0; i < NCASES; i++)
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = run_case,
			.initial_state = (void *)(uintptr_t)&cases[i],
		};
	return cmocka_run_group_tests(tests, fill_pkeys, NULL);
}
