/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Work requests, right and wrong ones of each kind: their completions, the states of the queue pairs, and events. */
#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "base/array.h"

#define LENGTH	 64u
#define ROOM	 8192u
#define PORT	 1
#define Q_KEY	 0x1234u
#define PSN	 7u
#define BAD_KEY	 0xdead00u
#define LAST	 99u   /* the work request that is flushed after all others */
#define LIMIT_MS 60000 /* only how long to wait for what does not come */

enum side { REQUESTER, RESPONDER, SIDES };

static const char *const side_names[] = {"requester", "responder"};

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd, *other_pd;
	struct ibv_cq *cq[SIDES];
	struct ibv_qp *qp[SIDES];
	struct ibv_mr *mr, *weak,
		*foreign;      /* of the memory: with all rights, with none, of the other domain */
	struct ibv_srq *empty; /* its limit is reached as soon as there is one */
	struct ibv_ah *ah;
	union ibv_gid gid;
	uint8_t gid_index;
} card;

static _Alignas(4096) uint8_t memory[SIDES][ROOM];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- one try ---------------------------------------------------------------------------------- */

/* What a request is made of, before it is posted. */
struct
try {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_recv_wr receive;
	struct ibv_sge place; /* of the receive */
	bool without_receive;
	unsigned int access;	 /* of the responder's queue pair */
	uint32_t q_key;		 /* of the responder's */
	enum ibv_qp_state state; /* of the responder */
};

enum needs {
	ANY = 1,
	RECEIVE = 2,
	REMOTE = 4,
	ATOMIC = 8,
	LOCAL_WRITE = 16,
	DATAGRAM = 32,
	INVALIDATE = 64
};

struct kind_of_request {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int has; /* enum needs */
};

