/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/prm/prm_eqe.h"
#include "emu/server/base/log.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/path.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/sysfs.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/events.h"

#define MAX_LID 0xbfffu /* unicast (IBA 4.1.3) */

/* enum ibv_event_type */
enum {
	EVENT_PORT_ACTIVE = 9,
	EVENT_PORT_ERR = 10,
	EVENT_LID_CHANGE = 11,
	EVENT_PKEY_CHANGE = 12,
	EVENT_SM_CHANGE = 13,
	EVENT_CLIENT_REREGISTER = 17,
	EVENT_GID_CHANGE = 18,
	EVENT_DEVICE_SPEED_CHANGE = 20, /* of Linux 7.2 */
};

/* To programs, and to the function's own driver what a card reports. */
static void report(struct emu_func *f, uint32_t type)
{
	static const uint8_t changes[] = {
		[EVENT_PORT_ACTIVE] = EMU_EQE_PORT_ACTIVE,
		[EVENT_PORT_ERR] = EMU_EQE_PORT_DOWN,
		[EVENT_LID_CHANGE] = EMU_EQE_PORT_LID,
		[EVENT_PKEY_CHANGE] = EMU_EQE_PORT_PKEY,
		[EVENT_CLIENT_REREGISTER] = EMU_EQE_PORT_REREGISTER,
	};

	emu_events_broadcast(f, type, type == EVENT_DEVICE_SPEED_CHANGE ? 0 : EMU_PORTS);
	if (type < ARRAY_SIZE(changes) && changes[type])
		emu_driver_port_changed(f, changes[type]);
}

/* The program sees the change by its commands in any case. */
static void rewrite(const struct emu_func *f)
{
	int err = emu_sysfs_port(f);

	if (err)
		emu_log("%s: mlx5_%u: the files in sysfs still show the former state of the port: "
			"%s",
			f->role, f->dev, strerror(-err));
}

/* --- the link and the subnet ------------------------------------------------------------------ */

void emu_port_move(struct emu_func *f, bool down)
{
	if (f->port_down == down)
		return;
	f->port_down = down;
	if (down)
		emu_counter_add(f, EMU_COUNTER_link_downed, 1);
	rewrite(f);
	emu_paths_refresh();
	/* First, as mlx5's driver hears of the link before the network does. */
	report(f, EVENT_DEVICE_SPEED_CHANGE);
	report(f, down ? EVENT_PORT_ERR : EVENT_PORT_ACTIVE);
}

static int go_down(struct emu_func *f, const struct emu_port_request *r)
{
	(void)r;
	emu_port_move(f, true);
	return 0;
}

static int go_up(struct emu_func *f, const struct emu_port_request *r)
{
	(void)r;
	emu_port_move(f, false);
	return 0;
}

static int set_lid(struct emu_func *f, const struct emu_port_request *r)
{
	if (r->value > MAX_LID)
		return -EINVAL;
	f->lid = (uint16_t)r->value;
	rewrite(f);
	report(f, EVENT_LID_CHANGE);
	return 0;
}

static int set_sm(struct emu_func *f, const struct emu_port_request *r)
{
	if (r->value > MAX_LID)
		return -EINVAL;
	f->sm_lid = (uint16_t)r->value;
	rewrite(f);
	report(f, EVENT_SM_CHANGE);
	return 0;
}

static int set_pkey(struct emu_func *f, const struct emu_port_request *r)
{
	unsigned int index = r->index < 0 ? 0 : (unsigned int)r->index;

	if (r->value > UINT16_MAX || !emu_pkey_is_index(f, index))
		return -EINVAL;
	emu_pkey_set(f, index, (uint16_t)r->value);
	rewrite(f);
	report(f, EVENT_PKEY_CHANGE);
	return 0;
}

static int reregister(struct emu_func *f, const struct emu_port_request *r)
{
	(void)r;
	report(f, EVENT_CLIENT_REREGISTER);
	return 0;
}

/* A driver of a PCI function reads the speed when the link comes up. */
static int set_speed(struct emu_func *f, const struct emu_port_request *r)
{
	if (!emu_speed_code(r->value))
		return -EINVAL;
	if (f->lane_speed == r->value)
		return 0;
	f->lane_speed = r->value;
	rewrite(f);
	report(f, EVENT_DEVICE_SPEED_CHANGE);
	return 0;
}

/* --- GIDs ------------------------------------------------------------------------------------- */

static void report_gids(struct emu_func *f)
{
	report(f, EVENT_GID_CHANGE);
}

void emu_port_begin(void)
{
	emu_gid_on_change(report_gids);
}

/* Without a version: both, one after the other. */
static int add_gid(struct emu_func *f, const struct emu_port_request *r, uint64_t val[static 4])
{
	int first, second;

	first = emu_gid_add(f, r->index, r->raw, r->type == EMU_GID_ANY ? EMU_GID_ROCE_V1 : r->type,
			    r->vlan);
	if (first < 0)
		return first;
	val[0] = 1;
	val[1] = (uint64_t)first;
	if (r->type != EMU_GID_ANY)
		return 0;
	second = emu_gid_add(f, r->index < 0 ? EMU_GID_LOWEST : r->index + 1, r->raw,
			     EMU_GID_ROCE_V2, r->vlan);
	if (second < 0) {
		emu_gid_del(f, (unsigned int)first);
		return second;
	}
	val[0] = 2;
	return 0;
}

