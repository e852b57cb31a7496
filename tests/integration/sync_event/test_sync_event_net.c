/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sync events exported to RDMA peers: the event belongs to `there`, which never progresses, and `here`
 * has the tasks.
 */
#include <string.h>

#include <doca_sync_event.h>

#include "base/array.h"
#include "side.h"

#define TASKS 4u
#define ADDS  500u

typedef struct doca_rdma_task_remote_net_sync_event_get get_task;
typedef struct doca_rdma_task_remote_net_sync_event_notify_set set_task;
typedef struct doca_rdma_task_remote_net_sync_event_notify_add add_task;

static struct {
	struct doca_sync_event *event;
	struct doca_sync_event_remote_net *remote;
	unsigned int num_done;
	doca_error_t last_error;
	uint32_t last_len;
} net;

static void on_get(get_task *task, union doca_data data, union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	net.num_done++;
	net.last_error =
		doca_task_get_status(doca_rdma_task_remote_net_sync_event_get_as_task(task));
	net.last_len = doca_rdma_task_remote_net_sync_event_get_get_result_len(task);
}

static void on_set(set_task *task, union doca_data data, union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	net.num_done++;
	net.last_error =
		doca_task_get_status(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
}

static void on_add(add_task *task, union doca_data data, union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	net.num_done++;
	net.last_error =
		doca_task_get_status(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
}

static doca_error_t configure(void)
{
	struct doca_rdma *rdma = here.rdma;
	doca_error_t result =
		doca_rdma_task_remote_net_sync_event_get_set_conf(rdma, on_get, on_get, TASKS);

	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
					     rdma, on_set, on_set, TASKS));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
					     rdma, on_add, on_add, TASKS));
	return result;
}

static doca_error_t create_event(void)
{
	doca_error_t result = doca_sync_event_create(&net.event);
	const uint8_t *bytes;
	size_t len = 0;

	DOCA_ERROR_PROPAGATE(result, doca_sync_event_add_publisher_location_remote_net(net.event));
	DOCA_ERROR_PROPAGATE(result,
			     doca_sync_event_add_subscriber_location_cpu(net.event, there.dev));
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_start(net.event));
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_export_to_remote_net(net.event, &bytes, &len);
	if (result == DOCA_SUCCESS && len > 4096)
		result = DOCA_ERROR_TOO_BIG;
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_remote_net_create_from_export(here.dev, bytes, len,
								       &net.remote);
	return result;
}

static int net_setup(void **state)
{
	memset(&net, 0, sizeof(net));
	if (side_setup(state))
		return -1;
	return configure() == DOCA_SUCCESS && create_event() == DOCA_SUCCESS ? 0 : -1;
}

static int net_teardown(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	assert_ok(side_stop(&here));
	if (net.remote)
		result = doca_sync_event_remote_net_destroy(net.remote);
	if (net.event)
		DOCA_ERROR_PROPAGATE(result, doca_sync_event_destroy(net.event));
	return side_teardown(state) || result != DOCA_SUCCESS ? -1 : 0;
}

#define net_test(function) cmocka_unit_test_setup_teardown(function, net_setup, net_teardown)

/* Start and connect; the peer's permissions on the connection are these. */
static void start_with(uint32_t permissions)
{
	assert_ok(doca_rdma_set_permissions(there.rdma, permissions));
	assert_ok(side_start(&there));
	assert_ok(side_start(&here));
	assert_ok(side_connect());
}

/* Progress this side until one more task is done; its status. */
static doca_error_t finish(unsigned int before)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (net.num_done == before) {
		doca_pe_progress(here.pe);
		assert_true(monotonic_ms() < end);
	}
	return net.last_error;
}

static doca_error_t run(struct doca_task *task)
{
	unsigned int before = net.num_done;

	assert_ok(doca_task_submit(task));
	return finish(before);
}

