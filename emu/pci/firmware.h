/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The firmware of the function, which is in the emulator's server; this process is its driver's side. */
#ifndef EMU_PCI_FIRMWARE_H
#define EMU_PCI_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/firmware.h"

struct emu_fw {
	int fd;	    /* the character device */
	int events; /* struct emu_fw_event */
	struct emu_fw_info info;
	struct emu_fw_dm dm; /* of 0 bytes: the card has none */
	int dm_fd;
	uint8_t *dm_bytes;
};

/* Open the function of the directory and role in the environment. Returns 0 or an errno, after a line that says why. */
int emu_fw_open(struct emu_fw *fw);
void emu_fw_close(struct emu_fw *fw);

/*
 * Execute a command. The lengths are those of the mailboxes; the answer always has a status. The server's end is a
 * status, too (an internal error). False: the command waits for pages of the driver, and has to be sent again.
 */
bool emu_fw_command(const struct emu_fw *fw, const uint8_t *in, size_t in_len, uint8_t *out,
		    size_t out_len);
/* Let commands name [address, address + len) of this process as a umem. Its number, or 0. */
uint32_t emu_fw_memory(const struct emu_fw *fw, uint64_t address, uint64_t len);
/* False: an object uses it. */
bool emu_fw_memory_end(const struct emu_fw *fw, uint32_t id);
/* Map a doorbell page that a command has allocated; NULL: there is none of this number. */
uint8_t *emu_fw_uar(const struct emu_fw *fw, uint32_t page);
void emu_fw_uar_end(uint8_t *uar);
/* The next event. Returns 0; EAGAIN: there is none; another errno: the emulator has ended. */
int emu_fw_event(const struct emu_fw *fw, struct emu_fw_event *event);
/* Destroy all objects of the function. */
void emu_fw_reset(const struct emu_fw *fw);

#endif
