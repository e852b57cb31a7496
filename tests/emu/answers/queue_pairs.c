/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * MODIFY_QP: each transition with the attributes that it needs, without each of them and with each other one; each
 * value at its limits; and what QUERY_QP returns afterwards.
 */
#include <stdio.h>

#include "answers.h"
#include "base/array.h"

/* The numbers of enum ibv_qp_attr_mask. */
static const char *const bits[] = {
	"STATE",     "CUR_STATE", "EN_SQD_ASYNC", "ACCESS",    "PKEY",	     "PORT",   "QKEY",
	"AV",	     "MTU",	  "TIMEOUT",	  "RETRY",     "RNR_RETRY",  "RQ_PSN", "RD_ATOMIC",
	"ALT",	     "MIN_RNR",	  "SQ_PSN",	  "DEST_RD",   "PATH_MIG",   "CAP",    "DEST_QPN",
	"RESERVED1", "RESERVED2", "RESERVED3",	  "RESERVED4", "RATE_LIMIT",
};
enum {
	STATE = 1 << 0,
	ACCESS = 1 << 3,
	PKEY = 1 << 4,
	PORT = 1 << 5,
	QKEY = 1 << 6,
	AV = 1 << 7,
	MTU = 1 << 8,
	TIMEOUT = 1 << 9,
	RETRY = 1 << 10,
	RNR_RETRY = 1 << 11,
	RQ_PSN = 1 << 12,
	RD_ATOMIC = 1 << 13,
	MIN_RNR = 1 << 15,
	SQ_PSN = 1 << 16,
	DEST_RD = 1 << 17,
	DEST_QPN = 1 << 20,
};

enum state { RESET, INIT, RTR, RTS, SQD, SQE, ERR, NUM_STATES };
static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

#define CONNECT (AV | MTU | DEST_QPN | RQ_PSN)
static const struct kind_of_qp {
	const char *create;
	uint32_t init, rtr, rts;
} kinds[] = {
	{"rc.create", PKEY | PORT | ACCESS, CONNECT | DEST_RD | MIN_RNR,
	 SQ_PSN | TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC},
	{"uc.create", PKEY | PORT | ACCESS, CONNECT, SQ_PSN},
	{"ud.create", PKEY | PORT | QKEY, 0, SQ_PSN},
	{"xrc_ini.create", PKEY | PORT | ACCESS, CONNECT,
	 SQ_PSN | TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC},
	{"xrc_tgt.create", PKEY | PORT | ACCESS, CONNECT | DEST_RD | MIN_RNR, SQ_PSN | TIMEOUT},
};

static const struct kind_of_qp *kind;
static uint32_t qp, qpn;
static struct ib_uverbs_modify_qp valid;

static void make(void)
{
	make_numbered(request_named(kind->create), UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp, &qpn);
}

static void fill(void)
{
	struct call c = {.request = request_named("ah.create")};
	struct ib_uverbs_create_ah ah;

	c.request->fill(&c);
	memcpy(&ah, payload(&c, UVERBS_ATTR_CORE_IN), sizeof(ah));
	memset(&valid, 0, sizeof(valid));
	memcpy(valid.dest.dgid, ah.attr.grh.dgid, 16);
	valid.dest.sgid_index = ah.attr.grh.sgid_index;
	valid.dest.is_global = 1;
	valid.dest.port_num = 1;
	valid.qkey = 0x1234;
	valid.rq_psn = 17;
	valid.sq_psn = 18;
	valid.dest_qp_num = qpn;
	valid.qp_access_flags = 1;
	valid.path_mtu = 3;
	valid.max_rd_atomic = 1;
	valid.max_dest_rd_atomic = 1;
	valid.min_rnr_timer = 12;
	valid.port_num = 1;
	valid.timeout = 14;
	valid.retry_cnt = 7;
	valid.rnr_retry = 7;
	valid.alt_port_num = 1;
	valid.alt_dest = valid.dest;
}

static int modify(uint32_t mask, enum state to)
{
	struct ib_uverbs_modify_qp a = valid;

	a.qp_handle = qp;
	a.attr_mask = mask;
	a.qp_state = (uint8_t)to;
	return write_command(answers_fd, IB_USER_VERBS_CMD_MODIFY_QP, &a, sizeof(a), NULL, 0);
}

static uint32_t needed(enum state to)
{
	return to == INIT ? kind->init : to == RTR ? kind->rtr : to == RTS ? kind->rts : 0;
}

/* From RESET to the state. */
static void go(enum state to)
{
	modify(STATE, RESET);
	for (enum state s = INIT; s <= RTS && (s <= to || to == ERR); s++)
		modify(STATE | needed(s), s);
	if (to == ERR)
		modify(STATE, ERR);
}

