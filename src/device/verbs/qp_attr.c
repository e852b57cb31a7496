/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/verbs/qp_attr.h"

#include <string.h>

#include "base/array.h"

#define ACCESS                                                                          \
	(DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE | DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ | \
	 DOCA_VERBS_QP_ATTR_ATOMIC_MODE)

static const struct {
	int doca, ibv;
} bits[] = {
	{ACCESS, IBV_QP_ACCESS_FLAGS},
	{DOCA_VERBS_QP_ATTR_PKEY_INDEX, IBV_QP_PKEY_INDEX},
	{DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER, IBV_QP_MIN_RNR_TIMER},
	{DOCA_VERBS_QP_ATTR_PORT_NUM, IBV_QP_PORT},
	{DOCA_VERBS_QP_ATTR_NEXT_STATE, IBV_QP_STATE},
	{DOCA_VERBS_QP_ATTR_CURRENT_STATE, IBV_QP_CUR_STATE},
	{DOCA_VERBS_QP_ATTR_PATH_MTU, IBV_QP_PATH_MTU},
	{DOCA_VERBS_QP_ATTR_RQ_PSN, IBV_QP_RQ_PSN},
	{DOCA_VERBS_QP_ATTR_SQ_PSN, IBV_QP_SQ_PSN},
	{DOCA_VERBS_QP_ATTR_DEST_QP_NUM, IBV_QP_DEST_QPN},
	{DOCA_VERBS_QP_ATTR_ACK_TIMEOUT, IBV_QP_TIMEOUT},
	{DOCA_VERBS_QP_ATTR_RETRY_CNT, IBV_QP_RETRY_CNT},
	{DOCA_VERBS_QP_ATTR_RNR_RETRY, IBV_QP_RNR_RETRY},
	{DOCA_VERBS_QP_ATTR_AH_ATTR, IBV_QP_AV},
	{DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC, IBV_QP_MAX_QP_RD_ATOMIC},
	{DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC, IBV_QP_MAX_DEST_RD_ATOMIC},
};

int dpumap_verbs_mask_to_ibv(int mask)
{
	int found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (mask & bits[i].doca)
			found |= bits[i].ibv;
	return found;
}

int dpumap_verbs_mask_from_ibv(int ibv_mask)
{
	int found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (ibv_mask & bits[i].ibv)
			found |= bits[i].doca;
	return found;
}

static const struct {
	enum ibv_qp_state ibv;
	enum doca_verbs_qp_state doca;
} states[] = {
	{IBV_QPS_RESET, DOCA_VERBS_QP_STATE_RST}, {IBV_QPS_INIT, DOCA_VERBS_QP_STATE_INIT},
	{IBV_QPS_RTR, DOCA_VERBS_QP_STATE_RTR},	  {IBV_QPS_RTS, DOCA_VERBS_QP_STATE_RTS},
	{IBV_QPS_ERR, DOCA_VERBS_QP_STATE_ERR},
};

/* False: the state does not exist here. */
static bool state_from_ibv(enum ibv_qp_state state, enum doca_verbs_qp_state *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].ibv == state) {
			*found = states[i].doca;
			return true;
		}
	return false;
}

enum ibv_qp_state dpumap_verbs_state_to_ibv(enum doca_verbs_qp_state state)
{
	size_t i = 0;

	while (states[i].doca != state)
		i++;
	return states[i].ibv;
}

void dpumap_verbs_attr_to_ibv(const struct dpumap_verbs_qp_attr *attr, struct ibv_qp_attr *ibv)
{
	ibv->qp_state = dpumap_verbs_state_to_ibv(attr->next_state);
	ibv->cur_qp_state = dpumap_verbs_state_to_ibv(attr->current_state);
	ibv->path_mtu = (enum ibv_mtu)(attr->path_mtu + IBV_MTU_256);
	ibv->rq_psn = attr->rq_psn;
	ibv->sq_psn = attr->sq_psn;
	ibv->dest_qp_num = attr->dest_qp_num;
	ibv->max_rd_atomic = attr->max_rd_atomic;
	ibv->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	ibv->pkey_index = attr->pkey_index;
	ibv->port_num = (uint8_t)attr->port_num;
	ibv->timeout = (uint8_t)attr->ack_timeout;
	ibv->retry_cnt = (uint8_t)attr->retry_cnt;
	ibv->rnr_retry = (uint8_t)attr->rnr_retry;
	ibv->min_rnr_timer = (uint8_t)attr->min_rnr_timer;
}

void dpumap_verbs_access_to_ibv(const struct dpumap_verbs_qp_attr *attr, struct ibv_qp_attr *ibv)
{
	ibv->qp_access_flags = IBV_ACCESS_LOCAL_WRITE;
	if (attr->allow_remote_write)
		ibv->qp_access_flags |= IBV_ACCESS_REMOTE_WRITE;
	if (attr->allow_remote_read)
		ibv->qp_access_flags |= IBV_ACCESS_REMOTE_READ;
	if (attr->atomic_mode != DOCA_VERBS_QP_ATOMIC_MODE_NONE)
		ibv->qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
}

