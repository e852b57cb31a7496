/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints a device's names and, on a DPU, the host's functions that its representors stand for. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_log.h>

#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE::DEVICES);

static const char *const types[] = {"PF", "VF", "SF"};

static doca_error_t print_rep(struct doca_devinfo_rep *rep)
{
	char addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	doca_error_t result = doca_devinfo_rep_get_pci_addr_str(rep, addr);

	if (result == DOCA_SUCCESS)
		printf("  represents %s\n", addr);
	return result;
}

static doca_error_t print_reps(struct doca_devinfo *info)
{
	struct doca_devinfo_rep **list;
	struct doca_dev *dev;
	doca_error_t result;
	uint32_t n = 0;

	result = doca_dev_open(info, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	for (uint32_t i = 0; i < n && result == DOCA_SUCCESS; i++)
		result = print_rep(list[i]);
	if (n)
		(void)doca_devinfo_rep_destroy_list(list);
	if (result == DOCA_ERROR_NOT_SUPPORTED) /* a host has no representors */
		result = DOCA_SUCCESS;
	result = keep_first(result, doca_dev_close(dev));
	return result;
}

static doca_error_t print_device(struct doca_devinfo *info)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE] = "-";
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_PF;
	doca_error_t result;

	result = doca_devinfo_get_pci_addr_str(info, addr);
	DOCA_ERROR_PROPAGATE(result, doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev)));
	DOCA_ERROR_PROPAGATE(result, doca_devinfo_get_pci_func_type(info, &type));
	if (result != DOCA_SUCCESS)
		return result;
	(void)doca_devinfo_get_iface_name(info, iface,
					  sizeof(iface)); /* not every device has one */
	printf("%s %s %s %s\n", addr, types[type], ibdev, iface);
	return print_reps(info);
}

static doca_error_t run(const struct config *config)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint8_t is_it = 0, found = 0;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < n && result == DOCA_SUCCESS; i++) {
		result = doca_devinfo_is_equal_pci_addr(list[i], config->pci_addr, &is_it);
		if (result != DOCA_SUCCESS || !is_it)
			continue;
		found = 1;
		result = print_device(list[i]);
	}
	(void)doca_devinfo_destroy_list(list);
	if (result == DOCA_SUCCESS && !found)
		result = DOCA_ERROR_NOT_FOUND;
	return result;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "p", &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
