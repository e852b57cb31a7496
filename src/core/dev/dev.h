/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The device object, and descriptions of devices (devinfo). */
#ifndef DPUMAP_CORE_DEV_DEV_H
#define DPUMAP_CORE_DEV_DEV_H

#include <stdatomic.h>

#include <doca_dev.h>

#include "device/device.h"

struct doca_devinfo {
	struct dpumap_hca *hca;
};

struct doca_dev {
	struct doca_devinfo info;
	struct dpumap_device *device;
	unsigned int opens; /* under the lock of the list of open devices */
	atomic_uint users;  /* maps, device memory, queues and contexts on it */
	bool is_private;    /* not returned by doca_dev_open() */
	struct doca_dev *next;
};

/* The open device on a protection domain of libibverbs, or NULL. */
struct doca_dev *dpumap_dev_find_on(const void *pd);
/* Open a device on a protection domain of the program, as dpumap_device_open_pd(). */
doca_error_t dpumap_dev_open_on(void *pd, bool is_limited, struct doca_dev **dev);
static inline void dpumap_dev_add_user(struct doca_dev *dev)
{
	atomic_fetch_add(&dev->users, 1);
}

static inline void dpumap_dev_remove_user(struct doca_dev *dev)
{
	atomic_fetch_sub(&dev->users, 1);
}

#endif
