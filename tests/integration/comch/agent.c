/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "agent.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum op {
	OP_OPEN,
	OP_CLOSE,
	OP_ACTIONS,
	OP_MAX_MESSAGE,
	OP_QUEUE,
	OP_FROZEN,
	OP_START,
	OP_STOP,
	OP_SEND,
	OP_WAIT,
	OP_LOG,
	OP_COUNT,
	OP_CROWD,
	OP_FLOOD,
};

struct request {
	uint32_t op;
	uint32_t node;
	uint32_t number;
	uint32_t len; /* of the bytes that follow */
};

struct reply {
	int32_t status;
	uint32_t len;
};

struct process agent;
struct node local;
static char agent_text[NODE_LOG];
static struct node nodes[AGENT_NODES];
static struct node *crowd;
static unsigned int n_crowd;

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, timeout_ms) > 0;
}

/* Progress the nodes of this process until there is something to read. */
static bool wait_readable(int fd, uint64_t deadline)
{
	while (!is_readable(fd, node_progress_all() ? 0 : 1))
		if (deadline && monotonic_ms() > deadline)
			return false;
	return true;
}

static doca_error_t call(struct process *p, struct request request, const void *bytes)
{
	struct reply reply;

	if (!process_send(p->to, &request, sizeof(request)) ||
	    !process_send(p->to, bytes, request.len))
		return DOCA_ERROR_CONNECTION_RESET;
	if (!wait_readable(p->from, monotonic_ms() + 2 * FIXTURE_TIMEOUT_MS))
		return DOCA_ERROR_TIME_OUT;
	if (!process_receive(p->from, &reply, sizeof(reply)) || reply.len >= sizeof(agent_text) ||
	    !process_receive(p->from, agent_text, reply.len))
		return DOCA_ERROR_CONNECTION_RESET;
	agent_text[reply.len] = 0;
	return (doca_error_t)reply.status;
}

static doca_error_t call_number(struct process *p, enum op op, unsigned int node, uint32_t number)
{
	return call(p, (struct request){.op = op, .node = node, .number = number}, NULL);
}

doca_error_t agent_open(struct process *p, unsigned int node, const char *name)
{
	return call(p, (struct request){.op = OP_OPEN, .node = node, .len = strlen(name)}, name);
}

doca_error_t agent_close(struct process *p, unsigned int node)
{
	return call_number(p, OP_CLOSE, node, 0);
}

doca_error_t agent_set_actions(struct process *p, unsigned int node, uint32_t actions)
{
	return call_number(p, OP_ACTIONS, node, actions);
}

doca_error_t agent_set_max_message(struct process *p, unsigned int node, uint32_t len)
{
	return call_number(p, OP_MAX_MESSAGE, node, len);
}

doca_error_t agent_set_queue(struct process *p, unsigned int node, uint32_t size)
{
	return call_number(p, OP_QUEUE, node, size);
}

doca_error_t agent_set_frozen(struct process *p, unsigned int node, bool is_frozen)
{
	return call_number(p, OP_FROZEN, node, is_frozen);
}

doca_error_t agent_start(struct process *p, unsigned int node)
{
	return call_number(p, OP_START, node, 0);
}

doca_error_t agent_stop(struct process *p, unsigned int node)
{
	return call_number(p, OP_STOP, node, 0);
}

doca_error_t agent_send(struct process *p, unsigned int node, unsigned int connection,
			const void *msg, uint32_t len)
{
	return call(p,
		    (struct request){
			    .op = OP_SEND,
			    .node = node,
			    .number = connection,
			    .len = len,
		    },
		    msg);
}

doca_error_t agent_wait(struct process *p, unsigned int node, const char *word, unsigned int times)
{
	return call(p,
		    (struct request){
			    .op = OP_WAIT,
			    .node = node,
			    .number = times,
			    .len = strlen(word),
		    },
		    word);
}

doca_error_t agent_crowd(struct process *p, unsigned int node, const char *name, unsigned int n)
{
	return call(p,
		    (struct request){
			    .op = OP_CROWD,
			    .node = node,
			    .number = n,
			    .len = strlen(name),
		    },
		    name);
}

doca_error_t agent_flood(struct process *p, unsigned int node, unsigned int n)
{
	return call_number(p, OP_FLOOD, node, n);
}

unsigned int agent_count(struct process *p, unsigned int node, const char *word)
{
	struct request request = {.op = OP_COUNT, .node = node, .len = strlen(word)};

	return (unsigned int)call(p, request, word);
}

const char *agent_log(struct process *p, unsigned int node)
{
	return call_number(p, OP_LOG, node, 0) == DOCA_SUCCESS ? agent_text : "";
}

