/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/graph/graph.h"

#include <stdlib.h>

#include "core/pe/pe.h"
#include "log/log.h"

static struct doca_graph *graph_of(struct doca_ctx *ctx)
{
	return (struct doca_graph *)ctx;
}

static doca_error_t check_stopped(const struct doca_graph *graph, const char *function)
{
	if (!dpumap_graph_is_started(graph))
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: graph %p is started: stop it first", function,
			   (const void *)graph);
}

/* --- starting --------------------------------------------------------------------------------- */

static doca_error_t check_node(const struct doca_graph *graph, const struct doca_graph_node *node)
{
	const struct doca_ctx *ctx;
	const char *what;

	if (node->kind == GRAPH_NODE_USER)
		return DOCA_SUCCESS;
	ctx = node->kind == GRAPH_NODE_CTX ? node->ctx : &node->sub_graph->ctx;
	what = node->kind == GRAPH_NODE_CTX ? "context" : "sub graph";
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "graph %p: the %s %p of a node is not started: start it first",
				   (const void *)graph, what, (const void *)ctx);
	if (ctx->pe != graph->pe)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "graph %p: the %s %p of a node is on another progress engine "
				   "than the graph",
				   (const void *)graph, what, (const void *)ctx);
	return DOCA_SUCCESS;
}

static doca_error_t check_start(const struct doca_graph *graph)
{
	bool has_ctx = false;
	doca_error_t result;

	if (!graph->max_instances)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "graph %p: call doca_graph_set_conf() before starting it",
				   (const void *)graph);
	for (const struct doca_graph_node *n = graph->nodes; n; n = n->next) {
		result = check_node(graph, n);
		if (result != DOCA_SUCCESS)
			return result;
		has_ctx |= n->kind == GRAPH_NODE_CTX;
	}
	if (!has_ctx)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"graph %p has no context node: call doca_graph_node_create_from_ctx()",
			(const void *)graph);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
	doca_error_t result;

	if (!graph)
		return dpumap_fail_null(__func__);
	if (dpumap_graph_is_started(graph))
		return DOCA_SUCCESS;
	result = check_start(graph);
	if (result == DOCA_SUCCESS)
		graph->ctx.state = DOCA_CTX_STATE_RUNNING;
	return result;
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
	if (!graph)
		return dpumap_fail_null(__func__);
	if (graph->num_instances)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "graph %p has %u instances: destroy them before stopping it",
				   (void *)graph, graph->num_instances);
	graph->ctx.state = DOCA_CTX_STATE_IDLE;
	return DOCA_SUCCESS;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void free_node(struct doca_graph_node *node)
{
	struct graph_edge *edge;

	while ((edge = node->after)) {
		node->after = edge->next;
		free(edge);
	}
	if (node->kind == GRAPH_NODE_GRAPH)
		dpumap_ctx_put(&node->sub_graph->ctx);
	free(node);
}

