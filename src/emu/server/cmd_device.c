/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts, device and port queries, protection domains, async files, doorbell pages. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"

#define VENDOR_ID     0x02c9
#define MAX_MSG	      (1u << 30)
#define NSEC	      1000000000u
#define PORT_ACTIVE   4
#define MTU_4096      5
#define WIDTH_4X      2
#define PHYS_LINK_UP  5
#define LINK_ETHERNET 2
/* enum ibv_device_cap_flags */
#define CAP_RC_RNR_NAK_GEN (1u << 12)
#define CAP_MEM_WINDOW	   (1u << 17)
#define CAP_XRC		   (1u << 20)
#define CAP_MEM_WINDOW_2B  (1u << 24)

static void fill_ucontext(struct mlx5_ib_alloc_ucontext_resp *r)
{
	memset(r, 0, sizeof(*r));
	r->qp_tab_size = 1u << 17;
	r->bf_reg_size = 512;
	r->cache_line_size = 64;
	r->max_sq_desc_sz = 1024;
	r->max_rq_desc_sz = 512;
	r->max_send_wqebb = 32768;
	r->max_recv_wr = 32768;
	r->max_srq_recv_wr = 32767;
	r->num_ports = EMU_PORTS;
	r->response_length = sizeof(*r);
	r->cqe_version = 1;
	r->clock_info_versions = 1u << MLX5_IB_CLOCK_INFO_V1;
	r->cmds_supp_uhw = 1u << 0 | 1u << 1; /* query_device, create_ah */
	r->log_uar_size = 12;
	r->num_uars_per_page = 1;
}

/*
 * The clock page, by which programs turn time stamps of CQEs into wall-clock time: stamps are
 * nanoseconds already, so it holds the distance of the two clocks. Page 0 is no doorbell page.
 */
static int write_clock_page(void)
{
	static bool done;
	struct mlx5_ib_clock_info info = {.mult = 1, .mask = UINT64_MAX};
	struct timespec wall, mono;

	if (done)
		return 0;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	info.nsec = (uint64_t)(wall.tv_sec - mono.tv_sec) * NSEC + (uint64_t)wall.tv_nsec -
		    (uint64_t)mono.tv_nsec;
	info.overflow_period = NSEC;
	if (pwrite(emu.uar_fd, &info, sizeof(info), 0) != (ssize_t)sizeof(info))
		return -ENOMEM;
	done = true;
	return 0;
}

static int out_context(struct emu_cmd *c, uint16_t resp)
{
	struct mlx5_ib_alloc_ucontext_resp r;
	int err;

	fill_ucontext(&r);
	err = write_clock_page();
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
				       EMU_COMP_VECTORS);
	if (!err)
		err = emu_attr_out_u64(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
				       IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	return err ? err : emu_attr_out(c, resp, &r, sizeof(r));
}

static int get_context(struct emu_cmd *c)
{
	static uint16_t last_uid;
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	int err;

	if (c->file->has_context)
		return -EINVAL;
	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (err)
		return err;
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return -EOPNOTSUPP; /* static doorbell pages: long gone from libmlx5 */
	err = out_context(c, UVERBS_ATTR_UHW_OUT);
	if (err)
		return err;
	if (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) {
		if (!++last_uid)
			last_uid = 1;
		c->file->devx_uid = last_uid;
	}
	c->file->has_context = true;
	emu.count.contexts++;
	return 0;
}

