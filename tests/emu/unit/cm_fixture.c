/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cm_fixture.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "cm_free.h"

#define MAX_QUEUE 64

struct machine cm_a, cm_b;
uint64_t cm_clock;
enum delivery (*cm_deliver)(const struct emu_cm_msg *m);
unsigned int cm_sent[EMU_CM_ATTRS];

static struct {
	struct machine *to;
	uint8_t mad[EMU_MAD_BYTES];
} queue[MAX_QUEUE];
static unsigned int nqueue;
static uint32_t next_qpn;

static struct machine *peer_of(const struct machine *m)
{
	return m == &cm_a ? &cm_b : &cm_a;
}

static void put(struct machine *to, const uint8_t *mad)
{
	assert_true(nqueue < MAX_QUEUE);
	queue[nqueue].to = to;
	memcpy(queue[nqueue++].mad, mad, EMU_MAD_BYTES);
}

static void on_send(void *ctx, const struct emu_cm_path *path, const uint8_t mad[EMU_MAD_BYTES])
{
	struct machine *from = ctx, *to = peer_of(from);
	struct emu_cm_msg m;
	enum delivery delivery;

	assert_int_equal(emu_cm_decode(mad, &m), 0);
	assert_memory_equal(path->sgid, from->gid, 16);
	assert_memory_equal(path->dgid, to->gid, 16);
	cm_sent[m.attr - EMU_CM_REQ]++;
	delivery = cm_deliver ? cm_deliver(&m) : DELIVER;
	if (delivery == LOSE)
		return;
	put(to, mad);
	if (delivery == DUPLICATE)
		put(to, mad);
}

static uint64_t on_now(void *ctx)
{
	return cm_clock;
}

static void on_wake(void *ctx, uint64_t when)
{
	((struct machine *)ctx)->wake = when;
}

static bool on_listens(void *ctx, const struct emu_cm_path *path, uint64_t service_id)
{
	const struct machine *m = ctx;

	assert_memory_equal(path->sgid, m->gid, 16);
	return m->listens && service_id == SERVICE;
}

static int on_event(void *ctx, struct emu_cm_conn *c, const struct emu_cm_event *e)
{
	struct machine *m = ctx;

	assert_true(m->nevents < MAX_EVENTS);
	m->event[m->nevents].type = e->type;
	m->event[m->nevents].conn = c;
	m->event[m->nevents].has_msg = e->msg;
	if (e->msg)
		m->event[m->nevents].msg = *e->msg;
	m->nevents++;
	return m->verdict;
}

static uint64_t on_guid(void *ctx, const struct emu_func *port)
{
	return ctx == &cm_a ? 0xa1a2a3a4a5a6a7a8 : 0xb1b2b3b4b5b6b7b8;
}

static const struct emu_cm_ops ops = {on_send, on_now, on_wake, on_listens, on_event, on_guid};

static void start(struct machine *m, uint8_t last)
{
	memset(m, 0, sizeof(*m));
	m->gid[10] = m->gid[11] = 0xff;
	m->gid[12] = 127;
	m->gid[15] = last;
	m->listens = true;
	m->wake = UINT64_MAX;
	m->cm = emu_cm_new(&ops, m);
	assert_non_null(m->cm);
}

int cm_setup(void **state)
{
	start(&cm_a, 1);
	start(&cm_b, 2);
	/* The two sides' IDs differ, so that a mix-up shows. */
	emu_cm_conn_destroy(emu_cm_conn_new(cm_b.cm, NULL));
	cm_clock = 1000;
	cm_deliver = NULL;
	nqueue = 0;
	next_qpn = 0x100;
	memset(cm_sent, 0, sizeof(cm_sent));
	return 0;
}

int cm_teardown(void **state)
{
	cm_free(cm_a.cm);
	cm_free(cm_b.cm);
	return 0;
}

struct emu_cm_path cm_path_from(const struct machine *m)
{
	struct emu_cm_path p = {
		.pkey = 0xffff, .mtu = 5, .rate = 18, .hop_limit = 64, .packet_life_time = 16};

	memcpy(p.sgid, m->gid, 16);
	memcpy(p.dgid, peer_of(m)->gid, 16);
	return p;
}

void cm_deliver_all(void)
{
	struct emu_cm_path path;
	struct machine *to;
	uint8_t mad[EMU_MAD_BYTES];

	while (nqueue) {
		to = queue[0].to;
		path = cm_path_from(to);
		memcpy(mad, queue[0].mad, sizeof(mad));
		memmove(queue, queue + 1, --nqueue * sizeof(queue[0]));
		emu_cm_receive(to->cm, &path, mad);
	}
}

bool cm_next_deadline(void)
{
	uint64_t when = cm_a.wake < cm_b.wake ? cm_a.wake : cm_b.wake;

	if (when == UINT64_MAX)
		return false;
	if (when > cm_clock)
		cm_clock = when;
	emu_cm_expire(cm_a.cm);
	emu_cm_expire(cm_b.cm);
	cm_deliver_all();
	return true;
}

void cm_inject(struct machine *m, const struct emu_cm_msg *msg)
{
	uint8_t mad[EMU_MAD_BYTES];

	assert_int_equal(emu_cm_encode(msg, mad), 0);
	put(m, mad);
	cm_deliver_all();
}

struct emu_cm_conn *cm_expect(struct machine *m, enum emu_cm_event_type type)
{
	assert_true(m->seen < m->nevents);
	assert_int_equal(m->event[m->seen].type, type);
	return m->event[m->seen++].conn;
}

const struct emu_cm_msg *cm_last_msg(const struct machine *m)
{
	assert_true(m->seen && m->event[m->seen - 1].has_msg);
	return &m->event[m->seen - 1].msg;
}

void cm_expect_nothing(const struct machine *m)
{
	assert_int_equal(m->seen, m->nevents);
}

struct emu_cm_conn *cm_connect(const void *data, size_t len)
{
	const struct emu_cm_req_param p = {
		.service_id = SERVICE,
		.qpn = next_qpn++,
		.psn = 0x123456,
		.qp_type = IB_UVERBS_QPT_RC,
		.responder_resources = 3,
		.initiator_depth = 4,
		.retry_count = 6,
		.rnr_retry_count = 5,
		.local_response_timeout = 20,
		.remote_response_timeout = 20,
		.max_cm_retries = 15,
		.ece_vendor_id = 0xabcdef,
		.ece_attr_mod = 0x76543210,
	};
	const struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *c = emu_cm_conn_new(cm_a.cm, NULL);

	assert_non_null(c);
	assert_int_equal(emu_cm_send_req(c, &path, &p, data, len), 0);
	cm_deliver_all();
	return c;
}

int cm_reply(struct emu_cm_conn *c, const void *data, size_t len)
{
	const struct emu_cm_rep_param p = {
		.qpn = next_qpn++,
		.psn = 0x654321,
		.responder_resources = 1,
		.initiator_depth = 2,
		.rnr_retry_count = 7,
		.ece_vendor_id = 0x123456,
		.ece_attr_mod = 0x89abcdef,
	};
	int err = emu_cm_send_rep(c, &p, data, len);

	cm_deliver_all();
	return err;
}

void cm_establish(struct emu_cm_conn **a, struct emu_cm_conn **b)
{
	*a = cm_connect(NULL, 0);
	*b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(cm_reply(*b, NULL, 0), 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_send_rtu(*a, NULL, 0), 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_RTU_RECEIVED);
	assert_int_equal(emu_cm_state(*a), EMU_CM_ESTABLISHED);
	assert_int_equal(emu_cm_state(*b), EMU_CM_ESTABLISHED);
}
