/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/queue/events_priv.h"
#include "log/log.h"

doca_error_t dpumap_events_create(struct dpumap_device *device, struct dpumap_events **events)
{
	struct dpumap_events *created = calloc(1, sizeof(*created));
	int flags, err;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for completion events");
	created->device = device;
	created->channel = ibv_create_comp_channel(device->context);
	if (!created->channel) {
		err = errno;
		free(created);
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: creating a completion channel failed: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	}
	flags = fcntl(created->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(created->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		err = errno;
		dpumap_events_destroy(created);
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "%s: making the completion channel non-blocking failed: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	}
	*events = created;
	return DOCA_SUCCESS;
}

void dpumap_events_destroy(struct dpumap_events *events)
{
	int err = dpumap_errno_of_end(events->device->context,
				      ibv_destroy_comp_channel(events->channel));

	if (err)
		dpumap_log(DPUMAP_LOG_ERROR, "%s: destroying a completion channel failed: %s",
			   dpumap_hca_name(events->device->hca), strerror(err));
	free(events);
}

int dpumap_events_fd(const struct dpumap_events *events)
{
	return events->channel->fd;
}

doca_error_t dpumap_events_take(struct dpumap_events *events)
{
	struct ibv_cq *cq;
	void *context;
	int err;

	if (!ibv_get_cq_event(events->channel, &cq, &context)) {
		(*(uint32_t *)context)++;
		ibv_ack_cq_events(cq, 1);
		return DOCA_SUCCESS;
	}
	err = errno;
	if (err == EAGAIN || err == EINTR)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "%s: reading a completion event failed: %s",
			   dpumap_hca_name(events->device->hca), strerror(err));
}

uint32_t dpumap_device_num_vectors(const struct dpumap_device *device)
{
	int num = device->context->num_comp_vectors;

	return num > 0 ? (uint32_t)num : 1;
}