static int query_context(struct emu_cmd *c)
{
	return out_context(c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
}

void emu_query_device_fill(const struct emu_func *f, struct ib_uverbs_query_device_resp *r)
{
	const struct emu_profile *p = f->card->profile;

	memset(r, 0, sizeof(*r));
	r->fw_ver = p->fw_ver;
	r->node_guid = htobe64(f->node_guid);
	r->sys_image_guid = htobe64(f->card->guid);
	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = ~(uint64_t)(EMU_PAGE - 1);
	r->vendor_id = VENDOR_ID;
	r->vendor_part_id = f->card->profile->part_id;
	r->max_qp = p->max_qp;
	r->max_qp_wr = 32768;
	r->max_sge = 30;
	r->max_sge_rd = 30;
	r->max_cq = p->max_cq;
	r->max_cqe = (1u << 22) - 1;
	r->max_mr = p->max_mr;
	r->max_pd = p->max_pd;
	r->max_qp_rd_atom = 16;
	r->max_qp_init_rd_atom = 16;
	r->max_res_rd_atom = 16 * p->max_qp;
	r->atomic_cap = 1; /* IBV_ATOMIC_HCA */
	r->max_mw = p->max_mr;
	r->device_cap_flags = CAP_MEM_WINDOW | CAP_MEM_WINDOW_2B | CAP_XRC | CAP_RC_RNR_NAK_GEN;
	r->max_ah = INT32_MAX;
	r->max_srq = EMU_NUM_SRQS;
	r->max_srq_wr = 32767;
	r->max_srq_sge = 31;
	r->max_pkeys = 1;
	r->local_ca_ack_delay = 16;
	r->phys_port_cnt = EMU_PORTS;
}

int emu_write_query_device(struct emu_cmd *c)
{
	struct ib_uverbs_query_device_resp r;

	emu_query_device_fill(c->file->func, &r);
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

/* What each transport may do to pages that are not there, as the driver announces it. */
static void fill_odp(struct ib_uverbs_ex_query_device_resp *r)
{
	enum { SEND = 1, RECV = 2, WRITE = 4, READ = 8, ATOMIC = 16, SRQ_RECV = 32 };

	r->odp_caps.general_caps = 3; /* IBV_ODP_SUPPORT, IBV_ODP_SUPPORT_IMPLICIT */
	r->odp_caps.per_transport_caps.rc_odp_caps = SEND | RECV | WRITE | READ | ATOMIC | SRQ_RECV;
	r->odp_caps.per_transport_caps.ud_odp_caps = SEND | SRQ_RECV;
	r->xrc_odp_caps = SEND | WRITE | READ | ATOMIC | SRQ_RECV;
}

static void fill_compression(const struct emu_profile *p, struct mlx5_ib_query_device_resp *r)
{
	if (!p->max_session)
		return;
	r->cqe_comp_caps.max_num = p->max_session;
	r->cqe_comp_caps.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH |
					    MLX5_IB_CQE_RES_FORMAT_CSUM |
					    MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	r->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
}

int emu_write_query_device_ex(struct emu_cmd *c)
{
	struct ib_uverbs_ex_query_device_resp r = {0};
	struct mlx5_ib_query_device_resp uhw = {0};
	struct ib_uverbs_ex_query_device req;
	size_t len;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || req.reserved)
		return -EINVAL;
	emu_query_device_fill(c->file->func, &r.base);
	r.response_length = sizeof(r);
	r.timestamp_mask = UINT64_MAX;
	r.hca_core_clock = 1000000; /* kHz: CQE time stamps count nanoseconds */
	fill_odp(&r);
	r.max_dm_size = c->file->func->card->profile->max_dm_size;
	r.cq_moderation_caps.max_cq_moderation_count = UINT16_MAX;
	r.cq_moderation_caps.max_cq_moderation_period = 0xfff; /* MLX5_MAX_CQ_PERIOD */
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	len = emu_attr_len(c, UVERBS_ATTR_UHW_OUT);
	uhw.response_length = (uint32_t)(len < sizeof(uhw) ? len : sizeof(uhw));
	uhw.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	fill_compression(c->file->func->card->profile, &uhw);
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

static int query_port(struct emu_cmd *c)
{
	struct ib_uverbs_query_port_resp_ex r = {0};
	struct ib_uverbs_query_port_resp *p = &r.legacy_resp;
	uint64_t port = emu_attr_u64(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0);

	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	p->port_cap_flags = EMU_PORT_CAP;
	p->max_msg_sz = MAX_MSG;
	p->gid_tbl_len = EMU_GIDS;
	p->pkey_tbl_len = 1;
	p->state = PORT_ACTIVE;
	p->max_mtu = MTU_4096;
	p->active_mtu = MTU_4096;
	p->max_vl_num = 0;
	p->active_width = WIDTH_4X;
	p->active_speed = c->file->func->card->profile->port_speed;
	p->phys_state = PHYS_LINK_UP;
	p->link_layer = LINK_ETHERNET;
	p->flags = IB_UVERBS_QPF_GRH_REQUIRED;
	return emu_attr_out(c, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
}

/* The driver's own port query tells of the embedded switch, which is in legacy mode: no flag is
 * set. */
static int query_port_mlx5(struct emu_cmd *c)
{
	static const struct mlx5_ib_uapi_query_port none;
	uint64_t port = emu_attr_u64(c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 0);

	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	return emu_attr_out(c, MLX5_IB_ATTR_QUERY_PORT, &none, sizeof(none));
}

static bool gid_valid(const struct emu_func *f, unsigned int i)
{
	static const uint8_t none[16];

	return memcmp(f->gid[i], none, sizeof(none)) != 0;
}

static void fill_gid(const struct emu_func *f, unsigned int i, struct ib_uverbs_gid_entry *e)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->gid, f->gid[i], sizeof(f->gid[i]));
	e->gid_index = i;
	e->port_num = 1;
	e->gid_type = f->gid_type[i];
}

static int query_gid_table(struct emu_cmd *c)
{
	uint64_t size = emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0);
	size_t room = emu_attr_len(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	const struct emu_func *f = c->file->func;
	struct ib_uverbs_gid_entry e;
	uint8_t *buf;
	uint64_t n = 0;
	unsigned int i;
	int err;

	if (emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0) || !size || size > EMU_PAGE ||
	    room % size)
		return -EINVAL;
	buf = calloc(EMU_GIDS, size);
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < EMU_GIDS; i++) {
		if (!gid_valid(f, i))
			continue;
		fill_gid(f, i, &e);
		memcpy(buf + n++ * size, &e, size < sizeof(e) ? size : sizeof(e));
	}
	err = n * size > room ? -EINVAL : 0;
	if (!err)
		err = emu_attr_out(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, buf, n * size);
	if (!err)
		err = emu_attr_out_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, n);
	free(buf);
	return err;
}

