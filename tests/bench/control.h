/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A connection of doca_comch: the client in the process on the host, the server in the other one. */
#ifndef DPUMAP_BENCH_CONTROL_H
#define DPUMAP_BENCH_CONTROL_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "duo.h"

struct control {
	const struct duo *duo;
	bool is_server;
	bool echoes; /* each message at once */
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	uint32_t consumer_id; /* of the peer, or 0 */
	size_t received;
	bool failed;
};

/* Connect; false after printing an error. The name must be unique on the card. */
bool control_open(struct control *control, const struct duo *duo, bool is_server, const char *name);
void control_close(struct control *control);

bool control_send(struct control *control, const void *message, uint32_t len);
/* Make progress; sleep until there is something to do if `waits`. */
bool control_progress(struct control *control, bool waits);

/* Progress until the context is in that state, or for 10 seconds. */
bool control_await(struct doca_pe *pe, struct control *control, struct doca_ctx *ctx,
		   enum doca_ctx_states wanted);

#endif
