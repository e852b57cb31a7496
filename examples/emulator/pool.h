/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A verbs program to be tested: a pool of registered buffers, and copies between them. */
#ifndef EXAMPLE_POOL_H
#define EXAMPLE_POOL_H

#include <infiniband/verbs.h>
#include <stddef.h>

#define POOL_BUFFERS 4
#define POOL_BYTES   4096

struct pool {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr[POOL_BUFFERS];
	char *bytes[POOL_BUFFERS];
};

/* Open a pool on the first RDMA device. Return 0 or an errno; nothing remains open on failure. */
int pool_open(struct pool *p);
void pool_close(struct pool *p);
/* Copy one buffer to another through the device. Return ETIMEDOUT if no completion arrives. */
int pool_copy(struct pool *p, int to, int from, enum ibv_wc_status *status);
/* Has the device reported a fatal error? Does not block. */
int pool_is_dead(struct pool *p);

#endif
