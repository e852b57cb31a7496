/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "pair.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define IS_V4 "\0\0\0\0\0\0\0\0\0\0\xff\xff"

struct pair pair;

struct doca_verbs_context *pair_open_context(void)
{
	struct doca_verbs_context *context = NULL;
	struct doca_devinfo **list;
	uint32_t num = 0;

	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return NULL;
	if (num)
		doca_verbs_context_create(list[0], DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE, &context);
	doca_devinfo_destroy_list(list);
	return context;
}

struct doca_verbs_cq *pair_create_cq(uint32_t size)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *cq = NULL;

	if (doca_verbs_cq_attr_create(&attr) != DOCA_SUCCESS)
		return NULL;
	doca_verbs_cq_attr_set_cq_size(attr, size);
	doca_verbs_cq_create(pair.context, attr, &cq);
	doca_verbs_cq_attr_destroy(attr);
	return cq;
}

struct doca_verbs_qp_init_attr *pair_init_attr(void)
{
	struct doca_verbs_qp_init_attr *attr;

	if (doca_verbs_qp_init_attr_create(&attr) != DOCA_SUCCESS)
		return NULL;
	doca_verbs_qp_init_attr_set_pd(attr, pair.pd);
	doca_verbs_qp_init_attr_set_send_cq(attr, pair.cq);
	doca_verbs_qp_init_attr_set_receive_cq(attr, pair.cq);
	doca_verbs_qp_init_attr_set_sq_wr(attr, PAIR_DEPTH);
	doca_verbs_qp_init_attr_set_rq_wr(attr, PAIR_DEPTH);
	doca_verbs_qp_init_attr_set_send_max_sges(attr, 2);
	doca_verbs_qp_init_attr_set_receive_max_sges(attr, 1);
	doca_verbs_qp_init_attr_set_max_inline_data(attr, 64);
	return attr;
}

struct doca_verbs_qp *pair_create_qp(struct doca_verbs_qp_init_attr *attr)
{
	struct doca_verbs_qp *qp = NULL;

	doca_verbs_qp_create(pair.context, attr, &qp);
	doca_verbs_qp_init_attr_destroy(attr);
	return qp;
}

static int open_objects(void)
{
	pair.context = pair_open_context();
	if (!pair.context || doca_verbs_pd_create(pair.context, &pair.pd) != DOCA_SUCCESS)
		return -1;
	pair.cq = pair_create_cq(4 * PAIR_DEPTH);
	pair.bytes = fixture_memory_create((size_t)2 * PAIR_LEN);
	if (!pair.cq || !pair.bytes)
		return -1;
	pair.mr = ibv_reg_mr(
		doca_verbs_bridge_verbs_pd_get_ibv_pd(pair.pd), pair.bytes, (size_t)2 * PAIR_LEN,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	return pair.mr ? 0 : -1;
}

int pair_setup_unconnected(void **state)
{
	return fixture_count(state) ? -1 : open_objects();
}

int pair_setup(void **state)
{
	if (pair_setup_unconnected(state))
		return -1;
	pair.a = pair_create_qp(pair_init_attr());
	pair.b = pair_create_qp(pair_init_attr());
	return pair.a && pair.b && pair_connect(pair.a, pair.b) && pair_connect(pair.b, pair.a)
		       ? 0
		       : -1;
}

int pair_teardown(void **state)
{
	bool good = true;

	if (pair.a)
		good &= doca_verbs_qp_destroy(pair.a) == DOCA_SUCCESS;
	if (pair.b)
		good &= doca_verbs_qp_destroy(pair.b) == DOCA_SUCCESS;
	good &= !ibv_dereg_mr(pair.mr);
	fixture_memory_destroy(pair.bytes);
	good &= doca_verbs_cq_destroy(pair.cq) == DOCA_SUCCESS &&
		doca_verbs_pd_destroy(pair.pd) == DOCA_SUCCESS &&
		doca_verbs_context_destroy(pair.context) == DOCA_SUCCESS;
	pair = (struct pair){0};
	/* Objects that a failed test left would be waited for. */
	return !good || fixture_recount(state) ? -1 : 0;
}

/* --- states ----------------------------------------------------------------------------------- */

struct doca_verbs_ah_attr *pair_create_ah(void)
{
	struct ibv_context *context = doca_verbs_bridge_get_ibv_ctx(pair.context);
	struct doca_verbs_ah_attr *ah = NULL;
	struct ibv_gid_entry entries[16];
	struct doca_verbs_gid gid;
	ssize_t num = ibv_query_gid_table(context, entries, 16, 0);

	for (ssize_t i = 0; i < num && !ah; i++) {
		if (entries[i].gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entries[i].gid.raw, IS_V4, 12) != 0)
			continue;
		if (doca_verbs_ah_attr_create(pair.context, &ah) != DOCA_SUCCESS)
			return NULL;
		memcpy(gid.raw, entries[i].gid.raw, sizeof(gid.raw));
		doca_verbs_ah_attr_set_addr_type(ah, DOCA_VERBS_ADDR_TYPE_IPv4);
		doca_verbs_ah_attr_set_gid(ah, gid);
		doca_verbs_ah_attr_set_sgid_index(ah, (uint8_t)entries[i].gid_index);
		doca_verbs_ah_attr_set_hop_limit(ah, 255);
	}
	return ah;
}

