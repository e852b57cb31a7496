/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * TLS 1.3 with both peers authenticated, by certificates of one CA or by a pre-shared key. No
 * resumption, no early data.
 *
 * A peer has one identity, which authorization uses:
 *   cert:NAME  NAME is the only common name of the subject of its certificate
 *   psk:NAME   NAME is that of the key in the key file
 *   uid:N      the user of a Unix socket's peer (listener.h)
 */
#ifndef DPUMAP_CHANNEL_TLS_H
#define DPUMAP_CHANNEL_TLS_H

#include <stdbool.h>

#include <openssl/types.h>

#include "channel/credentials.h"
#include "local/error.h"

/* PEM files; NULL for what is not given. */
struct dpumap_tls_config {
	const char *cert; /* certificate, followed by intermediate ones */
	const char *key;  /* private key of cert, not encrypted */
	const char *ca;	  /* CA certificates that peers' certificates must chain to */
	const char *crl;  /* revocation lists, one for each CA; NULL: not checked */
	/*
	 * In place of certificates: lines NAME:HEX with keys of 32 to 64 bytes, as psktool writes
	 * them.
	 */
	const char *psk;
	const char *psk_name; /* the key that a client uses; NULL: the first */
	/* Judge the files of a client of etcd: cert with key, or ca, may be missing. */
	bool is_for_etcd;
};

struct dpumap_tls;

/*
 * Reads the files, which must be trusted (local/trusted.h). NOT_PERMITTED, NOT_FOUND or BAD_CONFIG
 * with the reason.
 */
doca_error_t dpumap_tls_create(const struct dpumap_tls_config *config, bool is_server,
			       struct dpumap_tls **tls, struct dpumap_error *error);
/* For one session with a pre-shared key of len bytes (32 to 64), in memory. */
doca_error_t dpumap_tls_create_with_key(const unsigned char *key, size_t len, bool is_server,
					struct dpumap_tls **tls, struct dpumap_error *error);
/* Existing sessions stay valid. NULL is allowed. */
void dpumap_tls_destroy(struct dpumap_tls *tls);

/* All are NONE with a pre-shared key, or if tls is NULL. */
void dpumap_tls_assess(const struct dpumap_tls *tls, struct dpumap_credentials *credentials);

/*
 * Creates a session on a connected non-blocking socket, which the caller keeps. server is the name
 * that a client expects in the certificate: a DNS name or an address; ignored with a pre-shared
 * key.
 */
doca_error_t dpumap_tls_open(struct dpumap_tls *tls, int fd, const char *server, SSL **ssl,
			     struct dpumap_error *error);
/* To be called after the handshake. AUTHENTICATION if the certificate has no valid name. */
doca_error_t dpumap_tls_peer_name(SSL *ssl, char name[static DPUMAP_PEER_NAME_MAX],
				  struct dpumap_error *error);
/*
 * Verifies again the certificate or the pre-shared key of a session that may be older than tls.
 * AUTHENTICATION if tls would not accept it.
 */
doca_error_t dpumap_tls_check_again(const struct dpumap_tls *tls, SSL *ssl,
				    struct dpumap_error *error);
/* The cause of the failed call on ssl. */
doca_error_t dpumap_tls_fault(SSL *ssl, const char *what, struct dpumap_error *error);

#endif
