/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Graphs of tasks. A graph describes the order of operations: a node stands for one task of a
 * context, one function of the program, or one instance of another graph, and a dependency says that
 * a node starts after another node has finished. An instance of the graph has the tasks and data of
 * one run.
 *
 * A program creates a graph, its nodes and dependencies, starts the graph, creates instances, sets the
 * data of each node in each instance, and submits instances. Nodes without predecessor start inside
 * doca_graph_instance_submit(). All other nodes start, and functions of the program and the completion
 * callback run, inside doca_pe_progress(). An instance can be submitted again after its callback has
 * run or inside of it. Destroy instances first, then free their tasks, then stop and destroy the graph,
 * then stop the contexts.
 *
 * A task in a graph completes as usual (doca_task_get_status() is its result and its bufs have grown)
 * but its own callback does not run. The same holds for an instance of a sub graph. After a task
 * failed or a function returned an error, no further node of the instance starts, and the error callback
 * of the instance runs when the nodes that have started are finished. A failed task stops its context
 * as usual.
 *
 * DMA and RDMA tasks can be in a graph.
 *
 * Thread safety of all functions: only one thread at a time may use a graph, its nodes and instances,
 * its progress engine and the contexts of the engine. On any error the outputs keep their values.
 * Semantics: DOCA 3.0, doca_graph.h.
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_graph;
struct doca_graph_instance;
struct doca_graph_node;
struct doca_pe;
struct doca_task;

/**
 * Report the end of a submitted instance. The program may submit the instance again or destroy it.
 *
 * @param instance the instance
 * @param instance_user_data the value set by doca_graph_instance_set_user_data()
 * @param graph_user_data the value set by doca_graph_set_user_data()
 */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance,
					   union doca_data instance_user_data,
					   union doca_data graph_user_data);

/**
 * Execute a user node.
 *
 * @param cookie the value set by doca_graph_instance_set_user_node_data()
 * @return DOCA_SUCCESS, or an error, with which the instance fails
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

/**
 * Create a graph.
 *
 * @param pe the engine that executes the graph; must not be destroyed before the graph
 * @param graph out: the graph, owned by the caller until doca_graph_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/**
 * Destroy a graph and its nodes.
 *
 * @param graph the graph; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Start a graph. Instances can be created from then on, and the graph cannot be changed.
 *
 * @param graph the graph; a started graph is not changed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph has no context node, doca_graph_set_conf() was not called, or a
 *   context or a sub graph of its nodes is not started or is on another progress engine
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Stop a graph.
 *
 * @param graph the graph; a stopped graph is not changed
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the graph has instances
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_stop(struct doca_graph *graph);

/**
 * Set the callbacks and the number of instances. Mandatory before doca_graph_start().
 *
 * @param graph a stopped graph
 * @param success_cb runs when an instance has finished
 * @param error_cb runs when an instance has failed; may be the same function
 * @param num_instances maximum number of instances at a time, at least 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL or 0
 * - DOCA_ERROR_BAD_STATE: the graph is started
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_set_conf(struct doca_graph *graph,
						   doca_graph_completion_cb_t success_cb,
						   doca_graph_completion_cb_t error_cb,
						   uint32_t num_instances);

/**
 * Set the user data that the callbacks of all instances receive.
 *
 * @param graph a stopped graph
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the graph is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_set_user_data(struct doca_graph *graph,
							union doca_data user_data);

/**
 * Get the user data that was set last.
 *
 * @param graph the graph
 * @param user_data out: the value; 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_get_user_data(const struct doca_graph *graph,
							union doca_data *user_data);

/**
 * Create a node that executes a task of a context.
 *
 * @param graph a stopped graph, which owns the node
 * @param ctx the context; must be started before the graph and not be destroyed before it
 * @param node out: the node, valid until doca_graph_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NOT_SUPPORTED: tasks of the context cannot be in a graph
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph,
							       const struct doca_ctx *ctx,
							       struct doca_graph_node **node);

/**
 * Create a node that executes a function of the program.
 *
 * @param graph a stopped graph, which owns the node
 * @param cb the function
 * @param node out: the node, valid until doca_graph_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph,
								doca_graph_user_node_cb_t cb,
								struct doca_graph_node **node);

/**
 * Create a node that executes an instance of another graph.
 *
 * @param graph a stopped graph, which owns the node
 * @param sub_graph a started graph; must remain started while the graph is
 * @param node out: the node, valid until doca_graph_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is started, or the sub graph is not
 * - DOCA_ERROR_NOT_PERMITTED: the sub graph contains the graph
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph,
								 struct doca_graph *sub_graph,
								 struct doca_graph_node **node);

/**
 * Start a node only after another node has finished.
 *
 * @param graph a stopped graph
 * @param from the node that finishes first
 * @param to the node that starts after it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or a node belongs to another graph
 * - DOCA_ERROR_BAD_STATE: the graph is started
 * - DOCA_ERROR_NOT_PERMITTED: the dependency would close a circle
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_add_dependency(struct doca_graph *graph,
							 struct doca_graph_node *from,
							 struct doca_graph_node *to);

/**
 * Create an instance of a graph.
 *
 * @param graph a started graph
 * @param instance out: the instance, owned by the caller until doca_graph_instance_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the graph is not started
 * - DOCA_ERROR_NO_MEMORY: the graph has its maximum of instances, or an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
							  struct doca_graph_instance **instance);

/**
 * Destroy an instance. Its tasks and sub graph instances still belong to the program.
 *
 * @param instance the instance; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the instance is submitted
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *instance);

/**
 * Submit an instance. No callback runs inside the function.
 *
 * @param instance an instance in which each context node has its task and each sub graph node its
 *        instance; owned by the graph from success until its callback runs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or a node has no task or instance
 * - DOCA_ERROR_IN_USE: the instance is submitted, or one of its sub graph instances is
 * - DOCA_ERROR_BAD_STATE: the context of a task is not RUNNING, or a task is submitted or freed
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_submit(struct doca_graph_instance *instance);

/**
 * Set the user data that the completion callback receives.
 *
 * @param instance an instance that is not submitted
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the instance is NULL
 * - DOCA_ERROR_IN_USE: the instance is submitted
 */