static uint64_t value_at(size_t offset)
{
	uint64_t value;

	memcpy(&value, here.bytes + offset, sizeof(value));
	return value;
}

static struct doca_task *alloc_get(struct doca_buf *dst)
{
	get_task *task = NULL;

	assert_ok(doca_rdma_task_remote_net_sync_event_get_allocate_init(
		here.rdma, here.connections[0], net.remote, dst, (union doca_data){.u64 = 0},
		&task));
	return doca_rdma_task_remote_net_sync_event_get_as_task(task);
}

static struct doca_task *alloc_set(const struct doca_buf *src)
{
	set_task *task = NULL;

	assert_ok(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
		here.rdma, here.connections[0], net.remote, src, (union doca_data){.u64 = 0},
		&task));
	return doca_rdma_task_remote_net_sync_event_notify_set_as_task(task);
}

static struct doca_task *alloc_add(struct doca_buf *result, uint64_t value)
{
	add_task *task = NULL;

	assert_ok(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		here.rdma, here.connections[0], net.remote, result, value,
		(union doca_data){.u64 = 0}, &task));
	return doca_rdma_task_remote_net_sync_event_notify_add_as_task(task);
}

static void set_and_free(uint64_t value)
{
	struct doca_task *task;

	memcpy(here.bytes, &value, sizeof(value));
	task = alloc_set(side_data(&here, 0, 8));
	assert_ok(run(task));
	doca_task_free(task);
}

