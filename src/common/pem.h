/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* PEM files that must be trusted (trusted.h), and times of certificates. */
#ifndef DPUMAP_COMMON_PEM_H
#define DPUMAP_COMMON_PEM_H

#include <stdbool.h>

#include <openssl/types.h>

#include "local/error.h"

/* A BIO that owns the file; NULL with the reason. A secret file must not be readable by others. */
BIO *dpumap_pem_open(const char *path, bool is_secret, struct dpumap_error *error);
/* BAD_CONFIG with the reason of OpenSSL's last error. */
doca_error_t dpumap_pem_invalid(const char *path, struct dpumap_error *error);

/* A pem_password_cb: what is encrypted is refused, because no terminal can be asked for a password. */
int dpumap_pem_no_password(char *buf, int size, int rwflag, void *arg);

/* The first certificate, private key (not encrypted) or revocation list; the caller frees it. */
doca_error_t dpumap_pem_read_cert(const char *path, X509 **cert, struct dpumap_error *error);
doca_error_t dpumap_pem_read_key(const char *path, EVP_PKEY **key, struct dpumap_error *error);
doca_error_t dpumap_pem_read_crl(const char *path, X509_CRL **crl, struct dpumap_error *error);

/* "2026-11-21T17:00:00Z" */
#define DPUMAP_PEM_TIME_MAX 32
void dpumap_pem_format_time(const ASN1_TIME *time, char text[static DPUMAP_PEM_TIME_MAX]);

#endif
