/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a connection receives. The connection is locked. */
#ifndef DPUMAP_COMCH_INPUT_H
#define DPUMAP_COMCH_INPUT_H

#include "comch/connection/connection_priv.h"

doca_error_t dpumap_comch_input_create(struct comch_input *input);
void dpumap_comch_input_destroy(struct comch_input *input);

/* Read what has arrived, and handle it. Returns whether something has. */
bool dpumap_comch_input_read(struct doca_comch_connection *c);

#endif
