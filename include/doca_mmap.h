/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory maps: one contiguous range of memory, registered on every device that was added.
 *
 * Life: create -> configure and add devices -> start -> export, copy -> stop -> ... -> destroy. An
 * imported map is usable as soon as doca_mmap_create_from_export() returns and is never started.
 * The caller keeps owning the memory; the library touches it only on the caller's order and frees
 * it only through a free callback.
 *
 * Thread safety of all functions: one map may be used by one thread at a time, unless
 * doca_mmap_enable_thread_safety() was called for it; different maps by different threads at once,
 * also on the same device. Capability queries are callable from any thread.
 *
 * Errors common to all functions: DOCA_ERROR_INVALID_VALUE for a NULL argument unless said
 * otherwise. On any error the map and the outputs keep their values. Semantics: DOCA 3.0,
 * doca_mmap.h; where that is silent or contradicts itself, what published programs need.
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_mmap;

/** What code on a DPA (data path accelerator) names a map by. */
typedef uint32_t doca_dpa_dev_mmap_t;

/**
 * Called by doca_mmap_destroy() for the memory of a map; a function type, not a pointer.
 *
 * @param addr first byte of the range
 * @param len bytes of the range
 * @param cookie what was given to doca_mmap_set_free_cb()
 */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Can the device export memory to the other functions of its card?
 *
 * @param devinfo the device, open or not
 * @param mmap_export out: 1 or 0; 0 means that doca_mmap_export_pci() gives
 * DOCA_ERROR_NOT_SUPPORTED
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *mmap_export);

/**
 * Can the device import what another function of its card exported?
 *
 * @param devinfo the device, open or not
 * @param from_export out: 1 or 0; 0 means that doca_mmap_create_from_export() gives
 *        DOCA_ERROR_NOT_SUPPORTED
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
	const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Create a map without range and devices, with the permission DOCA_ACCESS_FLAG_LOCAL_READ_WRITE.
 *
 * @param mmap out: the map, owned by the caller until doca_mmap_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_NO_MEMORY when the allocation
 * fails
 */
DOCA_STABLE doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Create a map of memory that another process, function or node exported.
 *
 * The result has the exporter's range and permissions and the one device @p dev; it can be used at
 * once. Addresses in it are the exporter's. Of the functions that change a map only
 * doca_mmap_enable_thread_safety(), doca_mmap_export_rdma(), doca_mmap_stop() and
 * doca_mmap_destroy() work on it. When the exporter stops its map or dies, the imported map stays
 * valid as an object and every further access through it fails.
 *
 * A map from doca_mmap_export_pci() is reached by work requests of @p dev itself, such as copies. A
 * map from doca_mmap_export_rdma() is reached over a queue pair that is connected to the exporter,
 * with the key that doca_mmap_get_mkey() tells; no device is asked for it, so nothing is known
 * about the exporter until then.
 *
 * @param user_data stored in the map, NULL for 0
 * @param export_desc the descriptor, of any alignment; read during the call only. It is a secret
 * @param export_desc_len bytes of the descriptor
 * @param dev an open device; for a PCI descriptor on the card of the exporting device
 * @param mmap out: the map, owned by the caller until doca_mmap_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL or empty argument and for bytes that are no intact
 * descriptor, DOCA_ERROR_NO_MEMORY when an allocation fails; for a PCI descriptor also
 * DOCA_ERROR_NOT_SUPPORTED when the device cannot import, DOCA_ERROR_NOT_PERMITTED when the
 * descriptor is of another card, or the device refuses: the access key is wrong or the export has
 * ended, DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
						      const void *export_desc,
						      size_t export_desc_len, struct doca_dev *dev,
						      struct doca_mmap **mmap);

/**
 * Destroy a map; stops it first. Then calls the free callback if the map was started with it.
 *
 * @param mmap the map, in any state; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_PERMITTED when a doca_buf points into the map (not with thread safety,
 * which does not count them) or a device does not give its registration back; the map is still
 * there then and the free callback was not called
 *
 * Never thread safe.
 */