static void show_query(const char *after)
{
	struct ib_uverbs_query_qp req = {.qp_handle = qp};
	struct ib_uverbs_query_qp_resp r;
	int err;

	memset(&r, 0xee, sizeof(r));
	err = write_command(answers_fd, IB_USER_VERBS_CMD_QUERY_QP, &req, sizeof(req), &r,
			    sizeof(r));
	say("%s, query after %s", kind->create, after);
	say_errno(err);
	if (!err) {
		say(" state=%u/%u recv_wr=%u recv_sge=%u send_wr=%u send_sge=%u inline=%u",
		    r.qp_state, r.cur_qp_state, r.max_recv_wr, r.max_recv_sge, r.max_send_wr,
		    r.max_send_sge, r.max_inline_data);
		say(" qkey=0x%x rq_psn=%u sq_psn=%u dest=%s access=0x%x pkey=%u/%u mtu=%u mig=%u "
		    "drain=%u",
		    r.qkey, r.rq_psn, r.sq_psn,
		    !r.dest_qp_num	   ? "0"
		    : r.dest_qp_num == qpn ? "itself"
					   : "other",
		    r.qp_access_flags, r.pkey_index, r.alt_pkey_index, r.path_mtu, r.path_mig_state,
		    r.sq_draining);
		say(" rd=%u dest_rd=%u rnr=%u port=%u timeout=%u retry=%u rnr_retry=%u sig_all=%u",
		    r.max_rd_atomic, r.max_dest_rd_atomic, r.min_rnr_timer, r.port_num, r.timeout,
		    r.retry_cnt, r.rnr_retry, r.sq_sig_all);
		say(" alt_port=%u alt_timeout=%u global=%u sgid=%s hop=%u class=%u flow=%u dlid=%u "
		    "sl=%u path_bits=%u"
		    " rate=%u path_port=%u",
		    r.alt_port_num, r.alt_timeout, r.dest.is_global,
		    r.dest.sgid_index == valid.dest.sgid_index ? "given" : "other",
		    r.dest.hop_limit, r.dest.traffic_class, r.dest.flow_label, r.dest.dlid,
		    r.dest.sl, r.dest.src_path_bits, r.dest.static_rate, r.dest.port_num);
	}
	say("\n");
}

/* From a state, without or with one bit. */
static void vary(enum state from, enum state to, uint32_t mask)
{
	for (unsigned int i = 1; i < ARRAY_SIZE(bits); i++) {
		uint32_t bit = 1u << i;
		int err = modify(mask ^ bit, to);

		say("%s %s to %s %s %s", kind->create, states[from], states[to],
		    mask & bit ? "without" : "with", bits[i]);
		say_errno(err);
		say("\n");
		if (!err)
			go(from);
	}
}

static void ask_transition(enum state from, enum state to)
{
	uint32_t mask = STATE | (to > from ? needed(to) : 0);
	char after[32];
	int err;

	go(from);
	err = modify(mask, to);
	say("%s %s to %s", kind->create, states[from], states[to]);
	say_errno(err);
	say("\n");
	if (err)
		return;
	snprintf(after, sizeof(after), "%s to %s", states[from], states[to]);
	show_query(after);
	go(from);
	vary(from, to, mask);
}

