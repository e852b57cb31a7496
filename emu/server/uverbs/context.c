/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"

#define CQE_VERSION 1u	    /* the newest */
#define ANY_OBJECT  0xffffu /* UVERBS_IDR_ANY_OBJECT of Linux */

static void fill_ucontext(const struct emu_file *f, struct mlx5_ib_alloc_ucontext_resp *r)
{
	memset(r, 0, sizeof(*r));
	r->qp_tab_size = 1u << 17;
	r->bf_reg_size = 512;
	r->cache_line_size = 64;
	r->max_sq_desc_sz = 1024;
	r->max_rq_desc_sz = 512;
	r->max_send_wqebb = 32768;
	r->max_recv_wr = 32768;
	r->max_srq_recv_wr = 32768;
	r->num_ports = EMU_PORTS;
	r->comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY |
		       MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE;
	r->dump_fill_mkey = EMU_NULL_LKEY;
	r->response_length = sizeof(*r);
	r->cqe_version = f->cqe_version;
	r->clock_info_versions = 1u << MLX5_IB_CLOCK_INFO_V1;
	r->eth_min_inline = MLX5_USER_INLINE_MODE_L2;
	r->cmds_supp_uhw = 1u << 0 | 1u << 1; /* query_device, create_ah */
	r->log_uar_size = 12;
	r->num_uars_per_page = 1;
}

/*
 * The clock page, by which programs convert time stamps of CQEs to wall-clock time. Stamps are
 * nanoseconds already, so it holds the difference of the two clocks. Page 0 is not a doorbell
 * page.
 */
static int write_clock_page(void)
{
	static bool done;
	struct mlx5_ib_clock_info info = {.mult = 1, .mask = UINT64_MAX};
	struct timespec wall, mono;

	if (done)
		return 0;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	info.nsec = timespec_ns(&wall) - timespec_ns(&mono);
	info.overflow_period = NSEC_PER_SEC;
	if (pwrite(emu_segments.uar_fd, &info, sizeof(info), 0) != (ssize_t)sizeof(info))
		return -ENOMEM;
	done = true;
	return 0;
}

static int out_context(struct emu_cmd *c, uint16_t resp)
{
	struct mlx5_ib_alloc_ucontext_resp r;
	int err;

	fill_ucontext(c->file, &r);
	if (emu_attr_len(c, resp) < sizeof(r))
		r.response_length = (uint32_t)emu_attr_len(c, resp);
	err = write_clock_page();
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
				       EMU_COMP_VECTORS);
	if (!err)
		err = emu_attr_out_u64(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
				       IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	return err ? err : emu_attr_out(c, resp, &r, sizeof(r));
}

#define NON_FAST_BFREGS 2u /* of a page */

/* The checks of mlx5_ib_alloc_ucontext(). */
static int read_request(struct emu_cmd *c, struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	size_t len = emu_attr_len(c, UVERBS_ATTR_UHW_IN);
	uint32_t bfregs;
	int err;

	if (len != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    len < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	err = emu_attr_in_known(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
	if (err)
		return err;
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX || req->comp_mask || req->reserved0 ||
	    req->reserved1 || req->reserved2)
		return -EOPNOTSUPP;
	bfregs = (req->total_num_bfregs + NON_FAST_BFREGS - 1) / NON_FAST_BFREGS * NON_FAST_BFREGS;
	return req->num_low_latency_bfregs > bfregs - 1 ? -EINVAL : 0;
}

static int get_context(struct emu_cmd *c)
{
	static uint16_t last_uid;
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	int err;

	if (c->file->has_context ||
	    emu_attr_len(c, EMU_UVERBS_ATTR_GET_CONTEXT_FD_ARR) % sizeof(int))
		return -EINVAL;
	if (emu_attr(c, EMU_UVERBS_ATTR_GET_CONTEXT_FD_ARR))
		return -EBADF; /* ib_get_ucaps(): mlx5 has no files of rights for this card */
	err = read_request(c, &req);
	if (err)
		return err;
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return -EOPNOTSUPP; /* static doorbell pages: libmlx5 no longer uses them */
	c->file->cqe_version = req.max_cqe_version ? CQE_VERSION : 0;
	err = out_context(c, UVERBS_ATTR_UHW_OUT);
	if (err)
		return err;
	if (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) {
		if (!++last_uid)
			last_uid = 1;
		c->file->devx_uid = last_uid;
	}
	c->file->has_context = true;
	emu_topology.count.contexts++;
	return 0;
}

static int query_context(struct emu_cmd *c)
{
	return out_context(c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
}

/* The objects that are no handles: the device, and descriptors, whose numbers only their process knows. */
static bool has_no_handles(uint64_t object)
{
	return object == UVERBS_OBJECT_DEVICE || object == UVERBS_OBJECT_COMP_CHANNEL ||
	       object == UVERBS_OBJECT_ASYNC_EVENT || object == EMU_UVERBS_OBJECT_DMABUF ||
	       object == MLX5_IB_OBJECT_DEVX || object == MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD ||
	       object == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD;
}

static int info_handles(struct emu_cmd *c)
{
	const uint64_t object = emu_attr_u64(c, UVERBS_ATTR_INFO_OBJECT_ID, 0);
	const size_t len = emu_attr_len(c, UVERBS_ATTR_INFO_HANDLES_LIST);
	uint32_t *list;
	int err, n;

	if (!len || len % sizeof(*list) || object > ANY_OBJECT)
		return -EINVAL;
	if (object == ANY_OBJECT)
		return -ENOMSG;
	list = malloc(len);
	if (!list)
		return -ENOMEM;
	n = has_no_handles(object) ? 0
				   : emu_uobj_handles(c->file, (uint16_t)object, list,
						      (unsigned int)(len / sizeof(*list)));
	err = n < 0 ? n
		    : emu_attr_out(c, UVERBS_ATTR_INFO_HANDLES_LIST, list,
				   (size_t)n * sizeof(*list));
	free(list);
	return err ? err : emu_attr_out_u32(c, UVERBS_ATTR_INFO_TOTAL_HANDLES, (uint32_t)n);
}

const struct emu_method emu_methods_context[] = {
	{
		.command.name = "context.create",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_GET_CONTEXT,
		.handler = get_context,
		.attr = {{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, EMU_A_RESULT, false, 4},
			 {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, EMU_A_RESULT, false, 8},
			 {EMU_UVERBS_ATTR_GET_CONTEXT_FD_ARR, EMU_A_IN, false, sizeof(int)},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}},
	},
	{
		.command.name = "context.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_QUERY_CONTEXT,
		.handler = query_context,
		.attr = {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, EMU_A_RESULT, false, 4},
			 {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, EMU_A_RESULT, false, 8},
			 {MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, EMU_A_OUT, true,
			  sizeof(struct mlx5_ib_alloc_ucontext_resp)}},
	},
	{
		.command.name = "context.query",
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_INFO_HANDLES,
		.handler = info_handles,
		.attr = {{UVERBS_ATTR_INFO_OBJECT_ID, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_INFO_TOTAL_HANDLES, EMU_A_RESULT, false, 4},
			 {UVERBS_ATTR_INFO_HANDLES_LIST, EMU_A_OUT, false, 4}},
	},
	{.handler = NULL},
};
