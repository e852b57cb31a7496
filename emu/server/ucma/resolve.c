/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses and routes. On the fabric every port reaches every other one, so the answers are known at
 * once: the event waits when the command returns.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/path_mtu.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/ports.h"

#define LIFE_TIME	16u /* the kernel's CMA_IBOE_PACKET_LIFETIME */
#define HOP_LIMIT	64u
#define PKEY		0xffffu
#define FLOW_LABEL_MASK 0xfffffu
#define IPV4_NET \
	(EMU_GID_IPV4 + 1) /* bytes of a GID up to and with the first one of its IPv4 address */

/* --- choosing a port and its address ---------------------------------------------------------- */

enum kind { KIND_IP4, KIND_IP6, KIND_LINK_LOCAL };

static enum kind kind_of(const uint8_t gid[16])
{
	if (emu_gid_is_ipv4(gid))
		return KIND_IP4;
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80 ? KIND_LINK_LOCAL : KIND_IP6;
}

/* The port's first GID of that kind, RoCE v2 before v1; NULL: none. */
static const struct emu_gid *gid_of_kind(const struct emu_func *f, enum kind kind)
{
	const struct emu_gid *g, *found = NULL;

	for (unsigned int i = 0; (g = emu_gid_next(f, &i)); i++)
		if (kind_of(g->raw) == kind &&
		    (!found || (found->type != EMU_GID_ROCE_V2 && g->type == EMU_GID_ROCE_V2)))
			found = g;
	return found;
}

/* The GID by which a port reaches an address of that kind. */
static const struct emu_gid *gid_towards(const struct emu_func *f, enum kind kind)
{
	const struct emu_gid *g = gid_of_kind(f, kind);

	if (!g && kind != KIND_IP4)
		g = gid_of_kind(f, kind == KIND_IP6 ? KIND_LINK_LOCAL : KIND_IP6);
	return g;
}

static bool is_up(const struct emu_func *f)
{
	return !f->dead && !f->port_down;
}

/* How well a function of this machine suits a destination; 0: not at all. */
static unsigned int suitability(const struct emu_func *f, const struct emu_func *to, enum kind kind)
{
	if (!gid_towards(f, kind))
		return 0;
	if (f == to)
		return 5;
	if (!is_up(f))
		return 1;
	return 2u + (f->card->number == to->card->number) + (f->card == to->card);
}

static const struct emu_func *choose(const char *role, const struct emu_func *to, enum kind kind)
{
	const struct emu_func *f, *best = NULL;
	unsigned int i, most = 0;

	for (i = 0; i < emu_topology.nfuncs; i++) {
		f = &emu_topology.func[i];
		if (strcmp(f->role, role) != 0 || f->dead || suitability(f, to, kind) <= most)
			continue;
		best = f;
		most = suitability(f, to, kind);
	}
	return best;
}

/* The machine's first function whose port is active, or else its first one. */
static const struct emu_func *first_function(const char *role)
{
	const struct emu_func *f, *first = NULL;

	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		f = &emu_topology.func[i];
		if (strcmp(f->role, role) != 0 || f->dead)
			continue;
		if (is_up(f))
			return f;
		if (!first)
			first = f;
	}
	return first;
}

/* --- bind ------------------------------------------------------------------------------------- */

