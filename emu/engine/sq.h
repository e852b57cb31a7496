/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Send queues. */
#ifndef EMU_ENGINE_SQ_H
#define EMU_ENGINE_SQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/qp.h"
#include "emu/ipc/codes.h"
#include "emu/ipc/shm.h"

struct engine;

/* Execute as much of the send queue as fits in a pass. */
void emu_sq_advance(struct engine *e, uint32_t qpn);

/* For connections on the wire: execute the oldest request, which needs no peer; false: it is not finished. */
bool emu_sq_step(struct engine *e, uint32_t qpn);
/* Complete the oldest request, which succeeded; false: a fault on demand delays that. */
bool emu_sq_finish(struct engine *e, uint32_t qpn);
/* Complete the oldest request. An error ends the queue, and so that of a flushed request has. */
void emu_sq_complete(struct engine *e, uint32_t qpn, enum emu_syndrome syndrome);
/* Flush all requests, none of which is in flight. */
void emu_sq_flush(struct engine *e, uint32_t qpn);

#endif
