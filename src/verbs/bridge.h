/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the bridge to libibverbs shares with the rest. */
#ifndef DPUMAP_VERBS_BRIDGE_H
#define DPUMAP_VERBS_BRIDGE_H

#include <doca_verbs.h>

/* device_attr.c. context is a driver context; function is that of the user. */
doca_error_t dpumap_verbs_query_limits(void *context, const char *function,
				       struct doca_verbs_device_attr **attr);

#endif
