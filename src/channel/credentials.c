/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/credentials.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/array.h"
#include "common/pem.h"

#define WARN_DAYS     30
#define WARN_DAYS_CRL 7
#define WHAT_MAX      112
#define CLOCK	      "check the clock of this machine (date -u)"

__attribute__((format(printf, 4, 5))) static void set(struct dpumap_credential *c,
						      enum dpumap_credential_state state,
						      const char *advice, const char *fmt, ...)
{
	va_list args;

	c->state = state;
	snprintf(c->advice, sizeof(c->advice), "%s", advice);
	va_start(args, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, args);
	va_end(args);
}

/* Keeps the more serious sentence; of equal ones, that of the credential which ends first. */
static void keep_worse(struct dpumap_credential *kept, const struct dpumap_credential *c)
{
	if (c->state > kept->state || (c->state == kept->state && c->end && kept->end &&
				       ASN1_TIME_compare(c->end, kept->end) < 0))
		*kept = *c;
}

/* --- dates ------------------------------------------------------------------------------------ */

static int days_until(const ASN1_TIME *time)
{
	int days = 0, seconds = 0;

	return ASN1_TIME_diff(&days, &seconds, NULL, time) ? days : 0;
}

static void assess_times(struct dpumap_credential *c, const char *what, const ASN1_TIME *from,
			 const ASN1_TIME *to, int warn_days, const char *advice)
{
	char text[DPUMAP_PEM_TIME_MAX];

	c->end = to;
	dpumap_pem_format_time(from && X509_cmp_current_time(from) > 0 ? from : to, text);
	if (from && X509_cmp_current_time(from) > 0)
		set(c, DPUMAP_CREDENTIAL_USELESS, CLOCK, "%s is not valid before %s", what, text);
	else if (!to)
		set(c, DPUMAP_CREDENTIAL_GOOD, "", "%s does not expire", what);
	else if (X509_cmp_current_time(to) < 0)
		set(c, DPUMAP_CREDENTIAL_USELESS, advice, "%s expired on %s", what, text);
	else if (days_until(to) < warn_days)
		set(c, DPUMAP_CREDENTIAL_WARN, advice, "%s expires in %d days, on %s", what,
		    days_until(to), text);
	else
		set(c, DPUMAP_CREDENTIAL_GOOD, "", "%s is valid until %s", what, text);
}

void dpumap_credential_assess_dates(struct dpumap_credential *credential, const char *what,
				    const X509 *cert, const char *advice)
{
	assess_times(credential, what, X509_get0_notBefore(cert), X509_get0_notAfter(cert),
		     WARN_DAYS, advice);
}

/* "the certificate of dpu1" */
static const char *name_cert(const char *kind, X509 *cert, char what[static WHAT_MAX])
{
	char name[65] = "an unknown name";

	X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
	snprintf(what, WHAT_MAX, "%s %s", kind, name);
	return what;
}

/* --- the own certificate ---------------------------------------------------------------------- */

static bool is_issued_by_any(X509_STORE *store, X509 *cert)
{
	X509_STORE_CTX *lookup = X509_STORE_CTX_new();
	X509 *issuer = NULL;
	bool found = lookup && X509_STORE_CTX_init(lookup, store, cert, NULL) &&
		     X509_STORE_CTX_get1_issuer(&issuer, lookup, cert) > 0;

	X509_free(issuer);
	X509_STORE_CTX_free(lookup);
	return found;
}

static bool is_revoked(X509_STORE *store, X509 *cert)
{
	const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(store);
	X509_REVOKED *entry;

	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509_CRL *crl = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, i));

		if (crl &&
		    X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_get_issuer_name(cert)) == 0 &&
		    X509_CRL_get0_by_cert(crl, &entry, cert) == 1)
			return true;
	}
	return false;
}

static bool has_alt_name(X509 *cert)
{
	return X509_get_ext_by_NID(cert, NID_subject_alt_name, -1) >= 0;
}

static const struct {
	int purpose;
	const char *name, *peer, *issue;
} users[] = {
	[DPUMAP_CREDENTIAL_USER_HOST] = {X509_PURPOSE_SSL_CLIENT, "host", "dpumapd",
					 "issue one with dpumap pki issue --host NAME"},
	[DPUMAP_CREDENTIAL_USER_DPU] = {X509_PURPOSE_SSL_SERVER, "DPU", "client",
					"issue one with dpumap pki issue --dpu NAME --san ADDRESS"},
	[DPUMAP_CREDENTIAL_USER_ETCD_CLIENT] = {X509_PURPOSE_SSL_CLIENT, "client of etcd",
						"member of etcd",
						"issue one with dpumap pki issue --host NAME"},
};

