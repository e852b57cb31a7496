/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/pki/pki_cert.h"

#include <stdio.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#define SERIAL_BITS 159 /* positive within 20 bytes, the maximum of a serial number */
/* Certificates are valid from a little earlier, because clocks may differ. */
#define SKEW_S 3600

static doca_error_t failed(const char *what, struct dpumap_error *error)
{
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	return dpumap_error_set(error, DOCA_ERROR_UNKNOWN, "cannot create %s: %s", what,
				text ? text : "unknown error");
}

static const EVP_MD *digest_of(EVP_PKEY *key)
{
	/* Ed25519 includes the hash. */
	return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
}

bool pki_knows_key_type(const char *type)
{
	return strcmp(type, "p256") == 0 || strcmp(type, "ed25519") == 0;
}

const char *pki_key_type(const EVP_PKEY *key)
{
	return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? "ed25519" : "p256";
}

doca_error_t pki_make_key(const char *type, EVP_PKEY **key, struct dpumap_error *error)
{
	*key = strcmp(type, "ed25519") == 0 ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
					    : EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	return *key ? DOCA_SUCCESS : failed("a private key", error);
}

/* --- fields of a certificate ------------------------------------------------------------------ */

static bool set_serial(X509 *cert)
{
	BIGNUM *number = BN_new();
	bool done = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
		    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));

	BN_free(number);
	return done;
}

static bool set_times(X509 *cert, long days)
{
	return X509_gmtime_adj(X509_getm_notBefore(cert), -SKEW_S) &&
	       X509_time_adj_ex(X509_getm_notAfter(cert), (int)days, 0, NULL);
}

static bool set_common_name(X509 *cert, const char *name)
{
	X509_NAME *subject = X509_get_subject_name(cert);

	return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name,
					  -1, -1, 0);
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool done;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	done = extension && X509_add_ext(cert, extension, -1);
	X509_EXTENSION_free(extension);
	return done;
}

static X509 *begin_cert(EVP_PKEY *key, const char *name, long days)
{
	X509 *cert = X509_new();

	if (cert && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
	    set_times(cert, days) && set_common_name(cert, name) && X509_set_pubkey(cert, key))
		return cert;
	X509_free(cert);
	return NULL;
}

/* A random name, because CAs of the same name would be mistaken for each other. */
static bool name_ca(char *name, size_t size)
{
	unsigned char random[4];

	if (RAND_bytes(random, sizeof(random)) != 1)
		return false;
	snprintf(name, size, "dpumap authority %02x%02x%02x%02x", random[0], random[1], random[2],
		 random[3]);
	return true;
}

doca_error_t pki_make_ca(EVP_PKEY *key, long days, X509 **cert, struct dpumap_error *error)
{
	X509 *c = NULL;
	char name[64];

	if (name_ca(name, sizeof(name)))
		c = begin_cert(key, name, days);
	if (c && X509_set_issuer_name(c, X509_get_subject_name(c)) &&
	    add_extension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	    add_extension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") &&
	    add_extension(c, c, NID_subject_key_identifier, "hash") &&
	    X509_sign(c, key, digest_of(key))) {
		*cert = c;
		return DOCA_SUCCESS;
	}
	X509_free(c);
	return failed("the CA certificate", error);
}

static bool end_with_issuer(X509 *cert, X509 *ca)
{
	const ASN1_TIME *end = X509_get0_notAfter(ca);

	return ASN1_TIME_compare(X509_get0_notAfter(cert), end) <= 0 ||
	       X509_set1_notAfter(cert, end);
}

/* The new certificate has the old names, if there were any. */
static bool copy_sans(X509 *cert, const X509 *old)
{
	int at = X509_get_ext_by_NID(old, NID_subject_alt_name, -1);

	return at < 0 || X509_add_ext(cert, X509_get_ext(old, at), -1);
}

static bool add_extensions(X509 *cert, X509 *ca, const struct pki_subject *subject)
{
	const char *usage = subject->is_server ? "serverAuth" : "clientAuth";

	return add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") &&
	       add_extension(cert, ca, NID_ext_key_usage, usage) &&
	       add_extension(cert, ca, NID_subject_key_identifier, "hash") &&
	       add_extension(cert, ca, NID_authority_key_identifier, "keyid:always") &&
	       (!subject->sans || add_extension(cert, ca, NID_subject_alt_name, subject->sans)) &&
	       (!subject->old || copy_sans(cert, subject->old));
}

doca_error_t pki_make_cert(X509 *ca, EVP_PKEY *ca_key, EVP_PKEY *key,
			   const struct pki_subject *subject, X509 **cert,
			   struct dpumap_error *error)
{
	X509 *c = begin_cert(key, subject->name, subject->days);

