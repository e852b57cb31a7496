/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands of uverbs for queues and addresses. */
#include "base/array.h"
#include "verbs.h"

/* --- what the queues use ---------------------------------------------------------------------- */

static uint32_t gid_index;
static uint8_t own_gid[16];

/* The GID of RoCE v2 of an IPv4 address: the only one that programs choose in both places. */
static void find_gid(void)
{
	struct ib_uverbs_gid_entry e = {0};
	union command c;

	for (gid_index = 0; gid_index < 256; gid_index++) {
		begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
		add(&c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8, 1);
		add(&c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8, gid_index);
		add(&c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 0);
		add_buf(&c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
		if (!issue(answers_fd, &c) && e.gid_type == 2 && ((uint8_t *)e.gid)[10] == 0xff)
			break;
	}
	memcpy(own_gid, e.gid, sizeof(own_gid));
}

/* Doorbell records, with memory behind them that a card may write. */
#define RECORDS ((uintptr_t)ring + 8 * PAGE)

/* --- queues ----------------------------------------------------------------------------------- */

static const struct field create_cq_fields[] = {
	{"cqe", UVERBS_ATTR_CREATE_CQ_CQE, 0, 4, COUNT},
	{"comp_vector", UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4, COUNT},
	{"flags", UVERBS_ATTR_CREATE_CQ_FLAGS, 0, 4, FLAGS},
	ASK(DRV_IN, mlx5_ib_create_cq, buf_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_cq, db_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_cq, cqe_size, COUNT),
	ASK(DRV_IN, mlx5_ib_create_cq, cqe_comp_en, CODE),
	ASK(DRV_IN, mlx5_ib_create_cq, cqe_comp_res_format, CODE),
	ASK(DRV_IN, mlx5_ib_create_cq, flags, FLAGS),
	ASK(DRV_IN, mlx5_ib_create_cq, uar_page_index, NUMBER),
	ASK(DRV_IN, mlx5_ib_create_cq, reserved0, ZERO),
	ASK(DRV_IN, mlx5_ib_create_cq, reserved1, ZERO),
	{.name = NULL},
};
static const struct answer create_cq_answers[] = {
	{"cqe", UVERBS_ATTR_CREATE_CQ_RESP_CQE, 0, 4, VALUE},
	{"cqn", DRV_OUT, 0, 4, SET},
	{.name = NULL},
};

static void fill_create_cq(struct call *c)
{
	struct cq q = good_cq();

	q.drv.db_addr = RECORDS;
	put_value(c, UVERBS_ATTR_CREATE_CQ_CQE, q.cqe);
	put(c, DRV_IN, &q.drv, sizeof(q.drv));
}

const struct request create_cq_command = {
	.name = "cq.create",
	.object = UVERBS_OBJECT_CQ,
	.method = UVERBS_METHOD_CQ_CREATE,
	.args = {{UVERBS_ATTR_CREATE_CQ_HANDLE, NEW, 0},
		 {UVERBS_ATTR_CREATE_CQ_CQE, INPUT, 4},
		 {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, INPUT, 8},
		 {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, INPUT, 4},
		 {UVERBS_ATTR_CREATE_CQ_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_CREATE_CQ_RESP_CQE, OUTPUT, 4},
		 {DRV_IN, INPUT, sizeof(struct mlx5_ib_create_cq)},
		 {DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_create_cq_resp)}},
	.fields = create_cq_fields,
	.answers = create_cq_answers,
	.fill = fill_create_cq,
	.creates = CQ,
	.handle = UVERBS_ATTR_CREATE_CQ_HANDLE,
};

static const struct field resize_fields[] = {
	ASK(IN, ib_uverbs_resize_cq, cq_handle, HANDLE),
	ASK(IN, ib_uverbs_resize_cq, cqe, COUNT),
	ASK(DRV_IN, mlx5_ib_resize_cq, buf_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_resize_cq, cqe_size, COUNT),
	ASK(DRV_IN, mlx5_ib_resize_cq, reserved0, ZERO),
	ASK(DRV_IN, mlx5_ib_resize_cq, reserved1, ZERO),
	{.name = NULL},
};
static const struct answer resize_answers[] = {SHOW(OUT_CORE, ib_uverbs_resize_cq_resp, cqe),
					       {.name = NULL}};

static void fill_resize(struct call *c)
{
	struct ib_uverbs_resize_cq req = {.cq_handle = pick(c, CQ), .cqe = 127};
	struct mlx5_ib_resize_cq drv = {.buf_addr = (uintptr_t)ring + PAGE, .cqe_size = 64};

	put(c, IN, &req, sizeof(req));
	put(c, DRV_IN, &drv, sizeof(drv));
}

