/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The bridge between the DOCA interface and programs that use libibverbs directly. It returns the
 * protection domain of a device, creates a device from a protection domain of the program, and
 * returns the keys of maps and bufs for work requests of the program.
 *
 * A device has one protection domain. A map is registered in the protection domain of each of its
 * devices. A buf is a piece of a map.
 *
 * Thread safety: callable from any thread, except while another thread changes or destroys one of
 * the arguments. On any error the outputs keep their values. Semantics: DOCA 3.0,
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
 * Get the protection domain of a device.
 *
 * @param dev an open device
 * @param pd out: the protection domain, valid until the device is closed; the caller must not
 *         deallocate it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev,
						     struct ibv_pd **pd);

/**
 * Create a device from a protection domain that the program allocated, so that maps can be
 * registered in it. Each call creates a new device.
 *
 * Such a device can be added to maps. These maps cannot be exported with it, and memory cannot be
 * imported with it (DOCA_ERROR_NOT_SUPPORTED).
 *
 * @param pd the protection domain, or a parent domain; the caller owns it and its context, which
 *         must outlive the device
 * @param dev out: the device; valid until doca_dev_close()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the protection domain belongs to a device
 *   that is already open in this process
 * - DOCA_ERROR_NOT_SUPPORTED: the library does not support the device of the protection domain
 * - DOCA_ERROR_NOT_FOUND: the system can no longer list RDMA devices
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 * - DOCA_ERROR_NOT_CONNECTED: the device does not answer
 * - DOCA_ERROR_DRIVER: the driver does not report the number of the protection domain
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd,
							   struct doca_dev **dev);

/**
 * Get the key of a buf for work requests in the protection domain of a device. For a buf of a map
 * that was imported over RDMA, it is the remote key.
 *
 * @param buf a buf of a map that is started or imported
 * @param dev an open device of that map
 * @param mkey out: the key, valid until the map is stopped
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the map of the buf was destroyed or is not
 *   started; or the map does not have the device
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot create a key for these addresses
 * - DOCA_ERROR_NO_MEMORY: memory or keys are exhausted
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf,
						       struct doca_dev *dev, uint32_t *mkey);

/**
 * Get the key of a map for work requests in a protection domain.
 *
 * @param mmap a map that is started or imported
 * @param pd the protection domain of one of its devices
 * @param mkey out: the key, valid until the map is stopped
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the map is not started
 * - DOCA_ERROR_NOT_FOUND: no device of the map has this protection domain
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot create a key for these addresses
 * - DOCA_ERROR_NO_MEMORY: memory or keys are exhausted
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap,
								      struct ibv_pd *pd,
								      uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_BRIDGE_H_ */
