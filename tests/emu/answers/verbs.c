/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands of uverbs: valid values, the fields to change, and the answers. */
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "verbs.h"

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

	begin_memory_verbs();
	begin_queue_verbs();
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
