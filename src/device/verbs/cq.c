/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/verbs/cq.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "base/array.h"
#include "device/errno.h"
#include "device/hca_priv.h"
#include "device/queue/cq_ring.h"
#include "device/verbs/hold.h"
#include "log/log.h"

#define DOORBELL   0x20 /* in its page */
#define RELEASE_MS 1	/* between attempts to release requests while waiting for an event */

/* libmlx5 leaves the completions of destroyed queue pairs in a queue that is mapped. */
static doca_error_t map(struct dpumap_verbs_cq *cq)
{
	struct mlx5dv_cq dv = {0};
	struct mlx5dv_obj obj = {.cq.in = cq->cq, .cq.out = &dv};
	int err;

	if (!dpumap_ibdev_is_mlx5(cq->cq->context->device))
		return DOCA_SUCCESS;
	err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: mapping a CQ failed: %s",
				   dpumap_verbs_name(cq->context), strerror(err));
	cq->memory = (struct dpumap_verbs_cq_memory){
		.cqes = dv.buf,
		.size = dv.cqe_cnt,
		.cqe_size = dv.cqe_size,
		.record = (uint32_t *)dv.dbrec,
		.doorbell = (uint64_t *)(void *)((uint8_t *)dv.cq_uar + DOORBELL),
		.cqn = dv.cqn,
	};
	return DOCA_SUCCESS;
}

static struct ibv_cq *create(struct dpumap_verbs_cq *cq, const struct dpumap_verbs_cq_attr *attr)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = attr->size,
		.cq_context = cq,
		.channel = attr->channel ? attr->channel->channel : NULL,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct mlx5dv_cq_init_attr dv = {0};
	struct ibv_cq_ex *created;

	if (!attr->is_external)
		return ibv_create_cq(cq->context->context, (int)attr->size, cq, init.channel, 0);
	if (attr->may_overrun) {
		init.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		init.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	}
	if (attr->has_large_entries) {
		dv.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE;
		dv.cqe_size = 128;
	}
	created = mlx5dv_create_cq(cq->context->context, &init, &dv);
	return created ? ibv_cq_ex_to_cq(created) : NULL;
}

/* Whether completions are looked at before the program gets them. */
static void choose_path(struct dpumap_verbs_cq *cq)
{
	bool is_slow = cq->is_external || cq->context->may_wait || cq->num_kept;

	atomic_store(&cq->fast, is_slow ? NULL : cq->cq);
}

static void link_cq(struct dpumap_verbs_cq *cq)
{
	pthread_mutex_lock(&cq->context->lock);
	choose_path(cq);
	cq->next = cq->context->cqs;
	cq->context->cqs = cq;
	pthread_mutex_unlock(&cq->context->lock);
}

static void unlink_cq(const struct dpumap_verbs_cq *cq)
{
	struct dpumap_verbs_cq **at = &cq->context->cqs;

	pthread_mutex_lock(&cq->context->lock);
	while (*at != cq)
		at = &(*at)->next;
	*at = cq->next;
	pthread_mutex_unlock(&cq->context->lock);
}

doca_error_t dpumap_verbs_create_cq(struct dpumap_verbs_cq *cq,
				    struct dpumap_verbs_context *context,
				    const struct dpumap_verbs_cq_attr *attr)
{
	doca_error_t result;

	cq->context = context;
	cq->uar = attr->uar;
	cq->is_external = attr->is_external;
	atomic_init(&cq->consumed, 0);
	cq->cq = create(cq, attr);
	if (!cq->cq)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_INVALID_VALUE,
							  DOCA_ERROR_NO_MEMORY,
							  DOCA_ERROR_NOT_SUPPORTED),
				   "%s: creating a CQ of %u completions failed: %s",
				   dpumap_verbs_name(context), attr->size, strerror(errno));
	result = map(cq);
	if (result != DOCA_SUCCESS) {
		ibv_destroy_cq(cq->cq);
		return result;
	}
	link_cq(cq);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_destroy_cq(struct dpumap_verbs_cq *cq)
{
	int err;

	if (cq->num_waits)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: CQ %p cannot be destroyed: work requests wait for it (%u); "
				   "destroy their QPs first",
				   dpumap_verbs_name(cq->context), (void *)cq, cq->num_waits);
	unlink_cq(cq);
	err = dpumap_errno_of_end(cq->context->context, ibv_destroy_cq(cq->cq));
	if (err) {
		link_cq(cq);
		return dpumap_fail(err == EBUSY ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_DRIVER,
				   "%s: destroying CQ %p failed: %s",
				   dpumap_verbs_name(cq->context), (void *)cq, strerror(err));
	}
	free(cq->kept);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_arm_cq(struct dpumap_verbs_cq *cq, bool solicited_only)
{
	int err = ibv_req_notify_cq(cq->cq, solicited_only);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: requesting an event of CQ %p failed: %s",
				   dpumap_verbs_name(cq->context), (void *)cq, strerror(err));
	return DOCA_SUCCESS;
}