const struct request resize_cq_command = {
	.name = "cq.resize",
	WRITE(IB_USER_VERBS_CMD_RESIZE_CQ),
	.args = {CORE(sizeof(struct ib_uverbs_resize_cq), sizeof(struct ib_uverbs_resize_cq_resp)),
		 {DRV_IN, INPUT, sizeof(struct mlx5_ib_resize_cq)}},
	.fields = resize_fields,
	.answers = resize_answers,
	.fill = fill_resize,
};

static const struct field modify_cq_fields[] = {
	ASK(IN, ib_uverbs_ex_modify_cq, cq_handle, HANDLE),
	ASK(IN, ib_uverbs_ex_modify_cq, attr_mask, FLAGS),
	ASK(IN, ib_uverbs_ex_modify_cq, attr.cq_count, COUNT),
	ASK(IN, ib_uverbs_ex_modify_cq, attr.cq_period, COUNT),
	ASK(IN, ib_uverbs_ex_modify_cq, reserved, ZERO),
	{.name = NULL},
};

static void fill_modify_cq(struct call *c)
{
	struct ib_uverbs_ex_modify_cq req = {
		.cq_handle = pick(c, CQ), .attr_mask = 1, .attr = {8, 100}};

	put(c, IN, &req, sizeof(req));
}

const struct request modify_cq = {
	.name = "cq.modify",
	WRITE(EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ)),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_ex_modify_cq)}},
	.fields = modify_cq_fields,
	.fill = fill_modify_cq,
};

static const struct field create_qp_fields[] = {
	{"type", UVERBS_ATTR_CREATE_QP_TYPE, 0, 8, CODE},
	{"flags", UVERBS_ATTR_CREATE_QP_FLAGS, 0, 4, FLAGS},
	ASK(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap, max_send_wr, COUNT),
	ASK(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap, max_recv_wr, COUNT),
	ASK(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap, max_send_sge, COUNT),
	ASK(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap, max_recv_sge, COUNT),
	ASK(UVERBS_ATTR_CREATE_QP_CAP, ib_uverbs_qp_cap, max_inline_data, COUNT),
	ASK(DRV_IN, mlx5_ib_create_qp, buf_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_qp, db_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_qp, sq_wqe_count, COUNT),
	ASK(DRV_IN, mlx5_ib_create_qp, rq_wqe_count, COUNT),
	ASK(DRV_IN, mlx5_ib_create_qp, rq_wqe_shift, COUNT),
	ASK(DRV_IN, mlx5_ib_create_qp, rq_wqe_shift, CODE),
	ASK(DRV_IN, mlx5_ib_create_qp, flags, FLAGS),
	ASK(DRV_IN, mlx5_ib_create_qp, uidx, COUNT),
	ASK(DRV_IN, mlx5_ib_create_qp, bfreg_index, NUMBER),
	ASK(DRV_IN, mlx5_ib_create_qp, sq_buf_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_qp, ece_options, FLAGS),
	ASK(DRV_IN, mlx5_ib_create_qp, dci_streams.log_num_concurent, CODE),
	ASK(DRV_IN, mlx5_ib_create_qp, dci_streams.log_num_errored, CODE),
	ASK(DRV_IN, mlx5_ib_create_qp, reserved, ZERO),
	{.name = NULL},
};
static const struct answer create_qp_answers[] = {
	SHOW(UVERBS_ATTR_CREATE_QP_RESP_CAP, ib_uverbs_qp_cap, max_send_wr),
	SHOW(UVERBS_ATTR_CREATE_QP_RESP_CAP, ib_uverbs_qp_cap, max_recv_wr),
	SHOW(UVERBS_ATTR_CREATE_QP_RESP_CAP, ib_uverbs_qp_cap, max_send_sge),
	SHOW(UVERBS_ATTR_CREATE_QP_RESP_CAP, ib_uverbs_qp_cap, max_recv_sge),
	SHOW(UVERBS_ATTR_CREATE_QP_RESP_CAP, ib_uverbs_qp_cap, max_inline_data),
	{"qpn", UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 0, 4, SET},
	SHOW(DRV_OUT, mlx5_ib_create_qp_resp, bfreg_index),
	SHOW(DRV_OUT, mlx5_ib_create_qp_resp, ece_options),
	SHOW(DRV_OUT, mlx5_ib_create_qp_resp, comp_mask),
	{.name = NULL},
};

