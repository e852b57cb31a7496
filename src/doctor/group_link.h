/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DOCTOR_GROUP_LINK_H
#define DPUMAP_DOCTOR_GROUP_LINK_H

#include "doctor/check.h"

/* From now on checks follow from id. */
void doctor_line_ends(struct patient *patient, const char *id);
bool doctor_line_goes_on(const struct patient *patient, struct finding *finding);
unsigned int doctor_line_timeout_ms(const struct patient *patient);
/* Connects as the agents do, once. */
void doctor_line_greet(struct patient *patient);

/* In link_tls.c. */
void doctor_line_end_tls(struct patient *patient);
doctor_check_fn doctor_link_files;
doctor_check_fn doctor_link_certificate;
doctor_check_fn doctor_link_crl;
doctor_check_fn doctor_link_tls;
doctor_check_fn doctor_link_identity;

#endif
