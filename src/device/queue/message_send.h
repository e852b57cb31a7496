/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Send queues of messages: device/queue/message_queue.h. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_SEND_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_SEND_H

#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/queue/cq_ring.h"
#include "device/queue/message_attr.h"
#include "device/queue/rc_end.h"
#include "device/queue/send_queue.h"
#include "device/queue/send_ring.h"

/*
 * A work request takes one or two blocks of the send queue: the control segment, the header as
 * inline data and a pointer to the data.
 */
#define DPUMAP_MQ_INLINE (DPUMAP_WQE_SEG + 4u) /* where inline data starts in a work request */
#define DPUMAP_MQ_FIRST	 (DPUMAP_WQE_BLOCK - DPUMAP_MQ_INLINE) /* of it in the first block */

struct dpumap_mq_block {
	struct dpumap_wqe_ctrl ctrl;
	uint32_t inline_len;
	uint8_t bytes[DPUMAP_MQ_FIRST];
};

_Static_assert(sizeof(struct dpumap_mq_block) == DPUMAP_WQE_BLOCK, "one block of a send queue");
_Static_assert(DPUMAP_MQ_MAX_HEADER <= DPUMAP_MQ_FIRST + DPUMAP_WQE_SEG,
	       "the pointer is in the first or the second block");

struct dpumap_mq_pending {
	void *cookie;
	uint16_t block; /* where the work request starts */
};

/* Fields of a work request: of its first segment, and its length. */
struct dpumap_mq_shape {
	uint32_t qpn_ds; /* as a WQE has it */
	uint32_t blocks;
};

/* The part that the inline functions need; message_send.c has the rest. */
struct dpumap_mq_send {
	struct dpumap_cq_ring cq;
	struct dpumap_send_ring ring;
	struct dpumap_mq_pending *pending; /* messages in flight, a ring */
	uint32_t pending_mask;
	uint32_t depth;		    /* 0 once stopped */
	uint32_t posted, completed; /* messages */
	uint32_t header_len;
	uint32_t inline_len;			/* as a WQE has it */
	uint32_t pointer_block, pointer_offset; /* where the pointer is in a work request */
	struct dpumap_mq_shape with_data, without_data;
	uint16_t through; /* block of the message that the last CQE completes */
	bool covered;	  /* messages up to that one are completed and not returned yet */
	doca_error_t before, status; /* of those before that one, and of that one */
};

struct dpumap_mq_message {
	const void *header; /* header_len bytes, copied */
	uint32_t tag;
	uint32_t len;			 /* of the data */
	const struct dpumap_sq_key *key; /* of the data; not used if len is 0 */
	uint64_t addr;			 /* of the data */
	void *cookie;
	/* Report it at once; otherwise its report may wait for that of a later message. */
	bool is_signaled;
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
static inline void dpumap_mq_send_write_header(const struct dpumap_mq_send *send,
					       struct dpumap_mq_block *first, const uint8_t *header)
{
	uint32_t len = send->header_len;

