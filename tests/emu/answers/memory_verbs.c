/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands of uverbs for domains and memory. */
#include <stdio.h>

#include "verbs.h"

/* --- protection domains, memory --------------------------------------------------------------- */

static const struct answer alloc_pd_answers[] = {{"pdn", DRV_OUT, 0, 4, SET}, {.name = NULL}};

const struct request alloc_pd_command = {
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
const struct request query_pd = {
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

const struct request reg_mr_command = {
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

const struct request rereg = {
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
const struct request query_mr = {
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

const struct request reg_dmabuf = {
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

const struct request advise = {
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

const struct request alloc_mw = {
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

const struct request alloc_dm_command = {
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

const struct request reg_dm = {
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

const struct request reg_umem_command = {
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

void begin_memory_verbs(void)
{
	use_memory();
}
