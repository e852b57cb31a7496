/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A reliable connection to a peer: a queue of transfers (device/queue/queue.h) whose queue pair is
 * connected to that of the peer by exchanged information (struct dpumap_qp_info).
 */
#ifndef DPUMAP_DEVICE_QUEUE_RC_QP_H
#define DPUMAP_DEVICE_QUEUE_RC_QP_H

#include "device/gid.h"
#include "device/queue/queue.h"
#include "device/queue/rc_end.h"

struct dpumap_rc_qp_attr {
	struct dpumap_queue_attr queue;
	uint32_t access; /* mask of enum doca_access_flag: what the peer may do */
	int gid_index;	 /* or DPUMAP_GID_ANY */
};

struct dpumap_rc_qp;

doca_error_t dpumap_rc_qp_create(struct dpumap_device *device, const struct dpumap_rc_qp_attr *attr,
				 struct dpumap_rc_qp **qp);
/* On failure the object stays, without what could be destroyed; call again. */
doca_error_t dpumap_rc_qp_destroy(struct dpumap_rc_qp *qp);
struct dpumap_queue *dpumap_rc_qp_queue(const struct dpumap_rc_qp *qp);
void dpumap_rc_qp_describe(const struct dpumap_rc_qp *qp, struct dpumap_qp_info *info);
/* On failure the state is as before. */
doca_error_t dpumap_rc_qp_connect(struct dpumap_rc_qp *qp, const struct dpumap_qp_info *peer);

#endif