/* rule: SE-11a, RT-9a, RT-9b */
static void tasks_work_without_progress_of_the_exporter(void **state)
{
	struct doca_buf *dst = side_room(&here, 64, 8);
	uint64_t value = 0;
	struct doca_task *task;

	start_with(LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
	set_and_free(0x1122334455667788);
	assert_ok(doca_sync_event_wait_gt(net.event, 0, UINT64_MAX));
	assert_ok(doca_sync_event_get(net.event, &value));
	assert_int_equal(value, 0x1122334455667788);
	assert_ok(doca_sync_event_update_set(net.event, 9));
	task = alloc_get(dst);
	assert_ok(run(task));
	assert_int_equal(net.last_len, 8);
	assert_int_equal(value_at(64), 9);
	assert_int_equal(side_data_len(dst), 8);
	doca_task_free(task);
}

/* rule: SE-11a, RT-9a, RT-9b */
static void kept_tasks_are_submitted_again(void **state)
{
	struct doca_buf *dst = side_room(&here, 64, 8);
	struct doca_task *get, *set;
	uint64_t value = 1;

	start_with(LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
	get = alloc_get(dst);
	set = alloc_set(side_data(&here, 0, 8));
	for (int i = 0; i < 3; i++) {
		memcpy(here.bytes, &value, sizeof(value));
		assert_ok(run(set));
		assert_ok(doca_sync_event_wait_eq(net.event, value, UINT64_MAX));
		assert_ok(doca_sync_event_update_set(net.event, value + 50));
		assert_ok(doca_buf_reset_data_len(dst));
		assert_ok(run(get));
		assert_int_equal(value_at(64), value + 50);
		value++;
	}
	doca_task_free(get);
	doca_task_free(set);
}

/* rule: RT-9c */
static void an_addition_returns_the_old_value(void **state)
{
	static const uint64_t added[] = {5, UINT64_MAX, 0, UINT64_C(1) << 63};
	struct doca_buf *result = side_room(&here, 64, 8);
	uint64_t expected = 0, value;

	start_with(LOCAL_RW | RDMA_ALL);
	for (size_t i = 0; i < ARRAY_SIZE(added); i++) {
		struct doca_task *task = alloc_add(result, added[i]);

		assert_ok(doca_buf_reset_data_len(result));
		assert_ok(run(task));
		doca_task_free(task);
		assert_int_equal(value_at(64), expected);
		assert_int_equal(side_data_len(result), 8);
		expected += added[i];
		assert_ok(doca_sync_event_get(net.event, &value));
		assert_int_equal(value, expected);
	}
}

/* rule: X-1 */
static void null_for_a_remote_event_is_invalid(void **state)
{
	struct doca_sync_event_remote_net *remote = NULL;
	const uint8_t *bytes;
	size_t len;

	assert_ok(doca_sync_event_export_to_remote_net(net.event, &bytes, &len));
	assert_error(doca_sync_event_remote_net_create_from_export(NULL, bytes, len, &remote),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sync_event_remote_net_create_from_export(here.dev, NULL, len, &remote),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sync_event_remote_net_create_from_export(here.dev, bytes, len, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sync_event_remote_net_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(remote);
}

/* rule: SE-11b, SE-13 */
static void additions_of_peer_and_owner_lose_nothing(void **state)
{
	struct doca_buf *result = side_room(&here, 64, 8);
	struct doca_task *task;
	uint64_t value = 0;

	start_with(LOCAL_RW | RDMA_ALL);
	task = alloc_add(result, 2);
	for (unsigned int i = 0; i < ADDS; i++) {
		assert_ok(doca_buf_reset_data_len(result));
		assert_ok(doca_task_submit(task));
		assert_ok(doca_sync_event_update_add(net.event, 1, &value));
		assert_ok(finish(i));
		assert_in_range(value_at(64), 3 * i, 3 * i + 1);
	}
	assert_ok(doca_sync_event_get(net.event, &value));
	assert_int_equal(value, 3 * ADDS);
	doca_task_free(task);
}

/* rule: SE-11b */
static void addition_needs_the_permission_for_atomics(void **state)
{
	struct doca_task *task;
	uint64_t value = 0;

	start_with(LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
	task = alloc_add(side_room(&here, 64, 8), 2);
	assert_int_not_equal(run(task), DOCA_SUCCESS);
	assert_ok(doca_sync_event_get(net.event, &value));
	assert_int_equal(value, 0);
	doca_task_free(task);
}

/* rule: SE-11a */
static void tasks_fail_after_the_export_ended(void **state)
{
	struct doca_task *task;

	start_with(LOCAL_RW | RDMA_ALL);
	set_and_free(3);
	assert_ok(doca_sync_event_stop(net.event));
	task = alloc_get(side_room(&here, 64, 8));
	assert_int_not_equal(run(task), DOCA_SUCCESS);
	assert_int_equal(value_at(64), 0);
	doca_task_free(task);
}

/* Whatever a field is set to: the task is not submitted. */
static void *other(uintptr_t number)
{
	return (void *)(4096 * number);
}

static void fields_of_a_get(void)
{
	struct doca_buf *dst = side_room(&here, 64, 8);
	get_task *task = (get_task *)alloc_get(dst);

	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task), dst);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_sync_event(task), net.remote);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(task),
			 here.connections[0]);
	assert_null(doca_rdma_task_remote_net_sync_event_get_as_task(NULL));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_get, dst_buf, other(1));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_get, sync_event, other(2));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_get, rdma_connection, other(3));
	doca_task_free((struct doca_task *)task);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_dst_buf(task), other(1));
}

static void fields_of_a_set(void)
{
	struct doca_buf *src = side_data(&here, 64, 8);
	set_task *task = (set_task *)alloc_set(src);

	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task), src);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(task),
			 net.remote);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(task),
			 here.connections[0]);
	assert_null(doca_rdma_task_remote_net_sync_event_notify_set_as_task(NULL));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_set, src_buf, other(1));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_set, sync_event,
			 other(2));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_set, rdma_connection,
			 other(3));
	doca_task_free((struct doca_task *)task);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(task),
			 other(1));
}

