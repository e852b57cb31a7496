/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Certificates and revocation lists that reject peers: said at start and while dpumapd runs, refused by a reload. Those
 * for etcd are assessed as those for clients are.
 */
#ifndef DPUMAPD_CREDENTIALS_H
#define DPUMAPD_CREDENTIALS_H

#include "channel/tls.h"

/* NULL: none. */
struct credentials {
	const struct dpumap_tls *own;	   /* for clients */
	const struct dpumap_tls *registry; /* for etcd */
};

#define CREDENTIALS_MAX 6

/* What the log has said of them. All zero at the beginning. */
struct credentials_warned {
	enum dpumap_credential_state states[CREDENTIALS_MAX];
	uint64_t next; /* when they are assessed again */
};

/* Logs a warning about each that rejects peers, or will soon. warned may be NULL. */
void credentials_warn(const struct credentials *credentials, struct credentials_warned *warned);
/* Logs a warning about each that has become worse. To be called often: it assesses once a minute. */
void credentials_follow(const struct credentials *credentials, struct credentials_warned *warned);
/*
 * BAD_CONFIG if no client could connect with next, or etcd would reject it. What rejects all peers at present too
 * changes nothing for the worse, and is accepted.
 */
doca_error_t credentials_check_reload(const struct credentials *now, const struct credentials *next,
				      struct dpumap_error *error);
/* The worst sentence, and what to do; "": all are good. */
void credentials_describe(const struct dpumap_tls *tls, char *text, size_t size);

#endif