/* --- completions ------------------------------------------------------------------------------ */

static uint32_t device_index(const struct dpumap_verbs_cq *cq)
{
	return be32toh(*(const volatile uint32_t *)cq->memory.record) & DPUMAP_CQ_INDEX_MASK;
}

/* Whether the device has written the completion with this index. */
static bool is_written(const struct dpumap_verbs_cq *cq, uint32_t index)
{
	const struct dpumap_verbs_cq_memory *memory = &cq->memory;
	const uint8_t *end =
		memory->cqes + ((size_t)(index & (memory->size - 1)) + 1) * memory->cqe_size;
	uint8_t op_own = *(const volatile uint8_t *)(end - 1);

	return (op_own & MLX5_CQE_OWNER_MASK) == !!(index & memory->size) &&
	       op_own >> 4 != MLX5_CQE_INVALID;
}

bool dpumap_verbs_has_completed(const struct dpumap_verbs_cq *cq, uint32_t number)
{
	/* Before the device's index, which the thread that polls advances first. */
	uint32_t consumed = atomic_load_explicit(&cq->consumed, memory_order_acquire);
	int32_t ahead = (int32_t)(number - consumed - (cq->num_kept - cq->first_kept));

	if (ahead < 0)
		return true;
	return (uint32_t)ahead < cq->memory.size &&
	       is_written(cq, device_index(cq) + (uint32_t)ahead);
}

static bool has_room(struct dpumap_verbs_cq *cq)
{
	void *list = array_make_room(cq->kept, (size_t)cq->num_kept + 1, &cq->kept_room,
				     sizeof(*cq->kept));

	if (list)
		cq->kept = list;
	return list != NULL;
}

/* How many completions were not polled, up to the last one of the queue pair. */
static uint32_t count_up_to_last(const struct dpumap_verbs_cq *cq, uint32_t qpn)
{
	const struct dpumap_verbs_cq_memory *memory = &cq->memory;
	uint32_t index = device_index(cq), count = 0;
	const struct mlx5_cqe64 *cqe;

	for (uint32_t i = 0; i < memory->size && is_written(cq, index); i++, index++) {
		cqe = (const void *)(memory->cqes +
				     ((size_t)(index & (memory->size - 1)) + 1) * memory->cqe_size -
				     sizeof(*cqe));
		if ((be32toh(cqe->sop_drop_qpn) & 0xffffff) == qpn)
			count = i + 1;
	}
	return count;
}

