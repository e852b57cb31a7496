/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files of a function on the PCI bus, by which drivers such as DPDK's find it, and of the bridges above it. */
#ifndef EMU_CARD_PCI_H
#define EMU_CARD_PCI_H

#include "emu/server/card/topology.h"

/*
 * Write the files below devices/ and bus/pci/ of the function's tree of /sys, those of NUMA nodes included. 0 or a
 * negative errno.
 */
int emu_pci_create(const struct emu_func *f);

#endif
