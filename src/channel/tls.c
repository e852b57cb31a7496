/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "channel/peer_name.h"
#include "channel/psk.h"
#include "common/pem.h"

#define SECURITY_LEVEL 2 /* 112 bits: RSA from 2048, EC from 224 */

struct dpumap_tls {
	SSL_CTX *ctx;
	bool is_server;
	bool is_for_etcd;
	bool has_psk;
};

/* --- a socket BIO without SIGPIPE, which OpenSSL's own raises on a closed connection ---------- */

static int fd_of(BIO *bio)
{
	return (int)(intptr_t)BIO_get_data(bio);
}

static int finish(BIO *bio, ssize_t n, int retry)
{
	BIO_clear_retry_flags(bio);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
	return (int)n;
}

static int write_socket(BIO *bio, const char *data, int len)
{
	return finish(bio, send(fd_of(bio), data, (size_t)len, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int read_socket(BIO *bio, char *data, int len)
{
	return finish(bio, recv(fd_of(bio), data, (size_t)len, 0), BIO_FLAGS_READ);
}

static long control_socket(BIO *bio, int command, long number, void *pointer)
{
	(void)bio, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method;

static bool make_socket_method(void)
{
	socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
	return socket_method && BIO_meth_set_write(socket_method, write_socket) &&
	       BIO_meth_set_read(socket_method, read_socket) &&
	       BIO_meth_set_ctrl(socket_method, control_socket);
}

/* --- the rejected certificate, kept to report its name after the verification ----------------- */

static bool is_prepared;
static int rejected_index;
static int ca_index; /* of a context: the path of its CA certificates */
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

static void free_rejected(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
			  void *argp)
{
	(void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
	X509_free(ptr);
}

static void free_path(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl, void *argp)
{
	(void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
	free(ptr);
}

/* Initializes what all contexts share. */
static void prepare(void)
{
	rejected_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_rejected);
	ca_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_path);
	is_prepared = rejected_index >= 0 && ca_index >= 0 && make_socket_method();
}

static int keep_rejected(int is_good, X509_STORE_CTX *verify)
{
	X509 *cert = X509_STORE_CTX_get0_cert(verify);
	SSL *ssl = X509_STORE_CTX_get_ex_data(verify, SSL_get_ex_data_X509_STORE_CTX_idx());

	if (!is_good && cert && !SSL_get_ex_data(ssl, rejected_index) && X509_up_ref(cert) &&
	    !SSL_set_ex_data(ssl, rejected_index, cert))
		X509_free(cert);
	return is_good;
}

/* --- contexts --------------------------------------------------------------------------------- */

static STACK_OF(X509_INFO) * read_file(const char *path, struct dpumap_error *error)
{
	STACK_OF(X509_INFO) * found;
	BIO *bio = dpumap_pem_open(path, false, error);

	if (!bio)
		return NULL;
	found = PEM_X509_INFO_read_bio(bio, NULL, dpumap_pem_no_password, NULL);
	if (!found)
		dpumap_pem_invalid(path, error);
	BIO_free(bio);
	return found;
}

static void free_infos(STACK_OF(X509_INFO) * infos)
{
	sk_X509_INFO_pop_free(infos, X509_INFO_free);
}

static doca_error_t use_cert(SSL_CTX *ctx, const char *path, struct dpumap_error *error)
{
	STACK_OF(X509_INFO) *infos = read_file(path, error);
	doca_error_t result = DOCA_SUCCESS;
	int num = 0;

	if (!infos)
		return error->code;
	for (int i = 0; i < sk_X509_INFO_num(infos) && result == DOCA_SUCCESS; i++) {
		X509 *cert = sk_X509_INFO_value(infos, i)->x509;

		if (!cert)
			continue;
		if (num++ ? !SSL_CTX_add1_chain_cert(ctx, cert)
			  : !SSL_CTX_use_certificate(ctx, cert))
			result = dpumap_pem_invalid(path, error);
	}
	if (result == DOCA_SUCCESS && num == 0)
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "%s contains no certificate", path);
	free_infos(infos);
	return result;
}

static doca_error_t use_key(SSL_CTX *ctx, const char *path, struct dpumap_error *error)
{
	EVP_PKEY *key = NULL;
	doca_error_t result = dpumap_pem_read_key(path, &key, error);

	if (result == DOCA_SUCCESS &&
	    (!SSL_CTX_use_PrivateKey(ctx, key) || !SSL_CTX_check_private_key(ctx)))
		result = dpumap_pem_invalid(path, error);
	EVP_PKEY_free(key);
	return result;
}

/* Adds the certificates of a file, or its revocation lists, to the store. */
static doca_error_t add_to_store(X509_STORE *store, const char *path, bool lists,
				 struct dpumap_error *error)
{
	STACK_OF(X509_INFO) *infos = read_file(path, error);
	doca_error_t result = DOCA_SUCCESS;
	int num = 0;

	if (!infos)
		return error->code;
	for (int i = 0; i < sk_X509_INFO_num(infos) && result == DOCA_SUCCESS; i++) {
		const X509_INFO *info = sk_X509_INFO_value(infos, i);

		if (lists ? !info->crl : !info->x509)
			continue;
		num++;
		if (lists ? !X509_STORE_add_crl(store, info->crl)
			  : !X509_STORE_add_cert(store, info->x509))
			result = dpumap_pem_invalid(path, error);
	}
	if (result == DOCA_SUCCESS && num == 0)
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s contains no %s", path,
					  lists ? "revocation list" : "certificate");
	free_infos(infos);
	return result;
}

/* For messages, so it may be missing. */
static void keep_path(SSL_CTX *ctx, const char *ca)
{
	char *copy = strdup(ca);

	if (copy && !SSL_CTX_set_ex_data(ctx, ca_index, copy))
		free(copy);
}

static doca_error_t use_certificates(SSL_CTX *ctx, const struct dpumap_tls_config *config,
				     struct dpumap_error *error)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	doca_error_t result = DOCA_SUCCESS;

	if (!config->is_for_etcd && (!config->cert || !config->key || !config->ca))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"TLS needs a certificate, its private key and a CA "
					"certificate, or a file of pre-shared keys");
	if (config->cert)
		result = use_cert(ctx, config->cert, error);
	if (result == DOCA_SUCCESS && config->key)
		result = use_key(ctx, config->key, error);
	if (result == DOCA_SUCCESS && config->ca)
		result = add_to_store(store, config->ca, false, error);
	if (config->ca)
		keep_path(ctx, config->ca);
	if (result == DOCA_SUCCESS && config->crl) {
		X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
		result = add_to_store(store, config->crl, true, error);
	}
	return result;
}

