/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses of ports on networks of this machine, as the shared tables have them (struct emu_endpoint). Packets between
 * such an address and peers outside this emulator are UDP datagrams.
 */
#ifndef EMU_CARD_ENDPOINT_H
#define EMU_CARD_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/server/card/topology.h"

/* In place of an index of emu_tables.endpoint. */
#define EMU_NO_ENDPOINT (-1)

/* The function's endpoint with this address, or EMU_NO_ENDPOINT. `addr` NULL: its first one. */
int emu_endpoint_find(const struct emu_func *f, const uint8_t *addr);
/* The function's first endpoint of an IP family, or EMU_NO_ENDPOINT. */
int emu_endpoint_of_family(const struct emu_func *f, bool ipv4);
/* The endpoint with this address, of any function. */
int emu_endpoint_by_addr(const uint8_t addr[16]);
/* The endpoint after another one, or the first after EMU_NO_ENDPOINT, of any function. */
int emu_endpoint_next(int endpoint);
/* The function of an endpoint, and its address. */
const struct emu_func *emu_endpoint_func(int endpoint);
const uint8_t *emu_endpoint_addr(int endpoint);
/* With --wire loopback: packets between ports of this emulator use the endpoint, and others do not. */
bool emu_endpoint_is_internal(int endpoint);
/* The network interface that has the address. */
const char *emu_endpoint_netdev(int endpoint);
/* Tell engines whether the function's port is down. */
void emu_endpoint_set_down(const struct emu_func *f);
/* Publish an endpoint. Its index, or -E2BIG. */
int emu_endpoint_publish(const struct emu_func *f, const uint8_t addr[16]);

/*
 * Whether the kernel has a route from the endpoint to this address: 0, or a negative errno. `*mtu`, if not NULL,
 * becomes the largest path MTU (enum ibv_mtu) of packets on the route.
 */
int emu_endpoint_reaches(int endpoint, const uint8_t addr[16], uint8_t *mtu);
/* The address that IP routing chooses as the source of packets to `dst`: 0 or a negative errno. */
int emu_endpoint_source(const uint8_t dst[16], uint8_t src[16]);
/* The MTU of a port (enum ibv_mtu): the least of its endpoints' interfaces; without endpoints the largest. */
uint8_t emu_port_mtu(const struct emu_func *f);

#endif
