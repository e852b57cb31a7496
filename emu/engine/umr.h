/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Changes of mkeys, which the server executes for the engine. */
#ifndef EMU_ENGINE_UMR_H
#define EMU_ENGINE_UMR_H

#include <stdint.h>

#include "emu/ipc/shm.h"

#define ENGINE_UMR_WAIT UINT32_MAX /* the server has not executed the change yet */

struct engine;

/* Post a change to the server, or read its answer: the syndrome of a CQE, or ENGINE_UMR_WAIT. */
uint32_t emu_umr_step(struct engine *e, uint32_t qpn, enum emu_umr_side side,
		      const struct emu_umr *what);

#endif
