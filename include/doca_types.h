/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types shared by the headers of the interface.
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

/** A file descriptor that is readable once the event has fired. */
typedef int doca_event_handle_t;
typedef doca_event_handle_t doca_notification_handle_t;
/** The value of a handle that names nothing. */
#define doca_event_invalid_handle (-1)

/** Bytes of a GID. */
#define DOCA_GID_BYTE_LENGTH 16

/** A word that the library stores and hands back, never looks into. */
union doca_data {
	void *ptr;    /**< As a pointer. */
	uint64_t u64; /**< As a number. */
};

/** One piece of memory and the next one of the list. */
struct doca_gather_list {
	void *addr;		       /**< First byte. */
	uint64_t len;		       /**< Bytes. */
	struct doca_gather_list *next; /**< The next piece, or NULL. */
};

/**
 * Who may do what with the memory of a map; a mask of these. A local device may always read.
 *
 * "Local" is a device of the map's own process, "RDMA" a device of another machine, "PCI" another
 * function of the same physical card (the host's for memory of the DPU, the DPU's for memory of the
 * host).
 */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,		/**< Local devices read. */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1 << 0,	/**< Local devices read and write. */
	DOCA_ACCESS_FLAG_RDMA_READ = 1 << 1,		/**< Remote devices read. */
	DOCA_ACCESS_FLAG_RDMA_WRITE = 1 << 2,		/**< Remote devices write. */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = 1 << 3,		/**< Remote devices run atomics. */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = 1 << 4,	/**< An importer on the card reads. */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = 1 << 5,	/**< An importer reads and writes. */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 1 << 6, /**< Accesses may be reordered. */
};

/** Kind of a PCI function. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< Physical function. */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< Virtual function. */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< Sub-function. */
};

/** Where GPU memory lives and who maps it. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_TYPE_GPU = 0,     /**< GPU memory, GPU access. */
	DOCA_GPU_MEM_TYPE_GPU_CPU = 1, /**< GPU memory, GPU and CPU access. */
	DOCA_GPU_MEM_TYPE_CPU_GPU = 2, /**< CPU memory, CPU and GPU access. */
};

/** How an Ethernet queue waits for a time. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,   /**< Not at all. */
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< By the device. */
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,   /**< By DPDK. */
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
