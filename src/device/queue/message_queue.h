/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queues of messages between functions, by SEND on reliable connections; on mlx5 devices only.
 *
 * A receive queue is a shared receive queue with its completion queue. Each sender is connected to
 * it through a responder of its own; the messages of all senders take the posted receives in posting
 * order. A send queue is the other end of one responder.
 *
 * A message is a tag of 32 bits, a header whose length is the same for all messages of a receive
 * queue, and data. The tag and the header are part of the work request; the data is sent from, and
 * arrives in, registered memory.
 *
 * Work requests are written to, and completions read from, the memory of the queues: without
 * locks, allocations and system calls. One thread at a time may use a receive queue together with
 * its responders, or a send queue.
 */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "device/queue/rc_qp.h"
#include "device/queue/send_queue.h"

#define DPUMAP_MQ_MAX_HEADER 48u

struct dpumap_mq_recv;
struct dpumap_mq_responder;
struct dpumap_mq_send;

struct dpumap_mq_attr {
	uint32_t depth;	     /* messages posted and not completed; a power of two is best */
	uint32_t header_len; /* 0 to DPUMAP_MQ_MAX_HEADER; equal on both ends */
	struct dpumap_events *events; /* NULL if the queue is only polled */
	uint32_t vector;	      /* below dpumap_device_num_vectors() */
};

/* DOCA_ERROR_NOT_SUPPORTED if the device has no message queues. Logged. */
doca_error_t dpumap_mq_check(const struct dpumap_device *device);
/* Largest depth of a queue; 0 if the device has no message queues. */
uint32_t dpumap_mq_max_depth(const struct dpumap_device *device);
/* Longest data of a message; 0 if the device has no message queues. */
uint32_t dpumap_mq_max_len(const struct dpumap_device *device);

/*
 * Receive queue
 */

struct dpumap_mq_received {
	void *cookie;
	/*
	 * DOCA_ERROR_TOO_BIG: the message was longer than the receive. DOCA_ERROR_NOT_PERMITTED: the
	 * memory of the receive is not registered for writing. DOCA_ERROR_SHUTDOWN: the queue was
	 * stopped, or the responder destroyed. After any other than SHUTDOWN the responder has failed.
	 * The other fields are valid only with DOCA_SUCCESS, except `qpn`.
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
/* Also stops; abandons posted receives. On failure the object stays, without what could be
 * destroyed; call again. */
doca_error_t dpumap_mq_recv_destroy(struct dpumap_mq_recv *recv);

/*
 * Responder: one sender's connection to a receive queue
 */

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

/*
 * Send queue
 */

struct dpumap_mq_message {
	const void *header; /* header_len bytes, copied */
	uint32_t tag;
	uint32_t len;			 /* of the data */
	const struct dpumap_sq_key *key; /* of the data; not used if len is 0 */
	uint64_t addr;			 /* of the data */
	void *cookie;
};

struct dpumap_mq_sent {
	void *cookie;
	/*
	 * DOCA_SUCCESS: the data is in the receiver's memory. DOCA_ERROR_TOO_BIG: it is longer than the
	 * receive. DOCA_ERROR_NOT_PERMITTED: the memory of the data is not registered.
	 * DOCA_ERROR_CONNECTION_ABORTED: the responder does not answer. DOCA_ERROR_SHUTDOWN: an earlier
	 * message failed, or the queue was stopped. After a failure the queue can only be polled and
	 * destroyed.
	 */
	doca_error_t status;
};

doca_error_t dpumap_mq_send_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_send **send);
void dpumap_mq_send_describe(const struct dpumap_mq_send *send, struct dpumap_qp_info *info);
/* On failure the state is as before. Connect the responder first. */
doca_error_t dpumap_mq_send_connect(struct dpumap_mq_send *send, const struct dpumap_qp_info *peer);
/*
 * Post one message to a connected queue; the device reads it after dpumap_mq_send_flush(). A message
 * without a posted receive waits, without limit. False if `depth` messages are in flight.
 */
bool dpumap_mq_send_post(struct dpumap_mq_send *send, const struct dpumap_mq_message *message);
/* Ring the doorbell for all posted messages. */
void dpumap_mq_send_flush(struct dpumap_mq_send *send);
/* Take one completion, in posting order; false if there is none. */
bool dpumap_mq_send_poll(struct dpumap_mq_send *send, struct dpumap_mq_sent *sent);
/* As dpumap_mq_recv_arm(). */
void dpumap_mq_send_arm(struct dpumap_mq_send *send);
/*
 * Stop the device's access to the messages. dpumap_mq_send_poll() then returns what has completed,
 * and after it the remaining messages with DOCA_ERROR_SHUTDOWN. On failure call again.
 */
doca_error_t dpumap_mq_send_stop(struct dpumap_mq_send *send);
/* Also stops; abandons messages in flight. On failure the object stays; call again. */
doca_error_t dpumap_mq_send_destroy(struct dpumap_mq_send *send);

#endif
