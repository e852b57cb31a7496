/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagrams, and requests of DC initiators: their receiver, and the network header that it finds. */
#ifndef EMU_ENGINE_UD_H
#define EMU_ENGINE_UD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/wqe.h"
#include "emu/ipc/shm.h"

struct engine;

/* Was a datagram with this network header sent to a multicast group? */
bool emu_ud_to_group(const uint8_t *area);
/* Is the destination a multicast group? */
bool emu_ud_is_multicast(const struct emu_av *av);
/*
 * The number of the group's next member after `member` (0: the first) that gets datagrams of `q`, or
 * 0 if there are no more. Numbers remain valid between passes. Each member gets a message of its own.
 */
uint32_t emu_ud_next_member(const struct engine *e, const struct emu_qp *q, const uint8_t gid[16],
			    uint32_t member);
/* Has a port of this emulator the GID? */
bool emu_ud_is_local(const struct engine *e, const uint8_t gid[16]);
/*
 * The QP that receives a datagram of `q`, or NULL; of a multicast group, this member. If `q` is a DC initiator: the
 * target of its request.
 */
struct emu_qp *emu_ud_peer(struct engine *e, const struct emu_qp *q, const struct emu_av *av,
			   uint32_t member);
/* Fill the GRH area (EMU_GRH bytes) of the receiver. */
void emu_ud_header(const struct engine *e, const struct emu_qp *q, const struct emu_av *av,
		   uint64_t len, uint8_t *area);
/* The network part of the receiver's CQE for such a header. */
uint8_t emu_ud_network(const uint8_t *area);

/* The number by which a receiver sees a queue pair of a function. */
uint32_t emu_ud_source(const struct engine *e, uint32_t func, uint32_t qpn);

#endif
