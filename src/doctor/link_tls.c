/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Certificates and who is who. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "common/clock.h"
#include "common/trusted.h"
#include "doctor/group_link.h"
#include "doctor/patient.h"

#define WARN_DAYS     30
#define WARN_DAYS_CRL 7
#define TIME_TEXT     64

static bool is_tls(const struct patient *patient)
{
	return patient->line.address.kind == DPUMAP_ADDRESS_TLS;
}

/* Of a server the files are looked at wherever it is reached. */
static bool uses_files(const struct patient *patient, struct finding *finding)
{
	if (patient->options->tls_is_server)
		return true;
	if (!doctor_line_goes_on(patient, finding))
		return false;
	if (!is_tls(patient))
		doctor_say(finding, DOCTOR_OK, "a Unix socket needs none");
	return is_tls(patient);
}

static bool uses_certificates(const struct patient *patient, struct finding *finding)
{
	if (!uses_files(patient, finding))
		return false;
	if (patient->options->tls.psk)
		doctor_say(finding, DOCTOR_OK, "a shared key needs none");
	return !patient->options->tls.psk;
}

void doctor_link_files(struct patient *patient, struct finding *finding)
{
	const struct dpumap_doctor_options *options = patient->options;
	struct dpumap_fault fault = {0};
	doca_error_t result;

	if (!uses_files(patient, finding))
		return;
	result = dpumap_tls_create(&options->tls, options->tls_is_server, &patient->line.tls,
				   &fault);
	if (result == DOCA_SUCCESS) {
		doctor_say(finding, DOCTOR_OK,
			   options->tls.psk ? "the shared key can be used"
					    : "certificate, key and authority fit");
		return;
	}
	if (!options->tls_is_server)
		doctor_line_ends(patient, "link.files");
	doctor_fail(finding, dpumap_fault_exit(result), "%s", fault.text);
	if (result == DOCA_ERROR_NOT_PERMITTED)
		doctor_advise(finding, "chmod 600 the key, and let its owner be the user who runs "
				       "this, or root; nobody else may write to its directories");
	else
		doctor_advise(finding, "--cert, --key and --ca, or tls in the configuration, name "
				       "files that dpumap pki issue makes");
}

/* -- dates -- */

static void format_time(const ASN1_TIME *time, char text[static TIME_TEXT])
{
	struct tm tm;

	if (!time || ASN1_TIME_to_tm(time, &tm) != 1 ||
	    strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(text, TIME_TEXT, "an unreadable date");
}

/* Days until then, below 0 when it is past. */
static int days_until(const ASN1_TIME *time)
{
	int days = 0, seconds = 0;

	if (!ASN1_TIME_diff(&days, &seconds, NULL, time))
		return 0;
	return seconds < 0 ? days - 1 : days;
}

static BIO *open_pem(const char *path, struct dpumap_fault *fault)
{
	BIO *bio;
	int fd;

	if (dpumap_trusted_open(path, false, &fd, fault) != DOCA_SUCCESS)
		return NULL;
	bio = BIO_new_fd(fd, BIO_CLOSE);
	if (!bio)
		close(fd);
	return bio;
}

static X509 *read_cert(const char *path)
{
	struct dpumap_fault fault = {0};
	BIO *bio = path ? open_pem(path, &fault) : NULL;
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	BIO_free(bio);
	return cert;
}

static X509_CRL *read_crl(const char *path)
{
	struct dpumap_fault fault = {0};
	BIO *bio = path ? open_pem(path, &fault) : NULL;
	X509_CRL *crl = bio ? PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL) : NULL;

	BIO_free(bio);
	return crl;
}

static void read_name(X509 *cert, char *name, int size)
{
	if (X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, size) < 0)
		snprintf(name, (size_t)size, "nobody");
}

/* Is it good now? What the dates of a certificate come to. */
static void judge_dates(struct finding *finding, const char *what, const ASN1_TIME *from,
			const ASN1_TIME *to, const char *advice)
{
	char text[TIME_TEXT];

	if (from && X509_cmp_current_time(from) > 0) {
		format_time(from, text);
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "%s begins only on %s", what, text);
		doctor_advise(finding, "is the clock of this machine right (date -u)?");
		return;
	}
	format_time(to, text);
	if (X509_cmp_current_time(to) < 0) {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "%s expired on %s", what, text);
		doctor_advise(finding, "%s; if it should not have, is the clock right (date -u)?",
			      advice);
	} else if (days_until(to) < WARN_DAYS) {
		doctor_say(finding, DOCTOR_WARN, "%s expires in %d days, on %s", what,
			   days_until(to), text);
		doctor_advise(finding, "%s", advice);
	} else {
		doctor_say(finding, DOCTOR_OK, "%s is good until %s", what, text);
	}
}

