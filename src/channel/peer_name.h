/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The identity of a TLS peer, as tls.h describes it. */
#ifndef DPUMAP_CHANNEL_PEER_NAME_H
#define DPUMAP_CHANNEL_PEER_NAME_H

#include <stddef.h>

#include <openssl/types.h>

#include "local/error.h"

#define DPUMAP_PEER_NAME_MAX 80 /* with the NUL */

/* kind and text; AUTHENTICATION if that is not a valid name. */
doca_error_t dpumap_peer_name_set(const char *kind, const char *text, size_t len,
				  char name[static DPUMAP_PEER_NAME_MAX],
				  struct dpumap_error *error);
doca_error_t dpumap_peer_name_of_cert(X509 *cert, char name[static DPUMAP_PEER_NAME_MAX],
				      struct dpumap_error *error);

#endif
