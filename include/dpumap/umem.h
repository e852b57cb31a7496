/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems: memory that is registered with the device once and is the source of maps in any process
 * that has the same device context (dpumap/dev.h).
 *
 * Who holds a registration. The process that registered it holds it, and every process that has
 * imported it; a started map over it is a hold as well. Only the last one can end it: whoever that
 * is calls dpumap_umem_deregister(), the others dpumap_umem_unimport(). As long as anybody else
 * holds it, dpumap_umem_deregister() fails with DOCA_ERROR_IN_USE and nothing is lost, so no
 * importer ever finds other memory than it imported. The hold of a process that dies without giving
 * it up lasts until the context ends, which is when the last process that has the context closes
 * it; so does a registration that everybody unimported. The memory itself belongs to the process
 * that registered it: the device keeps the pages, but when that process unmaps them or ends, they
 * are what was registered only to the device.
 *
 * The exported bytes name a registration; they open nothing by themselves, since an importer needs
 * the context. They are good while somebody holds the registration. Bytes of another context or of
 * a registration that has ended are refused. (The device gives numbers again: bytes that outlive
 * their last holder may be taken for a later registration of the same context, as a stale file
 * descriptor number would be.)
 *
 * Two libraries, one interface: with rdma-core 63 or later the bytes hold what libmlx5 exports,
 * with earlier ones the kernel's own handle. The latter are read under both, the former by a
 * process with such a libmlx5.
 *
 * Memory of a process that forks: kernels before 5.12 move pages on a write after fork(); there,
 * use memory that is marked with madvise(MADV_DONTFORK).
 *
 * Thread safety: one object may be used by one thread at a time; different objects by different
 * threads at once. On any error the outputs keep their values. Semantics:
 * mlx5dv_devx_umem_reg(3), mlx5dv_devx_umem_export(3) and the rules of doca_mmap.h.
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
 * @param len bytes, not 0
 * @param access_mask enum doca_access_flag: the most that maps over it may permit; 0 lets them read
 * @param umem out: the registration, owned by the caller until dpumap_umem_deregister() or
 *        dpumap_umem_unimport()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty or wrapping range, an access mask
 *         that doca_mmap_set_permissions() refuses, or memory that is not there or not writable
 *         although the mask permits writing, DOCA_ERROR_NO_MEMORY when an allocation fails or more
 *         memory would be locked than the process may, DOCA_ERROR_NOT_SUPPORTED when the kernel
 *         has no umems, DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_umem_register(struct doca_dev *dev, void *addr, size_t len,
					      uint32_t access_mask, struct dpumap_umem **umem);

/**
 * Register a range of a dma-buf.
 *
 * @param dev an open device; in use until the umem is deregistered or unimported
 * @param dmabuf_fd the dma-buf; may be closed afterwards
 * @param addr name of the first byte: the addresses of maps over it begin there
 * @param dmabuf_offset first byte in the dma-buf
 * @param len bytes, not 0
 * @param access_mask as of dpumap_umem_register()
 * @param umem out: the registration, owned by the caller until dpumap_umem_deregister() or
 *        dpumap_umem_unimport()
 * @return as dpumap_umem_register(), DOCA_ERROR_INVALID_VALUE also for a descriptor below 0
 */
DOCA_STABLE doca_error_t dpumap_umem_register_dmabuf(struct doca_dev *dev, int dmabuf_fd,
						     void *addr, size_t dmabuf_offset, size_t len,
						     uint32_t access_mask,
						     struct dpumap_umem **umem);

/**
 * End a registration, by the process that made it or one that imported it. A stopped map over it
 * can no longer be started.
 *
 * @param umem the umem; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a map over it is started or another process holds it,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_deregister(struct dpumap_umem *umem);

/**
 * Give up a umem without ending the registration: for importers, and for an owner that leaves it to
 * them. If nobody else has it, it ends with the context.
 *
 * @param umem the umem; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a map over it is started,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_unimport(struct dpumap_umem *umem);

/**
 * The range that was registered; in an importer the addresses of the process that did it.
 *
 * @param umem the umem
 * @param addr out: first byte
 * @param len out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_umem_get_range(const struct dpumap_umem *umem, void **addr,
					       size_t *len);

/**
 * How many bytes dpumap_umem_export() writes.
 *
 * @param umem the umem
 * @param size out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_umem_get_export_size(const struct dpumap_umem *umem, size_t *size);

/**
 * Write the bytes by which other processes import the umem; importers may export it on. They are a
 * descriptor (docs/wire-format.md) of kind DPUMAP_DESC_KIND_UMEM, without a secret.
 *
 * @param umem the umem
 * @param buf where to
 * @param buf_len bytes of room there
 * @param written out: bytes of the export
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_TOO_BIG when the room does not suffice,
 *         DOCA_ERROR_NO_MEMORY when the device has no mkey left or an allocation fails,
 *         DOCA_ERROR_NOT_SUPPORTED when it is more than one mkey can span,
 *         DOCA_ERROR_NOT_FOUND when the device knows no such registration any more,
 *         DOCA_ERROR_UNEXPECTED when it cannot be described, a fault of the library,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_export(struct dpumap_umem *umem, void *buf, size_t buf_len,
					    size_t *written);

/**
 * Import a umem, without registering anything again.
 *
 * @param dev an open device on the exporter's context, as of dpumap_dev_open_from_fd(); in use
 * until the umem is unimported or deregistered
 * @param bytes an export; it may come from anybody
 * @param len its bytes, no more and no less
 * @param umem out: the umem, owned by the caller until dpumap_umem_unimport() or
 *        dpumap_umem_deregister()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument or bytes that are no export of a umem,
 *         DOCA_ERROR_NOT_PERMITTED when they are of another function or another context,
 *         DOCA_ERROR_NOT_FOUND when the registration has ended,
 *         DOCA_ERROR_NOT_SUPPORTED when they are of a libmlx5 that this process's does not
 *         understand, DOCA_ERROR_NO_MEMORY when the device has no mkey left or an allocation
 *         fails, DOCA_ERROR_DRIVER when the device fails
 */
DOCA_STABLE doca_error_t dpumap_umem_import(struct doca_dev *dev, const void *bytes, size_t len,
					    struct dpumap_umem **umem);

/**
 * Give a map a piece of a umem as its range; the counterpart of doca_mmap_set_memrange(). Starting
 * the map registers nothing again. The only device that it can be started with is the one of the
 * umem, and its permissions are at most those of the umem (DOCA_ERROR_NOT_PERMITTED; reading over
 * PCI is part of reading and writing over PCI).
 *
 * @param mmap a map that never had a range
 * @param umem the umem; given up by the caller after the map is stopped
 * @param offset first byte in @p umem
 * @param len bytes, not 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, an empty range or one that does not lie
 * within @p umem, DOCA_ERROR_BAD_STATE when the map is started, DOCA_ERROR_NOT_PERMITTED when the
 * map has a range or is imported
 */
DOCA_STABLE doca_error_t dpumap_mmap_set_umem_memrange(struct doca_mmap *mmap,
						       struct dpumap_umem *umem, size_t offset,
						       size_t len);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_UMEM_H */
