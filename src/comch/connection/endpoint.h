/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Consumers and producers, as their connection knows them. */
#ifndef DPUMAP_COMCH_ENDPOINT_H
#define DPUMAP_COMCH_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "comch/link/wire.h"
#include "core/pe/ctx.h"

#define COMCH_MAX_ENDPOINTS 256 /* consumers, and as many producers, of each side of a connection */
#define COMCH_MAX_CONSUMERS COMCH_MAX_ENDPOINTS
#define COMCH_MAX_PRODUCERS COMCH_MAX_ENDPOINTS

struct doca_comch_connection;
struct comch_endpoint;

/*
 * All are called with the connection locked, in any thread that pumps. They call no callback of the
 * user and do not remove endpoints; they may send frames. They use dpumap_pe_wake() if the engine of
 * the endpoint has something to do.
 */
struct comch_endpoint_ops {
	/*
	 * A frame for this endpoint. A consumer gets CONSUMER_ACK, PATH_OPEN and PATH_CLOSE, a
	 * producer PATH_UP and PATH_DOWN. Its ids are in range; its other fields are as the peer
	 * wrote them.
	 */
	void (*on_frame)(struct comch_endpoint *endpoint, const struct comch_frame *frame);
	/* For a producer: this consumer of the peer is gone. Its id is not in use again soon. */
	void (*on_consumer_gone)(struct comch_endpoint *endpoint, uint32_t consumer_id);
	/* The connection ended. Once, and nothing follows. */
	void (*on_down)(struct comch_endpoint *endpoint);
};

/* A consumer or a producer of this side. Its owner fills in ops, ctx and is_producer. */
struct comch_endpoint {
	const struct comch_endpoint_ops *ops;
	struct doca_ctx *ctx;
	bool is_producer;
	uint32_t id; /* unique among the consumers, or the producers, of this side */
	struct doca_comch_connection *connection;
	struct comch_endpoint *next;
};

#endif
