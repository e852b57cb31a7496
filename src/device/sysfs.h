/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Properties of a device in sysfs, given its directory (/sys/class/infiniband/NAME or a similar
 * tree).
 */
#ifndef DPUMAP_DEVICE_SYSFS_H
#define DPUMAP_DEVICE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define DPUMAP_PCI_ADDR_SIZE 13
#define DPUMAP_MAC_SIZE	     6

/* Parse "dddd:bb:dd.f" or "bb:dd.f" into the long form in lower case. */
doca_error_t dpumap_pci_addr_parse(const char *text, char addr[DPUMAP_PCI_ADDR_SIZE]);

/* False for a software device, such as one of rdma_rxe. */
bool dpumap_sysfs_is_on_bus(const char *ibdev_path);

doca_error_t dpumap_sysfs_pci_addr(const char *ibdev_path, char addr[DPUMAP_PCI_ADDR_SIZE]);

enum dpumap_func_type { DPUMAP_FUNC_PF, DPUMAP_FUNC_VF, DPUMAP_FUNC_SF };

struct dpumap_func {
	enum dpumap_func_type type;
	uint32_t sf_index; /* of a sub-function, on the auxiliary bus */
};

doca_error_t dpumap_sysfs_func(const char *ibdev_path, struct dpumap_func *func);

/* DOCA_ERROR_NOT_FOUND if the device has no network interface. */
doca_error_t dpumap_sysfs_iface(const char *ibdev_path, char *name, size_t size);
/* The interface that represents the host's physical function. */
doca_error_t dpumap_sysfs_rep_iface(const char *ibdev_path, char *name, size_t size);
doca_error_t dpumap_sysfs_mac(const char *ibdev_path, uint8_t mac[DPUMAP_MAC_SIZE]);

#endif