/* Does the machine under the emulator have this address? Its interfaces are not RDMA devices. */
static bool is_address_of_host(const struct sockaddr_storage *a)
{
	struct sockaddr_storage s = *a;
	int fd = socket(a->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool bound;

	if (fd < 0)
		return false;
	emu_addr_set_port(&s, 0);
	bound = !bind(fd, (const struct sockaddr *)&s, (socklen_t)emu_addr_size(&s, sizeof(s)));
	close(fd);
	return bound;
}

static int find_device(struct emu_cma_id *id)
{
	id->func = emu_addr_func(id->machine->role, &id->src);
	if (id->func && id->func->dead)
		id->func = NULL;
	if (id->func)
		return 0;
	return id->src.ss_family == AF_IB || is_address_of_host(&id->src) ? -ENODEV
									  : -EADDRNOTAVAIL;
}

static uint32_t scope_of(const struct sockaddr_storage *a)
{
	struct sockaddr_in6 in6;

	memcpy(&in6, a, sizeof(in6));
	return in6.sin6_scope_id;
}

static int bind_addr(struct emu_cma_id *id, pid_t pid, const struct sockaddr_storage *addr)
{
	int err = 0;

	if (!emu_addr_size(addr, sizeof(*addr)))
		return -EAFNOSUPPORT;
	if (id->state != EMU_CMA_IDLE)
		return -EINVAL;
	if (emu_addr_is_link_local(addr) && !scope_of(addr))
		return -EINVAL;
	id->src = *addr;
	if (!emu_addr_is_any(addr))
		err = find_device(id);
	if (err)
		return err;
	if (!id->afonly_set)
		id->afonly = addr->ss_family == AF_INET;
	id->dst.ss_family = addr->ss_family;
	err = emu_cma_port_get(id, pid);
	if (err)
		id->func = NULL;
	else
		id->state = EMU_CMA_ADDR_BOUND;
	return err;
}

/* For LISTEN without BIND. */
int emu_cma_bind_any(struct emu_cma_id *id, pid_t pid)
{
	const struct sockaddr_storage any = {.ss_family = AF_INET};

	return bind_addr(id, pid, &any);
}

int emu_cma_bind_ip(const struct emu_cma_cmd *c)
{
	struct sockaddr_storage addr = {0};
	struct rdma_ucm_bind_ip cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	memcpy(&addr, &cmd.addr, sizeof(cmd.addr));
	if (!emu_addr_size(&addr, sizeof(cmd.addr)))
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	return err ? err : bind_addr(id, c->pid, &addr);
}

/* An address of a command with its stated size; `required` is false where 0 means none. */
static bool take_addr(struct sockaddr_storage *to, const struct __kernel_sockaddr_storage *from,
		      size_t size, bool required)
{
	memset(to, 0, sizeof(*to));
	if (!size)
		return !required;
	memcpy(to, from, sizeof(*to));
	return size == emu_addr_size(to, sizeof(*to));
}

int emu_cma_bind(const struct emu_cma_cmd *c)
{
	struct sockaddr_storage addr;
	struct rdma_ucm_bind cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.reserved || !take_addr(&addr, &cmd.addr, cmd.addr_size, true))
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	return err ? err : bind_addr(id, c->pid, &addr);
}

/* --- resolve an address ----------------------------------------------------------------------- */

static void set_path(struct emu_cma_id *id, const struct emu_gid *local, const uint8_t dgid[16])
{
	memset(&id->path, 0, sizeof(id->path));
	id->path.port = id->func;
	memcpy(id->path.sgid, local->raw, sizeof(id->path.sgid));
	memcpy(id->path.dgid, dgid, sizeof(id->path.dgid));
}

/* The destination is this machine: any of its functions will do, and it talks to itself. */
static int resolve_loopback(struct emu_cma_id *id)
{
	enum kind kind = id->dst.ss_family == AF_INET ? KIND_IP4 : KIND_LINK_LOCAL;
	const struct emu_gid *g;

	if (!id->func) {
		id->func = first_function(id->machine->role);
		if (!id->func)
			return -ENODEV;
		emu_addr_set_loopback(&id->src);
	}
	g = gid_of_kind(id->func, kind);
	if (!g)
		g = gid_towards(id->func, KIND_LINK_LOCAL);
	if (!g)
		return -ENODEV;
	set_path(id, g, g->raw);
	return 0;
}

/* Set the address of an id that was bound to none. Its port stays. */
static void set_source(struct emu_cma_id *id, const struct emu_gid *g)
{
	struct emu_sockaddr_ib *ib = (struct emu_sockaddr_ib *)&id->src;
	const struct sockaddr_in6 *to = (const struct sockaddr_in6 *)&id->dst;
	uint16_t port = emu_addr_port(&id->src);

	if (id->src.ss_family == AF_IB) {
		memcpy(ib->sib_addr, g->raw, sizeof(ib->sib_addr));
		return;
	}
	emu_gid_to_ip(g->raw, &id->src);
	emu_addr_set_port(&id->src, port);
	if (emu_addr_is_link_local(&id->src))
		((struct sockaddr_in6 *)&id->src)->sin6_scope_id = to->sin6_scope_id;
}

