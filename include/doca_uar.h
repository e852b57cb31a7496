/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Doorbell pages (user access regions): pages of the device through which a program rings the
 * doorbells of queues.
 *
 * Thread safety: callable from any thread, except while another thread destroys one of the arguments.
 * On any error the outputs keep their values. Semantics: DOCA 3.3, doca_uar.h.
 */
#ifndef DOCA_UAR_H_
#define DOCA_UAR_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dpa;
struct doca_uar;

/** Kinds of doorbell pages. */
enum doca_uar_allocation_type {
	DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME = 0, /**< Write-combining: takes whole work requests. */
	DOCA_UAR_ALLOCATION_TYPE_NONCACHE = 1,	/**< Not cached. */
	DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED =
		2, /**< The same, and shared with no other user. */
};

/**
 * Allocate a doorbell page.
 *
 * @param dev an open device, which must not be closed before the page is destroyed
 * @param allocation_type the kind
 * @param uar out: the page, owned by the caller until doca_uar_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the kind does not exist
 * - DOCA_ERROR_NO_MEMORY: memory or doorbell pages of the device are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: the device or its driver does not have the kind
 * - DOCA_ERROR_DRIVER: the device refuses
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_create(const struct doca_dev *dev,
					       enum doca_uar_allocation_type allocation_type,
					       struct doca_uar **uar);

/**
 * Allocate a doorbell page for a DPA, which is not supported.
 *
 * @param dpa the DPA
 * @param uar not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_dpa_create(struct doca_dpa *dpa, struct doca_uar **uar);

/**
 * Free a doorbell page.
 *
 * @param uar the page; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_destroy(struct doca_uar *uar);

/**
 * Get the number by which firmware commands name the page.
 *
 * @param uar the page
 * @param uar_id out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_id_get(const struct doca_uar *uar, uint32_t *uar_id);

/**
 * Get the address of the page.
 *
 * @param uar the page
 * @param page out: the address, valid until doca_uar_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_page_get(const struct doca_uar *uar, const void **page);

/**
 * Get the address of the doorbell register in the page.
 *
 * @param uar the page
 * @param reg_addr out: the address, valid until doca_uar_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar,
						     const void **reg_addr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_UAR_H_ */
