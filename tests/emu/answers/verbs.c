/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands of uverbs: valid values, the fields to change, and the answers. */
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#include "answers.h"
#include "base/array.h"

#define IN	 UVERBS_ATTR_CORE_IN
#define OUT_CORE UVERBS_ATTR_CORE_OUT
#define DRV_IN	 UVERBS_ATTR_UHW_IN
#define DRV_OUT	 UVERBS_ATTR_UHW_OUT

#define EX(n)	 (0x80000000u | (n))
/* A legacy command by INVOKE_WRITE. */
#define WRITE(command) \
	.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE, .write = (command)
#define CORE(in, out)                 \
	{IN, INPUT, in},              \
	{                             \
		OUT_CORE, OUTPUT, out \
	}

/* --- device ---------------------------------------------------------------------------------- */

#define DEV(member) SHOW(OUT_CORE, ib_uverbs_query_device_resp, member)
#define DEVICE_ANSWERS                                                                             \
	SHOW_SET(OUT_CORE, ib_uverbs_query_device_resp, fw_ver),                                   \
		SHOW_SET(OUT_CORE, ib_uverbs_query_device_resp, node_guid),                        \
		SHOW_SET(OUT_CORE, ib_uverbs_query_device_resp, sys_image_guid), DEV(max_mr_size), \
		DEV(page_size_cap), DEV(vendor_id), DEV(vendor_part_id), DEV(hw_ver), DEV(max_qp), \
		DEV(max_qp_wr), DEV(device_cap_flags), DEV(max_sge), DEV(max_sge_rd), DEV(max_cq), \
		DEV(max_cqe), DEV(max_mr), DEV(max_pd), DEV(max_qp_rd_atom), DEV(max_ee_rd_atom),  \
		DEV(max_res_rd_atom), DEV(max_qp_init_rd_atom), DEV(max_ee_init_rd_atom),          \
		DEV(atomic_cap), DEV(max_ee), DEV(max_rdd), DEV(max_mw), DEV(max_raw_ipv6_qp),     \
		DEV(max_raw_ethy_qp), DEV(max_mcast_grp), DEV(max_mcast_qp_attach),                \
		DEV(max_total_mcast_qp_attach), DEV(max_ah), DEV(max_fmr), DEV(max_map_per_fmr),   \
		DEV(max_srq), DEV(max_srq_wr), DEV(max_srq_sge), DEV(max_pkeys),                   \
		DEV(local_ca_ack_delay), DEV(phys_port_cnt)

static const struct answer query_device_answers[] = {DEVICE_ANSWERS, {.name = NULL}};

static const struct request query_device = {
	.name = "device.query",
	WRITE(IB_USER_VERBS_CMD_QUERY_DEVICE),
	.args = {CORE(8, sizeof(struct ib_uverbs_query_device_resp))},
	.answers = query_device_answers,
};

#define DEVX(member) SHOW(OUT_CORE, ib_uverbs_ex_query_device_resp, member)
#define DRVX(member) SHOW(DRV_OUT, mlx5_ib_query_device_resp, member)
static const struct field query_device_ex_fields[] = {
	ASK(IN, ib_uverbs_ex_query_device, comp_mask, FLAGS),
	ASK(IN, ib_uverbs_ex_query_device, reserved, ZERO),
	{.name = NULL},
};
static const struct answer query_device_ex_answers[] = {
	DEVICE_ANSWERS,
	DEVX(comp_mask),
	DEVX(response_length),
	DEVX(odp_caps.general_caps),
	DEVX(odp_caps.per_transport_caps.rc_odp_caps),
	DEVX(odp_caps.per_transport_caps.uc_odp_caps),
	DEVX(odp_caps.per_transport_caps.ud_odp_caps),
	DEVX(timestamp_mask),
	DEVX(hca_core_clock),
	DEVX(device_cap_flags_ex),
	DEVX(rss_caps.supported_qpts),
	DEVX(rss_caps.max_rwq_indirection_tables),
	DEVX(rss_caps.max_rwq_indirection_table_size),
	DEVX(max_wq_type_rq),
	DEVX(raw_packet_caps),
	DEVX(tm_caps.max_rndv_hdr_size),
	DEVX(tm_caps.max_num_tags),
	DEVX(tm_caps.flags),
	DEVX(tm_caps.max_ops),
	DEVX(tm_caps.max_sge),
	DEVX(cq_moderation_caps.max_cq_moderation_count),
	DEVX(cq_moderation_caps.max_cq_moderation_period),
	DEVX(max_dm_size),
	DEVX(xrc_odp_caps),
	DRVX(comp_mask),
	DRVX(response_length),
	DRVX(tso_caps.max_tso),
	DRVX(tso_caps.supported_qpts),
	DRVX(rss_caps.rx_hash_fields_mask),
	DRVX(rss_caps.rx_hash_function),
	DRVX(cqe_comp_caps.max_num),
	DRVX(cqe_comp_caps.supported_format),
	DRVX(packet_pacing_caps.qp_rate_limit_min),
	DRVX(packet_pacing_caps.qp_rate_limit_max),
	DRVX(packet_pacing_caps.supported_qpts),
	DRVX(mlx5_ib_support_multi_pkt_send_wqes),
	DRVX(flags),
	DRVX(sw_parsing_caps.sw_parsing_offloads),
	DRVX(striding_rq_caps.supported_qpts),
	DRVX(tunnel_offloads_caps),
	DRVX(dci_streams_caps.max_log_num_concurent),
	DRVX(dci_streams_caps.max_log_num_errored),
	{.name = NULL},
};

