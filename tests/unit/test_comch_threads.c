/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server and a client in one process, each in a thread, while other threads pump their connection and
 * send frames of consumers and producers through it. No device: place and capabilities are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <pthread.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "comch/connection/connection.h"
#include "core/dev/dev.h"

#define NUM_MESSAGES	2000
#define NUM_FRAMES	500
#define NUM_TASKS	16

#define assert_ok(call) assert_int_equal(call, DOCA_SUCCESS)

static struct doca_dev dev;

/* --- two contexts ----------------------------------------------------------------------------- */

struct side {
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	_Atomic(struct doca_comch_connection *) connection;
	unsigned int num_received, num_disconnected;
	bool is_echo;
	atomic_bool may_stop;
};

static struct side server, client;
static char directory[] = "/tmp/dpumap-comch.XXXXXX";

static void send_message(struct side *side, struct doca_comch_connection *connection)
{
	uint64_t message = side->num_received;
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (side->server)
		result = doca_comch_server_task_send_alloc_init(side->server, connection, &message,
								sizeof(message), &task);
	else
		result = doca_comch_client_task_send_alloc_init(side->client, connection, &message,
								sizeof(message), &task);
	assert_ok(result);
	assert_ok(doca_task_submit(doca_comch_task_send_as_task(task)));
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data, (void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct side *side = doca_comch_server_get_server_ctx(connection) ? &server : &client;

	(void)event, (void)buffer;
	assert_int_equal(len, sizeof(uint64_t));
	side->num_received++;
	if (side->is_echo && side->num_received <= NUM_MESSAGES)
		send_message(side, connection);
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event, (void)successful;
	atomic_store(&server.connection, connection);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event, (void)connection, (void)successful;
	server.num_disconnected++;
}

static enum doca_ctx_states state_of(const struct side *side)
{
	enum doca_ctx_states state;

	assert_ok(doca_ctx_get_state(side->ctx, &state));
	return state;
}

static void progress_until(struct side *side, enum doca_ctx_states state)
{
	while (state_of(side) != state)
		doca_pe_progress(side->pe);
}

static int setup(void **state)
{
	server = (struct side){.is_echo = true};
	client = (struct side){.is_echo = true};
	assert_ok(doca_pe_create(&server.pe));
	assert_ok(doca_pe_create(&client.pe));
	assert_ok(doca_comch_server_create(&dev, (struct doca_dev_rep *)(void *)&dev, "threads",
					   &server.server));
	assert_ok(doca_comch_client_create(&dev, "threads", &client.client));
	server.ctx = doca_comch_server_as_ctx(server.server);
	client.ctx = doca_comch_client_as_ctx(client.client);
	assert_ok(doca_comch_server_task_send_set_conf(server.server, on_sent, on_sent, NUM_TASKS));
	assert_ok(doca_comch_client_task_send_set_conf(client.client, on_sent, on_sent, NUM_TASKS));
	assert_ok(doca_comch_server_event_msg_recv_register(server.server, on_message));
	assert_ok(doca_comch_client_event_msg_recv_register(client.client, on_message));
	assert_ok(doca_comch_server_event_connection_status_changed_register(
		server.server, on_connect, on_disconnect));
	assert_ok(doca_pe_connect_ctx(server.pe, server.ctx));
	assert_ok(doca_pe_connect_ctx(client.pe, client.ctx));
	assert_ok(doca_ctx_start(server.ctx));
	return 0;
}

static int teardown(void **state)
{
	progress_until(&client, DOCA_CTX_STATE_IDLE);
	(void)doca_ctx_stop(server.ctx);
	progress_until(&server, DOCA_CTX_STATE_IDLE);
	assert_ok(doca_comch_server_destroy(server.server));
	assert_ok(doca_comch_client_destroy(client.client));
	assert_ok(doca_pe_destroy(server.pe));
	assert_ok(doca_pe_destroy(client.pe));
	assert_int_equal(atomic_load(&dev.users), 0);
	return 0;
}

/* The client's thread: connect, and exchange messages until the test allows it to stop. */
static void *run_client(void *arg)
{
	struct doca_comch_connection *connection;

	(void)arg;
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	progress_until(&client, DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_comch_client_get_connection(client.client, &connection));
	atomic_store(&client.connection, connection);
	for (int i = 0; i < NUM_TASKS / 2; i++)
		send_message(&client, connection);
	while (client.num_received < NUM_MESSAGES || !atomic_load(&client.may_stop))
		doca_pe_progress(client.pe);
	assert_int_equal(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	progress_until(&client, DOCA_CTX_STATE_IDLE);
	return NULL;
}

/* --- endpoints -------------------------------------------------------------------------------- */

struct endpoint {
	struct comch_endpoint base;
	struct side *side;
	atomic_uint num_frames, num_down;
};

static void on_frame(struct comch_endpoint *base, const struct comch_frame *frame)
{
	struct endpoint *endpoint = (struct endpoint *)base;
	struct comch_frame answer = *frame;

	endpoint->num_frames++;
	if (frame->type != COMCH_PATH_OPEN)
		return;
	answer.type = COMCH_PATH_UP;
	(void)dpumap_comch_conn_send(base->connection, &answer);
}

static void on_consumer_gone(struct comch_endpoint *base, uint32_t id)
{
	(void)base, (void)id;
}

static void on_down(struct comch_endpoint *base)
{
	((struct endpoint *)base)->num_down++;
}

static const struct comch_endpoint_ops ops = {on_frame, on_consumer_gone, on_down};

static struct doca_comch_connection *await_connection(struct side *side)
{
	struct doca_comch_connection *connection;

	while (!(connection = atomic_load(&side->connection)))
		usleep(100);
	return connection;
}

static void add(struct endpoint *endpoint, struct side *side, bool is_producer)
{
	*endpoint = (struct endpoint){
		.base = {.ops = &ops, .ctx = side->ctx, .is_producer = is_producer},
		.side = side,
	};
	assert_ok(dpumap_comch_conn_add(await_connection(side), &endpoint->base));
	assert_int_equal(endpoint->base.id, 1);
}

/* A consumer's thread: answers until the connection ends. */
static void *run_consumer(void *arg)
{
	struct endpoint *endpoint = arg;

	while (!endpoint->num_down)
		dpumap_comch_conn_pump(endpoint->base.connection);
	assert_false(dpumap_comch_conn_is_up(endpoint->base.connection));
	dpumap_comch_conn_remove(&endpoint->base);
	return NULL;
}

/* A producer's thread: asks, and lets its client stop at the end. */
static void *run_producer(void *arg)
{
	struct endpoint *endpoint = arg;
	struct comch_frame frame = {.type = COMCH_PATH_OPEN, .path = {1, 1, 0, 0, {0}}};

	for (unsigned int i = 0; i < NUM_FRAMES; i++) {
		dpumap_comch_conn_lock(endpoint->base.connection);
		assert_ok(dpumap_comch_conn_send(endpoint->base.connection, &frame));
		dpumap_comch_conn_unlock(endpoint->base.connection);
		while (endpoint->num_frames <= i)
			dpumap_comch_conn_pump(endpoint->base.connection);
	}
	atomic_store(&endpoint->side->may_stop, true);
	/* The client waits for this. */
	dpumap_comch_conn_remove(&endpoint->base);
	return NULL;
}

static void endpoints_pump_while_messages_flow(void **state)
{
	struct endpoint consumer, producer;
	pthread_t threads[3];

	assert_int_equal(pthread_create(&threads[0], NULL, run_client, NULL), 0);
	while (!atomic_load(&server.connection))
		doca_pe_progress(server.pe);
	add(&consumer, &server, false);
	assert_int_equal(pthread_create(&threads[1], NULL, run_consumer, &consumer), 0);
	add(&producer, &client, true);
	assert_int_equal(pthread_create(&threads[2], NULL, run_producer, &producer), 0);
	while (!server.num_disconnected)
		doca_pe_progress(server.pe);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(consumer.num_frames, NUM_FRAMES);
	assert_int_equal(producer.num_frames, NUM_FRAMES);
	assert_true(server.num_received >= NUM_MESSAGES);
}

/* --- stop with endpoints ---------------------------------------------------------------------- */

static void connect_both(void)
{
	struct doca_comch_connection *connection;

	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	while (!atomic_load(&server.connection) || state_of(&client) != DOCA_CTX_STATE_RUNNING) {
		doca_pe_progress(server.pe);
		doca_pe_progress(client.pe);
	}
	assert_ok(doca_comch_client_get_connection(client.client, &connection));
	atomic_store(&client.connection, connection);
}

static void progress_both(unsigned int num)
{
	while (num--) {
		doca_pe_progress(server.pe);
		doca_pe_progress(client.pe);
	}
}

static void stop_waits_for_the_last_endpoint(void **state)
{
	struct endpoint consumer, producer;

	connect_both();
	add(&consumer, &client, false);
	add(&producer, &client, true);
	assert_int_equal(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	dpumap_comch_conn_remove(&consumer.base);
	progress_both(1000);
	assert_int_equal(state_of(&client), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(server.num_disconnected, 0);
	dpumap_comch_conn_remove(&producer.base);
	progress_until(&client, DOCA_CTX_STATE_IDLE);
	while (!server.num_disconnected)
		doca_pe_progress(server.pe);
	assert_int_equal(consumer.num_down + producer.num_down, 0);
}

static void disconnect_is_refused_while_there_are_endpoints(void **state)
{
	struct endpoint consumer;

	connect_both();
	add(&consumer, &server, false);
	assert_int_equal(doca_comch_server_disconnect(server.server, server.connection),
			 DOCA_ERROR_IN_USE);
	dpumap_comch_conn_remove(&consumer.base);
	assert_ok(doca_comch_server_disconnect(server.server, server.connection));
	progress_until(&client, DOCA_CTX_STATE_IDLE);
	progress_both(1000);
	assert_int_equal(server.num_disconnected, 0);
}

/* The object of the connection lives as long as its endpoint. */
static void endpoint_outlives_its_client(void **state)
{
	struct endpoint consumer;

	connect_both();
	add(&consumer, &client, false);
	assert_int_equal(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
	progress_until(&server, DOCA_CTX_STATE_IDLE);
	progress_until(&client, DOCA_CTX_STATE_IDLE);
	assert_int_equal(consumer.num_down, 1);
	assert_true(dpumap_comch_conn_fd(consumer.base.connection) >= 0);
	assert_false(dpumap_comch_conn_pump(consumer.base.connection));
	dpumap_comch_conn_remove(&consumer.base);
}

static int make_directory(void **state)
{
	return mkdtemp(directory) ? setenv("DPUMAP_COMCH_DIR", directory, 1) : -1;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(endpoints_pump_while_messages_flow, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stop_waits_for_the_last_endpoint, setup, teardown),
		cmocka_unit_test_setup_teardown(disconnect_is_refused_while_there_are_endpoints,
						setup, teardown),
		cmocka_unit_test_setup_teardown(endpoint_outlives_its_client, setup, teardown),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
