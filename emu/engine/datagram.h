/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagrams of UD queue pairs on the wire. */
#ifndef EMU_ENGINE_DATAGRAM_H
#define EMU_ENGINE_DATAGRAM_H

#include <stdint.h>

#include "emu/engine/memory/wqe.h"
#include "emu/ipc/shm.h"
#include "emu/wire/packet.h"
#include "emu/wire/path.h"

struct engine;

struct emu_datagrams {
	uint32_t psn; /* of all UD queue pairs */
};

/* The endpoint by which a datagram of `q` leaves; EMU_MAX_ENDPOINTS: it does not. */
uint32_t emu_datagram_route(const struct engine *e, const struct emu_qp *q,
			    const struct emu_av *av);
/* Send a datagram by it. */
enum emu_syndrome emu_datagram_send(struct engine *e, uint32_t qpn, const struct emu_wqe *w,
				    uint32_t endpoint);
/* A datagram has arrived for this queue pair. */
enum wire_drop emu_datagram_input(struct engine *e, uint32_t qpn, const struct wire_path *from,
				  const struct wire_packet *p);

#endif
