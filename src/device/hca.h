/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices as libibverbs lists them. Devices of the mlx5 driver are used with all that mlx5dv
 * offers; others, such as rdma_rxe, by plain verbs, which suffice for RDMA.
 */
#ifndef DPUMAP_DEVICE_HCA_H
#define DPUMAP_DEVICE_HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "device/caps.h"

struct dpumap_hca; /* reference counted */

/*
 * List one reference to each device. The caller frees the array, which is NULL if there is no
 * device.
 */
doca_error_t dpumap_hca_list(struct dpumap_hca ***list, uint32_t *n);
struct dpumap_hca *dpumap_hca_get(struct dpumap_hca *hca);
void dpumap_hca_put(struct dpumap_hca *hca); /* hca may be NULL */

bool dpumap_hca_same(const struct dpumap_hca *a, const struct dpumap_hca *b);
const char *dpumap_hca_name(const struct dpumap_hca *hca);
const char *dpumap_hca_sysfs_path(const struct dpumap_hca *hca);
doca_error_t dpumap_hca_get_caps(struct dpumap_hca *hca, struct dpumap_caps *caps);

#endif