static void fill_qp_of(struct call *c, uint64_t type)
{
	struct qp q = good_qp(0, 0);

	q.drv.db_addr = RECORDS + 1024;
	if (type == IB_UVERBS_QPT_XRC_INI)
		q.drv.rq_wqe_count = q.drv.rq_wqe_shift = q.cap.max_recv_wr = q.cap.max_recv_sge =
			0;
	put_value(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, pick(c, PD));
	put_value(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, pick(c, CQ));
	if (type != IB_UVERBS_QPT_XRC_INI)
		put_value(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, pick(c, CQ));
	put(c, UVERBS_ATTR_CREATE_QP_CAP, &q.cap, sizeof(q.cap));
	put_value(c, UVERBS_ATTR_CREATE_QP_TYPE, type);
	put(c, DRV_IN, &q.drv, sizeof(q.drv));
}

#define QP_TAIL                                                                                  \
	{UVERBS_ATTR_CREATE_QP_USER_HANDLE, INPUT, 8}, {UVERBS_ATTR_CREATE_QP_CAP, INPUT, 20},   \
		{UVERBS_ATTR_CREATE_QP_TYPE, INPUT, 8}, {UVERBS_ATTR_CREATE_QP_FLAGS, INPUT, 4}, \
		{UVERBS_ATTR_CREATE_QP_RESP_CAP, OUTPUT, 20},                                    \
		{UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, OUTPUT, 4},                                  \
		{DRV_IN, INPUT, sizeof(struct mlx5_ib_create_qp)},                               \
	{                                                                                        \
		DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_create_qp_resp)                           \
	}
#define QP_COMMAND(text, fill_it, ...)                                                       \
	{                                                                                    \
		.name = text, .object = UVERBS_OBJECT_QP, .method = UVERBS_METHOD_QP_CREATE, \
		.args = {{UVERBS_ATTR_CREATE_QP_HANDLE, NEW, 0}, __VA_ARGS__, QP_TAIL},      \
		.fields = create_qp_fields, .answers = create_qp_answers, .fill = fill_it,   \
		.creates = QP, .handle = UVERBS_ATTR_CREATE_QP_HANDLE,                       \
	}
#define QP_OBJECT(which)                                          \
	{                                                         \
		UVERBS_ATTR_CREATE_QP_##which##_HANDLE, OBJECT, 0 \
	}

static void fill_rc(struct call *c)
{
	fill_qp_of(c, IB_UVERBS_QPT_RC);
}

static void fill_uc(struct call *c)
{
	fill_qp_of(c, IB_UVERBS_QPT_UC);
}

static void fill_ud(struct call *c)
{
	fill_qp_of(c, IB_UVERBS_QPT_UD);
}

static void fill_ini(struct call *c)
{
	fill_qp_of(c, IB_UVERBS_QPT_XRC_INI);
}

static void fill_rc_srq(struct call *c)
{
	struct mlx5_ib_create_qp drv;

	fill_qp_of(c, IB_UVERBS_QPT_RC);
	memcpy(&drv, payload(c, DRV_IN), sizeof(drv));
	drv.rq_wqe_count = drv.rq_wqe_shift = 0;
	put(c, DRV_IN, &drv, sizeof(drv));
	put_value(c, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, pick(c, SRQ));
}

static void fill_tgt(struct call *c)
{
	struct qp q = good_qp(0, 0);

	q.drv = (struct mlx5_ib_create_qp){0};
	memset(&q.cap, 0, sizeof(q.cap));
	put_value(c, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, pick(c, XRCD));
	put(c, UVERBS_ATTR_CREATE_QP_CAP, &q.cap, sizeof(q.cap));
	put_value(c, UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_XRC_TGT);
	put(c, DRV_IN, &q.drv, sizeof(q.drv));
}

