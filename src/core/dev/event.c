/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of an open device. */
#include <dpumap/dev.h>

#include "core/dev/dev.h"
#include "device/device.h"
#include "log/log.h"

doca_error_t dpumap_dev_get_event_handle(const struct doca_dev *dev, int *fd)
{
	if (!dev || !fd)
		return dpumap_fail_null(__func__);
	return dpumap_device_event_fd(dev->device, fd);
}

doca_error_t dpumap_dev_next_event(const struct doca_dev *dev, enum dpumap_dev_event *event)
{
	if (!dev || !event)
		return dpumap_fail_null(__func__);
	return dpumap_device_next_event(dev->device, event);
}
