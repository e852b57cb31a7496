/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The engine's sockets: it receives the packets of its queue pairs and sends theirs, several with one system call. The
 * server opens the sockets (emu_endpoint_fds).
 *
 * Packets to one peer that have the same length leave as one datagram, which the kernel cuts (UDP_SEGMENT). The
 * kernel counts up the identification of such IPv4 packets from 0, so their invariant CRCs are made for that.
 */
#ifndef EMU_ENGINE_NET_H
#define EMU_ENGINE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/note.h"
#include "emu/ipc/shm.h"
#include "emu/wire/path.h"

struct engine;
struct emu_net_buffers;

#define ENGINE_NET_SOCKETS (1u + EMU_WIRE_PORTS)

/* fd[0] receives; the others only send. */
struct emu_net_endpoint {
	uint32_t sockets; /* 0: no endpoint */
	bool long_ones;	  /* the last datagram was long */
	uint32_t window;  /* packets that a connection may have outstanding */
	int fd[ENGINE_NET_SOCKETS];
	uint16_t port[ENGINE_NET_SOCKETS];
};

struct emu_net {
	int epfd; /* becomes readable when a packet arrives, once after emu_net_arm() */
	uint32_t num_endpoints;
	bool single; /* the kernel does not cut datagrams */
	struct emu_net_buffers *buffers;
	struct emu_net_endpoint endpoint[EMU_MAX_ENDPOINTS];
};

/* Called by the engine's thread. `hidden`: the thread has a descriptor table of its own. */
void emu_net_open(struct engine *e, bool hidden);
/* The packets that have arrived wake a sleeping engine: consume what made `epfd` readable. */
void emu_net_woke(const struct engine *e);
void emu_net_close(struct engine *e);
/* The server has ended: another one may use its addresses. */
void emu_net_close_sockets(struct engine *e);
/* An endpoint may be used from now on, with these descriptors. */
void emu_net_accept(struct engine *e, const struct emu_endpoint_fds *g, const int *fd,
		    uint32_t nfds);
/* The endpoint of a function with this address, if the engine can use it; else EMU_MAX_ENDPOINTS. */
uint32_t emu_net_find(const struct engine *e, uint32_t func, const uint8_t addr[16]);

/* The function at whose address a packet has arrived, or EMU_MAX_FUNCS. */
uint32_t emu_net_func(const struct engine *e, const uint8_t addr[16]);

typedef void emu_net_handler(struct engine *e, const struct wire_path *from, const uint8_t *bytes,
			     size_t len);

/* Called after some packets; `last`: no others wait. */
typedef void emu_net_pause(struct engine *e, bool last);

/* Receive the packets that have arrived, not all if there are many. */
void emu_net_receive(struct engine *e, emu_net_handler *handler, emu_net_pause *pause);

/* Room for the next packet: WIRE_MAX_PACKET bytes. */
uint8_t *emu_net_reserve(struct engine *e);
/*
 * Send a queue pair's packet, which is in the room that was reserved, from a source port that
 * depends on `flow`. `path->src` and `path->dst` are set, and what belongs to traffic class and
 * flow label.
 */
void emu_net_send(struct engine *e, uint32_t qpn, uint32_t endpoint, const struct wire_path *path,
		  uint16_t flow, size_t len);
void emu_net_flush(struct engine *e);

/*
 * Before a sleep: let `epfd` become readable once. False: it does not, for example because the user
 * has too many watches (fs.epoll.max_user_watches).
 */
bool emu_net_arm(struct engine *e);
/* Sleep until a packet arrives, at most `ns`. */
void emu_net_wait(const struct engine *e, uint64_t ns);

/* Process the packets that have arrived, within a pass: find the queue pair of each, and receive datagrams. */
void emu_arrivals(struct engine *e);

#endif
