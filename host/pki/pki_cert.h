/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys, certificates and revocation lists, as objects. The caller frees what it gets. */
#ifndef DPUMAP_HOST_PKI_CERT_H
#define DPUMAP_HOST_PKI_CERT_H

#include <stdbool.h>
#include <time.h>

#include <openssl/types.h>

#include "local/error.h"

#define PKI_SERIAL_TEXT_MAX 44

/* type is "p256" or "ed25519". */
doca_error_t pki_make_key(const char *type, EVP_PKEY **key, struct dpumap_error *error);
bool pki_knows_key_type(const char *type);
const char *pki_key_type(const EVP_PKEY *key);

/* A self-signed CA certificate. */
doca_error_t pki_make_ca(EVP_PKEY *key, long days, X509 **cert, struct dpumap_error *error);

struct pki_subject {
	const char *name; /* the common name */
	bool is_server;
	const char *sans; /* in OpenSSL's syntax, "DNS:a,IP:b"; NULL: none */
	const X509 *old;  /* has the sans, instead; NULL: none */
	long days;	  /* limited by the end of the CA */
};

doca_error_t pki_make_cert(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key,
			   const struct pki_subject *subject, X509 **cert,
			   struct dpumap_error *error);

/* A renewed copy of old, or a new list if old is NULL, with revoked added unless it is NULL. */
doca_error_t pki_make_crl(X509 *ca, EVP_PKEY *ca_key, const X509_CRL *old, X509 *revoked, long days,
			  X509_CRL **crl, struct dpumap_error *error);

bool pki_is_revoked(X509_CRL *crl, X509 *cert);
bool pki_is_server(X509 *cert);
bool pki_is_expired(const X509 *cert);
void pki_format_serial(const X509 *cert, char text[static PKI_SERIAL_TEXT_MAX]);

#endif
