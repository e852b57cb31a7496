/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The minimum that a program needs to copy with the DMA engine of an mlx5 device: a completion
 * queue, a queue pair connected to itself, mlx5dv_wr_memcpy() and ibv_poll_cq(). It is the
 * reference for all comparisons.
 */
#ifndef DPUMAP_BENCH_RAW_H
#define DPUMAP_BENCH_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

#define RAW_MAX_BATCH 256

struct raw {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_td *td; /* for use by a single thread; otherwise NULL */
	struct ibv_pd *parent;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct mlx5dv_qp_ex *mqpx;
	struct ibv_mr *mr;
};

struct raw_copy {
	uint64_t dst, src;
	size_t len;
};

/* Open the first device and register the memory. Returns false after printing an error. */
bool raw_open(struct raw *raw, uint32_t depth, bool single_thread, void *memory, size_t len);
/* Destroy all objects in *raw; members that were not created are zero. */
void raw_close(struct raw *raw);

/* Post copies of consecutive pieces, with one doorbell. */
bool raw_post(const struct raw *raw, const struct raw_copy *copies, size_t n);
/* Return the number of completions, at most n; -1 if a copy failed. */
int raw_reap(const struct raw *raw, int n);

#endif
