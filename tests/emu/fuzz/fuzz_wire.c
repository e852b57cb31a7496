/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A queue pair between an input that decides which packets arrive and a program that decides how its
 * calls are answered. Whatever arrives, the queue pair must stay within the memory that it was given,
 * take and complete receives and work requests in order and once, and send packets that it would accept itself.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/wire/icrc.h"
#include "emu/wire/qp.h"

#define RECEIVES 4
#define ROOM	 1000u
#define BURST	 64
#define RKEY	 7u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct wire_qp qp;
static const uint8_t *input;
static size_t left;
static uint64_t now;
static uint64_t posted, finished;
static int receives;
static bool holds;
static bool answering;		   /* with errors and delays */
static struct wire_remote checked; /* by the write that is in progress */

static uint8_t next(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static uint32_t next32(void)
{
	uint32_t value = next();

	value = value << 8 | next();
	value = value << 8 | next();
	return value << 8 | next();
}

static void must(bool condition)
{
	if (!condition)
		abort();
}

static enum wire_answer some_answer(bool later)
{
	enum wire_answer answer =
		answering && next() < 16 ? (enum wire_answer)(next() % 6) : WIRE_DONE;

	if (answer == WIRE_NOT_READY || (answer == WIRE_LATER && !later))
		return WIRE_CANNOT;
	return answer;
}

static enum emu_syndrome on_gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				   uint32_t len)
{
	must(len && len <= WIRE_MAX_MTU && at < wr->len && len <= wr->len - at);
	memset(out, 0x5a, len);
	return answering && next() == 1 ? EMU_SYN_LOC_PROT : EMU_SYN_OK;
}

static enum emu_syndrome on_scatter(void *ctx, const struct wire_wr *wr, uint32_t at,
				    const uint8_t *in, uint32_t len)
{
	static uint8_t sink[WIRE_MAX_MTU];

	must(wr->work >= WIRE_WORK_READ && wr->cookie == finished);
	must(len && at < wr->len && len <= wr->len - at);
	memcpy(sink, in, len);
	return answering && next() == 1 ? EMU_SYN_LOC_PROT : EMU_SYN_OK;
}

static void on_finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	must(finished < posted && wr->cookie == finished);
	finished++;
}

static enum wire_answer on_check_access(void *ctx, enum wire_access access,
					const struct wire_remote *m)
{
	must(m->len <= WIRE_MAX_MESSAGE);
	if (access == WIRE_REMOTE_WRITE)
		checked = *m;
	return m->rkey == RKEY ? some_answer(false) : WIRE_REFUSE_ACCESS;
}

static enum wire_answer on_read(void *ctx, const struct wire_remote *m, uint8_t *out)
{
	must(m->len && m->len <= qp.attr.mtu && m->rkey == RKEY);
	memset(out, 0xa5, m->len);
	return some_answer(false);
}

static enum wire_answer on_write(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	static uint8_t sink[WIRE_MAX_MTU];

	must(m->rkey == RKEY && m->va - checked.va < checked.len &&
	     m->len <= checked.len - (m->va - checked.va));
	memcpy(sink, in, m->len);
	return some_answer(false);
}

static enum wire_answer on_atomic(void *ctx, const struct wire_remote *m, enum wire_work work,
				  uint64_t swap_add, uint64_t compare, uint64_t *original)
{
	must(m->va % 8 == 0 && m->len == 8 && m->rkey == RKEY);
	*original = compare;
	return some_answer(true);
}

static enum wire_answer on_take(void *ctx, uint32_t srqn, uint64_t *room)
{
	must(!holds);
	if (!receives)
		return WIRE_NOT_READY;
	*room = ROOM;
	receives--;
	holds = true;
	return WIRE_DONE;
}

static enum wire_answer on_fill(void *ctx, uint32_t at, const uint8_t *in, uint32_t len)
{
	static uint8_t receive[ROOM];

	must(holds && len && at <= ROOM && len <= ROOM - at);
	memcpy(receive + at, in, len);
	return some_answer(false);
}

static void on_put_back(void *ctx)
{
	must(holds);
	holds = false;
	receives++;
}

static enum wire_answer on_invalidate(void *ctx, uint32_t srqn, uint32_t rkey,
				      enum emu_syndrome *why)
{
	must(holds);
	return some_answer(true);
}

static void on_received(void *ctx, const struct wire_receipt *r)
{
	must(holds);
	must(r->syndrome != EMU_SYN_OK || r->work == WIRE_WORK_WRITE_IMM || r->len <= ROOM);
	holds = false;
}

static int on_receives(void *ctx)
{
	return answering ? receives : -1;
}

static void on_event(void *ctx, enum wire_event event)
{
	must(event <= WIRE_EVENT_SEND_ERROR);
}

static void on_count(void *ctx, enum wire_count what)
{
	must(what < WIRE_COUNT_COUNT);
}

static const struct wire_ops ops = {
	.gather = on_gather,
	.scatter = on_scatter,
	.finished = on_finished,
	.check_access = on_check_access,
	.read = on_read,
	.write = on_write,
	.atomic = on_atomic,
	.take = on_take,
	.fill = on_fill,
	.put_back = on_put_back,
	.invalidate = on_invalidate,
	.received = on_received,
	.receives = on_receives,
	.event = on_event,
	.count = on_count,
};

