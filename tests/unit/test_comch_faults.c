/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server and a client in one process, and a failure of each allocation while they are created,
 * connect, exchange messages and stop. No device: place and capabilities are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "comch/link/place.h"
#include "core/dev/dev.h"

#define MAX_ALLOCATIONS	 200
#define PATIENCE_SECONDS 30

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t num, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t num, size_t size);

static struct doca_dev dev;
static long until_failure = -1; /* allocations */

static int fails(void)
{
	return until_failure >= 0 && !until_failure--;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t num, size_t size)
{
	return fails() ? NULL : __real_calloc(num, size);
}

static struct doca_pe *pe;
static struct doca_comch_server *server;
static struct doca_comch_client *client;
static unsigned int num_received, num_ended;

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data, (void)ctx_data;
	num_ended++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		       struct doca_comch_connection *connection)
{
	(void)event, (void)buffer, (void)len, (void)connection;
	num_received++;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_get_state(ctx, &state);
	return state;
}

static void progress_while(struct doca_ctx *ctx, enum doca_ctx_states state, int is_wanted)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;

	while ((state_of(ctx) == state) == is_wanted) {
		doca_pe_progress(pe);
		assert_true(time(NULL) < end);
	}
}

static doca_error_t create(void)
{
	doca_error_t result = doca_pe_create(&pe);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_create(&dev, (struct doca_dev_rep *)(void *)&dev,
						  "faults", &server);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_create(&dev, "faults", &client);
	if (result != DOCA_SUCCESS)
		return result;
	assert_int_equal(doca_comch_server_event_msg_recv_register(server, on_message), 0);
	assert_int_equal(doca_comch_client_event_msg_recv_register(client, on_message), 0);
	assert_int_equal(doca_comch_client_task_send_set_conf(client, on_sent, on_sent, 4), 0);
	assert_int_equal(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(server)), 0);
	assert_int_equal(doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client)), 0);
	return DOCA_SUCCESS;
}

/* If a message is accepted, it completes. */
static void exchange(void)
{
	struct doca_comch_connection *connection;
	struct doca_comch_task_send *task;
	time_t end = time(NULL) + PATIENCE_SECONDS;

	if (doca_comch_client_get_connection(client, &connection) != DOCA_SUCCESS ||
	    doca_comch_client_task_send_alloc_init(client, connection, "message", 8, &task) !=
		    DOCA_SUCCESS)
		return;
	assert_int_equal(doca_task_submit(doca_comch_task_send_as_task(task)), DOCA_SUCCESS);
	while (!num_ended || (!num_received && state_of(doca_comch_client_as_ctx(client)) ==
						       DOCA_CTX_STATE_RUNNING)) {
		doca_pe_progress(pe);
		assert_true(time(NULL) < end);
	}
}

static void run(void)
{
	if (create() != DOCA_SUCCESS ||
	    doca_ctx_start(doca_comch_server_as_ctx(server)) != DOCA_SUCCESS ||
	    doca_ctx_start(doca_comch_client_as_ctx(client)) != DOCA_ERROR_IN_PROGRESS)
		return;
	progress_while(doca_comch_client_as_ctx(client), DOCA_CTX_STATE_STARTING, 1);
	if (state_of(doca_comch_client_as_ctx(client)) == DOCA_CTX_STATE_RUNNING)
		exchange();
}

static void stop_ctx(struct doca_ctx *ctx)
{
	(void)doca_ctx_stop(ctx);
	progress_while(ctx, DOCA_CTX_STATE_IDLE, 0);
}

static void clean_up(void)
{
	if (client) {
		stop_ctx(doca_comch_client_as_ctx(client));
		assert_int_equal(doca_comch_client_destroy(client), DOCA_SUCCESS);
	}
	if (server) {
		stop_ctx(doca_comch_server_as_ctx(server));
		assert_int_equal(doca_comch_server_destroy(server), DOCA_SUCCESS);
	}
	if (pe)
		assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
	server = NULL;
	client = NULL;
	pe = NULL;
	assert_int_equal(atomic_load(&dev.users), 0);
}

static void each_allocation_may_fail(void **state)
{
	long allocation = 0;
	int is_failed = 1;

	for (; is_failed && allocation < MAX_ALLOCATIONS; allocation++) {
		num_received = num_ended = 0;
		until_failure = allocation;
		run();
		is_failed = until_failure < 0;
		until_failure = -1;
		clean_up();
	}
	/* The last run had no failure. */
	assert_in_range(allocation, 10, MAX_ALLOCATIONS - 1);
	assert_int_equal(num_received, 1);
}

int main(void)
{
	char directory[] = "/tmp/dpumap-comch.XXXXXX";
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
	int failed;

	if (!mkdtemp(directory) || setenv("DPUMAP_COMCH_DIR", directory, 1) ||
	    setenv("DPUMAP_LOG_LEVEL", "off", 1))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(directory) ? 1 : failed;
}
