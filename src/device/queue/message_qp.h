/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queue pairs of message queues. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_QP_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_QP_H

#include <infiniband/verbs.h>

#include "device/queue/rc_end.h"

struct dpumap_mq_qp {
	struct dpumap_device *device;
	struct ibv_qp *qp; /* NULL after it was destroyed */
	struct ibv_port_attr port;
	struct dpumap_rc_end end;
};

/* attr: without type, protection domain and operations. *qp must not move afterwards. */
doca_error_t dpumap_mq_qp_create(struct dpumap_device *device, struct ibv_qp_init_attr_ex *attr,
				 struct dpumap_mq_qp *qp);
void dpumap_mq_qp_describe(const struct dpumap_mq_qp *qp, struct dpumap_qp_info *info);
/* On failure the state is as before. */
doca_error_t dpumap_mq_qp_connect(const struct dpumap_mq_qp *qp, const struct dpumap_qp_info *peer);
/* Fail what the device executes, then destroy. On failure call again. */
doca_error_t dpumap_mq_qp_destroy(struct dpumap_mq_qp *qp);

#endif
