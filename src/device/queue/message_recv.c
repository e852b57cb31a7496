/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A work request of a shared receive queue begins with the index of the next one: all requests are
 * on one list, on which the device takes posted ones at its position, the driver posts at `head`
 * and returns completed ones behind `tail`. So requests may complete in any order. The request at
 * `tail` is never posted: the device reads its link only after the next one was appended.
 */
#include "device/queue/message_recv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/queue/cq.h"
#include "device/queue/cq_ring.h"
#include "device/queue/message_qp.h"
#include "log/log.h"

#define HEADER_ALIGN 64u
#define NO_ENTRY     htobe32(MLX5_INVALID_LKEY) /* ends the list of a work request */
#define QPN_MASK     0xffffffu

struct entry {
	void *cookie;
	uint32_t number; /* of the receive */
	bool posted;	 /* valid once stopped */
};

struct dpumap_mq_recv {
	struct dpumap_cq_ring cq;
	uint8_t *wqes;
	struct entry *entries; /* of the work requests */
	uint8_t *headers;      /* of the work requests */
	__be32 *record;
	uint32_t stride;
	uint32_t data_at; /* in a work request */
	uint32_t header_len, header_stride;
	uint32_t depth;
	uint32_t posted, completed; /* receives so far */
	uint16_t head, tail;

	bool stopped;
	uint32_t size;	 /* work requests */
	uint32_t *order; /* work requests that are left after stop, the last posted first */
	uint32_t left;
	uint32_t num_events; /* completion events that were read */
	struct dpumap_device *device;
	struct ibv_cq *verbs_cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr; /* of the headers */
};

struct dpumap_mq_responder {
	struct dpumap_mq_qp qp;
};

static inline struct mlx5_wqe_srq_next_seg *wqe_at(const struct dpumap_mq_recv *recv,
						   uint32_t index)
{
	return (void *)(recv->wqes + (size_t)index * recv->stride);
}

static doca_error_t create_srq(struct dpumap_mq_recv *recv)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = recv->depth, .max_sge = recv->header_len ? 2 : 1},
	};
	int err;

	recv->srq = ibv_create_srq(dpumap_domain_pd(recv->device->domain), &attr);
	if (recv->srq)
		return DOCA_SUCCESS;
	err = errno;
	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY),
			   "%s: creating a shared receive queue for %u work requests failed: %s",
			   dpumap_hca_name(recv->device->hca), recv->depth, strerror(err));
}

static doca_error_t map(struct dpumap_mq_recv *recv)
{
	struct mlx5dv_srq srq = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.srq = {.in = recv->srq, .out = &srq},
		.cq = {.in = recv->verbs_cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_SRQ | MLX5DV_OBJ_CQ);

	if (!err && (srq.head || srq.tail < recv->depth || srq.tail > UINT16_MAX))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map a shared receive queue (mlx5dv_init_obj): %s",
				   dpumap_hca_name(recv->device->hca), strerror(err));
	dpumap_cq_ring_map(&recv->cq, &cq, &recv->num_events);
	recv->wqes = srq.buf;
	recv->record = srq.dbrec;
	recv->stride = srq.stride;
	recv->tail = (uint16_t)srq.tail;
	recv->size = srq.tail + 1;
	return DOCA_SUCCESS;
}

static doca_error_t allocate(struct dpumap_mq_recv *recv)
{
	size_t headers = (size_t)recv->size * recv->header_stride;

	recv->entries = calloc(recv->size, sizeof(*recv->entries));
	recv->order = calloc(recv->size, sizeof(*recv->order));
	if (headers)
		recv->headers = aligned_alloc(HEADER_ALIGN, headers);
	if (!recv->entries || !recv->order || (headers && !recv->headers))
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a receive queue");
	if (!headers)
		return DOCA_SUCCESS;
	memset(recv->headers, 0, headers);
	recv->mr = ibv_reg_mr(recv->device->pd, recv->headers, headers, IBV_ACCESS_LOCAL_WRITE);
	if (!recv->mr)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_NO_MEMORY),
				   "%s: cannot register the headers of a receive queue: %s",
				   dpumap_hca_name(recv->device->hca), strerror(errno));
	return DOCA_SUCCESS;
}

/* What is the same for all messages: the header, and the end of the list. */
static void prepare(struct dpumap_mq_recv *recv)
{
	for (uint32_t i = 0; i < recv->size; i++) {
		struct dpumap_sq_seg *seg = (void *)(wqe_at(recv, i) + 1);
		struct dpumap_sq_seg *end = (void *)((uint8_t *)wqe_at(recv, i) + recv->stride);

		if (recv->mr)
			*seg++ = (struct dpumap_sq_seg){
				.len = htobe32(recv->header_len),
				.key = htobe32(recv->mr->lkey),
				.addr = htobe64((uintptr_t)recv->headers +
						(size_t)i * recv->header_stride),
			};
		for (; seg < end; seg++)
			*seg = (struct dpumap_sq_seg){.key = NO_ENTRY};
	}
}