static doca_error_t use_keys(SSL_CTX *ctx, const struct dpumap_tls_config *config, bool is_server,
			     struct dpumap_error *error)
{
	if (config->cert || config->key || config->ca || config->crl)
		return dpumap_error_set(
			error, DOCA_ERROR_BAD_CONFIG,
			"TLS uses either certificates or pre-shared keys, not both");
	return dpumap_psk_use(ctx, config->psk, config->psk_name, is_server, error);
}

static bool harden(SSL_CTX *ctx)
{
	SSL_CTX_set_security_level(ctx, SECURITY_LEVEL);
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, keep_rejected);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	return CRYPTO_THREAD_run_once(&once, prepare) && is_prepared &&
	       SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_num_tickets(ctx, 0) && SSL_CTX_set_max_early_data(ctx, 0);
}

/* NULL: no memory. */
static struct dpumap_tls *allocate(bool is_server, struct dpumap_error *error)
{
	struct dpumap_tls *t = calloc(1, sizeof(*t));

	ERR_clear_error();
	if (t)
		t->ctx = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
	if (!t || !t->ctx || !harden(t->ctx)) {
		dpumap_tls_destroy(t);
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for TLS");
		return NULL;
	}
	t->is_server = is_server;
	return t;
}

doca_error_t dpumap_tls_create(const struct dpumap_tls_config *config, bool is_server,
			       struct dpumap_tls **tls, struct dpumap_error *error)
{
	struct dpumap_tls *t = allocate(is_server, error);
	doca_error_t result;

