/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How bytes move between our buffers and an export: two ways, which the descriptor decides on. */
#ifndef DPUMAP_HOST_WAY_H
#define DPUMAP_HOST_WAY_H

#include <stdbool.h>

#include "import.h"

struct way {
	/* What a device must be able to do, and how errors call it. */
	dpumap_device_cap *is_possible;
	const char *doing;
	/* The map is imported. Sets engine and max_request. */
	doca_error_t (*open)(struct import *import, struct dpumap_client *client,
			     struct dpumap_fault *fault);
	/* At most IMPORT_QUEUE_DEPTH are under way; AGAIN: poll first. */
	doca_error_t (*post)(struct import *import, const struct import_piece *piece);
	/* user_data of a completion is its piece's length. Never waits. */
	doca_error_t (*poll)(struct import *import, struct dpumap_dma_completion *out, uint32_t max,
			     uint32_t *n);
	/* Also after a failed open. False: what the device writes to must stay. */
	bool (*close)(struct import *import);
};

extern const struct way way_dma;  /* by the engine of the card that both sides are on */
extern const struct way way_rdma; /* through a connection to another machine's card */

#endif
