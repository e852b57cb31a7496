/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ends on this side of the RDMA connections that clients have to one export. What they reach
 * through them is what is registered with the same device: that is the export and nothing else.
 */
#ifndef DPUMAPD_LINKS_H
#define DPUMAPD_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_dev.h>

#include "common/fault.h"

struct link;
struct doca_pe;

/* All zero is none. */
struct links {
	struct doca_pe *pe; /* of all of them */
	struct link *first;
};

/*
 * Connects one more, for the client that owner stands for, to what its details say; answer is this
 * end's details, good until the connection is dropped. peers is what the client may do, a mask of
 * enum doca_access_flag. INVALID_VALUE for details that are none.
 */
doca_error_t links_add(struct links *links, struct doca_dev *dev, uint32_t peers, const void *owner,
		       const void *details, size_t len, const void **answer, size_t *answer_len,
		       struct dpumap_fault *fault);
/* The owner's; what cannot be dropped now is with the next ones, and allows nothing any more. */
void links_drop(struct links *links, const void *owner);
/* False when something stays: the device is not to be closed. */
bool links_drop_all(struct links *links);

#endif
