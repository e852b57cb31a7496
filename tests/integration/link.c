/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "link.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "core/dev.h"
#include "device/device.h"

#define ALL_RIGHTS                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define PORT 1

static bool find_end(struct link *link)
{
	struct ibv_context *context = link->pd->context;
	struct ibv_gid_entry gid;

	if (ibv_query_port(context, PORT, &link->port))
		return false;
	link->end.lid = link->port.lid;
	link->end.qpn = link->qp->qp_num;
	for (uint32_t i = 0; i < (uint32_t)link->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(context, PORT, i, &gid, 0))
			continue;
		memcpy(link->end.gid, gid.gid.raw, sizeof(link->end.gid));
		link->gid_index = (uint8_t)i;
		return true;
	}
	return false;
}

bool link_open(struct link *link, const struct doca_dev *dev)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	memset(link, 0, sizeof(*link));
	/* No public function tells it: this file, and no other, looks into the library. */
	link->pd = dev->device->pd;
	link->cq = ibv_create_cq(link->pd->context, 1, NULL, NULL, 0);
	link->mr = ibv_reg_mr(link->pd, link->bytes, sizeof(link->bytes), ALL_RIGHTS);
	if (!link->cq || !link->mr)
		return false;
	link->key = link->mr->rkey;
	attr.send_cq = link->cq;
	attr.recv_cq = link->cq;
	link->qp = ibv_create_qp(link->pd, &attr);
	return link->qp && find_end(link);
}

static bool to_init(const struct link *link)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = ALL_RIGHTS,
	};

	return !ibv_modify_qp(link->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static bool to_rtr(const struct link *link, const struct link_end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = link->port.active_mtu,
		.dest_qp_num = peer->qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr =
			{
				.port_num = PORT,
				.dlid = peer->lid,
				.is_global = 1,
				.grh = {.sgid_index = link->gid_index, .hop_limit = 64},
			},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	return !ibv_modify_qp(link->qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
}

static bool to_rts(const struct link *link)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return !ibv_modify_qp(link->qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

bool link_connect(struct link *link, const struct link_end *peer)
{
	return to_init(link) && to_rtr(link, peer) && to_rts(link);
}

bool link_close(struct link *link)
{
	int bad = 0;

	if (link->qp)
		bad |= ibv_destroy_qp(link->qp);
	if (link->mr)
		bad |= ibv_dereg_mr(link->mr);
	if (link->cq)
		bad |= ibv_destroy_cq(link->cq);
	memset(link, 0, sizeof(*link));
	return !bad;
}

static int wait_status(const struct link *link)
{
	time_t deadline = time(NULL) + 30;
	struct ibv_wc wc;

	do {
		int n = ibv_poll_cq(link->cq, 1, &wc);

		if (n < 0)
			return -1;
		if (n)
			return (int)wc.status;
		sched_yield();
	} while (time(NULL) < deadline);
	return -1;
}

int link_run(struct link *link, const struct link_request *request)
{
	struct ibv_sge sge = {
		.addr = request->addr,
		.length = request->len,
		.lkey = request->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = request->opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = request->remote_addr;
		wr.wr.atomic.rkey = request->rkey;
		wr.wr.atomic.compare_add = request->compare_add;
		wr.wr.atomic.swap = request->swap;
	} else {
		wr.wr.rdma.remote_addr = request->remote_addr;
		wr.wr.rdma.rkey = request->rkey;
	}
	return ibv_post_send(link->qp, &wr, &bad) ? -1 : wait_status(link);
}

int link_access(struct link *link, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr)
{
	bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	return link_run(link, &(struct link_request){
				      .opcode = opcode,
				      .lkey = link->key,
				      .addr = (uintptr_t)link->bytes,
				      .len = atomic ? sizeof(uint64_t) : LINK_BYTES,
				      .rkey = rkey,
				      .remote_addr = remote_addr,
				      .compare_add = 1,
			      });
}
