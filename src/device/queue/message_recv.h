/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive queues of messages, and the responders on them: device/queue/message_queue.h. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_RECV_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_RECV_H

#include "device/queue/message_attr.h"
#include "device/queue/rc_end.h"
#include "device/queue/send_queue.h"

struct dpumap_mq_recv;
struct dpumap_mq_responder;

struct dpumap_mq_received {
	void *cookie;
	/*
	 * DOCA_ERROR_TOO_BIG: the message was longer than the receive. DOCA_ERROR_NOT_PERMITTED: the
	 * memory of the receive is not registered for writing. DOCA_ERROR_IO_FAILED: the message is
	 * not one of a send queue, or the device failed. DOCA_ERROR_SHUTDOWN: the queue was stopped, or
	 * the responder destroyed. After a failure destroy the responder; its sender fails too. The
	 * other fields are valid only with DOCA_SUCCESS, except qpn.
	 */
	doca_error_t status;
	uint32_t len; /* of the data, without the header */
	uint32_t tag;
	const uint8_t *header; /* header_len bytes, until the next dpumap_mq_recv_post() */
	uint32_t qpn;	       /* dpumap_mq_responder_qpn(); 0 after dpumap_mq_recv_stop() */
};

doca_error_t dpumap_mq_recv_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_recv **recv);
/*
 * Post a receive for one message of at most `len` bytes of data; key is not used if len is 0.
 * False if `depth` receives are posted.
 */
bool dpumap_mq_recv_post(struct dpumap_mq_recv *recv, const struct dpumap_sq_key *key,
			 uint64_t addr, uint32_t len, void *cookie);
/* Take one completion; false if there is none. */
bool dpumap_mq_recv_poll(struct dpumap_mq_recv *recv, struct dpumap_mq_received *received);
/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
void dpumap_mq_recv_arm(struct dpumap_mq_recv *recv);
/*
 * Stop the device's access to the posted receives; to be called after all responders were
 * destroyed. dpumap_mq_recv_poll() then returns what has completed, and after it the remaining
 * receives in posting order, with DOCA_ERROR_SHUTDOWN. On failure call again.
 */
doca_error_t dpumap_mq_recv_stop(struct dpumap_mq_recv *recv);
/*
 * Also stops; abandons posted receives. On failure the object stays, without what could be
 * destroyed; call again.
 */
doca_error_t dpumap_mq_recv_destroy(struct dpumap_mq_recv *recv);

/* Responder: one sender's connection to a receive queue. */
doca_error_t dpumap_mq_responder_create(struct dpumap_mq_recv *recv,
					struct dpumap_mq_responder **responder);
uint32_t dpumap_mq_responder_qpn(const struct dpumap_mq_responder *responder);
void dpumap_mq_responder_describe(const struct dpumap_mq_responder *responder,
				  struct dpumap_qp_info *info);
/* On failure the state is as before. */
doca_error_t dpumap_mq_responder_connect(struct dpumap_mq_responder *responder,
					 const struct dpumap_qp_info *peer);
/*
 * Completions that were not polled stay. A message that arrives in part ends its receive with
 * DOCA_ERROR_SHUTDOWN, at the latest when the receive queue is stopped. On failure call again.
 */
doca_error_t dpumap_mq_responder_destroy(struct dpumap_mq_responder *responder);

#endif
