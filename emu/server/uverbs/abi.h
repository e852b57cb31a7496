/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's user interface: every header of it that describes uverbs and mlx5, and what Linux 7.2 has beyond them. */
#ifndef EMU_ABI_H
#define EMU_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

enum {
	EMU_UVERBS_OBJECT_DMAH = 17,

	EMU_UVERBS_METHOD_QUERY_PORT_SPEED = 7,
	EMU_UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM = 0,
	EMU_UVERBS_ATTR_QUERY_PORT_SPEED_RESP,

	EMU_UVERBS_METHOD_DMAH_ALLOC = 0,
	EMU_UVERBS_METHOD_DMAH_FREE,
	EMU_UVERBS_ATTR_ALLOC_DMAH_HANDLE = 0,
	EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID,
	EMU_UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE,
	EMU_UVERBS_ATTR_ALLOC_DMAH_PH,
	EMU_UVERBS_ATTR_FREE_DMA_HANDLE = 0,

	EMU_UVERBS_METHOD_REG_MR = 5,
	EMU_UVERBS_ATTR_REG_MR_HANDLE = 0,
	EMU_UVERBS_ATTR_REG_MR_PD_HANDLE,
	EMU_UVERBS_ATTR_REG_MR_DMA_HANDLE,
	EMU_UVERBS_ATTR_REG_MR_IOVA,
	EMU_UVERBS_ATTR_REG_MR_ADDR,
	EMU_UVERBS_ATTR_REG_MR_LENGTH,
	EMU_UVERBS_ATTR_REG_MR_ACCESS_FLAGS,
	EMU_UVERBS_ATTR_REG_MR_FD,
	EMU_UVERBS_ATTR_REG_MR_FD_OFFSET,
	EMU_UVERBS_ATTR_REG_MR_RESP_LKEY,
	EMU_UVERBS_ATTR_REG_MR_RESP_RKEY,
};

#endif