static const struct kind_of_request requests[] = {
	{"send", IBV_WR_SEND, ANY | RECEIVE},
	{"send with immediate", IBV_WR_SEND_WITH_IMM, ANY | RECEIVE},
	{"send with invalidate", IBV_WR_SEND_WITH_INV, ANY | RECEIVE | INVALIDATE},
	{"write", IBV_WR_RDMA_WRITE, ANY | REMOTE},
	{"write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, ANY | REMOTE | RECEIVE},
	{"read", IBV_WR_RDMA_READ, ANY | REMOTE | LOCAL_WRITE},
	{"compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, ANY | REMOTE | ATOMIC | LOCAL_WRITE},
	{"fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, ANY | REMOTE | ATOMIC | LOCAL_WRITE},
};

static void nothing(struct try *t)
{
	(void)t;
}

static void empty(struct try *t)
{
	t->wr.num_sge = 0;
}

static void inlined(struct try *t)
{
	t->wr.send_flags |= IBV_SEND_INLINE;
}

static void solicited(struct try *t)
{
	t->wr.send_flags |= IBV_SEND_SOLICITED;
}

static void fenced(struct try *t)
{
	t->wr.send_flags |= IBV_SEND_FENCE;
}

static void missing_lkey(struct try *t)
{
	t->sge.lkey = BAD_KEY;
}

static void foreign_lkey(struct try *t)
{
	t->sge.lkey = card.foreign->lkey;
}

static void weak_lkey(struct try *t)
{
	t->sge.lkey = card.weak->lkey;
}

static void local_end(struct try *t)
{
	t->sge.addr = (uintptr_t)memory[REQUESTER] + SIDES * ROOM - LENGTH / 2;
}

static void missing_rkey(struct try *t)
{
	t->wr.wr.rdma.rkey = BAD_KEY;
}

static void foreign_rkey(struct try *t)
{
	t->wr.wr.rdma.rkey = card.foreign->rkey;
}

static void weak_rkey(struct try *t)
{
	t->wr.wr.rdma.rkey = card.weak->rkey;
}

static void remote_end(struct try *t)
{
	t->wr.wr.rdma.remote_addr = (uintptr_t)memory[RESPONDER] + ROOM - 4;
}

static void atomic_missing_rkey(struct try *t)
{
	t->wr.wr.atomic.rkey = BAD_KEY;
}

static void atomic_weak_rkey(struct try *t)
{
	t->wr.wr.atomic.rkey = card.weak->rkey;
}

static void atomic_end(struct try *t)
{
	t->wr.wr.atomic.remote_addr = (uintptr_t)memory[RESPONDER] + ROOM;
}

static void atomic_between(struct try *t)
{
	t->wr.wr.atomic.remote_addr += 4;
}

static void atomic_short(struct try *t)
{
	t->sge.length = 4;
}

static void without_rights(struct try *t)
{
	t->access = 0;
}

static void without_receive(struct try *t)
{
	t->without_receive = true;
}

static void short_receive(struct try *t)
{
	t->place.length = LENGTH / 2;
}

static void receive_without_room(struct try *t)
{
	t->receive.num_sge = 0;
}

static void receive_missing_lkey(struct try *t)
{
	t->place.lkey = BAD_KEY;
}

static void receive_weak_lkey(struct try *t)
{
	t->place.lkey = card.weak->lkey;
}

static void receive_end(struct try *t)
{
	t->place.addr = (uintptr_t)memory[RESPONDER] + ROOM - LENGTH / 2;
}

static void in_error(struct try *t)
{
	t->state = IBV_QPS_ERR;
}

static void in_init(struct try *t)
{
	t->state = IBV_QPS_INIT;
}

static void other_q_key(struct try *t)
{
	t->q_key = Q_KEY + 1;
}

static void two_entries(struct try *t)
{
	static struct ibv_sge both[2];

	both[0] = both[1] = t->sge;
	both[0].length = LENGTH / 2;
	both[1].addr += LENGTH / 2;
	both[1].length -= LENGTH / 2;
	t->wr.sg_list = both;
	t->wr.num_sge = 2;
}

static const struct change {
	const char *name;
	void (*make)(struct try *t);
	unsigned int needs; /* all of these */
	unsigned int not ;
} changes[] = {
	{"as it should be", nothing, ANY, 0},
	{"without data", empty, ANY, ATOMIC},
	{"inline", inlined, ANY, LOCAL_WRITE},
	{"of two entries", two_entries, ANY, ATOMIC},
	{"solicited", solicited, RECEIVE, 0},
	{"fenced", fenced, ANY, DATAGRAM},
	{"lkey missing", missing_lkey, ANY, 0},
	{"lkey of another domain", foreign_lkey, ANY, 0},
	{"lkey without rights", weak_lkey, ANY, 0},
	{"beyond the end of the lkey", local_end, ANY, ATOMIC},
	{"rkey missing", missing_rkey, REMOTE, ATOMIC},
	{"rkey of another domain", foreign_rkey, REMOTE, ATOMIC},
	{"rkey without rights", weak_rkey, REMOTE, ATOMIC},
	{"beyond the end of the rkey", remote_end, REMOTE, ATOMIC},
	{"rkey missing", atomic_missing_rkey, ATOMIC, 0},
	{"rkey without rights", atomic_weak_rkey, ATOMIC, 0},
	{"beyond the end of the rkey", atomic_end, ATOMIC, 0},
	{"between two words", atomic_between, ATOMIC, 0},
	{"result too short", atomic_short, ATOMIC, 0},
	{"queue pair without rights", without_rights, REMOTE, 0},
	{"without a receive", without_receive, RECEIVE, 0},
	{"receive too short", short_receive, RECEIVE, REMOTE},
	{"receive without room", receive_without_room, RECEIVE, 0},
	{"receive with a missing lkey", receive_missing_lkey, RECEIVE, 0},
	{"receive with an lkey without rights", receive_weak_lkey, RECEIVE, 0},
	{"receive beyond the end of its lkey", receive_end, RECEIVE, 0},
	{"responder in error", in_error, ANY, 0},
	{"responder in init", in_init, ANY, 0},
	{"responder with another Q_Key", other_q_key, DATAGRAM, 0},
};

static const struct service {
	const char *name;
	enum ibv_qp_type type;
	unsigned int lacks; /* enum needs */
} services[] = {
	{"rc", IBV_QPT_RC, DATAGRAM},
	{"uc", IBV_QPT_UC, DATAGRAM | LOCAL_WRITE | INVALIDATE},
	{"ud", IBV_QPT_UD, REMOTE | INVALIDATE},
};

/* --- queue pairs ------------------------------------------------------------------------------ */

static bool is_datagram(const struct service *s)
{
	return s->type == IBV_QPT_UD;
}

static void make_qp(const struct service *s, enum side side)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = card.cq[side],
		.recv_cq = card.cq[side],
		.qp_type = s->type,
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = LENGTH},
	};

	card.qp[side] = ibv_create_qp(card.pd, &attr);
}