void doctor_link_certificate(struct patient *patient, struct finding *finding)
{
	const struct dpumap_tls_config *tls = &patient->options->tls;
	char name[DPUMAP_PEER_NAME_MAX], what[DPUMAP_PEER_NAME_MAX + 32], text[TIME_TEXT];
	X509 *cert, *ca;

	if (!uses_certificates(patient, finding))
		return;
	cert = read_cert(tls->cert);
	ca = read_cert(tls->ca);
	if (!cert || !ca) {
		doctor_follows(finding, "link.files");
	} else {
		read_name(cert, name, sizeof(name));
		snprintf(what, sizeof(what), "the certificate of %s", name);
		judge_dates(finding, what, X509_get0_notBefore(cert), X509_get0_notAfter(cert),
			    "dpumap pki revoke and issue make another");
		doctor_fact(finding, "name", name);
		format_time(X509_get0_notAfter(cert), text);
		doctor_fact(finding, "not_after", text);
		format_time(X509_get0_notAfter(ca), text);
		doctor_fact(finding, "authority_not_after", text);
		if (finding->state == DOCTOR_OK && days_until(X509_get0_notAfter(ca)) < WARN_DAYS)
			judge_dates(finding, "the authority", X509_get0_notBefore(ca),
				    X509_get0_notAfter(ca),
				    "make another with dpumap pki init, and issue from it");
	}
	X509_free(cert);
	X509_free(ca);
}

void doctor_link_crl(struct patient *patient, struct finding *finding)
{
	const char *path = patient->options->tls.crl;
	const ASN1_TIME *next;
	char text[TIME_TEXT];
	X509_CRL *crl;

	if (!uses_certificates(patient, finding))
		return;
	if (!path) {
		doctor_say(finding, DOCTOR_WARN,
			   "there is none: a revoked certificate is believed");
		doctor_advise(finding, "--crl, or crl in the configuration, with the authority's "
				       "ca.crl");
		return;
	}
	crl = read_crl(path);
	next = crl ? X509_CRL_get0_nextUpdate(crl) : NULL;
	if (!crl) {
		doctor_follows(finding, "link.files");
	} else if (!next) {
		doctor_say(finding, DOCTOR_OK, "the revocation list has no end");
	} else {
		judge_dates(finding, "the revocation list", X509_CRL_get0_lastUpdate(crl), next,
			    "dpumap pki renew makes it anew: give it to all who have the old one");
		format_time(next, text);
		doctor_fact(finding, "next_update", text);
		if (finding->state == DOCTOR_WARN && days_until(next) >= WARN_DAYS_CRL) {
			finding->state = DOCTOR_OK;
			finding->advice[0] = '\0';
		}
	}
	X509_CRL_free(crl);
}

/* -- the handshake -- */

static int wait_for(int fd, int want, uint64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = want == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};
	uint64_t now = dpumap_clock_ns();

	if (now >= deadline)
		return 0;
	return poll(&p, 1, (int)((deadline - now) / DPUMAP_NSEC_PER_MSEC) + 1);
}

static doca_error_t shake_hands(const struct patient *patient, SSL *ssl, struct dpumap_fault *fault)
{
	unsigned int timeout_ms = doctor_line_timeout_ms(patient);
	uint64_t deadline = dpumap_clock_ns() + timeout_ms * DPUMAP_NSEC_PER_MSEC;
	int n, want;

	for (;;) {
		ERR_clear_error();
		n = SSL_do_handshake(ssl);
		if (n == 1)
			return DOCA_SUCCESS;
		want = SSL_get_error(ssl, n);
		if (want != SSL_ERROR_WANT_READ && want != SSL_ERROR_WANT_WRITE)
			return dpumap_tls_fault(ssl, "the handshake", fault);
		if (wait_for(patient->line.fd - 1, want, deadline) == 0)
			return dpumap_fault_set(fault, DOCA_ERROR_TIME_OUT,
						"no answer within %u ms", timeout_ms);
	}
}