DOCA_STABLE doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Register the range on every added device. On success the map can be exported and copied and no
 * longer be configured; the first success fixes the maximum number of devices for good. On failure
 * no device has it.
 *
 * @param mmap a configured map, new or stopped
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL, a map without range, a map without device, or a map
 * over device memory with another device than the one that memory is on, DOCA_ERROR_BAD_STATE when
 * the device memory of the map was freed, DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_NOT_PERMITTED when the map is started or imported,
 *         DOCA_ERROR_NOT_SUPPORTED when the driver of a device knows no dma-bufs,
 *         DOCA_ERROR_DRIVER when a device refuses, for example because it may not pin that much
 * memory, or because the dma-buf is none or ends before the range does
 */
DOCA_STABLE doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Take the range off all devices, free every descriptor that the map handed out and so invalidate
 * every map imported from them. Does nothing on a map that is not started. Does not touch the
 * memory.
 *
 * @param mmap the map; started, exported and imported ones can be stopped
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_PERMITTED when a doca_buf points into the map (not with thread safety,
 * which does not count them) or a device does not give its registration back; the map is still
 * started then and stop can be called again
 */
DOCA_STABLE doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Add a device. The map counts as a user of the device until it is removed or the map destroyed.
 *
 * @param mmap a map that is neither started nor imported
 * @param dev an open device
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_PERMITTED when the map is started or imported,
 *         DOCA_ERROR_ALREADY_EXIST when the map has the device,
 *         DOCA_ERROR_NO_MEMORY when the map has its maximum number of devices or an allocation
 * fails
 */
DOCA_STABLE doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Remove a device.
 *
 * @param mmap a map that is neither started nor imported
 * @param dev a device of the map
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_PERMITTED when the map is started or imported,
 *         DOCA_ERROR_NOT_FOUND when the map does not have the device
 */
DOCA_STABLE doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Set the range. Once in the life of a map, also across stop.
 *
 * @param mmap a map that never had a range
 * @param addr first byte, of any alignment
 * @param len bytes, not 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty range or one that wraps around,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map has a range or is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Set a range within a dma-buf, for example memory of another PCI device. Once in the life of a
 * map, also across stop.
 *
 * @param mmap a map that never had a range
 * @param dmabuf_fd the dma-buf; the map keeps a descriptor of its own, the caller may close this
 * @param addr the address that the first byte goes by in this map, its exports and bufs; nothing is
 *        accessed there, NULL is allowed
 * @param dmabuf_offset first byte of the range in the dma-buf
 * @param len bytes, not 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL map, a file descriptor that is negative or not open,
 * an empty range, or one that wraps around at @p addr or @p dmabuf_offset,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map has a range or is imported,
 *         DOCA_ERROR_OPERATING_SYSTEM when the process can have no further file descriptor
 *
 * Whether it is a dma-buf, and long enough, shows in doca_mmap_start().
 */
DOCA_STABLE doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd,
						       void *addr, size_t dmabuf_offset,
						       size_t len);

/**
 * Set a range in the heap of a DPA. Not supported: there is no public interface for such memory.
 *
 * @param mmap a map that never had a range
 * @param dpa the DPA of the memory, not NULL
 * @param dpa_addr its address on the DPA
 * @param len bytes, not 0
 * @return DOCA_ERROR_NOT_SUPPORTED, or what is wrong besides:
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty range or one that wraps around,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map has a range or is imported
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap,
							  struct doca_dpa *dpa, uint64_t dpa_addr,
							  size_t len);

/**
 * The range; for an imported map the exporter's.
 *
 * @param mmap the map, in any state
 * @param addr out: first byte
 * @param len out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when no range was set
 */
DOCA_STABLE doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr,
						size_t *len);

