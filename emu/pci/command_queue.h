/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command queue of a function: a driver puts commands into guest memory and rings; each is executed and answered
 * there.
 *
 * PRM, "Command Interface"; Linux, include/linux/mlx5/device.h: struct mlx5_cmd_layout and mlx5_cmd_prot_block.
 */
#ifndef EMU_PCI_COMMAND_QUEUE_H
#define EMU_PCI_COMMAND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/pci/guest.h"

#define EMU_CMDQ_LOG_ENTRIES 5u
#define EMU_CMDQ_LOG_STRIDE  6u
#define EMU_CMDQ_ENTRIES     (1u << EMU_CMDQ_LOG_ENTRIES)

/*
 * Execute a command, which may change, and fill its answer, which is zeroed. Both have at least 16 bytes. False: the
 * command has to wait for another one.
 */
typedef bool emu_cmdq_execute(void *context, uint8_t *in, size_t in_len, uint8_t *out,
			      size_t out_len);

struct emu_cmdq {
	struct emu_guest *guest;
	uint64_t address; /* the guest's, of the entries */
	emu_cmdq_execute *execute;
	void *context;
	uint32_t waiting; /* entries, as a vector has them */
};

/* The queue is there from now on; 0: nowhere. */
void emu_cmdq_place(struct emu_cmdq *queue, uint64_t address);
/*
 * Execute the commands of a vector, a bit for each entry, and then those that wait. Returns the entries that have been
 * answered.
 */
uint32_t emu_cmdq_ring(struct emu_cmdq *queue, uint32_t vector);

#endif
