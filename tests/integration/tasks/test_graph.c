/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Graphs of tasks: each code of doca_graph.h, and how instances are executed. */
#include <doca_graph.h>
#include <doca_mmap_advise.h>

#include <poll.h>
#include <string.h>

#include "tasks.h"

#define INSTANCES   10u
#define LEN	    4096u
#define PATIENCE_MS 30000

/* What the callbacks and functions of a test recorded. */
static struct record {
	unsigned int succeeded, failed, own; /* instances; callbacks of tasks in a graph */
	char order[64];			     /* of the functions of user nodes */
	unsigned int resubmit;
	struct doca_graph_instance *last;
	union doca_data instance_data, graph_data;
	bool inside; /* doca_graph_instance_submit() */
} record;

static const union doca_data no_data;
static struct doca_dma *second;
static struct doca_graph *graph;

/* --- callbacks -------------------------------------------------------------------------------- */

static void note_end(struct doca_graph_instance *instance, union doca_data instance_data,
		     union doca_data graph_data)
{
	assert_false(record.inside);
	record.last = instance;
	record.instance_data = instance_data;
	record.graph_data = graph_data;
}

static void submit(struct doca_graph_instance *instance)
{
	record.inside = true;
	assert_ok(doca_graph_instance_submit(instance));
	record.inside = false;
}

static void on_success(struct doca_graph_instance *instance, union doca_data instance_data,
		       union doca_data graph_data)
{
	note_end(instance, instance_data, graph_data);
	record.succeeded++;
	if (record.resubmit) {
		record.resubmit--;
		submit(instance);
	}
}

static void on_error(struct doca_graph_instance *instance, union doca_data instance_data,
		     union doca_data graph_data)
{
	note_end(instance, instance_data, graph_data);
	record.failed++;
}

static void *letter(unsigned int c)
{
	static char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return &letters[c - 'a'];
}

/* The cookie is a letter. */
static doca_error_t note_function(void *cookie)
{
	assert_false(record.inside);
	strncat(record.order, cookie, 1);
	return DOCA_SUCCESS;
}

static doca_error_t fail_function(void *cookie)
{
	note_function(cookie);
	return DOCA_ERROR_BAD_CONFIG;
}

static void on_second_task(struct doca_dma_task_memcpy *task, union doca_data task_data,
			   union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
	record.own++;
}

static void on_first_task(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	(void)t;
	(void)task;
	record.own++;
}

/* --- fixture ---------------------------------------------------------------------------------- */

/* Two started contexts and a graph on one engine. */
static int open_graph(void **state)
{
	doca_error_t result;

	memset(&record, 0, sizeof(record));
	second = NULL;
	graph = NULL;
	if (tasks_open(state))
		return -1;
	tasks.on_task = on_first_task;
	result = doca_dma_create(tasks.dev, &second);
	DOCA_ERROR_PROPAGATE(result, doca_dma_task_memcpy_set_conf(second, on_second_task,
								   on_second_task, TASKS_NUM));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(tasks.pe, doca_dma_as_ctx(second)));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(doca_dma_as_ctx(second)));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(tasks.ctx));
	DOCA_ERROR_PROPAGATE(result, doca_graph_create(tasks.pe, &graph));
	return result == DOCA_SUCCESS ? 0 : -1;
}

/* A context becomes IDLE at once: nothing is left of its tasks. */
static int close_graph(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	if (graph) {
		result = doca_graph_stop(graph);
		DOCA_ERROR_PROPAGATE(result, doca_graph_destroy(graph));
	}
	DOCA_ERROR_PROPAGATE(result, doca_ctx_stop(doca_dma_as_ctx(second)));
	DOCA_ERROR_PROPAGATE(result, doca_dma_destroy(second));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_stop(tasks.ctx));
	if (tasks_close(state))
		return -1;
	return result == DOCA_SUCCESS ? 0 : -1;
}

#define graph_test(function) cmocka_unit_test_setup_teardown(function, open_graph, close_graph)

static struct doca_graph_node *ctx_node(struct doca_graph *of, struct doca_ctx *ctx)
{
	struct doca_graph_node *node = NULL;

	assert_ok(doca_graph_node_create_from_ctx(of, ctx, &node));
	return node;
}

static struct doca_graph_node *user_node(struct doca_graph *of, doca_graph_user_node_cb_t function)
{
	struct doca_graph_node *node = NULL;

	assert_ok(doca_graph_node_create_from_user(of, function, &node));
	return node;
}

static void start_graph(struct doca_graph *of)
{
	assert_ok(doca_graph_set_conf(of, on_success, on_error, INSTANCES));
	assert_ok(doca_graph_start(of));
}

