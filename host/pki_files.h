/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The authority's directory: ca.crt, ca.key, ca.crl, NAME.crt and NAME.key of those issued, and in
 * revoked/ those that are revoked. Keys have mode 0600, directories 0700.
 */
#ifndef DPUMAP_HOST_PKI_FILES_H
#define DPUMAP_HOST_PKI_FILES_H

#include <limits.h>
#include <stdbool.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "common/fault.h"

struct pki_dir {
	char path[PATH_MAX];
	int fd; /* locked: one command at a time changes the directory */
};

/* dir is NULL for the usual place. Without create it must be there, and nobody else's to write. */
doca_error_t pki_dir_open(struct pki_dir *dir, const char *path, bool create,
			  struct dpumap_fault *fault);
void pki_dir_close(struct pki_dir *dir);

/* DIR/NAME, or DIR/revoked/NAME. */
doca_error_t pki_path(const struct pki_dir *dir, bool is_revoked, const char *name,
		      const char *suffix, char path[static PATH_MAX], struct dpumap_fault *fault);

/* Files that others could have written are refused. The caller frees what it gets. */
doca_error_t pki_read_cert(const char *path, X509 **cert, struct dpumap_fault *fault);
doca_error_t pki_read_key(const char *path, EVP_PKEY **key, struct dpumap_fault *fault);
doca_error_t pki_read_crl(const char *path, X509_CRL **crl, struct dpumap_fault *fault);

/* ALREADY_EXIST rather than to overwrite. On failure there is no file. */
doca_error_t pki_write_cert(const char *path, X509 *cert, struct dpumap_fault *fault);
doca_error_t pki_write_key(const char *path, EVP_PKEY *key, struct dpumap_fault *fault);
/* Replaces the list in one step. */
doca_error_t pki_write_crl(const char *path, X509_CRL *crl, struct dpumap_fault *fault);

/* Puts the files of a certificate away, under a name that tells its serial number. */
doca_error_t pki_put_away(const struct pki_dir *dir, const char *name, const char *serial,
			  struct dpumap_fault *fault);

/* Calls each for NAME of every NAME.crt but ca.crt, in order, until one fails. */
typedef doca_error_t pki_each_fn(void *context, const char *name, struct dpumap_fault *fault);
doca_error_t pki_for_each(const struct pki_dir *dir, bool is_revoked, pki_each_fn *each,
			  void *context, struct dpumap_fault *fault);

#endif
