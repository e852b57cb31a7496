/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* DNS names and addresses in the certificate of a DPU. */
#ifndef DPUMAP_HOST_PKI_SAN_H
#define DPUMAP_HOST_PKI_SAN_H

#include "host/settings/options.h"

#define PKI_DNS_MAX   253
#define PKI_SAN_TEXT  (PKI_DNS_MAX + 8)
#define PKI_SANS_TEXT ((OPTIONS_SANS_MAX + 1) * PKI_SAN_TEXT)

/* Why text is not a valid DNS name or address; NULL if it is one. */
const char *pki_san_wrong(const char *text);
/*
 * Appends a valid name in OpenSSL's syntax, "DNS:a,IP:b". DNS names are in lower case and without the final dot:
 * clients compare them so.
 */
void pki_san_add(char sans[static PKI_SANS_TEXT], const char *text);

#endif
