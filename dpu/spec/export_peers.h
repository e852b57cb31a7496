/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The peers that may import an export. Exports with the same peers share one list. */
#ifndef DPUMAPD_EXPORT_PEERS_H
#define DPUMAPD_EXPORT_PEERS_H

#include <stdbool.h>

#include "local/error.h"

/* NULL: none. */
struct export_peers;

/* Adds a peer to the caller's list: replaces it if others have it too. NO_MEMORY. */
doca_error_t export_peers_add(struct export_peers **peers, const char *peer,
			      struct dpumap_error *error);
/* Another owner of the list. Any thread may call this and export_peers_free(). */
struct export_peers *export_peers_share(struct export_peers *peers);
void export_peers_free(struct export_peers *peers);

/* The peer after this one; NULL begins, and is returned at the end. */
const char *export_peers_next(const struct export_peers *peers, const char *peer);
bool export_peers_have(const struct export_peers *peers, const char *peer);
bool export_peers_are_equal(const struct export_peers *a, const struct export_peers *b);

#endif