/* --- a peer on a network ---------------------------------------------------------------------- */

static bool is_of_machine(int endpoint, const struct emu_cma_id *id)
{
	const struct emu_func *f = emu_endpoint_func(endpoint);

	return !f->dead && !emu_endpoint_is_internal(endpoint) &&
	       !strcmp(f->role, id->machine->role) && (!id->func || id->func == f);
}

/* The machine's endpoint that IP routing chooses, or else its first one with a route. */
static int choose_endpoint(const struct emu_cma_id *id, const uint8_t dgid[16])
{
	int endpoint, found = EMU_NO_ENDPOINT;
	uint8_t src[16];

	if (emu_endpoint_source(dgid, src))
		return EMU_NO_ENDPOINT;
	endpoint = emu_endpoint_by_addr(src);
	if (endpoint != EMU_NO_ENDPOINT && is_of_machine(endpoint, id))
		return endpoint;
	endpoint = EMU_NO_ENDPOINT;
	while (found == EMU_NO_ENDPOINT && (endpoint = emu_endpoint_next(endpoint)) >= 0)
		if (is_of_machine(endpoint, id) && !emu_endpoint_reaches(endpoint, dgid, NULL))
			found = endpoint;
	return found;
}

static bool has_endpoint(const struct emu_cma_id *id)
{
	int endpoint = EMU_NO_ENDPOINT;

	while ((endpoint = emu_endpoint_next(endpoint)) >= 0)
		if (is_of_machine(endpoint, id))
			return true;
	return false;
}

/* Without an endpoint the route leads to an interface without RDMA. */
static int resolve_outside(struct emu_cma_id *id)
{
	bool is_bound = id->func && !emu_addr_is_any(&id->src);
	const struct emu_gid *g;
	int endpoint, index, err;
	uint8_t dgid[16], src[16];

	if (!has_endpoint(id) || emu_addr_is_link_local(&id->dst))
		return -ENODEV;
	emu_addr_gid(&id->dst, dgid);
	emu_addr_gid(&id->src, src);
	endpoint = is_bound ? emu_endpoint_find(id->func, src) : choose_endpoint(id, dgid);
	if (endpoint == EMU_NO_ENDPOINT)
		return -ENETUNREACH;
	err = emu_endpoint_reaches(endpoint, dgid, NULL);
	if (err)
		return err;
	index = emu_gid_find(emu_endpoint_func(endpoint), emu_endpoint_addr(endpoint),
			     EMU_GID_ROCE_V2, EMU_NO_VLAN);
	if (index < 0)
		return -ENETUNREACH;
	id->func = emu_endpoint_func(endpoint);
	g = emu_gid_at(id->func, (unsigned int)index);
	if (!is_bound)
		set_source(id, g);
	set_path(id, g, dgid);
	return 0;
}

/*
 * Addresses of 127/8 that no function has mean this machine, unless it has one on that network:
 * then other emulators of the same Linux are reached by theirs.
 */
static bool is_outside(const struct emu_cma_id *id)
{
	const struct sockaddr_in *to = (const struct sockaddr_in *)&id->dst;
	uint8_t dgid[16];
	int endpoint = EMU_NO_ENDPOINT;

	if (id->dst.ss_family != AF_INET || to->sin_addr.s_addr == htonl(INADDR_LOOPBACK) ||
	    emu_addr_is_zero(&id->dst))
		return false;
	emu_addr_gid(&id->dst, dgid);
	while ((endpoint = emu_endpoint_next(endpoint)) >= 0)
		if (is_of_machine(endpoint, id) &&
		    !memcmp(emu_endpoint_addr(endpoint), dgid, IPV4_NET))
			return true;
	return false;
}

/* --- 127.0.0.1 -------------------------------------------------------------------------------- */

