/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DOCTOR_GROUP_DEVICE_H
#define DPUMAP_DOCTOR_GROUP_DEVICE_H

#include "doctor/check.h"

/* False, with the finding set, when there is no open device. */
bool doctor_is_open(const struct patient *patient, struct finding *finding);

/* In caps.c. */
doctor_check_fn doctor_cap_devx;
doctor_check_fn doctor_cap_sharing;
doctor_check_fn doctor_cap_pci_export;
doctor_check_fn doctor_cap_pci_import;
doctor_check_fn doctor_cap_rdma;
doctor_check_fn doctor_cap_mmo;
doctor_check_fn doctor_cap_device_memory;
doctor_check_fn doctor_cap_odp;

#endif