/* What peers check besides dates. */
static void assess_use(struct dpumap_credential *c, SSL_CTX *ctx, X509 *cert,
		       enum dpumap_credential_user user, const char *what)
{
	const char *issue = users[user].issue;
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	char name[DPUMAP_PEER_NAME_MAX];
	struct dpumap_error ignored = {0};

	if (X509_check_purpose(cert, users[user].purpose, 0) != 1)
		set(c, DPUMAP_CREDENTIAL_USELESS, issue,
		    "%s is not for a %s, and every %s rejects it", what, users[user].name,
		    users[user].peer);
	else if (user == DPUMAP_CREDENTIAL_USER_ETCD_CLIENT)
		return;
	else if (dpumap_peer_name_of_cert(cert, name, &ignored) != DOCA_SUCCESS)
		set(c, DPUMAP_CREDENTIAL_USELESS, issue,
		    "%s must have exactly one common name, which is printable", what);
	else if (user == DPUMAP_CREDENTIAL_USER_DPU && !has_alt_name(cert))
		set(c, DPUMAP_CREDENTIAL_USELESS, issue,
		    "%s contains no DNS name or address, and every client rejects it", what);
	else if (is_revoked(store, cert))
		set(c, DPUMAP_CREDENTIAL_WARN, issue,
		    "%s is revoked, and peers with this revocation list reject it", what);
	else if (!is_issued_by_any(store, cert))
		set(c, DPUMAP_CREDENTIAL_WARN,
		    "use certificates of one CA for host and DPU, and its ca.crt",
		    "%s was not issued by the configured CA, and peers of that CA reject it", what);
}

static void assess_own(SSL_CTX *ctx, enum dpumap_credential_user user,
		       struct dpumap_credentials *credentials)
{
	X509 *cert = SSL_CTX_get0_certificate(ctx);
	STACK_OF(X509) *chain = NULL;
	struct dpumap_credential *c = &credentials->certificate;
	struct dpumap_error ignored = {0};
	char what[WHAT_MAX], advice[160];

	if (!cert)
		return;
	dpumap_peer_name_of_cert(cert, credentials->name, &ignored);
	snprintf(advice, sizeof(advice), "issue another (dpumap pki renew %s)",
		 credentials->name[0] ? credentials->name + strlen("cert:") : "NAME");
	dpumap_credential_assess_dates(c, name_cert("the certificate of", cert, what), cert,
				       advice);
	if (c->state != DPUMAP_CREDENTIAL_USELESS)
		assess_use(c, ctx, cert, user, what);
	SSL_CTX_get0_chain_certs(ctx, &chain);
	for (int i = 0; i < sk_X509_num(chain); i++) {
		struct dpumap_credential link = {0};

		dpumap_credential_assess_dates(
			&link,
			name_cert("the intermediate certificate", sk_X509_value(chain, i), what),
			sk_X509_value(chain, i), "issue another");
		keep_worse(c, &link);
	}
}

/* --- authorities, and their lists ------------------------------------------------------------- */

/*
 * The chain of a CA certificate, without revocation lists: these are assessed apart. libcurl trusts each certificate of
 * its file, so the chain ends there.
 */