static int to_init(struct ibv_qp *qp, unsigned int access, uint32_t q_key)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_access_flags = access;
	attr.qkey = q_key;
	return ibv_modify_qp(
		qp, &attr, mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static struct ibv_ah_attr path(void)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = PORT};

	a.grh.dgid = card.gid;
	a.grh.sgid_index = card.gid_index;
	a.grh.hop_limit = 1;
	return a;
}

static int to_rtr(struct ibv_qp *qp, uint32_t remote)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = remote,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.ah_attr = path(),
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

/* One attempt: what is not answered or not received fails at once. */
static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 17,
		.max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

static int to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int connect_both(const struct try *t)
{
	struct ibv_qp *a = card.qp[REQUESTER], *b = card.qp[RESPONDER];
	int err = to_init(a, 0, Q_KEY);

	if (!err)
		err = to_init(b, t->access, t->q_key);
	if (!err)
		err = to_rtr(a, b->qp_num);
	if (!err)
		err = to_rts(a);
	if (!err && t->state != IBV_QPS_INIT)
		err = to_rtr(b, a->qp_num);
	if (!err && t->state == IBV_QPS_ERR)
		err = to_error(b);
	return err;
}

/* --- what happens ----------------------------------------------------------------------------- */

static bool next_completion(enum side side, struct ibv_wc *wc)
{
	struct pollfd none = {.fd = -1};

	for (int ms = 0; ms < LIMIT_MS; ms++) {
		if (ibv_poll_cq(card.cq[side], 1, wc) == 1)
			return true;
		poll(&none, 1, 1);
	}
	return false;
}

/* Those of errors have no other valid fields. */
static void say_completion(const char *what, enum side side, const struct ibv_wc *wc)
{
	say("%s, %s: ok wr_id=%lu status=%d", what, side_names[side], (unsigned long)wc->wr_id,
	    wc->status);
	if (wc->status != IBV_WC_SUCCESS) {
		say(" vendor_err=0x%x", wc->vendor_err);
	} else {
		say(" opcode=%d wc_flags=0x%x", wc->opcode, wc->wc_flags);
		if (wc->opcode & IBV_WC_RECV)
			say(" byte_len=%u", wc->byte_len);
		if (wc->opcode & IBV_WC_RECV && wc->wc_flags & IBV_WC_WITH_IMM)
			say(" imm=0x%x", be32toh(wc->imm_data));
	}
	say("\n");
}

static void say_state(const char *what, enum side side)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = ibv_query_qp(card.qp[side], &attr, IBV_QP_STATE, &init);

	say("%s, state of the %s", what, side_names[side]);
	say_errno(err);
	say(" state=%d\n", attr.qp_state);
}

