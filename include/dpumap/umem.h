/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems. A umem is memory that is registered with a device once. All processes with the same
 * device context (dpumap/dev.h) can use it as the source of maps.
 *
 * Holders of a registration. The process that registered the memory, every importer and every
 * started map hold the registration. Only the last holder can end it, with
 * dpumap_umem_deregister(). The other holders release it with dpumap_umem_unimport(). While there
 * is another holder, dpumap_umem_deregister() fails with DOCA_ERROR_IN_USE and changes nothing, so
 * an importer never accesses memory other than the memory that it imported. If a process ends
 * without releasing its hold, the hold lasts until the context ends, which is when the last
 * process with the context closes it. A registration that all holders have unimported also ends
 * with the context. The memory belongs to the process that registered it. If this process unmaps
 * the memory or ends, the device still keeps the pages, but no process maps them any more.
 *
 * Exported bytes. They identify a registration, but grant no access, because an importer also
 * needs the context. They are valid while the registration has a holder. Bytes of another context,
 * or of a registration that has ended, are refused. The device may reuse the number of a
 * registration. Bytes that are used after their registration has ended may then match a later
 * registration of the same context, like the number of a closed file descriptor.
 *
 * Versions of rdma-core. With rdma-core 63 or later, the bytes contain an export of libmlx5. With
 * earlier versions, they contain the handle of the kernel. All versions can import the handle;
 * only rdma-core 63 or later can import the export of libmlx5.
 *
 * Processes that fork. Kernels before 5.12 copy pages on a write after fork(). On these kernels,
 * mark the memory with madvise(MADV_DONTFORK).
 *
 * Thread safety: only one thread at a time may use an object. Different threads may use different
 * objects at once. On any error the outputs keep their values. Semantics: mlx5dv_devx_umem_reg(3),
 * mlx5dv_devx_umem_export(3) and the rules of doca_mmap.h.
 */
#ifndef DPUMAP_UMEM_H
#define DPUMAP_UMEM_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;
struct dpumap_umem;

/**
 * Register memory of the process.
 *
 * @param dev an open device; in use until the umem is deregistered or unimported
 * @param addr first byte; of any alignment
 * @param len number of bytes, not 0
 * @param access_mask bits of enum doca_access_flag: the maximum permissions of maps over the umem;
 *         0 permits only reading
 * @param umem out: the umem, owned by the caller until dpumap_umem_deregister() or
 *         dpumap_umem_unimport()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the range is empty or wraps around;
 *   doca_mmap_set_permissions() refuses the mask; the memory is not mapped; or it is not writable
 *   although the mask permits writing
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the limit of locked memory is exceeded
 * - DOCA_ERROR_NOT_SUPPORTED: the kernel does not support umems
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_umem_register(struct doca_dev *dev, void *addr, size_t len,
					      uint32_t access_mask, struct dpumap_umem **umem);

/**
 * Register a range of a dma-buf.
 *
 * @param dev an open device; in use until the umem is deregistered or unimported
 * @param dmabuf_fd the dma-buf; the caller may close it after the call
 * @param addr address of the first byte in maps over the umem; it is never dereferenced
 * @param dmabuf_offset first byte within the dma-buf
 * @param len number of bytes, not 0
 * @param access_mask see dpumap_umem_register()
 * @param umem out: the umem, owned by the caller until dpumap_umem_deregister() or
 *         dpumap_umem_unimport()
 * @return as dpumap_umem_register(), and
 * - DOCA_ERROR_INVALID_VALUE: the file descriptor is negative
 */
DOCA_STABLE doca_error_t dpumap_umem_register_dmabuf(struct doca_dev *dev, int dmabuf_fd,
						     void *addr, size_t dmabuf_offset, size_t len,
						     uint32_t access_mask,
						     struct dpumap_umem **umem);

/**
 * End a registration. The process that registered the memory and every importer may call this
 * function. A stopped map over the umem can no longer be started.
 *
 * @param umem the umem; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a map over it is started, or another process holds the registration
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_deregister(struct dpumap_umem *umem);

/**
 * Release a umem without ending the registration. Importers call this function; the process that
 * registered the memory may call it to leave the registration to the importers. If no process
 * holds the registration any more, it ends with the context.
 *
 * @param umem the umem; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a map over it is started
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_unimport(struct dpumap_umem *umem);

/**
 * Get the registered range. In an importer, the address is the address in the process that
 * registered the memory.
 *
 * @param umem the umem
 * @param addr out: first byte
 * @param len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_umem_get_range(const struct dpumap_umem *umem, void **addr,
					       size_t *len);

/**
 * Get the number of bytes that dpumap_umem_export() writes.
 *
 * @param umem the umem
 * @param size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_umem_get_export_size(const struct dpumap_umem *umem, size_t *size);

/**
 * Export a umem to other processes. Importers may export it again. The bytes are a descriptor
 * (docs/wire-format.md) of kind DPUMAP_DESC_KIND_UMEM and contain no secret.
 *
 * @param umem the umem
 * @param buf destination of the bytes
 * @param buf_len number of bytes at @p buf
 * @param written out: number of bytes of the export
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_TOO_BIG: @p buf is too small
 * - DOCA_ERROR_NO_MEMORY: the device has no free mkey, or an allocation fails
 * - DOCA_ERROR_NOT_SUPPORTED: the umem is longer than one mkey can cover
 * - DOCA_ERROR_NOT_FOUND: the registration no longer exists on the device
 * - DOCA_ERROR_UNEXPECTED: the umem cannot be encoded (an internal error)
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_export(struct dpumap_umem *umem, void *buf, size_t buf_len,
					    size_t *written);

/**
 * Import a umem. Nothing is registered again.
 *
 * @param dev an open device on the context of the exporter, see dpumap_dev_open_from_fd(); in use
 *         until the umem is unimported or deregistered
 * @param bytes an export; it may come from an untrusted source
 * @param len exact number of bytes of the export
 * @param umem out: the umem, owned by the caller until dpumap_umem_deregister() or
 *         dpumap_umem_unimport()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the bytes are not an export of a umem
 * - DOCA_ERROR_NOT_PERMITTED: the export belongs to another function or another context
 * - DOCA_ERROR_NOT_FOUND: the registration has ended
 * - DOCA_ERROR_NOT_SUPPORTED: the export was written by a libmlx5 that the libmlx5 of this process
 *   does not understand
 * - DOCA_ERROR_NO_MEMORY: the device has no free mkey, or an allocation fails
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_import(struct doca_dev *dev, const void *bytes, size_t len,
					    struct dpumap_umem **umem);

/**
 * Set a part of a umem as the range of a map; the counterpart of doca_mmap_set_memrange().
 * Starting the map does not register the memory again. The map can be started only on the device
 * of the umem, and only with permissions of the umem (otherwise DOCA_ERROR_NOT_PERMITTED).
 * Permission to read and write over PCI includes permission to read over PCI.
 *
 * @param mmap a map that never had a range
 * @param umem the umem; the caller releases it after the map was stopped
 * @param offset first byte in @p umem
 * @param len number of bytes, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the range is empty or not within @p umem
 * - DOCA_ERROR_BAD_STATE: the map is started
 * - DOCA_ERROR_NOT_PERMITTED: the map has a range or is imported
 */
DOCA_STABLE doca_error_t dpumap_mmap_set_umem_memrange(struct doca_mmap *mmap,
						       struct dpumap_umem *umem, size_t offset,
						       size_t len);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_UMEM_H */
