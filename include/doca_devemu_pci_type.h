/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types of emulated PCI devices. This library does not emulate devices. The header declares types
 * and no functions, so programs that run on the host compile and link. Source of the types: DOCA
 * 3.0, doca_devemu_pci_type.h.
 */
#ifndef DOCA_DEVEMU_PCI_TYPE_H_
#define DOCA_DEVEMU_PCI_TYPE_H_

#include <stdint.h>
#include <sys/uio.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devemu_pci_type;

/** Room for the name of a type in bytes, including the terminating NUL. */
#define DOCA_DEVEMU_PCI_TYPE_NAME_LEN 32

/** Kind of memory of a BAR. */
enum doca_devemu_pci_bar_mem_type {
	DOCA_DEVEMU_PCI_BAR_MEM_TYPE_32_BIT = 0, /**< Anywhere in 32 bits of address space. */
	DOCA_DEVEMU_PCI_BAR_MEM_TYPE_1_MB = 1,	 /**< Below 1 MB. */
	DOCA_DEVEMU_PCI_BAR_MEM_TYPE_64_BIT = 2, /**< Anywhere in 64 bits of address space. */
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEVEMU_PCI_TYPE_H_ */
