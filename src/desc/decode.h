/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decoding, for the functions that also need the place of an error. */
#ifndef DPUMAP_DESC_DECODE_H
#define DPUMAP_DESC_DECODE_H

#include <dpumap/desc.h>

struct reader;

/*
 * Read a descriptor. If its extensions are refused, r is at the extension at fault. Some values may
 * be set in d even on failure.
 */
dpumap_desc_status_t dpumap_desc_read(struct reader *r, struct dpumap_desc *d);

#endif
