/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Emulated PCI devices. This library does not emulate devices. The header declares types and no
 * functions, so programs that run on the host compile and link. Source of the types: DOCA 3.0,
 * doca_devemu_pci.h.
 */
#ifndef DOCA_DEVEMU_PCI_H_
#define DOCA_DEVEMU_PCI_H_

#include <stdint.h>
#include <sys/uio.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_devemu_pci_type.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devemu_pci_db;
struct doca_devemu_pci_db_completion;
struct doca_devemu_pci_dev;
struct doca_devemu_pci_dev_event_bar_stateful_region_driver_write;
struct doca_devemu_pci_msix;
struct doca_devemu_pci_resources;
struct doca_dpa_thread;

/** Handles of objects in the memory of the DPA. */
typedef uint64_t doca_dpa_dev_devemu_pci_db_t;
typedef uint64_t doca_dpa_dev_devemu_pci_db_completion_t;
typedef uint64_t doca_dpa_dev_devemu_pci_msix_t;

/** State of a device that can be plugged into the host. */
enum doca_devemu_pci_hotplug_state {
	DOCA_DEVEMU_PCI_HP_STATE_POWER_OFF = 0,		 /**< Not visible to the host. */
	DOCA_DEVEMU_PCI_HP_STATE_UNPLUG_IN_PROGRESS = 1, /**< Being removed. */
	DOCA_DEVEMU_PCI_HP_STATE_PLUG_IN_PROGRESS = 2,	 /**< Being added. */
	DOCA_DEVEMU_PCI_HP_STATE_POWER_ON = 3,		 /**< Visible to the host. */
};

/** Report a change of the hotplug state of a device. */
typedef void (*doca_devemu_pci_dev_event_hotplug_state_change_handler_cb_t)(
	struct doca_devemu_pci_dev *pci_dev, union doca_data user_data);

/** Report a write of the host's driver to a stateful region. */
typedef void (*doca_devemu_pci_dev_event_bar_stateful_region_driver_write_handler_cb_t)(
	struct doca_devemu_pci_dev_event_bar_stateful_region_driver_write *event,
	union doca_data user_data);

/** Report a function level reset of a device. */
typedef void (*doca_devemu_pci_dev_event_flr_handler_cb_t)(struct doca_devemu_pci_dev *pci_dev,
							   union doca_data user_data);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEVEMU_PCI_H_ */
