/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys, certificates and revocation lists, as objects. The caller frees what it gets. */
#ifndef DPUMAP_HOST_PKI_CERT_H
#define DPUMAP_HOST_PKI_CERT_H

#include <stdbool.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "common/fault.h"

#define PKI_SERIAL_TEXT_MAX 44

/* type is "p256" or "ed25519". */
doca_error_t pki_make_key(const char *type, EVP_PKEY **key, struct dpumap_fault *fault);
bool pki_knows_key_type(const char *type);

/* A certificate of an authority, signed by itself. */
doca_error_t pki_make_ca(EVP_PKEY *key, long days, X509 **cert, struct dpumap_fault *fault);

struct pki_subject {
	const char *name; /* the common name */
	bool is_server;
	const char *sans; /* as OpenSSL writes them, "DNS:a,IP:b"; NULL: none */
	long days;	  /* but no longer than the authority */
};

doca_error_t pki_make_cert(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key,
			   const struct pki_subject *subject, X509 **cert,
			   struct dpumap_fault *fault);

/* The list old, which may be NULL, with one more, which may be NULL too; for days from now. */
doca_error_t pki_make_crl(X509 *ca, EVP_PKEY *ca_key, X509_CRL *old, X509 *revoked, long days,
			  X509_CRL **crl, struct dpumap_fault *fault);

bool pki_is_revoked(X509_CRL *crl, X509 *cert);
bool pki_is_server(X509 *cert);
bool pki_is_expired(const X509 *cert);
void pki_format_serial(const X509 *cert, char text[static PKI_SERIAL_TEXT_MAX]);
/* "2026-11-21T17:00:00Z" */
#define PKI_TIME_TEXT_MAX 32
void pki_format_time(const ASN1_TIME *time, char text[static PKI_TIME_TEXT_MAX]);

#endif
