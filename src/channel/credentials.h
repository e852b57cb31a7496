/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What certificates and revocation lists are worth at present. Start, --check, reload, metrics and doctor share this
 * assessment.
 */
#ifndef DPUMAP_CHANNEL_CREDENTIALS_H
#define DPUMAP_CHANNEL_CREDENTIALS_H

#include <stdbool.h>
#include <time.h>

#include <openssl/types.h>

#include "channel/peer_name.h"

enum dpumap_credential_state {
	DPUMAP_CREDENTIAL_NONE, /* not configured */
	DPUMAP_CREDENTIAL_GOOD,
	DPUMAP_CREDENTIAL_WARN,	   /* expires soon, or some peers are rejected */
	DPUMAP_CREDENTIAL_USELESS, /* no handshake can succeed */
};

struct dpumap_credential {
	enum dpumap_credential_state state;
	const ASN1_TIME *end; /* borrowed from the context; NULL: none */
	char text[240];	      /* a sentence about the state */
	char advice[160];     /* what to do, unless it is good */
};

/* Who uses them, to authenticate to whom. */
enum dpumap_credential_user {
	DPUMAP_CREDENTIAL_USER_HOST,
	DPUMAP_CREDENTIAL_USER_DPU,
	DPUMAP_CREDENTIAL_USER_ETCD_CLIENT, /* whose certificate may be of another CA than that of etcd */
};

struct dpumap_credentials {
	char name[DPUMAP_PEER_NAME_MAX]; /* "cert:NAME" of the own certificate */
	struct dpumap_credential certificate;
	struct dpumap_credential authority; /* the first one to expire of those that can be used */
	struct dpumap_credential list;	    /* the same */
};

/* Judges what a context for certificates has loaded. It must not change meanwhile. */
void dpumap_credentials_assess(SSL_CTX *ctx, enum dpumap_credential_user user,
			       struct dpumap_credentials *credentials);
/* The first sentence about one that makes every handshake fail; NULL: none. */
const struct dpumap_credential *
dpumap_credentials_useless(const struct dpumap_credentials *credentials);

/* Judges only the dates of a certificate. what is its name in sentences. */
void dpumap_credential_assess_dates(struct dpumap_credential *credential, const char *what,
				    const X509 *cert, const char *advice);

#endif