struct doca_verbs_qp_attr *pair_qp_attr(enum doca_verbs_qp_state to,
					const struct doca_verbs_qp *peer,
					struct doca_verbs_ah_attr *ah)
{
	struct doca_verbs_qp_attr *attr;

	if (doca_verbs_qp_attr_create(&attr) != DOCA_SUCCESS)
		return NULL;
	doca_verbs_qp_attr_set_next_state(attr, to);
	doca_verbs_qp_attr_set_allow_remote_write(attr, 1);
	doca_verbs_qp_attr_set_allow_remote_read(attr, 1);
	doca_verbs_qp_attr_set_port_num(attr, 1);
	doca_verbs_qp_attr_set_path_mtu(attr, DOCA_MTU_SIZE_1K_BYTES);
	doca_verbs_qp_attr_set_dest_qp_num(attr, doca_verbs_qp_get_qpn(peer));
	doca_verbs_qp_attr_set_min_rnr_timer(attr, 1);
	doca_verbs_qp_attr_set_ah_attr(attr, ah);
	doca_verbs_qp_attr_set_ack_timeout(attr, 14);
	doca_verbs_qp_attr_set_retry_cnt(attr, 7);
	doca_verbs_qp_attr_set_rnr_retry(attr, 7);
	return attr;
}

int pair_mask(enum doca_verbs_qp_state to)
{
	static const int masks[] = {
		[DOCA_VERBS_QP_STATE_INIT] = DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE |
					     DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ |
					     DOCA_VERBS_QP_ATTR_PKEY_INDEX |
					     DOCA_VERBS_QP_ATTR_PORT_NUM,
		[DOCA_VERBS_QP_STATE_RTR] =
			DOCA_VERBS_QP_ATTR_RQ_PSN | DOCA_VERBS_QP_ATTR_DEST_QP_NUM |
			DOCA_VERBS_QP_ATTR_PATH_MTU | DOCA_VERBS_QP_ATTR_AH_ATTR |
			DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER,
		[DOCA_VERBS_QP_STATE_RTS] =
			DOCA_VERBS_QP_ATTR_SQ_PSN | DOCA_VERBS_QP_ATTR_ACK_TIMEOUT |
			DOCA_VERBS_QP_ATTR_RETRY_CNT | DOCA_VERBS_QP_ATTR_RNR_RETRY,
		[DOCA_VERBS_QP_STATE_ERR] = 0,
	};

	return masks[to] | DOCA_VERBS_QP_ATTR_NEXT_STATE;
}

doca_error_t pair_move(struct doca_verbs_qp *qp, enum doca_verbs_qp_state to,
		       const struct doca_verbs_qp *peer)
{
	struct doca_verbs_ah_attr *ah = pair_create_ah();
	struct doca_verbs_qp_attr *attr = pair_qp_attr(to, peer, ah);
	doca_error_t result = doca_verbs_qp_modify(qp, attr, pair_mask(to));

	doca_verbs_ah_attr_destroy(ah);
	doca_verbs_qp_attr_destroy(attr);
	return result;
}

bool pair_connect(struct doca_verbs_qp *qp, const struct doca_verbs_qp *peer)
{
	return pair_move(qp, DOCA_VERBS_QP_STATE_INIT, peer) == DOCA_SUCCESS &&
	       pair_move(qp, DOCA_VERBS_QP_STATE_RTR, peer) == DOCA_SUCCESS &&
	       pair_move(qp, DOCA_VERBS_QP_STATE_RTS, peer) == DOCA_SUCCESS;
}

/* --- data ------------------------------------------------------------------------------------- */

struct pair_request *pair_request(struct pair_request *request, enum ibv_wr_opcode opcode,
				  uint64_t id, uint32_t len)
{
	*request = (struct pair_request){
		.wr =
			{
				.wr_id = id,
				.opcode = opcode,
				.send_flags = IBV_SEND_SIGNALED,
				.num_sge = 1,
				.wr.rdma =
					{
						.remote_addr = (uintptr_t)pair.bytes + PAIR_LEN,
						.rkey = pair.mr->rkey,
					},
			},
		.sge = {.addr = (uintptr_t)pair.bytes, .length = len, .lkey = pair.mr->lkey},
	};
	request->wr.sg_list = &request->sge;
	return request;
}

int pair_post(struct doca_verbs_qp *qp, struct pair_request *request)
{
	struct ibv_send_wr *bad = NULL;
	int err;

	request->wr.sg_list = &request->sge;
	err = doca_verbs_bridge_post_send(qp, &request->wr, &bad);
	return err || !bad ? err : -1;
}

int pair_post_recv(struct doca_verbs_qp *qp, uint64_t id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pair.bytes + PAIR_LEN,
		.length = PAIR_LEN,
		.lkey = pair.mr->lkey,
	};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;
	int err = doca_verbs_bridge_post_recv(qp, &wr, &bad);

	return err || !bad ? err : -1;
}

struct ibv_wc pair_poll(struct doca_verbs_cq *cq)
{
	const uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};
	int num;

	do {
		num = doca_verbs_bridge_poll_cq(cq, 1, &wc);
		if (!num)
			sched_yield();
	} while (!num && monotonic_ms() < limit);
	if (num != 1)
		wc.status = IBV_WC_GENERAL_ERR;
	return wc;
}

bool pair_is_empty(struct doca_verbs_cq *cq)
{
	struct ibv_wc wc;

	return !doca_verbs_bridge_poll_cq(cq, 1, &wc);
}
