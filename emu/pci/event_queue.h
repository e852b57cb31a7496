/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The event queues of a function: rings in guest memory, each with an interrupt vector.
 *
 * PRM, "Event Queues"; Linux, include/linux/mlx5/device.h: struct mlx5_eqe.
 */
#ifndef EMU_PCI_EVENT_QUEUE_H
#define EMU_PCI_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/firmware.h"
#include "emu/pci/guest.h"
#include "emu/pci/irqs.h"

struct emu_eq {
	struct emu_guest_view *ring; /* NULL: there is no such queue */
	uint32_t log_size;	     /* in entries */
	uint32_t vector;
	uint32_t producer, consumer; /* entries since the queue was created */
	bool is_armed;
	bool has_lost; /* events, for which there was no room */
};

struct emu_eqs {
	struct emu_eq eq[EMU_FW_EQS]; /* by number */
};

/* Create a queue; takes the ring over. Its number must be free. */
void emu_eq_create(struct emu_eqs *eqs, uint32_t eqn, struct emu_guest_view *ring,
		   uint32_t log_size, uint32_t vector);
/* Nothing happens if there is no such queue. */
void emu_eq_destroy(struct emu_eqs *eqs, uint32_t eqn);
void emu_eqs_destroy_all(struct emu_eqs *eqs);

/* Put an event into its queue, and interrupt the driver if it waits. An event of no queue is dropped. */
void emu_eq_put(struct emu_eqs *eqs, const struct emu_fw_event *event, const struct emu_irqs *irqs);
/* The driver's doorbell: how far it has read, and whether it waits for more. */
void emu_eq_ring(struct emu_eqs *eqs, uint32_t doorbell, bool arm, const struct emu_irqs *irqs);

#endif
