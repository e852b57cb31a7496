/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_CORE_DEV_H
#define DPUMAP_CORE_DEV_H

#include <stdatomic.h>

#include <doca_dev.h>

#include "device/hca.h"

struct doca_devinfo {
	struct dpumap_hca *hca;
};

struct doca_dev {
	struct doca_devinfo info;
	struct dpumap_device *device;
	unsigned int opens; /* under the lock of the list of open devices */
	atomic_uint users;  /* maps, device memory and queues on it */
	struct doca_dev *next;
};

static inline void dpumap_dev_hold(struct doca_dev *dev)
{
	atomic_fetch_add(&dev->users, 1);
}

static inline void dpumap_dev_release(struct doca_dev *dev)
{
	atomic_fetch_sub(&dev->users, 1);
}

#endif
