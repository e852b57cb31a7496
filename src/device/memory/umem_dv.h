/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Umems through libmlx5, which can export them from rdma-core 63 on. */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_DV_H
#define DPUMAP_DEVICE_MEMORY_UMEM_DV_H

#include "device/memory/umem_priv.h"

/* NULL if the loaded libmlx5 cannot export umems. */
const struct dpumap_umem_ops *dpumap_umem_libmlx5_ops(void);

#endif
