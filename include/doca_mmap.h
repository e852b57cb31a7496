/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory maps. A map is one contiguous range of memory that is registered on all devices of the
 * map.
 *
 * Life cycle: create -> configure and add devices -> start -> export, copy -> stop -> ... ->
 * destroy. An imported map can be used as soon as doca_mmap_create_from_export() returns; it is
 * never started. The caller owns the memory. The library accesses it only when the caller requests
 * it, and frees it only through a free callback.
 *
 * Thread safety of all functions: only one thread at a time may use a map, unless
 * doca_mmap_enable_thread_safety() was called for it. Different threads may use different maps at
 * once, also on the same device. Capability functions may be called from any thread.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless documented otherwise.
 * On any error the map and the outputs keep their values. Semantics: DOCA 3.0, doca_mmap.h; where
 * that is silent or contradicts itself, the behaviour that published programs need.
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

/** Handle of a map for code on a DPA (data path accelerator). */
typedef uint32_t doca_dpa_dev_mmap_t;

/**
 * Free the memory of a map. Called by doca_mmap_destroy(). This is a function type, not a pointer.
 *
 * @param addr first byte of the range
 * @param len number of bytes of the range
 * @param cookie the value of @p opaque of doca_mmap_set_free_cb()
 */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Check whether the device can export memory to the other functions of its card.
 *
 * @param devinfo the device, open or not
 * @param mmap_export out: 1 or 0; 0 means that doca_mmap_export_pci() returns
 *         DOCA_ERROR_NOT_SUPPORTED
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *mmap_export);

/**
 * Check whether the device can import memory that another function of its card exported.
 *
 * @param devinfo the device, open or not
 * @param from_export out: 1 or 0; 0 means that doca_mmap_create_from_export() returns
 *         DOCA_ERROR_NOT_SUPPORTED
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(
	const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Create a map without a range and devices, with the permission DOCA_ACCESS_FLAG_LOCAL_READ_WRITE.
 *
 * @param mmap out: the map, owned by the caller until doca_mmap_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: the allocation fails
 */
DOCA_STABLE doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Create a map of memory that another process, function or node exported.
 *
 * The map has the range and permissions of the exporter and only the device @p dev. It can be used
 * at once, with the addresses of the exporter. An imported map can be changed only by
 * doca_mmap_enable_thread_safety(), doca_mmap_export_rdma(), doca_mmap_stop() and
 * doca_mmap_destroy(). When the exporter stops its map or ends, the imported map remains a valid
 * object, but every later access fails.
 *
 * For a descriptor of doca_mmap_export_pci(), work requests of @p dev itself, such as copies,
 * access the memory. For a descriptor of doca_mmap_export_rdma(), a queue pair that is connected
 * to the exporter accesses it, with the key of doca_mmap_get_mkey(). In this case the function
 * does not use the device, so it cannot detect whether the export still exists.
 *
 * @param user_data value to store in the map; NULL stores 0
 * @param export_desc the descriptor, of any alignment; only read during the call. It is a secret
 * @param export_desc_len number of bytes of the descriptor
 * @param dev an open device; for a PCI descriptor, a device on the card of the exporting device
 * @param mmap out: the map, owned by the caller until doca_mmap_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the length is 0, or the bytes are not an intact
 *   descriptor
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the descriptor is for PCI and the device cannot import
 * - DOCA_ERROR_NOT_PERMITTED: the descriptor is for PCI and belongs to another card, or the device
 *   refuses it because the access key is wrong or the export has ended
 * - DOCA_ERROR_DRIVER: the descriptor is for PCI and the device fails for another reason
 */
DOCA_STABLE doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
						      const void *export_desc,
						      size_t export_desc_len, struct doca_dev *dev,
						      struct doca_mmap **mmap);

/**
 * Stop and destroy a map. Then call the free callback if the map was started with one.
 *
 * @param mmap the map, in any state; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: a doca_buf points into the map (not detected with thread safety,
 *   which does not count bufs), or a device does not release its registration. The map still
 *   exists and the free callback was not called
 *
 * This function is never thread safe.
 */
DOCA_STABLE doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Register the range on all devices of the map. A started map can be exported and copied, but not
 * configured. The first successful start makes the maximum number of devices final. On failure the
 * range is registered on no device.
 *
 * @param mmap a configured map, new or stopped
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL; the map has no range or no device; or the map
 *   covers device memory of a device other than its own
 * - DOCA_ERROR_BAD_STATE: the device memory of the map was freed
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_PERMITTED: the map is started or imported
 * - DOCA_ERROR_NOT_SUPPORTED: the driver of a device does not support dma-bufs
 * - DOCA_ERROR_DRIVER: a device refuses the range, for example because the limit of pinned memory
 *   is exceeded, because the file descriptor is not a dma-buf, or because the dma-buf is too short
 */
DOCA_STABLE doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Deregister the range from all devices and free all descriptors of the map, which invalidates all
 * maps that were imported from them. The memory is not changed. A map that is not started is not
 * changed.
 *
 * @param mmap the map; started, exported and imported maps can be stopped
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: a doca_buf points into the map (not detected with thread safety,
 *   which does not count bufs), or a device does not release its registration. The map is still
 *   started and can be stopped again
 */
