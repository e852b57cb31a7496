/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What programs ask about an id: addresses, paths, GIDs, and the attributes of its queue pair. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/server/card/pkey.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/path.h"

#define PORT	  1u
#define PKEY	  0xffffu
#define QPT_UD	  4u
#define QPS_ERR	  6u
#define QPS_RTR	  2u
#define A_STATE	  (1u << 0)
#define A_ACCESS  (1u << 3)
#define A_PKEY	  (1u << 4)
#define A_PORT	  (1u << 5)
#define A_QKEY	  (1u << 6)
#define A_TIMEOUT (1u << 9)

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void fill_route(struct rdma_ucm_query_route_resp *r, const struct emu_cma_id *id)
{
	struct ib_user_path_rec *p = &r->ib_route[0];

	if (!id->has_path) {
		emu_addr_gid(&id->dst, p->dgid);
		emu_addr_gid(&id->src, p->sgid);
		p->pkey = htons(PKEY);
		return;
	}
	r->num_paths = 1;
	memcpy(p->dgid, id->path.dgid, sizeof(p->dgid));
	memcpy(p->sgid, id->path.sgid, sizeof(p->sgid));
	p->flow_label = htonl(id->path.flow_label);
	p->reversible = 1;
	p->mtu = id->path.mtu;
	p->pkey = htons(id->path.pkey);
	p->hop_limit = id->path.hop_limit;
	p->traffic_class = id->path.traffic_class;
	p->sl = id->path.sl;
	p->mtu_selector = EMU_PATH_EQUAL;
	p->rate_selector = EMU_PATH_EQUAL;
	p->rate = id->path.rate;
	p->packet_life_time_selector = EMU_PATH_EQUAL;
	p->packet_life_time = id->path.packet_life_time;
}

/* The device that returns after a failure is not the one that the id had. */
static bool has_device(const struct emu_cma_id *id)
{
	return id->func && id->state != EMU_CMA_REMOVED;
}

int emu_cma_query_route(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_query_route_resp r = {0};
	struct rdma_ucm_query cmd;
	struct emu_cma_id *id;
	int err;

	if (c->out < offsetof(struct rdma_ucm_query_route_resp, ibdev_index))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	memcpy(&r.src_addr, &id->src, sizeof(r.src_addr));
	memcpy(&r.dst_addr, &id->dst, sizeof(r.dst_addr));
	if (has_device(id)) {
		r.node_guid = htobe64(id->func->node_guid);
		r.ibdev_index = id->func->ibdev;
		r.port_num = PORT;
		fill_route(&r, id);
	}
	return emu_cma_out(c, cmd.response, &r, least(c->out, sizeof(r)));
}

static void fill_device(struct rdma_ucm_query_addr_resp *r, const struct emu_cma_id *id)
{
	if (!has_device(id))
		return;
	r->node_guid = htobe64(id->func->node_guid);
	r->ibdev_index = id->func->ibdev;
	r->port_num = PORT;
	r->pkey = htons(PKEY);
}