static int verify_chain(SSL_CTX *ctx, bool ends_anywhere, X509 *ca, X509 **culprit)
{
	X509_STORE_CTX *verify = X509_STORE_CTX_new();
	int error = X509_V_ERR_OUT_OF_MEM;

	if (verify && X509_STORE_CTX_init(verify, SSL_CTX_get_cert_store(ctx), ca, NULL)) {
		X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(verify);

		X509_VERIFY_PARAM_clear_flags(param,
					      X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
		if (ends_anywhere)
			X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
		X509_VERIFY_PARAM_set_auth_level(param, SSL_CTX_get_security_level(ctx));
		if (X509_verify_cert(verify) == 1)
			error = X509_V_OK;
		else
			error = X509_STORE_CTX_get_error(verify);
		*culprit = X509_STORE_CTX_get_current_cert(verify);
		if (!*culprit || !X509_up_ref(*culprit))
			*culprit = NULL;
	}
	X509_STORE_CTX_free(verify);
	ERR_clear_error();
	return error;
}

static void assess_authority(struct dpumap_credential *c, SSL_CTX *ctx,
			     enum dpumap_credential_user user, X509 *ca)
{
	static const char advice[] =
		"create another CA with dpumap pki init, and issue new certificates";
	X509 *culprit = NULL;
	char what[WHAT_MAX];
	bool is_of_etcd = user == DPUMAP_CREDENTIAL_USER_ETCD_CLIENT;
	int error = verify_chain(ctx, is_of_etcd, ca, &culprit);

	dpumap_credential_assess_dates(
		c, name_cert("the CA certificate", culprit && error ? culprit : ca, what),
		culprit && error ? culprit : ca, advice);
	if (c->state != DPUMAP_CREDENTIAL_USELESS && error)
		set(c, DPUMAP_CREDENTIAL_USELESS, "set ca to the certificates of the CA",
		    "%s cannot be used: %s", what, X509_verify_cert_error_string(error));
	else if (!error && !is_of_etcd && !X509_check_ca(ca) && X509_self_signed(ca, 0) != 1)
		set(c, DPUMAP_CREDENTIAL_USELESS, "set ca to the certificate of the CA (ca.crt)",
		    "%s is not the certificate of a CA", what);
	c->end = X509_get0_notAfter(ca);
	X509_free(culprit);
}

/* The best of the lists of one CA: any of them will do. */
static void assess_list(struct dpumap_credential *c, SSL_CTX *ctx, X509 *ca)
{
	static const char advice[] = "renew it (dpumap pki renew) and copy it to all peers";
	const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	char what[WHAT_MAX];
	bool found = false;

	set(c, DPUMAP_CREDENTIAL_USELESS, "set crl to the list of each CA (ca.crl)",
	    "%s has no revocation list in crl, and its certificates are rejected",
	    name_cert("the CA", ca, what));
	name_cert("the revocation list of", ca, what);
	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509_CRL *crl = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(all, i));
		struct dpumap_credential one = {0};

		if (!crl || X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_get_subject_name(ca)) != 0)
			continue;
		assess_times(&one, what, X509_CRL_get0_lastUpdate(crl),
			     X509_CRL_get0_nextUpdate(crl), WARN_DAYS_CRL, advice);
		if (X509_CRL_verify(crl, X509_get0_pubkey(ca)) != 1)
			set(&one, DPUMAP_CREDENTIAL_USELESS, advice, "%s is not signed by this CA",
			    what);
		if (!found || one.state < c->state)
			*c = one;
		found = true;
	}
	ERR_clear_error();
}

/*
 * Adds one of several. The end of all is that of the first one to expire of those that work, or of those that do not
 * if none does.
 */
static void combine(struct dpumap_credential *all, const struct dpumap_credential *one,
		    bool *some_work)
{
	bool works = one->state != DPUMAP_CREDENTIAL_USELESS;
	const ASN1_TIME *end = all->end;

	if (!end || (works && !*some_work) ||
	    (works == *some_work && one->end && ASN1_TIME_compare(one->end, end) < 0))
		end = one->end;
	*some_work |= works;
	keep_worse(all, one);
	all->end = end;
}

/* What is useless rejects only its own peers. */
static void limit_severity(struct dpumap_credential *all, bool some_work)
{
	if (all->state == DPUMAP_CREDENTIAL_USELESS && some_work)
		all->state = DPUMAP_CREDENTIAL_WARN;
}

static void assess_authorities(SSL_CTX *ctx, enum dpumap_credential_user user,
			       struct dpumap_credentials *credentials)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(store);
	bool checks_lists =
		X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store)) & X509_V_FLAG_CRL_CHECK;
	bool some_authority_works = false, some_list_works = false;

	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509 *ca = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
		struct dpumap_credential authority = {0}, list = {0};

		if (!ca)
			continue;
		assess_authority(&authority, ctx, user, ca);
		if (checks_lists && authority.state != DPUMAP_CREDENTIAL_USELESS) {
			assess_list(&list, ctx, ca);
			combine(&credentials->list, &list, &some_list_works);
		}
		combine(&credentials->authority, &authority, &some_authority_works);
	}
	limit_severity(&credentials->authority, some_authority_works);
	limit_severity(&credentials->list, some_list_works);
}

void dpumap_credentials_assess(SSL_CTX *ctx, enum dpumap_credential_user user,
			       struct dpumap_credentials *credentials)
{
	*credentials = (struct dpumap_credentials){0};
	assess_own(ctx, user, credentials);
	assess_authorities(ctx, user, credentials);
}

const struct dpumap_credential *
dpumap_credentials_useless(const struct dpumap_credentials *credentials)
{
	const struct dpumap_credential *const all[] = {&credentials->certificate,
						       &credentials->authority, &credentials->list};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->state == DPUMAP_CREDENTIAL_USELESS)
			return all[i];
	return NULL;
}
