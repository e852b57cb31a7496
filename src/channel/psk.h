/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pre-shared keys for OpenSSL. */
#ifndef DPUMAP_CHANNEL_PSK_H
#define DPUMAP_CHANNEL_PSK_H

#include <stdbool.h>

#include <openssl/types.h>

#include "local/error.h"

#define DPUMAP_PSK_NAME_MAX 64 /* with the NUL */

/* Reads the key file for sessions of ctx, which wipes the keys when it is freed. */
doca_error_t dpumap_psk_use(SSL_CTX *ctx, const char *path, const char *name, bool is_server,
			    struct dpumap_error *error);
/* For one session with this key, which both sides got on another way; wiped as above. */
doca_error_t dpumap_psk_use_key(SSL_CTX *ctx, const unsigned char *key, size_t len, bool is_server,
				struct dpumap_error *error);
/* Did the client of this server name a key that the file does not contain? Its handshake fails. */
bool dpumap_psk_is_unknown(SSL *ssl);
/* The name of the session's key; NULL if it uses certificates. */
const char *dpumap_psk_name(SSL *ssl);
/* Does ctx have the session's key, under the same name? */
bool dpumap_psk_is_known(const SSL_CTX *ctx, SSL *ssl);

#endif