const struct request create_rc =
	QP_COMMAND("rc.create", fill_rc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
const struct request create_rc_srq =
	QP_COMMAND("rc.create with an srq", fill_rc_srq, QP_OBJECT(PD), QP_OBJECT(SRQ),
		   QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
const struct request create_uc =
	QP_COMMAND("uc.create", fill_uc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
const struct request create_ud =
	QP_COMMAND("ud.create", fill_ud, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
const struct request create_ini =
	QP_COMMAND("xrc_ini.create", fill_ini, QP_OBJECT(PD), QP_OBJECT(SEND_CQ));
const struct request create_ini_recv =
	QP_COMMAND("xrc_ini.create with a recv_cq", fill_rc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ),
		   QP_OBJECT(RECV_CQ));
const struct request create_tgt = QP_COMMAND("xrc_tgt.create", fill_tgt, QP_OBJECT(XRCD));

static const struct field create_srq_fields[] = {
	{"max_wr", UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0, 4, COUNT},
	{"max_sge", UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0, 4, COUNT},
	{"limit", UVERBS_ATTR_CREATE_SRQ_LIMIT, 0, 4, COUNT},
	{"type", UVERBS_ATTR_CREATE_SRQ_TYPE, 0, 8, CODE},
	ASK(DRV_IN, mlx5_ib_create_srq, buf_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_srq, db_addr, ADDRESS),
	ASK(DRV_IN, mlx5_ib_create_srq, flags, FLAGS),
	ASK(DRV_IN, mlx5_ib_create_srq, uidx, COUNT),
	ASK(DRV_IN, mlx5_ib_create_srq, reserved0, ZERO),
	ASK(DRV_IN, mlx5_ib_create_srq, reserved1, ZERO),
	{.name = NULL},
};
static const struct answer create_srq_answers[] = {
	{"max_wr", UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 0, 4, VALUE},
	{"max_sge", UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 0, 4, VALUE},
	{"srqn", DRV_OUT, 0, 4, SET},
	{.name = NULL},
};

static void fill_create_srq(struct call *c)
{
	struct srq s = good_srq(0);

	s.drv.db_addr = RECORDS + 2048;
	put_value(c, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pick(c, PD));
	put_value(c, UVERBS_ATTR_CREATE_SRQ_MAX_WR, s.max_wr);
	put_value(c, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, s.max_sge);
	put(c, DRV_IN, &s.drv, sizeof(s.drv));
}

#define SRQ_ARGS(...)                                                              \
	{                                                                          \
		{UVERBS_ATTR_CREATE_SRQ_HANDLE, NEW, 0},                           \
			{UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, OBJECT, 0},             \
			__VA_ARGS__{UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, INPUT, 8}, \
			{UVERBS_ATTR_CREATE_SRQ_MAX_WR, INPUT, 4},                 \
			{UVERBS_ATTR_CREATE_SRQ_MAX_SGE, INPUT, 4},                \
			{UVERBS_ATTR_CREATE_SRQ_LIMIT, INPUT, 4},                  \
			{UVERBS_ATTR_CREATE_SRQ_TYPE, INPUT, 8},                   \
			{UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, OUTPUT, 4},           \
			{UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, OUTPUT, 4},          \
			{UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, OUTPUT, 4},          \
			{DRV_IN, INPUT, sizeof(struct mlx5_ib_create_srq)},        \
			{DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_create_srq_resp)}, \
	}

const struct request create_srq_command = {
	.name = "srq.create",
	.object = UVERBS_OBJECT_SRQ,
	.method = UVERBS_METHOD_SRQ_CREATE,
	.args = SRQ_ARGS(),
	.fields = create_srq_fields,
	.answers = create_srq_answers,
	.fill = fill_create_srq,
	.creates = SRQ,
	.handle = UVERBS_ATTR_CREATE_SRQ_HANDLE,
};

static void fill_create_xsrq(struct call *c)
{
	fill_create_srq(c);
	put_value(c, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, pick(c, XRCD));
	put_value(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, pick(c, CQ));
	put_value(c, UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_XRC);
}

const struct request create_xsrq = {
	.name = "xrc_srq.create",
	.object = UVERBS_OBJECT_SRQ,
	.method = UVERBS_METHOD_SRQ_CREATE,
	.args = SRQ_ARGS({UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, OBJECT, 0},
			 {UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, OBJECT, 0}, ),
	.fields = create_srq_fields,
	.answers = create_srq_answers,
	.fill = fill_create_xsrq,
	.creates = SRQ,
	.handle = UVERBS_ATTR_CREATE_SRQ_HANDLE,
};

static const struct field modify_srq_fields[] = {
	ASK(IN, ib_uverbs_modify_srq, srq_handle, HANDLE),
	ASK(IN, ib_uverbs_modify_srq, attr_mask, FLAGS),
	ASK(IN, ib_uverbs_modify_srq, max_wr, COUNT),
	ASK(IN, ib_uverbs_modify_srq, srq_limit, COUNT),
	{.name = NULL},
};

static void fill_modify_srq(struct call *c)
{
	struct ib_uverbs_modify_srq req = {
		.srq_handle = pick(c, SRQ), .attr_mask = 2, .srq_limit = 4};

	put(c, IN, &req, sizeof(req));
}

const struct request modify_srq = {
	.name = "srq.modify",
	WRITE(IB_USER_VERBS_CMD_MODIFY_SRQ),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_modify_srq)}},
	.fields = modify_srq_fields,
	.fill = fill_modify_srq,
};