static int post_last(enum side side)
{
	struct ibv_send_wr send = {
		.wr_id = LAST,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud.ah = card.ah,
	};
	struct ibv_recv_wr receive = {.wr_id = LAST}, *bad_receive;
	struct ibv_send_wr *bad;

	return side == REQUESTER ? ibv_post_send(card.qp[side], &send, &bad)
				 : ibv_post_recv(card.qp[side], &receive, &bad_receive);
}

/* All completions before that of a work request which is posted now, and so flushed. */
static void drain(const char *what, enum side side)
{
	struct ibv_wc wc;
	int err = to_error(card.qp[side]);

	if (!err)
		err = post_last(side);
	while (!err && next_completion(side, &wc)) {
		if (wc.wr_id == LAST)
			return;
		say_completion(what, side, &wc);
	}
	say("%s, end of the %s", what, side_names[side]);
	say_errno(err ? err : ETIMEDOUT);
	say("\n");
}

static bool next_event(struct ibv_async_event *event)
{
	struct pollfd fd = {.fd = card.context->async_fd, .events = POLLIN};

	return poll(&fd, 1, LIMIT_MS) == 1 && ibv_get_async_event(card.context, event) == 0;
}

/* The kernel reports events in order, and so those of the queue pairs before one that is asked for now. */
static void say_events(const char *what)
{
	struct ibv_srq_attr attr = {.srq_limit = 1};
	struct ibv_async_event event;

	if (ibv_modify_srq(card.empty, &attr, IBV_SRQ_LIMIT))
		say("%s, events: nothing\n", what);
	while (next_event(&event)) {
		if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
			ibv_ack_async_event(&event);
			return;
		}
		say("%s, event: ok type=%d of=%s\n", what, event.event_type,
		    event.element.qp == card.qp[REQUESTER] ? side_names[REQUESTER]
							   : side_names[RESPONDER]);
		ibv_ack_async_event(&event);
	}
}

/* --- all of them ------------------------------------------------------------------------------ */

static void prepare(struct try *t, const struct kind_of_request *r)
{
	*t = (struct try){
		.wr = {.wr_id = 1,
		       .opcode = r->opcode,
		       .send_flags = IBV_SEND_SIGNALED,
		       .num_sge = 1},
		.sge = {(uintptr_t)memory[REQUESTER], LENGTH, card.mr->lkey},
		.receive = {.wr_id = 2, .num_sge = 1},
		.place = {(uintptr_t)memory[RESPONDER], LENGTH + sizeof(struct ibv_grh),
			  card.mr->lkey},
		.access =
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		.q_key = Q_KEY,
		.state = IBV_QPS_RTR,
	};
	t->wr.sg_list = &t->sge;
	t->receive.sg_list = &t->place;
	if (r->opcode == IBV_WR_SEND_WITH_INV)
		t->wr.invalidate_rkey = BAD_KEY;
	else
		t->wr.imm_data = htobe32(0x12345678);
	if (r->has & ATOMIC) {
		t->sge.length = 8;
		t->wr.wr.atomic.remote_addr = (uintptr_t)memory[RESPONDER];
		t->wr.wr.atomic.rkey = card.mr->rkey;
	} else if (r->has & REMOTE) {
		t->wr.wr.rdma.remote_addr = (uintptr_t)memory[RESPONDER];
		t->wr.wr.rdma.rkey = card.mr->rkey;
	}
}

static void run(const struct service *s, const char *what, struct try *t)
{
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int err;

	make_qp(s, REQUESTER);
	make_qp(s, RESPONDER);
	if (!card.qp[REQUESTER] || !card.qp[RESPONDER])
		die("creating queue pairs");
	err = connect_both(t);
	if (!err && !t->without_receive)
		err = ibv_post_recv(card.qp[RESPONDER], &t->receive, &bad_receive);
	if (is_datagram(s)) {
		t->wr.wr.ud.ah = card.ah;
		t->wr.wr.ud.remote_qpn = card.qp[RESPONDER]->qp_num;
		t->wr.wr.ud.remote_qkey = Q_KEY;
	}
	if (!err)
		err = ibv_post_send(card.qp[REQUESTER], &t->wr, &bad);
	say("%s", what);
	say_errno(err);
	say("\n");
	if (!err && next_completion(REQUESTER, &wc))
		say_completion(what, REQUESTER, &wc);
	for (enum side side = 0; side < SIDES; side++)
		say_state(what, side);
	for (enum side side = 0; side < SIDES; side++)
		drain(what, side);
	say_events(what);
	for (enum side side = 0; side < SIDES; side++)
		ibv_destroy_qp(card.qp[side]);
}

