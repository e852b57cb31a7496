/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Send queues of messages: device/queue/message_queue.h. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_SEND_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_SEND_H

#include "device/queue/message_attr.h"
#include "device/queue/rc_end.h"
#include "device/queue/send_queue.h"

struct dpumap_mq_send;

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
