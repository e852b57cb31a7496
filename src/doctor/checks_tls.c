/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/clock.h"
#include "common/pem.h"
#include "doctor/check_context.h"

static bool is_tls(const struct check_context *context)
{
	return context->connection.address.kind == DPUMAP_ADDRESS_TLS;
}

/* The files of a server are always checked. */
static bool uses_files(const struct check_context *context, struct finding *finding)
{
	if (context->options->tls_is_server)
		return true;
	if (!doctor_connection_continues(context, finding))
		return false;
	if (!is_tls(context))
		doctor_report(finding, DOCTOR_OK, "not needed for a Unix socket");
	return is_tls(context);
}

static bool uses_certificates(const struct check_context *context, struct finding *finding)
{
	if (!uses_files(context, finding))
		return false;
	if (context->options->tls.psk)
		doctor_report(finding, DOCTOR_OK, "not needed with a pre-shared key");
	return !context->options->tls.psk;
}

void doctor_link_files(struct check_context *context, struct finding *finding)
{
	const struct dpumap_doctor_options *options = context->options;
	struct dpumap_error error = {0};
	doca_error_t result;

	if (!uses_files(context, finding))
		return;
	result = dpumap_tls_create(&options->tls, options->tls_is_server, &context->connection.tls,
				   &error);
	if (result == DOCA_SUCCESS) {
		doctor_report(finding, DOCTOR_OK,
			      options->tls.psk ? "the pre-shared key is valid"
					       : "certificate and private key match");
		return;
	}
	if (!options->tls_is_server)
		doctor_connection_failed(context, "link.files");
	doctor_fail(finding, dpumap_error_exit(result), "%s", error.text);
	if (result == DOCA_ERROR_NOT_PERMITTED)
		doctor_advise(finding,
			      "use chmod 600 on the key; its owner must be root or the current "
			      "user, and no other user may write to its directories");
	else
		doctor_advise(finding, "set --cert, --key and --ca, or tls in the configuration, "
				       "to files of dpumap pki issue");
}

/* --- what they are worth ---------------------------------------------------------------------- */

static void report_credential(struct finding *finding, const struct dpumap_credential *credential)
{
	if (credential->state == DPUMAP_CREDENTIAL_USELESS)
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "%s", credential->text);
	else
		doctor_report(finding,
			      credential->state == DPUMAP_CREDENTIAL_WARN ? DOCTOR_WARN : DOCTOR_OK,
			      "%s", credential->text);
	if (credential->state > DPUMAP_CREDENTIAL_GOOD)
		doctor_advise(finding, "%s", credential->advice);
}

static void report_end(struct finding *finding, const char *name, const ASN1_TIME *end)
{
	char text[DPUMAP_PEM_TIME_MAX];

	if (!end)
		return;
	dpumap_pem_format_time(end, text);
	doctor_fact(finding, name, text);
}

void doctor_link_certificate(struct check_context *context, struct finding *finding)
{
	struct dpumap_credentials found;

	if (!uses_certificates(context, finding))
		return;
	if (!context->connection.tls) {
		doctor_skip(finding, "link.files");
		return;
	}
	dpumap_tls_assess(context->connection.tls, &found);
	report_credential(finding, found.authority.state > found.certificate.state
					   ? &found.authority
					   : &found.certificate);
	if (found.name[0])
		doctor_fact(finding, "name", found.name + strlen("cert:"));
	report_end(finding, "not_after", found.certificate.end);
	report_end(finding, "authority_not_after", found.authority.end);
}

void doctor_link_crl(struct check_context *context, struct finding *finding)
{
	struct dpumap_credentials found;

	if (!uses_certificates(context, finding))
		return;
	if (!context->options->tls.crl) {
		doctor_report(finding, DOCTOR_WARN,
			      "no revocation list: revoked certificates are accepted");
		doctor_advise(finding,
			      "set --crl, or crl in the configuration, to ca.crl of the CA");
		return;
	}
	dpumap_tls_assess(context->connection.tls, &found);
	if (found.list.state == DPUMAP_CREDENTIAL_NONE) {
		doctor_skip(finding, context->connection.tls ? "link.certificate" : "link.files");
		return;
	}
	report_credential(finding, &found.list);
	report_end(finding, "next_update", found.list.end);
}

/* They are read here, and nothing is sent to etcd. */
void doctor_link_registry(struct check_context *context, struct finding *finding)
{
	struct dpumap_tls_config config = context->options->registry_tls;
	struct dpumap_credentials found;
	struct dpumap_error error = {0};
	struct dpumap_tls *tls = NULL;

	if (!config.ca && !config.cert) {
		doctor_report(finding, DOCTOR_OK, "no registry over TLS is configured");
		return;
	}
	config.is_for_etcd = true;
	if (dpumap_tls_create(&config, false, &tls, &error) != DOCA_SUCCESS) {
		doctor_fail(finding, dpumap_error_exit(error.code), "%s", error.text);
		doctor_advise(finding, "set ca, cert and key in tls of registry to valid files");
		return;
	}
	dpumap_tls_assess(tls, &found);
	report_credential(finding, found.authority.state > found.certificate.state
					   ? &found.authority
					   : &found.certificate);
	report_end(finding, "not_after", found.certificate.end);
	report_end(finding, "authority_not_after", found.authority.end);
	dpumap_tls_destroy(tls);
}

/* --- the handshake ---------------------------------------------------------------------------- */

static int wait_for(int fd, int want, uint64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = want == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};
	uint64_t now = monotonic_ns();

	if (now >= deadline)
		return 0;
	return poll(&p, 1, (int)((deadline - now) / NSEC_PER_MSEC) + 1);
}

