/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A context that cannot run yet, since its port is not active. Ports of the emulated device are
 * always active, so the test program answers for the driver.
 */
#include <poll.h>

#include <doca_rdma_bridge.h>

#include "endpoint.h"
#include "fixture.h"

static struct doca_dev *dev;
static struct endpoint local;
static struct verbs_context *verbs;
static int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			 size_t len);
static enum ibv_port_state port_state;

static int answer_for_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			   size_t len)
{
	int err = query_port(context, port, attr, len);

	if (!err)
		attr->state = port_state;
	return err;
}

static int open_end(void **state)
{
	struct ibv_pd *pd;

	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ||
	    doca_rdma_bridge_get_dev_pd(dev, &pd) != DOCA_SUCCESS)
		return -1;
	verbs = verbs_get_ctx(pd->context);
	query_port = verbs->query_port;
	verbs->query_port = answer_for_port;
	port_state = IBV_PORT_INIT;
	return endpoint_open(&local, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int close_end(void **state)
{
	doca_error_t result = endpoint_close(&local);

	verbs->query_port = query_port;
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define start_test(function) cmocka_unit_test_setup_teardown(function, open_end, close_end)

static void assert_changed(unsigned int at, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	assert_int_equal(local.num_changes, at + 1);
	assert_int_equal(local.changes[at].prev, prev);
	assert_int_equal(local.changes[at].next, next);
}

static void start(void)
{
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_changed(0, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_STARTING);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_STARTING);
}

static void start_goes_on_by_progress(void **state)
{
	struct endpoint_offer offer;

	start();
	assert_int_equal(doca_pe_progress(local.pe), 0);
	port_state = IBV_PORT_ARMED;
	assert_int_equal(doca_pe_progress(local.pe), 0);
	assert_int_equal(local.num_changes, 1);
	port_state = IBV_PORT_ACTIVE;
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_STARTING);
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_changed(1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(doca_pe_progress(local.pe), 0);
	assert_ok(endpoint_offer(&local, &offer));
}

static void nothing_works_while_starting(void **state)
{
	struct doca_rdma_task_read *task;
	union doca_data none = {0};
	struct endpoint_offer offer;

	start();
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_task_read_allocate_init(local.rdma,
						       (struct doca_rdma_connection *)&offer, NULL,
						       NULL, none, &task),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_permissions(local.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_destroy(local.rdma), DOCA_ERROR_BAD_STATE);
	doca_ctx_flush_tasks(local.ctx);
	assert_int_equal(local.num_changes, 1);
}

static void start_that_fails_later_ends_idle(void **state)
{
	start();
	port_state = IBV_PORT_DOWN;
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_changed(1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_IDLE);
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(local.num_changes, 2);
	port_state = IBV_PORT_ACTIVE;
	assert_ok(doca_ctx_start(local.ctx));
	assert_changed(2, DOCA_CTX_STATE_IDLE, DOCA_CTX_STATE_RUNNING);
}

static void stop_while_starting_is_synchronous(void **state)
{
	start();
	assert_ok(doca_ctx_stop(local.ctx));
	assert_changed(1, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_IDLE);
	port_state = IBV_PORT_ACTIVE;
	assert_int_equal(doca_pe_progress(local.pe), 0);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
}

static void stop_in_callback(const union doca_data user_data, struct doca_ctx *ctx,
			     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct endpoint *end = user_data.ptr;

	end->changes[end->num_changes] = (struct endpoint_change){prev, next};
	end->num_changes++;
	if (next == DOCA_CTX_STATE_STARTING || next == DOCA_CTX_STATE_RUNNING)
		assert_ok(doca_ctx_stop(ctx));
	if (prev == DOCA_CTX_STATE_RUNNING && next == DOCA_CTX_STATE_IDLE) {
		assert_ok(doca_rdma_destroy(end->rdma));
		end->rdma = NULL;
	}
}

static void stop_and_destroy_inside_the_callbacks(void **state)
{
	assert_ok(doca_ctx_set_state_changed_cb(local.ctx, stop_in_callback));
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	assert_int_equal(local.num_changes, 2);
	local.num_changes = 0;
	assert_ok(doca_ctx_set_state_changed_cb(local.ctx, NULL));
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_ok(doca_ctx_set_state_changed_cb(local.ctx, stop_in_callback));
	port_state = IBV_PORT_ACTIVE;
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_null(local.rdma);
	assert_int_equal(local.num_changes, 2);
	assert_int_equal(doca_pe_progress(local.pe), 0);
}

/* A program that waits on the event handle is woken to go on. */
static void handle_is_readable_while_starting(void **state)
{
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};

	assert_ok(doca_pe_get_notification_handle(local.pe, &handle));
	fd.fd = handle;
	assert_ok(doca_pe_request_notification(local.pe));
	assert_int_equal(poll(&fd, 1, 0), 0);
	start();
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_ok(doca_pe_clear_notification(local.pe, 0));
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_ok(doca_pe_request_notification(local.pe));
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_ok(doca_pe_clear_notification(local.pe, 0));
	port_state = IBV_PORT_ACTIVE;
	assert_int_equal(doca_pe_progress(local.pe), 1);
	assert_ok(doca_pe_request_notification(local.pe));
	assert_int_equal(poll(&fd, 1, 0), 0);
}

static void a_port_that_went_down_makes_no_connection(void **state)
{
	struct endpoint_offer offer;

	port_state = IBV_PORT_ACTIVE;
	assert_ok(doca_ctx_start(local.ctx));
	port_state = IBV_PORT_DOWN;
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_NOT_CONNECTED);
	port_state = IBV_PORT_ACTIVE;
	assert_ok(endpoint_offer(&local, &offer));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		start_test(start_goes_on_by_progress),
		start_test(nothing_works_while_starting),
		start_test(start_that_fails_later_ends_idle),
		start_test(stop_while_starting_is_synchronous),
		start_test(stop_and_destroy_inside_the_callbacks),
		start_test(handle_is_readable_while_starting),
		start_test(a_port_that_went_down_makes_no_connection),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
