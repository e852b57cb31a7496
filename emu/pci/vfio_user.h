/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages of the protocol vfio-user, by which a virtual machine uses a PCI function of another process. All numbers
 * are in the byte order of this machine.
 *
 * QEMU, docs/interop/vfio-user.rst. Numbers of regions, interrupts and flags are those of Linux, linux/vfio.h.
 */
#ifndef EMU_PCI_VFIO_USER_H
#define EMU_PCI_VFIO_USER_H

#include <stdint.h>

#define EMU_VFIO_MAJOR	  0
#define EMU_VFIO_MINOR	  1
#define EMU_VFIO_MAX_DATA (1u << 20) /* of a read or write; the protocol's default */
#define EMU_VFIO_MAX_FDS  16	     /* of a message: one for each interrupt vector */

enum emu_vfio_command {
	EMU_VFIO_VERSION = 1,
	EMU_VFIO_DMA_MAP = 2,
	EMU_VFIO_DMA_UNMAP = 3,
	EMU_VFIO_DEVICE_GET_INFO = 4,
	EMU_VFIO_DEVICE_GET_REGION_INFO = 5,
	EMU_VFIO_DEVICE_GET_REGION_IO_FDS = 6,
	EMU_VFIO_DEVICE_GET_IRQ_INFO = 7,
	EMU_VFIO_DEVICE_SET_IRQS = 8,
	EMU_VFIO_REGION_READ = 9,
	EMU_VFIO_REGION_WRITE = 10,
	EMU_VFIO_DEVICE_RESET = 13,
	EMU_VFIO_REGION_WRITE_MULTI = 15,
};

#define EMU_VFIO_TYPE	  0xfu /* in flags */
#define EMU_VFIO_REPLY	  0x1u
#define EMU_VFIO_NO_REPLY (1u << 4)
#define EMU_VFIO_ERROR	  (1u << 5)

struct emu_vfio_header {
	uint16_t id;
	uint16_t command;
	uint32_t size; /* of the whole message */
	uint32_t flags;
	uint32_t error; /* errno, with EMU_VFIO_ERROR */
};

struct emu_vfio_version {
	uint16_t major;
	uint16_t minor;
	/* JSON follows, with a NUL at its end */
};

#define EMU_VFIO_DMA_READABLE  (1u << 0)
#define EMU_VFIO_DMA_WRITEABLE (1u << 1)

struct emu_vfio_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset; /* in the descriptor that comes along */
	uint64_t address;
	uint64_t size;
};

struct emu_vfio_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

struct emu_vfio_device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t num_regions;
	uint32_t num_irqs;
};

struct emu_vfio_region_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t cap_offset;
	uint64_t size;
	uint64_t offset;
};

/* Follows the information about a region. */
struct emu_vfio_sparse_mmap {
	uint16_t id, version;
	uint32_t next;
	uint32_t nr_areas;
	uint32_t reserved;
	uint64_t offset, size; /* of the only area */
};

struct emu_vfio_irq_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t count;
};

struct emu_vfio_set_irqs {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
	/* booleans follow, one byte each, with VFIO_IRQ_SET_DATA_BOOL */
};

/* Of a read and of a write; the data follow in the answer and in the request. */
struct emu_vfio_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

/* One write of REGION_WRITE_MULTI, of 8 bytes at most. */
struct emu_vfio_small_write {
	struct emu_vfio_access at;
	uint8_t data[8];
};

/* In the request, so many writes follow. */
struct emu_vfio_write_multi {
	uint64_t num_writes;
};

_Static_assert(sizeof(struct emu_vfio_header) == 16, "header");
_Static_assert(sizeof(struct emu_vfio_dma_map) == 32, "DMA_MAP");
_Static_assert(sizeof(struct emu_vfio_dma_unmap) == 24, "DMA_UNMAP");
_Static_assert(sizeof(struct emu_vfio_region_info) == 32, "DEVICE_GET_REGION_INFO");
_Static_assert(sizeof(struct emu_vfio_set_irqs) == 20, "DEVICE_SET_IRQS");
_Static_assert(sizeof(struct emu_vfio_access) == 16, "REGION_READ");
_Static_assert(sizeof(struct emu_vfio_small_write) == 24, "REGION_WRITE_MULTI");

#endif
