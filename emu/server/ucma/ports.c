/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/ports.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/array.h"
#include "emu/server/mm/pin.h"
#include "emu/server/ucma/address.h"

#define PRIVILEGED 1024u
#define RANGE_FILE "/proc/sys/net/ipv4/ip_local_port_range"
/* Service IDs of IP addresses (IBA annex A11): prefix and port space, then the port. */
#define IP_PS_MASK 0xffffffffffff0000ull

struct emu_cma_id *emu_cma_port_next(const struct emu_cma_machine *m, uint16_t ps, uint16_t port,
				     const struct emu_cma_id *id)
{
	struct emu_cma_id *p = id ? id->next_port : m->ports[port % EMU_CMA_PORT_BUCKETS];

	while (p && (p->bound_ps != ps || emu_addr_port(&p->src) != port))
		p = p->next_port;
	return p;
}

static int check(const struct emu_cma_id *id, uint16_t ps, bool reuse)
{
	uint16_t port = emu_addr_port(&id->src);
	const struct emu_cma_id *o = NULL;

	while ((o = emu_cma_port_next(id->machine, ps, port, o))) {
		if (o == id || (reuse && o->reuseaddr))
			continue;
		if (id->afonly && o->afonly && id->src.ss_family != o->src.ss_family)
			continue;
		if (emu_addr_is_any(&id->src) || emu_addr_is_any(&o->src))
			return -EADDRNOTAVAIL;
		if (emu_addr_equal(&id->src, &o->src))
			return -EADDRINUSE;
	}
	return 0;
}

int emu_cma_port_check(const struct emu_cma_id *id)
{
	return check(id, id->bound_ps, false);
}

static bool both_named(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	return !emu_addr_is_any(a) && !emu_addr_is_any(b);
}

/* Ids may share a port that they did not choose if their ends differ. */
static bool is_unique(const struct emu_cma_id *id, uint16_t ps, uint16_t port)
{
	const struct emu_cma_id *o = NULL;
	uint16_t to = emu_addr_port(&id->dst), other;

	while ((o = emu_cma_port_next(id->machine, ps, port, o))) {
		other = emu_addr_port(&o->dst);
		if (to && other && to != other)
			continue;
		if (both_named(&id->src, &o->src) && !emu_addr_equal(&id->src, &o->src))
			continue;
		if (both_named(&id->dst, &o->dst) && !emu_addr_equal(&id->dst, &o->dst))
			continue;
		return false;
	}
	return true;
}

static void bind_port(struct emu_cma_id *id, uint16_t ps, uint16_t port)
{
	struct emu_cma_id **bucket = &id->machine->ports[port % EMU_CMA_PORT_BUCKETS];

	emu_addr_set_port(&id->src, port);
	id->bound_ps = ps;
	id->next_port = *bucket;
	*bucket = id;
}

static void read_range(unsigned int *low, unsigned int *high)
{
	char line[64] = "", *rest;
	FILE *f = fopen(RANGE_FILE, "re");

	*low = 32768;
	*high = 60999;
	if (!f)
		return;
	if (fgets(line, sizeof(line), f)) {
		*low = (unsigned int)strtoul(line, &rest, 10);
		*high = (unsigned int)strtoul(rest, NULL, 10);
	}
	fclose(f);
	if (!*low || *high > UINT16_MAX || *low > *high) {
		*low = 32768;
		*high = 60999;
	}
}

/* From a random port on; the one that was given last is left out, as it may just have been closed. */
static int get_any(struct emu_cma_id *id, uint16_t ps)
{
	static unsigned int low, high;
	unsigned int n, at;
	uint32_t start = 0;

	if (!low)
		read_range(&low, &high);
	n = high - low + 1;
	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) != sizeof(start))
		start = id->psn;
	for (unsigned int i = 0; i < n; i++) {
		at = low + (start + i) % n;
		if (at == id->machine->last_port || !is_unique(id, ps, (uint16_t)at))
			continue;
		id->machine->last_port = (uint16_t)at;
		bind_port(id, ps, (uint16_t)at);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

/* The port space that a service ID is in; the address then has the whole service ID. */
static uint16_t ib_space(struct emu_cma_id *id)
{
	static const uint16_t spaces[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	struct emu_sockaddr_ib *ib = (struct emu_sockaddr_ib *)&id->src;
	uint64_t mask = be64toh(ib->sib_sid_mask) & IP_PS_MASK;
	uint64_t sid = be64toh(ib->sib_sid) & mask, wanted;

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		wanted = (uint64_t)spaces[i] << 16;
		if ((id->ps != RDMA_PS_IB && id->ps != spaces[i]) || sid != (wanted & mask))
			continue;
		ib->sib_sid = htobe64(wanted | emu_addr_port(&id->src));
		ib->sib_sid_mask = htobe64(IP_PS_MASK | be64toh(ib->sib_sid_mask));
		return spaces[i];
	}
	return 0;
}

int emu_cma_port_get(struct emu_cma_id *id, pid_t pid)
{
	uint16_t ps = id->src.ss_family == AF_IB ? ib_space(id) : id->ps;
	uint16_t port = emu_addr_port(&id->src);
	int err;

	if (!ps)
		return -EPROTONOSUPPORT;
	if (!port)
		return get_any(id, ps);
	if (port < PRIVILEGED && !emu_capable(pid, CAP_NET_BIND_SERVICE))
		return -EACCES;
	err = check(id, ps, id->reuseaddr);
	if (!err)
		bind_port(id, ps, port);
	return err;
}

void emu_cma_port_release(struct emu_cma_id *id)
{
	struct emu_cma_id **link;

	if (!id->bound_ps)
		return;
	link = &id->machine->ports[emu_addr_port(&id->src) % EMU_CMA_PORT_BUCKETS];
	while (*link != id)
		link = &(*link)->next_port;
	*link = id->next_port;
	id->bound_ps = 0;
}
