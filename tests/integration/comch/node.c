/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "node.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHORT_MESSAGE 40

static struct node *all;

const char *node_unique_name(void)
{
	static unsigned int n;
	static char name[NODE_NAME];

	snprintf(name, sizeof(name), "test %d.%u", (int)getpid(), n++);
	return name;
}

__attribute__((format(printf, 2, 3))) static void note(struct node *node, const char *fmt, ...)
{
	size_t room = sizeof(node->log) - node->log_len;
	char word[SHORT_MESSAGE + 16];
	va_list args;
	int len;

	va_start(args, fmt);
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	vsnprintf(word, sizeof(word), fmt, args);
	va_end(args);
	len = snprintf(node->log + node->log_len, room, "%s%s", node->log_len ? " " : "", word);
	if (len < 0 || (size_t)len >= room)
		abort();
	node->log_len += (size_t)len;
	if (node->hook)
		node->hook(node, word);
}

static struct node *node_of(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_ctx *ctx;
	union doca_data data;

	ctx = server ? doca_comch_server_as_ctx(server)
		     : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	if (doca_ctx_get_user_data(ctx, &data) != DOCA_SUCCESS)
		abort();
	return data.ptr;
}

static unsigned int index_of(struct node *node, const struct doca_comch_connection *connection)
{
	unsigned int i = 0;

	while (i < node->n_connections && node->connections[i] != connection)
		i++;
	return i;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_user_data,
		    union doca_data ctx_user_data)
{
	struct node *node = ctx_user_data.ptr;
	doca_error_t status = doca_task_get_status(doca_comch_task_send_as_task(task));

	(void)task_user_data;
	if (node->keeps_tasks && node->n_kept < NODE_TASKS)
		node->kept[node->n_kept++] = task;
	else
		doca_task_free(doca_comch_task_send_as_task(task));
	if (status == DOCA_SUCCESS)
		note(node, "sent");
	else
		note(node, "failed:%s", doca_error_get_name(status) + strlen("DOCA_ERROR_"));
	if (status == DOCA_SUCCESS && (node->actions & NODE_STOP_ON_SENT))
		node_stop(node);
}

static bool is_word(const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (!isgraph(bytes[i]))
			return false;
	return len && len < SHORT_MESSAGE;
}

static uint32_t sum_of(const uint8_t *bytes, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct node *node = node_of(connection);

	(void)event;
	if ((uintptr_t)bytes % 8 || len > sizeof(node->message))
		abort();
	memcpy(node->message, bytes, len);
	node->message_len = len;
	if (is_word(bytes, len))
		note(node, "msg:%.*s", (int)len, (const char *)bytes);
	else
		note(node, "msg[%u,%u]", len, sum_of(bytes, len));
	if (node->actions & NODE_ECHO)
		node_send(node, index_of(node, connection), bytes, len);
	if (node->actions & NODE_SCRIBBLE)
		memset(bytes, 0xee, len);
	if (node->actions & NODE_STOP_ON_MESSAGE)
		node_stop(node);
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	struct node *node = node_of(connection);
	unsigned int i = node->n_connections;

	(void)event;
	if (!successful) {
		note(node, "refused");
		return;
	}
	if (i == NODE_CONNECTIONS)
		abort();
	node->connections[node->n_connections++] = connection;
	note(node, "connect:%u", i);
	if (i && (node->actions & NODE_ONE_CLIENT) &&
	    doca_comch_server_disconnect(node->server, connection) == DOCA_SUCCESS)
		node->connections[i] = NULL;
	if (node->connections[i] && (node->actions & NODE_SEND_ON_CONNECT))
		node_send(node, i, "welcome", 7);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	struct node *node = node_of(connection);
	unsigned int i = index_of(node, connection);

	(void)event;
	note(node, successful ? "disconnect:%u" : "disconnect-failed:%u", i);
	if (i < node->n_connections)
		node->connections[i] = NULL;
}

static void on_new_consumer(struct doca_comch_event_consumer *event,
			    struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	note(node_of(connection), "new:%u", id);
}

