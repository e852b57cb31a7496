/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What doca_mmap.h has no word for: taking back an export without touching the map.
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
 * End what doca_mmap_export_pci() gave: its descriptor is void, every map that was created from it
 * is dead from now on, and copies through one complete with an error. The map stays started, its
 * memory registered; exporting it again gives another descriptor, with another key. Without an
 * export there is nothing to do.
 *
 * Thread safety: callable from any thread, as doca_mmap_export_pci().
 *
 * @param mmap a started map; its descriptor, if there is one, is not valid any more
 * @param dev a device of the map
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument, DOCA_ERROR_NOT_FOUND when the
 *         map does not have the device, DOCA_ERROR_NOT_PERMITTED when the map is not started or
 *         imported, DOCA_ERROR_DRIVER when the device fails: the export is as before
 */
DOCA_STABLE doca_error_t dpumap_mmap_revoke_pci(struct doca_mmap *mmap, const struct doca_dev *dev);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_MMAP_H */