static void open_qp(void)
{
	static const enum wire_service services[] = {WIRE_RC, WIRE_UC, WIRE_XRC, WIRE_RC};
	uint8_t way = next();
	struct wire_attr attr = {
		.service = services[way & 3],
		.qpn = 1,
		.dest_qpn = 2,
		.mtu = 256u << (way >> 2 & 3),
		.pkey = 0xffff,
		.sq_psn = way & 0x80 ? 0xfffffe : 0,
		.rq_psn = way & 0x40 ? 0xfffffe : 0,
		.timeout = 8,
		.retry_cnt = 3,
		.rnr_retry = 3,
		.max_rd_atomic = 2,
		.max_dest_rd_atomic = next() % (WIRE_REPLIES + 2),
		.window = 16,
	};

	answering = way & 0x10;
	now = 1;
	posted = finished = 0;
	receives = RECEIVES;
	holds = false;
	wire_qp_open(&qp, &attr, &ops, NULL);
}

/* What was built from a parsed packet is parsed again, and built to the same bytes. */
static void check_codec(const uint8_t *bytes, const struct wire_packet *p)
{
	uint8_t whole[WIRE_MAX_PACKET] = {0};
	uint8_t again[WIRE_MAX_HEADERS];
	struct wire_packet q;
	size_t len = wire_build(p, whole);

	must(p->payload == bytes + len);
	must(wire_parse(whole, len + ((p->len + 3) & ~3u) + WIRE_ICRC, &q) == WIRE_ACCEPTED);
	must(q.opcode == p->opcode && q.psn == p->psn && q.dest_qpn == p->dest_qpn);
	must(q.len == p->len && q.payload == whole + len);
	must(wire_build(&q, again) == len && !memcmp(again, whole, len));
}

static void arrive(const uint8_t *bytes, size_t len)
{
	struct wire_path from = {.tclass = next() & 3};
	struct wire_packet p;

	if (wire_parse(bytes, len, &p) != WIRE_ACCEPTED)
		return;
	check_codec(bytes, &p);
	(void)wire_qp_input(&qp, now, &from, &p);
}

/* Bytes as they are; the copy ends where the packet does, so that a read behind it is found. */
static void arrive_raw(void)
{
	size_t len = (size_t)(next() << 8 | next()) % (WIRE_MAX_PACKET + 8);
	uint8_t *bytes = calloc(1, len ? len : 1);

	must(bytes);
	for (size_t i = 0; i < len && i < 64; i++)
		bytes[i] = next();
	arrive(bytes, len);
	free(bytes);
}

/* A packet that is close to those that may arrive. */
static void arrive_likely(void)
{
	uint8_t how = next();
	uint8_t bytes[WIRE_MAX_PACKET] = {0};
	uint32_t base = how & 1 ? qp.requester.una : qp.responder.epsn;
	static const uint32_t lens[] = {0, 1, 8, 255, 256, 512, 1024, 2048};
	struct wire_packet p = {
		.opcode = (uint8_t)(qp.attr.service | next() % WIRE_OPERATIONS),
		.pkey = 0xffff,
		.dest_qpn = 1,
		.psn = base + (how & 2 ? (uint32_t)(int8_t)next() : 0),
		.ack_req = how & 4,
		.va = (uint64_t)next() * 4,
		.rkey = how & 0x80 ? next() : RKEY,
		.dma_len = how & 8 ? next32() : lens[next() % 8] + next() * 8u,
		.syndrome = how & 0x10 ? next() : 0x1f,
		.msn = how & 0x10 ? next() : 0,
		.srqn = next() & 1,
		.len = lens[next() % 8],
	};
	struct wire_opcode o = wire_opcode(p.opcode);

	if (how & 0x20)
		p.len = o.last ? next() : qp.attr.mtu;
	if (!o.payload)
		p.len = 0;
	if (how & 0x40 && o.kind == WIRE_KIND_WRITE && o.first && o.last)
		p.dma_len = p.len;
	arrive(bytes, wire_build(&p, bytes) + ((p.len + 3) & ~3u) + WIRE_ICRC);
}

static void post(void)
{
	struct wire_wr wr = {
		.cookie = posted,
		.work = next() % (WIRE_WORK_FETCH_ADD + 1),
		.fence = next() & 1,
		.len = next() * 16u,
	};

	if (qp.attr.service == WIRE_UC &&
	    (wr.work >= WIRE_WORK_READ || wr.work == WIRE_WORK_SEND_INV))
		wr.work = WIRE_WORK_WRITE_IMM;
	if (wr.work > WIRE_WORK_READ)
		wr.len = 8;
	if (wr.work == WIRE_WORK_READ && next() == 0)
		wr.len = WIRE_MAX_MESSAGE;
	posted++;
	if (!wire_qp_post(&qp, &wr))
		posted--;
}

static void send_all(void)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet p;
	size_t len;

	for (unsigned int i = 0; i < BURST; i++) {
		len = wire_qp_output(&qp, now, bytes);
		if (!len)
			return;
		must(len <= WIRE_MAX_PACKET - WIRE_ICRC);
		len = wire_seal(&qp.attr.path, bytes, len);
		must(wire_icrc_is_right(&qp.attr.path, bytes, len));
		must(wire_parse(bytes, len, &p) == WIRE_ACCEPTED);
		must(p.dest_qpn == 2 && p.pkey == 0xffff);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = data;
	left = size;
	open_qp();
	while (left) {
		switch (next() % 8) {
		case 0:
			arrive_raw();
			break;
		case 1:
			post();
			break;
		case 2:
			send_all();
			break;
		case 3:
			now += next() * 8192ull;
			break;
		case 4:
			receives = RECEIVES;
			break;
		default:
			arrive_likely();
			break;
		}
	}
	wire_qp_fail(&qp);
	must(finished == posted && !holds);
	return 0;
}
