/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory: fast memory on the card itself, scarce, as the source of a map.
 *
 * A map over device memory is named by the process's own mapping of that memory, so that its
 * addresses are unique; those addresses are for maps and copies. The CPU reaches the bytes with
 * dpumap_dm_write() and dpumap_dm_read(), not through a pointer.
 *
 * Thread safety: one object may be used by one thread at a time; different objects by different
 * threads at once. On any error the outputs keep their values. Semantics: ibv_alloc_dm(3) and the
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
 * The largest length that dpumap_dm_alloc() takes. What is free at the moment may be less.
 *
 * @param devinfo the device, open or not
 * @param max_len out: bytes; 0 when the device has no device memory
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Callable from any thread. May open the device for the query.
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_max_len(const struct doca_devinfo *devinfo,
						   uint64_t *max_len);

/**
 * What the device rounds each length up to. The length of the memory stays the one asked for.
 *
 * @param devinfo the device, open or not
 * @param granularity out: bytes, a power of two; 0 when the device has no device memory
 * @return as dpumap_dm_cap_get_max_len()
 *
 * Besides, the driver gives each piece pages of its own to map it by, of which there are not
 * without end either: many small pieces are better taken from one, see dpumap/dm_pool.h.
 *
 * Callable from any thread. May open the device for the query.
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_granularity(const struct doca_devinfo *devinfo,
						       uint64_t *granularity);

/**
 * The largest alignment that dpumap_dm_alloc() takes, as a power of two.
 *
 * @param devinfo the device, open or not
 * @param max_log_align out: 12 for 4096; 0 when the device has no device memory; 6, which each
 * device can do, where the firmware cannot be asked (no DEVX)
 * @return as dpumap_dm_cap_get_max_len()
 *
 * Callable from any thread. May open the device for the query.
 */
DOCA_STABLE doca_error_t dpumap_dm_cap_get_max_log_align(const struct doca_devinfo *devinfo,
							 uint32_t *max_log_align);

/**
 * How much device memory is free. No device and no kernel tells, so it is found out by allocating:
 * the longest piece by bisection, the total by taking the longest piece until there is none. All of
 * it is free again when the call returns; the numbers are those of this moment, and other
 * processes may change them at any time. dpumap_dm_alloc() of this process waits meanwhile; that of
 * another process may find less than there is while the total is counted, for which reason it is
 * for who looks, and not for who allocates: allocate, and see.
 *
 * @param dev an open device
 * @param longest out: bytes of the longest piece that could be allocated, 0 for none
 * @param total out: bytes of all pieces that could be allocated one after the other; NULL not to
 * count them, which disturbs nobody for longer than one allocation
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, DOCA_ERROR_NO_MEMORY when an allocation in
 * the process fails, DOCA_ERROR_DRIVER when the device fails; if it failed to free a piece, that
 * piece is gone until the device is closed
 *
 * Callable from any thread.
 */
DOCA_STABLE doca_error_t dpumap_dm_query_free(struct doca_dev *dev, uint64_t *longest,
					      uint64_t *total);

/**
 * Allocate device memory. Its bytes are undefined until written.
 *
 * @param dev an open device; in use until dpumap_dm_free()
 * @param len bytes, 1 to the maximum of the device
 * @param log_align alignment on the device as a power of two: 12 for 4096; less than 6 gives 64
 * bytes
 * @param dm out: the memory, owned by the caller until dpumap_dm_free()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a length of 0 or above the maximum, or an
 * alignment that the device does not have, DOCA_ERROR_NO_MEMORY when the device has no such piece
 * free or an allocation fails, DOCA_ERROR_NOT_SUPPORTED when the device has no device memory,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dm_alloc(struct doca_dev *dev, size_t len, uint32_t log_align,
					 struct dpumap_dm **dm);

/**
 * Free device memory, or give up an import of it. A stopped map over it can no longer be started.
 *
 * Memory is freed by who allocated it. Of imported memory only this object ends: the memory is
 * still its owner's.
 *
 * @param dm the memory; gone after success, unchanged otherwise
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a map over it is started or a pool made of it lives, here, or
 * while an importer, or a verbs program on the same context, has it registered,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_dm_free(struct dpumap_dm *dm);

/**
 * The number by which dpumap_dm_import() finds the memory. It is no secret and no permission:
 * whoever has the context may do everything with all that is in it.
 *
 * @param dm the memory, allocated or imported
 * @param handle out: the number, valid in this kernel context until the memory is freed; then it
 * may come to name another piece
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_dm_get_handle(const struct dpumap_dm *dm, uint32_t *handle);

/**
 * Use device memory that another process allocated in the same kernel context: one that has got the
 * context by a file descriptor, see dpumap_dev_open_from_fd(). All that can be done with memory can
 * be done with the import, maps, exports and pools included.
 *
 * The owner frees the memory, with dpumap_dm_free(). While an importer has a started map over it
 * that is DOCA_ERROR_IN_USE. Once it is freed, imports are stale: starting a map over one fails or,
 * worse, gets another piece if the number was given out again, so owner and importers agree on the
 * end. Memory whose owner died stays until the last process that has the context is gone or has
 * closed the device.
 *
 * @param dev an open device, on the kernel context of the memory; in use until dpumap_dm_free()
 * @param handle what dpumap_dm_get_handle() told the owner
 * @param dm out: the memory, owned by the caller until dpumap_dm_free(), which ends the import and
 * not the memory
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_FOUND when nothing in the context, or no device memory, has that number,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_NOT_SUPPORTED when the kernel has no such query,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dm_import(struct doca_dev *dev, uint32_t handle,
					  struct dpumap_dm **dm);

/**
 * The length that was allocated.
 *
 * @param dm the memory
 * @param len out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_dm_get_len(const struct dpumap_dm *dm, size_t *len);

/**
 * Copy from memory of the process to device memory. Nothing orders it against copies in flight.
 *
 * @param dm the memory
 * @param offset first byte in @p dm, a multiple of 4
 * @param src memory of the process, not NULL
 * @param len bytes, a multiple of 4; 0 does nothing
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an odd offset or length, or a range that
 * does not lie within @p dm
 */
DOCA_STABLE doca_error_t dpumap_dm_write(struct dpumap_dm *dm, size_t offset, const void *src,
					 size_t len);

/**
 * Copy from device memory to memory of the process; arguments and errors as dpumap_dm_write().
 *
 * @param dm the memory
 * @param offset first byte in @p dm, a multiple of 4
 * @param dst memory of the process, not NULL
 * @param len bytes, a multiple of 4; 0 does nothing
 * @return as dpumap_dm_write()
 */
DOCA_STABLE doca_error_t dpumap_dm_read(struct dpumap_dm *dm, size_t offset, void *dst, size_t len);

/**
 * Give a map a piece of device memory as its range; the counterpart of doca_mmap_set_memrange().
 * The only device that such a map can be started with is the one of the memory.
 *
 * @param mmap a map that never had a range
 * @param dm the memory; the caller frees it after the map is stopped
 * @param offset first byte in @p dm
 * @param len bytes, not 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty range or one that does not lie
 * within @p dm, DOCA_ERROR_BAD_STATE when the map is started, DOCA_ERROR_NOT_PERMITTED when the map
 * has a range or is imported
 */
DOCA_STABLE doca_error_t dpumap_mmap_set_dm_memrange(struct doca_mmap *mmap, struct dpumap_dm *dm,
						     size_t offset, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DM_H */
