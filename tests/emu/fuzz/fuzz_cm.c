/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two connection managers between which the input decides: what each program does, which messages are
 * lost, duplicated, late or falsified, and when time passes. A message must survive decoding and
 * encoding, no connection may be touched after its end, and the last one's end must leave no deadline.
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "emu/server/cm/cm.h"
#include "emu/unit/cm_free.h"

#define MAX_CONNS 8
#define MAX_QUEUE 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct side {
	struct emu_cm *cm;
	uint8_t gid[16];
	uint64_t wake;
	struct emu_cm_conn *conn[MAX_CONNS];
	int verdict;
};

static struct side sides[2];
static uint64_t now;
static struct {
	unsigned int to;
	uint8_t mad[EMU_MAD_BYTES];
} queue[MAX_QUEUE];
static unsigned int nqueue;
static const uint8_t *input;
static size_t left;

static uint8_t next(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static void must(bool condition)
{
	if (!condition)
		abort();
}

static struct emu_cm_path path_from(unsigned int side)
{
	struct emu_cm_path p = {.pkey = 0xffff, .mtu = 3, .packet_life_time = 16};

	memcpy(p.sgid, sides[side].gid, 16);
	memcpy(p.dgid, sides[!side].gid, 16);
	return p;
}

static void on_send(void *ctx, const struct emu_cm_path *path, const uint8_t mad[EMU_MAD_BYTES])
{
	unsigned int to = ctx == &sides[0];
	uint8_t again[EMU_MAD_BYTES];
	struct emu_cm_msg m;

	must(!emu_cm_decode(mad, &m) && !emu_cm_encode(&m, again));
	must(!memcmp(mad, again, sizeof(again)));
	if (nqueue == MAX_QUEUE)
		return;
	queue[nqueue].to = to;
	memcpy(queue[nqueue++].mad, mad, EMU_MAD_BYTES);
}

static uint64_t on_now(void *ctx)
{
	return now;
}

static void on_wake(void *ctx, uint64_t when)
{
	must(when != ((struct side *)ctx)->wake);
	((struct side *)ctx)->wake = when;
}

static bool on_listens(void *ctx, const struct emu_cm_path *path, uint64_t service_id)
{
	return service_id != 0;
}

static unsigned int slot_of(const struct side *s, const struct emu_cm_conn *c)
{
	unsigned int i;

	for (i = 0; i < MAX_CONNS && s->conn[i] != c; i++)
		continue;
	return i;
}

/* Every connection that the CM reports is known, or new. A program that is full refuses new ones. */
static int on_event(void *ctx, struct emu_cm_conn *c, const struct emu_cm_event *e)
{
	bool new = e->type == EMU_CM_REQ_RECEIVED || e->type == EMU_CM_SIDR_REQ_RECEIVED;
	struct side *s = ctx;
	unsigned int slot = slot_of(s, new ? NULL : c);

	must(new || slot < MAX_CONNS);
	if (slot == MAX_CONNS)
		return -1;
	s->conn[slot] = s->verdict == -12 || s->verdict == 1 ? NULL : c;
	if (s->verdict == 2) {
		s->conn[slot] = NULL;
		emu_cm_conn_destroy(c);
		return 0;
	}
	return s->verdict == 3 ? 0 : s->verdict;
}

static uint64_t on_guid(void *ctx, const struct emu_func *port)
{
	return ctx == &sides[0] ? 1 : 2;
}

static const struct emu_cm_ops ops = {on_send, on_now, on_wake, on_listens, on_event, on_guid};

static void deliver(unsigned int i, bool keep)
{
	struct emu_cm_path path;
	uint8_t mad[EMU_MAD_BYTES];
	unsigned int to;

	if (!nqueue)
		return;
	i %= nqueue;
	to = queue[i].to;
	path = path_from(to);
	memcpy(mad, queue[i].mad, sizeof(mad));
	if (!keep)
		memmove(queue + i, queue + i + 1, (--nqueue - i) * sizeof(queue[0]));
	emu_cm_receive(sides[to].cm, &path, mad);
}

static void falsify(void)
{
	if (nqueue)
		queue[next() % nqueue].mad[next()] = next();
}

static void pass_time(void)
{
	uint64_t when = sides[0].wake < sides[1].wake ? sides[0].wake : sides[1].wake;

	if (when != UINT64_MAX && when > now)
		now = when;
	emu_cm_expire(sides[0].cm);
	emu_cm_expire(sides[1].cm);
	must(sides[0].wake > now && sides[1].wake > now);
}

static void connect_or_ask(unsigned int side, unsigned int slot, bool ask)
{
	const struct emu_cm_req_param p = {
		.service_id = next() & 1,
		.qpn = next(),
		.qp_type = next() & 7 ? IB_UVERBS_QPT_RC : IB_UVERBS_QPT_XRC_INI,
		.max_cm_retries = next() & 3,
		.local_response_timeout = next() & 31,
	};
	const struct emu_cm_path path = path_from(side);
	struct side *s = &sides[side];
	uint8_t data[256] = {1, 2, 3};

	if (!s->conn[slot])
		s->conn[slot] = emu_cm_conn_new(s->cm, s);
	if (!s->conn[slot])
		return;
	if (ask)
		emu_cm_send_sidr_req(s->conn[slot], &path, p.service_id, next(), p.max_cm_retries,
				     data, next());
	else
		emu_cm_send_req(s->conn[slot], &path, &p, data, next() & 127);
}

static void send_one(struct emu_cm_conn *c, unsigned int what)
{
	const struct emu_cm_rep_param rep = {.qpn = next(), .responder_resources = 1};
	const struct emu_cm_sidr_rep_param answer = {.qpn = next(), .qkey = 7};
	struct ib_uverbs_qp_attr attr;
	uint8_t data[256] = {4, 5, 6};

	switch (what) {
	case 0:
		emu_cm_send_rep(c, &rep, data, next());
		break;
	case 1:
		emu_cm_send_rtu(c, data, next());
		break;
	case 2:
		emu_cm_send_rej(c, next(), data, next() & 127, data, next());
		break;
	case 3:
		emu_cm_send_mra(c, next() & 31, next() & 1, data, next());
		break;
	case 4:
		emu_cm_send_dreq(c, data, next());
		break;
	case 5:
		emu_cm_send_drep(c, data, next());
		break;
	case 6:
		emu_cm_notify_established(c);
		break;
	case 7:
		emu_cm_send_sidr_rep(c, &answer, data, next());
		break;
	default:
		emu_cm_qp_attr(c, next() & 7, &attr);
	}
}

static void act(void)
{
	unsigned int what = next(), side = what & 1, slot = next() % MAX_CONNS;
	struct side *s = &sides[side];

	what >>= 1;
	if (what < 20)
		deliver(next(), what & 1);
	else if (what < 24)
		pass_time();
	else if (what < 30)
		falsify();
	else if (what < 40)
		connect_or_ask(side, slot, what & 1);
	else if (what < 44)
		nqueue -= nqueue > 0; /* lost */
	else if (what < 48)
		s->verdict = (const int[]){0, -12, 1, 2}[next() & 3];
	else if (!s->conn[slot])
		return;
	else if (what < 52) {
		emu_cm_conn_destroy(s->conn[slot]);
		s->conn[slot] = NULL;
	} else {
		send_one(s->conn[slot], what % 9);
	}
}

static void start(unsigned int i)
{
	struct side *s = &sides[i];

	memset(s, 0, sizeof(*s));
	s->wake = UINT64_MAX;
	s->gid[15] = (uint8_t)(i + 1);
	s->cm = emu_cm_new(&ops, s);
	must(s->cm);
}

/* When a program has destroyed its connections, nothing of it is left. */
static void end(unsigned int i, bool politely)
{
	struct side *s = &sides[i];

	for (unsigned int n = 0; politely && n < MAX_CONNS; n++)
		if (s->conn[n])
			emu_cm_conn_destroy(s->conn[n]);
	must(!politely || s->wake == UINT64_MAX);
	cm_free(s->cm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = data;
	left = size;
	now = 1;
	nqueue = 0;
	start(0);
	start(1);
	while (left)
		act();
	end(0, size & 1);
	end(1, size & 1);
	return 0;
}
