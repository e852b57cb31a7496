/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rc_qp.h"

#include <stdlib.h>

#include "device/device_priv.h"
#include "device/memory/access.h"
#include "device/queue/queue_priv.h"
#include "log/log.h"

struct dpumap_rc_qp {
	struct dpumap_queue *queue;
	struct dpumap_rc_end end;
	unsigned int access; /* enum ibv_access_flags */
};

doca_error_t dpumap_rc_qp_create(struct dpumap_device *device, const struct dpumap_rc_qp_attr *attr,
				 struct dpumap_rc_qp **rc)
{
	struct dpumap_queue_attr queue = attr->queue;
	struct dpumap_rc_qp *created;
	doca_error_t result;

	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	created->access = IBV_ACCESS_LOCAL_WRITE | dpumap_access_rdma(attr->access);
	queue.to_peer = true;
	result = dpumap_queue_create(device, &queue, &created->queue);
	if (result != DOCA_SUCCESS)
		goto free_rc;
	result = dpumap_rc_end_init(&created->end, device, dpumap_queue_port(created->queue),
				    attr->gid_index);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	*rc = created;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(created->queue);
free_rc:
	free(created);
	return result;
}

doca_error_t dpumap_rc_qp_destroy(struct dpumap_rc_qp *rc)
{
	doca_error_t result = dpumap_queue_destroy(rc->queue);

	if (result == DOCA_SUCCESS)
		free(rc);
	return result;
}

struct dpumap_queue *dpumap_rc_qp_queue(const struct dpumap_rc_qp *rc)
{
	return rc->queue;
}

void dpumap_rc_qp_describe(const struct dpumap_rc_qp *rc, struct dpumap_qp_info *info)
{
	dpumap_rc_end_describe(&rc->end, dpumap_queue_qp(rc->queue)->qp_num, info);
}

doca_error_t dpumap_rc_qp_connect(struct dpumap_rc_qp *rc, const struct dpumap_qp_info *peer)
{
	return dpumap_rc_end_connect(&rc->end, dpumap_queue_qp(rc->queue), rc->access, peer);
}
