/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/pem.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "local/trusted.h"

BIO *dpumap_pem_open(const char *path, bool is_secret, struct dpumap_error *error)
{
	BIO *bio;
	int fd;

	if (dpumap_trusted_open(path, is_secret, &fd, error) != DOCA_SUCCESS)
		return NULL;
	bio = BIO_new_fd(fd, BIO_CLOSE);
	if (!bio) {
		close(fd);
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory to read %s", path);
	}
	return bio;
}

/* OpenSSL's own words for these say nothing about the file. */
static const char *reason_for_users(unsigned long code)
{
	switch (ERR_GET_LIB(code) == ERR_LIB_PEM ? ERR_GET_REASON(code) : 0) {
	case PEM_R_BAD_PASSWORD_READ:
		return "it is encrypted, and nobody can be asked for the password: decrypt it "
		       "(openssl pkey -in OLD -out NEW), and use chmod 600 on the new file";
	case PEM_R_BAD_BASE64_DECODE:
	case PEM_R_BAD_END_LINE:
	case PEM_R_SHORT_HEADER:
		return "not a valid PEM file: it is damaged or incomplete";
	default:
		return NULL;
	}
}

doca_error_t dpumap_pem_invalid(const char *path, struct dpumap_error *error)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = reason_for_users(code);

	if (!text)
		text = ERR_reason_error_string(code);
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s: %s", path,
				text ? text : "not a valid PEM file");
}

int dpumap_pem_no_password(char *buf, int size, int rwflag, void *arg)
{
	(void)buf, (void)size, (void)rwflag, (void)arg;
	return -1;
}

/* A file without any of what is looked for, such as an empty one, or one in another form. */
static doca_error_t not_found(const char *path, const char *what, struct dpumap_error *error)
{
	unsigned long code = ERR_peek_last_error();
	bool is_missing =
		ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
	bool is_unknown = ERR_GET_LIB(code) == ERR_LIB_OSSL_DECODER &&
			  ERR_GET_REASON(code) == ERR_R_UNSUPPORTED;

	if (!is_missing && !is_unknown)
		return dpumap_pem_invalid(path, error);
	return dpumap_error_set(
		error, DOCA_ERROR_BAD_CONFIG,
		"%s contains no valid %s in PEM: it is empty, damaged, or another kind of file",
		path, what);
}

doca_error_t dpumap_pem_read_cert(const char *path, X509 **cert, struct dpumap_error *error)
{
	BIO *bio = dpumap_pem_open(path, false, error);

	if (!bio)
		return error->code;
	ERR_clear_error();
	*cert = PEM_read_bio_X509(bio, NULL, dpumap_pem_no_password, NULL);
	BIO_free(bio);
	return *cert ? DOCA_SUCCESS : not_found(path, "certificate", error);
}

doca_error_t dpumap_pem_read_key(const char *path, EVP_PKEY **key, struct dpumap_error *error)
{
	BIO *bio = dpumap_pem_open(path, true, error);

	if (!bio)
		return error->code;
	ERR_clear_error();
	*key = PEM_read_bio_PrivateKey(bio, NULL, dpumap_pem_no_password, NULL);
	BIO_free(bio);
	return *key ? DOCA_SUCCESS : not_found(path, "private key", error);
}

doca_error_t dpumap_pem_read_crl(const char *path, X509_CRL **crl, struct dpumap_error *error)
{
	BIO *bio = dpumap_pem_open(path, false, error);

	if (!bio)
		return error->code;
	ERR_clear_error();
	*crl = PEM_read_bio_X509_CRL(bio, NULL, dpumap_pem_no_password, NULL);
	BIO_free(bio);
	return *crl ? DOCA_SUCCESS : not_found(path, "revocation list", error);
}

void dpumap_pem_format_time(const ASN1_TIME *time, char text[static DPUMAP_PEM_TIME_MAX])
{
	struct tm tm;

	if (!time || !ASN1_TIME_to_tm(time, &tm) ||
	    strftime(text, DPUMAP_PEM_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(text, DPUMAP_PEM_TIME_MAX, "an invalid date");
}
