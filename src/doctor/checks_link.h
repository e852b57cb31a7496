/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks of the connection to dpumapd. After the first failure, the others are skipped. */
#ifndef DPUMAP_DOCTOR_CHECKS_LINK_H
#define DPUMAP_DOCTOR_CHECKS_LINK_H

#include "doctor/check.h"

extern const struct group doctor_group_link;

/* The check id failed: all later checks are skipped. */
void doctor_connection_failed(struct check_context *context, const char *id);
bool doctor_connection_continues(const struct check_context *context, struct finding *finding);
unsigned int doctor_connection_timeout_ms(const struct check_context *context);
/* Connects as a client and sends hello, once. */
void doctor_connection_greet(struct check_context *context);

#endif
