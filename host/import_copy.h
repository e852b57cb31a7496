/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One copy between a buffer and the export, as requests that keep the queue full until the end. */
#ifndef DPUMAP_HOST_IMPORT_COPY_H
#define DPUMAP_HOST_IMPORT_COPY_H

#include "import.h"

/*
 * Copies len bytes between the start of the buffer and offset in the export; waits for completion.
 */
doca_error_t import_copy(struct import *import, enum import_direction direction, unsigned int which,
			 uint64_t offset, size_t len, struct dpumap_fault *fault);

#endif
