/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A PCI function of the emulated card: what a virtual machine reads and writes there, and what it gets in return. */
#ifndef EMU_PCI_FUNCTION_H
#define EMU_PCI_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/pci/command_queue.h"
#include "emu/pci/config.h"
#include "emu/pci/event_queue.h"
#include "emu/pci/firmware.h"
#include "emu/pci/guest.h"
#include "emu/pci/irqs.h"
#include "emu/pci/objects.h"

/* How the function is, as its initialisation segment says it. */
struct emu_health {
	bool has_failed;    /* since the last reset */
	bool is_broken;	    /* a reset does not help yet */
	uint32_t failed_at; /* the counter then */
	uint32_t nic;	    /* enum emu_nic_state */
};

struct emu_function {
	struct emu_fw firmware;
	struct emu_guest *guest;
	struct emu_pci_config config;
	struct emu_irqs irqs;
	struct emu_cmdq commands;
	struct emu_eqs eqs;
	struct emu_objects objects;
	struct emu_health health;
	uint32_t command_eqn;  /* the event queue that reports commands; 0: none */
	uint32_t address_high; /* of the command queue, until its lower half is written */
	uint8_t *uar[EMU_FW_UARS];
};

/* Returns 0 or an errno, after a line that says why. */
int emu_function_open(struct emu_function *f);

/* The bytes of a region (linux/vfio.h); 0: there is none of that index. */
uint64_t emu_function_region(uint32_t index);
/* A part of a region that the virtual machine may map. */
struct emu_function_area {
	uint64_t at, bytes;
	int fd;
	uint64_t region; /* where the region would begin in the file */
};

/* False: the region has none. */
bool emu_function_area(const struct emu_function *f, uint32_t index,
		       struct emu_function_area *area);
/* The bytes must be in the region. */
void emu_function_read(const struct emu_function *f, uint32_t region, uint64_t at, uint8_t *data,
		       uint32_t len);
void emu_function_write(struct emu_function *f, uint32_t region, uint64_t at, const uint8_t *data,
			uint32_t len);
/* As after power-on, but for memory and interrupts that the virtual machine has set up. */
void emu_function_reset(struct emu_function *f);
/* The virtual machine has gone: its memory and interrupts too. */
void emu_function_leave(struct emu_function *f);
/* Deliver the events that the firmware has for the driver. False: the emulator has ended. */
bool emu_function_events(struct emu_function *f);

#endif
