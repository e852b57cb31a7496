/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/handlers.h"

#include <endian.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "emu/ipc/path_mtu.h"
#include "emu/ipc/pci_ids.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/server/uverbs/cmd.h"

#define VENDOR_ID      0x02c9
#define MAX_MSG	       (1u << 30)
#define PORT_DOWN      1 /* enum ib_port_state */
#define PORT_ACTIVE    4
#define PHYS_DISABLED  3
#define PHYS_LINK_UP   5
#define LINK_ETHERNET  2
#define MIN_PKEYS      128 /* Linux, mlx5_to_sw_pkey_sz(): what the smallest table counts as */
#define TIMESTAMP_MASK (UINT64_MAX >> 1) /* Linux, mlx5_ib_query_device() */

/* enum ibv_device_cap_flags */
#define CAP_CHANGE_PHY_PORT   (1u << 5)
#define CAP_PORT_ACTIVE_EVENT (1u << 10)
#define CAP_SYS_IMAGE_GUID    (1u << 11)
#define CAP_RC_RNR_NAK_GEN    (1u << 12)
#define CAP_MEM_WINDOW	      (1u << 17)
#define CAP_XRC		      (1u << 20)
#define CAP_MEM_MGT	      (1u << 21) /* local and remote invalidation, keys set by requests */
#define CAP_MEM_WINDOW_2B     (1u << 24)

static void fill_device(const struct emu_func *f, struct ib_uverbs_query_device_resp *r)
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
	r->hw_ver = EMU_PCI_REVISION;
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
	r->device_cap_flags = CAP_CHANGE_PHY_PORT | CAP_PORT_ACTIVE_EVENT | CAP_SYS_IMAGE_GUID |
			      CAP_RC_RNR_NAK_GEN | CAP_MEM_WINDOW | CAP_MEM_WINDOW_2B | CAP_XRC |
			      CAP_MEM_MGT;
	r->max_mcast_grp = EMU_NUM_GROUPS;
	r->max_mcast_qp_attach = EMU_GROUP_QPS;
	r->max_total_mcast_qp_attach = EMU_NUM_MEMBERS;
	r->max_ah = p->max_ah;
	r->max_srq = EMU_NUM_SRQS;
	r->max_srq_wr = 32767;
	r->max_srq_sge = 31;
	r->max_pkeys = (uint16_t)(p->max_pkeys > MIN_PKEYS ? p->max_pkeys : MIN_PKEYS);
	r->local_ca_ack_delay = 16;
	r->phys_port_cnt = EMU_PORTS;
}

int emu_write_query_device(struct emu_cmd *c)
{
	struct ib_uverbs_query_device_resp r;
	uint64_t response; /* where the answer of write() would go */
	int err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &response, sizeof(response));

	if (err)
		return err;
	fill_device(c->file->func, &r);
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

/* The transports and operations that support on-demand paging. */
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

#define KNOWN offsetof(struct mlx5_ib_query_device_resp, reserved)

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
	fill_device(c->file->func, &r.base);
	len = emu_attr_len(c, UVERBS_ATTR_CORE_OUT);
	r.response_length = (uint32_t)(len < sizeof(r) ? len : sizeof(r));
	r.device_cap_flags_ex = r.base.device_cap_flags;
	r.timestamp_mask = TIMESTAMP_MASK;
	r.hca_core_clock = 1000000; /* kHz: CQE time stamps count nanoseconds */
	fill_odp(&r);
	r.max_dm_size = c->file->func->card->profile->max_dm_size;
	r.cq_moderation_caps.max_cq_moderation_count = UINT16_MAX;
	r.cq_moderation_caps.max_cq_moderation_period = 0xfff; /* MLX5_MAX_CQ_PERIOD */
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	len = emu_attr_len(c, UVERBS_ATTR_UHW_OUT);
	uhw.response_length = (uint32_t)(len < KNOWN ? len : KNOWN);
	uhw.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	uhw.dci_streams_caps.max_log_num_concurent = EMU_LOG_DCI_STREAMS;
	uhw.dci_streams_caps.max_log_num_errored = EMU_LOG_DCI_ERRORED;
	fill_compression(c->file->func->card->profile, &uhw);
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