static doca_error_t create_objects(struct dpumap_mq_recv *recv, const struct dpumap_mq_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = recv->device->domain,
		.depth = recv->depth,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &recv->num_events,
	};
	doca_error_t result = dpumap_cq_create(&cq, &recv->verbs_cq);

	if (result == DOCA_SUCCESS)
		result = create_srq(recv);
	if (result == DOCA_SUCCESS)
		result = map(recv);
	if (result == DOCA_SUCCESS)
		result = allocate(recv);
	return result;
}

doca_error_t dpumap_mq_recv_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_recv **recv)
{
	doca_error_t result = dpumap_mq_attr_check(device, attr);
	struct dpumap_mq_recv *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a receive queue");
	created->device = device;
	created->depth = attr->depth;
	created->header_len = attr->header_len;
	if (attr->header_len)
		created->header_stride = HEADER_ALIGN;
	created->data_at = sizeof(struct mlx5_wqe_srq_next_seg);
	if (attr->header_len)
		created->data_at += sizeof(struct dpumap_sq_seg);
	result = create_objects(created, attr);
	if (result != DOCA_SUCCESS) {
		dpumap_mq_recv_destroy(created);
		return result;
	}
	prepare(created);
	*recv = created;
	return DOCA_SUCCESS;
}

bool dpumap_mq_recv_post(struct dpumap_mq_recv *recv, const struct dpumap_sq_key *key,
			 uint64_t addr, uint32_t len, void *cookie)
{
	struct mlx5_wqe_srq_next_seg *wqe = wqe_at(recv, recv->head);
	struct dpumap_sq_seg *seg = (void *)((uint8_t *)wqe + recv->data_at);
	struct entry *entry = &recv->entries[recv->head];

	if (doca_unlikely(recv->posted - recv->completed == recv->depth || recv->stopped))
		return false;
	entry->cookie = cookie;
	entry->number = recv->posted;
	if (len)
		dpumap_sq_fill(seg, key, addr, len);
	else
		*seg = (struct dpumap_sq_seg){.key = NO_ENTRY};
	recv->head = be16toh(wqe->next_wqe_index);
	recv->posted++;
	dpumap_barrier_to_device();
	*recv->record = htobe32(recv->posted & 0xffff);
	return true;
}

__attribute__((cold, noinline)) static doca_error_t failure(const struct dpumap_mq_recv *recv,
							    const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *error = (const void *)cqe;
	struct dpumap_cqe_failure failure = dpumap_cqe_failure(error);

	if (failure.error == DOCA_ERROR_SHUTDOWN)
		return failure.error;
	if (error->syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR) {
		failure.error = DOCA_ERROR_TOO_BIG;
		failure.name = "the message is longer than the posted receive";
	}
	return dpumap_fail(failure.error,
			   "%s: receiving a message failed: %s (syndrome 0x%02x, vendor syndrome "
			   "0x%02x)",
			   dpumap_hca_name(recv->device->hca), failure.name, error->syndrome,
			   error->vendor_err_synd);
}

/* The sender is another program, which may have posted anything. */
__attribute__((cold, noinline)) static doca_error_t check(const struct dpumap_mq_recv *recv,
							  const struct mlx5_cqe64 *cqe)
{
	uint8_t opcode = cqe->op_own >> 4;

	if (opcode == MLX5_CQE_RESP_ERR)
		return failure(recv, cqe);
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "%s: received a message of %u bytes (opcode %u): expected a tag and a "
			   "header of %u bytes",
			   dpumap_hca_name(recv->device->hca), be32toh(cqe->byte_cnt), opcode,
			   recv->header_len);
}

/* Append a completed work request to the list. */
static inline void release(struct dpumap_mq_recv *recv, uint16_t index)
{
	recv->completed++;
	if (doca_unlikely(recv->stopped)) {
		recv->entries[index].posted = false;
		return;
	}
	wqe_at(recv, recv->tail)->next_wqe_index = htobe16(index);
	recv->tail = index;
}

/* After stop: the next receive that the device did not complete. */
__attribute__((cold, noinline)) static bool poll_left(struct dpumap_mq_recv *recv,
						      struct dpumap_mq_received *received)
{
	while (recv->left) {
		struct entry *entry = &recv->entries[recv->order[--recv->left]];

		if (!entry->posted)
			continue;
		recv->completed++;
		*received = (struct dpumap_mq_received){
			.cookie = entry->cookie,
			.status = DOCA_ERROR_SHUTDOWN,
		};
		return true;
	}
	return false;
}

