/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/dev/dev.h"

#include <pthread.h>
#include <stdlib.h>

#include <dpumap/dev.h>

#include "device/device.h"
#include "log/log.h"

/* All open devices of the process. */
static struct doca_dev *open_devs;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static struct doca_dev *find(const struct dpumap_hca *hca)
{
	struct doca_dev *dev;

	for (dev = open_devs; dev; dev = dev->next)
		if (!dev->is_private && dpumap_hca_same(dev->info.hca, hca))
			break;
	return dev;
}

static void unlink_dev(const struct doca_dev *dev)
{
	struct doca_dev **at = &open_devs;

	while (*at != dev)
		at = &(*at)->next;
	*at = dev->next;
}

static doca_error_t open_new(struct dpumap_hca *hca, struct doca_dev **dev)
{
	struct doca_dev *opened = calloc(1, sizeof(*opened));
	doca_error_t result;

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory to open %s",
				   dpumap_hca_name(hca));
	result = dpumap_device_open(hca, &opened->device);
	if (result != DOCA_SUCCESS) {
		free(opened);
		return result;
	}
	opened->info.hca = dpumap_hca_get(hca);
	opened->opens = 1;
	atomic_init(&opened->users, 0);
	opened->next = open_devs;
	open_devs = opened;
	*dev = opened;
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	doca_error_t result = DOCA_SUCCESS;
	struct doca_dev *found;

	if (!devinfo || !dev)
		return dpumap_fail_null(__func__);
	pthread_mutex_lock(&open_lock);
	found = find(devinfo->hca);
	if (found) {
		found->opens++;
		*dev = found;
	} else {
		result = open_new(devinfo->hca, dev);
	}
	pthread_mutex_unlock(&open_lock);
	return result;
}

doca_error_t dpumap_dev_open_own(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	doca_error_t result;

	if (!devinfo || !dev)
		return dpumap_fail_null(__func__);
	pthread_mutex_lock(&open_lock);
	result = open_new(devinfo->hca, dev);
	if (result == DOCA_SUCCESS)
		(*dev)->is_private = true;
	pthread_mutex_unlock(&open_lock);
	return result;
}

doca_error_t dpumap_dev_get_card_guid(const struct doca_dev *dev, uint64_t *guid)
{
	if (!dev || !guid)
		return dpumap_fail_null(__func__);
	*guid = dpumap_device_caps(dev->device)->card_guid;
	return DOCA_SUCCESS;
}

/* Add an open device that doca_dev_open() does not return. Takes hca and device over. */
static doca_error_t add(struct dpumap_hca *hca, struct dpumap_device *device, struct doca_dev **dev)
{
	struct doca_dev *added = calloc(1, sizeof(*added));
	doca_error_t result;

	if (!added) {
		result = dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory to open %s",
				     dpumap_hca_name(hca));
		dpumap_device_close(device);
		dpumap_hca_put(hca);
		return result;
	}
	added->info.hca = hca;
	added->device = device;
	added->is_private = true;
	added->opens = 1;
	atomic_init(&added->users, 0);
	pthread_mutex_lock(&open_lock);
	added->next = open_devs;
	open_devs = added;
	pthread_mutex_unlock(&open_lock);
	*dev = added;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dev_open_from_fd(int fd, struct doca_dev **dev)
{
	struct dpumap_device *device;
	struct dpumap_hca *hca;
	doca_error_t result;

	if (!dev)
		return dpumap_fail_null(__func__);
	result = dpumap_device_import_fd(fd, &hca, &device);
	if (result != DOCA_SUCCESS)
		return result;
	return add(hca, device, dev);
}

struct doca_dev *dpumap_dev_find_on(const void *pd)
{
	struct doca_dev *dev;

	pthread_mutex_lock(&open_lock);
	for (dev = open_devs; dev; dev = dev->next)
		if (dpumap_device_has_pd(dev->device, pd))
			break;
	pthread_mutex_unlock(&open_lock);
	return dev;
}

doca_error_t dpumap_dev_open_on(void *pd, bool is_limited, struct doca_dev **dev)
{
	struct dpumap_device *device;
	struct dpumap_hca *hca;
	doca_error_t result;

	result = dpumap_device_open_pd(pd, is_limited, &hca, &device);
	if (result != DOCA_SUCCESS)
		return result;
	return add(hca, device, dev);
}

static doca_error_t close_last(struct doca_dev *dev)
{
	unsigned int users = atomic_load(&dev->users);

	if (users)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "%s is used by %u objects; destroy them first",
				   dpumap_hca_name(dev->info.hca), users);
	unlink_dev(dev);
	dpumap_device_close(dev->device);
	dpumap_hca_put(dev->info.hca);
	free(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!dev)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&open_lock);
	if (dev->opens > 1)
		dev->opens--;
	else
		result = close_last(dev);
	pthread_mutex_unlock(&open_lock);
	return result;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	/* The interface takes a const device and returns a non-const description. */
	return dev ? (struct doca_devinfo *)&dev->info : NULL;
}
