/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/pem.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "local/trusted.h"

BIO *dpumap_pem_open(const char *path, bool is_secret, struct dpumap_fault *fault)
{
	BIO *bio;
	int fd;

	if (dpumap_trusted_open(path, is_secret, &fd, fault) != DOCA_SUCCESS)
		return NULL;
	bio = BIO_new_fd(fd, BIO_CLOSE);
	if (!bio) {
		close(fd);
		dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory to read %s", path);
	}
	return bio;
}

doca_error_t dpumap_pem_invalid(const char *path, struct dpumap_fault *fault)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	return dpumap_fault_set(fault, DOCA_ERROR_BAD_CONFIG, "%s: %s", path,
				text ? text : "not a valid PEM file");
}

/* Encrypted keys are refused: no terminal can be asked for a password. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	(void)buf, (void)size, (void)rwflag, (void)arg;
	return -1;
}

doca_error_t dpumap_pem_read_cert(const char *path, X509 **cert, struct dpumap_fault *fault)
{
	BIO *bio = dpumap_pem_open(path, false, fault);

	if (!bio)
		return fault->code;
	*cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	return *cert ? DOCA_SUCCESS : dpumap_pem_invalid(path, fault);
}

doca_error_t dpumap_pem_read_key(const char *path, EVP_PKEY **key, struct dpumap_fault *fault)
{
	BIO *bio = dpumap_pem_open(path, true, fault);

	if (!bio)
		return fault->code;
	*key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	BIO_free(bio);
	return *key ? DOCA_SUCCESS : dpumap_pem_invalid(path, fault);
}

doca_error_t dpumap_pem_read_crl(const char *path, X509_CRL **crl, struct dpumap_fault *fault)
{
	BIO *bio = dpumap_pem_open(path, false, fault);

	if (!bio)
		return fault->code;
	*crl = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL);
	BIO_free(bio);
	return *crl ? DOCA_SUCCESS : dpumap_pem_invalid(path, fault);
}

void dpumap_pem_format_time(const ASN1_TIME *time, char text[static DPUMAP_PEM_TIME_MAX])
{
	struct tm tm;

	if (!time || !ASN1_TIME_to_tm(time, &tm) ||
	    strftime(text, DPUMAP_PEM_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(text, DPUMAP_PEM_TIME_MAX, "an invalid date");
}
