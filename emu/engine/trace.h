/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The engine's counts of work, and its records for a trace. */
#ifndef EMU_ENGINE_TRACE_H
#define EMU_ENGINE_TRACE_H

#include <stdint.h>

#include "emu/engine/memory/wqe.h"

struct engine;

/* Count a finished work request and, while a client traces, send a record of it. */
void emu_wr_finished(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome);

#endif
