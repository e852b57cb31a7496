/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who may talk to whom over TCP: TLS 1.3 with both sides authenticated, by certificates of one
 * authority or by a key that a DPU and its own host share. No resumption, no early data.
 *
 * A peer is known by one name, which authorization is about:
 *   cert:NAME  NAME is the one common name of the subject of its certificate
 *   psk:NAME   NAME is the key's in the key file
 *   uid:N      a Unix socket's peer (see listen.h)
 */
#ifndef DPUMAP_CHANNEL_TLS_H
#define DPUMAP_CHANNEL_TLS_H

#include <stdbool.h>

#include <openssl/ssl.h>

#include "common/fault.h"

#define DPUMAP_PEER_NAME_MAX 80 /* with the NUL */

/* PEM files; NULL for what is not given. */
struct dpumap_tls_config {
	const char *cert; /* ours, followed by those between it and the authority's */
	const char *key;  /* ours, not encrypted */
	const char *ca;	  /* authorities that peers' certificates come from */
	const char *crl;  /* what they have revoked, one list for each; NULL: nothing checked */
	/* Instead of all that: lines NAME:HEX, keys of 32 to 64 bytes, as psktool writes them. */
	const char *psk;
	const char *psk_name; /* a client's choice from it; NULL: the first */
};

struct dpumap_tls;

/*
 * Reads the files, which must be trusted ones (common/trusted.h). NOT_PERMITTED, NOT_FOUND or
 * BAD_CONFIG with the reason.
 */
doca_error_t dpumap_tls_create(const struct dpumap_tls_config *config, bool is_server,
			       struct dpumap_tls **tls, struct dpumap_fault *fault);
/* Connections keep what they need. NULL is allowed. */
void dpumap_tls_destroy(struct dpumap_tls *tls);

/*
 * A session on a connected non-blocking socket, which stays the caller's. A client names the server
 * that it expects: a DNS name or an address of its certificate; with a shared key it is ignored.
 */
doca_error_t dpumap_tls_open(struct dpumap_tls *tls, int fd, const char *server, SSL **ssl,
			     struct dpumap_fault *fault);
/* After the handshake. AUTHENTICATION if the certificate names nobody. */
doca_error_t dpumap_tls_peer_name(SSL *ssl, char name[static DPUMAP_PEER_NAME_MAX],
				  struct dpumap_fault *fault);
/* Would tls still accept this session's certificate? For sessions older than a revocation. */
doca_error_t dpumap_tls_check_again(const struct dpumap_tls *tls, SSL *ssl,
				    struct dpumap_fault *fault);
/* What the failed call on ssl failed of. */
doca_error_t dpumap_tls_fault(SSL *ssl, const char *what, struct dpumap_fault *fault);

#endif
