/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/capture.h"

#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/engine/conn.h"
#include "emu/engine/net.h"
#include "emu/engine/notes.h"
#include "emu/wire/icrc.h"
#include "emu/wire/work.h"

#define TIMEOUT_NS 50000000u

_Static_assert(EMU_PACKET_MAX == WIRE_MAX_PACKET, "a record holds any packet");

static uint64_t now_realtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return timespec_ns(&t);
}

void emu_capture_path(struct emu_note_packet *n, const struct wire_path *path)
{
	memcpy(n->src, path->src, sizeof(n->src));
	memcpy(n->dst, path->dst, sizeof(n->dst));
	n->sport = path->sport;
	n->dport = path->dport;
	n->id = path->id;
	n->tclass = path->tclass;
	n->hop_limit = path->hop_limit;
	n->flow_label = path->flow_label;
	if (path->may_fragment)
		n->flags |= EMU_PACKET_MAY_FRAGMENT;
}

/* Wait until the server has taken most of what was sent; false: it does not. */
static bool wait_for_server(const struct engine *e)
{
	struct pollfd p = {.fd = e->cfg.notify_fd, .events = POLLOUT};
	const struct timespec limit = {.tv_nsec = TIMEOUT_NS};

	return syscall(SYS_ppoll, &p, 1ul, &limit, NULL, 8ul) > 0;
}

/* After a loss it does not wait again before a record was sent. */
void emu_capture_send(struct engine *e, struct emu_note_packet *n)
{
	size_t len = offsetof(struct emu_note_packet, bytes) + n->kept;

	n->time = now_realtime();
	n->lost = e->lost.capture;
	while (!emu_engine_record(e, n, len)) {
		if (e->lost.capture || !wait_for_server(e)) {
			e->lost.capture++;
			return;
		}
	}
	e->lost.capture = 0;
}

static void put_bytes(struct emu_note_packet *n, const uint8_t *bytes, size_t len)
{
	n->len = (uint32_t)len;
	n->kept = n->len < EMU_PACKET_MAX ? n->len : EMU_PACKET_MAX;
	memcpy(n->bytes, bytes, n->kept);
}

static void put_request(struct emu_note_packet *n, enum wire_work work, uint16_t wqe,
			uint64_t total)
{
	n->flags |= EMU_PACKET_WR;
	n->work = (uint8_t)work;
	n->wqe = wqe;
	n->total = total;
}

/* The work request of this queue pair to which a packet of a connection belongs. */
static void find_request(const struct engine *e, struct emu_note_packet *n, uint32_t psn)
{
	const struct wire_wr *wr = emu_conn_request(e, n->note.number, psn);

	if (wr)
		put_request(n, (enum wire_work)wr->work, (uint16_t)wr->cookie, wr->len);
}

static void put_queue_pair(const struct engine *e, struct emu_note_packet *n, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];

	n->note.number = qpn;
	n->note.serial = atomic_load(&q->serial);
	n->func = q->func;
}

void emu_capture_sent(struct engine *e, uint32_t qpn, const struct wire_path *path,
		      const uint8_t *bytes, size_t len)
{
	struct emu_note_packet n;
	struct wire_packet p;

	if (!emu_captures(e, EMU_CAPTURE_WIRE))
		return;
	memset(&n, 0, offsetof(struct emu_note_packet, bytes));
	n.note.type = EMU_NOTE_PACKET;
	n.flags = EMU_PACKET_SENT;
	put_queue_pair(e, &n, qpn);
	emu_capture_path(&n, path);
	put_bytes(&n, bytes, len);
	if (wire_parse(bytes, len, &p) == WIRE_ACCEPTED && wire_kind_is_request(p.op.kind)) {
		if (WIRE_SERVICE(p.opcode) != WIRE_UD)
			find_request(e, &n, p.psn);
		else
			put_request(&n,
				    p.op.headers & WIRE_H_IMM ? WIRE_WORK_SEND_IMM : WIRE_WORK_SEND,
				    e->qp_run[qpn].sq_ci, p.len);
	}
	emu_capture_send(e, &n);
}

static bool is_own(const struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];

	return qpn < EMU_MAX_QPS && atomic_load(&q->serial) && q->engine == e->cfg.slot;
}

void emu_capture_received(struct engine *e, const struct wire_path *from, const uint8_t *bytes,
			  size_t len, enum wire_drop drop)
{
	struct wire_path path = *from;
	struct emu_note_packet n;
	struct wire_packet p;

	if (!emu_captures(e, EMU_CAPTURE_WIRE))
		return;
	memset(&n, 0, offsetof(struct emu_note_packet, bytes));
	n.note.type = EMU_NOTE_PACKET;
	n.drop = (uint8_t)drop;
	n.func = emu_net_func(e, from->dst);
	wire_icrc_reveal(&path, bytes, len);
	emu_capture_path(&n, &path);
	put_bytes(&n, bytes, len);
	if (drop != WIRE_DROP_ICRC && wire_parse(bytes, len, &p) == WIRE_ACCEPTED &&
	    is_own(e, p.dest_qpn)) {
		put_queue_pair(e, &n, p.dest_qpn);
		if (p.op.kind >= WIRE_KIND_READ_RESPONSE && p.op.kind <= WIRE_KIND_ATOMIC_ACK)
			find_request(e, &n, p.psn);
	}
	emu_capture_send(e, &n);
}
