/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where packets of a queue pair go: to a function of the emulator, to the wire, or nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/server/card/endpoint.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/path.h"
#include "emu/server/card/segments.h"

#define IP4(a, b, c, d)                                      \
	{                                                    \
		[10] = 0xff, [11] = 0xff, (a), (b), (c), (d) \
	}

enum { LINK_LOCAL_V1, LINK_LOCAL_V2, IP_V1, IP_V2, IP6_V2, VLAN, NGIDS };

static const uint8_t ips[2][16] = {IP4(192, 0, 2, 1), IP4(192, 0, 2, 2)};
static const uint8_t far_ip[16] = IP4(192, 0, 2, 99), group[16] = IP4(224, 0, 0, 5);
static const uint8_t ip6s[2][16] = {{0xfd, [15] = 1}, {0xfd, [15] = 2}};
static const uint8_t far_ip6[16] = {0xfd, [15] = 99};
static const uint8_t locals[2][16] = {{0xfe, 0x80, [15] = 1}, {0xfe, 0x80, [15] = 2}};

struct emu_tables *emu_tables;
struct emu_queues *emu_queues;
struct emu_topology emu_topology;

/* --- the GID tables of two ports, in place of gid.c ------------------------------------------- */

static struct emu_gid gids[2][NGIDS];
static struct emu_qp *watched; /* what an engine may see of it in a grace period */
static unsigned int graces;

void emu_grace(void)
{
	graces++;
	assert_int_equal(atomic_load(&watched->dest_func), EMU_NOWHERE);
}

uint32_t emu_new_serial(void)
{
	static uint32_t last;

	return ++last;
}

const struct emu_gid *emu_gid_at(const struct emu_func *f, unsigned int index)
{
	return index < NGIDS ? &gids[f->index][index] : NULL;
}

int emu_gid_find(const struct emu_func *f, const uint8_t raw[16], unsigned int type,
		 unsigned int vlan)
{
	for (int i = 0; i < NGIDS; i++)
		if (gids[f->index][i].type == type && gids[f->index][i].vlan == vlan &&
		    !memcmp(gids[f->index][i].raw, raw, 16))
			return i;
	return -1;
}

const struct emu_func *emu_func_by_gid(const uint8_t raw[16])
{
	for (unsigned int f = 0; f < 2; f++)
		for (unsigned int i = 0; i < NGIDS; i++)
			if (!memcmp(gids[f][i].raw, raw, 16))
				return &emu_topology.func[f];
	return NULL;
}

int emu_gid_hold(const struct emu_func *f, unsigned int index)
{
	(void)f;
	return index < NGIDS ? 0 : -1;
}

void emu_gid_release(const struct emu_func *f, unsigned int index)
{
	(void)f;
	(void)index;
}

void emu_gid_to_ip(const uint8_t raw[16], struct sockaddr_storage *addr)
{
	(void)raw;
	addr->ss_family = AF_INET;
}

bool emu_gid_of_ip(const struct sockaddr *addr, uint8_t raw[16])
{
	(void)addr;
	(void)raw;
	return false;
}

static void add(unsigned int f, unsigned int index, const uint8_t raw[16], uint8_t type,
		uint16_t vlan)
{
	gids[f][index].type = type;
	gids[f][index].vlan = vlan;
	memcpy(gids[f][index].raw, raw, 16);
}

static int setup(void **state)
{
	emu_tables = calloc(1, sizeof(*emu_tables));
	emu_queues = calloc(1, sizeof(*emu_queues));
	if (!emu_tables || !emu_queues)
		return -1;
	memset(&emu_topology, 0, sizeof(emu_topology));
	emu_topology.nfuncs = 2;
	for (unsigned int f = 0; f < 2; f++) {
		emu_topology.func[f].index = (uint16_t)f;
		add(f, LINK_LOCAL_V1, locals[f], EMU_GID_ROCE_V1, EMU_NO_VLAN);
		add(f, LINK_LOCAL_V2, locals[f], EMU_GID_ROCE_V2, EMU_NO_VLAN);
		add(f, IP_V1, ips[f], EMU_GID_ROCE_V1, EMU_NO_VLAN);
		add(f, IP_V2, ips[f], EMU_GID_ROCE_V2, EMU_NO_VLAN);
		add(f, IP6_V2, ip6s[f], EMU_GID_ROCE_V2, EMU_NO_VLAN);
		add(f, VLAN, ips[f], EMU_GID_ROCE_V2, 100);
	}
	watched = &emu_queues->qp[EMU_FIRST_QPN];
	graces = 0;
	return 0;
}