static const struct field query_srq_fields[] = {
	ASK(IN, ib_uverbs_query_srq, srq_handle, HANDLE),
	ASK(IN, ib_uverbs_query_srq, reserved, ZERO),
	{.name = NULL},
};
/* Not srq_limit, which is 0 as soon as the card has sent the event. */
static const struct answer query_srq_answers[] = {
	SHOW(OUT_CORE, ib_uverbs_query_srq_resp, max_wr),
	SHOW(OUT_CORE, ib_uverbs_query_srq_resp, max_sge),
	{.name = NULL},
};

static void fill_query_srq(struct call *c)
{
	struct ib_uverbs_query_srq req = {.srq_handle = pick(c, SRQ)};

	put(c, IN, &req, sizeof(req));
}

const struct request query_srq = {
	.name = "srq.query",
	WRITE(IB_USER_VERBS_CMD_QUERY_SRQ),
	.args = {CORE(sizeof(struct ib_uverbs_query_srq), sizeof(struct ib_uverbs_query_srq_resp))},
	.fields = query_srq_fields,
	.answers = query_srq_answers,
	.fill = fill_query_srq,
};

static const struct field open_xrcd_fields[] = {
	ASK(IN, ib_uverbs_open_xrcd, fd, NUMBER),
	ASK(IN, ib_uverbs_open_xrcd, oflags, FLAGS),
	{.name = NULL},
};

static void fill_open_xrcd(struct call *c)
{
	struct ib_uverbs_open_xrcd req = {.fd = -1u, .oflags = O_CREAT};

	put(c, IN, &req, sizeof(req));
}

const struct request open_xrcd = {
	.name = "xrcd.create",
	WRITE(IB_USER_VERBS_CMD_OPEN_XRCD),
	.args = {CORE(sizeof(struct ib_uverbs_open_xrcd), sizeof(struct ib_uverbs_open_xrcd_resp))},
	.fields = open_xrcd_fields,
	.fill = fill_open_xrcd,
	.creates = XRCD,
	.handle = OUT_CORE,
};

static const struct field open_qp_fields[] = {
	ASK(IN, ib_uverbs_open_qp, pd_handle, HANDLE),
	ASK(IN, ib_uverbs_open_qp, qp_type, CODE),
	{.name = NULL},
};

static void fill_open_qp(struct call *c)
{
	struct ib_uverbs_open_qp req = {
		.pd_handle = pick(c, XRCD), .qpn = MISSING, .qp_type = IB_UVERBS_QPT_XRC_TGT};

	put(c, IN, &req, sizeof(req));
}

const struct request open_qp = {
	.name = "qp.open of a missing number",
	WRITE(IB_USER_VERBS_CMD_OPEN_QP),
	.args = {CORE(sizeof(struct ib_uverbs_open_qp), sizeof(struct ib_uverbs_create_qp_resp))},
	.fields = open_qp_fields,
	.fill = fill_open_qp,
	.creates = QP,
	.handle = OUT_CORE,
};

/* --- addresses -------------------------------------------------------------------------------- */

static const struct field create_ah_fields[] = {
	ASK(IN, ib_uverbs_create_ah, pd_handle, HANDLE),
	ASK(IN, ib_uverbs_create_ah, reserved, ZERO),
	ASK(IN, ib_uverbs_create_ah, attr.grh.flow_label, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.grh.sgid_index, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.grh.hop_limit, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.grh.traffic_class, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.dlid, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.sl, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.src_path_bits, COUNT),
	ASK(IN, ib_uverbs_create_ah, attr.static_rate, CODE),
	ASK(IN, ib_uverbs_create_ah, attr.is_global, CODE),
	ASK(IN, ib_uverbs_create_ah, attr.port_num, CODE),
	{.name = NULL},
};
static const struct answer create_ah_answers[] = {
	SHOW(DRV_OUT, mlx5_ib_create_ah_resp, response_length),
	{.name = NULL},
};

static void fill_create_ah(struct call *c)
{
	struct ib_uverbs_create_ah req = {.pd_handle = pick(c, PD)};

	req.attr.is_global = 1;
	req.attr.port_num = 1;
	req.attr.grh.sgid_index = (uint8_t)gid_index;
	memcpy(req.attr.grh.dgid, own_gid, sizeof(own_gid));
	put(c, IN, &req, sizeof(req));
}

