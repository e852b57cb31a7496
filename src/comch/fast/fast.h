/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What consumers and producers share. A message is a SEND whose tag (device/queue/message_queue.h)
 * names the producer and the length of the immediate data, and whose header is the immediate data:
 * room for as many bytes as the consumer accepts, the rest of it zero.
 */
#ifndef DPUMAP_COMCH_FAST_H
#define DPUMAP_COMCH_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "comch/connection/connection.h"
#include "core/mmap/resolve.h"

#define COMCH_MAX_IMM	    32u
#define COMCH_MAX_TASKS	    4096u /* of a consumer or producer */
#define COMCH_MAX_BUF	    (2u << 20)
#define COMCH_MAX_LIST_LEN  1u
#define COMCH_IDLE_PROGRESS 32u /* calls of progress without work, for each pump */
#define COMCH_PEERS	    "peers of doca_comch" /* the source of messages about them */

static inline uint32_t dpumap_comch_tag(uint32_t producer_id, uint32_t imm_len)
{
	return producer_id | imm_len << 16;
}

static inline uint32_t dpumap_comch_tag_producer(uint32_t tag)
{
	return tag & 0xffff;
}

static inline uint32_t dpumap_comch_tag_imm_len(uint32_t tag)
{
	return tag >> 16;
}

/* Headers are multiples of 8 bytes (device/queue/message_attr.h). */
static inline uint32_t dpumap_comch_header_len(uint32_t imm_len)
{
	return (imm_len + 7) & ~7u;
}

/* A context's share in the connection while it is not IDLE: it watches and pumps. */
struct comch_poller {
	struct doca_comch_connection *connection;
	struct doca_pe *pe;
	uint32_t idle; /* calls of progress without work */
	uint64_t polled_ms;
	bool is_watching; /* the connection's descriptor */
};

doca_error_t dpumap_comch_poller_start(struct comch_poller *poller,
				       const struct comch_endpoint *of);
void dpumap_comch_poller_stop(struct comch_poller *poller);
/* The connection ended: stop the context. False if nothing has changed. */
bool dpumap_comch_poller_lose(struct comch_poller *poller, const struct comch_endpoint *of);
/* Read from the descriptor in the next call of progress without work. */
static inline void dpumap_comch_poller_run_soon(struct comch_poller *poller)
{
	poller->idle = COMCH_IDLE_PROGRESS;
}
/*
 * To be called by progress that found no work. Pumps after some calls, and after some milliseconds, as
 * programs may call once per second; and each time if `now`.
 */
static inline void dpumap_comch_poller_run(struct comch_poller *poller, bool now)
{
	uint64_t ms;

	if (doca_likely(++poller->idle < COMCH_IDLE_PROGRESS && !now)) {
		ms = monotonic_coarse_ms();
		if (ms == poller->polled_ms)
			return;
		poller->polled_ms = ms;
	}
	poller->idle = 0;
	dpumap_comch_conn_pump(poller->connection);
}

/* The maximum number of tasks of a consumer or producer. */
uint32_t dpumap_comch_max_tasks(const struct doca_ctx *ctx);

#endif
