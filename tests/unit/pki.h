/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Certificates for tests, made at test time in a directory of the test's own. */
#ifndef DPUMAP_TESTS_PKI_H
#define DPUMAP_TESTS_PKI_H

#include <stdbool.h>

enum pki_role {
	PKI_SERVER,
	PKI_CLIENT,
};

struct pki_cert {
	const char *ca;	  /* name of the signing CA */
	const char *name; /* common name, and of the files NAME.crt and NAME.key */
	const char *san;  /* as OpenSSL writes them, "DNS:dpu,IP:127.0.0.1"; NULL for none */
	long serial;
	enum pki_role role;
	int days; /* seconds of validity from now; negative: the time since it expired */
};

/* Each fails the test on any error. Files go to the directory, keys with mode 0600. */
void pki_begin(const char *directory);
void pki_make_ca(const char *name);
void pki_make_cert(const struct pki_cert *cert);
/* Write NAME.crl of the CA, with this serial unless it is 0. */
void pki_make_crl(const char *ca, long serial);
/* The path directory/NAME.SUFFIX, valid until the fourth call after this one. */
const char *pki_path(const char *name, const char *suffix);
void pki_end(void);

#endif
