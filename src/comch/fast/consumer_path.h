/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The frames for a consumer, and the paths that producers of the peer have to it. */
#ifndef DPUMAP_COMCH_CONSUMER_PATH_H
#define DPUMAP_COMCH_CONSUMER_PATH_H

#include "comch/fast/consumer.h"

extern const struct comch_endpoint_ops dpumap_comch_consumer_endpoint_ops;

/* Tell the peer that there is a consumer. Its answer follows. */
doca_error_t dpumap_comch_consumer_announce(struct doca_comch_consumer *consumer);
/* Tell the peer that the consumer is gone, and destroy all paths. On failure call again. */
doca_error_t dpumap_comch_consumer_withdraw(struct doca_comch_consumer *consumer);

#endif