static int teardown(void **state)
{
	emu_path_clear(watched);
	emu_path_cut(&emu_topology.func[0], &emu_topology.func[1], false);
	free(emu_tables);
	free(emu_queues);
	return 0;
}

static struct emu_func *func(unsigned int i)
{
	return &emu_topology.func[i];
}

/* Where packets go that leave function 0 by this entry of its table. */
static uint32_t lead(unsigned int sgid_index, const uint8_t dgid[16], struct emu_route *r)
{
	struct emu_address a = {
		.sgid_index = (uint8_t)sgid_index, .tclass = 8, .hop_limit = 1, .flow_label = 77};

	memcpy(a.dgid, dgid, sizeof(a.dgid));
	return emu_path_destination(func(0), &a, r);
}

/* --- without and with addresses on networks --------------------------------------------------- */

static void without_an_address_nothing_leaves(void **state)
{
	struct emu_route r;

	assert_int_equal(lead(IP_V2, far_ip, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, ips[1], &r), 1);
	assert_int_equal(lead(LINK_LOCAL_V1, locals[1], &r), 1);
}

static void other_address_is_on_the_wire(void **state)
{
	struct emu_route r;

	assert_int_equal(emu_endpoint_publish(func(0), ips[0]), 0);
	assert_int_equal(lead(IP_V2, far_ip, &r), EMU_ON_WIRE);
	assert_int_equal(r.endpoint, 0);
	assert_memory_equal(r.dst, far_ip, sizeof(far_ip));
	assert_int_equal(r.tclass, 8);
	assert_int_equal(r.hop_limit, 64);
	assert_int_equal(r.flow_label, 77);
	assert_int_equal(lead(IP_V2, ips[1], &r), 1);
	assert_int_equal(lead(IP_V2, ips[0], &r), 0);
}

static void only_the_address_itself_leads_to_the_wire(void **state)
{
	struct emu_route r;

	emu_endpoint_publish(func(0), ips[0]);
	assert_int_equal(lead(IP_V1, far_ip, &r), EMU_NOWHERE);
	assert_int_equal(lead(VLAN, far_ip, &r), EMU_NOWHERE);
	assert_int_equal(lead(LINK_LOCAL_V2, far_ip, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP6_V2, far_ip6, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, far_ip6, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, group, &r), EMU_NOWHERE);
	assert_int_equal(emu_endpoint_publish(func(0), ip6s[0]), 1);
	assert_int_equal(lead(IP6_V2, far_ip6, &r), EMU_ON_WIRE);
	assert_int_equal(r.endpoint, 1);
}

static void port_that_is_down_has_no_route(void **state)
{
	struct emu_route r;

	emu_endpoint_publish(func(0), ips[0]);
	func(0)->port_down = true;
	assert_int_equal(lead(IP_V2, far_ip, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, ips[1], &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, ips[0], &r), 0);
}

/* --- local packets, too ----------------------------------------------------------------------- */

static void forced(unsigned int endpoints)
{
	emu_tables->wire_forced = 1;
	for (unsigned int i = 0; i < endpoints; i++)
		emu_endpoint_publish(func(i), ips[i]);
}

static void forced_packets_leave_whatever_gids_they_name(void **state)
{
	struct emu_route r;

	forced(2);
	assert_int_equal(lead(IP_V2, ips[1], &r), EMU_ON_WIRE);
	assert_memory_equal(r.dst, ips[1], 16);
	assert_int_equal(lead(LINK_LOCAL_V1, locals[1], &r), EMU_ON_WIRE);
	assert_int_equal(r.endpoint, 0);
	assert_memory_equal(r.dst, ips[1], 16);
	assert_int_equal(lead(VLAN, ips[1], &r), EMU_ON_WIRE);
	assert_int_equal(lead(IP_V2, ips[0], &r), EMU_ON_WIRE);
	assert_memory_equal(r.dst, ips[0], 16);
}

