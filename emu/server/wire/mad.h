/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queue pair 1 of the ports with endpoints (IBA 13.4, annex A17.4.4): management datagrams as UDP
 * datagrams. What arrives at the server's sockets and is not one of them is for queue pairs that do
 * not exist, and is counted.
 */
#ifndef EMU_WIRE_MAD_H
#define EMU_WIRE_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/server/base/reactor.h"
#include "emu/server/card/topology.h"
#include "emu/wire/drop.h"
#include "emu/wire/path.h"

struct emu_wire_mad {
	const struct emu_func *to;
	uint8_t src[16], dst[16]; /* as GIDs */
	uint8_t tclass;
	uint16_t pkey;
	const uint8_t *bytes; /* 256 */
};

struct emu_wire_counts {
	uint64_t received;
	uint64_t dropped[WIRE_DROP_COUNT]; /* of these; [WIRE_ACCEPTED]: not dropped */
};

/* Gets the management datagrams of the connection manager's class; false: there is no receiver. */
extern bool (*emu_wire_receive_mad)(const struct emu_wire_mad *m);

/* A packet of queue pair 1, or one that has arrived for a queue pair that does not exist. */
struct emu_wire_seen_packet {
	const struct emu_func *func; /* whose port has sent or received it */
	const struct emu_func
		*peer; /* it stayed within the emulator, and went to this port; or NULL */
	struct wire_path path;
	const uint8_t *bytes; /* behind the UDP header */
	size_t len;
	bool sent;
	enum wire_drop drop;
};

/* Gets all such packets, while somebody captures; else NULL. */
extern void (*emu_wire_on_packet)(const struct emu_wire_seen_packet *s);

/* Datagrams have arrived: the function of an endpoint's watch. */
void emu_wire_ready(struct emu_watch *w);
/* Send a management datagram as the route says. It may be lost. */
void emu_wire_send_mad(const struct emu_route *r, uint16_t pkey, const uint8_t mad[256]);
/* Show what a management datagram between two ports of the emulator would have been. */
void emu_wire_show_mad(const struct emu_wire_mad *m, const struct emu_func *from);
/* What arrived at the server's socket of an endpoint. */
const struct emu_wire_counts *emu_wire_counts_of(int endpoint);

#endif