static doca_error_t handshake(const struct check_context *context, SSL *ssl,
			      struct dpumap_error *error)
{
	unsigned int timeout_ms = doctor_connection_timeout_ms(context);
	uint64_t deadline = monotonic_ns() + timeout_ms * NSEC_PER_MSEC;
	int n, want;

	for (;;) {
		ERR_clear_error();
		n = SSL_do_handshake(ssl);
		if (n == 1)
			return DOCA_SUCCESS;
		want = SSL_get_error(ssl, n);
		if (want != SSL_ERROR_WANT_READ && want != SSL_ERROR_WANT_WRITE)
			return dpumap_tls_fault(ssl, "TLS handshake", error);
		if (wait_for(context->connection.fd - 1, want, deadline) == 0)
			return dpumap_error_set(error, DOCA_ERROR_TIME_OUT, "no reply within %u ms",
						timeout_ms);
	}
}

static void report_session(struct check_context *context, struct finding *finding, SSL *ssl)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	struct dpumap_credential credential = {0};
	struct dpumap_error error = {0};
	char text[DPUMAP_PEM_TIME_MAX];

	if (dpumap_tls_peer_name(ssl, context->connection.peer, &error) == DOCA_SUCCESS)
		doctor_fact(finding, "peer", context->connection.peer);
	doctor_fact(finding, "version", SSL_get_version(ssl));
	doctor_fact(finding, "cipher", SSL_get_cipher_name(ssl));
	if (!cert) {
		doctor_report(finding, DOCTOR_OK, "%s with a pre-shared key", SSL_get_version(ssl));
		return;
	}
	dpumap_credential_assess_dates(&credential, "dpumapd's certificate", cert,
				       "issue another for the DPU (dpumap pki renew NAME)");
	report_credential(finding, &credential);
	dpumap_pem_format_time(X509_get0_notAfter(cert), text);
	doctor_fact(finding, "peer_not_after", text);
	if (finding->state == DOCTOR_OK)
		doctor_report(finding, DOCTOR_OK,
			      "%s, dpumapd is %s, its certificate is valid until %s",
			      SSL_get_version(ssl), context->connection.peer, text);
}

static void advise_about_tls(struct finding *finding, doca_error_t result)
{
	if (result == DOCA_ERROR_UNSUPPORTED_VERSION)
		doctor_advise(finding,
			      "the server does not support TLS 1.3: check that it is dpumapd");
	else if (result == DOCA_ERROR_AUTHENTICATION)
		doctor_advise(finding,
			      "use certificates of the same CA on host and DPU, neither expired "
			      "nor revoked (link.certificate, link.crl); the DPU's must contain "
			      "the name or address connected to (dpumap pki issue --dpu NAME --san "
			      "ADDRESS), or the name of --server");
	else
		doctor_advise(finding, "check dpumapd's log (journalctl -u dpumapd)");
}

void doctor_link_tls(struct check_context *context, struct finding *finding)
{
	const struct dpumap_doctor_options *options = context->options;
	const char *server = options->server ? options->server : context->connection.address.host;
	struct connection *line = &context->connection;
	struct dpumap_error error = {0};
	doca_error_t result;
	SSL *ssl = NULL;

	if (!doctor_connection_continues(context, finding))
		return;
	if (!is_tls(context)) {
		doctor_report(finding, DOCTOR_OK, "not needed for a Unix socket");
		return;
	}
	if (options->tls_is_server) {
		doctor_connection_failed(context, "link.tls");
		doctor_report(finding, DOCTOR_UNKNOWN,
			      "cannot connect as a client with the TLS files of dpumapd");
		doctor_advise(finding, "for the remaining checks, run dpumap doctor on the host");
		return;
	}
	result = dpumap_tls_open(line->tls, line->fd - 1, server, &ssl, &error);
	if (result == DOCA_SUCCESS)
		result = handshake(context, ssl, &error);
	if (result == DOCA_SUCCESS) {
		report_session(context, finding, ssl);
	} else {
		doctor_connection_failed(context, "link.tls");
		doctor_fail(finding, dpumap_error_exit(result), "%s", error.text);
		advise_about_tls(finding, result);
	}
	SSL_free(ssl);
}

/* Only dpumapd's first reply shows whether it accepts the client. */
void doctor_link_identity(struct check_context *context, struct finding *finding)
{
	struct connection *line = &context->connection;
	const struct dpumap_error *error = &line->hello_error;
	bool refused;

	if (!doctor_connection_continues(context, finding))
		return;
	doctor_connection_hello(context);
	refused =
		!line->client && (error->code == DOCA_ERROR_AUTHENTICATION ||
				  error->code == DOCA_ERROR_NOT_PERMITTED ||
				  (is_tls(context) && error->code == DOCA_ERROR_CONNECTION_RESET));
	if (refused) {
		doctor_connection_failed(context, "link.identity");
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "dpumapd rejected this client: %s",
			    error->text);
		if (error->code == DOCA_ERROR_NOT_PERMITTED)
			doctor_advise(finding, "add this client to the allow list of an export "
					       "(dpumapd.conf(5)), or run as another user");
		else
			doctor_advise(finding,
				      "check dpumapd's log: the certificate must be a client "
				      "certificate of dpumapd's CA, neither expired nor revoked");
	} else if (is_tls(context)) {
		doctor_report(finding, DOCTOR_OK, "authenticated to dpumapd (%s)",
			      line->peer[0] ? line->peer : "no name");
	} else {
		doctor_fact_number(finding, "uid", geteuid());
		doctor_report(finding, DOCTOR_OK, "authenticated to dpumapd as uid:%u", geteuid());
	}
}

void doctor_connection_close_tls(struct check_context *context)
{
	dpumap_tls_destroy(context->connection.tls);
}