bool dpumap_mq_recv_poll(struct dpumap_mq_recv *recv, struct dpumap_mq_received *received)
{
	const struct mlx5_cqe64 *cqe = dpumap_cq_ring_next(&recv->cq);
	uint32_t bytes;
	uint16_t index;

	if (!cqe)
		return doca_unlikely(recv->stopped) && poll_left(recv, received);
	index = be16toh(cqe->wqe_counter);
	bytes = be32toh(cqe->byte_cnt);
	received->cookie = recv->entries[index].cookie;
	received->status = DOCA_SUCCESS;
	received->len = bytes - recv->header_len;
	received->tag = be32toh(cqe->imm_inval_pkey);
	received->header = recv->headers + (size_t)index * recv->header_stride;
	received->qpn = be32toh(cqe->sop_drop_qpn) & QPN_MASK;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_RESP_SEND_IMM || bytes < recv->header_len))
		received->status = check(recv, cqe);
	release(recv, index);
	dpumap_cq_ring_consume(&recv->cq);
	return true;
}

void dpumap_mq_recv_arm(struct dpumap_mq_recv *recv)
{
	dpumap_cq_ring_arm(&recv->cq);
}

static int by_age(const void *a, const void *b, void *arg)
{
	const struct dpumap_mq_recv *recv = arg;
	uint32_t age_a = recv->posted - recv->entries[*(const uint32_t *)a].number;
	uint32_t age_b = recv->posted - recv->entries[*(const uint32_t *)b].number;

	return (age_a > age_b) - (age_a < age_b);
}

/* Find the posted work requests: those that are not on the free part of the list. */
static void find_left(struct dpumap_mq_recv *recv)
{
	uint32_t index = recv->head;

	for (uint32_t i = 0; i < recv->size; i++)
		recv->entries[i].posted = true;
	for (;;) {
		recv->entries[index].posted = false;
		if (index == recv->tail)
			break;
		index = be16toh(wqe_at(recv, index)->next_wqe_index);
	}
	recv->left = 0;
	for (uint32_t i = 0; i < recv->size; i++)
		if (recv->entries[i].posted)
			recv->order[recv->left++] = i;
	qsort_r(recv->order, recv->left, sizeof(*recv->order), by_age, recv);
}

static doca_error_t fail_destroy(const struct dpumap_mq_recv *recv, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER,
			   "%s: destroying the %s of a receive queue of messages failed: %s",
			   dpumap_hca_name(recv->device->hca), what, strerror(err));
}

static doca_error_t destroy_srq(struct dpumap_mq_recv *recv)
{
	int err = recv->srq ? ibv_destroy_srq(recv->srq) : 0;

	if (err)
		return fail_destroy(recv, "shared receive queue", err);
	recv->srq = NULL;
	recv->stopped = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mq_recv_stop(struct dpumap_mq_recv *recv)
{
	if (recv->stopped)
		return DOCA_SUCCESS;
	find_left(recv); /* needs the memory of the queue */
	return destroy_srq(recv);
}

/* As far as it was created. */
doca_error_t dpumap_mq_recv_destroy(struct dpumap_mq_recv *recv)
{
	doca_error_t result = destroy_srq(recv);
	int err;

	if (result != DOCA_SUCCESS)
		return result;
	err = recv->verbs_cq ? ibv_destroy_cq(recv->verbs_cq) : 0;
	if (err)
		return fail_destroy(recv, "completion queue", err);
	recv->verbs_cq = NULL;
	err = recv->mr ? ibv_dereg_mr(recv->mr) : 0;
	if (err)
		return fail_destroy(recv, "header memory", err);
	free(recv->headers);
	free(recv->order);
	free(recv->entries);
	free(recv);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mq_responder_create(struct dpumap_mq_recv *recv,
					struct dpumap_mq_responder **responder)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = recv->verbs_cq,
		.recv_cq = recv->verbs_cq,
		.srq = recv->srq,
	};
	struct dpumap_mq_responder *created;
	doca_error_t result;

	if (recv->stopped)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the receive queue is stopped",
				   dpumap_hca_name(recv->device->hca));
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a responder");
	result = dpumap_mq_qp_create(recv->device, &attr, &created->qp);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*responder = created;
	return DOCA_SUCCESS;
}

uint32_t dpumap_mq_responder_qpn(const struct dpumap_mq_responder *responder)
{
	return responder->qp.qp->qp_num;
}

void dpumap_mq_responder_describe(const struct dpumap_mq_responder *responder,
				  struct dpumap_qp_info *info)
{
	dpumap_mq_qp_describe(&responder->qp, info);
}

doca_error_t dpumap_mq_responder_connect(struct dpumap_mq_responder *responder,
					 const struct dpumap_qp_info *peer)
{
	return dpumap_mq_qp_connect(&responder->qp, peer);
}

doca_error_t dpumap_mq_responder_destroy(struct dpumap_mq_responder *responder)
{
	doca_error_t result = dpumap_mq_qp_destroy(&responder->qp);

	if (result == DOCA_SUCCESS)
		free(responder);
	return result;
}
