/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Failed allocations of graphs: the code, and that nothing of the failed call remains. */
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_pe.h>

#include <errno.h>

#include "faults.h"
#include "fixture.h"

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_dma *dma;

static void on_task(struct doca_dma_task_memcpy *task, union doca_data task_data,
		    union doca_data ctx_data)
{
}

static void on_instance(struct doca_graph_instance *instance, union doca_data instance_data,
			union doca_data graph_data)
{
}

static doca_error_t function(void *cookie)
{
	return DOCA_SUCCESS;
}

static int open_context(void **state)
{
	doca_error_t result;

	if (fixture_count(state))
		return -1;
	result = fixture_open_device(&dev);
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&pe));
	DOCA_ERROR_PROPAGATE(result, doca_dma_create(dev, &dma));
	DOCA_ERROR_PROPAGATE(result, doca_dma_task_memcpy_set_conf(dma, on_task, on_task, 1));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(doca_dma_as_ctx(dma)));
	return result == DOCA_SUCCESS ? 0 : -1;
}

static int close_context(void **state)
{
	doca_error_t result = doca_ctx_stop(doca_dma_as_ctx(dma));

	DOCA_ERROR_PROPAGATE(result, doca_dma_destroy(dma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(pe));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

/* The call fails without memory, leaves nothing behind, and succeeds afterwards. */
#define assert_needs_memory(call)                            \
	do {                                                 \
		unsigned int live_ = fault_count_live();     \
		fault_arm(FAULT_ALLOC, 1, ENOMEM);           \
		assert_error(call, DOCA_ERROR_NO_MEMORY);    \
		assert_true(fault_fired());                  \
		fault_disarm();                              \
		assert_int_equal(fault_count_live(), live_); \
		assert_ok(call);                             \
	} while (0)

static void allocation_that_fails_is_no_memory(void **state)
{
	struct doca_graph_node *node = NULL, *user = NULL, *part = NULL;
	unsigned int live = fault_count_live();
	struct doca_graph_instance *instance;
	struct doca_graph *graph, *sub;

	assert_needs_memory(doca_graph_create(pe, &graph));
	assert_needs_memory(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &node));
	assert_needs_memory(doca_graph_node_create_from_user(graph, function, &user));
	assert_needs_memory(doca_graph_add_dependency(graph, node, user));
	assert_ok(doca_graph_create(pe, &sub));
	assert_ok(doca_graph_node_create_from_ctx(sub, doca_dma_as_ctx(dma), &part));
	assert_ok(doca_graph_set_conf(sub, on_instance, on_instance, 1));
	assert_ok(doca_graph_start(sub));
	assert_needs_memory(doca_graph_node_create_from_graph(graph, sub, &part));
	assert_ok(doca_graph_set_conf(graph, on_instance, on_instance, 1));
	assert_ok(doca_graph_start(graph));
	assert_needs_memory(doca_graph_instance_create(graph, &instance));
	assert_ok(doca_graph_instance_destroy(instance));
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_destroy(graph));
	assert_ok(doca_graph_stop(sub));
	assert_ok(doca_graph_destroy(sub));
	assert_int_equal(fault_count_live(), live);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(allocation_that_fails_is_no_memory, open_context,
						close_context),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