static void free_graph(struct doca_ctx *ctx)
{
	struct doca_graph *graph = graph_of(ctx);
	struct doca_graph_node *node;

	while ((node = graph->nodes)) {
		graph->nodes = node->next;
		free_node(node);
	}
	free(graph);
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

/* The context has no tasks, and its state changes only in doca_graph_start() and doca_graph_stop(). */
static const struct ctx_ops graph_ops = {
	.name = "graph",
	.free = free_graph,
	.progress = dpumap_graph_progress,
	.arm = arm,
	.is_ready = dpumap_graph_is_ready,
};

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
	struct doca_graph *created;

	if (!pe || !graph)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a graph");
	dpumap_ctx_init(&created->ctx, &graph_ops, NULL);
	created->pe = pe;
	created->ready_end = &created->ready;
	created->done_end = &created->done;
	dpumap_pe_connect(pe, &created->ctx);
	*graph = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
	doca_error_t result;

	if (!graph)
		return dpumap_fail_null(__func__);
	result = check_stopped(graph, __func__);
	if (result == DOCA_SUCCESS)
		dpumap_ctx_release(&graph->ctx);
	return result;
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t success_cb,
				 doca_graph_completion_cb_t error_cb, uint32_t num_instances)
{
	doca_error_t result;

	if (!graph || !success_cb || !error_cb)
		return dpumap_fail_null(__func__);
	if (!num_instances)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "graph %p: the number of instances must be at least 1",
				   (void *)graph);
	result = check_stopped(graph, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	graph->success_cb = success_cb;
	graph->error_cb = error_cb;
	graph->max_instances = num_instances;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data)
{
	doca_error_t result;

	if (!graph)
		return dpumap_fail_null(__func__);
	result = check_stopped(graph, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	graph->ctx.user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data)
{
	if (!graph || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = graph->ctx.user_data;
	return DOCA_SUCCESS;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static doca_error_t add_node(struct doca_graph *graph, enum graph_node_kind kind,
			     struct doca_graph_node **node)
{
	struct doca_graph_node *added = calloc(1, sizeof(*added));

	if (!added)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a node of a graph");
	added->graph = graph;
	added->kind = kind;
	added->index = graph->num_nodes++;
	added->next = graph->nodes;
	graph->nodes = added;
	*node = added;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
					     struct doca_graph_node **node)
{
	doca_error_t result;

	if (!graph || !ctx || !node)
		return dpumap_fail_null(__func__);
	result = check_stopped(graph, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!ctx->ops->enter_graph)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "graph %p: tasks of a %s context cannot be in a graph",
				   (void *)graph, ctx->ops->name);
	result = add_node(graph, GRAPH_NODE_CTX, node);
	if (result == DOCA_SUCCESS)
		(*node)->ctx = (struct doca_ctx *)ctx;
	return result;
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
					      doca_graph_user_node_cb_t cb,
					      struct doca_graph_node **node)
{
	doca_error_t result;

	if (!graph || !cb || !node)
		return dpumap_fail_null(__func__);
	result = check_stopped(graph, __func__);
	if (result == DOCA_SUCCESS)
		result = add_node(graph, GRAPH_NODE_USER, node);
	if (result == DOCA_SUCCESS)
		(*node)->function = cb;
	return result;
}

/* Sub graphs contain each other no deeper than graphs exist, as circles are refused. */
static bool contains(const struct doca_graph *graph, const struct doca_graph *wanted)
{
	if (graph == wanted)
		return true;
	for (const struct doca_graph_node *n = graph->nodes; n; n = n->next)
		if (n->kind == GRAPH_NODE_GRAPH && contains(n->sub_graph, wanted))
			return true;
	return false;
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
					       struct doca_graph *sub_graph,
					       struct doca_graph_node **node)
{
	doca_error_t result;

	if (!graph || !sub_graph || !node)
		return dpumap_fail_null(__func__);
	result = check_stopped(graph, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (contains(sub_graph, graph))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "graph %p cannot have graph %p as sub graph, which contains it",
				   (void *)graph, (void *)sub_graph);
	if (!dpumap_graph_is_started(sub_graph))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "graph %p: its sub graph %p is not started: start it first",
				   (void *)graph, (void *)sub_graph);
	result = add_node(graph, GRAPH_NODE_GRAPH, node);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_ctx_get(&sub_graph->ctx);
	(*node)->sub_graph = sub_graph;
	return DOCA_SUCCESS;
}

static void find(struct doca_graph_node *node, struct doca_graph_node ***end)
{
	if (node->is_found)
		return;
	node->is_found = true;
	node->next_found = NULL;
	**end = node;
	*end = &node->next_found;
}

/* Breadth first: chains may be long. */
static bool leads_to(struct doca_graph_node *from, const struct doca_graph_node *wanted)
{
	struct doca_graph_node *found = NULL, **end = &found;

	for (struct doca_graph_node *n = from->graph->nodes; n; n = n->next)
		n->is_found = false;
	find(from, &end);
	for (struct doca_graph_node *n = found; n && n != wanted; n = n->next_found)
		for (const struct graph_edge *edge = n->after; edge; edge = edge->next)
			find(edge->to, &end);
	return wanted->is_found;
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
				       struct doca_graph_node *to)
{
	struct graph_edge *edge;
	doca_error_t result;

	if (!graph || !from || !to)
		return dpumap_fail_null(__func__);
	if (from->graph != graph || to->graph != graph)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "graph %p: node %p of a dependency belongs to another graph",
				   (void *)graph, (void *)(from->graph != graph ? from : to));
	result = check_stopped(graph, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (leads_to(to, from))
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"graph %p: node %p cannot start after node %p, which starts after it",
			(void *)graph, (void *)to, (void *)from);
	edge = malloc(sizeof(*edge));
	if (!edge)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a dependency of a graph");
	*edge = (struct graph_edge){.to = to, .next = from->after};
	from->after = edge;
	to->num_before++;
	return DOCA_SUCCESS;
}