const struct request create_ah_command = {
	.name = "ah.create",
	WRITE(IB_USER_VERBS_CMD_CREATE_AH),
	.args = {CORE(sizeof(struct ib_uverbs_create_ah), sizeof(struct ib_uverbs_create_ah_resp)),
		 {DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_create_ah_resp)}},
	.fields = create_ah_fields,
	.answers = create_ah_answers,
	.fill = fill_create_ah,
	.creates = AH,
	.handle = OUT_CORE,
};

static const struct field mcast_fields[] = {
	ASK(IN, ib_uverbs_attach_mcast, gid[0], COUNT),
	ASK(IN, ib_uverbs_attach_mcast, qp_handle, HANDLE),
	ASK(IN, ib_uverbs_attach_mcast, mlid, COUNT),
	ASK(IN, ib_uverbs_attach_mcast, reserved, ZERO),
	{.name = NULL},
};

static void fill_mcast(struct call *c)
{
	struct ib_uverbs_attach_mcast req = {.qp_handle = pick(c, QP), .mlid = 0};

	req.gid[0] = 0xff;
	req.gid[1] = 0x0e;
	put(c, IN, &req, sizeof(req));
}

const struct request attach = {
	.name = "mcast.attach to an rc",
	WRITE(IB_USER_VERBS_CMD_ATTACH_MCAST),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_attach_mcast)}},
	.fields = mcast_fields,
	.fill = fill_mcast,
};
const struct request detach = {
	.name = "mcast.detach from an rc",
	WRITE(IB_USER_VERBS_CMD_DETACH_MCAST),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_attach_mcast)}},
	.fields = mcast_fields,
	.fill = fill_mcast,
};

/* RTS of a queue pair takes all attributes; each state here takes those of RC. */
static const struct field modify_qp_fields[] = {
	ASK(IN, ib_uverbs_modify_qp, attr_mask, FLAGS),
	ASK(IN, ib_uverbs_modify_qp, qp_state, CODE),
	ASK(IN, ib_uverbs_modify_qp, path_mtu, CODE),
	ASK(IN, ib_uverbs_modify_qp, port_num, CODE),
	ASK(IN, ib_uverbs_modify_qp, dest.port_num, CODE),
	ASK(IN, ib_uverbs_modify_qp, dest.is_global, CODE),
	{.name = NULL},
};

static void fill_modify_qp(struct call *c)
{
	static const uint32_t masks[] = {0x1, 0x39, 0x79, 0x129181, 0x12e01, 0x10001, 0x1, 0x71};
	struct ib_uverbs_modify_qp a = {
		.qp_handle = pick(c, QP), .port_num = 1, .path_mtu = 3, .timeout = 14};

	a.qp_state = (uint8_t)draw(7);
	a.attr_mask = masks[draw(ARRAY_SIZE(masks))];
	a.dest.is_global = 1;
	a.dest.port_num = 1;
	a.dest.sgid_index = (uint8_t)gid_index;
	memcpy(a.dest.dgid, own_gid, sizeof(own_gid));
	a.max_rd_atomic = a.max_dest_rd_atomic = 1;
	put(c, IN, &a, sizeof(a));
}

const struct request modify_qp = {
	.name = "qp.modify",
	WRITE(IB_USER_VERBS_CMD_MODIFY_QP),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_modify_qp)}},
	.fields = modify_qp_fields,
	.fill = fill_modify_qp,
};

static const struct answer query_qp_answers[] = {
	SHOW(OUT_CORE, ib_uverbs_query_qp_resp, qp_state),
	SHOW(OUT_CORE, ib_uverbs_query_qp_resp, path_mtu),
	SHOW(OUT_CORE, ib_uverbs_query_qp_resp, qp_access_flags),
	{.name = NULL},
};

static void fill_query_qp(struct call *c)
{
	struct ib_uverbs_query_qp req = {.qp_handle = pick(c, QP)};

	put(c, IN, &req, sizeof(req));
}

const struct request query_qp = {
	.name = "qp.query",
	WRITE(IB_USER_VERBS_CMD_QUERY_QP),
	.args = {CORE(sizeof(struct ib_uverbs_query_qp), sizeof(struct ib_uverbs_query_qp_resp))},
	.answers = query_qp_answers,
	.fill = fill_query_qp,
};

void begin_queue_verbs(void)
{
	use_memory();
	find_gid();
}
