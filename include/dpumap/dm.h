/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory: a small amount of fast memory on the card, as the source of a map.
 *
 * A map over device memory uses the addresses at which the process maps the memory, so its
 * addresses are unique. Use these addresses only for maps and copies. The CPU must access the
 * memory with dpumap_dm_write() and dpumap_dm_read(), not through a pointer.
 *
 * Thread safety: only one thread at a time may use an object. Different threads may use different
 * objects at once. On any error the outputs keep their values. Semantics: ibv_alloc_dm(3) and the
 * rules of doca_mmap.h.
 */
#ifndef DPUMAP_DM_H
#define DPUMAP_DM_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_mmap;
struct dpumap_dm;

/**
 * Get the maximum length for dpumap_dm_alloc(). The free device memory may be less.
 *
 * @param devinfo the device, open or not
 * @param max_len out: number of bytes; 0 if the device has no device memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Callable from any thread. The function may open the device.
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_max_len(const struct doca_devinfo *devinfo,
						   uint64_t *max_len);

/**
 * Get the granularity of device memory. The device rounds the length of each allocation up to a
 * multiple of it. dpumap_dm_get_len() still returns the requested length.
 *
 * @param devinfo the device, open or not
 * @param granularity out: number of bytes, a power of two; 0 if the device has no device memory
 * @return as dpumap_dm_cap_get_max_len()
 *
 * Callable from any thread. The function may open the device.
 *
 * The driver also maps each allocation on pages of its own, which are limited. For many small
 * pieces, use one allocation and a pool (dpumap/dm_pool.h).
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_granularity(const struct doca_devinfo *devinfo,
						       uint64_t *granularity);

/**
 * Get the maximum alignment for dpumap_dm_alloc(), as a power of two.
 *
 * @param devinfo the device, open or not
 * @param max_log_align out: for example 12 for 4096 bytes; 0 if the device has no device memory;
 *         6, which every device supports, if the firmware cannot be queried (no DEVX)
 * @return as dpumap_dm_cap_get_max_len()
 *
 * Callable from any thread. The function may open the device.
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_max_log_align(const struct doca_devinfo *devinfo,
							 uint32_t *max_log_align);

/**
 * Determine how much device memory is free, for diagnostics.
 *
 * Neither the device nor the kernel reports the free memory, so the function finds it by
 * allocating: the longest piece by bisection, and the total by allocating the longest piece
 * repeatedly. It frees all pieces before it returns. dpumap_dm_alloc() of this process waits
 * meanwhile. dpumap_dm_alloc() of another process may fail while the total is measured. Other
 * processes may change the result at any time: do not use it to decide whether to allocate.
 *
 * @param dev an open device
 * @param longest out: number of bytes of the longest free piece, 0 for none
 * @param total out: number of bytes of all free pieces; NULL to skip this measurement, which then
 *         delays other processes for one allocation at most
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation in the process fails
 * - DOCA_ERROR_DRIVER: the device fails. If it fails to free a piece, that piece is lost until the
 *   device is closed
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t dpumap_dm_query_free(struct doca_dev *dev, uint64_t *longest,
					      uint64_t *total);

/**
 * Allocate device memory. Its content is undefined until it is written.
 *
 * @param dev an open device; in use until dpumap_dm_free()
 * @param len number of bytes, from 1 to the maximum of the device
 * @param log_align alignment on the device as a power of two, for example 12 for 4096 bytes;
 *         values below 6 mean 64 bytes
 * @param dm out: the memory, owned by the caller until dpumap_dm_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the length is 0 or above the maximum, or the
 *   device does not support the alignment
 * - DOCA_ERROR_NO_MEMORY: the device has no free piece of this size, or an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no device memory
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dm_alloc(struct doca_dev *dev, size_t len, uint32_t log_align,
					 struct dpumap_dm **dm);

/**
 * Free device memory, or end an import. A stopped map over it can no longer be started. For
 * imported memory, only the import ends; the owner still has the memory.
 *
 * @param dm the memory; invalid after success, unchanged after failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: in this process a map over it is started or a pool uses it; or an importer,
 *   or a verbs program on the same context, has it registered
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_STABLE doca_error_t dpumap_dm_free(struct dpumap_dm *dm);

/**
 * Get the handle of device memory for dpumap_dm_import(). The handle is not a secret and grants no
 * access: a process with the context can access all objects in it anyway.
 *
 * @param dm the memory, allocated or imported
 * @param handle out: the handle, valid in this kernel context until the memory is freed; it may
 *         then be reused for other memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dm_get_handle(const struct dpumap_dm *dm, uint32_t *handle);

/**
 * Import device memory that another process allocated in the same kernel context, see
 * dpumap_dev_open_from_fd(). The import can be used like allocated memory: for maps, exports and
 * pools.
 *
 * The owner frees the memory with dpumap_dm_free(), which returns DOCA_ERROR_IN_USE while an
 * importer has a started map over it. After that, the imports are stale: starting a map over one
 * fails, or uses other memory if the handle was reused. The owner and the importers must therefore
 * agree when the memory is freed. If the owner ends without freeing the memory, the memory exists
 * until the last process with the context ends or closes the device.
 *
 * @param dev an open device on the kernel context of the memory; in use until dpumap_dm_free()
 * @param handle the handle that dpumap_dm_get_handle() returned to the owner
 * @param dm out: the import, owned by the caller until dpumap_dm_free(), which does not free the
 *         memory
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: no object in the context has this handle, or the object is not device
 *   memory
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the kernel does not support the query
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dm_import(struct doca_dev *dev, uint32_t handle,
					  struct dpumap_dm **dm);

/**
 * Export device memory as a dma-buf, by which other processes and other devices of this machine use it: with
 * doca_mmap_set_dmabuf_memrange(), with ibv_reg_dmabuf_mr(), or with any driver that imports dma-bufs. Pass the
 * descriptor to another process by a Unix socket. The processor cannot map it, and no umem can be made of it,
 * because the memory cannot be pinned.
 *
 * The dma-buf has whole pages: it may be longer than the memory. dpumap_dm_free() does not wait for its users: it
 * revokes the dma-buf. Then requests that use it fail, and nobody can register it any more. The end of the process
 * does so too.
 *
 * @param dm the memory, allocated or imported
 * @param fd out: a new descriptor, with close-on-exec; the caller closes it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: rdma-core is older than version 62, or the kernel or the device does not export its
 *   memory
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 *
 * Source: ibv_dm_export_dmabuf_fd(3).
 */