	if (c && end_with_issuer(c, ca) && X509_set_issuer_name(c, X509_get_subject_name(ca)) &&
	    add_extensions(c, ca, subject) && X509_sign(c, ca_key, digest_of(ca_key))) {
		*cert = c;
		return DOCA_SUCCESS;
	}
	X509_free(c);
	return failed("a certificate", error);
}

/* --- lists ------------------------------------------------------------------------------------ */

static bool add_revoked(X509_CRL *crl, X509 *cert)
{
	X509_REVOKED *entry = X509_REVOKED_new();
	ASN1_TIME *now = X509_gmtime_adj(NULL, 0);
	bool done =
		entry && now && X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(cert)) &&
		X509_REVOKED_set_revocationDate(entry, now) && X509_CRL_add0_revoked(crl, entry);

	ASN1_TIME_free(now);
	if (!done)
		X509_REVOKED_free(entry);
	return done;
}

/* One more than that of the previous list, which it replaces. */
static bool set_number(X509_CRL *crl)
{
	ASN1_INTEGER *last = X509_CRL_get_ext_d2i(crl, NID_crl_number, NULL, NULL);
	ASN1_INTEGER *number = ASN1_INTEGER_new();
	int64_t value = 0;
	bool done;

	if (last)
		ASN1_INTEGER_get_int64(&value, last);
	done = number && ASN1_INTEGER_set_int64(number, value + 1) &&
	       X509_CRL_add1_ext_i2d(crl, NID_crl_number, number, 0, X509V3_ADD_REPLACE);
	ASN1_INTEGER_free(number);
	ASN1_INTEGER_free(last);
	return done;
}

static bool set_key_id(X509_CRL *crl, X509 *ca)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool done;

	X509V3_set_ctx_nodb(&context);
	X509V3_set_ctx(&context, ca, NULL, NULL, crl, 0);
	extension =
		X509V3_EXT_conf_nid(NULL, &context, NID_authority_key_identifier, "keyid:always");
	done = extension && X509_CRL_add_ext(crl, extension, -1);
	X509_EXTENSION_free(extension);
	return done;
}

static bool set_updates(X509_CRL *crl, long days)
{
	ASN1_TIME *last = X509_gmtime_adj(NULL, -SKEW_S);
	ASN1_TIME *next = X509_time_adj_ex(NULL, (int)days, 0, NULL);
	bool done = last && next && X509_CRL_set1_lastUpdate(crl, last) &&
		    X509_CRL_set1_nextUpdate(crl, next);

	ASN1_TIME_free(last);
	ASN1_TIME_free(next);
	return done;
}

static X509_CRL *begin_crl(X509 *ca)
{
	X509_CRL *crl = X509_CRL_new();

	if (crl && X509_CRL_set_version(crl, X509_CRL_VERSION_2) &&
	    X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca)) && set_key_id(crl, ca))
		return crl;
	X509_CRL_free(crl);
	return NULL;
}

doca_error_t pki_make_crl(X509 *ca, EVP_PKEY *ca_key, const X509_CRL *old, X509 *revoked, long days,
			  X509_CRL **crl, struct dpumap_error *error)
{
	X509_CRL *c = old ? X509_CRL_dup(old) : begin_crl(ca);

	if (c && set_updates(c, days) && (!revoked || add_revoked(c, revoked)) && set_number(c) &&
	    X509_CRL_sort(c) && X509_CRL_sign(c, ca_key, digest_of(ca_key))) {
		*crl = c;
		return DOCA_SUCCESS;
	}
	X509_CRL_free(c);
	return failed("a revocation list", error);
}

/* --- queries ---------------------------------------------------------------------------------- */

bool pki_is_revoked(X509_CRL *crl, X509 *cert)
{
	X509_REVOKED *entry;

	return X509_CRL_get0_by_cert(crl, &entry, cert) != 0;
}

bool pki_is_server(X509 *cert)
{
	return X509_get_extended_key_usage(cert) & XKU_SSL_SERVER;
}

bool pki_is_expired(const X509 *cert)
{
	return X509_cmp_current_time(X509_get0_notAfter(cert)) < 0;
}

void pki_format_serial(const X509 *cert, char text[static PKI_SERIAL_TEXT_MAX])
{
	BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
	char *hex = number ? BN_bn2hex(number) : NULL;

	snprintf(text, PKI_SERIAL_TEXT_MAX, "%s", hex ? hex : "unknown");
	OPENSSL_free(hex);
	BN_free(number);
}
