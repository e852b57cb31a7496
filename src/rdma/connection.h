/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections of doca_rdma. */
#ifndef DPUMAP_RDMA_CONNECTION_H
#define DPUMAP_RDMA_CONNECTION_H

#include "rdma/rdma.h"

/* Destroy all connections. On failure those that could not be destroyed are left. */
doca_error_t dpumap_rdma_disconnect_all(struct doca_rdma *rdma);

#endif
