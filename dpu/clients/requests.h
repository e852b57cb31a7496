/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What dpumapd answers to each request of a client. */
#ifndef DPUMAPD_REQUESTS_H
#define DPUMAPD_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "dpu/clients/session.h"
#include "dpu/exports/export_table.h"

struct requests_stats {
	uint64_t answered;
	uint64_t gets;
	uint64_t errors;
	uint64_t introductions; /* of clients to servers of doca_comch */
	uint64_t hashed_bytes;	/* of exports, for clients that verify a copy */
};

/*
 * Answers the request with a reply to the session, or starts a job that will. Every request gets a
 * reply; after a malformed one the session is closing.
 */
void requests_answer(struct session *session, struct export_table *exports,
		     struct requests_stats *stats, const struct dpumap_msg *request);
/* The same for the payload of a frame. */
void requests_answer_frame(struct session *session, struct export_table *exports,
			   struct requests_stats *stats, const uint8_t *payload, size_t len);
/*
 * Works on the session's job for a short while and replies when it is done. While a list is made, exports may
 * change, as between two parts of it that the client asks for: the list has each export that stays as it is
 * once, and others as they are at some moment, or not. It has no name twice.
 */
void requests_work(struct session *session, struct export_table *exports,
		   struct requests_stats *stats);
/* Replies with the error to what is not a request, or cannot be served now. */
void requests_refuse(struct session *session, struct requests_stats *stats,
		     const struct dpumap_error *error);
/* Replies with the error and closes the session. */
void requests_reject(struct session *session, const struct dpumap_error *error);

#endif
