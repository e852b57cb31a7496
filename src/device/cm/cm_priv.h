/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of this room know of managers and ids. */
#ifndef DPUMAP_DEVICE_CM_CM_PRIV_H
#define DPUMAP_DEVICE_CM_CM_PRIV_H

#include "device/cm/connect.h"

struct rdma_event_channel;

struct dpumap_cm {
	const struct dpumap_device *device;
	struct rdma_event_channel *channel;
};

struct dpumap_cm_id {
	struct dpumap_cm *cm;
	enum dpumap_cm_state state;
	void *user;
	struct dpumap_cm_end end;
	uint8_t data[DPUMAP_CM_REQUEST_DATA]; /* of end, until the request is sent */
	uint8_t offer_served, offer_sent; /* reads that a request lets this end serve and send */
	size_t num_rdma;		  /* a listener has one for each address */
	struct rdma_cm_id *rdma[];
};

#endif
