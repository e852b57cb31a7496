/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections on the wire: what the transport (emu/wire/qp.h) does for a queue pair whose packets are UDP
 * datagrams. Its work requests are in flight together; they complete in order.
 */
#ifndef EMU_ENGINE_CONN_H
#define EMU_ENGINE_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/wire/packet.h"
#include "emu/wire/path.h"

struct engine;
struct emu_conn;
struct wire_wr;

struct emu_conns {
	struct emu_conn *room;		  /* for one of each queue pair; NULL: not yet needed */
	struct emu_conn *of[EMU_MAX_QPS]; /* NULL: none, or not yet */
	uint32_t answering; /* the queue pair whose packets are being processed; 0: none */
};

/*
 * The connection of a queue pair; it begins when the queue pair has a route and is ready to receive. NULL: the
 * queue pair has none.
 */
struct emu_conn *emu_conn_of(struct engine *e, uint32_t qpn);
/* The enum wire_work of a WQE's opcode; false: it needs no peer. */
bool emu_conn_work(uint8_t opcode, uint8_t *work);
/* The work request of a queue pair whose packets, or the answers to them, have this PSN; NULL: it is not known. */
const struct wire_wr *emu_conn_request(const struct engine *e, uint32_t qpn, uint32_t psn);
/* Hand over work requests that were posted, send packets that are due, act on timers. */
void emu_conn_advance(struct emu_conn *c);
enum wire_drop emu_conn_input(struct emu_conn *c, const struct wire_path *from,
			      const struct wire_packet *p);
/* Send what the packets of the last queue pair that got some require. */
void emu_conn_answer(struct engine *e);
/* Forget the connections of queue pairs that do not exist any more. */
void emu_conns_prune(struct engine *e);
void emu_conns_close(struct engine *e);

#endif
