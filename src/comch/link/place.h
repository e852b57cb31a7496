/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a server of doca_comch is found: the card, the host's function and the server's name. */
#ifndef DPUMAP_COMCH_PLACE_H
#define DPUMAP_COMCH_PLACE_H

#include <doca_dev.h>

#include "local/comch_place.h"

/*
 * The place of a server. rep is the representor of the host's function on the DPU's side, and NULL
 * on the host's side, where dev is that function. INVALID_VALUE: the name is empty or too long;
 * NOT_SUPPORTED: the firmware does not report the function's number.
 */
doca_error_t dpumap_comch_place_get(struct doca_dev *dev, struct doca_dev_rep *rep,
				    const char *name, struct dpumap_comch_place *place);

#endif