/* Both have 16 bits and stay at their end (IBA 14.2.5.6). */
static uint32_t violations(const struct emu_func *f, enum emu_counter id)
{
	uint64_t n = emu_counter_value(f, id);

	return n < UINT16_MAX ? (uint32_t)n : UINT16_MAX;
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
	p->gid_tbl_len = (int32_t)c->file->func->card->profile->max_gids;
	p->bad_pkey_cntr = violations(c->file->func, EMU_COUNTER_bad_pkey_cntr);
	p->qkey_viol_cntr = violations(c->file->func, EMU_COUNTER_qkey_viol_cntr);
	p->pkey_tbl_len = (uint16_t)c->file->func->card->profile->max_pkeys;
	p->lid = c->file->func->lid;
	p->sm_lid = c->file->func->sm_lid;
	p->state = c->file->func->port_down ? PORT_DOWN : PORT_ACTIVE;
	p->max_mtu = EMU_MTU_4096;
	p->active_mtu = emu_port_mtu(c->file->func);
	p->max_vl_num = 0;
	p->active_width = emu_width_code(c->file->func->card->profile->lanes);
	p->active_speed = emu_speed_code(c->file->func->lane_speed);
	p->phys_state = c->file->func->port_down ? PHYS_DISABLED : PHYS_LINK_UP;
	p->link_layer = LINK_ETHERNET;
	p->flags = IB_UVERBS_QPF_GRH_REQUIRED;
	return emu_attr_out(c, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
}

/* In units of 100 Mb/s. A port that is down has no speed. */
static int query_port_speed(struct emu_cmd *c)
{
	const uint64_t port = emu_attr_u64(c, EMU_UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, 0);
	const struct emu_func *f = c->file->func;
	uint64_t speed = 10ull * f->lane_speed * f->card->profile->lanes;

	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	if (f->port_down)
		speed = 0;
	return emu_attr_out_u64(c, EMU_UVERBS_ATTR_QUERY_PORT_SPEED_RESP, speed);
}

/*
 * The driver's port query describes the embedded switch, which is in legacy mode: no flag is set.
 */
static int query_port_mlx5(struct emu_cmd *c)
{
	static const struct mlx5_ib_uapi_query_port none;
	uint64_t port = emu_attr_u64(c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 0);

	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	return emu_attr_out(c, MLX5_IB_ATTR_QUERY_PORT, &none, sizeof(none));
}

/* As if_nametoindex(), which opens and closes a socket for each of the many calls. */
static uint32_t index_of(const char name[static 16])
{
	static int any = -1;
	struct ifreq r = {0};

	if (any < 0)
		any = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(r.ifr_name, name, 16);
	return any < 0 || ioctl(any, SIOCGIFINDEX, &r) ? 0 : (uint32_t)r.ifr_ifindex;
}

static void fill_gid(const struct emu_gid *g, unsigned int i, struct ib_uverbs_gid_entry *e)
{
	char netdev[16];

	emu_gid_netdev(g, netdev);
	memset(e, 0, sizeof(*e));
	memcpy(e->gid, g->raw, sizeof(g->raw));
	e->gid_index = i;
	e->port_num = 1;
	e->gid_type = g->type;
	e->netdev_ifindex = index_of(netdev);
}

static int query_gid_table(struct emu_cmd *c)
{
	uint64_t size = emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0);
	size_t room = emu_attr_len(c, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	const struct emu_func *f = c->file->func;
	const struct emu_gid *g;
	struct ib_uverbs_gid_entry e;
	uint8_t *buf;
	uint64_t n = 0;
	int err;

	if (emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0) || !size || size > EMU_PAGE ||
	    room % size)
		return -EINVAL;
	buf = calloc(EMU_MAX_GIDS, size);
	if (!buf)
		return -ENOMEM;
	for (unsigned int i = 0; (g = emu_gid_next(f, &i)); i++) {
		fill_gid(g, i, &e);
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
	const struct emu_func *f = c->file->func;
	struct ib_uverbs_gid_entry e;
	const struct emu_gid *g;

	if (emu_attr_u64(c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0) || port < 1 || port > EMU_PORTS ||
	    i >= f->card->profile->max_gids)
		return -EINVAL;
	g = emu_gid_at(f, (unsigned int)i);
	if (!g) {
		c->answer = "the entry is empty";
		return -ENODATA;
	}
	fill_gid(g, (unsigned int)i, &e);
	return emu_attr_out(c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
}

const struct emu_method emu_methods_device[] = {
	{
		.command.name = "port.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_QUERY_PORT,
		.handler = query_port,
		.attr = {{UVERBS_ATTR_QUERY_PORT_PORT_NUM, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_QUERY_PORT_RESP, EMU_A_OUT, true,
			  sizeof(struct ib_uverbs_query_port_resp_ex)}},
	},
	{
		.command.name = "port.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = EMU_UVERBS_METHOD_QUERY_PORT_SPEED,
		.handler = query_port_speed,
		.attr = {{EMU_UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, EMU_A_VALUE, true, 8},
			 {EMU_UVERBS_ATTR_QUERY_PORT_SPEED_RESP, EMU_A_RESULT, true, 8}},
	},
	{
		.command.name = "port.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = MLX5_IB_METHOD_QUERY_PORT,
		.handler = query_port_mlx5,
		.attr = {{MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, EMU_A_VALUE, true, 4},
			 {MLX5_IB_ATTR_QUERY_PORT, EMU_A_OUT, true,
			  sizeof(struct mlx5_ib_uapi_query_port)}},
	},
	{
		.command.name = "gid.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_QUERY_GID_TABLE,
		.handler = query_gid_table,
		.attr = {{UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, EMU_A_FLAGS, false, 0},
			 {UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, EMU_A_OUT, true, 0},
			 {UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, EMU_A_RESULT, true, 8}},
	},
	{
		.command.name = "gid.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_QUERY_GID_ENTRY,
		.handler = query_gid_entry,
		.attr = {{UVERBS_ATTR_QUERY_GID_ENTRY_PORT, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, EMU_A_FLAGS, true, 0},
			 {UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, EMU_A_OUT, true,
			  sizeof(struct ib_uverbs_gid_entry)}},
	},
	{.handler = NULL},
};
