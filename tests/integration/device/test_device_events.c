/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of a device: a port that goes down and up, a queue that is overrun, and a device that fails. */
#include <poll.h>
#include <unistd.h>

#include <doca_rdma_bridge.h>
#include <dpumap/dev.h>

#include "fixture.h"
#include "verbs.h"

static void await_event(struct doca_dev *dev, enum dpumap_dev_event wanted)
{
	struct pollfd p = {.events = POLLIN};
	enum dpumap_dev_event event;

	assert_ok(dpumap_dev_get_event_handle(dev, &p.fd));
	assert_int_equal(poll(&p, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_ok(dpumap_dev_next_event(dev, &event));
	assert_int_equal(event, wanted);
	if (event != DPUMAP_DEV_EVENT_FATAL)
		assert_error(dpumap_dev_next_event(dev, &event), DOCA_ERROR_AGAIN);
}

static void port_of_a_device_goes_down_and_up(void **state)
{
	const char *const down[] = {test_options.emu, "fault", "port", NULL};
	const char *const up[] = {test_options.emu, "fault", "clear", NULL};
	enum dpumap_dev_event event;
	struct doca_dev *dev;
	int fd;

	assert_ok(fixture_open_device(&dev));
	assert_error(dpumap_dev_next_event(dev, &event), DOCA_ERROR_AGAIN);
	assert_error(dpumap_dev_next_event(NULL, &event), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_next_event(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_get_event_handle(NULL, &fd), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_get_event_handle(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(process_run(down), 0);
	await_event(dev, DPUMAP_DEV_EVENT_PORT_DOWN);
	assert_int_equal(process_run(up), 0);
	await_event(dev, DPUMAP_DEV_EVENT_PORT_UP);
	assert_ok(doca_dev_close(dev));
}

/* Two sends and receives write twice as many completions as fit. Any queue of the context counts. */
static void overrun_queue_is_an_event(void **state)
{
	struct verbs n = {0};
	struct doca_dev *dev;
	struct ibv_qp *qp;

	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_rdma_bridge_get_dev_pd(dev, &n.pd));
	n.ctx = n.pd->context;
	n.buf = calloc(1, VERBS_BUF);
	assert_non_null(n.buf);
	n.mr = ibv_reg_mr(n.pd, n.buf, VERBS_BUF, IBV_ACCESS_LOCAL_WRITE);
	n.cq = ibv_create_cq(n.ctx, 1, NULL, NULL, 0);
	assert_non_null(n.mr);
	assert_non_null(n.cq);
	assert_int_equal(ibv_query_gid(n.ctx, 1, 0, &n.gid), 0);
	qp = verbs_make_qp(&n, IBV_QPT_RC, NULL);
	verbs_connect_qp(&n, qp, qp->qp_num);
	for (uint32_t i = 0; i < 2; i++)
		verbs_recv_into(&n, qp, VERBS_BUF / 2, 64);
	for (uint32_t i = 0; i < 2; i++)
		verbs_send_from(&n, qp, 0, 64);
	await_event(dev, DPUMAP_DEV_EVENT_QUEUE_FAILED);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(n.cq), 0);
	assert_int_equal(ibv_dereg_mr(n.mr), 0);
	free(n.buf);
	assert_ok(doca_dev_close(dev));
}

/* In a process of its own, which ends with what a failed device does not take back. */
static void failure_of_a_device_is_an_event(void **state)
{
	const char *const argv[] = {test_options.emu, "fault", "device", NULL};
	const char *const clear[] = {test_options.emu, "fault", "clear", NULL};
	struct doca_dev *dev;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		assert_ok(fixture_open_device(&dev));
		assert_int_equal(process_run(argv), 0);
		await_event(dev, DPUMAP_DEV_EVENT_FATAL);
		_exit(0);
	}
	assert_int_equal(process_exit_code(child), 0);
	assert_int_equal(process_run(clear), 0);
	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(port_of_a_device_goes_down_and_up),
		counted_test(overrun_queue_is_an_event),
		counted_test(failure_of_a_device_is_an_event),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
