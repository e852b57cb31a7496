/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tree of PCI buses of a machine: where its cards are. */
#ifndef EMU_CARD_PLACE_H
#define EMU_CARD_PLACE_H

#include "emu/server/card/topology.h"

/* Choose the place, the address and the directory of a function, whose card and kind are set. */
void emu_place_choose(struct emu_func *f, const struct emu_node_spec *machine);
/* The address on the PCI bus, as Linux writes it. */
void emu_place_address(unsigned int bus, unsigned int slot, char text[static 16]);

#endif
