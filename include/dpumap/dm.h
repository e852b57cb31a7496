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
 * Free device memory. A stopped map over it can no longer be started.
 *
 * @param dm the memory; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a map over it is started,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_dm_free(struct dpumap_dm *dm);

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