static const struct request query_device_ex = {
	.name = "device.query_ex",
	WRITE(EX(IB_USER_VERBS_CMD_QUERY_DEVICE)),
	.args = {CORE(8, sizeof(struct ib_uverbs_ex_query_device_resp)),
		 {DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_query_device_resp)}},
	.fields = query_device_ex_fields,
	.answers = query_device_ex_answers,
};

#define PORT_OUT(member) SHOW(UVERBS_ATTR_QUERY_PORT_RESP, ib_uverbs_query_port_resp, member)
static const struct field query_port_fields[] = {
	{"port", UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0, 8, COUNT},
	{.name = NULL},
};
static const struct answer query_port_answers[] = {
	PORT_OUT(port_cap_flags),
	PORT_OUT(max_msg_sz),
	PORT_OUT(bad_pkey_cntr),
	PORT_OUT(qkey_viol_cntr),
	PORT_OUT(gid_tbl_len),
	PORT_OUT(pkey_tbl_len),
	PORT_OUT(lid),
	PORT_OUT(sm_lid),
	PORT_OUT(state),
	PORT_OUT(max_mtu),
	PORT_OUT(active_mtu),
	PORT_OUT(lmc),
	PORT_OUT(max_vl_num),
	PORT_OUT(sm_sl),
	PORT_OUT(subnet_timeout),
	PORT_OUT(init_type_reply),
	PORT_OUT(active_width),
	PORT_OUT(active_speed),
	PORT_OUT(phys_state),
	PORT_OUT(link_layer),
	PORT_OUT(flags),
	{.name = NULL},
};

