/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The bridge between this interface and programs that use libibverbs themselves: the protection
 * domain of a device, a device made of a program's own protection domain, and the keys by which
 * work requests of such a program name a map or a buf.
 *
 * A device is a protection domain, a map a registration of one range on several of them, a buf a
 * piece of a map. Thread safety: callable from any thread, except while another thread changes or
 * destroys one of the arguments. On any error the outputs keep their values. Semantics: DOCA 3.0,
 * doca_rdma_bridge.h.
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <stdint.h>

#include <infiniband/verbs.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_mmap;

/**
 * The protection domain of a device.
 *
 * @param dev an open device
 * @param pd out: its protection domain, valid until the device is closed; not to be deallocated
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev,
						     struct ibv_pd **pd);

/**
 * Make a device of a protection domain that the program allocated, so that maps are registered in
 * it. Each call makes a device of its own.
 *
 * Such a device can be added to maps; these can neither be exported by it nor imported with it
 * (DOCA_ERROR_NOT_SUPPORTED).
 *
 * @param pd the protection domain, or a parent domain; it and its context stay the caller's and
 * outlive the device
 * @param dev out: the device; give it back with doca_dev_close()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, or the protection domain of a device that
 * is open here already,
 *         DOCA_ERROR_NOT_SUPPORTED when it is not of a device that the library can drive,
 *         DOCA_ERROR_NOT_FOUND when the system has no list of RDMA devices any more,
 *         DOCA_ERROR_NO_MEMORY when memory runs out,
 *         DOCA_ERROR_NOT_CONNECTED when the device does not answer,
 *         DOCA_ERROR_DRIVER when the driver does not tell the number of the protection domain
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd,
							   struct doca_dev **dev);

/**
 * The key by which work requests in the protection domain of a device name a buf. For a buf of a
 * map that was imported over RDMA it is the remote key.
 *
 * @param buf a buf of a map that is started or imported
 * @param dev an open device of that map
 * @param mkey out: the key, valid until the map is stopped
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a buf whose map is gone or not started, or
 * a device that the map does not have, DOCA_ERROR_NOT_SUPPORTED when the device has no key by which
 * these bytes go at their addresses, DOCA_ERROR_NO_MEMORY when memory or keys run out,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf,
						       struct doca_dev *dev, uint32_t *mkey);

/**
 * The key by which work requests in a protection domain name a map.
 *
 * @param mmap a map that is started or imported
 * @param pd the protection domain of one of its devices
 * @param mkey out: the key, valid until the map is stopped
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, or a map that is not started,
 *         DOCA_ERROR_NOT_FOUND when no device of the map has that protection domain,
 *         DOCA_ERROR_NOT_SUPPORTED when the device has no key by which these bytes go at their
 * addresses,
 *         DOCA_ERROR_NO_MEMORY when memory or keys run out,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap,
								      struct ibv_pd *pd,
								      uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_BRIDGE_H_ */