static void forced_packets_need_two_addresses_of_one_family(void **state)
{
	struct emu_route r;

	forced(1);
	assert_int_equal(lead(IP_V2, ips[1], &r), 1);
	emu_endpoint_publish(func(1), ip6s[1]);
	assert_int_equal(lead(IP_V2, ips[1], &r), 1);
	emu_endpoint_publish(func(0), ip6s[0]);
	assert_int_equal(lead(IP_V2, ips[1], &r), EMU_ON_WIRE);
	assert_int_equal(r.endpoint, 2);
	assert_memory_equal(r.dst, ip6s[1], 16);
}

static void forced_packets_obey_partitions_and_ports(void **state)
{
	struct emu_route r;

	forced(2);
	emu_path_cut(func(0), func(1), true);
	assert_int_equal(lead(IP_V2, ips[1], &r), EMU_NOWHERE);
	emu_path_cut(func(0), func(1), false);
	func(1)->port_down = true;
	assert_int_equal(lead(IP_V2, ips[1], &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V1, locals[1], &r), EMU_NOWHERE);
	func(0)->port_down = true;
	assert_int_equal(lead(IP_V2, ips[0], &r), 0);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

static void set(uint8_t sgid_index, const uint8_t dgid[16], uint8_t tclass)
{
	struct emu_address a = {.sgid_index = sgid_index, .tclass = tclass, .hop_limit = 255};

	memcpy(a.dgid, dgid, sizeof(a.dgid));
	emu_path_set(func(0), watched, &a);
}

static void forced_packets_of_loopback_addresses_stay_here(void **state)
{
	static const uint8_t lo[16] = IP4(127, 100, 0, 1), other[16] = IP4(127, 100, 0, 9);
	struct emu_route r;

	add(0, IP_V2, lo, EMU_GID_ROCE_V2, EMU_NO_VLAN);
	emu_endpoint_publish(func(0), lo);
	assert_int_equal(lead(IP_V2, other, &r), EMU_ON_WIRE);
	emu_tables->wire_forced = 1;
	assert_int_equal(lead(IP_V2, other, &r), EMU_NOWHERE);
	assert_int_equal(lead(IP_V2, lo, &r), EMU_ON_WIRE);
}

static void queue_pair_follows_its_port(void **state)
{
	emu_endpoint_publish(func(0), ips[0]);
	set(IP_V2, far_ip, 4);
	assert_int_equal(watched->dest_func, EMU_ON_WIRE);
	assert_int_equal(watched->route.tclass, 4);
	assert_int_equal(watched->route.hop_limit, 255);
	func(0)->port_down = true;
	emu_paths_refresh();
	assert_int_equal(watched->dest_func, EMU_NOWHERE);
	func(0)->port_down = false;
	emu_paths_refresh();
	assert_int_equal(watched->dest_func, EMU_ON_WIRE);
	assert_int_equal(graces, 0); /* the same route: engines may go on */
	emu_path_clear(watched);
	assert_int_equal(watched->dest_func, EMU_NOWHERE);
}

static void route_changes_only_while_no_engine_reads_it(void **state)
{
	forced(2);
	emu_endpoint_publish(func(1), ip6s[1]);
	set(IP_V2, ips[1], 0);
	assert_memory_equal(watched->route.dst, ips[1], 16);
	atomic_store(&emu_tables->endpoint[1].serial, 0);
	emu_endpoint_publish(func(1), far_ip);
	emu_paths_refresh();
	assert_int_equal(watched->dest_func, EMU_ON_WIRE);
	assert_memory_equal(watched->route.dst, far_ip, 16);
	assert_int_equal(graces, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_an_address_nothing_leaves),
		TEST(other_address_is_on_the_wire),
		TEST(only_the_address_itself_leads_to_the_wire),
		TEST(port_that_is_down_has_no_route),
		TEST(forced_packets_leave_whatever_gids_they_name),
		TEST(forced_packets_need_two_addresses_of_one_family),
		TEST(forced_packets_obey_partitions_and_ports),
		TEST(forced_packets_of_loopback_addresses_stay_here),
		TEST(queue_pair_follows_its_port),
		TEST(route_changes_only_while_no_engine_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