static void fill_query_port(struct call *c)
{
	put_value(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
}

static const struct request query_port = {
	.name = "port.query",
	.object = UVERBS_OBJECT_DEVICE,
	.method = UVERBS_METHOD_QUERY_PORT,
	.args = {{UVERBS_ATTR_QUERY_PORT_PORT_NUM, INPUT, 8},
		 {UVERBS_ATTR_QUERY_PORT_RESP, OUTPUT,
		  sizeof(struct ib_uverbs_query_port_resp_ex)}},
	.fields = query_port_fields,
	.answers = query_port_answers,
	.fill = fill_query_port,
};

static const struct field query_port_mlx5_fields[] = {
	{"port", MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 0, 4, COUNT},
	{.name = NULL},
};
static const struct answer query_port_mlx5_answers[] = {
	SHOW(MLX5_IB_ATTR_QUERY_PORT, mlx5_ib_uapi_query_port, flags),
	{.name = NULL},
};

static void fill_query_port_mlx5(struct call *c)
{
	put_value(c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 1);
}

static const struct request query_port_mlx5 = {
	.name = "port.query_mlx5",
	.object = UVERBS_OBJECT_DEVICE,
	.method = MLX5_IB_METHOD_QUERY_PORT,
	.args = {{MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, INPUT, 4},
		 {MLX5_IB_ATTR_QUERY_PORT, OUTPUT, sizeof(struct mlx5_ib_uapi_query_port)}},
	.fields = query_port_mlx5_fields,
	.answers = query_port_mlx5_answers,
	.fill = fill_query_port_mlx5,
};

static const struct field query_gid_fields[] = {
	{"port", UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 0, 8, COUNT},
	{"index", UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0, 8, COUNT},
	{"flags", UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, 4, FLAGS},
	{.name = NULL},
};
static const struct answer query_gid_answers[] = {
	SHOW(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, ib_uverbs_gid_entry, gid_index),
	SHOW(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, ib_uverbs_gid_entry, port_num),
	SHOW(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, ib_uverbs_gid_entry, gid_type),
	SHOW_SET(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, ib_uverbs_gid_entry, netdev_ifindex),
	{.name = NULL},
};

static void fill_query_gid(struct call *c)
{
	put_value(c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 1);
}

static const struct request query_gid = {
	.name = "gid.query",
	.object = UVERBS_OBJECT_DEVICE,
	.method = UVERBS_METHOD_QUERY_GID_ENTRY,
	.args = {{UVERBS_ATTR_QUERY_GID_ENTRY_PORT, INPUT, 8},
		 {UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, INPUT, 8},
		 {UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, OUTPUT,
		  sizeof(struct ib_uverbs_gid_entry)}},
	.fields = query_gid_fields,
	.answers = query_gid_answers,
	.fill = fill_query_gid,
};

static const struct field query_gids_fields[] = {
	{"entry size", UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0, 8, COUNT},
	{"flags", UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, 4, FLAGS},
	{.name = NULL},
};
static const struct answer query_gids_answers[] = {
	{"entries", UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 0, 8, SET},
	{.name = NULL},
};

static void fill_query_gids(struct call *c)
{
	put_value(c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(struct ib_uverbs_gid_entry));
}

static const struct request query_gids = {
	.name = "gid.query_table",
	.object = UVERBS_OBJECT_DEVICE,
	.method = UVERBS_METHOD_QUERY_GID_TABLE,
	.args = {{UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, INPUT, 8},
		 {UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, OUTPUT,
		  12 * sizeof(struct ib_uverbs_gid_entry)},
		 {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, OUTPUT, 8}},
	.fields = query_gids_fields,
	.answers = query_gids_answers,
	.fill = fill_query_gids,
};

#define CTX(member)	SHOW(DRV_OUT, mlx5_ib_alloc_ucontext_resp, member)
#define CTX_SET(member) SHOW_SET(DRV_OUT, mlx5_ib_alloc_ucontext_resp, member)
static const struct field get_context_fields[] = {
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, total_num_bfregs, COUNT),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, num_low_latency_bfregs, COUNT),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, flags, FLAGS),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, comp_mask, FLAGS),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, max_cqe_version, CODE),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, reserved0, ZERO),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, reserved1, ZERO),
	ASK(DRV_IN, mlx5_ib_alloc_ucontext_req_v2, reserved2, ZERO),
	{.name = NULL},
};
static const struct answer get_context_answers[] = {
	{"num_comp_vectors", UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 0, 4, SET},
	{"core_support", UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 0, 8, VALUE},
	CTX(qp_tab_size),
	CTX(bf_reg_size),
	CTX(tot_bfregs),
	CTX(cache_line_size),
	CTX(max_sq_desc_sz),
	CTX(max_rq_desc_sz),
	CTX(max_send_wqebb),
	CTX(max_recv_wr),
	CTX(max_srq_recv_wr),
	CTX(num_ports),
	CTX(flow_action_flags),
	CTX(comp_mask),
	CTX(response_length),
	CTX(cqe_version),
	CTX(cmds_supp_uhw),
	CTX(eth_min_inline),
	CTX(clock_info_versions),
	CTX(hca_core_clock_offset),
	CTX(log_uar_size),
	CTX(num_uars_per_page),
	CTX(num_dyn_bfregs),
	CTX_SET(dump_fill_mkey),
	{.name = NULL},
};

/* It is the first call of a file. */
static void fill_get_context(struct call *c)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.flags = MLX5_IB_ALLOC_UCTX_DEVX,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};

	if (answers_fd >= 0)
		close(answers_fd);
	answers_fd = open_cdev();
	put(c, DRV_IN, &req, sizeof(req));
}

#define CONTEXT_ARGS                                                                   \
	{                                                                              \
		{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, OUTPUT, 4},                 \
			{UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, OUTPUT, 8},             \
			{DRV_IN, INPUT, sizeof(struct mlx5_ib_alloc_ucontext_req_v2)}, \
		{                                                                      \
			DRV_OUT, OUTPUT, sizeof(struct mlx5_ib_alloc_ucontext_resp)    \
		}                                                                      \
	}

static const struct request create_context = {
	.name = "context.create",
	.object = UVERBS_OBJECT_DEVICE,
	.method = UVERBS_METHOD_GET_CONTEXT,
	.args = CONTEXT_ARGS,
	.fields = get_context_fields,
	.answers = get_context_answers,
	.fill = fill_get_context,
};

static const struct request query_context = {
	.name = "context.query",
	.object = UVERBS_OBJECT_DEVICE,
	.method = UVERBS_METHOD_QUERY_CONTEXT,
	.args = {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, OUTPUT, 4},
		 {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, OUTPUT, 8},
		 {MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, OUTPUT,
		  sizeof(struct mlx5_ib_alloc_ucontext_resp)}},
};

