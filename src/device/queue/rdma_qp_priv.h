/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queue pair of a connection of an RDMA context, for a connection manager. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QP_PRIV_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QP_PRIV_H

#include <infiniband/verbs.h>

#include "device/queue/rdma_qp.h"

struct ibv_qp *dpumap_rdma_qp_verbs(const struct dpumap_rdma_qp *qp);
/*
 * Change the state by attributes that a connection manager has chosen. What the peer may do, and how
 * often the device repeats a message that was not received, are those of dpumap_rdma_qp_attr.
 */
doca_error_t dpumap_rdma_qp_modify(struct dpumap_rdma_qp *qp, const struct ibv_qp_attr *attr,
				   int mask);

#endif