static doca_error_t open_one_of_crowd(struct node *node, const char *name, struct doca_pe *pe)
{
	doca_error_t result = node_open_bare(node, name, pe);

	if (result != DOCA_SUCCESS)
		return result;
	result = node_register(node);
	if (result == DOCA_SUCCESS)
		result = node_start(node);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* The first of them has the engine. */
static doca_error_t open_crowd(struct node *first, const char *name, unsigned int n)
{
	doca_error_t result = open_one_of_crowd(first, name, NULL);

	crowd = calloc(n, sizeof(*crowd));
	if (!crowd)
		return DOCA_ERROR_NO_MEMORY;
	while (n_crowd < n - 1 && result == DOCA_SUCCESS) {
		result = open_one_of_crowd(&crowd[n_crowd], name, first->pe);
		if (result != DOCA_SUCCESS)
			return result;
		if (!node_wait_for(&crowd[n_crowd++], "RUNNING", 1))
			return DOCA_ERROR_TIME_OUT;
	}
	return node_wait_for(first, "RUNNING", 1) ? result : DOCA_ERROR_TIME_OUT;
}

static doca_error_t close_all(void)
{
	doca_error_t result = DOCA_SUCCESS;

	while (n_crowd)
		DOCA_ERROR_PROPAGATE(result, node_close(&crowd[--n_crowd]));
	free(crowd);
	for (unsigned int i = 0; i < AGENT_NODES; i++)
		if (nodes[i].ctx)
			DOCA_ERROR_PROPAGATE(result, node_close(&nodes[i]));
	return result;
}

static doca_error_t flood(struct node *node, unsigned int n)
{
	doca_error_t result = DOCA_SUCCESS;
	uint8_t message[NODE_MESSAGE];

	for (unsigned int i = 0; i < n && result == DOCA_SUCCESS; i++) {
		uint32_t len = node_numbered(message, i);

		result = node_send_all(node, 0, message, len);
	}
	return result;
}

static doca_error_t execute(const struct request *request, const char *text)
{
	struct node *node = &nodes[request->node];

	switch ((enum op)request->op) {
	case OP_OPEN:
		return node_open(node, text);
	case OP_CLOSE:
		return node_close(node);
	case OP_ACTIONS:
		node->actions = request->number;
		return DOCA_SUCCESS;
	case OP_MAX_MESSAGE:
		return node_set_max_message(node, request->number);
	case OP_QUEUE:
		return node_set_queue(node, request->number);
	case OP_FROZEN:
		node->is_frozen = request->number;
		return DOCA_SUCCESS;
	case OP_START:
		return node_start(node);
	case OP_STOP:
		return node_stop(node);
	case OP_SEND:
		return node_send_all(node, request->number, text, request->len);
	case OP_WAIT:
		return node_wait_for(node, text, request->number) ? DOCA_SUCCESS
								  : DOCA_ERROR_TIME_OUT;
	case OP_LOG:
		return DOCA_SUCCESS;
	case OP_COUNT:
		return (doca_error_t)node_count(node, text);
	case OP_CROWD:
		return open_crowd(node, text, request->number);
	case OP_FLOOD:
		return flood(node, request->number);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static bool serve_one(void)
{
	char text[NODE_MESSAGE + 64] = {0};
	struct request request;
	struct reply reply = {0};

	if (!process_receive(STDIN_FILENO, &request, sizeof(request)) ||
	    request.node >= AGENT_NODES || request.len >= sizeof(text) ||
	    !process_receive(STDIN_FILENO, text, request.len))
		return false;
	reply.status = execute(&request, text);
	if (request.op == OP_LOG)
		reply.len = (uint32_t)nodes[request.node].log_len;
	return process_send(STDOUT_FILENO, &reply, sizeof(reply)) &&
	       process_send(STDOUT_FILENO, nodes[request.node].log, reply.len);
}

int agent_serve(void)
{
	while (wait_readable(STDIN_FILENO, 0) && serve_one())
		;
	return close_all() != DOCA_SUCCESS;
}

int agent_setup(void **state)
{
	if (fixture_count(state))
		return -1;
	memset(&local, 0, sizeof(local));
	return process_start_peer(&agent, test_options.peer_as) ? 0 : -1;
}

int agent_teardown_local(void **state)
{
	if (local.ctx && node_close(&local) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

int agent_teardown(void **state)
{
	bool ended;

	/* The agent's nodes may need progress of this process to stop; it does not wait for them. */
	if (local.ctx && node_close(&local) != DOCA_SUCCESS)
		return -1;
	ended = process_finish(&agent);
	return ended ? fixture_recount(state) : -1;
}

const char *agent_open_both(void)
{
	const char *name = node_unique_name();

	assert_ok(node_open(&local, name));
	assert_ok(agent_open(&agent, 0, name));
	return name;
}

void agent_connect(void)
{
	if (local.is_server) {
		assert_ok(node_start(&local));
		assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
		assert_ok(agent_wait(&agent, 0, "RUNNING", 1));
		node_wait(&local, "connect:0");
	} else {
		assert_ok(agent_start(&agent, 0));
		assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
		node_wait(&local, "RUNNING");
		assert_ok(agent_wait(&agent, 0, "connect:0", 1));
	}
}