/**
 * Set who may do what with the memory; the last call before start counts.
 *
 * @param mmap a map that is neither started nor imported
 * @param access_mask bits of enum doca_access_flag; 0 means local read only
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for NULL, an undefined bit, PCI_READ_ONLY together with
 * PCI_READ_WRITE, or PCI_RELAXED_ORDERING together with either of them, DOCA_ERROR_BAD_STATE when
 * the map is started, DOCA_ERROR_NOT_PERMITTED when the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Set what doca_mmap_destroy() calls for the memory. Effective from the next start on; a callback
 * that the map was not started with is not called.
 *
 * @param mmap a map that is neither started nor imported
 * @param free_cb the callback, NULL for none
 * @param opaque passed to the callback, may be NULL
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL map,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
					       doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * Store a word in the map.
 *
 * @param mmap a map that is neither started nor imported
 * @param user_data the word
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * The word stored in the map.
 *
 * @param mmap the map, in any state
 * @param user_data out: the word; all bits 0 when none was stored
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap,
						 union doca_data *user_data);

/**
 * Set how many devices the map can have.
 *
 * @param mmap a map that was never started and is not imported
 * @param max_num_devices the number, at least 1 and at least what the map has already
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a number that is too small,
 *         DOCA_ERROR_NOT_PERMITTED when the map was started once or is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap,
						       uint32_t max_num_devices);

/**
 * How many devices the map can have; 16 unless set.
 *
 * @param mmap the map, in any state
 * @param max_num_devices out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
						       uint32_t *max_num_devices);

/**
 * How many doca_bufs point into the map, of all inventories.
 *
 * @param mmap the map, in any state
 * @param num_bufs out: the number; 0 with thread safety, which does not count them
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * Is the map exported?
 *
 * @param mmap the map, in any state
 * @param exported out: 1 from the first successful export of either kind to stop, else 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * Was the map created by doca_mmap_create_from_export()?
 *
 * @param mmap the map, in any state
 * @param from_export out: 1 or 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap,
						   uint8_t *from_export);

/**
 * Export the map to the other functions of the card of one of its devices.
 *
 * Whoever has the descriptor can reach the memory: it is a secret and should travel over a secure
 * channel. Exporting again for the same device hands out the same descriptor; for another device,
 * another one.
 *
 * @param mmap a started map with DOCA_ACCESS_FLAG_PCI_READ_ONLY or DOCA_ACCESS_FLAG_PCI_READ_WRITE
 * @param dev a device of the map
 * @param export_desc out: the descriptor; owned by the map, valid until doca_mmap_stop() or
 *        doca_mmap_destroy()
 * @param export_desc_len out: bytes of the descriptor, at most 512
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_FOUND when the map does not have the device,
 *         DOCA_ERROR_NOT_PERMITTED when the map is not started, is imported or has neither PCI
 * permission, DOCA_ERROR_NO_MEMORY when an allocation fails, DOCA_ERROR_NOT_SUPPORTED when the
 * device cannot export, or not a range of that length, or, as BlueField-2, no device memory,
 * dma-buf or part of a umem that begins within a page, DOCA_ERROR_DRIVER when the device fails,
 *         DOCA_ERROR_OPERATING_SYSTEM when the system gives no random numbers,
 *         DOCA_ERROR_UNEXPECTED when the device says of itself what no descriptor can carry, such
 * as a system image GUID of 0
 */
DOCA_STABLE doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
					      const void **export_desc, size_t *export_desc_len);

