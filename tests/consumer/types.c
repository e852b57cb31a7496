/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the host's side of a program for device emulation needs: types of the emulation and of the
 * DPA, and no functions of either. Valid C11 and C++.
 */
#include <doca_devemu_pci.h>
#include <doca_devemu_pci_type.h>
#include <doca_dpa.h>
#include <doca_pcc.h>

#include <stdio.h>

struct host_device {
	char type_name[DOCA_DEVEMU_PCI_TYPE_NAME_LEN];
	enum doca_devemu_pci_bar_mem_type bar;
	enum doca_devemu_pci_hotplug_state state;
	struct doca_devemu_pci_dev *dev;
	struct doca_devemu_pci_type *type;
	struct iovec config_space;
};

static void note_state(struct doca_devemu_pci_dev *pci_dev, union doca_data user_data)
{
	struct host_device *device = (struct host_device *)user_data.ptr;

	device->dev = pci_dev;
	device->state = DOCA_DEVEMU_PCI_HP_STATE_POWER_ON;
}

static void note_write(struct doca_devemu_pci_dev_event_bar_stateful_region_driver_write *event,
		       union doca_data user_data)
{
	(void)event;
	(void)user_data;
}

static void kernel(void)
{
}

static int check_numbers(void)
{
	return DOCA_DEVEMU_PCI_BAR_MEM_TYPE_1_MB == 1 && DOCA_DEVEMU_PCI_BAR_MEM_TYPE_64_BIT == 2 &&
	       DOCA_DEVEMU_PCI_HP_STATE_POWER_OFF == 0 &&
	       DOCA_DEVEMU_PCI_HP_STATE_UNPLUG_IN_PROGRESS == 1 &&
	       DOCA_DEVEMU_PCI_HP_STATE_PLUG_IN_PROGRESS == 2 &&
	       DOCA_DPA_DEV_LOG_LEVEL_DISABLE == 10 && DOCA_DPA_DEV_LOG_LEVEL_ERROR == 30 &&
	       DOCA_DPA_DEV_LOG_LEVEL_WARNING == 40 && DOCA_DPA_DEV_LOG_LEVEL_INFO == 50 &&
	       DOCA_DPA_DEV_LOG_LEVEL_DEBUG == 60 && DOCA_DPA_COMPLETION_LOG_MAX_USER_DATA == 24 &&
	       sizeof(doca_dpa_dev_devemu_pci_db_t) == 8 &&
	       sizeof(doca_dpa_dev_devemu_pci_db_completion_t) == 8 &&
	       sizeof(doca_dpa_dev_devemu_pci_msix_t) == 8 && sizeof(doca_dpa_dev_t) == 8 &&
	       sizeof(doca_dpa_dev_uintptr_t) == 8 && sizeof(doca_dpa_dev_hash_table_t) == 8 &&
	       sizeof(doca_dpa_dev_completion_t) == 8 && sizeof(doca_dpa_dev_async_ops_t) == 8 &&
	       sizeof(doca_dpa_dev_notification_completion_t) == 8;
}

int main(void)
{
	doca_devemu_pci_dev_event_hotplug_state_change_handler_cb_t on_state = note_state;
	doca_devemu_pci_dev_event_flr_handler_cb_t on_reset = note_state;
	doca_devemu_pci_dev_event_bar_stateful_region_driver_write_handler_cb_t on_write =
		note_write;
	doca_dpa_dev_log_level_t level = DOCA_DPA_DEV_LOG_LEVEL_INFO;
	doca_dpa_func_t *function = kernel;
	struct host_device *device = (struct host_device *)calloc(1, sizeof(*device));
	union doca_data data;

	if (!device)
		return EXIT_FAILURE;
	data.ptr = device;
	on_state(device->dev, data);
	on_reset(device->dev, data);
	on_write(NULL, data);
	function();
	if (!check_numbers() || level != 50 || device->state != DOCA_DEVEMU_PCI_HP_STATE_POWER_ON ||
	    doca_devinfo_get_is_pcc_supported(NULL) != DOCA_ERROR_INVALID_VALUE)
		return EXIT_FAILURE;
	free(device);
	puts("types are complete");
	return EXIT_SUCCESS;
}
