/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The context of a consumer. */
#ifndef DPUMAP_COMCH_CONSUMER_CTX_H
#define DPUMAP_COMCH_CONSUMER_CTX_H

#include "comch/fast/consumer.h"

extern const struct ctx_ops dpumap_comch_consumer_ctx_ops;

/* Progress that found no task; true if something happened. */
bool dpumap_comch_consumer_idle(struct doca_comch_consumer *consumer);

#endif
