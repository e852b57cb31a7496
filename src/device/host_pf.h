/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The host's physical function, as the firmware of the DPU reports it. */
#ifndef DPUMAP_DEVICE_HOST_PF_H
#define DPUMAP_DEVICE_HOST_PF_H

#include "device/hca.h"
#include "device/sysfs.h"

struct dpumap_host_pf {
	char pci_addr[DPUMAP_PCI_ADDR_SIZE]; /* the host's */
	uint16_t vhca_id;
	bool has_vhca_id;
};

/* DOCA_ERROR_NOT_SUPPORTED, logged as info, if the device does not manage a host's function. */
doca_error_t dpumap_hca_query_host_pf(const struct dpumap_hca *hca, struct dpumap_host_pf *pf);

#endif