void dpumap_verbs_path_to_ibv(const struct dpumap_verbs_ah *ah, uint16_t port,
			      struct ibv_qp_attr *ibv)
{
	struct ibv_ah_attr *path = &ibv->ah_attr;

	*path = (struct ibv_ah_attr){
		.dlid = (uint16_t)ah->dlid,
		.sl = ah->sl,
		.static_rate = ah->static_rate,
		.is_global = ah->addr_type != DOCA_VERBS_ADDR_TYPE_IB_NO_GRH,
		.port_num = (uint8_t)port,
	};
	if (!path->is_global)
		return;
	memcpy(path->grh.dgid.raw, ah->gid.raw, sizeof(ah->gid.raw));
	path->grh.sgid_index = ah->sgid_index;
	path->grh.hop_limit = ah->hop_limit;
	path->grh.traffic_class = ah->traffic_class;
}

static void access_from_ibv(struct dpumap_verbs_qp_attr *attr, unsigned int flags)
{
	attr->allow_remote_write = !!(flags & IBV_ACCESS_REMOTE_WRITE);
	attr->allow_remote_read = !!(flags & IBV_ACCESS_REMOTE_READ);
	attr->atomic_mode = flags & IBV_ACCESS_REMOTE_ATOMIC ? DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC
							     : DOCA_VERBS_QP_ATOMIC_MODE_NONE;
}

bool dpumap_verbs_attr_from_ibv(struct dpumap_verbs_qp_attr *attr, const struct ibv_qp_attr *ibv,
				int ibv_mask)
{
	struct dpumap_verbs_qp_attr changed = *attr;

#define READ(bit, member, value)     \
	if (ibv_mask & IBV_QP_##bit) \
		changed.member = (value);
	READ(PATH_MTU, path_mtu, (enum doca_mtu_size)(ibv->path_mtu - IBV_MTU_256))
	READ(RQ_PSN, rq_psn, ibv->rq_psn)
	READ(SQ_PSN, sq_psn, ibv->sq_psn)
	READ(DEST_QPN, dest_qp_num, ibv->dest_qp_num)
	READ(MAX_QP_RD_ATOMIC, max_rd_atomic, ibv->max_rd_atomic)
	READ(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, ibv->max_dest_rd_atomic)
	READ(PKEY_INDEX, pkey_index, ibv->pkey_index)
	READ(PORT, port_num, ibv->port_num)
	READ(TIMEOUT, ack_timeout, ibv->timeout)
	READ(RETRY_CNT, retry_cnt, ibv->retry_cnt)
	READ(RNR_RETRY, rnr_retry, ibv->rnr_retry)
	READ(MIN_RNR_TIMER, min_rnr_timer, ibv->min_rnr_timer)
#undef READ
	if (ibv_mask & IBV_QP_ACCESS_FLAGS)
		access_from_ibv(&changed, ibv->qp_access_flags);
	if (ibv_mask & IBV_QP_STATE && !state_from_ibv(ibv->qp_state, &changed.next_state))
		return false;
	if (ibv_mask & IBV_QP_CUR_STATE &&
	    !state_from_ibv(ibv->cur_qp_state, &changed.current_state))
		return false;
	*attr = changed;
	return true;
}

/* Only InfiniBand has LIDs. */
static enum doca_verbs_addr_type type_of(const struct ibv_ah_attr *path)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* IPv4 */

	if (!path->is_global)
		return DOCA_VERBS_ADDR_TYPE_IB_NO_GRH;
	if (path->dlid)
		return DOCA_VERBS_ADDR_TYPE_IB_GRH;
	return memcmp(path->grh.dgid.raw, mapped, sizeof(mapped)) ? DOCA_VERBS_ADDR_TYPE_IPv6
								  : DOCA_VERBS_ADDR_TYPE_IPv4;
}

void dpumap_verbs_ah_from_ibv(struct dpumap_verbs_ah *ah, const struct ibv_qp_attr *ibv)
{
	const struct ibv_ah_attr *path = &ibv->ah_attr;

	*ah = (struct dpumap_verbs_ah){
		.addr_type = type_of(path),
		.dlid = path->dlid,
		.sl = path->sl,
		.static_rate = path->static_rate,
	};
	if (!path->is_global)
		return;
	memcpy(ah->gid.raw, path->grh.dgid.raw, sizeof(ah->gid.raw));
	ah->sgid_index = path->grh.sgid_index;
	ah->hop_limit = path->grh.hop_limit;
	ah->traffic_class = path->grh.traffic_class;
}
