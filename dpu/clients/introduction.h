/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Introducing clients of other machines to servers of doca_comch on this one.
 *
 * dpumapd authorizes the client, connects to the server's Unix socket, and gives both a fresh key.
 * Then the client and dpumapd end their TLS session, and dpumapd passes the open TCP connection to the
 * server. It keeps its own connection to the server, over which it withdraws the client's right when a
 * reload revokes it. The connection of client and server does not end with dpumapd.
 */
#ifndef DPUMAPD_INTRODUCTION_H
#define DPUMAPD_INTRODUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "local/comch_place.h"

/* --- which clients may reach which servers ---------------------------------------------------- */

struct introduction_rule {
	char *server; /* a pattern of fnmatch(3) */
	char **allow; /* identities, or "*" for every authenticated client */
	size_t num_allow;
};

struct introduction_rules {
	struct introduction_rule *list;
	size_t num;
};

void introduction_rules_free(struct introduction_rules *rules);
/* Adds a rule without clients. */
doca_error_t introduction_rules_add(struct introduction_rules *rules, const char *server,
				    struct dpumap_error *error);
/* To the last rule. */
doca_error_t introduction_rules_allow(struct introduction_rules *rules, const char *identity,
				      struct dpumap_error *error);
/* server is NULL for any. */
bool introduction_rules_match(const struct introduction_rules *rules, const char *identity,
			      const char *server);

/* --- one introduction, of a session ----------------------------------------------------------- */

struct introduction;

/*
 * Finds the server, and makes a key, which is *key until the introduction goes on. NOT_FOUND if the
 * server is absent or the rules do not allow it; *note says which. AGAIN if the server is busy.
 */
doca_error_t introduction_begin(const struct introduction_rules *rules, const char *identity,
				const struct dpumap_comch_place *place,
				struct introduction **introduction, const uint8_t **key,
				const char **note, struct dpumap_error *error);
/*
 * Passes the client's connection, which has no TLS session any more, to the server. Takes client over,
 * also on failure.
 */
doca_error_t introduction_pass(struct introduction *introduction, int client,
			       struct dpumap_error *error);
bool introduction_is_done(const struct introduction *introduction);
/* When the client got the key; 0: the introduction is done. */
uint64_t introduction_since(const struct introduction *introduction);
/* The connection to the server. */
int introduction_fd(const struct introduction *introduction);
/* Has the connection of client and server ended? */
bool introduction_has_ended(const struct introduction *introduction);
const struct dpumap_comch_place *introduction_place(const struct introduction *introduction);
/* Makes the server drop the client. */
void introduction_withdraw(const struct introduction *introduction);
/* Leaves client and server connected. NULL is allowed. */
void introduction_destroy(struct introduction *introduction);

#endif
