/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the process that offers a PCI function (emu/pci) reaches the firmware: methods of the character device beside
 * those of Linux, for dpumap-emu alone. A file on which EMU_FUNCTION_OPEN has been called is the driver's side of a
 * function: it is no context of verbs, and its commands are those of the kernel, with no user's number.
 */
#ifndef EMU_IPC_FIRMWARE_H
#define EMU_IPC_FIRMWARE_H

#include <stdint.h>

#define EMU_OBJECT_FUNCTION 0x1f00 /* in the drivers' range, far above what mlx5 uses */

enum emu_function_method {
	EMU_FUNCTION_OPEN = 0x1f00,
	EMU_FUNCTION_COMMAND,
	EMU_FUNCTION_MEMORY,
	EMU_FUNCTION_MEMORY_END,
	EMU_FUNCTION_RESET,
	EMU_FUNCTION_DM,
};

enum emu_function_attr {
	EMU_FUNCTION_INFO = 0x1f00, /* out: struct emu_fw_info */
	EMU_FUNCTION_EVENTS,	    /* new descriptor: a pipe of struct emu_fw_event */
	EMU_FUNCTION_IN,	    /* in: the command's mailbox */
	EMU_FUNCTION_OUT,	    /* out: its answer */
	EMU_FUNCTION_ADDRESS,	    /* in, 8 bytes: memory of this process, */
	EMU_FUNCTION_LENGTH,	    /* in, 8 bytes: which commands may name instead of pages, */
	EMU_FUNCTION_MEMORY_ID,	    /* by this number: out, or in to end it; 4 bytes */
	EMU_FUNCTION_DM_PLACE,	    /* out: struct emu_fw_dm */
	EMU_FUNCTION_DM_FILE,	    /* new descriptor: a file with the card's device memory */
};

struct emu_fw_info {
	uint64_t fw_ver; /* as the profile has it: 16 bits each of major, minor, and sub-minor */
	uint16_t device; /* of the configuration space */
	uint16_t reserved[3];
};

struct emu_fw_dm {
	uint64_t offset; /* in the file */
	uint64_t bytes;
};

#define EMU_FW_SPACE	  (1ull << 44) /* addresses above are no memory that a card can use */
#define EMU_FW_EQS	  32u	       /* numbers of event queues of a function; 0 is none */
#define EMU_FW_EVENT_DATA 28u
#define EMU_FW_UARS \
	4096u /* doorbell pages of the BAR; the first ones are the initialisation segment */
#define EMU_FW_FIRST_UAR 16u
#define EMU_FW_DM	 (EMU_FW_UARS * 4096ull) /* device memory begins here in the BAR */

/* An event for an event queue of the function. */
struct emu_fw_event {
	uint8_t eqn;
	uint8_t type; /* enum emu_event_type */
	uint8_t sub_type;
	uint8_t reserved;
	uint8_t data[EMU_FW_EVENT_DATA];
};

/* Types of events for no event queue (eqn 0): what happens to the function itself. */
enum emu_fw_change {
	EMU_FW_FAILED = 1, /* it executes no command before a reset, */
	EMU_FW_REPAIRED,   /* and that is possible from now on */
};

_Static_assert(sizeof(struct emu_fw_event) == 32, "events are written as a whole");

#endif