static const struct {
	const char *name;
	enum state from;
	uint32_t bit;
	size_t at, width;
	uint64_t values[5];
} limits[] = {
#define FIELD(member) offsetof(struct ib_uverbs_modify_qp, member), sizeof(valid.member)
	{"pkey_index", RESET, PKEY, FIELD(pkey_index), {1, 2, 0x7f, 0x80, 0xffff}},
	{"port_num", RESET, PORT, FIELD(port_num), {0, 2, 255}},
	{"access", RESET, ACCESS, FIELD(qp_access_flags), {0, 2, 8, 0xf, 0x10}},
	{"access", RESET, ACCESS, FIELD(qp_access_flags), {0x20, 0x40, 0x100, 0xffffffff}},
	{"qkey", RESET, QKEY, FIELD(qkey), {0, 0x80000000, 0xffffffff}},
	{"mtu", INIT, MTU, FIELD(path_mtu), {0, 1, 5, 6, 255}},
	{"dest_qpn", INIT, DEST_QPN, FIELD(dest_qp_num), {0, 1, 0xffffff, 0x1000000, 0xffffffff}},
	{"rq_psn", INIT, RQ_PSN, FIELD(rq_psn), {0, 0xffffff, 0x1000000, 0xffffffff}},
	{"dest_rd", INIT, DEST_RD, FIELD(max_dest_rd_atomic), {0, 3, 16, 17, 255}},
	{"min_rnr", INIT, MIN_RNR, FIELD(min_rnr_timer), {0, 31, 32, 255}},
	{"is_global", INIT, AV, FIELD(dest.is_global), {0, 2}},
	{"path port", INIT, AV, FIELD(dest.port_num), {0, 2, 255}},
	{"sgid_index", INIT, AV, FIELD(dest.sgid_index), {77, 254, 255}},
	{"hop_limit", INIT, AV, FIELD(dest.hop_limit), {1, 64, 255}},
	{"traffic_class", INIT, AV, FIELD(dest.traffic_class), {1, 255}},
	{"flow_label", INIT, AV, FIELD(dest.flow_label), {1, 0xfffff, 0x100000, 0xffffffff}},
	{"dlid", INIT, AV, FIELD(dest.dlid), {1, 0xffff}},
	{"sl", INIT, AV, FIELD(dest.sl), {1, 7, 8, 15, 255}},
	{"src_path_bits", INIT, AV, FIELD(dest.src_path_bits), {1, 127, 255}},
	{"static_rate", INIT, AV, FIELD(dest.static_rate), {1, 2, 10, 18, 255}},
	{"sq_psn", RTR, SQ_PSN, FIELD(sq_psn), {0, 0xffffff, 0x1000000, 0xffffffff}},
	{"timeout", RTR, TIMEOUT, FIELD(timeout), {0, 31, 32, 255}},
	{"retry", RTR, RETRY, FIELD(retry_cnt), {0, 7, 8, 255}},
	{"rnr_retry", RTR, RNR_RETRY, FIELD(rnr_retry), {0, 7, 8, 255}},
	{"rd_atomic", RTR, RD_ATOMIC, FIELD(max_rd_atomic), {0, 3, 16, 17, 255}},
};

static void ask_limits(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const enum state from = limits[i].from, to = from + 1;
		const uint32_t mask = STATE | needed(to);
		const struct ib_uverbs_modify_qp before = valid;

		for (size_t n = 0; mask & limits[i].bit && n < ARRAY_SIZE(limits[i].values); n++) {
			uint64_t value = limits[i].values[n];
			char after[48];
			int err;

			if (n && !value)
				break;
			go(from);
			memcpy((uint8_t *)&valid + limits[i].at, &value, limits[i].width);
			err = modify(mask, to);
			say("%s %s to %s %s=0x%lx", kind->create, states[from], states[to],
			    limits[i].name, value);
			say_errno(err);
			say("\n");
			snprintf(after, sizeof(after), "%s=0x%lx", limits[i].name, value);
			if (!err)
				show_query(after);
			valid = before;
		}
	}
}

static void ask_other_states(void)
{
	go(RTS);
	for (unsigned int s = NUM_STATES; s < 10; s++) {
		say("%s RTS to state %u", kind->create, s);
		say_errno(modify(STATE, (enum state)s));
		say("\n");
	}
	say("%s RTS, no bit", kind->create);
	say_errno(modify(0, RTS));
	say("\n");
	for (uint8_t s = 0; s < 8; s++) {
		valid.cur_qp_state = s;
		say("%s RTS to RTS from cur_state %u", kind->create, s);
		say_errno(modify(STATE | 2, RTS));
		say("\n");
		go(RTS);
	}
	valid.cur_qp_state = 0;
}

/*
 * On the way to RTS, in ERR and back in RESET. To programs, an XRC target is an object without the driver's members
 * (__ib_open_qp()). Linux reads these all the same, from the memory behind it, so its answer is one of chance.
 */
static void ask_context(void)
{
	static const enum state ways[] = {RESET, INIT, RTR, RTS, ERR, RESET};

	if (!strcmp(kind->create, "xrc_tgt.create"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char what[48];

		snprintf(what, sizeof(what), "%s in %s", kind->create, states[ways[i]]);
		go(ways[i]);
		say_context("qp", what, qp, qpn);
	}
}

void ask_queue_pairs(void)
{
	static const enum state starts[] = {RESET, INIT, RTR, RTS, ERR};

	use_memory();
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		kind = &kinds[k];
		make();
		fill();
		for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
			for (enum state to = RESET; to < NUM_STATES; to++)
				ask_transition(starts[i], to);
		ask_limits();
		ask_other_states();
		ask_context();
		say("%s, then destroy", kind->create);
		say_errno(pool_destroy(QP, qp));
		say("\n");
	}
}