	if (!t)
		return DOCA_ERROR_NO_MEMORY;
	t->has_psk = config->psk != NULL;
	t->is_for_etcd = config->is_for_etcd;
	result = t->has_psk ? use_keys(t->ctx, config, is_server, error)
			    : use_certificates(t->ctx, config, error);
	if (result != DOCA_SUCCESS) {
		dpumap_tls_destroy(t);
		return result;
	}
	*tls = t;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_tls_create_with_key(const unsigned char *key, size_t len, bool is_server,
					struct dpumap_tls **tls, struct dpumap_error *error)
{
	struct dpumap_tls *t = allocate(is_server, error);
	doca_error_t result;

	if (!t)
		return DOCA_ERROR_NO_MEMORY;
	t->has_psk = true;
	result = dpumap_psk_use_key(t->ctx, key, len, is_server, error);
	if (result != DOCA_SUCCESS) {
		dpumap_tls_destroy(t);
		return result;
	}
	*tls = t;
	return DOCA_SUCCESS;
}

void dpumap_tls_destroy(struct dpumap_tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->ctx);
	free(tls);
}

static enum dpumap_credential_user user_of(const struct dpumap_tls *tls)
{
	if (tls->is_for_etcd)
		return DPUMAP_CREDENTIAL_USER_ETCD_CLIENT;
	return tls->is_server ? DPUMAP_CREDENTIAL_USER_DPU : DPUMAP_CREDENTIAL_USER_HOST;
}

void dpumap_tls_assess(const struct dpumap_tls *tls, struct dpumap_credentials *credentials)
{
	if (tls && !tls->has_psk)
		dpumap_credentials_assess(tls->ctx, user_of(tls), credentials);
	else
		*credentials = (struct dpumap_credentials){0};
}

/* --- sessions --------------------------------------------------------------------------------- */

static bool expect(SSL *ssl, const char *server)
{
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	/* Succeeds only for an IP address. */
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server))
		return true;
	ERR_clear_error();
	return SSL_set1_host(ssl, server) && SSL_set_tlsext_host_name(ssl, server);
}

doca_error_t dpumap_tls_open(struct dpumap_tls *tls, int fd, const char *server, SSL **ssl,
			     struct dpumap_error *error)
{
	SSL *s = SSL_new(tls->ctx);
	BIO *bio = BIO_new(socket_method);

	if (!s || !bio)
		goto no_memory;
	BIO_set_data(bio, (void *)(intptr_t)fd);
	BIO_set_init(bio, 1);
	if (tls->is_server)
		SSL_set_accept_state(s);
	else
		SSL_set_connect_state(s);
	if (!tls->is_server && !tls->has_psk && !expect(s, server))
		goto no_memory;
	SSL_set_bio(s, bio, bio);
	*ssl = s;
	return DOCA_SUCCESS;

no_memory:
	BIO_free(bio);
	SSL_free(s);
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a TLS session");
}

doca_error_t dpumap_tls_peer_name(SSL *ssl, char name[static DPUMAP_PEER_NAME_MAX],
				  struct dpumap_error *error)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	const char *psk = dpumap_psk_name(ssl);

	if (psk)
		return dpumap_peer_name_set("psk:", psk, strlen(psk), name, error);
	if (!cert || SSL_get_verify_result(ssl) != X509_V_OK)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the peer did not authenticate");
	return dpumap_peer_name_of_cert(cert, name, error);
}

static bool is_of_other_authority(long code)
{
	return code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
	       code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
	       code == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
	       code == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
	       code == X509_V_ERR_CERT_SIGNATURE_FAILURE;
}

static doca_error_t reject_cert(SSL_CTX *ctx, X509 *cert, long code, struct dpumap_error *error)
{
	char name[DPUMAP_PEER_NAME_MAX] = "an unknown peer";
	const char *ca = SSL_CTX_get_ex_data(ctx, ca_index);
	struct dpumap_error ignored = {0};

	dpumap_peer_name_of_cert(cert, name, &ignored);
	if (is_of_other_authority(code) && ca)
		return dpumap_error_set(
			error, DOCA_ERROR_AUTHENTICATION,
			"the certificate of %s was rejected: it was not issued by a CA of %s", name,
			ca);
	return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
				"the certificate of %s was rejected: %s", name,
				X509_verify_cert_error_string(code));
}

