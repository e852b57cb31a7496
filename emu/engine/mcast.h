/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Multicast: a datagram for a group is delivered to one member after the other, each of which gets
 * a message of its own, as for a datagram with one receiver.
 */
#ifndef EMU_ENGINE_MCAST_H
#define EMU_ENGINE_MCAST_H

#include <stdint.h>

#include "emu/ipc/shm.h"

struct engine;

/*
 * The number of the group's next member after `member` (0: the first) that gets datagrams of `q`, or
 * 0 if there are no more. Numbers remain valid between passes.
 */
uint32_t emu_mcast_next(const struct engine *e, const struct emu_qp *q, const uint8_t gid[16],
			uint32_t member);
/* The queue pair of a member, or NULL if the member has left the group. */
struct emu_qp *emu_mcast_peer(const struct engine *e, const uint8_t gid[16], uint32_t member);

#endif