DOCA_STABLE doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Add a device to the map. The device is in use until it is removed from the map or the map is
 * destroyed.
 *
 * @param mmap a map that is neither started nor imported
 * @param dev an open device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the map is started or imported
 * - DOCA_ERROR_ALREADY_EXIST: the map already has the device
 * - DOCA_ERROR_NO_MEMORY: the map has its maximum number of devices, or an allocation fails
 */
DOCA_STABLE doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Remove a device from the map.
 *
 * @param mmap a map that is neither started nor imported
 * @param dev a device of the map
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the map is started or imported
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 */
DOCA_STABLE doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Set the memory range. This can be done only once in the life of a map, even if the map is
 * stopped.
 *
 * @param mmap a map that never had a range
 * @param addr first byte, of any alignment
 * @param len number of bytes, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the range is empty or wraps around
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map has a range or is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Set a range within a dma-buf, for example memory of another PCI device. This can be done only
 * once in the life of a map, even if the map is stopped. doca_mmap_start() checks that the file
 * descriptor is a dma-buf of sufficient length.
 *
 * @param mmap a map that never had a range
 * @param dmabuf_fd the dma-buf; the map duplicates the file descriptor, so the caller may close it
 * @param addr address of the first byte in this map, its exports and bufs; it is never
 *         dereferenced and may be NULL
 * @param dmabuf_offset first byte of the range within the dma-buf
 * @param len number of bytes, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the map is NULL; the file descriptor is negative or not open; the
 *   range is empty; or the range wraps around at @p addr or @p dmabuf_offset
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map has a range or is imported
 * - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor is available
 */
DOCA_STABLE doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd,
						       void *addr, size_t dmabuf_offset,
						       size_t len);

/**
 * Set a range in the memory of a DPA. This is not supported, because there is no public interface
 * for such memory.
 *
 * @param mmap a map that never had a range
 * @param dpa the DPA of the memory, not NULL
 * @param dpa_addr address of the range on the DPA
 * @param len number of bytes, not 0
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the range is empty or wraps around
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map has a range or is imported
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap,
							  struct doca_dpa *dpa, uint64_t dpa_addr,
							  size_t len);

/**
 * Get the range; for an imported map, the range of the exporter.
 *
 * @param mmap the map, in any state
 * @param addr out: first byte
 * @param len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: no range was set
 */
DOCA_STABLE doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr,
						size_t *len);

/**
 * Set the access permissions of the memory. The last call before the start applies. Without a call, the devices of
 * this process may read and write it; or only read it, if this process may not write it either.
 *
 * @param mmap a map that is neither started nor imported
 * @param access_mask bits of enum doca_access_flag; 0 means that only local devices may read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the map is NULL, a bit is undefined, or more than one of
 *   PCI_READ_ONLY, PCI_READ_WRITE and PCI_RELAXED_ORDERING is set
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Set the function that doca_mmap_destroy() calls to free the memory. It takes effect at the next
 * start. A callback that was set after the last start is not called.
 *
 * @param mmap a map that is neither started nor imported
 * @param free_cb the callback; NULL for none
 * @param opaque passed to the callback; may be NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the map is NULL
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
					       doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * Set the user data of the map.
 *
 * @param mmap a map that is neither started nor imported
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * Get the user data of the map.
 *
 * @param mmap the map, in any state
 * @param user_data out: the value; all bits are 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap,
						 union doca_data *user_data);

/**
 * Set the maximum number of devices of the map.
 *
 * @param mmap a map that was never started and is not imported
 * @param max_num_devices the number, at least 1 and at least the current number of devices
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the map is NULL, or the number is too small
 * - DOCA_ERROR_NOT_PERMITTED: the map has been started before, or is imported
 */
DOCA_STABLE doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap,
						       uint32_t max_num_devices);

/**
 * Get the maximum number of devices of the map. The default is 16.
 *
 * @param mmap the map, in any state
 * @param max_num_devices out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
						       uint32_t *max_num_devices);

/**
 * Get the number of doca_bufs of all inventories that point into the map.
 *
 * @param mmap the map, in any state
 * @param num_bufs out: the number; 0 with thread safety, which does not count bufs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * Check whether the map is exported.
 *
 * @param mmap the map, in any state
 * @param exported out: 1 from the first successful export of either kind until stop, otherwise 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * Check whether the map was created by doca_mmap_create_from_export().
 *
 * @param mmap the map, in any state
 * @param from_export out: 1 or 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap,
						   uint8_t *from_export);

/**
 * Export the map for PCI access by the other functions of the card of one of its devices.
 *
 * The descriptor grants access to the memory, so it is a secret: send it only over a secure
 * channel. A second export for the same device returns the same descriptor. An export for another
 * device returns another descriptor.
 *
 * @param mmap a started map with DOCA_ACCESS_FLAG_PCI_READ_ONLY or DOCA_ACCESS_FLAG_PCI_READ_WRITE
 * @param dev a device of the map
 * @param export_desc out: the descriptor; owned by the map, valid until doca_mmap_stop() or
 *         doca_mmap_destroy()
 * @param export_desc_len out: number of bytes of the descriptor, at most 512
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 * - DOCA_ERROR_NOT_PERMITTED: the map is not started, is imported, or has neither PCI permission
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot export at all, or not a range of this length.
 *   BlueField-2 also cannot export device memory, dma-bufs or a part of a umem that begins within
 *   a page
 * - DOCA_ERROR_DRIVER: the device fails
 * - DOCA_ERROR_OPERATING_SYSTEM: the system returns no random numbers
 * - DOCA_ERROR_UNEXPECTED: the device reports a property that a descriptor cannot hold, such as a
 *   system image GUID of 0
 */
