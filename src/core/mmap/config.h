/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Settings of a map, and its list of devices. */
#ifndef DPUMAP_CORE_MMAP_CONFIG_H
#define DPUMAP_CORE_MMAP_CONFIG_H

#include "core/mmap/mmap.h"

/* Log and return why a setter may not change the map; DOCA_SUCCESS if it may. */
doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function);

/* Find the slot of a device; DOCA_ERROR_NOT_FOUND, logged, if the map does not have it. */
doca_error_t dpumap_mmap_get_slot(const struct doca_mmap *mmap, const struct doca_dev *dev,
				  struct mmap_slot **slot);

/* Append a device, unchecked. */
doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev);

#endif