/* --- protection domains, memory --------------------------------------------------------------- */

static const struct answer alloc_pd_answers[] = {{"pdn", DRV_OUT, 0, 4, SET}, {.name = NULL}};

static const struct request alloc_pd_command = {
	.name = "pd.create",
	WRITE(IB_USER_VERBS_CMD_ALLOC_PD),
	.args = {CORE(8, 4), {DRV_OUT, OUTPUT, 4}},
	.answers = alloc_pd_answers,
	.creates = PD,
	.handle = OUT_CORE,
};

static void fill_query_pd(struct call *c)
{
	put_value(c, MLX5_IB_ATTR_QUERY_PD_HANDLE, pick(c, PD));
}

static const struct answer query_pd_answers[] = {
	{"pdn", MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 0, 4, SET},
	{.name = NULL},
};
static const struct request query_pd = {
	.name = "pd.query",
	.object = UVERBS_OBJECT_PD,
	.method = MLX5_IB_METHOD_PD_QUERY,
	.args = {{MLX5_IB_ATTR_QUERY_PD_HANDLE, OBJECT, 0},
		 {MLX5_IB_ATTR_QUERY_PD_RESP_PDN, OUTPUT, 4}},
	.answers = query_pd_answers,
	.fill = fill_query_pd,
};

static const struct field reg_mr_fields[] = {
	ASK(IN, ib_uverbs_reg_mr, start, ADDRESS),
	ASK(IN, ib_uverbs_reg_mr, length, LENGTH),
	ASK(IN, ib_uverbs_reg_mr, hca_va, ADDRESS),
	ASK(IN, ib_uverbs_reg_mr, pd_handle, HANDLE),
	ASK(IN, ib_uverbs_reg_mr, access_flags, FLAGS),
	{.name = NULL},
};
static const struct answer reg_mr_answers[] = {
	SHOW_SET(OUT_CORE, ib_uverbs_reg_mr_resp, lkey),
	SHOW_SET(OUT_CORE, ib_uverbs_reg_mr_resp, rkey),
	{.name = NULL},
};

static void fill_reg_mr(struct call *c)
{
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)ring,
		.hca_va = (uintptr_t)ring,
		.length = PAGE,
		.pd_handle = pick(c, PD),
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE,
	};

	put(c, IN, &req, sizeof(req));
}

static const struct request reg_mr_command = {
	.name = "mr.create",
	WRITE(IB_USER_VERBS_CMD_REG_MR),
	.args = {CORE(sizeof(struct ib_uverbs_reg_mr), sizeof(struct ib_uverbs_reg_mr_resp))},
	.fields = reg_mr_fields,
	.answers = reg_mr_answers,
	.fill = fill_reg_mr,
	.creates = MR,
	.handle = OUT_CORE,
};

static const struct field rereg_fields[] = {
	ASK(IN, ib_uverbs_rereg_mr, mr_handle, HANDLE),
	ASK(IN, ib_uverbs_rereg_mr, flags, FLAGS),
	ASK(IN, ib_uverbs_rereg_mr, flags, CODE),
	ASK(IN, ib_uverbs_rereg_mr, start, ADDRESS),
	ASK(IN, ib_uverbs_rereg_mr, length, LENGTH),
	ASK(IN, ib_uverbs_rereg_mr, hca_va, ADDRESS),
	ASK(IN, ib_uverbs_rereg_mr, pd_handle, HANDLE),
	ASK(IN, ib_uverbs_rereg_mr, access_flags, FLAGS),
	{.name = NULL},
};
static const struct answer rereg_answers[] = {
	SHOW_SET(OUT_CORE, ib_uverbs_rereg_mr_resp, lkey),
	SHOW_SET(OUT_CORE, ib_uverbs_rereg_mr_resp, rkey),
	{.name = NULL},
};

static void fill_rereg(struct call *c)
{
	struct ib_uverbs_rereg_mr req = {
		.mr_handle = pick(c, MR),
		.flags = 7,
		.start = (uintptr_t)ring,
		.hca_va = (uintptr_t)ring,
		.length = 2 * PAGE,
		.pd_handle = pick(c, PD),
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE,
	};

	put(c, IN, &req, sizeof(req));
}

static const struct request rereg = {
	.name = "mr.modify",
	WRITE(IB_USER_VERBS_CMD_REREG_MR),
	.args = {CORE(sizeof(struct ib_uverbs_rereg_mr), sizeof(struct ib_uverbs_rereg_mr_resp))},
	.fields = rereg_fields,
	.answers = rereg_answers,
	.fill = fill_rereg,
};

