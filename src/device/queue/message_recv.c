/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
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

#define NO_ENTRY htobe32(MLX5_INVALID_LKEY) /* ends the list of a work request */

struct recv_queue {
	struct dpumap_mq_recv base;
	uint8_t *headers;
	uint32_t *order; /* work requests that are left after stop, the last posted first */
	uint32_t left;
	uint32_t num_events; /* completion events that were read */
	struct dpumap_device *device;
	struct ibv_cq *verbs_cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr; /* of the headers */
};

static inline struct recv_queue *to_recv_queue(const struct dpumap_mq_recv *recv)
{
	return (struct recv_queue *)recv;
}

struct dpumap_mq_responder {
	struct dpumap_mq_qp qp;
};

static doca_error_t create_srq(struct recv_queue *recv)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = recv->base.depth, .max_sge = recv->base.header_len ? 2 : 1},
	};
	int err;

	recv->srq = ibv_create_srq(dpumap_domain_pd(recv->device->domain), &attr);
	if (recv->srq)
		return DOCA_SUCCESS;
	err = errno;
	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY),
			   "%s: creating a shared receive queue for %u work requests failed: %s",
			   dpumap_hca_name(recv->device->hca), recv->base.depth, strerror(err));
}

static doca_error_t map(struct recv_queue *recv)
{
	struct mlx5dv_srq srq = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.srq = {.in = recv->srq, .out = &srq},
		.cq = {.in = recv->verbs_cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_SRQ | MLX5DV_OBJ_CQ);

	if (!err && !dpumap_srq_ring_map(&recv->base.srq, &srq, recv->base.depth))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map a shared receive queue (mlx5dv_init_obj): %s",
				   dpumap_hca_name(recv->device->hca), strerror(err));
	dpumap_cq_ring_map(&recv->base.cq, &cq, &recv->num_events);
	return DOCA_SUCCESS;
}

static doca_error_t allocate(struct recv_queue *recv)
{
	size_t headers =
		recv->base.header_len ? (size_t)recv->base.srq.size * DPUMAP_MQ_HEADER_STRIDE : 0;

	recv->base.entries = calloc(recv->base.srq.size, sizeof(*recv->base.entries));
	recv->order = calloc(recv->base.srq.size, sizeof(*recv->order));
	if (headers)
		recv->headers = aligned_alloc(DPUMAP_MQ_HEADER_STRIDE, headers);
	if (!recv->base.entries || !recv->order || (headers && !recv->headers))
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a receive queue");
	recv->base.headers = recv->headers;
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
static void prepare(struct recv_queue *recv)
{
	for (uint32_t i = 0; i < recv->base.srq.size; i++) {
		struct dpumap_wqe_data *seg = (void *)(dpumap_srq_ring_wqe(&recv->base.srq, i) + 1);
		struct dpumap_wqe_data *end =
			(void *)((uint8_t *)dpumap_srq_ring_wqe(&recv->base.srq, i) +
				 recv->base.srq.stride);

		if (recv->mr)
			*seg++ = (struct dpumap_wqe_data){
				.len = htobe32(recv->base.header_len),
				.key = htobe32(recv->mr->lkey),
				.addr = htobe64((uintptr_t)recv->headers +
						(size_t)i * DPUMAP_MQ_HEADER_STRIDE),
			};
		for (; seg < end; seg++)
			*seg = (struct dpumap_wqe_data){.key = NO_ENTRY};
	}
}

static doca_error_t create_objects(struct recv_queue *recv, const struct dpumap_mq_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = recv->device->domain,
		.depth = recv->base.depth,
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
	struct recv_queue *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a receive queue");
	created->device = device;
	created->base.depth = attr->depth;
	created->base.header_len = attr->header_len;
	created->base.data_at = sizeof(struct mlx5_wqe_srq_next_seg);
	if (attr->header_len)
		created->base.data_at += sizeof(struct dpumap_wqe_data);
	result = create_objects(created, attr);
	if (result != DOCA_SUCCESS) {
		dpumap_mq_recv_destroy(&created->base);
		return result;
	}
	prepare(created);
	*recv = &created->base;
	return DOCA_SUCCESS;
}

__attribute__((cold, noinline)) static doca_error_t failure(const struct recv_queue *recv,
							    const struct mlx5_cqe64 *cqe)
{
	static const struct dpumap_cqe_meaning too_long = {
		MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
		{DOCA_ERROR_TOO_BIG, "the message is longer than the posted receive"},
	};

	return dpumap_cqe_fail(dpumap_hca_name(recv->device->hca), "receiving a message", cqe,
			       &too_long);
}

/* The sender is another program, which may have posted anything. */
__attribute__((cold, noinline)) doca_error_t dpumap_mq_recv_check(const struct dpumap_mq_recv *base,
								  const struct mlx5_cqe64 *cqe)
{
	const struct recv_queue *recv = to_recv_queue(base);
	uint8_t opcode = cqe->op_own >> 4;

	if (opcode == MLX5_CQE_RESP_ERR)
		return failure(recv, cqe);
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "%s: received a message of %u bytes (opcode %u): expected a tag and a "
			   "header of %u bytes",
			   dpumap_hca_name(recv->device->hca), be32toh(cqe->byte_cnt), opcode,
			   recv->base.header_len);
}

