/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/proto.h"
#include "emu/server/admin/member.h"
#include "emu/server/base/log.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/segments.h"
#include "emu/server/ucma/machine.h"
#include "emu/server/wire/endpoints.h"
#include "emu/server/wire/mad.h"

static const char *reason(int err)
{
	switch (err) {
	case -EADDRNOTAVAIL:
		return "no interface of this machine has this address; use one that `ip address' "
		       "prints";
	case -EADDRINUSE:
		return "UDP port 4791 of this address is in use, by another program or emulator "
		       "(see "
		       "`ss -ulpn') or by the kernel's rdma_rxe (see `rdma link'); end it, or use "
		       "another address or network namespace";
	case -EEXIST:
		return "the port has this address already";
	case -E2BIG:
		return "there are too many addresses";
	case -ENOSPC:
		return "the port's GID table is full, or this user has as many watches as the "
		       "sysctl "
		       "fs.epoll.max_user_watches allows";
	case -EINVAL:
		return "it is zero, or the address of a group";
	default:
		return strerror(-err);
	}
}

static void complain(const struct emu_func *f, const uint8_t raw[16], const char *why)
{
	char text[INET6_ADDRSTRLEN];

	emu_log("cannot give %s to the port of %s (mlx5_%u): %s", emu_gid_text(raw, text), f->role,
		f->dev, why);
}

static int attach(struct emu_func *f, const uint8_t raw[16], bool add_gid)
{
	const struct emu_func *other = emu_func_by_gid(raw);
	int err;

	if (other && other != f) {
		complain(f, raw, "another port of this emulator has this address");
		return -EADDRINUSE;
	}
	err = emu_endpoint_find(f, raw) != EMU_NO_ENDPOINT ? -EEXIST : 0;
	if (!err)
		err = emu_wire_open(f, raw, emu_wire_ready);
	if (!err && !other && add_gid)
		err = emu_gid_replace_ip(f, raw);
	if (err)
		complain(f, raw, reason(err));
	return err;
}

/* The connection manager of a machine on the network answers also while no program uses it. */
static int begin_machine(const struct emu_func *f)
{
	return emu_cma_machine_of(f->role) ? 0 : -ENOMEM;
}

static int attach_named(const struct emu_port_request *r)
{
	struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;
	int err;

	while (f < end &&
	       (strcmp(f->role, r->role) != 0 || (r->dev != EMU_ANY_DEV && f->dev != r->dev)))
		f++;
	if (f == end) {
		emu_log("--wire: no function has the name %s%s; see `dpumap-emu status --json'",
			r->role, r->dev == EMU_ANY_DEV ? "" : " and this device");
		return -ENODEV;
	}
	err = attach(f, r->raw, true);
	return err ? err : begin_machine(f);
}

/* Traffic between ports then is as between machines. The GID tables stay as they are. */
static int attach_all(void)
{
	struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;
	uint8_t raw[16];
	int err = 0;

	for (; f < end && !err; f++) {
		emu_gid_default_ip(f, raw);
		if (emu_endpoint_find(f, NULL) == EMU_NO_ENDPOINT)
			err = attach(f, raw, false);
	}
	emu_tables->wire_forced = 1;
	return err;
}

static bool is_loopback(const struct emu_port_request *r)
{
	static const uint8_t zero[16];

	return !memcmp(r->raw, zero, sizeof(zero));
}

int emu_attach_wires(const struct emu_port_request *wires, unsigned int n)
{
	bool all = false;
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		all |= is_loopback(&wires[i]);
		if (!is_loopback(&wires[i]))
			err = attach_named(&wires[i]);
	}
	return !err && all ? attach_all() : err;
}

/* --- status ----------------------------------------------------------------------------------- */

/* Receiving and sending ones. */
static unsigned int count_sockets(int endpoint)
{
	return emu_wire_sockets_of(endpoint)->nsockets + EMU_WIRE_PORTS;
}

static struct json_object *describe_dropped(const struct emu_wire_counts *c)
{
	struct json_object *dropped = json_object_new_object();

	for (int i = WIRE_ACCEPTED + 1; i < WIRE_DROP_COUNT; i++)
		if (c->dropped[i])
			emu_put_number(dropped, wire_drop_words((enum wire_drop)i), c->dropped[i]);
	return dropped;
}

static struct json_object *describe_endpoint(int endpoint)
{
	const struct emu_wire_counts *c = emu_wire_counts_of(endpoint);
	const struct emu_func *f = emu_endpoint_func(endpoint);
	struct json_object *about = json_object_new_object();
	char text[INET6_ADDRSTRLEN];

	emu_put_text(about, "function", f->role);
	emu_put_device(about, f->dev);
	emu_put_text(about, "address", emu_gid_text(emu_endpoint_addr(endpoint), text));
	emu_put_text(about, "netdev", emu_endpoint_netdev(endpoint));
	emu_put_number(about, "sockets", count_sockets(endpoint));
	emu_put_number(about, "engines", emu_wire_sockets_of(endpoint)->nengines);
	emu_put_number(about, "received", c->received);
	json_object_object_add(about, "dropped", describe_dropped(c));
	return about;
}

struct json_object *emu_wire_describe(void)
{
	struct json_object *endpoints = json_object_new_array();
	int endpoint = EMU_NO_ENDPOINT;

	while ((endpoint = emu_endpoint_next(endpoint)) >= 0)
		json_object_array_add(endpoints, describe_endpoint(endpoint));
	return endpoints;
}
