/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Multicast groups. Ethernet has no subnet manager that must know the members: joining makes up the
 * group's GID, and the queue pair is attached to it by a verb.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "emu/server/card/gid.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"

#define QPT_UD	  4u
#define GROUP_QPN 0xffffffu
#define HOP_LIMIT 64u

/* The path to a group: from the id's own address. */
static struct emu_cm_path path_to(const struct emu_cma_id *id, const uint8_t mgid[16])
{
	struct emu_cm_path p = id->path;

	p.port = id->func;
	if (id->state == EMU_CMA_ADDR_BOUND)
		emu_addr_gid(&id->src, p.sgid);
	memcpy(p.dgid, mgid, sizeof(p.dgid));
	p.hop_limit = HOP_LIMIT;
	p.traffic_class = id->has_tos ? id->tos : 0;
	p.sl = p.traffic_class >> 5;
	return p;
}

static int report_joined(struct emu_cma_group *g)
{
	struct emu_cma_event *e = emu_cma_event_new(g->id, EMU_CMA_EV_MULTICAST_JOIN, 0);
	struct emu_cm_path p = path_to(g->id, g->mgid);

	if (!e)
		return -ENOMEM;
	e->group = g;
	e->resp.uid = g->uid;
	e->resp.id = g->number;
	e->resp.param.ud.qp_num = GROUP_QPN;
	e->resp.param.ud.qkey = emu_cma_qkey(g->id);
	emu_cma_fill_ah(&e->resp.param.ud.ah_attr, &p, g->mgid);
	emu_cma_event_send(e);
	return 0;
}

static int check(const struct emu_cma_id *id, const struct sockaddr_storage *addr)
{
	if (id->state != EMU_CMA_ADDR_BOUND && id->state != EMU_CMA_ADDR_RESOLVED)
		return -EINVAL;
	return id->qp_type != QPT_UD || emu_addr_is_zero(addr) ? -EINVAL : 0;
}

struct join {
	uint64_t response, uid;
	uint32_t id;
	uint16_t flags;
	struct sockaddr_storage addr;
};

static int join(const struct emu_cma_cmd *c, const struct join *j)
{
	struct rdma_ucm_create_id_resp r = {0};
	struct emu_cma_group *g;
	struct emu_cma_id *id;
	int err;

	if (c->out < sizeof(r))
		return -ENOSPC;
	if (j->flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	err = emu_cma_id_get_dev(c->file, j->id, &id);
	if (!err)
		err = check(id, &j->addr);
	if (err)
		return err;
	g = emu_cma_group_new(id);
	if (!g)
		return -ENOMEM;
	g->uid = j->uid;
	g->addr = j->addr;
	g->send_only = j->flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	emu_addr_gid(&j->addr, g->mgid);
	r.id = g->number;
	err = emu_cma_out(c, j->response, &r, sizeof(r));
	if (!err)
		err = report_joined(g);
	if (err)
		emu_cma_group_destroy(g);
	return err;
}

int emu_cma_join_ip_mcast(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_join_ip_mcast cmd;
	struct join j = {0};
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	memcpy(&j.addr, &cmd.addr, sizeof(cmd.addr));
	if (!emu_addr_size(&j.addr, sizeof(cmd.addr)))
		return -EINVAL;
	j.response = cmd.response;
	j.uid = cmd.uid;
	j.id = cmd.id;
	j.flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
	return join(c, &j);
}

int emu_cma_join_mcast(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_join_mcast cmd;
	struct join j = {0};
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	memcpy(&j.addr, &cmd.addr, sizeof(j.addr));
	if (!cmd.addr_size || cmd.addr_size != emu_addr_size(&j.addr, sizeof(j.addr)))
		return -EINVAL;
	j.response = cmd.response;
	j.uid = cmd.uid;
	j.id = cmd.id;
	j.flags = cmd.join_flags;
	return join(c, &j);
}

int emu_cma_leave_mcast(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct rdma_ucm_destroy_id cmd;
	struct emu_cma_group *g;
	int err;

	if (c->out < sizeof(r))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_group_get(c->file, cmd.id, &g);
	if (err)
		return err;
	r.events_reported = emu_cma_group_destroy(g);
	return emu_cma_out(c, cmd.response, &r, sizeof(r));
}
