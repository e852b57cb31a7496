/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programmable congestion control. This library does not support it; the header lets programs
 * compile that ask for the capability.
 *
 * Thread safety: the function may be called from any thread. Semantics: DOCA 3.0, doca_pcc.h.
 */
#ifndef DOCA_PCC_H_
#define DOCA_PCC_H_

#include <stdbool.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_pcc;
struct doca_pcc_app;
struct doca_pcc_bin_report;

/**
 * Check whether the device supports programmable congestion control. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_devinfo_get_is_pcc_supported(const struct doca_devinfo *devinfo);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PCC_H_ */
