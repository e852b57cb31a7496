/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */

#include "emu/engine/capture.h"
#include "emu/engine/conn.h"
#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/datagram.h"
#include "emu/engine/net.h"
#include "emu/engine/state.h"
#include "emu/wire/icrc.h"

/* In execution here, with CQs that may be written. */
static bool is_served(struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];

	return emu_engine_refresh(e, qpn) && q->engine == e->cfg.slot &&
	       !emu_cq_frozen(e, q->send_cqn) && !emu_cq_frozen(e, q->recv_cqn);
}

static enum wire_drop deliver(struct engine *e, const struct wire_path *from,
			      const struct wire_packet *p)
{
	uint32_t qpn = p->dest_qpn;
	struct emu_conn *c;

	if (qpn >= EMU_MAX_QPS || !is_served(e, qpn))
		return WIRE_DROP_QPN;
	if (e->cfg.queues->qp[qpn].type == EMU_QPT_UD)
		return emu_datagram_input(e, qpn, from, p);
	c = emu_conn_of(e, qpn);
	return c ? emu_conn_input(c, from, p) : WIRE_DROP_STATE;
}

static enum wire_drop handle(struct engine *e, const struct wire_path *from, const uint8_t *bytes,
			     size_t len)
{
	enum wire_drop drop;
	struct wire_packet p;

	if (len < WIRE_BTH + WIRE_ICRC)
		return WIRE_DROP_SHORT;
	if (len > WIRE_MAX_PACKET)
		return WIRE_DROP_LONG;
	if (!wire_icrc_is_right(from, bytes, len)) {
		emu_count_one(e, emu_net_func(e, from->dst), EMU_COUNTER_rx_icrc_encapsulated);
		return WIRE_DROP_ICRC;
	}
	drop = wire_parse(bytes, len, &p);
	return drop == WIRE_ACCEPTED ? deliver(e, from, &p) : drop;
}

static void arrive(struct engine *e, const struct wire_path *from, const uint8_t *bytes, size_t len)
{
	emu_capture_received(e, from, bytes, len, handle(e, from, bytes, len));
}

/*
 * Completions become visible before the peer is told of them. A program that waits for one can begin while this thread
 * sends the answer; while more packets wait, it would wake too often.
 */
static void answer(struct engine *e, bool last)
{
	uint32_t qpn = e->conns.answering;
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];

	emu_cq_publish(e);
	if (last && qpn) {
		emu_cq_notify(e, q->recv_cqn);
		emu_cq_notify(e, q->send_cqn);
	}
	emu_conn_answer(e);
	emu_net_flush(e);
}

void emu_arrivals(struct engine *e)
{
	emu_net_receive(e, arrive, answer);
}
