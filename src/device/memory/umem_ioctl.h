/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Umems through the kernel's own interface, which every version has. */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_IOCTL_H
#define DPUMAP_DEVICE_MEMORY_UMEM_IOCTL_H

#include "device/memory/umem_priv.h"

extern const struct dpumap_umem_ops dpumap_umem_ioctl_ops;

#endif
