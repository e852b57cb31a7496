/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks of the TLS files and of the TLS session with dpumapd. */
#ifndef DPUMAP_DOCTOR_CHECKS_TLS_H
#define DPUMAP_DOCTOR_CHECKS_TLS_H

#include "doctor/check.h"

void doctor_connection_close_tls(struct check_context *context);
doctor_check_fn doctor_link_files;
doctor_check_fn doctor_link_certificate;
doctor_check_fn doctor_link_crl;
doctor_check_fn doctor_link_registry;
doctor_check_fn doctor_link_tls;
doctor_check_fn doctor_link_identity;

#endif