	first->inline_len = send->inline_len;
	if (doca_likely(len == 32)) {
		memcpy(first->bytes, header, 32); /* without a call */
	} else if (len <= DPUMAP_MQ_FIRST) {
		memcpy(first->bytes, header, len);
	} else {
		memcpy(first->bytes, header, DPUMAP_MQ_FIRST);
		memcpy(dpumap_send_ring_block(&send->ring, send->ring.at + 1),
		       header + DPUMAP_MQ_FIRST, len - DPUMAP_MQ_FIRST);
	}
}

/*
 * Post one message to a connected queue; the device reads it after dpumap_mq_send_flush(). A message
 * without a posted receive waits, without limit. False if `depth` messages are in flight.
 */
static inline bool dpumap_mq_send_post(struct dpumap_mq_send *send,
				       const struct dpumap_mq_message *message)
{
	struct dpumap_send_ring *ring = &send->ring;
	uint16_t at = (uint16_t)ring->at;
	struct dpumap_mq_block *first = dpumap_send_ring_block(ring, at);
	struct dpumap_mq_pending *pending = &send->pending[send->posted & send->pending_mask];
	const struct dpumap_mq_shape *shape = &send->without_data;

	if (doca_unlikely(send->posted - send->completed >= send->depth))
		return false;
	if (doca_likely(send->header_len))
		dpumap_mq_send_write_header(send, first, message->header);
	if (doca_likely(message->len)) {
		uint8_t *block = dpumap_send_ring_block(ring, at + send->pointer_block);

		dpumap_sq_fill((void *)(block + send->pointer_offset), message->key, message->addr,
			       message->len);
		shape = &send->with_data;
	}
	first->ctrl.opcode = htobe32(MLX5_OPCODE_SEND_IMM | (uint32_t)at << 8);
	first->ctrl.qpn_ds = shape->qpn_ds;
	first->ctrl.flags = doca_likely(message->is_signaled)
				    ? htobe32(DPUMAP_WQE_CQ_UPDATE)
				    : dpumap_send_ring_flags(ring, message->len);
	first->ctrl.imm = htobe32(message->tag);
	pending->cookie = message->cookie;
	pending->block = at;
	dpumap_send_ring_post(ring, &first->ctrl, shape->blocks);
	send->posted++;
	return true;
}

/* Messages posted and not returned by dpumap_mq_send_poll(). */
static inline uint32_t dpumap_mq_send_inflight(const struct dpumap_mq_send *send)
{
	return send->posted - send->completed;
}

/* Ring the doorbell for all posted messages. */
void dpumap_mq_send_flush(struct dpumap_mq_send *send);
/* What dpumap_mq_send_poll() does with an unusual completion, and without one. */
void dpumap_mq_send_note_failure(struct dpumap_mq_send *send, const struct mlx5_cqe64 *cqe);
bool dpumap_mq_send_find_left(struct dpumap_mq_send *send);
/* Drop a completion of a message that was completed before. */
void dpumap_mq_send_drop(struct dpumap_mq_send *send);

/* Does the CQE complete a message in flight? */
static inline bool dpumap_mq_send_expects(const struct dpumap_mq_send *send,
					  const struct mlx5_cqe64 *cqe)
{
	uint16_t first = send->pending[send->completed & send->pending_mask].block;

	return send->posted != send->completed &&
	       (uint16_t)(be16toh(cqe->wqe_counter) - first) < (uint16_t)(send->ring.at - first);
}

/* Find out which messages are completed; false if none is. */
static inline bool dpumap_mq_send_find(struct dpumap_mq_send *send)
{
	const struct mlx5_cqe64 *cqe = dpumap_cq_ring_next(&send->cq);

	while (cqe && doca_unlikely(!dpumap_mq_send_expects(send, cqe))) {
		dpumap_mq_send_drop(send);
		cqe = dpumap_cq_ring_next(&send->cq);
	}
	if (!cqe)
		return doca_unlikely(!send->depth) && dpumap_mq_send_find_left(send);
	send->through = be16toh(cqe->wqe_counter);
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ || send->status != DOCA_SUCCESS))
		dpumap_mq_send_note_failure(send, cqe);
	send->covered = true;
	dpumap_cq_ring_consume(&send->cq);
	return true;
}

/* Take one completion, in posting order; false if there is none. */
static inline bool dpumap_mq_send_poll(struct dpumap_mq_send *send, struct dpumap_mq_sent *sent)
{
	const struct dpumap_mq_pending *pending =
		&send->pending[send->completed & send->pending_mask];

	if (!send->covered && !dpumap_mq_send_find(send))
		return false;
	sent->cookie = pending->cookie;
	sent->status = send->before;
	if (pending->block == send->through) {
		sent->status = send->status;
		send->covered = false;
	}
	send->completed++;
	return true;
}

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
