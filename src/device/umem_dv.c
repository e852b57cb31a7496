/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems by libmlx5 alone, which from rdma-core 63 on passes them to other processes. Its functions
 * are looked up in the library that is loaded, so that one build serves all versions.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <dpumap/desc.h>

#include "device/errno.h"
#include "device/umem_priv.h"
#include "log/log.h"

/* As later headers declare it. */
struct export_sizes {
	uint32_t var;
	uint32_t umem;
	uint32_t obj;
};

static struct {
	int (*export)(struct mlx5dv_devx_umem *umem, void *data);
	struct mlx5dv_devx_umem *(*import)(struct ibv_context *context, void *data);
	void (*unimport)(struct mlx5dv_devx_umem *umem);
	void (*get_sizes)(struct export_sizes *sizes, size_t len);
	uint32_t token_len;
	bool offered;
} dv;

/* POSIX promises that a function's address fits; ISO C knows no such conversion. */
static void find(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &found, sizeof(found));
}

static void look(void)
{
	struct export_sizes sizes = {0};

	find("mlx5dv_devx_umem_export", &dv.export);
	find("mlx5dv_devx_umem_import", &dv.import);
	find("mlx5dv_devx_umem_unimport", &dv.unimport);
	find("_mlx5dv_get_export_sizes", &dv.get_sizes);
	if (!dv.export || !dv.import || !dv.unimport || !dv.get_sizes)
		return;
	dv.get_sizes(&sizes, sizeof(sizes));
	dv.token_len = sizes.umem;
	/* More than a descriptor has room for: then by the kernel's handles. */
	dv.offered = sizes.umem && sizes.umem <= DPUMAP_UMEM_TOKEN_SIZE;
}

static doca_error_t reg(struct dpumap_pages *pages, int dmabuf)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = (void *)(uintptr_t)pages->base,
		.size = pages->size,
		.access = dpumap_umem_access(pages),
		.pgsz_bitmap = DPUMAP_UMEM_PAGE,
	};

	if (dmabuf >= 0) {
		in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
		in.dmabuf_fd = dmabuf;
	}
	pages->dv = mlx5dv_devx_umem_reg_ex(pages->device->context, &in);
	if (!pages->dv)
		return dpumap_umem_fail_reg(pages, errno);
	pages->umem_id = pages->dv->umem_id;
	return DOCA_SUCCESS;
}

static int dereg(struct dpumap_pages *pages)
{
	return mlx5dv_devx_umem_dereg(pages->dv);
}

static doca_error_t export(const struct dpumap_pages *pages, struct dpumap_umem_ticket *ticket)
{
	int err = dv.export(pages->dv, ticket->token);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: libmlx5 does not export umem %u: %s",
				   dpumap_hca_name(pages->device->hca), pages->umem_id,
				   strerror(err));
	ticket->token_len = (uint16_t)dv.token_len;
	return DOCA_SUCCESS;
}

static doca_error_t import(struct dpumap_pages *pages, const struct dpumap_umem_ticket *ticket)
{
	uint8_t token[DPUMAP_UMEM_TOKEN_SIZE];
	const char *name = dpumap_hca_name(pages->device->hca);

	if (ticket->token_len != dv.token_len)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: a umem by %u bytes, this libmlx5 knows them by %u", name,
				   ticket->token_len, dv.token_len);
	memcpy(token, ticket->token, sizeof(token));
	pages->dv = dv.import(pages->device->context, token);
	if (!pages->dv)
		return dpumap_fail(dpumap_errno_to_error(errno),
				   "%s: libmlx5 does not import a umem: %s", name, strerror(errno));
	pages->umem_id = pages->dv->umem_id;
	if (pages->umem_id == ticket->umem_id)
		return DOCA_SUCCESS;
	dv.unimport(pages->dv);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: descriptor of two umems, %u and %u", name,
			   ticket->umem_id, pages->umem_id);
}

static void forget(struct dpumap_pages *pages)
{
	dv.unimport(pages->dv);
}

const struct dpumap_umem_way *dpumap_umem_by_libmlx5(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static const struct dpumap_umem_way way = {
		.form = DPUMAP_DESC_UMEM_LIBMLX5,
		.reg = reg,
		.dereg = dereg,
		.export = export,
		.import = import,
		.forget = forget,
	};

	pthread_once(&once, look);
	return dv.offered ? &way : NULL;
}
