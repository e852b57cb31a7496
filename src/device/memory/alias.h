/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Alias objects: mkeys of another function of the card, which exported them
 * (device/memory/export.h).
 */
#ifndef DPUMAP_DEVICE_MEMORY_ALIAS_H
#define DPUMAP_DEVICE_MEMORY_ALIAS_H

#include "device/memory/export.h"
#include "device/memory/mkey.h"

doca_error_t dpumap_alias_create(struct dpumap_device *device,
				 const struct dpumap_pci_export *exported,
				 struct dpumap_mkey *alias);

#endif