static void on_gone_consumer(struct doca_comch_event_consumer *event,
			     struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	note(node_of(connection), "gone:%u", id);
}

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	struct node *node = data.ptr;

	(void)ctx;
	(void)prev;
	if (next == DOCA_CTX_STATE_RUNNING && !node->is_server) {
		if (doca_comch_client_get_connection(node->client, &node->connections[0]) !=
		    DOCA_SUCCESS)
			abort();
		node->n_connections = 1;
	}
	note(node, "%s", test_state_name(next));
	if (next == DOCA_CTX_STATE_IDLE && !node->is_server)
		node->n_connections = 0;
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	if (!node->is_server && (node->actions & NODE_SEND_ON_RUNNING))
		node_send(node, 0, "hello", 5);
	if (node->actions & NODE_STOP_ON_RUNNING)
		node_stop(node);
}

static doca_error_t open_representor(struct node *node)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_rep_create_list(node->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = n ? doca_dev_rep_open(list[0], &node->rep) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_rep_destroy_list(list);
	return result;
}

static doca_error_t create(struct node *node, const char *name)
{
	doca_error_t result;

	if (node->is_server) {
		result = open_representor(node);
		DOCA_ERROR_PROPAGATE(result, doca_comch_server_create(node->dev, node->rep, name,
								      &node->server));
		node->ctx = doca_comch_server_as_ctx(node->server);
		return result;
	}
	result = doca_comch_client_create(node->dev, name, &node->client);
	node->ctx = doca_comch_client_as_ctx(node->client);
	return result;
}

static doca_error_t destroy_object(struct node *node)
{
	doca_error_t result = DOCA_SUCCESS;

	if (node->server)
		result = doca_comch_server_destroy(node->server);
	if (node->client)
		result = doca_comch_client_destroy(node->client);
	node->server = NULL;
	node->client = NULL;
	node->ctx = NULL;
	return result;
}

/* What node_open_bare() made. */
static doca_error_t destroy_all(struct node *node)
{
	doca_error_t result = destroy_object(node);

	if (node->pe)
		DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(node->pe));
	if (node->rep)
		DOCA_ERROR_PROPAGATE(result, doca_dev_rep_close(node->rep));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(node->dev));
	return result;
}

doca_error_t node_open_bare(struct node *node, const char *name, struct doca_pe *pe)
{
	doca_error_t result;

	memset(node, 0, sizeof(*node));
	result = fixture_open_device(&node->dev);
	if (result != DOCA_SUCCESS)
		return result;
	node->is_server =
		doca_comch_cap_server_is_supported(doca_dev_as_devinfo(node->dev)) == DOCA_SUCCESS;
	if (!pe) {
		result = doca_pe_create(&node->pe);
		pe = node->pe;
	}
	DOCA_ERROR_PROPAGATE(result, create(node, name));
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(node->ctx, (union doca_data){.ptr = node});
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(node->ctx, on_state));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(pe, node->ctx));
	if (result != DOCA_SUCCESS) {
		destroy_all(node);
		return result;
	}
	node->next = all;
	all = node;
	return DOCA_SUCCESS;
}

doca_error_t node_register(struct node *node)
{
	doca_error_t result;

	if (!node->is_server) {
		result = doca_comch_client_event_msg_recv_register(node->client, on_message);
		DOCA_ERROR_PROPAGATE(result,
				     doca_comch_client_event_consumer_register(
					     node->client, on_new_consumer, on_gone_consumer));
		return result;
	}
	result = doca_comch_server_event_msg_recv_register(node->server, on_message);
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_consumer_register(
					     node->server, on_new_consumer, on_gone_consumer));
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_connection_status_changed_register(
					     node->server, on_connect, on_disconnect));
	return result;
}

doca_error_t node_set_tasks(struct node *node, uint32_t n)
{
	return node->is_server
		       ? doca_comch_server_task_send_set_conf(node->server, on_sent, on_sent, n)
		       : doca_comch_client_task_send_set_conf(node->client, on_sent, on_sent, n);
}

