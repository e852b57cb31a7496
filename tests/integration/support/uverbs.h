/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands to the kernel, attribute by attribute, without a verbs library. */
#ifndef DPUMAP_TESTS_UVERBS_H
#define DPUMAP_TESTS_UVERBS_H

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fixture.h"

#define DEVICE_PATH "/dev/infiniband/uverbs0"
#define MAX_ATTRS   16
#define MANDATORY   UVERBS_ATTR_F_MANDATORY

union command {
	struct ib_uverbs_ioctl_hdr hdr; /* ends with the attributes */
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

static inline union command *begin(union command *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = RDMA_DRIVER_MLX5;
	return c;
}

static inline struct ib_uverbs_attr *add(union command *c, uint16_t id, uint16_t len, uint64_t data)
{
	struct ib_uverbs_attr *a = &c->hdr.attrs[c->hdr.num_attrs++];

	a->attr_id = id;
	a->len = len;
	a->flags = MANDATORY;
	a->data = data;
	return a;
}

static inline struct ib_uverbs_attr *add_buf(union command *c, uint16_t id, void *buf, size_t len)
{
	return add(c, id, (uint16_t)len, (uintptr_t)buf);
}

/* Returns 0 or the errno. */
static inline int issue(int fd, union command *c)
{
	c->hdr.length = (uint16_t)(sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->hdr.attrs[0]));
	return ioctl(fd, RDMA_VERBS_IOCTL, &c->hdr) ? errno : 0;
}

static inline int open_cdev(void)
{
	return open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
}

static inline int get_context_of(int fd, uint8_t cqe_version)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.flags = MLX5_IB_ALLOC_UCTX_DEVX,
		.max_cqe_version = cqe_version,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp resp = {0};
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	add_buf(&c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	err = issue(fd, &c);
	if (!err)
		assert_int_equal(resp.cqe_version, cqe_version);
	return err;
}

static inline int get_context(int fd)
{
	return get_context_of(fd, 1);
}

static inline int open_context(void)
{
	int fd = open_cdev();

	assert_true(fd >= 0);
	assert_int_equal(get_context(fd), 0);
	return fd;
}

static inline int write_command(int fd, uint32_t command, void *in, size_t in_len, void *out,
				size_t out_len)
{
	union command c;
	uint64_t inline_in = 0;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add(&c, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), command);
	if (in_len > sizeof(inline_in))
		add_buf(&c, UVERBS_ATTR_CORE_IN, in, in_len);
	else if (in_len)
		add(&c, UVERBS_ATTR_CORE_IN, (uint16_t)in_len, inline_in);
	if (out_len)
		add_buf(&c, UVERBS_ATTR_CORE_OUT, out, out_len);
	return issue(fd, &c);
}

static inline int reg_mr(int fd, uint32_t pd, void *start, uint64_t hca_va, uint64_t len,
			 uint32_t access, uint32_t *handle)
{
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)start,
		.hca_va = hca_va,
		.length = len,
		.pd_handle = pd,
		.access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp resp = {0};
	int err =
		write_command(fd, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &resp, sizeof(resp));

	*handle = resp.mr_handle;
	return err;
}

static inline int rereg_mr(int fd, uint32_t mr, const struct ib_uverbs_rereg_mr *how)
{
	struct ib_uverbs_rereg_mr req = *how;
	struct ib_uverbs_rereg_mr_resp resp;

	req.mr_handle = mr;
	return write_command(fd, IB_USER_VERBS_CMD_REREG_MR, &req, sizeof(req), &resp,
			     sizeof(resp));
}

static inline int alloc_pd(int fd, uint32_t *handle)
{
	struct ib_uverbs_alloc_pd_resp resp = {0};
	struct mlx5_ib_alloc_pd_resp drv;
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add(&c, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_ALLOC_PD);
	add(&c, UVERBS_ATTR_CORE_IN, 8, 0);
	add_buf(&c, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &drv, sizeof(drv));
	err = issue(fd, &c);
	*handle = resp.pd_handle;
	return err;
}

struct uar {
	uint32_t handle, page, len;
	uint64_t offset; /* for mmap() */
};

static inline int alloc_uar(int fd, struct uar *uar)
{
	union command c;
	int err;

	begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	add(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
	add(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	add_buf(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &uar->offset, sizeof(uar->offset));
	add_buf(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &uar->len, sizeof(uar->len));
	add_buf(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->page, sizeof(uar->page));
	err = issue(fd, &c);
	uar->handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

/* The descriptor of what can be mapped at an offset, or minus the errno. */
static inline int export_dmabuf(int fd, uint64_t offset)
{
	union command c;
	int err;

	/* UVERBS_OBJECT_DMABUF and UVERBS_METHOD_DMABUF_ALLOC, which older headers lack */
	begin(&c, 18, 0);
	add(&c, 0, 0, 0);
	add(&c, 1, 8, offset);
	err = issue(fd, &c);
	return err ? -err : (int)c.hdr.attrs[0].data;
}

static inline int alloc_dm(int fd, uint64_t len, uint32_t *handle, uint16_t *page)
{
	uint64_t offset = 0;
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	add(&c, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_ALLOC_DM_LENGTH, 8, len);
	add(&c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 0);
	add_buf(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, sizeof(offset));
	add_buf(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, page, sizeof(*page));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

static inline int destroy(int fd, uint16_t object, uint16_t method, uint64_t handle)
{
	union command c;

	add(begin(&c, object, method), 0, 0, handle);
	return issue(fd, &c);
}

static inline int dealloc_pd(int fd, uint32_t handle)
{
	return destroy(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, handle);
}

#endif