static int query_addr(const struct emu_cma_cmd *c, const struct emu_cma_id *id, uint64_t to)
{
	struct rdma_ucm_query_addr_resp r = {0};

	if (c->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	r.src_size = (uint16_t)emu_addr_size(&id->src, sizeof(id->src));
	memcpy(&r.src_addr, &id->src, r.src_size);
	r.dst_size = (uint16_t)emu_addr_size(&id->dst, sizeof(id->dst));
	memcpy(&r.dst_addr, &id->dst, r.dst_size);
	fill_device(&r, id);
	return emu_cma_out(c, to, &r, least(c->out, sizeof(r)));
}

/* An end of the id as a GID with its service ID. */
static void put_gid(struct __kernel_sockaddr_storage *to, const struct emu_cma_id *id,
		    const struct sockaddr_storage *addr, const uint8_t gid[16])
{
	struct emu_sockaddr_ib ib = {.sib_family = AF_IB};

	if (addr->ss_family == AF_IB) {
		memcpy(to, addr, sizeof(ib));
		return;
	}
	if (id->func) {
		ib.sib_pkey = htons(PKEY);
		if (id->has_path || id->state >= EMU_CMA_ADDR_RESOLVED)
			memcpy(ib.sib_addr, gid, sizeof(ib.sib_addr));
		else
			emu_addr_gid(addr, ib.sib_addr);
	}
	ib.sib_sid = htobe64(emu_cma_service_id(id, addr));
	memcpy(to, &ib, sizeof(ib));
}

static int query_gid(const struct emu_cma_cmd *c, const struct emu_cma_id *id, uint64_t to)
{
	struct rdma_ucm_query_addr_resp r = {0};

	if (c->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	fill_device(&r, id);
	r.src_size = r.dst_size = sizeof(struct emu_sockaddr_ib);
	put_gid(&r.src_addr, id, &id->src, id->path.sgid);
	put_gid(&r.dst_addr, id, &id->dst, id->path.dgid);
	return emu_cma_out(c, to, &r, least(c->out, sizeof(r)));
}

/* The kernel stores a path only if there is room for more than it. */
static int query_path(const struct emu_cma_cmd *c, const struct emu_cma_id *id, uint64_t to)
{
	struct rdma_ucm_query_path_resp head = {.num_paths = id->has_path};
	struct ib_path_rec_data path = {.flags = EMU_PATH_FLAGS};
	uint8_t r[sizeof(head) + sizeof(path)];
	size_t len = sizeof(head);

	if (c->out < len)
		return -ENOSPC;
	memcpy(r, &head, sizeof(head));
	if (id->has_path && c->out - len > sizeof(path)) {
		emu_cma_pack_path(&id->path, (uint8_t *)path.path_rec);
		memcpy(r + len, &path, sizeof(path));
		len += sizeof(path);
	}
	return emu_cma_out(c, to, r, len);
}

int emu_cma_query(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_query cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	switch (cmd.option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(c, id, cmd.response);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(c, id, cmd.response);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(c, id, cmd.response);
	default:
		return -ENOSYS;
	}
}

/* Without a connection, and for datagrams: what INIT needs, whatever the state. */
static void first_attr(struct emu_cma_id *id, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = A_STATE | A_PKEY | A_PORT;
	if (id->qp_type == QPT_UD) {
		a->qkey = emu_cma_qkey(id);
		a->qp_attr_mask |= A_QKEY;
	} else {
		a->qp_attr_mask |= A_ACCESS;
	}
}

/* False: the port is not in the partition of all RoCE connections (the kernel's ib_find_cached_pkey()). */
static bool set_pkey_index(const struct emu_cma_id *id, struct ib_uverbs_qp_attr *a)
{
	int index = emu_pkey_find(id->func, PKEY);

	a->pkey_index = (uint16_t)index;
	return index >= 0;
}

int emu_cma_init_qp_attr(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_init_qp_attr cmd;
	struct ib_uverbs_qp_attr a = {0};
	struct emu_cma_id *id;
	int err;

	if (c->out < sizeof(a))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.qp_state > QPS_ERR)
		return -EINVAL;
	err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	if (err)
		return err;
	a.qp_state = cmd.qp_state;
	if (!id->conn || id->qp_type == QPT_UD)
		first_attr(id, &a);
	else
		err = emu_cm_qp_attr(id->conn, (uint8_t)cmd.qp_state, &a);
	if (err)
		return err;
	a.qp_state = cmd.qp_state;
	a.port_num = PORT;
	if (a.qp_attr_mask & A_PKEY && !set_pkey_index(id, &a))
		return -ENOENT;
	if (a.ah_attr.is_global) {
		a.ah_attr.port_num = PORT;
		a.ah_attr.grh.sgid_index = (uint8_t)emu_cma_sgid_index(emu_cm_path(id->conn));
	}
	if (cmd.qp_state == QPS_RTR)
		a.rq_psn = id->psn;
	if (a.qp_attr_mask & A_TIMEOUT && id->has_timeout)
		a.timeout = id->timeout;
	return emu_cma_out(c, cmd.response, &a, sizeof(a));
}