DOCA_STABLE doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
					      const void **export_desc, size_t *export_desc_len);

/**
 * Export the map for RDMA access by peers of one of its devices.
 *
 * A peer imports the descriptor, gets the address, length and key from its map, and reads and
 * writes the memory over a queue pair that is connected to a queue pair in the protection domain
 * of @p dev. The RDMA flags of the map limit the access of the peer. A second export for the same
 * device returns the same descriptor. The map can be exported with doca_mmap_export_pci() as well.
 *
 * @param mmap a started map, or a map that was imported from doca_mmap_export_pci(), with at least
 *         one of DOCA_ACCESS_FLAG_RDMA_READ, _WRITE and _ATOMIC. An imported map has the
 *         permissions of the exporter; a peer never gets more access than the importer has
 * @param dev a device of the map; for an imported map, the device of the import
 * @param export_desc out: the descriptor; owned by the map, valid until doca_mmap_stop() or
 *         doca_mmap_destroy()
 * @param export_desc_len out: number of bytes of the descriptor, at most 512
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 * - DOCA_ERROR_NOT_PERMITTED: the map is neither started nor imported, or has no RDMA permission
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the map was itself imported over RDMA, or the device cannot create a
 *   key with these permissions, addresses or lengths
 * - DOCA_ERROR_DRIVER: the device fails
 * - DOCA_ERROR_UNEXPECTED: the device reports a property that a descriptor cannot hold, such as a
 *   system image GUID of 0
 */
DOCA_STABLE doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
					       const void **export_desc, size_t *export_desc_len);

/**
 * Get the maximum length of a token for doca_mmap_set_export_access_token().
 *
 * @param devinfo the device
 * @param max_size out: number of bytes, 32; 0 if the device cannot export
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 *
 * Semantics: DOCA 3.4.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_cap_get_max_export_access_token_size(
	const struct doca_devinfo *devinfo, size_t *max_size);

/**
 * Set the access key of the next PCI exports for one device, instead of a random key. An importer
 * proves with this key that it may access the memory. The key is part of the descriptor of
 * doca_mmap_export_pci(); a descriptor for RDMA has no key.
 *
 * @param mmap a map that is not started
 * @param dev a device of the map; the token applies to it until another token is set or the device
 *         is removed
 * @param token the secret, which is copied; the remaining bytes up to the maximum are 0
 * @param token_size number of bytes of the token, from 1 to the maximum
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the token is empty or too long
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 *
 * Semantics: DOCA 3.4.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap,
								 const struct doca_dev *dev,
								 const uint8_t *token,
								 size_t token_size);

/**
 * Get the memory key of the map for one device. Work requests use this key together with addresses
 * of the map. For a map that was imported over RDMA, it is the key of the exporter: the remote key
 * for reads and writes over a queue pair that is connected to the exporter.
 *
 * @param mmap a started or imported map
 * @param dev a device of the map
 * @param mkey out: the key in host byte order, valid until doca_mmap_stop()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the map does not have the device, or the map is
 *   neither started nor imported
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot create a key with the addresses of the map. This
 *   happens only for device memory, and for a dma-buf whose offset and address differ within the
 *   page
 * - DOCA_ERROR_DRIVER: the device fails to create such a key
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap,
						  const struct doca_dev *dev, uint32_t *mkey);

/**
 * Get the handle of the map for code on the DPA of a device: the key of doca_mmap_get_mkey().
 *
 * @param mmap a started or imported map
 * @param dev a device of the map
 * @param handle out: the handle, valid until doca_mmap_stop()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 * - DOCA_ERROR_NOT_PERMITTED: the map is neither started nor imported
 * - DOCA_ERROR_NO_MEMORY: see doca_mmap_get_mkey()
 * - DOCA_ERROR_NOT_SUPPORTED: see doca_mmap_get_mkey()
 * - DOCA_ERROR_DRIVER: see doca_mmap_get_mkey()
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap,
							    const struct doca_dev *dev,
							    doca_dpa_dev_mmap_t *handle);

/**
 * Allow several threads to use the map at once, in all functions except this one and
 * doca_mmap_destroy(). The map then no longer counts its doca_bufs: it can be stopped or destroyed
 * while bufs point into it, and the program must prevent this itself. The setting cannot be
 * undone. Enabling it again does nothing.
 *
 * @param mmap a map, also an imported one, that is not started and has no doca_bufs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the map is started, or a doca_buf points into it
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_OPERATING_SYSTEM: a lock cannot be created
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H_ */
