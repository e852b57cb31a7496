/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Umems: memory of a process, or a dma-buf, that mailboxes name by number. */
#ifndef EMU_FIRMWARE_UMEM_H
#define EMU_FIRMWARE_UMEM_H

#include "emu/server/mm/dmabuf.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/cmd.h"

struct emu_umem {
	struct emu_uobj obj;
	uint32_t id;
	struct emu_dmabuf dmabuf;
	uint64_t addr, len; /* in the dma-buf, or in process `pid` */
	uint32_t access;
	pid_t pid;
	struct emu_pin pin;
};

/* The accesses that a umem can have. */
#define EMU_UMEM_ACCESS                                                 \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING)

/* A umem of the calling process's memory, which is not locked yet; NULL: there is no memory for it. */
struct emu_umem *emu_umem_new(struct emu_cmd *c, uint64_t addr, uint64_t len, uint32_t access);
/* The file's umem of that number, or NULL. */
struct emu_umem *emu_devx_umem_by_id(const struct emu_file *f, uint64_t id);
/*
 * The address of [off, off + len) of a umem, for the engine: the memory must belong to the calling
 * process. 0 if it does not, or if it is out of range or not aligned.
 */
uint64_t emu_devx_address(const struct emu_cmd *c, const struct emu_umem *u, uint64_t off,
			  uint64_t len, uint64_t align);

#endif
