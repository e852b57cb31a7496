/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of maps that DOCA lacks: revoking an export without stopping the map.
 */
#ifndef DPUMAP_MMAP_H
#define DPUMAP_MMAP_H

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;

/**
 * Revoke the export of doca_mmap_export_pci(). Its descriptor and all maps that were created from
 * it become invalid; copies through such a map complete with an error. The map stays started and
 * its memory registered. Exporting it again returns a new descriptor with a new key. Without an
 * export, the function does nothing.
 *
 * Thread safety: callable from any thread, like doca_mmap_export_pci().
 *
 * @param mmap a started map; its descriptor is no longer valid afterwards
 * @param dev a device of the map
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the map does not have the device
 * - DOCA_ERROR_NOT_PERMITTED: the map is not started, or is imported
 * - DOCA_ERROR_DRIVER: the device fails; the export is unchanged
 */
DOCA_STABLE doca_error_t dpumap_mmap_revoke_pci(struct doca_mmap *mmap, const struct doca_dev *dev);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_MMAP_H */