static const struct emu_cma_id *listener_at(const struct emu_cma_machine *m,
					    const struct emu_cma_id *id)
{
	const struct emu_cma_id *l = NULL;

	while ((l = emu_cma_port_next(m, id->ps, emu_addr_port(&id->dst), l)))
		if (l->state == EMU_CMA_LISTEN)
			return l;
	return NULL;
}

/* The listener at the port of the destination, if this machine has none and only one other has. */
static const struct emu_cma_id *listener_elsewhere(const struct emu_cma_id *id)
{
	const struct emu_cma_machine *m = NULL;
	const struct emu_cma_id *l, *found = NULL;

	if (listener_at(id->machine, id))
		return NULL;
	while ((m = emu_cma_machine_next(m))) {
		l = listener_at(m, id);
		if (l && found)
			return NULL;
		if (l)
			found = l;
	}
	return found;
}

/*
 * Programs take 127.0.0.1 for the address of the interface `lo', or of a server beside them. Where nobody
 * listens on this machine, the destination becomes the address of the one machine where a program does.
 */
static bool find_listener(struct emu_cma_id *id)
{
	const struct sockaddr_in *to = (const struct sockaddr_in *)&id->dst;
	const uint16_t port = emu_addr_port(&id->dst);
	const struct emu_func *f;
	const struct emu_cma_id *l;
	const struct emu_gid *g;

	if (to->sin_family != AF_INET || to->sin_addr.s_addr != htonl(INADDR_LOOPBACK) || !port)
		return false;
	l = listener_elsewhere(id);
	f = l && !l->func ? first_function(l->machine->role) : NULL;
	g = f ? gid_of_kind(f, KIND_IP4) : NULL;
	if (g) {
		emu_gid_to_ip(g->raw, &id->dst);
		emu_addr_set_port(&id->dst, port);
	} else if (l && l->func && l->src.ss_family == AF_INET) {
		id->dst = l->src;
	} else {
		return false;
	}
	return true;
}

/* --- any peer --------------------------------------------------------------------------------- */

/* An event reports these errors, as the kernel asks the routes and neighbours later. */
static int resolve_remote(struct emu_cma_id *id)
{
	const struct emu_func *to = emu_addr_func(NULL, &id->dst);
	const struct emu_gid *g;
	struct emu_gid bound = {0};
	uint8_t dgid[16];

	if (emu_addr_is_group(&id->dst))
		to = id->func ? id->func : first_function(id->machine->role);
	if (!to)
		return resolve_outside(id);
	emu_addr_gid(&id->dst, dgid);
	if (id->func) {
		emu_addr_gid(&id->src, bound.raw);
		g = emu_addr_is_any(&id->src) ? gid_towards(id->func, kind_of(dgid)) : &bound;
	} else {
		id->func = choose(id->machine->role, to, kind_of(dgid));
		g = id->func ? gid_towards(id->func, kind_of(dgid)) : NULL;
		if (g)
			set_source(id, g);
	}
	if (!g) {
		id->func = NULL;
		return -ENETUNREACH;
	}
	set_path(id, g, dgid);
	return 0;
}

static int prepare_source(struct emu_cma_id *id, pid_t pid, const struct sockaddr_storage *src,
			  const struct sockaddr_storage *dst)
{
	struct sockaddr_storage any = {.ss_family = dst->ss_family};
	int err;

	if (id->state == EMU_CMA_IDLE) {
		if (dst->ss_family == AF_INET6)
			((struct sockaddr_in6 *)&any)->sin6_scope_id =
				((const struct sockaddr_in6 *)dst)->sin6_scope_id;
		id->dst = *dst;
		err = bind_addr(id, pid, src->ss_family ? src : &any);
		if (err)
			return err;
	} else if (id->state != EMU_CMA_ADDR_BOUND) {
		return -EINVAL;
	}
	id->dst = *dst;
	return id->src.ss_family == dst->ss_family ? 0 : -EINVAL;
}

static void end_query(struct emu_cma_id *id)
{
	int err = id->query_err;

	id->state = err ? EMU_CMA_ADDR_BOUND : EMU_CMA_ADDR_RESOLVED;
	emu_cma_report(id, err ? EMU_CMA_EV_ADDR_ERROR : EMU_CMA_EV_ADDR_RESOLVED, err);
}

