/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a transfer between two ports of this emulator would have been on a wire, for captures: no packet
 * was sent, the bytes were copied in memory. Of a long message the first packets and the last one are made.
 */
#ifndef EMU_ENGINE_LOCAL_PACKETS_H
#define EMU_ENGINE_LOCAL_PACKETS_H

#include <stdint.h>

#include "emu/engine/memory/wqe.h"

struct engine;

/* A work request is finished, and its WQE is still in the ring. */
void emu_local_packets(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome);

#endif
