/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "device/cm/cm_priv.h"
#include "device/device_priv.h"
#include "log/log.h"

const char *dpumap_cm_name(const struct dpumap_cm *cm)
{
	return dpumap_hca_name(cm->device->hca);
}

static doca_error_t fail_to_open(const struct dpumap_cm *cm, int err)
{
	if (err == EACCES)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: cannot open the connection manager: %s: the user needs "
				   "read and write access to /dev/infiniband/rdma_cm",
				   dpumap_cm_name(cm), strerror(err));
	if (err == EMFILE || err == ENFILE || err == ENOMEM)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "%s: cannot open the connection manager: %s", dpumap_cm_name(cm),
				   strerror(err));
	if (err == ENOENT || err == ENXIO || err == ENODEV || err == ENOSYS)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: this machine has no connection manager: %s: load the "
				   "kernel module rdma_ucm",
				   dpumap_cm_name(cm), strerror(err));
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: cannot open the connection manager: %s",
			   dpumap_cm_name(cm), strerror(err));
}

doca_error_t dpumap_cm_create(const struct dpumap_device *device, struct dpumap_cm **cm)
{
	struct dpumap_cm *created = calloc(1, sizeof(*created));
	doca_error_t result;
	int flags;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection manager");
	created->device = device;
	created->channel = rdma_create_event_channel();
	if (!created->channel) {
		result = fail_to_open(created, errno);
		goto free_cm;
	}
	flags = fcntl(created->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(created->channel->fd, F_SETFL, flags | O_NONBLOCK)) {
		result = dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				     "%s: the connection manager's file cannot be made "
				     "non-blocking: %s",
				     dpumap_cm_name(created), strerror(errno));
		goto destroy_channel;
	}
	*cm = created;
	return DOCA_SUCCESS;

destroy_channel:
	rdma_destroy_event_channel(created->channel);
free_cm:
	free(created);
	return result;
}

void dpumap_cm_destroy(struct dpumap_cm *cm)
{
	if (!cm)
		return;
	rdma_destroy_event_channel(cm->channel);
	free(cm);
}

int dpumap_cm_fd(const struct dpumap_cm *cm)
{
	return cm->channel->fd;
}