static int query_gid_entry(struct emu_cmd *c)
{
	uint64_t port = emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 0);
	uint64_t i = emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	struct ib_uverbs_gid_entry e;

	if (emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0) || port < 1 || port > EMU_PORTS ||
	    i >= EMU_GIDS)
		return -EINVAL;
	if (!gid_valid(c->file->func, (unsigned int)i))
		return -ENODATA;
	fill_gid(c->file->func, (unsigned int)i, &e);
	return emu_attr_out(c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
}

int emu_write_alloc_pd(struct emu_cmd *c)
{
	static uint32_t last_pdn;
	struct ib_uverbs_alloc_pd_resp r = {0};
	struct emu_pd *pd;
	int err;

	pd = emu_uobj_new(c->file, EMU_T_PD, sizeof(*pd));
	if (!pd)
		return -ENOMEM;
	last_pdn = (last_pdn + 1) & 0xffffff;
	pd->pdn = last_pdn;
	r.pd_handle = pd->obj.handle;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_UHW_OUT, pd->pdn);
	if (err)
		emu_uobj_free(&pd->obj);
	return err;
}

static int pd_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_DESTROY_PD_HANDLE));
}

static int pd_query(struct emu_cmd *c)
{
	const struct emu_pd *pd = emu_attr_obj(c, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return emu_attr_out_u32(c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->pdn);
}

int emu_give_events(struct emu_cmd *c, enum emu_events_kind kind, uint16_t attr,
		    struct emu_events **e)
{
	struct emu_events *made;
	int peer, err;

	err = emu_events_create(c->file, kind, &made, &peer);
	if (!err && e)
		*e = made;
	return err ? err : emu_cmd_give_fd(c, attr, peer);
}

static int async_alloc(struct emu_cmd *c)
{
	return emu_give_events(c, EMU_EVENTS_ASYNC, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, NULL);
}

int emu_write_comp_channel(struct emu_cmd *c)
{
	if (emu_attr_len(c, UVERBS_ATTR_CORE_OUT) < sizeof(uint32_t))
		return -ENOSPC;
	return emu_give_events(c, EMU_EVENTS_COMPLETION, UVERBS_ATTR_CORE_OUT, NULL);
}

/* --- doorbell pages ------------------------------------------------------------------------------
 */

#define NUARS	       65536u
#define UAR_MMAP_CMD   10u
#define CLOCK_MMAP_CMD 7u /* MLX5_IB_MMAP_CLOCK_INFO */

static uint8_t uar_used[NUARS];

/* The lowest free one: a CQ of verbs names it by 16 bits. */
static uint32_t take_uar(void)
{
	uint32_t n;

	for (n = 1; n < NUARS; n++) {
		if (!uar_used[n]) {
			uar_used[n] = 1;
			return n;
		}
	}
	return 0;
}

bool emu_has_uar(const struct emu_file *f, uint64_t page)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++)
		if (f->objs[i] && f->objs[i]->type == EMU_T_UAR &&
		    ((struct emu_uar *)f->objs[i])->page == page)
			return true;
	return false;
}

