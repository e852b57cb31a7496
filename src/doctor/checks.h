/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DOCTOR_CHECKS_H
#define DPUMAP_DOCTOR_CHECKS_H

#include <doca_error.h>

#include "doctor/check.h"

/* Checks of the capabilities that the device reports. */
doctor_check_fn doctor_cap_devx;
doctor_check_fn doctor_cap_sharing;
doctor_check_fn doctor_cap_pci_export;
doctor_check_fn doctor_cap_pci_import;
doctor_check_fn doctor_cap_rdma;
doctor_check_fn doctor_cap_mmo;
doctor_check_fn doctor_cap_device_memory;
doctor_check_fn doctor_cap_odp;

/* Checks of the device and its port. */
extern const struct group doctor_group_device;

/* False, with the finding set, when there is no open device. */
bool doctor_is_open(const struct check_context *context, struct finding *finding);

/* Checks of the connection to dpumapd. After the first failure, the others are skipped. */
extern const struct group doctor_group_link;

/* The check id failed: all later checks are skipped. */
void doctor_connection_failed(struct check_context *context, const char *id);
bool doctor_connection_continues(const struct check_context *context, struct finding *finding);
unsigned int doctor_connection_timeout_ms(const struct check_context *context);
/* Connects as a client and sends hello, once. */
void doctor_connection_hello(struct check_context *context);

/* Checks of the kernel, its modules, rdma-core, limits and the configuration. */
extern const struct group doctor_group_system;

/* Checks of the TLS files and of the TLS session with dpumapd. */
void doctor_connection_close_tls(struct check_context *context);
doctor_check_fn doctor_link_files;
doctor_check_fn doctor_link_certificate;
doctor_check_fn doctor_link_crl;
doctor_check_fn doctor_link_registry;
doctor_check_fn doctor_link_tls;
doctor_check_fn doctor_link_identity;

/* Checks that use the device, since capability bits prove little. Each undoes what it did. */
extern const struct group doctor_group_trial;

/* From now on the last error that the library logs is kept for doctor_fail_doca(). */
void doctor_capture_library_log(struct check_context *context);
/* Reports a failed call of the library, with the line that it logged. */
void doctor_fail_doca(const struct check_context *context, struct finding *finding,
		      doca_error_t result, const char *what);

#endif
