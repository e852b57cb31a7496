/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Certificates and revocation lists that reject clients: said at start, refused by a reload. */
#ifndef DPUMAPD_CREDENTIALS_H
#define DPUMAPD_CREDENTIALS_H

#include "channel/tls.h"

/* Logs a warning about each that rejects peers, or will soon. NULL is allowed. */
void credentials_warn(const struct dpumap_tls *tls);
/*
 * BAD_CONFIG if no client could connect with next. If none can connect at present either, next changes nothing for
 * the worse, and is accepted.
 */
doca_error_t credentials_check_reload(const struct dpumap_tls *now, const struct dpumap_tls *next,
				      struct dpumap_fault *fault);

#endif
