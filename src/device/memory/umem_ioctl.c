/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Before rdma-core 63 libmlx5 does not disclose the kernel's handle of a umem, which an importer
 * needs. So umems are registered here, with the handle kept.
 */
#include "device/memory/umem_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <dpumap/desc.h>

#include "device/device_priv.h"
#include "log/log.h"

#define MAX_ATTRS 6

union request {
	struct ib_uverbs_ioctl_hdr hdr;
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

static void start(union request *req, uint16_t method)
{
	memset(req, 0, sizeof(*req));
	req->hdr.length = sizeof(req->hdr);
	req->hdr.object_id = MLX5_IB_OBJECT_DEVX_UMEM;
	req->hdr.method_id = method;
	req->hdr.driver_id = RDMA_DRIVER_MLX5;
}

static struct ib_uverbs_attr *add(union request *req, uint16_t id)
{
	struct ib_uverbs_attr *attr = &req->hdr.attrs[req->hdr.num_attrs++];

	req->hdr.length += sizeof(*attr);
	attr->attr_id = id;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

/* Values of up to eight bytes are stored in the attribute itself. */
static void add_value(union request *req, uint16_t id, const void *value, uint16_t len)
{
	struct ib_uverbs_attr *attr = add(req, id);

	attr->len = len;
	memcpy(&attr->data, value, len);
}

static void add_out(union request *req, uint16_t id, uint32_t *value)
{
	struct ib_uverbs_attr *attr = add(req, id);

	attr->len = sizeof(*value);
	attr->data = (uintptr_t)value;
}

static int execute(const struct dpumap_devx_umem *umem, union request *req)
{
	return ioctl(umem->device->context->cmd_fd, RDMA_VERBS_IOCTL, &req->hdr) ? errno : 0;
}

static doca_error_t reg(struct dpumap_devx_umem *umem, int dmabuf)
{
	uint32_t access = dpumap_umem_access(umem);
	const struct ib_uverbs_attr *handle;
	union request req;
	int err;

	start(&req, MLX5_IB_METHOD_DEVX_UMEM_REG);
	handle = add(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	add_value(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &umem->base, sizeof(umem->base));
	add_value(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &umem->size, sizeof(umem->size));
	add_value(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, &access, sizeof(access));
	add_out(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->umem_id);
	if (dmabuf >= 0)
		add(&req, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)->data_s64 = dmabuf;
	err = execute(umem, &req);
	if (err)
		return dpumap_umem_fail_reg(umem, err);
	umem->kernel_handle = (uint32_t)handle->data;
	return DOCA_SUCCESS;
}

static int dereg(struct dpumap_devx_umem *umem)
{
	union request req;

	start(&req, MLX5_IB_METHOD_DEVX_UMEM_DEREG);
	add(&req, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE)->data = umem->kernel_handle;
	return execute(umem, &req);
}

/* Little-endian, as all of a descriptor. */
static doca_error_t export_umem(const struct dpumap_devx_umem *umem,
				struct dpumap_umem_handle *handle)
{
	handle->token_len = sizeof(umem->kernel_handle);
	for (unsigned int i = 0; i < sizeof(umem->kernel_handle); i++)
		handle->token[i] = (uint8_t)(umem->kernel_handle >> (8 * i));
	return DOCA_SUCCESS;
}

static doca_error_t import_umem(struct dpumap_devx_umem *umem,
				const struct dpumap_umem_handle *handle)
{
	umem->kernel_handle = 0;
	for (unsigned int i = 0; i < sizeof(umem->kernel_handle); i++)
		umem->kernel_handle |= (uint32_t)handle->token[i] << (8 * i);
	umem->umem_id = handle->umem_id;
	return DOCA_SUCCESS;
}

static void unimport(struct dpumap_devx_umem *umem)
{
	umem->kernel_handle = 0;
}

const struct dpumap_umem_ops dpumap_umem_ioctl_ops = {
	.form = DPUMAP_DESC_UMEM_HANDLE,
	.reg = reg,
	.dereg = dereg,
	.export_umem = export_umem,
	.import_umem = import_umem,
	.unimport = unimport,
};
