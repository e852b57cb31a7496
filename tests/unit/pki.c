/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "pki.h"

#define DAY 86400L

static char directory[256];

const char *pki_path(const char *name, const char *suffix)
{
	static char paths[4][512];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s.%s", directory, name, suffix);
	return path;
}

void pki_begin(const char *where)
{
	snprintf(directory, sizeof(directory), "%s", where);
}

void pki_end(void)
{
	char command[sizeof(directory) + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of our own making */
}

static FILE *create(const char *name, const char *suffix, mode_t mode)
{
	const char *path = pki_path(name, suffix);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(chmod(path, mode), 0);
	return file;
}

static EVP_PKEY *load_key(const char *name)
{
	FILE *file = fopen(pki_path(name, "key"), "r");
	EVP_PKEY *key;

	assert_non_null(file);
	key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
	assert_non_null(key);
	fclose(file);
	return key;
}

static EVP_PKEY *make_key(const char *name)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	FILE *file = create(name, "key", 0600);

	assert_non_null(key);
	assert_true(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL));
	fclose(file);
	return key;
}

static void set_common_name(X509_NAME *subject, const char *name)
{
	assert_true(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
					       (const unsigned char *)name, -1, -1, 0));
}

static X509 *begin_cert(const char *name, EVP_PKEY *key, long serial, int days)
{
	X509 *cert = X509_new();

	assert_non_null(cert);
	assert_true(X509_set_version(cert, X509_VERSION_3));
	assert_true(ASN1_INTEGER_set(X509_get_serialNumber(cert), serial));
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), -30 * DAY));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), days * DAY));
	assert_true(X509_set_pubkey(cert, key));
	set_common_name(X509_get_subject_name(cert), name);
	return cert;
}

static void add_extension(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	assert_non_null(extension);
	assert_true(X509_add_ext(cert, extension, -1));
	X509_EXTENSION_free(extension);
}

static void finish_cert(X509 *cert, const char *name, EVP_PKEY *signer)
{
	FILE *file = create(name, "crt", 0644);

	assert_true(X509_sign(cert, signer, EVP_sha256()) > 0);
	assert_true(PEM_write_X509(file, cert));
	fclose(file);
	X509_free(cert);
}

void pki_make_ca(const char *name)
{
	EVP_PKEY *key = make_key(name);
	X509 *cert = begin_cert(name, key, 1, 3650);

	assert_true(X509_set_issuer_name(cert, X509_get_subject_name(cert)));
	add_extension(cert, NID_basic_constraints, "critical,CA:TRUE");
	add_extension(cert, NID_key_usage, "critical,keyCertSign,cRLSign");
	finish_cert(cert, name, key);
	EVP_PKEY_free(key);
}

static X509_NAME *issuer_name(const char *ca)
{
	X509_NAME *name = X509_NAME_new();

	assert_non_null(name);
	set_common_name(name, ca);
	return name;
}

void pki_make_cert(const struct pki_cert *spec)
{
	EVP_PKEY *key = make_key(spec->name), *signer = load_key(spec->ca);
	X509 *cert = begin_cert(spec->name, key, spec->serial, spec->days);
	X509_NAME *issuer = issuer_name(spec->ca);

	assert_true(X509_set_issuer_name(cert, issuer));
	add_extension(cert, NID_ext_key_usage,
		      spec->role == PKI_SERVER ? "serverAuth" : "clientAuth");
	if (spec->san)
		add_extension(cert, NID_subject_alt_name, spec->san);
	finish_cert(cert, spec->name, signer);
	X509_NAME_free(issuer);
	EVP_PKEY_free(signer);
	EVP_PKEY_free(key);
}

static void add_revoked(X509_CRL *crl, long serial, const ASN1_TIME *when)
{
	X509_REVOKED *entry = X509_REVOKED_new();
	ASN1_INTEGER *number = ASN1_INTEGER_new();

	assert_non_null(entry);
	assert_non_null(number);
	assert_true(ASN1_INTEGER_set(number, serial));
	assert_true(X509_REVOKED_set_serialNumber(entry, number));
	assert_true(X509_REVOKED_set_revocationDate(entry, (ASN1_TIME *)when));
	assert_true(X509_CRL_add0_revoked(crl, entry));
	ASN1_INTEGER_free(number);
}

void pki_make_crl(const char *ca, long serial)
{
	ASN1_TIME *now = X509_gmtime_adj(NULL, -DAY), *then = X509_gmtime_adj(NULL, 30 * DAY);
	EVP_PKEY *signer = load_key(ca);
	X509_NAME *issuer = issuer_name(ca);
	X509_CRL *crl = X509_CRL_new();
	FILE *file;

	assert_non_null(crl);
	assert_true(X509_CRL_set_version(crl, X509_CRL_VERSION_2));
	assert_true(X509_CRL_set_issuer_name(crl, issuer));
	assert_true(X509_CRL_set1_lastUpdate(crl, now));
	assert_true(X509_CRL_set1_nextUpdate(crl, then));
	if (serial)
		add_revoked(crl, serial, now);
	assert_true(X509_CRL_sort(crl));
	assert_true(X509_CRL_sign(crl, signer, EVP_sha256()) > 0);
	file = create(ca, "crl", 0644);
	assert_true(PEM_write_X509_CRL(file, crl));
	fclose(file);
	X509_CRL_free(crl);
	X509_NAME_free(issuer);
	EVP_PKEY_free(signer);
	ASN1_TIME_free(then);
	ASN1_TIME_free(now);
}