DOCA_EXPERIMENTAL doca_error_t
doca_graph_instance_set_user_data(struct doca_graph_instance *instance, union doca_data user_data);

/**
 * Get the user data that was set last.
 *
 * @param instance the instance
 * @param user_data out: the value; 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_get_user_data(
	const struct doca_graph_instance *instance, union doca_data *user_data);

/**
 * Set the task of a context node. The task stays until another one is set.
 *
 * @param instance an instance that is not submitted
 * @param node a context node of its graph
 * @param task a task of the context of the node; still owned by the program, which must not free it
 *        while the instance is submitted
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the instance is submitted
 * - DOCA_ERROR_NOT_PERMITTED: the node is not a context node of this graph, or the task belongs to
 *   another context
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_ctx_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node, struct doca_task *task);

/**
 * Set the argument for the function of a user node.
 *
 * @param instance an instance that is not submitted
 * @param node a user node of its graph
 * @param cookie the argument; NULL if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the instance or the node is NULL
 * - DOCA_ERROR_BAD_STATE: the instance is submitted
 * - DOCA_ERROR_NOT_PERMITTED: the node is not a user node of this graph
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_user_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node, void *cookie);

/**
 * Set the instance that a sub graph node executes.
 *
 * @param instance an instance that is not submitted
 * @param node a sub graph node of its graph
 * @param sub_graph_instance an instance of the sub graph; still owned by the program, which must not
 *        destroy it before the instance
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the instance is submitted
 * - DOCA_ERROR_NOT_PERMITTED: the node is not a sub graph node of this graph, or sub_graph_instance
 *   belongs to another graph
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_sub_graph_node_data(
	struct doca_graph_instance *instance, struct doca_graph_node *node,
	struct doca_graph_instance *sub_graph_instance);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GRAPH_H_ */
