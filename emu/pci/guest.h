/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of a virtual machine, as its function reaches it.
 *
 * One range of this process's addresses stands for all of the guest's physical addresses: what the guest offers is
 * mapped there, at its own address from the start of the range, and the rest cannot be accessed. So guest memory is
 * memory of this process to the engine, the guest's address space is one piece, and pages that the guest has withdrawn
 * fault.
 *
 * The functions return 0 or an errno.
 */
#ifndef EMU_PCI_GUEST_H
#define EMU_PCI_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/firmware.h"

#define EMU_GUEST_PAGE	4096u
#define EMU_GUEST_SPACE EMU_FW_SPACE

struct emu_guest;

/*
 * It lives as long as the process. Rings and doorbell records are accessed without a check, as those of a program
 * are elsewhere. So an access to memory that the guest has withdrawn, or that its file does not have any more, finds
 * a page of zeros: what the card writes there is lost. Requests for such memory complete with an error, unless a page
 * of zeros has taken its place.
 */
int emu_guest_create(struct emu_guest **guest);

/* Memory that the guest offers: the bytes of a file from `offset` on. */
struct emu_guest_offer {
	uint64_t address;
	uint64_t size;
	int fd; /* stays the caller's; -1: the memory is not shared, so that the function cannot use it */
	uint64_t offset;
	bool writable;
};

/* EEXIST: some of it is offered already. EINVAL: not whole pages. */
int emu_guest_map(struct emu_guest *guest, const struct emu_guest_offer *offer);
/* The guest withdraws an offer. ENOENT: there is none of exactly this place and size. */
int emu_guest_unmap(struct emu_guest *guest, uint64_t address, uint64_t size);
void emu_guest_unmap_all(struct emu_guest *guest);

/* This process's address of the guest's address 0. */
uint64_t emu_guest_base(const struct emu_guest *guest);
/*
 * Where [address, address + len) is in this process. NULL: the guest has not offered all of it in one piece, or not for
 * writing. If it is memory that is not shared, one line says so, once.
 */
void *emu_guest_at(struct emu_guest *guest, uint64_t address, uint64_t len, bool write);

/* The pages of a list as one piece of memory of this process. */
struct emu_guest_view;

/*
 * EFAULT: the guest has not offered one of the pages. `write`: for writing. The pages, each of `page_size` bytes, are
 * read now. Memory of the view that the guest withdraws faults until it is offered again.
 */
int emu_guest_view_create(struct emu_guest *guest, const uint64_t *page, uint64_t npages,
			  uint64_t page_size, bool write, struct emu_guest_view **view);
uint64_t emu_guest_view_at(const struct emu_guest_view *view);
/* [offset, offset + len) of a view, for one access; NULL: not in the view, or the guest has withdrawn it since. */
void *emu_guest_view_bytes(const struct emu_guest_view *view, uint64_t offset, uint64_t len);
void emu_guest_view_destroy(struct emu_guest_view *view);

#endif