static void fields_of_an_add(void)
{
	struct doca_buf *result = side_room(&here, 64, 8);
	add_task *task = (add_task *)alloc_add(result, 5);

	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(task),
			 result);
	assert_int_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(task), 5);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(task),
			 net.remote);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(task),
			 here.connections[0]);
	assert_null(doca_rdma_task_remote_net_sync_event_notify_add_as_task(NULL));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_add, result_buf,
			 other(1));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_add, sync_event,
			 other(2));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_add, rdma_connection,
			 other(3));
	side_check_field(task, doca_rdma_task_remote_net_sync_event_notify_add, add_data,
			 UINT64_MAX);
	doca_task_free((struct doca_task *)task);
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(task),
			 other(1));
}

/* rule: X-5, X-6a, X-6b */
static void fields_of_tasks_are_as_set_also_after_free(void **state)
{
	start_with(LOCAL_RW | RDMA_ALL);
	fields_of_a_get();
	fields_of_a_set();
	fields_of_an_add();
}

/* rule: SEE-location-2 */
static void handles_of_remote_events_are_not_supported(void **state)
{
	doca_dpa_dev_sync_event_remote_net_t dpa_handle = 7;
	doca_gpu_dev_sync_event_remote_net_t gpu_handle = 7;
	struct doca_dpa *dpa = (struct doca_dpa *)&net;
	struct doca_gpu *gpu = (struct doca_gpu *)&net;

	assert_error(doca_sync_event_remote_net_get_dpa_handle(net.remote, dpa, &dpa_handle),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_sync_event_remote_net_get_gpu_handle(net.remote, gpu, &gpu_handle),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_sync_event_remote_net_get_dpa_handle(net.remote, dpa, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_sync_event_remote_net_get_gpu_handle(net.remote, gpu, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpa_handle, 7);
	assert_int_equal(gpu_handle, 7);
}

/* rule: SE-11a */
static void task_without_an_event_fails(void **state)
{
	get_task *task = NULL;

	start_with(LOCAL_RW | RDMA_ALL);
	task = (get_task *)alloc_get(side_room(&here, 64, 8));
	assert_ptr_equal(doca_rdma_task_remote_net_sync_event_get_get_sync_event(task), net.remote);
	doca_rdma_task_remote_net_sync_event_get_set_sync_event(task, NULL);
	assert_error(run(doca_rdma_task_remote_net_sync_event_get_as_task(task)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
}

/* The profile connectx-5 does not share memory between functions. */
/* rule: SE-12, SEE-pci */
static void capabilities_say_whether_exports_over_pci_work(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(there.dev);
	doca_error_t supported = doca_sync_event_cap_is_export_to_remote_pci_supported(info);
	struct doca_sync_event *event;
	const uint8_t *bytes = NULL;
	size_t len = 0;

	assert_true(supported == DOCA_SUCCESS || supported == DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_sync_event_cap_is_create_from_export_supported(info), supported);
	assert_ok(doca_sync_event_cap_is_export_to_remote_net_supported(info));
	assert_ok(doca_sync_event_cap_remote_net_is_create_from_export_supported(info));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_remote_pci(event));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, there.dev));
	assert_ok(doca_sync_event_start(event));
	assert_error(doca_sync_event_export_to_remote_pci(event, there.dev, &bytes, &len),
		     supported);
	assert_int_equal(bytes != NULL, supported == DOCA_SUCCESS);
	assert_ok(doca_sync_event_destroy(event));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		net_test(tasks_work_without_progress_of_the_exporter),
		net_test(kept_tasks_are_submitted_again),
		net_test(an_addition_returns_the_old_value),
		net_test(null_for_a_remote_event_is_invalid),
		net_test(additions_of_peer_and_owner_lose_nothing),
		net_test(addition_needs_the_permission_for_atomics),
		net_test(tasks_fail_after_the_export_ended),
		net_test(fields_of_tasks_are_as_set_also_after_free),
		net_test(handles_of_remote_events_are_not_supported),
		net_test(task_without_an_event_fails),
		net_test(capabilities_say_whether_exports_over_pci_work),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
