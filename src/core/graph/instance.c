/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/graph/graph.h"

#include <stdlib.h>

#include "core/pe/pe.h"
#include "log/log.h"

/* A node in an instance. */
struct graph_step {
	struct task_node hook; /* of a task */
	struct doca_graph_instance *instance;
	const struct doca_graph_node *node;
	void *data;	      /* task, argument of the function, or instance of the sub graph */
	uint32_t num_awaited; /* predecessors that have not finished */
	struct graph_step *next_ready;
};

struct doca_graph_instance {
	struct doca_graph *graph;
	union doca_data user_data;
	bool is_submitted;
	bool has_failed;
	uint32_t num_running;	   /* steps that have started and not finished */
	struct graph_step *parent; /* that submitted it, or NULL for the program */
	struct doca_graph_instance *next_done;
	struct graph_step steps[];
};

/* --- data ------------------------------------------------------------------------------------- */

static doca_error_t check_not_submitted(const struct doca_graph_instance *instance,
					doca_error_t error, const char *function)
{
	if (!instance->is_submitted)
		return DOCA_SUCCESS;
	return dpumap_fail(error, "%s: graph instance %p is submitted: wait for its callback",
			   function, (const void *)instance);
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
					struct doca_graph_instance **instance)
{
	struct doca_graph *of = (struct doca_graph *)graph;
	struct doca_graph_instance *created;

	if (!graph || !instance)
		return dpumap_fail_null(__func__);
	if (!dpumap_graph_is_started(graph))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: graph %p is not started", __func__,
				   (const void *)graph);
	if (graph->num_instances == graph->max_instances)
		return dpumap_fail_info(DOCA_ERROR_NO_MEMORY, "graph %p: all %u instances exist",
					(const void *)graph, graph->max_instances);
	created = calloc(1, sizeof(*created) + graph->num_nodes * sizeof(created->steps[0]));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an instance of a graph");
	created->graph = of;
	for (const struct doca_graph_node *n = graph->nodes; n; n = n->next) {
		created->steps[n->index].instance = created;
		created->steps[n->index].node = n;
	}
	of->num_instances++;
	*instance = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance)
{
	doca_error_t result;

	if (!instance)
		return dpumap_fail_null(__func__);
	result = check_not_submitted(instance, DOCA_ERROR_IN_USE, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	instance->graph->num_instances--;
	free(instance);
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *instance,
					       union doca_data user_data)
{
	doca_error_t result;

	if (!instance)
		return dpumap_fail_null(__func__);
	result = check_not_submitted(instance, DOCA_ERROR_IN_USE, __func__);
	if (result == DOCA_SUCCESS)
		instance->user_data = user_data;
	return result;
}

doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *instance,
					       union doca_data *user_data)
{
	if (!instance || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = instance->user_data;
	return DOCA_SUCCESS;
}

/* Set the data of a node of this kind; owner is the context or graph of the data, NULL for any. */
static doca_error_t set_data(struct doca_graph_instance *instance,
			     const struct doca_graph_node *node, enum graph_node_kind kind,
			     const void *owner, void *data, const char *function)
{
	doca_error_t result = check_not_submitted(instance, DOCA_ERROR_BAD_STATE, function);

	if (result != DOCA_SUCCESS)
		return result;
	if (node->graph != instance->graph || node->kind != kind)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"%s: node %p is of another kind, or not of the graph of instance %p",
			function, (const void *)node, (void *)instance);
	if (owner && owner != (kind == GRAPH_NODE_CTX ? (void *)node->ctx : node->sub_graph))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: %p does not belong to the context or graph of node %p",
				   function, data, (const void *)node);
	instance->steps[node->index].data = data;
	return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *instance,
						   struct doca_graph_node *node,
						   struct doca_task *task)
{
	if (!instance || !node || !task)
		return dpumap_fail_null(__func__);
	return set_data(instance, node, GRAPH_NODE_CTX, task->ctx, task, __func__);
}

doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *instance,
						    struct doca_graph_node *node, void *cookie)
{
	if (!instance || !node)
		return dpumap_fail_null(__func__);
	return set_data(instance, node, GRAPH_NODE_USER, NULL, cookie, __func__);
}

doca_error_t
doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *instance,
					    struct doca_graph_node *node,
					    struct doca_graph_instance *sub_graph_instance)
{
	if (!instance || !node || !sub_graph_instance)
		return dpumap_fail_null(__func__);
	return set_data(instance, node, GRAPH_NODE_GRAPH, sub_graph_instance->graph,
			sub_graph_instance, __func__);
}

/* --- checking --------------------------------------------------------------------------------- */

static doca_error_t check_task(const struct doca_task *task)
{
	if (task->ctx->state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "task %p: its %s context %p is not running", (const void *)task,
				   task->ctx->ops->name, (void *)task->ctx);
	if (task->submitted || !task->allocated)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "task %p is %s", (const void *)task,
				   task->submitted ? "submitted already" : "freed");
	return DOCA_SUCCESS;
}

static doca_error_t check_instance(const struct doca_graph_instance *instance);

static doca_error_t check_step(const struct graph_step *step)
{
	if (step->node->kind == GRAPH_NODE_USER)
		return DOCA_SUCCESS;
	if (step->node->kind == GRAPH_NODE_CTX && step->data)
		return check_task(step->data);
	if (step->node->kind == GRAPH_NODE_GRAPH && step->data)
		return check_instance(step->data);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "graph instance %p: node %p has no %s: set its data first",
			   (void *)step->instance, (const void *)step->node,
			   step->node->kind == GRAPH_NODE_CTX ? "task" : "sub graph instance");
}