static bool is_possible(const struct service *s, const struct kind_of_request *r,
			const struct change *change)
{
	unsigned int has = r->has | (is_datagram(s) ? DATAGRAM : 0);

	return !(r->has & s->lacks) && (has & change->needs) == change->needs &&
	       !(has & change->not );
}

static void run_all(const struct service *s, const struct kind_of_request *r)
{
	struct try t;
	char what[128];

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		if (!is_possible(s, r, &changes[i]))
			continue;
		prepare(&t, r);
		changes[i].make(&t);
		snprintf(what, sizeof(what), "%s %s, %s", s->name, r->name, changes[i].name);
		run(s, what, &t);
	}
}

/* An IPv4 address: each network interface has one. */
static void find_address(void)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entries[256];
	ssize_t n = ibv_query_gid_table(card.context, entries, ARRAY_SIZE(entries), 0);

	for (ssize_t i = 0; i < n; i++)
		if (entries[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    memcmp(entries[i].gid.raw, prefix, sizeof(prefix)) == 0) {
			card.gid = entries[i].gid;
			card.gid_index = (uint8_t)entries[i].gid_index;
			return;
		}
	die("finding an address");
}

static struct ibv_mr *key(struct ibv_pd *pd, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), access);

	if (!mr)
		die("registering memory");
	return mr;
}

static void open_card(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_ah_attr attr;

	card.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!card.context)
		die("opening the device");
	ibv_free_device_list(list);
	find_address();
	card.pd = ibv_alloc_pd(card.context);
	card.other_pd = ibv_alloc_pd(card.context);
	if (!card.pd || !card.other_pd)
		die("allocating protection domains");
	card.mr = key(card.pd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	card.foreign = key(card.other_pd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
						  IBV_ACCESS_REMOTE_WRITE);
	card.weak = key(card.pd, 0);
	for (enum side side = 0; side < SIDES; side++)
		card.cq[side] = ibv_create_cq(card.context, 16, NULL, NULL, 0);
	attr = path();
	card.ah = ibv_create_ah(card.pd, &attr);
	card.empty = ibv_create_srq(card.pd, &init);
	if (!card.cq[REQUESTER] || !card.cq[RESPONDER] || !card.ah || !card.empty)
		die("creating queues");
}

static void close_card(void)
{
	ibv_destroy_srq(card.empty);
	ibv_destroy_ah(card.ah);
	for (enum side side = 0; side < SIDES; side++)
		ibv_destroy_cq(card.cq[side]);
	ibv_dereg_mr(card.weak);
	ibv_dereg_mr(card.foreign);
	ibv_dereg_mr(card.mr);
	ibv_dealloc_pd(card.other_pd);
	ibv_dealloc_pd(card.pd);
	ibv_close_device(card.context);
}

static uint32_t refused_q_keys(void)
{
	struct ibv_port_attr port;

	return ibv_query_port(card.context, PORT, &port) ? 0 : port.qkey_viol_cntr;
}

void ask_completions(void)
{
	uint32_t before;

	open_card();
	before = refused_q_keys();
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		for (size_t r = 0; r < ARRAY_SIZE(requests); r++)
			run_all(&services[i], &requests[r]);
	say("refused Q_Keys: ok number=%u\n", refused_q_keys() - before);
	close_card();
}
