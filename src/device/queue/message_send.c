/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A work request takes one or two blocks of the send queue: the control segment, the header as
 * inline data and a pointer to the data. Only the last one before a doorbell, and some of long
 * runs, are signaled.
 */
#include "device/queue/message_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/queue/cq.h"
#include "device/queue/cq_ring.h"
#include "device/queue/message_qp.h"
#include "log/log.h"

#define BLOCK  64u
#define SEG    16u
#define INLINE (SEG + 4u)	/* where inline data starts in a work request */
#define FIRST  (BLOCK - INLINE) /* bytes of inline data in the first block */

_Static_assert(DPUMAP_MQ_MAX_HEADER <= FIRST + SEG, "the data's pointer is in the second block");

struct block {
	uint32_t opcode, qpn_ds, flags, imm;
	uint32_t inline_len;
	uint8_t bytes[FIRST];
};

_Static_assert(sizeof(struct block) == BLOCK, "one block of a send queue");

struct sent {
	void *cookie;
	uint16_t block; /* where the work request starts */
};

struct dpumap_mq_send {
	struct dpumap_cq_ring cq;
	struct block *blocks, *last; /* last: posted last */
	uint32_t mask;
	struct sent *sent; /* messages in flight, a ring */
	uint32_t sent_mask;
	uint32_t depth;
	uint32_t posted, completed; /* messages */
	uint32_t flushed;	    /* messages covered by the last doorbell */
	uint32_t unsignaled;	    /* bytes and costs since the last signaled message */
	uint16_t at;		    /* next block */
	uint16_t through;	    /* block of the message that the last CQE completes */
	bool covered;		    /* messages up to that one are completed and not returned yet */
	bool failed;		    /* messages before that one did not succeed either */
	doca_error_t status;	    /* of that one */
	uint32_t header_len;
	uint32_t pointer; /* where the pointer is in a work request */
	uint32_t qpn;
	__be32 *record;
	volatile uint64_t *doorbell;

	bool stopped;
	uint32_t num_events; /* completion events that were read */
	struct ibv_cq *verbs_cq;
	struct dpumap_mq_qp qp;
};

static doca_error_t create_qp(struct dpumap_mq_send *send, struct dpumap_device *device)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = send->verbs_cq,
		.recv_cq = send->verbs_cq,
		.cap =
			{
				.max_send_wr = send->depth,
				.max_send_sge = 1,
				/* The driver does not count the pointer behind inline data. */
				.max_inline_data = send->header_len ? send->header_len + SEG : 0,
			},
	};

	return dpumap_mq_qp_create(device, &attr, &send->qp);
}

static doca_error_t map(struct dpumap_mq_send *send)
{
	uint32_t blocks = (send->pointer + SEG + BLOCK - 1) / BLOCK;
	struct mlx5dv_qp qp = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.qp = {.in = send->qp.qp, .out = &qp},
		.cq = {.in = send->verbs_cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);

	if (!err && qp.sq.wqe_cnt < send->depth * blocks)
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map a send queue of messages (mlx5dv_init_obj): %s",
				   dpumap_hca_name(send->qp.device->hca), strerror(err));
	dpumap_cq_ring_map(&send->cq, &cq, &send->num_events);
	send->blocks = qp.sq.buf;
	send->mask = qp.sq.wqe_cnt - 1;
	send->qpn = objects.qp.in->qp_num << 8;
	send->record = &qp.dbrec[MLX5_SND_DBR];
	send->doorbell = qp.bf.reg;
	return DOCA_SUCCESS;
}

static doca_error_t create_objects(struct dpumap_mq_send *send, struct dpumap_device *device,
				   const struct dpumap_mq_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = device->domain,
		.depth = send->depth,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &send->num_events,
	};
	uint32_t ring = 1;
	doca_error_t result;

	while (ring < send->depth)
		ring *= 2;
	send->sent_mask = ring - 1;
	send->sent = calloc(ring, sizeof(*send->sent));
	if (!send->sent)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue of messages");
	result = dpumap_cq_create(&cq, &send->verbs_cq);
	if (result == DOCA_SUCCESS)
		result = create_qp(send, device);
	if (result == DOCA_SUCCESS)
		result = map(send);
	return result;
}

doca_error_t dpumap_mq_send_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_send **send)
{
	doca_error_t result = dpumap_mq_attr_check(device, attr);
	struct dpumap_mq_send *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue of messages");
	created->qp.device = device;
	created->depth = attr->depth;
	created->header_len = attr->header_len;
	created->pointer = SEG;
	if (attr->header_len)
		created->pointer = (INLINE + attr->header_len + SEG - 1) / SEG * SEG;
	result = create_objects(created, device, attr);
	if (result != DOCA_SUCCESS) {
		dpumap_mq_send_destroy(created);
		return result;
	}
	*send = created;
	return DOCA_SUCCESS;
}

void dpumap_mq_send_describe(const struct dpumap_mq_send *send, struct dpumap_qp_info *info)
{
	dpumap_mq_qp_describe(&send->qp, info);
}

doca_error_t dpumap_mq_send_connect(struct dpumap_mq_send *send, const struct dpumap_qp_info *peer)
{
	return dpumap_mq_qp_connect(&send->qp, peer);
}

static inline struct block *block_at(const struct dpumap_mq_send *send, uint32_t at)
{
	return &send->blocks[at & send->mask];
}