static int resolve(struct emu_cma_id *id, pid_t pid, const struct sockaddr_storage *src,
		   const struct sockaddr_storage *dst)
{
	int err;

	err = prepare_source(id, pid, src, dst);
	if (err)
		return err;
	if (emu_addr_is_any(dst) && !is_outside(id) && !find_listener(id)) {
		err = resolve_loopback(id);
		if (err)
			return err;
	} else {
		err = resolve_remote(id);
	}
	id->query_err = err;
	id->state = EMU_CMA_ADDR_QUERY;
	if (!id->func || !id->func->is_unanswered)
		end_query(id);
	return 0;
}

void emu_cma_set_neighbours(struct emu_func *f, bool answer)
{
	f->is_unanswered = !answer;
	for (struct emu_cma_file *file = emu_cma_files; answer && file; file = file->next)
		for (struct emu_cma_id *id = file->ids; id; id = id->next)
			if (id->func == f && id->state == EMU_CMA_ADDR_QUERY)
				end_query(id);
}

int emu_cma_resolve_ip(const struct emu_cma_cmd *c)
{
	struct sockaddr_storage src = {0}, dst = {0};
	struct rdma_ucm_resolve_ip cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	memcpy(&src, &cmd.src_addr, sizeof(cmd.src_addr));
	memcpy(&dst, &cmd.dst_addr, sizeof(cmd.dst_addr));
	if ((src.ss_family && !emu_addr_size(&src, sizeof(cmd.src_addr))) ||
	    !emu_addr_size(&dst, sizeof(cmd.dst_addr)))
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	return err ? err : resolve(id, c->pid, &src, &dst);
}

int emu_cma_resolve_addr(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_resolve_addr cmd;
	struct sockaddr_storage src, dst;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.reserved || !take_addr(&src, &cmd.src_addr, cmd.src_size, false) ||
	    !take_addr(&dst, &cmd.dst_addr, cmd.dst_size, true))
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	return err ? err : resolve(id, c->pid, &src, &dst);
}

/* --- resolve a route -------------------------------------------------------------------------- */

/* Spread the flows over the UDP source ports, as the kernel's cma_get_roce_udp_flow_label(). */
static uint32_t flow_label(const struct emu_cma_id *id)
{
	const struct sockaddr_in6 *src = (const struct sockaddr_in6 *)&id->src;
	uint32_t label = 0;

	if (id->src.ss_family == AF_INET6)
		label = ntohl(src->sin6_flowinfo) & FLOW_LABEL_MASK;
	if (!label)
		label = emu_addr_port(&id->src) * 31u + emu_addr_port(&id->dst);
	return label & FLOW_LABEL_MASK;
}

/* The path MTU: if the path leaves this machine, that of the interface and the route. */
static uint8_t mtu_of(const struct emu_cm_path *p)
{
	int endpoint = emu_endpoint_find(p->port, p->sgid);
	uint8_t mtu = EMU_MTU_4096;

	if (endpoint != EMU_NO_ENDPOINT && !emu_func_by_gid(p->dgid))
		emu_endpoint_reaches(endpoint, p->dgid, &mtu);
	return mtu;
}

int emu_cma_resolve_route(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_resolve_route cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	if (err)
		return err;
	if (!cmd.timeout_ms || id->state != EMU_CMA_ADDR_RESOLVED)
		return -EINVAL;
	id->path.pkey = PKEY;
	id->path.mtu = mtu_of(&id->path);
	id->path.traffic_class = id->has_tos ? id->tos : 0;
	id->path.sl = id->path.traffic_class >> 5;
	id->path.hop_limit = id->dst.ss_family == AF_IB ? 1 : HOP_LIMIT;
	id->path.packet_life_time =
		id->has_timeout && id->timeout ? (uint8_t)(id->timeout - 1) : LIFE_TIME;
	id->path.flow_label = flow_label(id);
	id->has_path = true;
	id->state = EMU_CMA_ROUTE_RESOLVED;
	emu_cma_report(id, EMU_CMA_EV_ROUTE_RESOLVED, 0);
	return 0;
}
