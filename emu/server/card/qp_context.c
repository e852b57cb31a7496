/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/qp_context.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "base/array.h"
#include "emu/prm/prm_cmd.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/path.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/segments.h"

#define MAX_LOG_RD_ATOMIC 4u /* log_max_ra_req_qp and log_max_ra_res_qp */
#define MAX_LOG_MSG	  30u

/* Clients can write to the table of queues, not to this one. */
static uint8_t contexts[EMU_MAX_QPS][EMU_QPC_BYTES];

uint8_t *emu_qp_context(uint32_t qpn)
{
	return contexts[qpn];
}

void emu_qp_begin_context(uint32_t qpn, const uint8_t *qpc)
{
	memcpy(contexts[qpn], qpc, EMU_QPC_BYTES);
	if (!emu_prm_get(qpc, EMU_QPC_DBR_UMEM_VALID))
		emu_prm_set(contexts[qpn], EMU_QPC_DBR_UMEM_ID, 0);
	emu_prm_set(contexts[qpn], EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM), EMU_PORT_BEFORE_INIT);
}

/* --- states ----------------------------------------------------------------------------------- */

/*
 * Change the state first, and wait until all engines have left the queue: an engine that saw the
 * new count of resets with the old state would execute the old ring again. The client clears its
 * rings when the command is done.
 */
static void reset(struct emu_qp *q)
{
	atomic_store(&q->state, EMU_QPS_RESET);
	emu_grace();
	q->mmo = (struct emu_mmo){0};
	q->dest_qpn = 0;
	atomic_store(&q->released, 0);
	for (unsigned int i = 0; i < EMU_DCI_TOLERATED; i++)
		atomic_store(&q->failed[i], 0);
	for (unsigned int side = 0; side < EMU_PAGE_FAULT_SIDES; side++)
		atomic_store(&q->page_fault[side].state, EMU_PAGE_FAULT_NONE);
	emu_path_clear(q);
	atomic_store(&q->established_reported, 0);
	atomic_store(&q->inbox.state, EMU_MSG_FREE);
	atomic_store(&q->taker, 0);
	atomic_fetch_add(&q->resets, 1);
	emu_grace(); /* a pass with the old count must not see the next state */
}

/* An engine may have moved the QP to ERR meanwhile: then it stays in ERR. */
int emu_qp_set_state(struct emu_qp *q, uint32_t from, uint32_t to)
{
	if (to == EMU_QPS_RESET)
		reset(q);
	else if (to == EMU_QPS_ERR)
		atomic_store(&q->state, to);
	else if (!atomic_compare_exchange_strong(&q->state, &from, to))
		return -EINVAL;
	return 0;
}

bool emu_qp_reset_stream(struct emu_qp *q, uint16_t stream)
{
	uint32_t number;

	for (uint32_t i = 0; i < EMU_DCI_TOLERATED; i++) {
		number = stream + 1u;
		if (atomic_compare_exchange_strong(&q->failed[i], &number, 0))
			return true;
	}
	return false;
}

/* --- transitions ------------------------------------------------------------------------------ */

/*
 * A field of the QP context that a transition sets; with `optpar` only if that bit is set. UNLESS_0:
 * an earlier transition has set it, and 0 leaves that value.
 */
struct qpc_field {
	int field;
	uint32_t optpar;
};

#define UNLESS_0 (1u << 31)

