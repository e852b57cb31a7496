/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The configuration space of a function, and its BARs. */
#ifndef EMU_PCI_CONFIG_H
#define EMU_PCI_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/pci/gateway.h"

#define EMU_PCI_CONFIG_BYTES 4096u
#define EMU_PCI_BAR_BYTES    (32u << 20) /* BAR 0: the initialisation segment, and doorbell pages */
#define EMU_PCI_MSIX_BAR     2u
#define EMU_PCI_MSIX_BYTES   4096u /* of that BAR: the vectors' table, then their pending bits */

struct emu_pci_config {
	uint8_t byte[EMU_PCI_CONFIG_BYTES];
	uint8_t writable[EMU_PCI_CONFIG_BYTES]; /* which bits a write changes */
	struct emu_gateway gateway;
};

/* As after power-on. */
void emu_pci_config_init(struct emu_pci_config *config, uint16_t device);
/* Returns whether the write requests a reset of the function. The bytes must be in the space. */
bool emu_pci_config_write(struct emu_pci_config *config, uint64_t at, const uint8_t *data,
			  uint32_t len);

#endif