static void fill_query_mr(struct call *c)
{
	put_value(c, UVERBS_ATTR_QUERY_MR_HANDLE, pick(c, MR));
}

static const struct answer query_mr_answers[] = {
	{"lkey", UVERBS_ATTR_QUERY_MR_RESP_LKEY, 0, 4, SET},
	{"rkey", UVERBS_ATTR_QUERY_MR_RESP_RKEY, 0, 4, SET},
	{"length", UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 0, 8, VALUE},
	{"iova", UVERBS_ATTR_QUERY_MR_RESP_IOVA, 0, 8, SET},
	{.name = NULL},
};
static const struct request query_mr = {
	.name = "mr.query",
	.object = UVERBS_OBJECT_MR,
	.method = UVERBS_METHOD_QUERY_MR,
	.args = {{UVERBS_ATTR_QUERY_MR_HANDLE, OBJECT, 0},
		 {UVERBS_ATTR_QUERY_MR_RESP_LKEY, OUTPUT, 4},
		 {UVERBS_ATTR_QUERY_MR_RESP_RKEY, OUTPUT, 4},
		 {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, OUTPUT, 8},
		 {UVERBS_ATTR_QUERY_MR_RESP_IOVA, OUTPUT, 8}},
	.answers = query_mr_answers,
	.fill = fill_query_mr,
};

static const struct field dmabuf_fields[] = {
	{"offset", UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0, 8, ADDRESS},
	{"length", UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 0, 8, LENGTH},
	{"iova", UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0, 8, ADDRESS},
	{"fd", UVERBS_ATTR_REG_DMABUF_MR_FD, 0, 4, COUNT},
	{"access", UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 0, 4, FLAGS},
	{.name = NULL},
};

static void fill_dmabuf(struct call *c)
{
	put_value(c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pick(c, PD));
	put_value(c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, PAGE);
	put_value(c, UVERBS_ATTR_REG_DMABUF_MR_FD, 77);
	put_value(c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, IB_UVERBS_ACCESS_LOCAL_WRITE);
}

static const struct request reg_dmabuf = {
	.name = "mr.create_dmabuf of no file",
	.object = UVERBS_OBJECT_MR,
	.method = UVERBS_METHOD_REG_DMABUF_MR,
	.args = {{UVERBS_ATTR_REG_DMABUF_MR_HANDLE, NEW, 0},
		 {UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, OBJECT, 0},
		 {UVERBS_ATTR_REG_DMABUF_MR_OFFSET, INPUT, 8},
		 {UVERBS_ATTR_REG_DMABUF_MR_LENGTH, INPUT, 8},
		 {UVERBS_ATTR_REG_DMABUF_MR_IOVA, INPUT, 8},
		 {UVERBS_ATTR_REG_DMABUF_MR_FD, INPUT, 4},
		 {UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, OUTPUT, 4},
		 {UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, OUTPUT, 4}},
	.fields = dmabuf_fields,
	.fill = fill_dmabuf,
	.creates = MR,
	.handle = UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
};

static const struct field advise_fields[] = {
	{"advice", UVERBS_ATTR_ADVISE_MR_ADVICE, 0, 8, CODE},
	{"flags", UVERBS_ATTR_ADVISE_MR_FLAGS, 0, 4, FLAGS},
	ASK(UVERBS_ATTR_ADVISE_MR_SGE_LIST, ib_uverbs_sge, lkey, COUNT),
	{.name = NULL},
};

static void fill_advise(struct call *c)
{
	struct ib_uverbs_sge sge = {.addr = (uintptr_t)ring, .length = PAGE, .lkey = MISSING};

	put_value(c, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pick(c, PD));
	put(c, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &sge, sizeof(sge));
}

static const struct request advise = {
	.name = "mr.advise of a missing key",
	.object = UVERBS_OBJECT_MR,
	.method = UVERBS_METHOD_ADVISE_MR,
	.args = {{UVERBS_ATTR_ADVISE_MR_PD_HANDLE, OBJECT, 0},
		 {UVERBS_ATTR_ADVISE_MR_ADVICE, INPUT, 8},
		 {UVERBS_ATTR_ADVISE_MR_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_ADVISE_MR_SGE_LIST, INPUT, sizeof(struct ib_uverbs_sge)}},
	.fields = advise_fields,
	.fill = fill_advise,
};

