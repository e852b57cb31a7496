/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems: memory of the program that a device uses for queues and other objects of its firmware.
 * dpumap/umem.h has umems for maps, which processes share.
 *
 * Thread safety: callable from any thread, except while another thread destroys one of the arguments.
 * On any error the outputs keep their values. Semantics: DOCA 3.3, doca_umem.h.
 */
#ifndef DOCA_UMEM_H_
#define DOCA_UMEM_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dpa;
struct doca_gpu;
struct doca_umem;

/**
 * Register memory with the device.
 *
 * @param dev an open device, which must not be closed before the umem is destroyed
 * @param address the first byte, at the start of a page; the memory must exist until the umem is
 *         destroyed
 * @param size number of bytes, a multiple of 64
 * @param access what the device may do: DOCA_ACCESS_FLAG_LOCAL_READ_ONLY or
 *         DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, and flags of RDMA and PCI
 * @param umem out: the umem, owned by the caller until doca_umem_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the address is not at the start of a page;
 *   size is 0 or not a multiple of 64; or access has unknown flags, or none
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no DEVX
 * - DOCA_ERROR_DRIVER: the device refuses, for example memory that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_create(const struct doca_dev *dev, void *address,
						size_t size, uint32_t access,
						struct doca_umem **umem);

/**
 * Register memory of a DPA, which is not supported.
 *
 * @param dpa the DPA
 * @param address an address in its memory
 * @param size number of bytes
 * @param access DOCA_ACCESS_FLAG_*
 * @param umem not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first or the last argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_dpa_create(struct doca_dpa *dpa, uint64_t address,
						    size_t size, uint32_t access,
						    struct doca_umem **umem);

/**
 * Register memory of a GPU, which is not supported.
 *
 * @param gpu the GPU
 * @param dev a device that is open
 * @param address an address in its memory
 * @param size number of bytes
 * @param access DOCA_ACCESS_FLAG_*
 * @param umem not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the first or the last argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev,
						    void *address, size_t size, uint32_t access,
						    struct doca_umem **umem);

/**
 * Deregister memory. Destroy the queues that use it first.
 *
 * @param umem the umem; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_DRIVER: the device still uses the umem
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_destroy(struct doca_umem *umem);

/**
 * Get the number by which firmware commands name the umem.
 *
 * @param umem the umem
 * @param umem_id out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_id(const struct doca_umem *umem, uint32_t *umem_id);

/**
 * Get the length of the memory.
 *
 * @param umem the umem
 * @param umem_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_TOO_BIG: the number has more than 32 bits
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_size(const struct doca_umem *umem,
						  uint32_t *umem_size);

/**
 * Get the address of the memory.
 *
 * @param umem the umem
 * @param umem_address out: the address of the first byte
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_address(const struct doca_umem *umem,
						     void **umem_address);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_UMEM_H_ */
