/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A context whose port is not active. Ports of the emulated device are always active, so the test
 * program answers for the driver.
 */
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

static void a_port_that_comes_up_is_not_waited_for(void **state)
{
	struct endpoint_offer offer;

	assert_ok(doca_ctx_start(local.ctx));
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(local.num_changes, 1);
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_CONNECTION_ABORTED);
	port_state = IBV_PORT_ARMED;
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_CONNECTION_ABORTED);
	port_state = IBV_PORT_ACTIVE;
	assert_ok(endpoint_offer(&local, &offer));
	assert_ok(doca_ctx_stop(local.ctx));
	assert_int_equal(local.num_changes, 2);
}

static void start_fails_while_the_port_is_down(void **state)
{
	port_state = IBV_PORT_DOWN;
	assert_error(doca_ctx_start(local.ctx), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(local.num_changes, 0);
	assert_int_equal(endpoint_state(&local), DOCA_CTX_STATE_IDLE);
	port_state = IBV_PORT_ACTIVE;
	assert_ok(doca_ctx_start(local.ctx));
}

static void a_port_that_went_down_makes_no_connection(void **state)
{
	struct endpoint_offer offer;

	port_state = IBV_PORT_ACTIVE;
	assert_ok(doca_ctx_start(local.ctx));
	port_state = IBV_PORT_DOWN;
	assert_error(endpoint_offer(&local, &offer), DOCA_ERROR_CONNECTION_ABORTED);
	port_state = IBV_PORT_ACTIVE;
	assert_ok(endpoint_offer(&local, &offer));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		start_test(a_port_that_comes_up_is_not_waited_for),
		start_test(start_fails_while_the_port_is_down),
		start_test(a_port_that_went_down_makes_no_connection),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
