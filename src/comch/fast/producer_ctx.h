/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The context of a producer. */
#ifndef DPUMAP_COMCH_PRODUCER_CTX_H
#define DPUMAP_COMCH_PRODUCER_CTX_H

#include "comch/fast/producer.h"

extern const struct ctx_ops dpumap_comch_producer_ctx_ops;

/* Progress that found no task; true if something happened. */
bool dpumap_comch_producer_idle(struct doca_comch_producer *producer);

#endif
