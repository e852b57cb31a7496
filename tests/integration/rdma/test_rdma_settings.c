/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Properties of doca_rdma's contexts, capabilities of devices, and addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "base/array.h"
#include "fixture.h"

#define TEXT_LIMIT 128
#define MAX_GIDS   1024

static struct doca_dev *dev;
static struct doca_devinfo *info;
static struct doca_pe *pe;
static struct doca_rdma *rdma;

static int open_rdma(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ||
	    doca_pe_create(&pe) != DOCA_SUCCESS || doca_rdma_create(dev, &rdma) != DOCA_SUCCESS ||
	    doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)) != DOCA_SUCCESS)
		return -1;
	info = doca_dev_as_devinfo(dev);
	return 0;
}

static int close_rdma(void **state)
{
	doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(rdma));

	DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(rdma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(pe));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define rdma_test(function) cmocka_unit_test_setup_teardown(function, open_rdma, close_rdma)

/* rule: RE-set-7, RE-get-2, RE-list-1, RE-cap-1, RE-set-8 */
static void sizes_are_at_least_as_set(void **state)
{
	uint32_t value = 0, max = 0;

	assert_ok(doca_rdma_cap_get_max_send_queue_size(info, &max));
	assert_error(doca_rdma_set_send_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_send_queue_size(rdma, max + 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_set_send_queue_size(rdma, max));
	assert_ok(doca_rdma_get_send_queue_size(rdma, &value));
	assert_int_equal(value, max);
	assert_ok(doca_rdma_set_send_queue_size(rdma, 33));
	assert_ok(doca_rdma_get_send_queue_size(rdma, &value));
	assert_int_equal(value, 64);

	assert_ok(doca_rdma_cap_get_max_send_buf_list_len(info, &max));
	assert_error(doca_rdma_set_max_send_buf_list_len(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_max_send_buf_list_len(rdma, max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_max_send_buf_list_len(rdma, max));
	assert_ok(doca_rdma_get_max_send_buf_list_len(rdma, &value));
	assert_true(value >= max);

	assert_ok(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
		info, DOCA_RDMA_TRANSPORT_TYPE_RC, &max));
	assert_ok(doca_rdma_task_receive_get_dst_buf_list_len(rdma, &value));
	assert_int_equal(value, 1);
	assert_error(doca_rdma_task_receive_set_dst_buf_list_len(rdma, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_receive_set_dst_buf_list_len(rdma, max + 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_task_receive_set_dst_buf_list_len(rdma, max));
	assert_ok(doca_rdma_task_receive_get_dst_buf_list_len(rdma, &value));
	assert_true(value >= max);
}

/* rule: RE-set-3, RE-set-4, RE-set-5, RE-get-1, RE-set-8 */
static void packets_are_as_set(void **state)
{
	enum doca_mtu_size mtu = DOCA_MTU_SIZE_RAW_ETHERNET;
	uint32_t sl = 99;
	uint8_t grh = 99, retries = 99;

	assert_ok(doca_rdma_get_mtu(rdma, &mtu));
	assert_true(mtu <= DOCA_MTU_SIZE_4K_BYTES);
	assert_ok(doca_rdma_set_mtu(rdma, mtu)); /* the largest one of the port */
	if (mtu < DOCA_MTU_SIZE_4K_BYTES)
		assert_error(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_4K_BYTES),
			     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_512_BYTES));
	assert_error(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_set_mtu(rdma, (enum doca_mtu_size)6), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_mtu(rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_512_BYTES);

	assert_ok(doca_rdma_get_sl(rdma, &sl));
	assert_int_equal(sl, 0);
	assert_ok(doca_rdma_set_sl(rdma, 15));
	assert_error(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_sl(rdma, &sl));
	assert_int_equal(sl, 15);

	assert_ok(doca_rdma_get_grh_enabled(rdma, &grh));
	assert_int_equal(grh, 1);
	assert_ok(doca_rdma_set_grh_enabled(rdma, 1));
	assert_error(doca_rdma_set_grh_enabled(rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_set_grh_enabled(rdma, 2), DOCA_ERROR_INVALID_VALUE);

	assert_ok(doca_rdma_get_rnr_retry_count(rdma, &retries));
	assert_int_equal(retries, 7);
	assert_ok(doca_rdma_set_rnr_retry_count(rdma, 0));
	assert_error(doca_rdma_set_rnr_retry_count(rdma, 8), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_rnr_retry_count(rdma, &retries));
	assert_int_equal(retries, 0);
}

/* rule: RE-get-1, RE-set-8 */
static void the_request_timeout_is_as_set(void **state)
{
	uint16_t ms = 0;

	assert_ok(doca_rdma_get_connection_request_timeout(rdma, &ms));
	assert_int_equal(ms, 2000);
	assert_error(doca_rdma_set_connection_request_timeout(rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_connection_request_timeout(rdma, 300));
	assert_ok(doca_rdma_get_connection_request_timeout(rdma, &ms));
	assert_int_equal(ms, 300);
}

/* Setters need an IDLE context; all but the two of receive queues and of other data paths read back. */
/* rule: RE-set-1, RE-get-1, RE-list-1, RE-recv-queue */
static void a_running_context_keeps_its_settings(void **state)
{
	uint32_t value = 0;

	assert_ok(doca_ctx_start(doca_rdma_as_ctx(rdma)));
	assert_error(doca_rdma_set_send_queue_size(rdma, 8), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_recv_queue_size(rdma, 8), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_get_recv_queue_size(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_max_send_buf_list_len(rdma, 2), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_task_receive_set_dst_buf_list_len(rdma, 2), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_sl(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_grh_enabled(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_rnr_retry_count(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_connection_request_timeout(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_get_send_queue_size(rdma, &value));
	assert_true(value >= 1);
	assert_ok(doca_rdma_get_max_send_buf_list_len(rdma, &value));
	assert_true(value >= 1);
}

static void nothing_received(struct doca_rdma_task_receive *task, union doca_data data,
			     union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

/* A small virtual machine has less memory than the largest queue of rdma_rxe takes. */
static void test_needs_memory_for(uint32_t receives)
{
	char what[64];

	assert_null(getenv("DPUMAP_EMU"));
	snprintf(what, sizeof(what), "memory for %u receives", receives);
	test_lacks(what);
}

/* rule: RE-cap-1 */
static void a_context_has_as_many_receives_as_the_capability_says(void **state)
{
	struct doca_rdma_task_receive *task;
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma);
	uint32_t max = 0;

	assert_error(doca_rdma_cap_get_max_recv_queue_size(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_get_max_recv_queue_size(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(max, 0);
	assert_ok(doca_rdma_cap_get_max_recv_queue_size(info, &max));
	assert_true(max > 0);
	assert_error(
		doca_rdma_task_receive_set_conf(rdma, nothing_received, nothing_received, max + 1),
		DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_task_receive_set_conf(rdma, nothing_received, nothing_received, max));
	if (doca_ctx_start(ctx) != DOCA_SUCCESS)
		test_needs_memory_for(max);
	for (uint32_t i = 0; i < max; i++) {
		assert_ok(doca_rdma_task_receive_allocate_init(rdma, NULL, (union doca_data){0},
							       &task));
		assert_ok(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	}
	assert_error(doca_rdma_task_receive_allocate_init(rdma, NULL, (union doca_data){0}, &task),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	while (doca_ctx_stop(ctx) != DOCA_SUCCESS)
		doca_pe_progress(pe);
}

/* rule: RE-recv-queue */
static void a_receive_queue_of_one_connection_is_not_supported(void **state)
{
	uint32_t value = 77;

	assert_error(doca_rdma_set_recv_queue_size(rdma, 8), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_get_recv_queue_size(rdma, &value), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_get_recv_queue_size(rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(value, 77);
}

/* rule: RE-handles */
static void other_data_paths_are_not_supported(void **state)
{
	struct doca_gpu_dev_rdma *gpu = NULL;
	doca_dpa_dev_rdma_t dpa = 5;

	assert_error(doca_rdma_get_dpa_handle(rdma, &dpa), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_get_gpu_handle(rdma, &gpu), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_dpa_completion_attach(rdma, (struct doca_dpa_completion *)&dpa),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_dpa_completion_attach(rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpa, 5);
	assert_null(gpu);
}

/* rule, RE-dc */
static void each_task_is_supported(void **state)
{
	doca_error_t (*const caps[])(const struct doca_devinfo *) = {
		doca_rdma_cap_task_receive_is_supported,
		doca_rdma_cap_task_send_is_supported,
		doca_rdma_cap_task_send_imm_is_supported,
		doca_rdma_cap_task_read_is_supported,
		doca_rdma_cap_task_write_is_supported,
		doca_rdma_cap_task_write_imm_is_supported,
		doca_rdma_cap_task_atomic_cmp_swp_is_supported,
		doca_rdma_cap_task_atomic_fetch_add_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_get_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported,
		doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported,
	};

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		assert_ok(caps[i](info));
		assert_error(caps[i](NULL), DOCA_ERROR_INVALID_VALUE);
	}
	assert_ok(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_RC));
	assert_error(doca_rdma_cap_transport_type_is_supported(info, DOCA_RDMA_TRANSPORT_TYPE_DC),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(
		doca_rdma_cap_transport_type_is_supported(info, (enum doca_rdma_transport_type)2),
		DOCA_ERROR_INVALID_VALUE);
}

static bool is_set(const struct doca_rdma_gid *gid)
{
	static const struct doca_rdma_gid none;

	return memcmp(gid, &none, sizeof(none)) != 0;
}

/* rule: RE-cap-2 */
static void the_table_of_gids_is_read_in_parts(void **state)
{
	static struct doca_rdma_gid all[MAX_GIDS];
	struct doca_rdma_gid part[2];
	uint32_t size = 0, set = 0;

	assert_ok(doca_rdma_cap_get_gid_table_size(info, &size));
	assert_true(size >= 3 && size <= MAX_GIDS);
	assert_ok(doca_rdma_cap_get_gid(info, 0, size, all));
	for (uint32_t i = 0; i < size; i++)
		set += is_set(&all[i]);
	assert_true(set > 0);
	assert_false(is_set(&all[size - 1]));
	memset(part, 0xee, sizeof(part));
	assert_ok(doca_rdma_cap_get_gid(info, 1, 2, part));
	assert_memory_equal(part, all + 1, sizeof(part));
	memset(part, 0xee, sizeof(part));
	assert_error(doca_rdma_cap_get_gid(info, size - 1, 2, part), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_get_gid(info, size, 1, part), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_get_gid(info, 1, UINT32_MAX, part), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_cap_get_gid(info, 0, 0, part), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(part[0].raw[0], 0xee);
}

/* rule: CM-R4a */
static void addresses_are_returned_as_created(void **state)
{
	static const struct {
		enum doca_rdma_addr_type type;
		const char *text;
	} cases[] = {
		{DOCA_RDMA_ADDR_TYPE_IPv4, "192.0.2.1"},
		{DOCA_RDMA_ADDR_TYPE_IPv6, "2001:db8::1"},
		{DOCA_RDMA_ADDR_TYPE_GID, "fe80:0000:0000:0000:0000:0000:0000:0001"},
		{DOCA_RDMA_ADDR_TYPE_GID, "::ffff:192.0.2.1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum doca_rdma_addr_type type = (enum doca_rdma_addr_type)9;
		struct doca_rdma_addr *addr = NULL;
		const char *text = NULL;
		uint16_t port = 0;

		assert_ok(doca_rdma_addr_create(cases[i].type, cases[i].text, 13579, &addr));
		assert_ok(doca_rdma_addr_get_params(addr, &type, &text, &port));
		assert_int_equal(type, cases[i].type);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(port, 13579);
		assert_ok(doca_rdma_addr_destroy(addr));
	}
}

/* rule: RE-addr-1, CM-R4a, RE-set-8 */
static void a_text_that_is_not_an_address_is_refused(void **state)
{
	static const struct {
		const char *text;
		enum doca_rdma_addr_type type;
		uint16_t port;
	} cases[] = {
		{"", DOCA_RDMA_ADDR_TYPE_IPv4, 1},
		{"192.0.2", DOCA_RDMA_ADDR_TYPE_IPv4, 1},
		{"2001:db8::1", DOCA_RDMA_ADDR_TYPE_IPv4, 1},
		{"localhost", DOCA_RDMA_ADDR_TYPE_IPv4, 1},
		{"192.0.2.1", DOCA_RDMA_ADDR_TYPE_IPv4, 0},
		{"192.0.2.1", DOCA_RDMA_ADDR_TYPE_IPv6, 1},
		{"2001:db8::1 ", DOCA_RDMA_ADDR_TYPE_IPv6, 1},
		{"fe80::1%eth0", DOCA_RDMA_ADDR_TYPE_GID, 1},
		{"192.0.2.1", DOCA_RDMA_ADDR_TYPE_GID, 1},
		{"192.0.2.1", (enum doca_rdma_addr_type)3, 1},
		{"192.0.2.1", (enum doca_rdma_addr_type) - 1, 1},
	};
	struct doca_rdma_addr *addr = NULL;
	char text[TEXT_LIMIT + 2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_error(
			doca_rdma_addr_create(cases[i].type, cases[i].text, cases[i].port, &addr),
			DOCA_ERROR_INVALID_VALUE);
	memset(text, '1', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_error(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, text, 1, &addr),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, 1, &addr),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(addr);
	assert_error(doca_rdma_addr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rdma_test(sizes_are_at_least_as_set),
		rdma_test(packets_are_as_set),
		rdma_test(the_request_timeout_is_as_set),
		rdma_test(a_running_context_keeps_its_settings),
		rdma_test(a_context_has_as_many_receives_as_the_capability_says),
		rdma_test(a_receive_queue_of_one_connection_is_not_supported),
		rdma_test(other_data_paths_are_not_supported),
		rdma_test(each_task_is_supported),
		rdma_test(the_table_of_gids_is_read_in_parts),
		rdma_test(addresses_are_returned_as_created),
		rdma_test(a_text_that_is_not_an_address_is_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
