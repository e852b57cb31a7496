/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/wire/endpoints.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "emu/ipc/note.h"
#include "emu/ipc/sock.h"
#include "emu/server/base/log.h"
#include "emu/server/card/blocks.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/wire/steer.h"
#include "emu/server/wire/udp.h"

#define MOST_SOCKETS (EMU_MAX_ENGINES + 1)
#define FIRST	     1u /* socket of an engine */

/* The group of an endpoint. */
static struct group {
	struct emu_wire_sockets sockets;
	struct {
		int fd;
		uint32_t slot; /* of the engine that has it, or EMU_NO_ENGINE */
	} at[MOST_SOCKETS];
} groups[EMU_MAX_ENDPOINTS];

struct emu_wire_sockets *emu_wire_sockets_of(int endpoint)
{
	return endpoint >= 0 && endpoint < (int)EMU_MAX_ENDPOINTS &&
			       groups[endpoint].sockets.nsockets
		       ? &groups[endpoint].sockets
		       : NULL;
}

/* --- which socket gets a datagram ------------------------------------------------------------- */

/* The engine of a queue pair with this number. An XRC target outlives the engine that created it. */
static uint32_t engine_of(uint32_t qpn)
{
	const struct emu_qp *q = &emu_queues->qp[qpn];

	return atomic_load(&q->serial) && q->type == EMU_QPT_XRC_TGT ? q->engine
								     : emu_block_owner(qpn);
}

static void list_sockets(const struct group *g, uint32_t of_slot[EMU_MAX_ENGINES])
{
	memset(of_slot, 0, EMU_MAX_ENGINES * sizeof(of_slot[0]));
	for (unsigned int i = FIRST; i < g->sockets.nsockets; i++)
		if (g->at[i].slot < EMU_MAX_ENGINES)
			of_slot[g->at[i].slot] = i;
}

static int steer(const struct group *g)
{
	static struct sock_filter program[BPF_MAXINSNS];
	static struct emu_steer runs[EMU_STEER_RUNS];
	uint32_t of_slot[EMU_MAX_ENGINES], qpn, slot;
	struct sock_fprog f = {.filter = program};
	size_t n = emu_steer_add(runs, 0, 0, 0);

	list_sockets(g, of_slot);
	for (qpn = EMU_FIRST_QPN; qpn < EMU_MAX_QPS; qpn++) {
		slot = engine_of(qpn);
		n = emu_steer_add(runs, n, qpn, slot < EMU_MAX_ENGINES ? of_slot[slot] : 0);
	}
	n = emu_steer_add(runs, n, EMU_MAX_QPS, 0);
	f.len = (unsigned short)emu_steer_program(runs, n, program);
	if (!f.len)
		return -E2BIG;
	return setsockopt(g->at[0].fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &f, sizeof(f)) ? -errno
											    : 0;
}

static int steer_all(void)
{
	int err = 0, one;

	for (unsigned int i = 0; i < EMU_MAX_ENDPOINTS; i++) {
		one = groups[i].sockets.nsockets ? steer(&groups[i]) : 0;
		if (one)
			emu_log("cannot attach the program that sorts the datagrams of endpoint "
				"%u: "
				"%s; a larger net.core.optmem_max may help",
				i, strerror(-one));
		err = err ? err : one;
	}
	return err;
}

/* --- creating --------------------------------------------------------------------------------- */

/* One more socket, for an engine. */
static int add_socket(struct group *g, const uint8_t addr[16])
{
	unsigned int n = g->sockets.nsockets;
	int fd;

	if (n == MOST_SOCKETS)
		return -EMFILE;
	fd = emu_udp_next(addr);
	if (fd < 0)
		return fd;
	g->at[n].fd = fd;
	g->at[n].slot = EMU_NO_ENGINE;
	g->sockets.nsockets++;
	return 0;
}

static int open_senders(struct group *g, const uint8_t addr[16])
{
	uint16_t port = EMU_UDP_FIRST_PORT;
	int fd;

	for (unsigned int i = 0; i < EMU_WIRE_PORTS; i++) {
		fd = emu_udp_sender(addr, &port);
		if (fd < 0)
			return fd;
		g->sockets.sender[i] = fd;
		g->sockets.port[i] = port;
		port++;
	}
	return 0;
}