/* After stop: the next receive that the device did not complete. */
__attribute__((cold, noinline)) bool dpumap_mq_recv_poll_left(struct dpumap_mq_recv *base,
							      struct dpumap_mq_received *received)
{
	struct recv_queue *recv = to_recv_queue(base);

	while (recv->left) {
		struct dpumap_mq_entry *entry = &recv->base.entries[recv->order[--recv->left]];

		if (!entry->posted)
			continue;
		recv->base.completed++;
		*received = (struct dpumap_mq_received){
			.cookie = entry->cookie,
			.status = DOCA_ERROR_SHUTDOWN,
		};
		return true;
	}
	return false;
}

void dpumap_mq_recv_arm(struct dpumap_mq_recv *recv)
{
	dpumap_cq_ring_arm(&recv->cq);
}

static int by_age(const void *a, const void *b, void *arg)
{
	const struct recv_queue *recv = arg;
	uint32_t age_a = recv->base.srq.posted - recv->base.entries[*(const uint32_t *)a].number;
	uint32_t age_b = recv->base.srq.posted - recv->base.entries[*(const uint32_t *)b].number;

	return (age_a > age_b) - (age_a < age_b);
}

/* Find the posted work requests: those that are not on the free part of the list. */
static void find_left(struct recv_queue *recv)
{
	uint32_t index = recv->base.srq.head;

	for (uint32_t i = 0; i < recv->base.srq.size; i++)
		recv->base.entries[i].posted = true;
	for (;;) {
		recv->base.entries[index].posted = false;
		if (index == recv->base.srq.tail)
			break;
		index = be16toh(dpumap_srq_ring_wqe(&recv->base.srq, index)->next_wqe_index);
	}
	recv->left = 0;
	for (uint32_t i = 0; i < recv->base.srq.size; i++)
		if (recv->base.entries[i].posted)
			recv->order[recv->left++] = i;
	qsort_r(recv->order, recv->left, sizeof(*recv->order), by_age, recv);
}

static doca_error_t fail_destroy(const struct recv_queue *recv, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER,
			   "%s: destroying the %s of a receive queue of messages failed: %s",
			   dpumap_hca_name(recv->device->hca), what, strerror(err));
}

static doca_error_t destroy_srq(struct recv_queue *recv)
{
	int err = recv->srq ? dpumap_errno_of_end(recv->device->context, ibv_destroy_srq(recv->srq))
			    : 0;

	if (err)
		return fail_destroy(recv, "shared receive queue", err);
	recv->srq = NULL;
	recv->base.stopped = true;
	recv->base.depth = 0;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mq_recv_stop(struct dpumap_mq_recv *base)
{
	struct recv_queue *recv = to_recv_queue(base);

	if (recv->base.stopped)
		return DOCA_SUCCESS;
	find_left(recv); /* needs the memory of the queue */
	return destroy_srq(recv);
}

/* As far as it was created. */
doca_error_t dpumap_mq_recv_destroy(struct dpumap_mq_recv *base)
{
	struct recv_queue *recv = to_recv_queue(base);
	doca_error_t result = destroy_srq(recv);
	int err;

	if (result != DOCA_SUCCESS)
		return result;
	err = recv->mr ? dpumap_errno_of_end(recv->device->context, ibv_dereg_mr(recv->mr)) : 0;
	if (err)
		return fail_destroy(recv, "header memory", err);
	recv->mr = NULL;
	/* Last: until the caller has succeeded, it may poll. */
	err = recv->verbs_cq
		      ? dpumap_errno_of_end(recv->device->context, ibv_destroy_cq(recv->verbs_cq))
		      : 0;
	if (err)
		return fail_destroy(recv, "completion queue", err);
	free(recv->headers);
	free(recv->order);
	free(recv->base.entries);
	free(recv);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mq_responder_create(struct dpumap_mq_recv *base,
					struct dpumap_mq_responder **responder)
{
	const struct recv_queue *recv = to_recv_queue(base);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = recv->verbs_cq,
		.recv_cq = recv->verbs_cq,
		.srq = recv->srq,
	};
	struct dpumap_mq_responder *created;
	doca_error_t result;

	if (recv->base.stopped)
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
