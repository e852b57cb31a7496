/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The TLS session between a client and a server of doca_comch, after dpumapd introduced them: with a
 * fresh key that both have, and an exchange of ephemeral keys (psk_dhe_ke). See local/comch_tls.h.
 */
#ifndef DPUMAP_CHANNEL_COMCH_SESSION_H
#define DPUMAP_CHANNEL_COMCH_SESSION_H

#include "local/comch_tls.h"

/* Takes fd over, also on failure. */
doca_error_t dpumap_comch_session_create(int fd, const unsigned char *key, bool is_server,
					 struct dpumap_comch_session **session,
					 struct dpumap_error *error);
doca_error_t dpumap_comch_session_handshake(struct dpumap_comch_session *session,
					    struct dpumap_error *error);
doca_error_t dpumap_comch_session_read(struct dpumap_comch_session *session, void *buf, size_t len,
				       size_t *done, struct dpumap_error *error);
doca_error_t dpumap_comch_session_write(struct dpumap_comch_session *session, const void *buf,
					size_t len, size_t *done, struct dpumap_error *error);
bool dpumap_comch_session_has_more(const struct dpumap_comch_session *session);
short dpumap_comch_session_wants(const struct dpumap_comch_session *session);
int dpumap_comch_session_fd(const struct dpumap_comch_session *session);
void dpumap_comch_session_shutdown(struct dpumap_comch_session *session);
void dpumap_comch_session_close(struct dpumap_comch_session *session);

#endif