/* The program is attached before the address is known, so the group already has two sockets. */
static int open_group(struct group *g, const uint8_t addr[16])
{
	int err, fd = emu_udp_first(addr);

	if (fd < 0)
		return fd;
	g->at[0].fd = fd;
	g->at[0].slot = EMU_NO_ENGINE;
	g->sockets.nsockets = 1;
	err = add_socket(g, addr);
	if (!err)
		err = steer(g);
	return err ? err : open_senders(g, addr);
}

/* The server ends if this fails, and the sockets with it. */
int emu_wire_open(const struct emu_func *f, const uint8_t addr[16],
		  void (*ready)(struct emu_watch *w))
{
	struct group *g = groups;
	uint32_t random = 0;
	int err;

	while (g < groups + EMU_MAX_ENDPOINTS && g->sockets.nsockets)
		g++;
	if (g == groups + EMU_MAX_ENDPOINTS)
		return -E2BIG;
	if (g == groups && getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		emu_blocks_begin(random);
	emu_blocks_changed = steer_all;
	err = open_group(g, addr);
	if (err)
		return err;
	g->sockets.watch = (struct emu_watch){.fd = g->at[0].fd, .ready = ready};
	err = emu_watch_add(&g->sockets.watch);
	if (!err)
		err = emu_endpoint_publish(f, addr);
	if (err < 0)
		return err;
	g->sockets.index = err;
	return 0;
}

/* --- engines ---------------------------------------------------------------------------------- */

static unsigned int find_socket(const struct group *g, uint32_t slot)
{
	unsigned int i = FIRST;

	while (i < g->sockets.nsockets && g->at[i].slot != slot)
		i++;
	return i;
}

static int send_fds(const struct group *g, uint32_t slot, int fd)
{
	const struct emu_proc *p = emu_proc_by_slot(slot);
	struct emu_endpoint_fds message = {
		.endpoint = (uint32_t)g->sockets.index,
		.nports = EMU_WIRE_PORTS,
	};
	int fds[1 + EMU_WIRE_PORTS] = {fd};

	if (!p)
		return -ESRCH;
	memcpy(message.port, g->sockets.port, sizeof(message.port));
	memcpy(fds + 1, g->sockets.sender, sizeof(g->sockets.sender));
	/* packet.pml: send_fds */
	return -emu_sock_send_now(p->notes.fd, &message, sizeof(message), fds, 1 + EMU_WIRE_PORTS);
}

/*
 * Datagrams of one sender are joined before a socket is chosen for them, by the queue pair of the first. So they may
 * be joined only while one engine gets all of them.
 */
static void allow_joining(const struct group *g)
{
	for (unsigned int i = FIRST; i < g->sockets.nsockets; i++)
		emu_udp_join(g->at[i].fd, g->sockets.nengines == 1);
}

static int admit_to(struct group *g, uint32_t slot)
{
	unsigned int i;
	int err = 0;

	if (find_socket(g, slot) < g->sockets.nsockets)
		return 0;
	i = find_socket(g, EMU_NO_ENGINE);
	if (i == g->sockets.nsockets)
		err = add_socket(g, emu_endpoint_addr(g->sockets.index));
	if (err)
		return err;
	emu_udp_drain(g->at[i].fd);
	err = send_fds(g, slot, g->at[i].fd);
	if (err)
		return err;
	g->at[i].slot = slot;
	g->sockets.nengines++;
	allow_joining(g);
	return steer(g);
}

int emu_wire_admit(const struct emu_func *f, uint32_t slot)
{
	int err = 0;

	for (struct group *g = groups; g < groups + EMU_MAX_ENDPOINTS && !err; g++)
		if (g->sockets.nsockets && emu_endpoint_func(g->sockets.index) == f)
			err = admit_to(g, slot);
	if (err)
		emu_log("%s: mlx5_%u: cannot give a process the sockets of the port's address: %s",
			f->role, f->dev, strerror(-err));
	return err;
}

void emu_wire_leave(uint32_t slot)
{
	unsigned int i;

	emu_blocks_release(slot);
	for (struct group *g = groups; g < groups + EMU_MAX_ENDPOINTS; g++) {
		i = find_socket(g, slot);
		if (i >= g->sockets.nsockets)
			continue;
		g->at[i].slot = EMU_NO_ENGINE;
		g->sockets.nengines--;
		allow_joining(g);
		steer(g);
		emu_udp_drain(g->at[i].fd);
	}
}
