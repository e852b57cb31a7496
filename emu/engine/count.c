/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/count.h"

#include "emu/engine/qp.h"
#include "emu/engine/state.h"
#include "emu/engine/ud.h"
#include "emu/ipc/codes.h"
#include "emu/ipc/path_mtu.h"

/* What surrounds the payload of a RoCEv2 packet: Ethernet, IPv4, UDP, BTH and ICRC. */
#define BTH_BYTES   12u
#define FRAME_BYTES (14u + 20u + 8u + BTH_BYTES + 4u)
#define RETH_BYTES  16u
#define DETH_BYTES  8u
#define AETH_BYTES  4u
#define ATOMIC_ETH  28u
#define ATOMIC_ACK  8u

/* Only this thread adds to the counters of its slot. */
static void add(struct engine *e, uint32_t func, enum emu_counter id, uint64_t n)
{
	_Atomic uint64_t *sum;

	if (func >= EMU_MAX_FUNCS)
		return;
	sum = &e->cfg.queues->counter[e->cfg.slot][func][id];
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static uint64_t packets(const struct emu_qp *q, uint64_t len)
{
	uint64_t mtu = emu_mtu_bytes(q->mtu);

	return len ? (len + mtu - 1) / mtu : 1;
}

static void sent(struct engine *e, uint32_t func, uint64_t n, uint64_t bytes)
{
	add(e, func, EMU_COUNTER_port_xmit_packets, n);
	add(e, func, EMU_COUNTER_unicast_xmit_packets, n);
	add(e, func, EMU_COUNTER_port_xmit_data, bytes + n * FRAME_BYTES);
}

static void received(struct engine *e, uint32_t func, uint64_t n, uint64_t bytes)
{
	add(e, func, EMU_COUNTER_port_rcv_packets, n);
	add(e, func, EMU_COUNTER_unicast_rcv_packets, n);
	add(e, func, EMU_COUNTER_port_rcv_data, bytes + n * FRAME_BYTES);
}

static void move(struct engine *e, uint32_t from, uint32_t to, uint64_t n, uint64_t bytes)
{
	sent(e, from, n, bytes);
	received(e, to, n, bytes);
}

/* The function that a request went to. */
static uint32_t destination(const struct engine *e, const struct emu_qp *q, const struct emu_wqe *w)
{
	if (q->type != EMU_QPT_DCI)
		return atomic_load(&q->dest_func);
	return w->av.qpn < EMU_MAX_QPS ? e->cfg.queues->qp[w->av.qpn].func : EMU_NOWHERE;
}

/* One request, and its answer: an acknowledgement for each message of a reliable connection. */
static void count_packets(struct engine *e, const struct emu_qp *q, const struct emu_wqe *w)
{
	uint32_t here = q->func, there = destination(e, q, w);
	uint64_t n = packets(q, w->len);

	switch (w->opcode) {
	case EMU_WQE_RDMA_READ:
		add(e, there, EMU_COUNTER_rx_read_requests, 1);
		move(e, here, there, 1, RETH_BYTES);
		move(e, there, here, n, w->len + AETH_BYTES);
		return;
	case EMU_WQE_ATOMIC_CS:
	case EMU_WQE_ATOMIC_FA:
		add(e, there, EMU_COUNTER_rx_atomic_requests, 1);
		move(e, here, there, 1, ATOMIC_ETH);
		move(e, there, here, 1, AETH_BYTES + ATOMIC_ACK);
		return;
	case EMU_WQE_RDMA_WRITE:
	case EMU_WQE_RDMA_WRITE_IMM:
		add(e, there, EMU_COUNTER_rx_write_requests, 1);
		move(e, here, there, n, w->len + RETH_BYTES);
		break;
	default:
		move(e, here, there, n, w->len);
		break;
	}
	if (emu_qp_reliable(q))
		move(e, there, here, 1, AETH_BYTES);
}

static void count_sent_datagram(struct engine *e, const struct emu_qp *q, const struct emu_wqe *w)
{
	bool multicast = emu_ud_is_multicast(&w->av);

	add(e, q->func, EMU_COUNTER_port_xmit_packets, 1);
	add(e, q->func,
	    multicast ? EMU_COUNTER_multicast_xmit_packets : EMU_COUNTER_unicast_xmit_packets, 1);
	add(e, q->func, EMU_COUNTER_port_xmit_data, w->len + FRAME_BYTES + DETH_BYTES);
}

/* An error that the responder reports, or that the requester concludes from its silence. */
static void count_error(struct engine *e, const struct emu_qp *q, const struct emu_wqe *w,
			uint32_t syndrome)
{
	switch (syndrome) {
	case EMU_SYN_REM_INV_REQ:
		add(e, q->func, EMU_COUNTER_req_remote_invalid_request, 1);
		break;
	case EMU_SYN_REM_ACCESS:
		add(e, q->func, EMU_COUNTER_req_remote_access_errors, 1);
		add(e, destination(e, q, w), EMU_COUNTER_resp_remote_access_errors, 1);
		break;
	case EMU_SYN_RETRY:
		if (atomic_load(&q->dest_func) != EMU_ON_WIRE) /* there each timeout is counted */
			add(e, q->func, EMU_COUNTER_local_ack_timeout_err, 1);
		add(e, q->func, EMU_COUNTER_req_transport_retries_exceeded, 1);
		break;
	case EMU_SYN_RNR_RETRY:
		add(e, q->func, EMU_COUNTER_req_rnr_retries_exceeded, 1);
		break;
	default:
		break;
	}
}

void emu_count_request(struct engine *e, const struct emu_qp *q, const struct emu_wqe *w,
		       uint32_t syndrome)
{
	if (w->opcode == EMU_WQE_NOP || w->opcode == EMU_WQE_UMR || w->opcode == EMU_WQE_MMO)
		return;
	if (syndrome)
		count_error(e, q, w, syndrome);
	else if (q->type == EMU_QPT_UD)
		count_sent_datagram(e, q, w);
	else if (atomic_load(&q->dest_func) != EMU_ON_WIRE)
		count_packets(e, q, w);
}

void emu_count_sent_packet(struct engine *e, const struct emu_qp *q, size_t len)
{
	sent(e, q->func, 1, len - BTH_BYTES);
}

void emu_count_arrived_packet(struct engine *e, const struct emu_qp *q, const struct wire_packet *p,
			      bool executed)
{
	received(e, q->func, 1, wire_header_bytes(p->opcode) - BTH_BYTES + p->len);
	if (!executed || !p->op.first)
		return;
	if (p->op.kind == WIRE_KIND_WRITE)
		add(e, q->func, EMU_COUNTER_rx_write_requests, 1);
	else if (p->op.kind == WIRE_KIND_READ)
		add(e, q->func, EMU_COUNTER_rx_read_requests, 1);
	else if (p->op.kind == WIRE_KIND_ATOMIC)
		add(e, q->func, EMU_COUNTER_rx_atomic_requests, 1);
}

void emu_count_datagram(struct engine *e, const struct emu_qp *q, uint64_t len, bool multicast)
{
	add(e, q->func, EMU_COUNTER_port_rcv_packets, 1);
	add(e, q->func,
	    multicast ? EMU_COUNTER_multicast_rcv_packets : EMU_COUNTER_unicast_rcv_packets, 1);
	add(e, q->func, EMU_COUNTER_port_rcv_data, len + FRAME_BYTES + DETH_BYTES);
}

void emu_count_no_buffer(struct engine *e, const struct emu_qp *q, const struct emu_qp *peer)
{
	add(e, peer->func, EMU_COUNTER_out_of_buffer, 1);
	if (emu_qp_reliable(q))
		add(e, q->func, EMU_COUNTER_rnr_nak_retry_err, 1);
}

void emu_count_violation(struct engine *e, const struct emu_qp *q, enum emu_counter id)
{
	add(e, q->func, id, 1);
}

void emu_count_one(struct engine *e, uint32_t func, enum emu_counter id)
{
	add(e, func, id, 1);
}

void emu_count_completion(struct engine *e, const struct emu_cqe *cqe)
{
	bool request = cqe->opcode == EMU_CQE_REQ_ERR;
	uint32_t func;

	if (!cqe->syndrome || cqe->qpn >= EMU_MAX_QPS)
		return;
	func = e->cfg.queues->qp[cqe->qpn].func;
	if (cqe->syndrome == EMU_SYN_FLUSH)
		add(e, func,
		    request ? EMU_COUNTER_req_cqe_flush_error : EMU_COUNTER_resp_cqe_flush_error,
		    1);
	add(e, func, request ? EMU_COUNTER_req_cqe_error : EMU_COUNTER_resp_cqe_error, 1);
	if (!request && cqe->syndrome == EMU_SYN_LOC_LEN)
		add(e, func, EMU_COUNTER_resp_local_length_error, 1);
}
