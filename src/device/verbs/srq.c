/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/errno.h"
#include "device/hca_priv.h"
#include "device/verbs/qp.h"
#include "log/log.h"

static const char *name_of(const struct ibv_context *context)
{
	return ibv_get_device_name(context->device);
}

static doca_error_t map(struct dpumap_verbs_srq *srq, bool is_external)
{
	struct mlx5dv_srq dv = {.comp_mask = MLX5DV_SRQ_MASK_SRQN};
	struct mlx5dv_obj obj = {.srq.in = srq->srq, .srq.out = &dv};
	int err;

	if (!dpumap_ibdev_is_mlx5(srq->srq->context->device) && !is_external)
		return DOCA_SUCCESS;
	err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: mapping an SRQ failed: %s",
				   name_of(srq->srq->context), strerror(err));
	srq->number = dv.srqn;
	if (!is_external)
		return DOCA_SUCCESS;
	srq->memory = dv.buf;
	srq->record = dv.dbrec;
	srq->entries = dv.tail + 1; /* of a new queue, whose free entries are all of them */
	srq->entry_size = dv.stride;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_create_srq(struct dpumap_verbs_srq *srq, const struct dpumap_verbs_pd *pd,
				     uint32_t num_requests, uint32_t num_pieces, bool is_external)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = num_requests, .max_sge = num_pieces}};
	doca_error_t result;

	srq->srq = ibv_create_srq(pd->pd, &attr);
	if (!srq->srq)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_INVALID_VALUE,
							  DOCA_ERROR_NO_MEMORY,
							  DOCA_ERROR_NOT_SUPPORTED),
				   "%s: creating an SRQ of %u receives failed: %s",
				   name_of(pd->pd->context), num_requests, strerror(errno));
	result = map(srq, is_external);
	if (result != DOCA_SUCCESS)
		ibv_destroy_srq(srq->srq);
	return result;
}

doca_error_t dpumap_verbs_destroy_srq(const struct dpumap_verbs_srq *srq)
{
	struct ibv_context *context = srq->srq->context;
	int err = dpumap_errno_of_end(context, ibv_destroy_srq(srq->srq));

	if (err)
		return dpumap_fail(err == EBUSY ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_DRIVER,
				   "%s: destroying an SRQ failed: %s", name_of(context),
				   strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_query_srq(const struct dpumap_verbs_srq *srq, uint32_t *num_requests,
				    uint32_t *num_pieces)
{
	struct ibv_srq_attr attr;
	int err = ibv_query_srq(srq->srq, &attr);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying an SRQ failed: %s",
				   name_of(srq->srq->context), strerror(err));
	*num_requests = attr.max_wr;
	*num_pieces = attr.max_sge;
	return DOCA_SUCCESS;
}
