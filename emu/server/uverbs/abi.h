/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's user interface: every header of it that describes uverbs and mlx5. */
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

#endif