/* Graphs do not contain themselves, so this ends. */
static doca_error_t check_instance(const struct doca_graph_instance *instance)
{
	doca_error_t result;

	result = check_not_submitted(instance, DOCA_ERROR_IN_USE, "doca_graph_instance_submit");
	for (uint32_t i = 0; i < instance->graph->num_nodes && result == DOCA_SUCCESS; i++)
		result = check_step(&instance->steps[i]);
	return result;
}

/* --- execution -------------------------------------------------------------------------------- */

static void run_step(struct graph_step *step);
static void finish_step(struct graph_step *step, bool is_good);

static void start_roots(struct doca_graph_instance *instance, struct graph_step *parent)
{
	struct doca_graph *graph = instance->graph;

	instance->is_submitted = true;
	instance->has_failed = false;
	instance->parent = parent;
	for (uint32_t i = 0; i < graph->num_nodes; i++)
		instance->steps[i].num_awaited = instance->steps[i].node->num_before;
	/* Itself counts until all roots have started. */
	instance->num_running = 1;
	for (uint32_t i = 0; i < graph->num_nodes && !instance->has_failed; i++)
		if (!instance->steps[i].node->num_before)
			run_step(&instance->steps[i]);
}

/* To be called when a step, or the start of the roots, is finished. */
static void finish_if_last(struct doca_graph_instance *instance)
{
	struct doca_graph *graph = instance->graph;
	struct graph_step *parent = instance->parent;

	if (--instance->num_running)
		return;
	if (parent) {
		instance->is_submitted = false;
		finish_step(parent, !instance->has_failed);
		return;
	}
	instance->next_done = NULL;
	*graph->done_end = instance;
	graph->done_end = &instance->next_done;
}

static void finish_step(struct graph_step *step, bool is_good)
{
	struct doca_graph_instance *instance = step->instance;

	if (!is_good)
		instance->has_failed = true;
	for (const struct graph_edge *edge = step->node->after; edge; edge = edge->next)
		if (!--instance->steps[edge->to->index].num_awaited && !instance->has_failed)
			run_step(&instance->steps[edge->to->index]);
	finish_if_last(instance);
}

static void task_done(struct task_node *node, struct doca_task *task)
{
	finish_step((struct graph_step *)node, task->status == DOCA_SUCCESS);
}

static void run_task(struct graph_step *step)
{
	struct doca_task *task = step->data;
	struct doca_ctx *ctx = task->ctx;
	doca_error_t result = check_task(task);

	if (result == DOCA_SUCCESS) {
		ctx->ops->enter_graph(ctx);
		step->hook.done = task_done;
		task->node = &step->hook;
		result = doca_task_submit(task);
		if (result == DOCA_SUCCESS)
			return;
		task->node = NULL;
		task->status = result;
	}
	finish_step(step, false);
}

static void run_sub_graph(struct graph_step *step)
{
	struct doca_graph_instance *sub = step->data;

	if (check_instance(sub) != DOCA_SUCCESS) {
		finish_step(step, false);
		return;
	}
	start_roots(sub, step);
	finish_if_last(sub);
}

/* Functions of the program run in progress. */
static void queue_function(struct graph_step *step)
{
	struct doca_graph *graph = step->instance->graph;

	step->next_ready = NULL;
	*graph->ready_end = step;
	graph->ready_end = &step->next_ready;
	dpumap_pe_wake(graph->pe);
}

static void run_step(struct graph_step *step)
{
	step->instance->num_running++;
	if (step->node->kind == GRAPH_NODE_CTX)
		run_task(step);
	else if (step->node->kind == GRAPH_NODE_GRAPH)
		run_sub_graph(step);
	else
		queue_function(step);
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance)
{
	doca_error_t result;

	if (!instance)
		return dpumap_fail_null(__func__);
	result = check_instance(instance);
	if (result != DOCA_SUCCESS)
		return result;
	start_roots(instance, NULL);
	finish_if_last(instance);
	return DOCA_SUCCESS;
}

/* A function that waits while another node fails does not run any more. */
static void run_function(struct doca_graph *graph)
{
	struct graph_step *step = graph->ready;

	graph->ready = step->next_ready;
	if (!graph->ready)
		graph->ready_end = &graph->ready;
	finish_step(step,
		    step->instance->has_failed || step->node->function(step->data) == DOCA_SUCCESS);
}

static void report(struct doca_graph *graph)
{
	struct doca_graph_instance *instance = graph->done;

	graph->done = instance->next_done;
	if (!graph->done)
		graph->done_end = &graph->done;
	instance->is_submitted = false;
	(instance->has_failed ? graph->error_cb : graph->success_cb)(instance, instance->user_data,
								     graph->ctx.user_data);
}

bool dpumap_graph_progress(struct doca_ctx *ctx)
{
	struct doca_graph *graph = (struct doca_graph *)ctx;

	if (graph->ready)
		run_function(graph);
	else if (graph->done)
		report(graph);
	else
		return false;
	return true;
}

bool dpumap_graph_is_ready(struct doca_ctx *ctx)
{
	const struct doca_graph *graph = (struct doca_graph *)ctx;

	return graph->ready || graph->done;
}