static void tell_session(struct patient *patient, struct finding *finding, SSL *ssl)
{
	X509 *cert = SSL_get0_peer_certificate(ssl);
	struct dpumap_fault fault = {0};
	char text[TIME_TEXT];

	if (dpumap_tls_peer_name(ssl, patient->line.peer, &fault) == DOCA_SUCCESS)
		doctor_fact(finding, "peer", patient->line.peer);
	doctor_fact(finding, "version", SSL_get_version(ssl));
	doctor_fact(finding, "cipher", SSL_get_cipher_name(ssl));
	if (!cert) {
		doctor_say(finding, DOCTOR_OK, "%s with a shared key", SSL_get_version(ssl));
		return;
	}
	judge_dates(finding, "dpumapd's certificate", X509_get0_notBefore(cert),
		    X509_get0_notAfter(cert),
		    "dpumap pki revoke and issue make another for the DPU");
	format_time(X509_get0_notAfter(cert), text);
	doctor_fact(finding, "peer_not_after", text);
	if (finding->state == DOCTOR_OK)
		doctor_say(finding, DOCTOR_OK, "%s, dpumapd is %s, its certificate good until %s",
			   SSL_get_version(ssl), patient->line.peer, text);
}

static void advise_about_tls(struct finding *finding, doca_error_t result)
{
	if (result == DOCA_ERROR_UNSUPPORTED_VERSION)
		doctor_advise(finding, "what listens there speaks no TLS 1.3: is it dpumapd?");
	else if (result == DOCA_ERROR_AUTHENTICATION)
		doctor_advise(finding,
			      "both sides need certificates of one authority, DPU's with "
			      "the name or address connected to (dpumap pki issue --dpu "
			      "NAME --san ADDRESS; --server says another), none expired or "
			      "revoked (link.certificate, link.crl)");
	else
		doctor_advise(finding, "dpumapd's log says why (journalctl -u dpumapd)");
}

void doctor_link_tls(struct patient *patient, struct finding *finding)
{
	const struct dpumap_doctor_options *options = patient->options;
	const char *server = options->server ? options->server : patient->line.address.host;
	struct line *line = &patient->line;
	struct dpumap_fault fault = {0};
	doca_error_t result;
	SSL *ssl = NULL;

	if (!doctor_line_goes_on(patient, finding))
		return;
	if (!is_tls(patient)) {
		doctor_say(finding, DOCTOR_OK, "a Unix socket needs none");
		return;
	}
	if (options->tls_is_server) {
		doctor_line_ends(patient, "link.tls");
		doctor_say(finding, DOCTOR_UNKNOWN, "dpumapd's files make no client of us");
		doctor_advise(finding, "run dpumap doctor on the host for the rest");
		return;
	}
	result = dpumap_tls_open(line->tls, line->fd - 1, server, &ssl, &fault);
	if (result == DOCA_SUCCESS)
		result = shake_hands(patient, ssl, &fault);
	if (result == DOCA_SUCCESS) {
		tell_session(patient, finding, ssl);
	} else {
		doctor_line_ends(patient, "link.tls");
		doctor_fail(finding, dpumap_fault_exit(result), "%s", fault.text);
		advise_about_tls(finding, result);
	}
	SSL_free(ssl);
}

/* Only its first answer tells whether dpumapd believes us. */
void doctor_link_identity(struct patient *patient, struct finding *finding)
{
	struct line *line = &patient->line;
	const struct dpumap_fault *fault = &line->greeting;
	bool refused;

	if (!doctor_line_goes_on(patient, finding))
		return;
	doctor_line_greet(patient);
	refused =
		!line->client && (fault->code == DOCA_ERROR_AUTHENTICATION ||
				  fault->code == DOCA_ERROR_NOT_PERMITTED ||
				  (is_tls(patient) && fault->code == DOCA_ERROR_CONNECTION_RESET));
	if (refused) {
		doctor_line_ends(patient, "link.identity");
		doctor_fail(finding, DPUMAP_EXIT_REFUSED, "dpumapd does not let us in: %s",
			    fault->text);
		if (fault->code == DOCA_ERROR_NOT_PERMITTED)
			doctor_advise(finding, "let an export allow us (allow in "
					       "dpumapd.conf(5)), or be another user");
		else
			doctor_advise(finding,
				      "its log says why: our certificate has to be of its "
				      "authority, for a client, neither expired nor revoked");
	} else if (is_tls(patient)) {
		doctor_say(finding, DOCTOR_OK, "dpumapd (%s) believes who we are",
			   line->peer[0] ? line->peer : "without a name");
	} else {
		doctor_fact_number(finding, "uid", geteuid());
		doctor_say(finding, DOCTOR_OK, "to dpumapd we are uid:%u", geteuid());
	}
}

void doctor_line_end_tls(struct patient *patient)
{
	dpumap_tls_destroy(patient->line.tls);
}
