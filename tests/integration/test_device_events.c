/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of a device: a port that goes down and up, and a device that fails. */
#include <poll.h>
#include <unistd.h>

#include <dpumap/dev.h>

#include "fixture.h"

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

static void test_port_of_a_device_goes_down_and_up(void **state)
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

/* In a process of its own, which ends with what a failed device does not take back. */
static void test_failure_of_a_device_is_an_event(void **state)
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
		counted_test(test_port_of_a_device_goes_down_and_up),
		counted_test(test_failure_of_a_device_is_an_event),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
