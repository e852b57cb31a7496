/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types that several headers of the interface use.
 */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Big-endian integers. */
typedef __be16 doca_be16_t;
typedef __be32 doca_be32_t;
typedef __be64 doca_be64_t;

/** A file descriptor that becomes readable when an event occurs. */
typedef int doca_event_handle_t;
typedef doca_event_handle_t doca_notification_handle_t;
/** Value of an invalid handle. */
#define doca_event_invalid_handle (-1)

/** Length of a GID in bytes. */
#define DOCA_GID_BYTE_LENGTH 16

/** User data: the library stores and returns the value, but never interprets it. */
union doca_data {
	void *ptr;    /**< As a pointer. */
	uint64_t u64; /**< As a number. */
};

/** One element of a list of memory ranges. */
struct doca_gather_list {
	void *addr;		       /**< First byte. */
	uint64_t len;		       /**< Length in bytes. */
	struct doca_gather_list *next; /**< The next element, or NULL. */
};

/**
 * Access permissions of a map; a mask. Local devices may always read. They may also write with
 * PCI_READ_WRITE alone, as they are on the same PCI; DOCA documents this permission for importers only.
 *
 * "Local" means a device of the process that owns the map. "RDMA" means a device of another
 * machine. "PCI" means another function of the same card: the host's function for memory of the
 * DPU, and the DPU's function for memory of the host.
 */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,		/**< Local devices may read. */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1 << 0,	/**< Local devices may read and write. */
	DOCA_ACCESS_FLAG_RDMA_READ = 1 << 1,		/**< Remote devices may read. */
	DOCA_ACCESS_FLAG_RDMA_WRITE = 1 << 2,		/**< Remote devices may write. */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = 1 << 3,		/**< Remote devices may execute atomics. */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = 1 << 4,	/**< Importers on the card may read. */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = 1 << 5,	/**< Importers may read and write. */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 1 << 6, /**< Accesses may be reordered. */
};

/** Kind of a PCI function. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< Physical function. */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< Virtual function. */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< Sub-function. */
};

/** Location of GPU memory, and the processors that map it. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_TYPE_GPU = 0,     /**< GPU memory, GPU access. */
	DOCA_GPU_MEM_TYPE_GPU_CPU = 1, /**< GPU memory, GPU and CPU access. */
	DOCA_GPU_MEM_TYPE_CPU_GPU = 2, /**< CPU memory, CPU and GPU access. */
};

/** Method by which an Ethernet queue waits for a point in time. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,   /**< No waiting. */
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< The device waits. */
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,   /**< DPDK waits. */
};

/** Path MTU. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0,
	DOCA_MTU_SIZE_512_BYTES = 1,
	DOCA_MTU_SIZE_1K_BYTES = 2,
	DOCA_MTU_SIZE_2K_BYTES = 3,
	DOCA_MTU_SIZE_4K_BYTES = 4,
	DOCA_MTU_SIZE_RAW_ETHERNET = 5,
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H_ */
