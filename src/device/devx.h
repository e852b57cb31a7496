/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Firmware commands through DEVX. Failures are logged with the firmware's status and syndrome. */
#ifndef DPUMAP_DEVICE_DEVX_H
#define DPUMAP_DEVICE_DEVX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

#include <doca_error.h>

struct dpumap_devx_cmd {
	const char *what; /* for the log */
	const char *hint; /* for the log of a failure, or NULL */
	const void *in;
	size_t in_len;
	void *out; /* zeroed by the caller */
	size_t out_len;
	doca_error_t refusal; /* the error for a bad object number, state or key */
	bool probe;	      /* a refusal is expected: log it as info */
};

/* Logs a command that succeeded. */
void dpumap_devx_log(const struct ibv_context *context, const char *what, const void *out);
doca_error_t dpumap_devx_command(struct ibv_context *context, const struct dpumap_devx_cmd *cmd);
doca_error_t dpumap_devx_create(struct ibv_context *context, const struct dpumap_devx_cmd *cmd,
				struct mlx5dv_devx_obj **obj);

#endif
