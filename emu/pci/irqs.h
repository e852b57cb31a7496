/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The interrupts of a function (MSI-X): an eventfd of the virtual machine for each vector. */
#ifndef EMU_PCI_IRQS_H
#define EMU_PCI_IRQS_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_PCI_VECTORS 16u

struct emu_irqs {
	int fd[EMU_PCI_VECTORS]; /* -1: none */
};

void emu_irqs_init(struct emu_irqs *irqs);
bool emu_irqs_is_eventfd(int fd);
/* Use the descriptor (an eventfd, consumed) for a vector below EMU_PCI_VECTORS from now on; -1: none. */
void emu_irqs_set(struct emu_irqs *irqs, uint32_t vector, int fd);
void emu_irqs_clear(struct emu_irqs *irqs);
/* Nothing happens if the vector does not exist or has no descriptor. */
void emu_irqs_raise(const struct emu_irqs *irqs, uint32_t vector);

#endif
