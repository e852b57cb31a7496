/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/umem_priv.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <dpumap/desc.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/memory/umem_mkey.h"
#include "device/symbol.h"
#include "log/log.h"

/* As later headers declare it. */
struct export_sizes {
	uint32_t var;
	uint32_t umem;
	uint32_t obj;
};

static struct {
	int (*export_umem)(struct mlx5dv_devx_umem *umem, void *data);
	struct mlx5dv_devx_umem *(*import_umem)(struct ibv_context *context, void *data);
	void (*unimport)(struct mlx5dv_devx_umem *umem);
	void (*get_sizes)(struct export_sizes *sizes, size_t len);
	uint32_t token_len;
	bool is_supported;
} dv;

static void look_up_functions(void)
{
	struct export_sizes sizes = {0};

	dpumap_find_symbol("mlx5dv_devx_umem_export", &dv.export_umem);
	dpumap_find_symbol("mlx5dv_devx_umem_import", &dv.import_umem);
	dpumap_find_symbol("mlx5dv_devx_umem_unimport", &dv.unimport);
	dpumap_find_symbol("_mlx5dv_get_export_sizes", &dv.get_sizes);
	if (!dv.export_umem || !dv.import_umem || !dv.unimport || !dv.get_sizes)
		return;
	dv.get_sizes(&sizes, sizeof(sizes));
	dv.token_len = sizes.umem;
	/* A longer token does not fit into a descriptor: use the kernel's handles then. */
	dv.is_supported = sizes.umem && sizes.umem <= DPUMAP_UMEM_TOKEN_SIZE;
}

#ifndef DPUMAP_NO_MLX5DV_DMABUF_UMEM
static bool set_dmabuf(struct mlx5dv_devx_umem_in *in, int dmabuf)
{
	in->comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	in->dmabuf_fd = dmabuf;
	return true;
}
#else
static bool set_dmabuf(struct mlx5dv_devx_umem_in *in, int dmabuf)
{
	(void)in;
	(void)dmabuf;
	return false;
}
#endif

static doca_error_t reg(struct dpumap_devx_umem *umem, int dmabuf)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = (void *)(uintptr_t)umem->base,
		.size = umem->size,
		.access = dpumap_umem_access(umem),
		.pgsz_bitmap = DPUMAP_UMEM_PAGE,
	};

	if (dmabuf >= 0 && !set_dmabuf(&in, dmabuf))
		return dpumap_umem_fail_reg(umem, EOPNOTSUPP);
	umem->dv = mlx5dv_devx_umem_reg_ex(umem->device->context, &in);
	if (!umem->dv)
		return dpumap_umem_fail_reg(umem, errno);
	umem->umem_id = umem->dv->umem_id;
	return DOCA_SUCCESS;
}

static int dereg(struct dpumap_devx_umem *umem)
{
	return mlx5dv_devx_umem_dereg(umem->dv);
}

static doca_error_t export_umem(const struct dpumap_devx_umem *umem,
				struct dpumap_umem_handle *handle)
{
	int err = dv.export_umem(umem->dv, handle->token);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: exporting umem %u by libmlx5 failed: %s",
				   dpumap_hca_name(umem->device->hca), umem->umem_id,
				   strerror(err));
	handle->token_len = (uint16_t)dv.token_len;
	return DOCA_SUCCESS;
}

static doca_error_t import_umem(struct dpumap_devx_umem *umem,
				const struct dpumap_umem_handle *handle)
{
	uint8_t token[DPUMAP_UMEM_TOKEN_SIZE];
	const char *name = dpumap_hca_name(umem->device->hca);

	if (handle->token_len != dv.token_len)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: the umem was exported by another version of libmlx5 (token "
				   "of %u bytes, not %u)",
				   name, handle->token_len, dv.token_len);
	memcpy(token, handle->token, sizeof(token));
	umem->dv = dv.import_umem(umem->device->context, token);
	if (!umem->dv)
		return dpumap_fail(dpumap_errno_to_error(errno),
				   "%s: importing umem %u by libmlx5 failed: %s", name,
				   handle->umem_id, strerror(errno));
	umem->umem_id = umem->dv->umem_id;
	if (umem->umem_id == handle->umem_id)
		return DOCA_SUCCESS;
	dv.unimport(umem->dv);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: inconsistent descriptor: it names umem %u, its token is of umem %u",
			   name, handle->umem_id, umem->umem_id);
}

static void unimport(struct dpumap_devx_umem *umem)
{
	dv.unimport(umem->dv);
}

const struct dpumap_umem_ops *dpumap_umem_libmlx5_ops(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static const struct dpumap_umem_ops ops = {
		.form = DPUMAP_DESC_UMEM_LIBMLX5,
		.reg = reg,
		.dereg = dereg,
		.export_umem = export_umem,
		.import_umem = import_umem,
		.unimport = unimport,
	};

	pthread_once(&once, look_up_functions);
	return dv.is_supported ? &ops : NULL;
}