static bool is_meant(const struct emu_gid *g, unsigned int index, const struct emu_port_request *r)
{
	static const uint8_t any[16];

	return (r->index < 0 || (unsigned int)r->index == index) &&
	       (r->type == EMU_GID_ANY || g->type == r->type) &&
	       (r->vlan == EMU_ANY_VLAN || g->vlan == r->vlan) &&
	       (!memcmp(r->raw, any, sizeof(any)) || !memcmp(r->raw, g->raw, sizeof(g->raw)));
}

static int del_gids(struct emu_func *f, const struct emu_port_request *r, uint64_t val[static 4])
{
	const struct emu_gid *g;

	val[0] = 0;
	for (unsigned int i = 0; (g = emu_gid_next(f, &i)); i++)
		if (is_meant(g, i, r) && !emu_gid_del(f, i))
			val[0]++;
	return val[0] ? 0 : -ENOENT;
}

/* --- addresses that a machine loses for a time ------------------------------------------------ */

static struct lost {
	unsigned int n;
	struct {
		unsigned int index, type, vlan;
		uint8_t raw[16];
	} gid[EMU_MAX_GIDS];
} lost[EMU_MAX_FUNCS];

static bool is_link_local(const uint8_t raw[16])
{
	return raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80;
}

void emu_port_forget_ip(struct emu_func *f)
{
	struct lost *l = &lost[f->index];
	const struct emu_gid *g;

	for (unsigned int i = 0; l->n < EMU_MAX_GIDS && (g = emu_gid_next(f, &i)); i++) {
		if (is_link_local(g->raw))
			continue;
		l->gid[l->n].index = i;
		l->gid[l->n].type = g->type;
		l->gid[l->n].vlan = g->vlan;
		memcpy(l->gid[l->n].raw, g->raw, sizeof(g->raw));
		l->n++;
		emu_gid_del(f, i);
	}
}

bool emu_port_ip_is_removed(const struct emu_func *f)
{
	return lost[f->index].n;
}

void emu_port_restore_ip(struct emu_func *f)
{
	struct lost *l = &lost[f->index];
	int err;

	for (unsigned int i = 0; i < l->n; i++) {
		err = emu_gid_add(f, (int)l->gid[i].index, l->gid[i].raw, l->gid[i].type,
				  l->gid[i].vlan);
		if (err == -EBUSY)
			err = emu_gid_add(f, EMU_GID_LOWEST, l->gid[i].raw, l->gid[i].type,
					  l->gid[i].vlan);
		if (err < 0 && err != -EEXIST)
			emu_log("%s: mlx5_%u: cannot add the former GID %u again: %s; use "
				"`dpumap-emu gid add'",
				f->role, f->dev, l->gid[i].index, strerror(-err));
	}
	l->n = 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool is_named(const struct emu_func *f, const struct emu_port_request *r)
{
	return (!*r->role || !strcmp(f->role, r->role)) &&
	       (r->dev == EMU_ANY_DEV || f->dev == r->dev);
}

static int change_ports(const struct emu_port_request *r, uint64_t val[static 4],
			int (*change)(struct emu_func *f, const struct emu_port_request *r))
{
	int err = 0;

	val[0] = 0;
	for (unsigned int i = 0; i < emu_topology.nfuncs && !err; i++) {
		if (!is_named(&emu_topology.func[i], r))
			continue;
		err = change(&emu_topology.func[i], r);
		val[0]++;
	}
	return !err && !val[0] ? -ENODEV : err;
}

static int change_gids(const struct emu_port_request *r, uint64_t val[static 4])
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (is_named(&emu_topology.func[i], r))
			return r->action == EMU_PORT_GID_ADD
				       ? add_gid(&emu_topology.func[i], r, val)
				       : del_gids(&emu_topology.func[i], r, val);
	return -ENODEV;
}

int emu_port_request(const struct emu_port_request *r, uint64_t val[static 4])
{
	static int (*const changes[])(struct emu_func * f, const struct emu_port_request *r) = {
		[EMU_PORT_DOWN] = go_down,    [EMU_PORT_UP] = go_up,
		[EMU_PORT_LID] = set_lid,     [EMU_PORT_SM] = set_sm,
		[EMU_PORT_PKEY] = set_pkey,   [EMU_PORT_REREGISTER] = reregister,
		[EMU_PORT_SPEED] = set_speed,
	};
	struct emu_port_request next = *r;

	next.role[sizeof(next.role) - 1] = '\0';
	if (next.action == EMU_PORT_GID_ADD || next.action == EMU_PORT_GID_DEL)
		return change_gids(&next, val);
	if (next.action >= ARRAY_SIZE(changes) || !changes[next.action])
		return -EINVAL;
	return change_ports(&next, val, changes[next.action]);
}
