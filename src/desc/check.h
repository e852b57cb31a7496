/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rules for values of a descriptor. */
#ifndef DPUMAP_DESC_CHECK_H
#define DPUMAP_DESC_CHECK_H

#include <dpumap/desc.h>

/* Check that the values of d are consistent; before encoding and after decoding. */
dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d);

#endif
