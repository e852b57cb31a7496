/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Moves bytes between local buffers and an export. The descriptor decides which transport does it.
 */
#ifndef DPUMAP_HOST_TRANSPORT_H
#define DPUMAP_HOST_TRANSPORT_H

#include <stdbool.h>

#include "host/import/import.h"

struct transport {
	/* The capability that a device must have, and its name in errors. */
	dpumap_device_cap *is_supported;
	const char *capability;
	/* The map is imported. Sets engine and max_request. */
	doca_error_t (*open)(struct import *import, struct dpumap_client *client,
			     struct dpumap_error *error);
	/* At most IMPORT_QUEUE_DEPTH are in flight; AGAIN: poll first. */
	doca_error_t (*post)(struct import *import, const struct import_piece *piece);
	/* The user_data of a completion is the tag of its piece. In order; does not wait. */
	doca_error_t (*poll)(struct import *import, struct dpumap_dma_completion *out, uint32_t max,
			     uint32_t *n);
	/* Also after a failed open. False: the memory that the device may write to must stay. */
	bool (*close)(struct import *import);
};

/* Copies by the DMA engine of the card that host and DPU share. */
extern const struct transport transport_dma;

/* Copies through a connection to the card of another machine. */
extern const struct transport transport_rdma;

#endif
