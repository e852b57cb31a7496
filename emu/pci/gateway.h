/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The vendor's capability of the configuration space: a gateway to the card that works without commands. It has
 * semaphores, by which drivers agree on who resets a function that has failed.
 *
 * Linux, drivers/net/ethernet/mellanox/mlx5/core/lib/pci_vsc.c.
 */
#ifndef EMU_PCI_GATEWAY_H
#define EMU_PCI_GATEWAY_H

#include <stdint.h>

#define EMU_GATEWAY_BYTES      0x18u /* of the capability */
#define EMU_GATEWAY_SEMAPHORES 64u

struct emu_gateway {
	uint32_t semaphore[EMU_GATEWAY_SEMAPHORES]; /* the owner's number; 0: free */
};

/* The capability as after power-on, without its header; and the bits that a write changes. */
void emu_gateway_init(uint8_t *cap, uint8_t *writable);
/* Bytes [from, to) of the capability have been written; `before`: what it was. */
void emu_gateway_written(struct emu_gateway *g, uint8_t *cap, const uint8_t *before, uint64_t from,
			 uint64_t to);

#endif
