/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks of the capabilities that the device reports. */
#ifndef DPUMAP_DOCTOR_CHECKS_CAPS_H
#define DPUMAP_DOCTOR_CHECKS_CAPS_H

#include "doctor/check.h"

doctor_check_fn doctor_cap_devx;
doctor_check_fn doctor_cap_sharing;
doctor_check_fn doctor_cap_pci_export;
doctor_check_fn doctor_cap_pci_import;
doctor_check_fn doctor_cap_rdma;
doctor_check_fn doctor_cap_mmo;
doctor_check_fn doctor_cap_device_memory;
doctor_check_fn doctor_cap_odp;

#endif