static inline void write_header(const struct dpumap_mq_send *send, struct block *first,
				const uint8_t *header)
{
	uint32_t len = send->header_len;

	first->inline_len = htobe32(len | MLX5_INLINE_SEG);
	if (doca_unlikely(len > FIRST)) {
		memcpy(block_at(send, send->at + 1u), header + FIRST, len - FIRST);
		len = FIRST;
		memcpy(first->bytes, header, len);
		return;
	}
	for (uint32_t i = 0; i < len && i + 8 <= FIRST; i += 8) /* faster than a call */
		memcpy(first->bytes + i, header + i, 8);
}

bool dpumap_mq_send_post(struct dpumap_mq_send *send, const struct dpumap_mq_message *message)
{
	struct block *first = block_at(send, send->at);
	struct sent *sent = &send->sent[send->posted & send->sent_mask];
	uint32_t end = send->pointer;

	if (doca_unlikely(send->posted - send->completed == send->depth || send->stopped))
		return false;
	if (send->header_len)
		write_header(send, first, message->header);
	if (message->len) {
		uint8_t *block = (uint8_t *)block_at(send, send->at + end / BLOCK);

		dpumap_sq_fill((struct dpumap_sq_seg *)(void *)(block + end % BLOCK), message->key,
			       message->addr, message->len);
		end += SEG;
	}
	first->opcode = htobe32(MLX5_OPCODE_SEND_IMM | (uint32_t)send->at << 8);
	first->qpn_ds = htobe32(send->qpn | end / SEG);
	first->flags = 0;
	first->imm = htobe32(message->tag);
	send->unsignaled += message->len + DPUMAP_SQ_COPY_COST;
	if (doca_unlikely(send->unsignaled >= DPUMAP_SQ_MAX_UNSIGNALED)) {
		send->unsignaled = 0;
		first->flags = htobe32(DPUMAP_SQ_CQ_UPDATE);
	}
	sent->cookie = message->cookie;
	sent->block = send->at;
	send->at = (uint16_t)(send->at + (end + BLOCK - 1) / BLOCK);
	send->last = first;
	send->posted++;
	return true;
}

void dpumap_mq_send_flush(struct dpumap_mq_send *send)
{
	uint64_t words;

	if (send->flushed == send->posted || doca_unlikely(send->stopped))
		return;
	send->last->flags = htobe32(DPUMAP_SQ_CQ_UPDATE);
	send->unsignaled = 0;
	send->flushed = send->posted;
	dpumap_barrier_to_device();
	*send->record = htobe32(send->at);
	dpumap_barrier_doorbell();
	memcpy(&words, send->last, sizeof(words));
	*send->doorbell = words;
	dpumap_barrier_doorbell();
}

__attribute__((cold, noinline)) static doca_error_t failure(const struct dpumap_mq_send *send,
							    const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *error = (const void *)cqe;
	struct dpumap_cqe_failure failure = dpumap_cqe_failure(error);

	if (failure.error == DOCA_ERROR_SHUTDOWN)
		return failure.error;
	if (error->syndrome == MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR) {
		failure.error = DOCA_ERROR_TOO_BIG;
		failure.name = "it is longer than the receive that the peer posted";
	}
	return dpumap_fail(failure.error,
			   "%s: sending a message failed: %s (syndrome 0x%02x, vendor syndrome "
			   "0x%02x)",
			   dpumap_hca_name(send->qp.device->hca), failure.name, error->syndrome,
			   error->vendor_err_synd);
}

/* Take a CQE, which completes all messages up to its own. */
static inline bool take_cqe(struct dpumap_mq_send *send)
{
	const struct mlx5_cqe64 *cqe = dpumap_cq_ring_next(&send->cq);

	if (!cqe)
		return false;
	send->through = be16toh(cqe->wqe_counter);
	send->failed = send->status != DOCA_SUCCESS;
	send->status = DOCA_SUCCESS;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ))
		send->status = failure(send, cqe);
	send->covered = true;
	dpumap_cq_ring_consume(&send->cq);
	return true;
}

bool dpumap_mq_send_poll(struct dpumap_mq_send *send, struct dpumap_mq_sent *out)
{
	const struct sent *sent = &send->sent[send->completed & send->sent_mask];

	if (!send->covered && !take_cqe(send)) {
		if (!doca_unlikely(send->stopped) || send->completed == send->posted)
			return false;
		out->status = DOCA_ERROR_SHUTDOWN;
	} else if (sent->block == send->through) {
		send->covered = false;
		out->status = send->status;
	} else {
		out->status = doca_unlikely(send->failed) ? DOCA_ERROR_SHUTDOWN : DOCA_SUCCESS;
	}
	out->cookie = sent->cookie;
	send->completed++;
	return true;
}

void dpumap_mq_send_arm(struct dpumap_mq_send *send)
{
	dpumap_cq_ring_arm(&send->cq);
}

doca_error_t dpumap_mq_send_stop(struct dpumap_mq_send *send)
{
	doca_error_t result = dpumap_mq_qp_destroy(&send->qp);

	if (result == DOCA_SUCCESS)
		send->stopped = true;
	return result;
}

/* As far as it was created. */
doca_error_t dpumap_mq_send_destroy(struct dpumap_mq_send *send)
{
	doca_error_t result = dpumap_mq_send_stop(send);
	int err = 0;

	if (result != DOCA_SUCCESS)
		return result;
	if (send->verbs_cq)
		err = ibv_destroy_cq(send->verbs_cq);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: destroying the completion queue of a send queue failed: %s",
				   dpumap_hca_name(send->qp.device->hca), strerror(err));
	free(send->sent);
	free(send);
	return DOCA_SUCCESS;
}
