/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The CA directory: ca.crt, ca.key, ca.crl, NAME.crt and NAME.key of issued certificates, old
 * ones that were renewed in replaced/, and revoked ones in revoked/. Keys have mode 0600, directories 0700.
 */
#ifndef DPUMAP_HOST_PKI_FILES_H
#define DPUMAP_HOST_PKI_FILES_H

#include <limits.h>
#include <stdbool.h>

#include <openssl/types.h>

#include "local/error.h"

struct pki_dir {
	char path[PATH_MAX];
	int fd; /* locked: one command at a time changes the directory */
};

/* path is NULL for the default. Without create, the directory must exist, with mode 0700. */
doca_error_t pki_dir_open(struct pki_dir *dir, const char *path, bool create,
			  struct dpumap_error *error);
void pki_dir_close(struct pki_dir *dir);

enum pki_folder {
	PKI_ISSUED,   /* DIR/NAME */
	PKI_REPLACED, /* DIR/replaced/NAME-SERIAL: renewed, but still accepted */
	PKI_REVOKED,  /* DIR/revoked/NAME-SERIAL */
};

doca_error_t pki_path(const struct pki_dir *dir, enum pki_folder folder, const char *name,
		      const char *suffix, char path[static PATH_MAX], struct dpumap_error *error);

/* ALREADY_EXIST if the file exists. On failure no file is left. */
doca_error_t pki_write_cert(const char *path, X509 *cert, struct dpumap_error *error);
doca_error_t pki_write_key(const char *path, EVP_PKEY *key, struct dpumap_error *error);
/* Each replaces the file atomically. */
doca_error_t pki_replace_cert(const char *path, X509 *cert, struct dpumap_error *error);
doca_error_t pki_replace_key(const char *path, EVP_PKEY *key, struct dpumap_error *error);
doca_error_t pki_write_crl(const char *path, X509_CRL *crl, struct dpumap_error *error);

/* Moves the files of an issued certificate to revoked/, with the serial number in their names. */
doca_error_t pki_put_away(const struct pki_dir *dir, const char *name, const char *serial,
			  struct dpumap_error *error);
/* The same from replaced/ to revoked/. file is NAME-SERIAL. */
doca_error_t pki_put_away_replaced(const struct pki_dir *dir, const char *file,
				   struct dpumap_error *error);
/* Gives the file a second name in replaced/. SUCCESS if there is no such file. */
doca_error_t pki_keep(const struct pki_dir *dir, const char *path, const char *kept,
		      struct dpumap_error *error);

/* Calls each for NAME of every NAME.crt but ca.crt, in order, until one fails. */
typedef doca_error_t pki_each_fn(void *context, const char *name, struct dpumap_error *error);
doca_error_t pki_for_each(const struct pki_dir *dir, enum pki_folder folder, pki_each_fn *each,
			  void *context, struct dpumap_error *error);

#endif
