/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Code that the examples of the control channel share: one connection between a server on the DPU
 * and a client on the host. All functions wait until they have succeeded or failed, and log errors.
 */
#ifndef EXAMPLES_DOCA_CHANNEL_H
#define EXAMPLES_DOCA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

/* A message that the peer sent. */
struct message {
	struct message *next;
	size_t len;
	uint8_t bytes[]; /* a NUL follows */
};

struct channel {
	struct doca_pe *pe;
	struct doca_comch_server *server; /* NULL on the host */
	struct doca_comch_client *client; /* NULL on the DPU */
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection; /* NULL: none yet, or it has ended */
	bool has_ended;				  /* the connection, or the attempt to connect */
	bool is_sending;
	doca_error_t result; /* of the last message sent, or of a callback */
	struct message *received, **last;
};

/* Return DOCA_SUCCESS if the device supports the control channel. */
doca_error_t can_serve(const struct doca_devinfo *devinfo);
doca_error_t can_connect(const struct doca_devinfo *devinfo);

/* Serve the host's function that rep represents, and wait for one client. */
doca_error_t accept_client(struct doca_dev *dev, struct doca_dev_rep *rep, const char *name,
			   struct channel *channel);
/* Connect to the server of that name on the DPU of this card. */
doca_error_t connect_to_server(struct doca_dev *dev, const char *name, struct channel *channel);
/* Close what was opened, also in part. Messages that were sent still arrive. */
void close_channel(struct channel *channel);

doca_error_t send_message(struct channel *channel, const void *bytes, size_t len);
/* The caller frees the message with free(). CONNECTION_RESET: the peer has ended the connection. */
doca_error_t receive_message(struct channel *channel, struct message **message);

#endif
