/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_graph: graph.c has the graph, its nodes and dependencies, instance.c its instances and their
 * execution.
 *
 * A graph is a context of its progress engine without a device, so that it is progressed like others. It
 * is RUNNING while the graph is started.
 */
#ifndef DPUMAP_CORE_GRAPH_GRAPH_H
#define DPUMAP_CORE_GRAPH_GRAPH_H

#include <doca_compat.h>
#include <doca_graph.h>

#include "core/pe/ctx.h"

enum graph_node_kind {
	GRAPH_NODE_CTX,
	GRAPH_NODE_USER,
	GRAPH_NODE_GRAPH,
};

struct graph_edge {
	struct doca_graph_node *to;
	struct graph_edge *next;
};

struct doca_graph_node {
	struct doca_graph *graph;
	enum graph_node_kind kind;
	union {
		struct doca_ctx *ctx;
		doca_graph_user_node_cb_t function;
		struct doca_graph *sub_graph; /* with a reference */
	};
	uint32_t index; /* of its step in each instance */
	uint32_t num_before;
	struct graph_edge *after;
	struct doca_graph_node *next;

	struct doca_graph_node *next_found; /* this and the following in a search only */
	bool is_found;
};

struct doca_graph {
	struct doca_ctx ctx;
	struct doca_pe *pe;
	doca_graph_completion_cb_t success_cb, error_cb;
	uint32_t max_instances; /* 0: not configured */
	uint32_t num_instances;
	uint32_t num_nodes;
	struct doca_graph_node *nodes;

	struct graph_step *ready, **ready_end; /* user nodes to execute */
	struct doca_graph_instance *done, **done_end;
};

static inline bool dpumap_graph_is_started(const struct doca_graph *graph)
{
	return graph->ctx.state == DOCA_CTX_STATE_RUNNING;
}

/* Execution of the instances of a graph. */

/* Operations of the context of a graph. */
bool dpumap_graph_progress(struct doca_ctx *ctx);
bool dpumap_graph_is_ready(struct doca_ctx *ctx);

#endif
