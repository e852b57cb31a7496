/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Guest memory in commands. A driver names memory by a list of the guest's pages; the firmware is told the place of
 * these pages in this process, as a umem.
 */
#ifndef EMU_PCI_PAGES_H
#define EMU_PCI_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/pci/firmware.h"
#include "emu/pci/guest.h"

/* Memory that a command names, as long as the object lives that it creates. */
struct emu_pages {
	struct emu_guest_view *view; /* NULL: none */
	uint32_t umem;		     /* of the view; 0: none */
};

struct emu_pages_of {
	struct emu_guest *guest;
	const struct emu_fw *firmware;
	uint32_t space; /* the umem of all of the guest's addresses */
};

/*
 * Replace the page list of a command in place, and shorten the command. Returns 0 or an errno. EFAULT: the guest has
 * not offered the memory; EINVAL: the list is too short, or a field has no valid value. Commands without a list, and
 * those that are too short for one, which the firmware refuses, stay as they are.
 */
int emu_pages_replace(const struct emu_pages_of *of, uint8_t *in, size_t *in_len,
		      struct emu_pages *pages);
/*
 * The fields of a command that name umems of a program, which the kernel marks as valid; returns how many. The other
 * umems in commands are this process's.
 */
#define EMU_NAMED_UMEMS 2
size_t emu_pages_umems(const uint8_t *in, size_t in_len, int fields[EMU_NAMED_UMEMS]);
/* The memory of CREATE_UMEM, whose number is that of the umem. */
int emu_pages_create_umem(const struct emu_pages_of *of, const uint8_t *in, size_t in_len,
			  struct emu_pages *pages);
/* False: the umem is in use, and nothing is released. */
bool emu_pages_release_umem(const struct emu_pages_of *of, struct emu_pages *pages);
void emu_pages_release(const struct emu_pages_of *of, struct emu_pages *pages);

#endif
