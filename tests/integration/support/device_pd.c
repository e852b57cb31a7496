/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device_pd.h"

#include "core/dev/dev.h"
#include "device/device_priv.h"

struct ibv_pd *device_pd(const struct doca_dev *dev)
{
	return dev->device->pd;
}
