/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A context that may send commands of the firmware. */
#ifndef DPUMAP_TESTS_DEVX_CONTEXT_H
#define DPUMAP_TESTS_DEVX_CONTEXT_H

#include <infiniband/mlx5dv.h>

#include "fixture.h"

static inline struct ibv_context *open_devx(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	assert_non_null(list);
	context = mlx5dv_open_device(list[0], &attr);
	ibv_free_device_list(list);
	assert_non_null(context);
	return context;
}

#endif