static const struct field alloc_mw_fields[] = {
	ASK(IN, ib_uverbs_alloc_mw, pd_handle, HANDLE),
	ASK(IN, ib_uverbs_alloc_mw, mw_type, CODE),
	ASK(DRV_IN, mlx5_ib_alloc_mw, comp_mask, FLAGS),
	ASK(DRV_IN, mlx5_ib_alloc_mw, num_klms, COUNT),
	ASK(DRV_IN, mlx5_ib_alloc_mw, reserved1, ZERO),
	ASK(DRV_IN, mlx5_ib_alloc_mw, reserved2, ZERO),
	{.name = NULL},
};
static const struct answer alloc_mw_answers[] = {
	SHOW_SET(OUT_CORE, ib_uverbs_alloc_mw_resp, rkey),
	{.name = NULL},
};

static void fill_alloc_mw(struct call *c)
{
	struct ib_uverbs_alloc_mw req = {.pd_handle = pick(c, PD), .mw_type = 1};

	put(c, IN, &req, sizeof(req));
}

static const struct request alloc_mw = {
	.name = "mw.create",
	WRITE(IB_USER_VERBS_CMD_ALLOC_MW),
	.args = {CORE(sizeof(struct ib_uverbs_alloc_mw), sizeof(struct ib_uverbs_alloc_mw_resp)),
		 {DRV_IN, INPUT, sizeof(struct mlx5_ib_alloc_mw)}},
	.fields = alloc_mw_fields,
	.answers = alloc_mw_answers,
	.fill = fill_alloc_mw,
	.creates = MW,
	.handle = OUT_CORE,
};

static const struct field alloc_dm_fields[] = {
	{"length", UVERBS_ATTR_ALLOC_DM_LENGTH, 0, 8, LENGTH},
	{"alignment", UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0, 4, CODE},
	{"alignment", UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0, 4, COUNT},
	{.name = NULL},
};
static const struct answer alloc_dm_answers[] = {
	{"start", MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 0, 8, VALUE},
	{.name = NULL},
};

static void fill_alloc_dm(struct call *c)
{
	put_value(c, UVERBS_ATTR_ALLOC_DM_LENGTH, 64);
}

static const struct request alloc_dm_command = {
	.name = "dm.create",
	.object = UVERBS_OBJECT_DM,
	.method = UVERBS_METHOD_DM_ALLOC,
	.args = {{UVERBS_ATTR_ALLOC_DM_HANDLE, NEW, 0},
		 {UVERBS_ATTR_ALLOC_DM_LENGTH, INPUT, 8},
		 {UVERBS_ATTR_ALLOC_DM_ALIGNMENT, INPUT, 4},
		 {MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, OUTPUT, 8},
		 {MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, OUTPUT, 2}},
	.fields = alloc_dm_fields,
	.answers = alloc_dm_answers,
	.fill = fill_alloc_dm,
	.creates = DM,
	.handle = UVERBS_ATTR_ALLOC_DM_HANDLE,
};

static const struct field reg_dm_fields[] = {
	{"offset", UVERBS_ATTR_REG_DM_MR_OFFSET, 0, 8, LENGTH},
	{"length", UVERBS_ATTR_REG_DM_MR_LENGTH, 0, 8, LENGTH},
	{"access", UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 0, 4, FLAGS},
	{.name = NULL},
};

static void fill_reg_dm(struct call *c)
{
	put_value(c, UVERBS_ATTR_REG_DM_MR_LENGTH, 64);
	put_value(c, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pick(c, PD));
	put_value(c, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, pick(c, DM));
	put_value(c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS,
		  IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_ZERO_BASED);
}

static const struct request reg_dm = {
	.name = "mr.create_dm",
	.object = UVERBS_OBJECT_MR,
	.method = UVERBS_METHOD_DM_MR_REG,
	.args = {{UVERBS_ATTR_REG_DM_MR_HANDLE, NEW, 0},
		 {UVERBS_ATTR_REG_DM_MR_OFFSET, INPUT, 8},
		 {UVERBS_ATTR_REG_DM_MR_LENGTH, INPUT, 8},
		 {UVERBS_ATTR_REG_DM_MR_PD_HANDLE, OBJECT, 0},
		 {UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, INPUT, 4},
		 {UVERBS_ATTR_REG_DM_MR_DM_HANDLE, OBJECT, 0},
		 {UVERBS_ATTR_REG_DM_MR_RESP_LKEY, OUTPUT, 4},
		 {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, OUTPUT, 4}},
	.fields = reg_dm_fields,
	.fill = fill_reg_dm,
	.creates = MR,
	.handle = UVERBS_ATTR_REG_DM_MR_HANDLE,
};

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