DOCA_STABLE doca_error_t dpumap_dm_export_dmabuf(const struct dpumap_dm *dm, int *fd);

/**
 * Get the length of device memory.
 *
 * @param dm the memory
 * @param len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dm_get_len(const struct dpumap_dm *dm, size_t *len);

/**
 * Copy from memory of the process to device memory. The copy is not ordered with copies in flight.
 *
 * @param dm the memory
 * @param offset first byte in @p dm, a multiple of 4
 * @param src source in memory of the process, not NULL
 * @param len number of bytes, a multiple of 4; 0 does nothing
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the offset or length is not a multiple of 4, or
 *   the range is not within @p dm
 */
DOCA_STABLE doca_error_t dpumap_dm_write(struct dpumap_dm *dm, size_t offset, const void *src,
					 size_t len);

/**
 * Copy from device memory to memory of the process. The copy is not ordered with copies in flight.
 *
 * @param dm the memory
 * @param offset first byte in @p dm, a multiple of 4
 * @param dst destination in memory of the process, not NULL
 * @param len number of bytes, a multiple of 4; 0 does nothing
 * @return as dpumap_dm_write()
 */
DOCA_STABLE doca_error_t dpumap_dm_read(struct dpumap_dm *dm, size_t offset, void *dst, size_t len);

/**
 * Set a range of device memory as the range of a map; the counterpart of doca_mmap_set_memrange().
 * The map can be started only on the device of the memory.
 *
 * @param mmap a map that never had a range
 * @param dm the memory; the caller frees it after the map was stopped
 * @param offset first byte in @p dm
 * @param len number of bytes, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the range is empty or not within @p dm
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map has a range or is imported
 */
DOCA_STABLE doca_error_t dpumap_mmap_set_dm_memrange(struct doca_mmap *mmap, struct dpumap_dm *dm,
						     size_t offset, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DM_H */