static const struct qpc_field init_fields[] = {
	{EMU_QPC_RRE, 0},
	{EMU_QPC_RWE, 0},
	{EMU_QPC_RAE, 0},
	{EMU_QPC_PATH(EMU_ADS_PKEY_INDEX), 0},
	{EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM), 0},
	{EMU_QPC_Q_KEY, 0},
	{0, 0},
};
static const struct qpc_field init_again_fields[] = {
	{EMU_QPC_RRE, EMU_OPTPAR_RRE},
	{EMU_QPC_RWE, EMU_OPTPAR_RWE},
	{EMU_QPC_RAE, EMU_OPTPAR_RAE},
	{EMU_QPC_PATH(EMU_ADS_PKEY_INDEX), EMU_OPTPAR_PKEY_INDEX},
	{EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM), EMU_OPTPAR_PRI_PORT},
	{EMU_QPC_Q_KEY, EMU_OPTPAR_Q_KEY},
	{0, 0},
};
static const struct qpc_field rtr_fields[] = {
	{EMU_QPC_PATH(EMU_ADS_PKEY_INDEX), EMU_OPTPAR_PKEY_INDEX},
	{EMU_QPC_Q_KEY, EMU_OPTPAR_Q_KEY},
	{EMU_QPC_RRE, EMU_OPTPAR_RRE},
	{EMU_QPC_RWE, EMU_OPTPAR_RWE},
	{EMU_QPC_RAE, EMU_OPTPAR_RAE},
	{EMU_QPC_MTU, 0},
	{EMU_QPC_LOG_MSG_MAX, 0},
	{EMU_QPC_REMOTE_QPN, 0},
	{EMU_QPC_LOG_RRA_MAX, 0},
	{EMU_QPC_MIN_RNR_NAK, 0},
	{EMU_QPC_NEXT_RCV_PSN, 0},
	{EMU_QPC_PATH(EMU_ADS_FL), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_LIDS), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_SOURCE), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_FLOW), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_RGID), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_SPORT), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_PRIORITY), 0},
	{EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM), UNLESS_0},
	{EMU_QPC_PATH(EMU_ADS_RTR_RMAC_47_32), 0},
	{EMU_QPC_PATH(EMU_ADS_RTR_RMAC_31_0), 0},
	{0, 0},
};
static const struct qpc_field rts_fields[] = {
	{EMU_QPC_Q_KEY, EMU_OPTPAR_Q_KEY},
	{EMU_QPC_RRE, EMU_OPTPAR_RRE},
	{EMU_QPC_RWE, EMU_OPTPAR_RWE},
	{EMU_QPC_RAE, EMU_OPTPAR_RAE},
	{EMU_QPC_LOG_SRA_MAX, 0},
	{EMU_QPC_RETRY_COUNT, 0},
	{EMU_QPC_RNR_RETRY, 0},
	{EMU_QPC_NEXT_SEND_PSN, 0},
	{EMU_QPC_PATH(EMU_ADS_ACK_TIMEOUT), 0},
	{EMU_QPC_MIN_RNR_NAK, EMU_OPTPAR_RNR_TIMEOUT},
	{0, 0},
};
static const struct qpc_field later_fields[] = {
	{EMU_QPC_Q_KEY, EMU_OPTPAR_Q_KEY},
	{EMU_QPC_RRE, EMU_OPTPAR_RRE},
	{EMU_QPC_RWE, EMU_OPTPAR_RWE},
	{EMU_QPC_RAE, EMU_OPTPAR_RAE},
	{EMU_QPC_MIN_RNR_NAK, EMU_OPTPAR_RNR_TIMEOUT},
	{0, 0},
};
static const struct qpc_field no_fields[] = {{0, 0}};

#define ANY_STATE 0xff

static const struct transition {
	uint16_t opcode;
	uint8_t from, to;
	const struct qpc_field *fields;
} transitions[] = {
	{EMU_CMD_RST2INIT_QP, EMU_QPS_RESET, EMU_QPS_INIT, init_fields},
	{EMU_CMD_INIT2INIT_QP, EMU_QPS_INIT, EMU_QPS_INIT, init_again_fields},
	{EMU_CMD_INIT2RTR_QP, EMU_QPS_INIT, EMU_QPS_RTR, rtr_fields},
	{EMU_CMD_RTR2RTS_QP, EMU_QPS_RTR, EMU_QPS_RTS, rts_fields},
	{EMU_CMD_RTS2RTS_QP, EMU_QPS_RTS, EMU_QPS_RTS, later_fields},
	{EMU_CMD_SQERR2RTS_QP, EMU_QPS_SQE, EMU_QPS_RTS, later_fields},
	{EMU_CMD_2ERR_QP, ANY_STATE, EMU_QPS_ERR, no_fields},
	{EMU_CMD_2RST_QP, ANY_STATE, EMU_QPS_RESET, no_fields},
};

static const struct transition *find_transition(uint16_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

uint16_t emu_qp_opcode(uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].to == to &&
		    (transitions[i].from == from || transitions[i].from == ANY_STATE))
			return transitions[i].opcode;
	return 0;
}

bool emu_qp_is_transition(uint16_t opcode)
{
	return find_transition(opcode);
}

bool emu_qp_takes_context(uint16_t opcode)
{
	const struct transition *t = find_transition(opcode);

	return t && t->fields[0].field;
}

static void merge(uint8_t *to, const uint8_t *from, const struct qpc_field *f, uint32_t optpar)
{
	for (; f->field; f++)
		if (f->optpar == UNLESS_0 ? emu_prm_get(from, f->field) != 0
					  : !f->optpar || optpar & f->optpar)
			emu_prm_copy(to, from, f->field);
}

static uint64_t path_get(const uint8_t *qpc, int field)
{
	return emu_prm_get(qpc, EMU_QPC_PATH(field));
}

/* In RoCE the path must be a global one, or lead back. The requests of a DC initiator have theirs. */
static bool is_peer_valid(const struct emu_func *f, const struct emu_qp *q, const uint8_t *qpc)
{
	uint64_t mtu = emu_prm_get(qpc, EMU_QPC_MTU);

	return mtu >= 1 && mtu <= 5 && emu_prm_get(qpc, EMU_QPC_LOG_RRA_MAX) <= MAX_LOG_RD_ATOMIC &&
	       emu_prm_get(qpc, EMU_QPC_LOG_MSG_MAX) <= MAX_LOG_MSG &&
	       (path_get(qpc, EMU_ADS_FL) || q->type == EMU_QPT_DCI ||
		emu_gid_at(f, (unsigned int)path_get(qpc, EMU_ADS_SRC_ADDR_INDEX)));
}