static const struct request create_cq_command = {
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

static const struct request resize_cq_command = {
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

static const struct request modify_cq = {
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

static const struct request create_rc =
	QP_COMMAND("rc.create", fill_rc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
static const struct request create_rc_srq =
	QP_COMMAND("rc.create with an srq", fill_rc_srq, QP_OBJECT(PD), QP_OBJECT(SRQ),
		   QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
static const struct request create_uc =
	QP_COMMAND("uc.create", fill_uc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
static const struct request create_ud =
	QP_COMMAND("ud.create", fill_ud, QP_OBJECT(PD), QP_OBJECT(SEND_CQ), QP_OBJECT(RECV_CQ));
static const struct request create_ini =
	QP_COMMAND("xrc_ini.create", fill_ini, QP_OBJECT(PD), QP_OBJECT(SEND_CQ));
static const struct request create_ini_recv =
	QP_COMMAND("xrc_ini.create with a recv_cq", fill_rc, QP_OBJECT(PD), QP_OBJECT(SEND_CQ),
		   QP_OBJECT(RECV_CQ));
static const struct request create_tgt = QP_COMMAND("xrc_tgt.create", fill_tgt, QP_OBJECT(XRCD));

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

static const struct request create_srq_command = {
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

static const struct request create_xsrq = {
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

static const struct request modify_srq = {
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

static const struct request query_srq = {
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

static const struct request open_xrcd = {
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

static const struct request open_qp = {
	.name = "qp.open of a missing number",
	WRITE(IB_USER_VERBS_CMD_OPEN_QP),
	.args = {CORE(sizeof(struct ib_uverbs_open_qp), sizeof(struct ib_uverbs_create_qp_resp))},
	.fields = open_qp_fields,
	.fill = fill_open_qp,
	.creates = QP,
	.handle = OUT_CORE,
};

/* --- addresses -------------------------------------------------------------------------------- */

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

static const struct request create_ah_command = {
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

static const struct request attach = {
	.name = "mcast.attach to an rc",
	WRITE(IB_USER_VERBS_CMD_ATTACH_MCAST),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_attach_mcast)}},
	.fields = mcast_fields,
	.fill = fill_mcast,
};
static const struct request detach = {
	.name = "mcast.detach from an rc",
	WRITE(IB_USER_VERBS_CMD_DETACH_MCAST),
	.args = {{IN, INPUT, sizeof(struct ib_uverbs_attach_mcast)}},
	.fields = mcast_fields,
	.fill = fill_mcast,
};

/* --- DEVX ------------------------------------------------------------------------------------- */

static const struct field alloc_uar_fields[] = {
	{"type", MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0, 8, CODE},
	{.name = NULL},
};
static const struct answer alloc_uar_answers[] = {
	{"offset", MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 0, 8, SET},
	{"length", MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 0, 4, VALUE},
	{"page", MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 0, 4, SET},
	{.name = NULL},
};

static void fill_alloc_uar(struct call *c)
{
	put_value(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
}

static const struct request alloc_uar_command = {
	.name = "uar.create",
	.object = MLX5_IB_OBJECT_UAR,
	.method = MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	.args = {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, NEW, 0},
		 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, INPUT, 8},
		 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, OUTPUT, 8},
		 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, OUTPUT, 4},
		 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, OUTPUT, 4}},
	.fields = alloc_uar_fields,
	.answers = alloc_uar_answers,
	.fill = fill_alloc_uar,
	.creates = UAR,
	.handle = MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE,
};

static const struct field umem_fields[] = {
	{"address", MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 0, 8, ADDRESS},
	{"length", MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 0, 8, LENGTH},
	{"access", MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0, 4, FLAGS},
	{"pages", MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 0, 8, FLAGS},
	{"pages", MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 0, 8, LENGTH},
	{.name = NULL},
};
static const struct answer umem_answers[] = {
	{"id", MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 0, 4, SET},
	{.name = NULL},
};

static void fill_umem(struct call *c)
{
	put_value(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)ring);
	put_value(c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, PAGE);
	put_value(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, IB_UVERBS_ACCESS_LOCAL_WRITE);
	put_value(c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, PAGE);
}

static const struct request reg_umem_command = {
	.name = "umem.create",
	.object = MLX5_IB_OBJECT_DEVX_UMEM,
	.method = MLX5_IB_METHOD_DEVX_UMEM_REG,
	.args = {{MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, NEW, 0},
		 {MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, INPUT, 8},
		 {MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, INPUT, 8},
		 {MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, INPUT, 4},
		 {MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, INPUT, 8},
		 {MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, OUTPUT, 4}},
	.fields = umem_fields,
	.answers = umem_answers,
	.fill = fill_umem,
	.creates = UMEM,
	.handle = MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE,
};

static const struct field query_eqn_fields[] = {
	{"vector", MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0, 4, COUNT},
	{.name = NULL},
};
static const struct answer query_eqn_answers[] = {
	{"eqn", MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 0, 4, SET},
	{.name = NULL},
};
static const struct request query_eqn = {
	.name = "devx.query_eqn",
	.object = MLX5_IB_OBJECT_DEVX,
	.method = MLX5_IB_METHOD_DEVX_QUERY_EQN,
	.args = {{MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, INPUT, 4},
		 {MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, OUTPUT, 4}},
	.fields = query_eqn_fields,
	.answers = query_eqn_answers,
};

static const struct field query_uar_fields[] = {
	{"index", MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 0, 4, COUNT},
	{.name = NULL},
};
static const struct request query_uar = {
	.name = "devx.query_uar",
	.object = MLX5_IB_OBJECT_DEVX,
	.method = MLX5_IB_METHOD_DEVX_QUERY_UAR,
	.args = {{MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, INPUT, 4},
		 {MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, OUTPUT, 4}},
	.fields = query_uar_fields,
};

const struct request *const all_requests[] = {
	&query_device,
	&query_device_ex,
	&query_port,
	&query_port_mlx5,
	&query_gid,
	&query_gids,
	&query_context,
	&query_pd,
	&alloc_pd_command,
	&reg_mr_command,
	&rereg,
	&query_mr,
	&reg_dmabuf,
	&advise,
	&alloc_mw,
	&alloc_dm_command,
	&reg_dm,
	&create_cq_command,
	&resize_cq_command,
	&modify_cq,
	&create_rc,
	&create_uc,
	&create_ud,
	&create_ini,
	&create_tgt,
	&create_rc_srq,
	&create_ini_recv,
	&create_srq_command,
	&create_xsrq,
	&modify_srq,
	&query_srq,
	&open_xrcd,
	&open_qp,
	&create_ah_command,
	&attach,
	&detach,
	&alloc_uar_command,
	&reg_umem_command,
	&query_eqn,
	&query_uar,
};
const size_t num_requests = ARRAY_SIZE(all_requests);

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

static const struct request modify_qp = {
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

static const struct request query_qp = {
	.name = "qp.query",
	WRITE(IB_USER_VERBS_CMD_QUERY_QP),
	.args = {CORE(sizeof(struct ib_uverbs_query_qp), sizeof(struct ib_uverbs_query_qp_resp))},
	.answers = query_qp_answers,
	.fill = fill_query_qp,
};

const struct request *const random_requests[] = {
	&query_pd,	    &alloc_pd_command,	 &reg_mr_command, &query_mr,   &create_cq_command,
	&create_rc,	    &create_uc,		 &create_ud,	  &create_ini, &create_tgt,
	&create_rc_srq,	    &create_srq_command, &create_xsrq,	  &open_xrcd,  &open_qp,
	&create_ah_command, &reg_umem_command,	 &modify_qp,	  &modify_qp,  &modify_qp,
	&query_qp,
};
const size_t num_random = ARRAY_SIZE(random_requests);

const struct request *request_named(const char *name)
{
	for (size_t i = 0; i < num_requests; i++)
		if (!strcmp(all_requests[i]->name, name))
			return all_requests[i];
	return NULL;
}

void ask_before_context(void)
{
	sweep(&create_context);
}

static void destroy_errors(enum type type, const char *name)
{
	say("%s.destroy of a missing object", name);
	say_errno(pool_destroy(type, MISSING));
	say("\n%s.destroy of another type", name);
	say_errno(pool_destroy(type, pool_handle(type == PD ? CQ : PD)));
	say("\n");
}

void ask_verbs(void)
{
	static const struct request *const base[] = {
		&alloc_pd_command, &create_cq_command, &open_xrcd,	 &create_srq_command,
		&create_rc,	   &reg_mr_command,    &alloc_dm_command};
	static const struct {
		enum type type;
		const char *name;
	} kinds[] = {{PD, "pd"}, {CQ, "cq"},   {QP, "qp"},     {SRQ, "srq"},
		     {MR, "mr"}, {MW, "mw"},   {AH, "ah"},     {XRCD, "xrcd"},
		     {DM, "dm"}, {UAR, "uar"}, {UMEM, "umem"}, {MKEY, "mkey"}};

	use_memory();
	find_gid();
	for (size_t i = 0; i < ARRAY_SIZE(base); i++)
		keep(base[i]);
	for (size_t i = 0; i < num_requests; i++)
		sweep(all_requests[i]);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		destroy_errors(kinds[i].type, kinds[i].name);
	say("pd.destroy in use");
	say_errno(pool_destroy(PD, pool_handle(PD)));
	say("\ncq.destroy in use");
	say_errno(pool_destroy(CQ, pool_handle(CQ)));
	say("\n");
}