/**
 * Export the map to peers over RDMA, by one of its devices.
 *
 * A peer imports the descriptor, learns address, length and key from the map that it gets, and
 * reads and writes the memory over a queue pair that is connected to one in the protection domain
 * of @p dev. What it may do is what the RDMA flags of the map say, and nothing else. Exporting
 * again for the same device hands out the same descriptor. A map can be exported by
 * doca_mmap_export_pci() as well.
 *
 * @param mmap a started map, or one that was imported from a doca_mmap_export_pci(), with at least
 *        one of DOCA_ACCESS_FLAG_RDMA_READ, _WRITE and _ATOMIC. In an imported map these are the
 *        permissions of the exporter; the peer gets no access by them that the importer has not
 * @param dev a device of the map; for an imported map the one it was imported with
 * @param export_desc out: the descriptor; owned by the map, valid until doca_mmap_stop() or
 *        doca_mmap_destroy()
 * @param export_desc_len out: bytes of the descriptor, at most 512
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_FOUND when the map does not have the device,
 *         DOCA_ERROR_NOT_PERMITTED when the map is neither started nor imported, or has no RDMA
 * permission, DOCA_ERROR_NO_MEMORY when an allocation fails, DOCA_ERROR_NOT_SUPPORTED when the map
 * was itself imported over RDMA, or the device can make no key for such rights, addresses or
 * lengths, DOCA_ERROR_DRIVER when the device fails,
 *         DOCA_ERROR_UNEXPECTED when the device says of itself what no descriptor can carry, such
 * as a system image GUID of 0
 */
DOCA_STABLE doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
					       const void **export_desc, size_t *export_desc_len);

/**
 * How long a token of doca_mmap_set_export_access_token() may be.
 *
 * @param devinfo the device
 * @param max_size out: bytes, 32; 0 for a device that cannot export
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 *
 * Semantics: DOCA 3.4.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_cap_get_max_export_access_token_size(
	const struct doca_devinfo *devinfo, size_t *max_size);

/**
 * Choose the secret by which an importer proves that it may reach the memory, in place of a random
 * one. It is part of the descriptor of doca_mmap_export_pci(); a descriptor for RDMA has none.
 *
 * @param mmap a map that is not started
 * @param dev a device of the map; the token stays with it until another one is set or the device is
 * removed
 * @param token the secret, which is copied; bytes up to the maximum are 0
 * @param token_size its length in bytes, 1 to the maximum
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty token or one that is too long,
 *         DOCA_ERROR_BAD_STATE when the map is started,
 *         DOCA_ERROR_NOT_PERMITTED when the map is imported,
 *         DOCA_ERROR_NOT_FOUND when the map does not have the device,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 *
 * Semantics: DOCA 3.4.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap,
								 const struct doca_dev *dev,
								 const uint8_t *token,
								 size_t token_size);

/**
 * The key by which a device knows the memory: what a work request names it by, together with an
 * address of the map. For a map that was imported over RDMA it is the exporter's: the remote key of
 * a read or write over a queue pair that is connected to the exporter.
 *
 * @param mmap a started or imported map
 * @param dev a device of the map
 * @param mkey out: the key in host byte order, valid until doca_mmap_stop()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a device that the map does not have, or a
 * map that is neither started nor imported, DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_NOT_SUPPORTED or DOCA_ERROR_DRIVER when the device can make no key with the
 * addresses of the map; only of device memory, and of a dma-buf whose offset and address differ
 * within the page
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap,
						  const struct doca_dev *dev, uint32_t *mkey);

/**
 * What code on the DPA of a device names the map by: the key of doca_mmap_get_mkey().
 *
 * @param mmap a started or imported map
 * @param dev a device of the map
 * @param handle out: the handle, valid until doca_mmap_stop()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_FOUND when the map does not have the device,
 *         DOCA_ERROR_NOT_PERMITTED when the map is neither started nor imported,
 *         DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED or DOCA_ERROR_DRIVER as
 * doca_mmap_get_mkey()
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap,
							    const struct doca_dev *dev,
							    doca_dpa_dev_mmap_t *handle);

/**
 * Allow several threads to use the map at once, for all functions but this one and
 * doca_mmap_destroy(). In return doca_bufs are no longer counted, so that nothing keeps the map
 * from being stopped or destroyed under them; their owner sees to that. Cannot be undone; enabling
 * again does nothing.
 *
 * @param mmap a map that is not started and that no doca_buf points into; an imported one as well
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_PERMITTED when the map is started or a doca_buf points into it,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_OPERATING_SYSTEM when the system gives no lock
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H_ */