/* Poll completions, and keep those of other queue pairs. Other threads may poll some of them first. */
static doca_error_t keep(struct dpumap_verbs_cq *cq, uint32_t qpn, uint32_t count)
{
	for (; count; count--) {
		if (!has_room(cq))
			return dpumap_fail(DOCA_ERROR_NO_MEMORY,
					   "CQ %p: no memory to keep its completions", (void *)cq);
		if (ibv_poll_cq(cq->cq, 1, &cq->kept[cq->num_kept]) == 1 &&
		    cq->kept[cq->num_kept].qp_num != qpn)
			cq->num_kept++;
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_keep_others(struct dpumap_verbs_cq *cq, uint32_t qpn)
{
	uint32_t kept = 0, count = cq->memory.cqes ? count_up_to_last(cq, qpn) : 0;
	doca_error_t result;

	for (uint32_t i = cq->first_kept; i < cq->num_kept; i++)
		if (cq->kept[i].qp_num != qpn)
			cq->kept[kept++] = cq->kept[i];
	cq->first_kept = 0;
	cq->num_kept = kept;
	/* First, so that no thread polls a later completion before those that are kept. */
	if (count)
		atomic_store(&cq->fast, NULL);
	result = keep(cq, qpn, count);
	choose_path(cq);
	return result;
}

static int take_kept(struct dpumap_verbs_cq *cq, uint32_t num, struct ibv_wc *wc)
{
	uint32_t left = cq->num_kept - cq->first_kept;

	if (num > left)
		num = left;
	memcpy(wc, cq->kept + cq->first_kept, num * sizeof(*wc));
	cq->first_kept += num;
	if (num < left)
		return (int)num;
	cq->num_kept = cq->first_kept = 0;
	choose_path(cq);
	return (int)num;
}

int dpumap_verbs_poll_slowly(struct dpumap_verbs_cq *cq, int num, struct ibv_wc *wc)
{
	int polled = 0;

	if (cq->is_external)
		return -dpumap_verbs_fail_external(cq->context);
	if (num <= 0)
		return ibv_poll_cq(cq->cq, num, wc);
	pthread_mutex_lock(&cq->context->lock);
	dpumap_verbs_release(cq->context);
	if (cq->num_kept)
		polled = take_kept(cq, (uint32_t)num, wc);
	else
		polled = ibv_poll_cq(cq->cq, num, wc);
	for (int i = 0; i < polled; i++)
		dpumap_verbs_see(cq->context, &wc[i]);
	if (polled > 0)
		atomic_fetch_add_explicit(&cq->consumed, (unsigned int)polled,
					  memory_order_release);
	pthread_mutex_unlock(&cq->context->lock);
	return polled;
}

/* --- channels --------------------------------------------------------------------------------- */

doca_error_t dpumap_verbs_create_channel(struct dpumap_verbs_context *context,
					 struct dpumap_verbs_channel *channel)
{
	channel->context = context;
	channel->channel = ibv_create_comp_channel(context->context);
	if (channel->channel)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: creating a completion channel failed: %s",
			   dpumap_verbs_name(context), strerror(errno));
}

void dpumap_verbs_destroy_channel(const struct dpumap_verbs_channel *channel)
{
	struct dpumap_verbs_context *context = channel->context;
	int err = dpumap_errno_of_end(context->context, ibv_destroy_comp_channel(channel->channel));

	if (err)
		dpumap_log(DPUMAP_LOG_ERROR, "%s: destroying a completion channel failed: %s",
			   dpumap_verbs_name(context), strerror(err));
}

int dpumap_verbs_channel_fd(const struct dpumap_verbs_channel *channel)
{
	return channel->channel->fd;
}

/* Requests that are held back go on while their program sleeps. */
static void release_until_event(const struct dpumap_verbs_channel *channel)
{
	struct pollfd fd = {.fd = channel->channel->fd, .events = POLLIN};
	int flags = fcntl(fd.fd, F_GETFL);

	while (atomic_load(&channel->context->holders) && !(flags & O_NONBLOCK)) {
		pthread_mutex_lock(&channel->context->lock);
		dpumap_verbs_release(channel->context);
		pthread_mutex_unlock(&channel->context->lock);
		if (poll(&fd, 1, RELEASE_MS))
			return;
	}
}

doca_error_t dpumap_verbs_next_cq_event(const struct dpumap_verbs_channel *channel,
					struct dpumap_verbs_cq **cq)
{
	struct ibv_cq *ended;
	void *context;

	do {
		release_until_event(channel);
		errno = 0;
		if (!ibv_get_cq_event(channel->channel, &ended, &context)) {
			*cq = context;
			return DOCA_SUCCESS;
		}
	} while (errno == EINTR);
	if (errno == EAGAIN)
		return DOCA_ERROR_AGAIN;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: reading a completion event failed: %s",
			   dpumap_verbs_name(channel->context),
			   errno ? strerror(errno) : "the device is gone");
}

void dpumap_verbs_ack_cq(struct dpumap_verbs_cq *cq, unsigned int num)
{
	ibv_ack_cq_events(cq->cq, num);
}