/* The firmware checks what a transition has set. */
static bool is_valid(const struct emu_func *f, const struct emu_qp *q, const uint8_t *qpc,
		     uint32_t to)
{
	if (!emu_pkey_is_index(f, (unsigned int)path_get(qpc, EMU_ADS_PKEY_INDEX)) ||
	    path_get(qpc, EMU_ADS_VHCA_PORT_NUM) != 1)
		return false;
	if (q->type == EMU_QPT_UD)
		return true;
	if (to == EMU_QPS_RTS)
		return emu_prm_get(qpc, EMU_QPC_LOG_SRA_MAX) <= MAX_LOG_RD_ATOMIC;
	return to != EMU_QPS_RTR || is_peer_valid(f, q, qpc);
}

static void set_path(const struct emu_func *f, struct emu_qp *q, const uint8_t *qpc)
{
	struct emu_address to = {
		.sgid_index = (uint8_t)path_get(qpc, EMU_ADS_SRC_ADDR_INDEX),
		.tclass = (uint8_t)path_get(qpc, EMU_ADS_TCLASS),
		.hop_limit = (uint8_t)path_get(qpc, EMU_ADS_HOP_LIMIT),
		.flow_label = (uint32_t)path_get(qpc, EMU_ADS_FLOW_LABEL),
	};

	memcpy(to.dgid, emu_prm_at_const(qpc, EMU_QPC_PATH(EMU_ADS_RGID_RIP)), sizeof(to.dgid));
	emu_path_set(f, q, &to);
}

static void apply(const struct emu_func *f, struct emu_qp *q, const uint8_t *qpc, uint32_t to)
{
	q->access = (emu_prm_get(qpc, EMU_QPC_RRE) ? IB_UVERBS_ACCESS_REMOTE_READ : 0u) |
		    (emu_prm_get(qpc, EMU_QPC_RWE) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0u) |
		    (emu_prm_get(qpc, EMU_QPC_RAE) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0u);
	q->min_rnr_timer = (uint8_t)emu_prm_get(qpc, EMU_QPC_MIN_RNR_NAK);
	q->timeout = (uint8_t)path_get(qpc, EMU_ADS_ACK_TIMEOUT);
	q->retry_cnt = (uint8_t)emu_prm_get(qpc, EMU_QPC_RETRY_COUNT);
	q->rnr_retry = (uint8_t)emu_prm_get(qpc, EMU_QPC_RNR_RETRY);
	q->mtu = (uint8_t)emu_prm_get(qpc, EMU_QPC_MTU);
	q->max_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, EMU_QPC_LOG_SRA_MAX));
	q->max_dest_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, EMU_QPC_LOG_RRA_MAX));
	q->sq_psn = (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_SEND_PSN);
	q->rq_psn = (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_RCV_PSN);
	q->qkey = (uint32_t)emu_prm_get(qpc, EMU_QPC_Q_KEY);
	emu_pkey_use(f, q, (unsigned int)path_get(qpc, EMU_ADS_PKEY_INDEX));
	if (to != EMU_QPS_RTR || q->type == EMU_QPT_UD || q->type == EMU_QPT_DCI)
		return;
	q->dest_qpn = (uint32_t)emu_prm_get(qpc, EMU_QPC_REMOTE_QPN);
	if (path_get(qpc, EMU_ADS_FL)) {
		emu_path_clear(q);
		atomic_store(&q->dest_func, f->index);
		return;
	}
	set_path(f, q, qpc);
}

enum emu_transit_result emu_qp_transit(const struct emu_func *f, uint32_t qpn, uint16_t opcode,
				       const uint8_t *qpc, uint32_t optpar)
{
	const struct transition *t = find_transition(opcode);
	struct emu_qp *q = &emu_queues->qp[qpn];
	uint8_t next[EMU_QPC_BYTES];
	int err;

	if (t->from != ANY_STATE && atomic_load(&q->state) != t->from)
		return EMU_TRANSIT_STATE;
	if (t->fields[0].field) {
		if (!qpc)
			return EMU_TRANSIT_NO_CONTEXT;
		memcpy(next, contexts[qpn], sizeof(next));
		merge(next, qpc, t->fields, optpar);
		if (!is_valid(f, q, next, t->to))
			return EMU_TRANSIT_CONTEXT;
		memcpy(contexts[qpn], next, sizeof(next));
		apply(f, q, next, t->to);
	}
	err = emu_qp_set_state(q, t->from, t->to);
	emu_engine_wake(q->engine);
	return err ? EMU_TRANSIT_CHANGED : EMU_TRANSIT_DONE;
}
