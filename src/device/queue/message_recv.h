/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive queues of messages, and the responders on them: device/queue/message_queue.h. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_RECV_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_RECV_H

#include "device/queue/cq_ring.h"
#include "device/queue/message_attr.h"
#include "device/queue/rc_end.h"
#include "device/queue/send_queue.h"
#include "device/queue/srq_ring.h"

struct dpumap_mq_responder;

#define DPUMAP_MQ_HEADER_STRIDE 64u

struct dpumap_mq_entry {
	void *cookie;
	uint32_t number; /* of the receive */
	bool posted;	 /* valid once stopped */
};

/* The part that the inline functions need; message_recv.c has the rest. */
struct dpumap_mq_recv {
	struct dpumap_cq_ring cq;
	struct dpumap_srq_ring srq;
	struct dpumap_mq_entry *entries; /* of the work requests */
	const uint8_t *headers;		 /* of the work requests */
	uint32_t data_at;		 /* in a work request */
	uint32_t header_len;
	uint32_t depth;	    /* 0 once stopped */
	uint32_t completed; /* receives so far */
	bool stopped;
};

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
	uint16_t index; /* for dpumap_mq_recv_header() */
	uint32_t qpn;	/* of the responder; 0 after dpumap_mq_recv_stop() */
};

doca_error_t dpumap_mq_recv_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_recv **recv);
/*
 * Post a receive for one message of at most `len` bytes of data; key is not used if len is 0.
 * False if `depth` receives are posted.
 */
static inline bool dpumap_mq_recv_post(struct dpumap_mq_recv *recv, const struct dpumap_sq_key *key,
				       uint64_t addr, uint32_t len, void *cookie)
{
	uint16_t head = recv->srq.head;
	uint8_t *wqe = (uint8_t *)dpumap_srq_ring_wqe(&recv->srq, head);
	struct dpumap_wqe_data *seg = (void *)(wqe + recv->data_at);
	struct dpumap_mq_entry *entry = &recv->entries[head];

	if (doca_unlikely(recv->srq.posted - recv->completed >= recv->depth))
		return false;
	entry->cookie = cookie;
	entry->number = recv->srq.posted;
	if (doca_likely(len))
		dpumap_sq_fill(seg, key, addr, len);
	else
		*seg = (struct dpumap_wqe_data){.key = htobe32(MLX5_INVALID_LKEY)};
	dpumap_srq_ring_post(&recv->srq);
	return true;
}

/* What dpumap_mq_recv_poll() does with an unusual completion, and without one. */
doca_error_t dpumap_mq_recv_check(const struct dpumap_mq_recv *recv, const struct mlx5_cqe64 *cqe);
bool dpumap_mq_recv_poll_left(struct dpumap_mq_recv *recv, struct dpumap_mq_received *received);

/* Take one completion; false if there is none. */
static inline bool dpumap_mq_recv_poll(struct dpumap_mq_recv *recv,
				       struct dpumap_mq_received *received)
{
	const struct mlx5_cqe64 *cqe = dpumap_cq_ring_next(&recv->cq);
	struct dpumap_mq_received left; /* so that *received can be in registers */
	uint32_t bytes;
	uint16_t index;

	if (!cqe) {
		if (doca_likely(!recv->stopped) || !dpumap_mq_recv_poll_left(recv, &left))
			return false;
		*received = left;
		return true;
	}
	index = be16toh(cqe->wqe_counter);
	bytes = be32toh(cqe->byte_cnt);
	received->cookie = recv->entries[index].cookie;
	received->status = DOCA_SUCCESS;
	received->len = bytes - recv->header_len;
	received->tag = be32toh(cqe->imm_inval_pkey);
	received->index = index;
	received->qpn = be32toh(cqe->sop_drop_qpn) & 0xffffff;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_RESP_SEND_IMM || bytes < recv->header_len))
		received->status = dpumap_mq_recv_check(recv, cqe);
	recv->completed++;
	if (doca_unlikely(recv->stopped))
		recv->entries[index].posted = false;
	else
		dpumap_srq_ring_free(&recv->srq, index);
	dpumap_cq_ring_consume(&recv->cq);
	return true;
}

/* The header of a message that was received, until the next dpumap_mq_recv_post(). */
static inline const uint8_t *dpumap_mq_recv_header(const struct dpumap_mq_recv *recv,
						   const struct dpumap_mq_received *received)
{
	return recv->headers + (size_t)received->index * DPUMAP_MQ_HEADER_STRIDE;
}

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