static struct doca_graph_instance *new_instance(struct doca_graph *of)
{
	struct doca_graph_instance *instance = NULL;

	assert_ok(doca_graph_instance_create(of, &instance));
	return instance;
}

/* A copy of LEN bytes, and the task for it. */
struct copy {
	struct doca_dma_task_memcpy *dma_task;
	struct doca_task *task;
	struct doca_buf *src, *dst;
	size_t offset;
};

static struct copy new_copy(struct doca_dma *dma, size_t offset)
{
	struct copy copy = {.offset = offset};

	copy.src = tasks_source(offset, LEN);
	copy.dst = tasks_room(offset, LEN);
	assert_ok(
		doca_dma_task_memcpy_alloc_init(dma, copy.src, copy.dst, no_data, &copy.dma_task));
	copy.task = doca_dma_task_memcpy_as_task(copy.dma_task);
	return copy;
}

static void free_copy(const struct copy *copy)
{
	doca_task_free(copy->task);
	tasks_drop(copy->src);
	tasks_drop(copy->dst);
}

/* A user node's: its bytes have arrived and the buf has them. */
static doca_error_t compare(void *cookie)
{
	const struct copy *copies = cookie;

	for (unsigned int i = 0; i < 2; i++) {
		const uint8_t *src = tasks.bytes + copies[i].offset;
		size_t len = 0;

		assert_ok(doca_buf_get_data_len(copies[i].dst, &len));
		if (len != LEN || memcmp(src, src + TASKS_LEN, LEN) != 0)
			return DOCA_ERROR_UNEXPECTED;
	}
	return DOCA_SUCCESS;
}

/* Progress until so many instances have ended. */
static void wait_for(unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	while (record.succeeded + record.failed < num) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(record.succeeded + record.failed, num);
	assert_int_equal(doca_pe_progress(tasks.pe), 0);
}

/* The graph of one task, started, and an instance with a copy. */
struct single {
	struct doca_graph_node *node;
	struct doca_graph_instance *instance;
	struct copy copy;
};

static struct single new_single(void)
{
	struct single single = {.node = ctx_node(graph, tasks.ctx)};

	start_graph(graph);
	single.instance = new_instance(graph);
	single.copy = new_copy(tasks.dma, 0);
	assert_ok(doca_graph_instance_set_ctx_node_data(single.instance, single.node,
							single.copy.task));
	return single;
}

static void free_single(const struct single *single)
{
	assert_ok(doca_graph_instance_destroy(single->instance));
	free_copy(&single->copy);
}

/* --- codes ------------------------------------------------------------------------------------ */

