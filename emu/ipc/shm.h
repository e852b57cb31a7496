/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the emulated firmware (the server) and the DMA engines (one thread in each client process)
 * share. Three segments, each a memfd that the server creates:
 *
 *   tables  mkeys and their KLM lists: written by the server alone, mapped read-only by engines.
 *   queues  QPs, CQs and engine slots: written by the server and by the engine that owns the entry.
 *   dm      on-chip memory (MEMIC) of all cards, EMU_DM_STRIDE bytes per card.
 *
 * Life of an entry: `serial` is 0 while the entry is free. The server fills an entry and then
 * publishes it by storing a non-zero, never repeated serial (release); a reader loads the serial
 * first (acquire). To retire an entry the server stores 0 and then waits until every engine that may
 * still use it has left its pass (emu_engine.epoch moves on or is even) before it reuses the
 * entry or answers the client: read-copy-update's grace period. An engine
 * therefore never blocks on the server inside a pass, and looks every entry up anew in each pass.
 *
 * When the server has ended, a client that detects it stores `server_ended` for all engines. From then
 * on clients retire what they destroy themselves (shim/server_exit.c).
 */
#ifndef EMU_SHM_H
#define EMU_SHM_H

#include "emu/ipc/limits.h"
#include "emu/ipc/message.h"
#include "emu/ipc/note.h"
#include "emu/ipc/queues.h"
#include "emu/ipc/tables.h"

#endif
