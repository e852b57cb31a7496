/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The properties of a context of doca_rdma. */
#ifndef DPUMAP_RDMA_SETTINGS_H
#define DPUMAP_RDMA_SETTINGS_H

#include "rdma/rdma.h"

void dpumap_rdma_settings_init(struct rdma_settings *settings, const struct dpumap_caps *caps);

#endif
