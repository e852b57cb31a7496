/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices as libibverbs lists them. Devices of the mlx5 driver are used with all that mlx5dv
 * offers; others, such as rdma_rxe, by plain verbs, which suffice for RDMA.
 */
#ifndef DPUMAP_DEVICE_HCA_H
#define DPUMAP_DEVICE_HCA_H

#include <doca_error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/caps.h"
#include "device/sysfs.h"

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

/* The host's physical function, as the firmware of the DPU reports it. */
struct dpumap_host_pf {
	char pci_addr[DPUMAP_PCI_ADDR_SIZE]; /* the host's */
	uint16_t vhca_id;
	bool has_vhca_id;
};

/* DOCA_ERROR_NOT_SUPPORTED, logged as info, if the device does not manage a host's function. */
doca_error_t dpumap_hca_query_host_pf(const struct dpumap_hca *hca, struct dpumap_host_pf *pf);

#endif
