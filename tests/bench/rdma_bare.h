/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The minimum that a program needs for RDMA with verbs: a completion queue, and a queue pair that is
 * connected to itself. Work requests are prepared once. It is the reference of bench_rdma.
 */
#ifndef DPUMAP_BENCH_RDMA_BARE_H
#define DPUMAP_BENCH_RDMA_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define BARE_DEPTH  64
#define BARE_INLINE 64 /* bytes at most */

enum rdma_op { OP_WRITE, OP_READ, OP_SEND, OPS };

struct bare {
	enum rdma_op op;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_sge sge[BARE_DEPTH], recv_sge[BARE_DEPTH];
	struct ibv_send_wr send[BARE_DEPTH];
	struct ibv_recv_wr recv[BARE_DEPTH];
};

/* From `memory`, or for a read to it, and the other half of it. False after printing an error. */
bool bare_open(struct bare *bare, struct ibv_pd *pd, enum rdma_op op, uint8_t *memory, size_t half);
/* Pieces of `len` bytes, `stride` bytes apart; the device finds them by their key. */
void bare_prepare(struct bare *bare, uint8_t *memory, size_t half, size_t len, size_t stride);
/* Destroy all objects; members that were not created are zero. */
void bare_close(struct bare *bare);

/* From now on the first piece is copied into its work request, or not. */
void bare_set_inline(struct bare *bare, bool is_inline);
/* n pieces from that one on. */
bool bare_post(struct bare *bare, size_t first, size_t n);
bool bare_post_receives(struct bare *bare, size_t n);
/* The number of completions, at most n; -1 if one failed. */
int bare_reap(struct bare *bare, size_t n);

#endif
