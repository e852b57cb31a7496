/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAPD_REQUESTS_H
#define DPUMAPD_REQUESTS_H

#include "exports.h"
#include "session.h"

/*
 * Answers the request in the session's first frame with a reply in its connection, or starts a job
 * that will. Whatever the client sent, there is a reply; after nonsense the session is closing.
 */
void requests_answer(struct session *session, struct exports *exports, struct requests_stats *stats,
		     const uint8_t *payload, size_t len);
/* Works on the session's job for a short while and replies when it is done. */
void requests_work(struct session *session, struct exports *exports);
/* Replies that what was received makes no sense, and closes. */
void requests_reject(struct session *session, const struct dpumap_fault *fault);

#endif
