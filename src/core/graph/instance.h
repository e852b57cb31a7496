/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Execution of the instances of a graph. */
#ifndef DPUMAP_CORE_GRAPH_INSTANCE_H
#define DPUMAP_CORE_GRAPH_INSTANCE_H

#include "core/graph/graph.h"

/* Operations of the context of a graph. */
bool dpumap_graph_progress(struct doca_ctx *ctx);
bool dpumap_graph_is_ready(struct doca_ctx *ctx);

#endif