uint64_t emu_mmap_offset(uint32_t cmd, uint32_t index)
{
	return (((uint64_t)(index >> 8) << 16) | (cmd << 8) | (index & 0xff)) * EMU_PAGE;
}

static int uar_alloc(struct emu_cmd *c)
{
	uint64_t type = emu_attr_u64(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0);
	struct emu_uar *u;
	int err;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	u = emu_uobj_new(c->file, EMU_T_UAR, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->page = take_uar();
	emu_attr_new(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &u->obj);
	if (!u->page)
		return -ENOMEM;
	err = emu_attr_out_u64(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
			       emu_mmap_offset(UAR_MMAP_CMD, u->page));
	if (!err)
		err = emu_attr_out_u32(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, EMU_PAGE);
	return err ? err : emu_attr_out_u32(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, u->page);
}

int emu_uar_undo(struct emu_uobj *o)
{
	uar_used[((struct emu_uar *)o)->page] = 0;
	return 0;
}

static int uar_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE));
}

/* --- mmap: which page of which segment an offset stands for
 * ---------------------------------------- */

static int map_uar(const struct emu_file *f, uint32_t page, uint64_t len, uint64_t *off)
{
	if (len != EMU_PAGE || !emu_has_uar(f, page))
		return -EINVAL;
	*off = (uint64_t)page * EMU_PAGE;
	return emu.uar_fd;
}

static int map_dm(struct emu_file *f, uint32_t handle, uint64_t len, uint64_t *off)
{
	const struct emu_dm *dm = emu_uobj_get(f, handle, EMU_T_DM);

	if (!dm || len != (uint64_t)dm->npages * EMU_PAGE)
		return -EINVAL;
	*off = dm->offset;
	return emu.dm_fd;
}

int emu_mmap(struct emu_file *f, uint64_t offset, uint64_t len, uint64_t *off)
{
	uint64_t pgoff = offset / EMU_PAGE;
	uint32_t cmd = (pgoff >> 8) & 0xff;
	uint64_t index = (pgoff & 0xff) | pgoff >> 16 << 8;

	if (offset % EMU_PAGE || index >= NUARS)
		return -EINVAL;
	if (cmd == CLOCK_MMAP_CMD && !index && len == EMU_PAGE) {
		*off = 0;
		return emu.uar_fd;
	}
	if (cmd == UAR_MMAP_CMD)
		return map_uar(f, (uint32_t)index, len, off);
	if (cmd == EMU_DM_MMAP_CMD)
		return map_dm(f, (uint32_t)index, len, off);
	return -EINVAL;
}

