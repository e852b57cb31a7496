/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The send tasks of a server or client, and the memory for messages that wait in them. */
#ifndef DPUMAP_COMCH_POOL_H
#define DPUMAP_COMCH_POOL_H

#include "comch/connection/connection_priv.h"

struct comch_pool {
	struct task_pool tasks;
	uint8_t *copies;
};

/* Instead of the tasks of the last start. NO_MEMORY. */
doca_error_t dpumap_comch_pool_create(struct comch_pool *pool, struct doca_ctx *ctx,
				      uint32_t max_msg_size);
void dpumap_comch_pool_destroy(struct comch_pool *pool);

#endif