static void null_is_invalid(void **state)
{
	struct doca_graph_instance *instance = NULL;
	struct doca_graph_node *node = NULL;
	struct doca_graph *other = NULL;
	union doca_data data;
	struct single single = new_single();

	assert_error(doca_graph_create(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_create(tasks.pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_set_conf(NULL, on_success, on_error, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_set_conf(graph, NULL, on_error, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_set_conf(graph, on_success, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_set_conf(graph, on_success, on_error, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_set_user_data(NULL, no_data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_get_user_data(graph, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_ctx(NULL, tasks.ctx, &node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_ctx(graph, NULL, &node), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_ctx(graph, tasks.ctx, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_user(NULL, compare, &node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_user(graph, NULL, &node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_user(graph, compare, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_graph(NULL, graph, &node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_graph(graph, NULL, &node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_node_create_from_graph(graph, graph, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_add_dependency(NULL, single.node, single.node),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_add_dependency(graph, NULL, single.node), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_add_dependency(graph, single.node, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_create(NULL, &instance), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_create(graph, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_user_data(NULL, no_data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_get_user_data(single.instance, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_ctx_node_data(NULL, single.node, single.copy.task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_ctx_node_data(single.instance, NULL, single.copy.task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_ctx_node_data(single.instance, single.node, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_user_node_data(NULL, single.node, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_user_node_data(single.instance, NULL, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_instance_set_sub_graph_node_data(NULL, single.node, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_graph_instance_set_sub_graph_node_data(single.instance, single.node, NULL),
		DOCA_ERROR_INVALID_VALUE);
	free_single(&single);
}

static void user_data_is_0_until_set(void **state)
{
	struct doca_graph_instance *instance;
	union doca_data data = {.u64 = 1};

	assert_ok(doca_graph_get_user_data(graph, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_graph_set_user_data(graph, (union doca_data){.u64 = 5}));
	assert_ok(doca_graph_get_user_data(graph, &data));
	assert_int_equal(data.u64, 5);
	ctx_node(graph, tasks.ctx);
	start_graph(graph);
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_graph_instance_set_user_data(instance, (union doca_data){.u64 = 6}));
	assert_ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 6);
	assert_ok(doca_graph_instance_destroy(instance));
}

static void started_graph_cannot_be_changed(void **state)
{
	struct doca_graph_node *a = ctx_node(graph, tasks.ctx), *b = user_node(graph, compare);
	struct doca_graph *sub;

	assert_ok(doca_graph_create(tasks.pe, &sub));
	ctx_node(sub, tasks.ctx);
	start_graph(sub);
	start_graph(graph);
	assert_error(doca_graph_set_conf(graph, on_success, on_error, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_set_user_data(graph, no_data), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_node_create_from_ctx(graph, tasks.ctx, &a), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_node_create_from_user(graph, compare, &a), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_node_create_from_graph(graph, sub, &a), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_add_dependency(graph, a, b), DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_destroy(graph), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_stop(sub));
	assert_ok(doca_graph_destroy(sub));
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_add_dependency(graph, a, b));
}

static void start_and_stop_can_be_repeated(void **state)
{
	ctx_node(graph, tasks.ctx);
	assert_ok(doca_graph_stop(graph));
	start_graph(graph);
	assert_ok(doca_graph_start(graph));
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_start(graph));
}

static void start_without_conf_is_bad_state(void **state)
{
	ctx_node(graph, tasks.ctx);
	assert_error(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
}

static void start_without_context_node_is_bad_state(void **state)
{
	user_node(graph, compare);
	assert_ok(doca_graph_set_conf(graph, on_success, on_error, 1));
	assert_error(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	ctx_node(graph, tasks.ctx);
	assert_ok(doca_graph_start(graph));
}

static void start_with_a_stopped_context_is_bad_state(void **state)
{
	ctx_node(graph, tasks.ctx);
	ctx_node(graph, doca_dma_as_ctx(second));
	assert_ok(doca_graph_set_conf(graph, on_success, on_error, 1));
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(second)));
	assert_error(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(doca_dma_as_ctx(second)));
	assert_ok(doca_graph_start(graph));
}

static void start_with_a_context_of_another_engine_is_bad_state(void **state)
{
	struct doca_graph *other;
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_graph_create(pe, &other));
	assert_error(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
	ctx_node(other, tasks.ctx);
	assert_ok(doca_graph_set_conf(other, on_success, on_error, 1));
	assert_error(doca_graph_start(other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_destroy(other));
	assert_ok(doca_pe_destroy(pe));
}

static void sub_graph_that_is_not_started_is_bad_state(void **state)
{
	struct doca_graph_node *node = NULL;
	struct doca_graph *sub;

	assert_ok(doca_graph_create(tasks.pe, &sub));
	ctx_node(sub, tasks.ctx);
	assert_error(doca_graph_node_create_from_graph(graph, sub, &node), DOCA_ERROR_BAD_STATE);
	start_graph(sub);
	assert_ok(doca_graph_node_create_from_graph(graph, sub, &node));
	assert_ok(doca_graph_stop(sub));
	ctx_node(graph, tasks.ctx);
	assert_ok(doca_graph_set_conf(graph, on_success, on_error, 1));
	assert_error(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_destroy(sub)); /* before the graph that has it */
	assert_error(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
}

static void circle_is_not_permitted(void **state)
{
	struct doca_graph_node *nodes[4];

	for (unsigned int i = 0; i < 4; i++)
		nodes[i] = user_node(graph, compare);
	assert_error(doca_graph_add_dependency(graph, nodes[0], nodes[0]),
		     DOCA_ERROR_NOT_PERMITTED);
	for (unsigned int i = 0; i < 3; i++)
		assert_ok(doca_graph_add_dependency(graph, nodes[i], nodes[i + 1]));
	assert_ok(doca_graph_add_dependency(graph, nodes[0], nodes[2]));
	assert_error(doca_graph_add_dependency(graph, nodes[1], nodes[0]),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_graph_add_dependency(graph, nodes[3], nodes[0]),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_add_dependency(graph, nodes[0], nodes[3]));
}

static void circle_of_graphs_is_not_permitted(void **state)
{
	struct doca_graph *graphs[3] = {graph};
	struct doca_graph_node *node = NULL;

	for (unsigned int i = 0; i < 3; i++) {
		if (i) {
			assert_ok(doca_graph_create(tasks.pe, &graphs[i]));
			assert_ok(
				doca_graph_node_create_from_graph(graphs[i], graphs[i - 1], &node));
		}
		ctx_node(graphs[i], tasks.ctx);
		start_graph(graphs[i]);
	}
	assert_ok(doca_graph_stop(graph));
	for (unsigned int i = 0; i < 3; i++)
		assert_error(doca_graph_node_create_from_graph(graph, graphs[i], &node),
			     DOCA_ERROR_NOT_PERMITTED);
	for (unsigned int i = 1; i < 3; i++) {
		assert_ok(doca_graph_stop(graphs[i]));
		assert_ok(doca_graph_destroy(graphs[i]));
	}
}

static void dependency_between_graphs_is_invalid(void **state)
{
	struct doca_graph_node *here = user_node(graph, compare), *there;
	struct doca_graph *other;

	assert_ok(doca_graph_create(tasks.pe, &other));
	there = user_node(other, compare);
	assert_error(doca_graph_add_dependency(graph, here, there), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_graph_add_dependency(graph, there, here), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_destroy(other));
}

static void instances_need_a_started_graph_and_are_limited(void **state)
{
	struct doca_graph_instance *instances[INSTANCES], *more;

	ctx_node(graph, tasks.ctx);
	assert_error(doca_graph_instance_create(graph, &more), DOCA_ERROR_BAD_STATE);
	start_graph(graph);
	for (unsigned int i = 0; i < INSTANCES; i++)
		instances[i] = new_instance(graph);
	assert_error(doca_graph_instance_create(graph, &more), DOCA_ERROR_NO_MEMORY);
	assert_error(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	for (unsigned int i = 0; i < INSTANCES; i++)
		assert_ok(doca_graph_instance_destroy(instances[i]));
}

static void submitted_instance_cannot_be_changed(void **state)
{
	struct doca_graph_node *function = user_node(graph, note_function);
	struct single single = new_single();

	assert_ok(doca_graph_instance_set_user_node_data(single.instance, function, letter('f')));
	submit(single.instance);
	assert_error(doca_graph_instance_submit(single.instance), DOCA_ERROR_IN_USE);
	assert_error(doca_graph_instance_destroy(single.instance), DOCA_ERROR_IN_USE);
	assert_error(doca_graph_instance_set_user_data(single.instance, no_data),
		     DOCA_ERROR_IN_USE);
	assert_error(doca_graph_instance_set_ctx_node_data(single.instance, single.node,
							   single.copy.task),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_instance_set_user_node_data(single.instance, function, letter('g')),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_instance_set_sub_graph_node_data(single.instance, function,
								 single.instance),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	doca_task_free(single.copy.task); /* after it has completed */
	wait_for(1);
	assert_string_equal(record.order, "f");
	free_single(&single);
}

static void data_that_does_not_fit_is_not_permitted(void **state)
{
	struct doca_graph_node *function = user_node(graph, compare), *foreign;
	struct doca_graph *other;
	struct single single;
	struct copy copy;

	single = new_single();
	copy = new_copy(second, LEN);
	assert_ok(doca_graph_create(tasks.pe, &other));
	foreign = ctx_node(other, tasks.ctx);
	assert_error(doca_graph_instance_set_ctx_node_data(single.instance, single.node, copy.task),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(
		doca_graph_instance_set_ctx_node_data(single.instance, function, single.copy.task),
		DOCA_ERROR_NOT_PERMITTED);
	assert_error(
		doca_graph_instance_set_ctx_node_data(single.instance, foreign, single.copy.task),
		DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_graph_instance_set_user_node_data(single.instance, single.node, NULL),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_graph_instance_set_sub_graph_node_data(single.instance, single.node,
								 single.instance),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_destroy(other));
	free_copy(&copy);
	free_single(&single);
}

static void instance_of_another_graph_is_no_sub_graph_instance(void **state)
{
	struct doca_graph_node *node = NULL;
	struct doca_graph_instance *instance;
	struct doca_graph *sub;

	assert_ok(doca_graph_create(tasks.pe, &sub));
	ctx_node(sub, tasks.ctx);
	start_graph(sub);
	assert_ok(doca_graph_node_create_from_graph(graph, sub, &node));
	ctx_node(graph, tasks.ctx);
	start_graph(graph);
	instance = new_instance(graph);
	assert_error(doca_graph_instance_set_sub_graph_node_data(instance, node, instance),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_stop(sub));
	assert_ok(doca_graph_destroy(sub));
}

static void submit_passes_on_the_state_of_tasks(void **state)
{
	struct single single = new_single();
	struct doca_graph_instance *other = new_instance(graph);

	assert_error(doca_graph_instance_submit(other), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_instance_set_ctx_node_data(other, single.node, single.copy.task));
	submit(single.instance);
	assert_error(doca_graph_instance_submit(other), DOCA_ERROR_BAD_STATE);
	wait_for(1);
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_graph_instance_submit(other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_instance_destroy(other));
	free_single(&single);
}

static void context_without_graphs_is_not_supported(void **state)
{
	struct doca_graph_node *node = NULL;
	struct doca_mmap_advise *advise;

	assert_ok(doca_mmap_advise_create(tasks.dev, &advise));
	assert_error(doca_graph_node_create_from_ctx(graph, doca_mmap_advise_as_ctx(advise), &node),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(node);
	assert_ok(doca_mmap_advise_destroy(advise));
}

/* --- execution -------------------------------------------------------------------------------- */

/* As published programs do, but with two callbacks: one for both would hide a failure. */
static void two_contexts_run_ten_instances_and_compare(void **state)
{
	struct doca_graph_node *first = ctx_node(graph, tasks.ctx),
			       *other = ctx_node(graph, doca_dma_as_ctx(second)),
			       *last = user_node(graph, compare);
	struct doca_graph_instance *instances[INSTANCES];
	struct copy copies[INSTANCES][2];

	assert_ok(doca_graph_add_dependency(graph, first, last));
	assert_ok(doca_graph_add_dependency(graph, other, last));
	assert_ok(doca_graph_set_user_data(graph, (union doca_data){.u64 = 7}));
	start_graph(graph);
	for (unsigned int i = 0; i < INSTANCES; i++) {
		instances[i] = new_instance(graph);
		copies[i][0] = new_copy(tasks.dma, 2 * i * LEN);
		copies[i][1] = new_copy(second, (2 * i + 1) * LEN);
		assert_ok(doca_graph_instance_set_ctx_node_data(instances[i], first,
								copies[i][0].task));
		assert_ok(doca_graph_instance_set_ctx_node_data(instances[i], other,
								copies[i][1].task));
		assert_ok(doca_graph_instance_set_user_node_data(instances[i], last, copies[i]));
		assert_ok(doca_graph_instance_set_user_data(instances[i],
							    (union doca_data){.u64 = 8}));
	}
	for (unsigned int i = 0; i < INSTANCES; i++)
		submit(instances[i]);
	wait_for(INSTANCES);
	assert_int_equal(record.succeeded, INSTANCES);
	assert_int_equal(record.own, 0);
	assert_int_equal(record.graph_data.u64, 7);
	assert_int_equal(record.instance_data.u64, 8);
	for (unsigned int i = 0; i < INSTANCES; i++)
		assert_ok(doca_graph_instance_destroy(instances[i]));
	for (unsigned int i = 0; i < 2 * INSTANCES; i++)
		doca_task_free(copies[i / 2][i % 2].task);
	for (unsigned int i = 0; i < 2 * INSTANCES; i++) {
		tasks_drop(copies[i / 2][i % 2].src);
		tasks_drop(copies[i / 2][i % 2].dst);
	}
}

static void task_outside_the_graph_has_its_callback(void **state)
{
	struct single single = new_single();
	struct copy copy = new_copy(tasks.dma, LEN);

	submit(single.instance);
	assert_ok(doca_task_submit(copy.task));
	tasks_wait(1);
	wait_for(1);
	assert_int_equal(record.own, 1);
	free_copy(&copy);
	assert_ok(doca_graph_instance_destroy(single.instance));
	doca_buf_reset_data_len(single.copy.dst);
	assert_ok(doca_task_submit(single.copy.task)); /* the task of the graph, by itself */
	tasks_wait(2);
	assert_int_equal(record.own, 2);
	free_copy(&single.copy);
}

static void instance_is_submitted_again(void **state)
{
	struct doca_graph_node *node = ctx_node(graph, tasks.ctx),
			       *function = user_node(graph, note_function);
	struct doca_graph_instance *instance;
	struct copy copy = new_copy(tasks.dma, 0);
	struct doca_buf *dst = tasks_room(0, 4 * LEN);

	doca_dma_task_memcpy_set_dst(copy.dma_task, dst);
	assert_ok(doca_graph_add_dependency(graph, node, function));
	start_graph(graph);
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, copy.task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, function, letter('x')));
	record.resubmit = 2;
	submit(instance);
	wait_for(3);
	submit(instance);
	wait_for(4);
	assert_string_equal(record.order, "xxxx");
	assert_int_equal(record.succeeded, 4);
	assert_ok(doca_graph_instance_destroy(instance));
	tasks_drop(dst);
	free_copy(&copy);
}

/* a before b and c, both before d; the task before a. */
static void nodes_start_after_those_they_depend_on(void **state)
{
	struct doca_graph_node *nodes[4], *task = ctx_node(graph, tasks.ctx);
	struct doca_graph_instance *instance;
	struct copy copy = new_copy(tasks.dma, 0);

	for (unsigned int i = 4; i--;)
		nodes[i] = user_node(graph, note_function);
	assert_ok(doca_graph_add_dependency(graph, nodes[0], nodes[1]));
	assert_ok(doca_graph_add_dependency(graph, nodes[0], nodes[2]));
	assert_ok(doca_graph_add_dependency(graph, nodes[1], nodes[3]));
	assert_ok(doca_graph_add_dependency(graph, nodes[2], nodes[3]));
	assert_ok(doca_graph_add_dependency(graph, task, nodes[0]));
	assert_ok(doca_graph_add_dependency(graph, task, nodes[0])); /* twice is as once */
	start_graph(graph);
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, task, copy.task));
	for (unsigned int i = 0; i < 4; i++)
		assert_ok(doca_graph_instance_set_user_node_data(instance, nodes[i],
								 letter('a' + i)));
	submit(instance);
	wait_for(1);
	assert_int_equal(strlen(record.order), 4);
	assert_int_equal(record.order[0], 'a');
	assert_int_equal(record.order[3], 'd');
	assert_ok(doca_graph_instance_destroy(instance));
	free_copy(&copy);
}

static void function_without_predecessor_runs_in_progress(void **state)
{
	struct doca_graph_node *function = user_node(graph, note_function);
	struct single single = new_single();

	assert_ok(doca_graph_instance_set_user_node_data(single.instance, function, letter('r')));
	submit(single.instance);
	assert_string_equal(record.order, "");
	wait_for(1);
	assert_string_equal(record.order, "r");
	free_single(&single);
}

static void failed_function_ends_the_instance(void **state)
{
	struct doca_graph_node *bad = user_node(graph, fail_function),
			       *after = user_node(graph, note_function),
			       *task_after = ctx_node(graph, doca_dma_as_ctx(second));
	struct copy copy = new_copy(second, LEN);
	struct single single;
	size_t len = 1;

	assert_ok(doca_graph_add_dependency(graph, bad, after));
	assert_ok(doca_graph_add_dependency(graph, bad, task_after));
	single = new_single();
	assert_ok(doca_graph_instance_set_user_node_data(single.instance, bad, letter('b')));
	assert_ok(doca_graph_instance_set_user_node_data(single.instance, after, letter('n')));
	assert_ok(doca_graph_instance_set_ctx_node_data(single.instance, task_after, copy.task));
	submit(single.instance);
	wait_for(1);
	assert_int_equal(record.failed, 1);
	assert_string_equal(record.order, "b");
	assert_ok(doca_buf_get_data_len(copy.dst, &len));
	assert_int_equal(len, 0);
	/* What was running has finished. */
	assert_ok(doca_task_get_status(single.copy.task));
	assert_memory_equal(tasks.bytes, tasks.bytes + TASKS_LEN, LEN);
	free_single(&single);
	free_copy(&copy);
}

static doca_error_t fail_the_first_time(void *cookie)
{
	(void)cookie;
	return record.failed ? DOCA_SUCCESS : DOCA_ERROR_BAD_CONFIG;
}

static void failed_instance_can_be_submitted_again(void **state)
{
	struct single single;

	user_node(graph, fail_the_first_time);
	single = new_single();
	submit(single.instance);
	wait_for(1);
	assert_int_equal(record.failed, 1);
	doca_buf_reset_data_len(single.copy.dst);
	submit(single.instance);
	wait_for(2);
	assert_int_equal(record.succeeded, 1);
	free_single(&single);
}

/* The second function waits while the first one fails. */
static void waiting_function_does_not_run_after_a_failure(void **state)
{
	struct doca_graph_node *b = user_node(graph, fail_function),
			       *a = user_node(graph, fail_function);
	struct single single = new_single();

	assert_ok(doca_graph_instance_set_user_node_data(single.instance, a, letter('a')));
	assert_ok(doca_graph_instance_set_user_node_data(single.instance, b, letter('b')));
	submit(single.instance);
	wait_for(1);
	assert_int_equal(strlen(record.order), 1);
	free_single(&single);
}

static void failed_task_ends_the_instance_and_stops_its_context(void **state)
{
	struct doca_graph_node *node = ctx_node(graph, tasks.ctx),
			       *other = ctx_node(graph, doca_dma_as_ctx(second)),
			       *after = user_node(graph, note_function);
	struct doca_graph_instance *instance;
	struct copy bad, good;

	assert_ok(doca_graph_add_dependency(graph, node, after));
	start_graph(graph);
	instance = new_instance(graph);
	bad = new_copy(tasks.dma, 0);
	good = new_copy(second, LEN);
	doca_dma_task_memcpy_set_dst(bad.dma_task, NULL);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, bad.task));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, other, good.task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, after, letter('n')));
	submit(instance);
	wait_for(1);
	assert_int_equal(record.failed, 1);
	assert_int_equal(record.own, 0);
	assert_string_equal(record.order, "");
	assert_error(doca_task_get_status(bad.task), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_task_get_status(good.task));
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_STOPPING);
	assert_error(doca_graph_instance_submit(instance), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_instance_destroy(instance));
	free_copy(&good);
	free_copy(&bad);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
}

static void task_of_two_nodes_runs_once_after_the_other(void **state)
{
	struct doca_graph_node *a = ctx_node(graph, tasks.ctx), *b = ctx_node(graph, tasks.ctx);
	struct doca_buf *dst = tasks_room(0, 2 * LEN);
	struct doca_graph_instance *instance;
	struct copy copy = new_copy(tasks.dma, 0);

	doca_dma_task_memcpy_set_dst(copy.dma_task, dst);
	start_graph(graph);
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, a, copy.task));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, b, copy.task));
	submit(instance); /* both at once: the second one fails */
	wait_for(1);
	assert_int_equal(record.failed, 1);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_stop(graph));

	assert_ok(doca_graph_add_dependency(graph, a, b));
	assert_ok(doca_graph_start(graph));
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, a, copy.task));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, b, copy.task));
	doca_buf_reset_data_len(dst);
	submit(instance);
	wait_for(2);
	assert_int_equal(record.succeeded, 1);
	assert_ok(doca_graph_instance_destroy(instance));
	tasks_drop(dst);
	free_copy(&copy);
}

/* A graph with a sub graph between a task and a function. */
static void run_with_sub_graph(doca_graph_user_node_cb_t inner_function)
{
	struct doca_graph_node *node = ctx_node(graph, tasks.ctx), *part = NULL,
			       *after = user_node(graph, note_function), *inner, *inner_end;
	struct doca_graph_instance *instance, *sub_instance;
	struct copy copy = new_copy(tasks.dma, 0), inner_copy = new_copy(second, LEN);
	struct doca_graph *sub;

	assert_ok(doca_graph_create(tasks.pe, &sub));
	inner = ctx_node(sub, doca_dma_as_ctx(second));
	inner_end = user_node(sub, inner_function);
	assert_ok(doca_graph_add_dependency(sub, inner, inner_end));
	start_graph(sub);
	assert_ok(doca_graph_node_create_from_graph(graph, sub, &part));
	assert_ok(doca_graph_add_dependency(graph, node, part));
	assert_ok(doca_graph_add_dependency(graph, part, after));
	start_graph(graph);
	instance = new_instance(graph);
	sub_instance = new_instance(sub);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, copy.task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, after, letter('o')));
	assert_ok(doca_graph_instance_set_ctx_node_data(sub_instance, inner, inner_copy.task));
	assert_ok(doca_graph_instance_set_user_node_data(sub_instance, inner_end, letter('i')));
	assert_error(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_graph_instance_set_sub_graph_node_data(instance, part, sub_instance));
	submit(instance);
	wait_for(1);
	assert_ptr_equal(record.last, instance);
	assert_memory_equal(tasks.bytes, tasks.bytes + TASKS_LEN, 2 * LEN);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_instance_destroy(sub_instance));
	free_copy(&copy);
	free_copy(&inner_copy);
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_stop(sub));
	assert_ok(doca_graph_destroy(sub));
}

static void sub_graph_runs_as_one_node(void **state)
{
	run_with_sub_graph(note_function);
	assert_int_equal(record.succeeded, 1);
	assert_string_equal(record.order, "io");
}

static void failed_sub_graph_fails_its_graph(void **state)
{
	run_with_sub_graph(fail_function);
	assert_int_equal(record.failed, 1);
	assert_string_equal(record.order, "i");
}

static void sub_graph_instance_in_use_is_refused(void **state)
{
	struct doca_graph_node *inner, *part = NULL;
	struct doca_graph_instance *instance, *sub_instance;
	struct copy copy = new_copy(tasks.dma, 0), inner_copy = new_copy(second, LEN);
	struct doca_graph_node *node = ctx_node(graph, tasks.ctx);
	struct doca_graph *sub;

	assert_ok(doca_graph_create(tasks.pe, &sub));
	inner = ctx_node(sub, doca_dma_as_ctx(second));
	start_graph(sub);
	assert_ok(doca_graph_node_create_from_graph(graph, sub, &part));
	start_graph(graph);
	instance = new_instance(graph);
	sub_instance = new_instance(sub);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, copy.task));
	assert_ok(doca_graph_instance_set_ctx_node_data(sub_instance, inner, inner_copy.task));
	assert_ok(doca_graph_instance_set_sub_graph_node_data(instance, part, sub_instance));
	submit(sub_instance);
	assert_error(doca_graph_instance_submit(instance), DOCA_ERROR_IN_USE);
	wait_for(1);
	assert_ptr_equal(record.last, sub_instance);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_instance_destroy(sub_instance));
	free_copy(&copy);
	free_copy(&inner_copy);
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_stop(sub));
	assert_ok(doca_graph_destroy(sub));
}

static void destroy_all(struct doca_graph_instance *instance, union doca_data instance_data,
			union doca_data graph_data)
{
	on_success(instance, instance_data, graph_data);
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_destroy(graph));
	graph = NULL;
}

static void callback_destroys_the_graph(void **state)
{
	struct doca_graph_node *node = ctx_node(graph, tasks.ctx);
	struct doca_graph_instance *instance;
	struct copy copy = new_copy(tasks.dma, 0);

	assert_ok(doca_graph_set_conf(graph, destroy_all, destroy_all, 1));
	assert_ok(doca_graph_start(graph));
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, copy.task));
	submit(instance);
	wait_for(1);
	assert_null(graph);
	free_copy(&copy);
}

static void context_is_restarted_between_instances(void **state)
{
	struct single single = new_single();

	submit(single.instance);
	wait_for(1);
	free_copy(&single.copy);
	assert_ok(doca_ctx_stop(tasks.ctx));
	assert_ok(doca_ctx_start(tasks.ctx));
	single.copy = new_copy(tasks.dma, LEN);
	assert_ok(doca_graph_instance_set_ctx_node_data(single.instance, single.node,
							single.copy.task));
	submit(single.instance);
	wait_for(2);
	assert_int_equal(record.own, 0);
	free_single(&single);
}

/* The function starts before the task, so no event of the device helps. */
static void handle_fires_for_all_nodes(void **state)
{
	struct doca_graph_node *function = user_node(graph, note_function),
			       *node = ctx_node(graph, tasks.ctx);
	struct copy copy = new_copy(tasks.dma, 0);
	struct pollfd handle = {.events = POLLIN};
	struct doca_graph_instance *instance;

	assert_ok(doca_graph_add_dependency(graph, function, node));
	start_graph(graph);
	instance = new_instance(graph);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, copy.task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, function, letter('e')));
	assert_ok(doca_pe_get_notification_handle(tasks.pe, &handle.fd));
	assert_ok(doca_pe_request_notification(tasks.pe));
	assert_int_equal(poll(&handle, 1, 0), 0);
	submit(instance);
	while (!record.succeeded) {
		assert_int_equal(poll(&handle, 1, PATIENCE_MS), 1);
		assert_ok(doca_pe_clear_notification(tasks.pe, 0));
		(void)doca_pe_progress(tasks.pe); /* only one: the rest needs an event too */
		assert_ok(doca_pe_request_notification(tasks.pe));
	}
	assert_int_equal(poll(&handle, 1, 0), 0);
	assert_ok(doca_graph_instance_destroy(instance));
	free_copy(&copy);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		graph_test(null_is_invalid),
		graph_test(user_data_is_0_until_set),
		graph_test(started_graph_cannot_be_changed),
		graph_test(start_and_stop_can_be_repeated),
		graph_test(start_without_conf_is_bad_state),
		graph_test(start_without_context_node_is_bad_state),
		graph_test(start_with_a_stopped_context_is_bad_state),
		graph_test(start_with_a_context_of_another_engine_is_bad_state),
		graph_test(sub_graph_that_is_not_started_is_bad_state),
		graph_test(circle_is_not_permitted),
		graph_test(circle_of_graphs_is_not_permitted),
		graph_test(dependency_between_graphs_is_invalid),
		graph_test(instances_need_a_started_graph_and_are_limited),
		graph_test(submitted_instance_cannot_be_changed),
		graph_test(data_that_does_not_fit_is_not_permitted),
		graph_test(instance_of_another_graph_is_no_sub_graph_instance),
		graph_test(submit_passes_on_the_state_of_tasks),
		graph_test(context_without_graphs_is_not_supported),
		graph_test(two_contexts_run_ten_instances_and_compare),
		graph_test(task_outside_the_graph_has_its_callback),
		graph_test(instance_is_submitted_again),
		graph_test(nodes_start_after_those_they_depend_on),
		graph_test(function_without_predecessor_runs_in_progress),
		graph_test(failed_function_ends_the_instance),
		graph_test(failed_instance_can_be_submitted_again),
		graph_test(waiting_function_does_not_run_after_a_failure),
		graph_test(failed_task_ends_the_instance_and_stops_its_context),
		graph_test(task_of_two_nodes_runs_once_after_the_other),
		graph_test(sub_graph_runs_as_one_node),
		graph_test(failed_sub_graph_fails_its_graph),
		graph_test(sub_graph_instance_in_use_is_refused),
		graph_test(callback_destroys_the_graph),
		graph_test(context_is_restarted_between_instances),
		graph_test(handle_fires_for_all_nodes),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