#define DEVICE UVERBS_OBJECT_DEVICE

const struct emu_method emu_methods_device[] = {
	{DEVICE,
	 UVERBS_METHOD_INVOKE_WRITE,
	 emu_invoke_write,
	 {{UVERBS_ATTR_CORE_IN, EMU_A_IN, false, 0},
	  {UVERBS_ATTR_CORE_OUT, EMU_A_OUT, false, 0},
	  {UVERBS_ATTR_WRITE_CMD, EMU_A_IN, true, 0},
	  {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
	  {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}}},
	{DEVICE,
	 UVERBS_METHOD_GET_CONTEXT,
	 get_context,
	 {{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, EMU_A_OUT, false, 4},
	  {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, EMU_A_OUT, false, 8},
	  {UVERBS_ATTR_UHW_IN, EMU_A_IN, true, 8},
	  {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, true, 0}}},
	{DEVICE,
	 UVERBS_METHOD_QUERY_CONTEXT,
	 query_context,
	 {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, EMU_A_OUT, false, 4},
	  {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, EMU_A_OUT, false, 8},
	  {MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, EMU_A_OUT, true, 0}}},
	{DEVICE,
	 UVERBS_METHOD_QUERY_PORT,
	 query_port,
	 {{UVERBS_ATTR_QUERY_PORT_PORT_NUM, EMU_A_IN, true, 0},
	  {UVERBS_ATTR_QUERY_PORT_RESP, EMU_A_OUT, true, 0}}},
	{DEVICE,
	 MLX5_IB_METHOD_QUERY_PORT,
	 query_port_mlx5,
	 {{MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, EMU_A_IN, true, 4},
	  {MLX5_IB_ATTR_QUERY_PORT, EMU_A_OUT, true, 8}}},
	{DEVICE,
	 UVERBS_METHOD_QUERY_GID_TABLE,
	 query_gid_table,
	 {{UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, EMU_A_IN, true, 0},
	  {UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, EMU_A_IN, false, 0},
	  {UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, EMU_A_OUT, true, 0},
	  {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, EMU_A_OUT, true, 8}}},
	{DEVICE,
	 UVERBS_METHOD_QUERY_GID_ENTRY,
	 query_gid_entry,
	 {{UVERBS_ATTR_QUERY_GID_ENTRY_PORT, EMU_A_IN, true, 0},
	  {UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, EMU_A_IN, true, 0},
	  {UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, EMU_A_IN, false, 0},
	  {UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, EMU_A_OUT, true, 0}}},
	{UVERBS_OBJECT_PD,
	 UVERBS_METHOD_PD_DESTROY,
	 pd_destroy,
	 {{UVERBS_ATTR_DESTROY_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD}}},
	{UVERBS_OBJECT_PD,
	 MLX5_IB_METHOD_PD_QUERY,
	 pd_query,
	 {{MLX5_IB_ATTR_QUERY_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
	  {MLX5_IB_ATTR_QUERY_PD_RESP_PDN, EMU_A_OUT, true, 4}}},
	{UVERBS_OBJECT_ASYNC_EVENT,
	 UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	 async_alloc,
	 {{UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, EMU_A_NEWFD, true, 0}}},
	{MLX5_IB_OBJECT_UAR,
	 MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	 uar_alloc,
	 {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, EMU_A_NEW, true, 0},
	  {MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, EMU_A_IN, true, 0},
	  {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, EMU_A_OUT, true, 8},
	  {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, EMU_A_OUT, true, 4},
	  {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, EMU_A_OUT, true, 4}}},
	{MLX5_IB_OBJECT_UAR,
	 MLX5_IB_METHOD_UAR_OBJ_DESTROY,
	 uar_destroy,
	 {{MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, EMU_A_OBJ, true, EMU_T_UAR}}},
	{0, 0, NULL, {{0, 0, false, 0}}},
};
