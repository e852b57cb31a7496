/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an exported sync event is sent as: a header of 16 bytes and the export descriptor of its memory
 * (docs/wire-format.md).
 */
#ifndef DPUMAP_SYNC_EVENT_BLOB_H
#define DPUMAP_SYNC_EVENT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define SYNC_BLOB_HEADER 16u

/* Write the header in front of `len` bytes of descriptor; blob is SYNC_BLOB_HEADER bytes longer. */
void dpumap_sync_blob_seal(uint8_t *blob, bool to_net, const void *desc, size_t len);
/* The descriptor in a blob of this kind; DOCA_ERROR_INVALID_VALUE for others and damaged ones. */
doca_error_t dpumap_sync_blob_open(const uint8_t *blob, size_t size, bool to_net,
				   const uint8_t **desc, size_t *len);

#endif
