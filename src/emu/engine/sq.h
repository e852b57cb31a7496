/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Send queues. */
#ifndef EMU_ENGINE_SQ_H
#define EMU_ENGINE_SQ_H

#include <stdint.h>

struct engine;

/* Execute as much of the send queue as fits in a pass. */
void emu_sq_advance(struct engine *e, uint32_t qpn);

#endif