static doca_error_t check_psk(const struct dpumap_tls *tls, SSL *ssl, struct dpumap_error *error)
{
	const char *name = dpumap_psk_name(ssl);

	if (!name)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the peer did not authenticate");
	if (!tls->has_psk || !dpumap_psk_is_known(tls->ctx, ssl))
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the pre-shared key of psk:%s was removed or replaced",
					name);
	return DOCA_SUCCESS;
}

static doca_error_t check_cert(const struct dpumap_tls *tls, SSL *ssl, X509 *cert,
			       struct dpumap_error *error)
{
	X509_STORE_CTX *verify = X509_STORE_CTX_new();
	doca_error_t result = DOCA_SUCCESS;

	if (!verify ||
	    !X509_STORE_CTX_init(verify, SSL_CTX_get_cert_store(tls->ctx), cert,
				 SSL_get_peer_cert_chain(ssl)) ||
	    !X509_STORE_CTX_set_default(verify, tls->is_server ? "ssl_client" : "ssl_server"))
		result = dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					  "no memory to check a certificate");
	else if (X509_verify_cert(verify) != 1)
		result = reject_cert(tls->ctx, cert, X509_STORE_CTX_get_error(verify), error);
	X509_STORE_CTX_free(verify);
	return result;
}

doca_error_t dpumap_tls_check_again(const struct dpumap_tls *tls, SSL *ssl,
				    struct dpumap_error *error)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);

	if (SSL_get_SSL_CTX(ssl) == tls->ctx)
		return DOCA_SUCCESS; /* tls itself has accepted it */
	return cert ? check_cert(tls, ssl, cert, error) : check_psk(tls, ssl, error);
}

static doca_error_t code_of(int why)
{
	switch (why) {
	case SSL_R_UNEXPECTED_EOF_WHILE_READING:
		return DOCA_ERROR_CONNECTION_RESET;
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_NO_PROTOCOLS_AVAILABLE:
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	default:
		return DOCA_ERROR_AUTHENTICATION;
	}
}

/* What an alert of the peer says about the own certificate; NULL: something else. */
static const char *refusal_of(unsigned long code)
{
	switch (ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0) {
	case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
		return "its certificate is revoked";
	case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
		return "its certificate or the revocation list has expired, or is not valid yet";
	case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
		return "its certificate was not issued by a CA that the other side knows (ca)";
	case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
		return "its certificate is for another purpose (dpumap pki issue --host or --dpu)";
	default:
		return NULL;
	}
}

doca_error_t dpumap_tls_fault(SSL *ssl, const char *what, struct dpumap_error *error)
{
	unsigned long code = ERR_peek_error();
	const char *refusal = refusal_of(code);
	X509 *rejected = SSL_get_ex_data(ssl, rejected_index);
	const char *text = ERR_reason_error_string(code);

	if (rejected)
		return reject_cert(SSL_get_SSL_CTX(ssl), rejected, SSL_get_verify_result(ssl),
				   error);
	if (refusal)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION, "%s: %s",
					SSL_is_server(ssl) ? "the client refuses this dpumapd"
							   : "dpumapd refuses this host",
					refusal);
	if (ERR_GET_REASON(code) == SSL_R_BINDER_DOES_NOT_VERIFY)
		return dpumap_error_set(
			error, DOCA_ERROR_AUTHENTICATION, "%s: the client's pre-shared key %s",
			what, dpumap_psk_is_unknown(ssl) ? "has an unknown name" : "is wrong");
	if (!code || ERR_SYSTEM_ERROR(code))
		return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
					"the peer closed the connection");
	return dpumap_error_set(error, code_of(ERR_GET_REASON(code)), "%s: TLS: %s", what,
				text ? text : "unknown error");
}