doca_error_t node_set_max_message(struct node *node, uint32_t len)
{
	return node->is_server ? doca_comch_server_set_max_msg_size(node->server, len)
			       : doca_comch_client_set_max_msg_size(node->client, len);
}

doca_error_t node_set_queue(struct node *node, uint32_t size)
{
	return node->is_server ? doca_comch_server_set_recv_queue_size(node->server, size)
			       : doca_comch_client_set_recv_queue_size(node->client, size);
}

doca_error_t node_open(struct node *node, const char *name)
{
	doca_error_t result = node_open_bare(node, name, NULL);

	if (result != DOCA_SUCCESS)
		return result;
	result = node_register(node);
	DOCA_ERROR_PROPAGATE(result, node_set_tasks(node, NODE_TASKS));
	if (result != DOCA_SUCCESS)
		node_close(node);
	return result;
}

static void forget(const struct node *node)
{
	struct node **link = &all;

	while (*link && *link != node)
		link = &(*link)->next;
	if (*link)
		*link = node->next;
}

static bool wait_for_idle(struct node *node)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (node_state(node) != DOCA_CTX_STATE_IDLE) {
		if (monotonic_ms() > deadline)
			return false;
		if (!node_progress_all())
			usleep(500);
	}
	return true;
}

doca_error_t node_close(struct node *node)
{
	if (!node->dev)
		return DOCA_SUCCESS;
	node->is_frozen = false;
	node->hook = NULL;
	while (node->n_kept)
		doca_task_free(doca_comch_task_send_as_task(node->kept[--node->n_kept]));
	node->keeps_tasks = false;
	if (node_state(node) != DOCA_CTX_STATE_IDLE) {
		node_stop(node);
		if (!wait_for_idle(node))
			return DOCA_ERROR_TIME_OUT;
	}
	forget(node);
	return destroy_all(node);
}

doca_error_t node_start(struct node *node)
{
	return doca_ctx_start(node->ctx);
}

doca_error_t node_stop(struct node *node)
{
	return doca_ctx_stop(node->ctx);
}

enum doca_ctx_states node_state(const struct node *node)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (doca_ctx_get_state(node->ctx, &state) != DOCA_SUCCESS)
		abort();
	return state;
}

doca_error_t node_alloc(struct node *node, unsigned int connection, const void *msg, uint32_t len,
			struct doca_comch_task_send **task)
{
	struct doca_comch_connection *peer = node->connections[connection];

	return node->is_server
		       ? doca_comch_server_task_send_alloc_init(node->server, peer, msg, len, task)
		       : doca_comch_client_task_send_alloc_init(node->client, peer, msg, len, task);
}

doca_error_t node_send(struct node *node, unsigned int connection, const void *msg, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result = node_alloc(node, connection, msg, len, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result;
}

doca_error_t node_send_all(struct node *node, unsigned int connection, const void *msg,
			   uint32_t len)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_error_t result;

	while ((result = node_send(node, connection, msg, len)) == DOCA_ERROR_NO_MEMORY) {
		if (monotonic_ms() > deadline)
			return DOCA_ERROR_TIME_OUT;
		if (!node_progress_all())
			usleep(100);
	}
	return result;
}

uint32_t node_numbered(uint8_t *message, unsigned int i)
{
	uint32_t len = 4 + i * 709 % (NODE_MESSAGE - 3);

	fixture_fill(message, len, i);
	return len;
}

bool node_progress_all(void)
{
	bool any = false;

	for (struct node *node = all; node; node = node->next)
		if (!node->is_frozen && node->pe && doca_pe_progress(node->pe))
			any = true;
	return any;
}

unsigned int node_count(const struct node *node, const char *word)
{
	return test_count_word(node->log, word);
}

bool node_wait_for(struct node *node, const char *word, unsigned int times)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (node_count(node, word) < times) {
		if (monotonic_ms() > deadline) {
			fprintf(stderr, "no %u times \"%s\" in \"%s\"\n", times, word, node->log);
			return false;
		}
		if (!node_progress_all())
			usleep(500);
	}
	return true;
}
