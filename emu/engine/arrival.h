/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packets that arrive from the wire: to which queue pair each belongs, and datagrams of UD queue pairs. */
#ifndef EMU_ENGINE_ARRIVAL_H
#define EMU_ENGINE_ARRIVAL_H

struct engine;

/* Process the packets that have arrived, within a pass. */
void emu_arrivals(struct engine *e);

#endif
