/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls in a wrong state, with wrong arguments, and the fields of tasks. */
#include <stdlib.h>
#include <string.h>

#include <dpumap/rdma.h>

#include "base/array.h"
#include "side.h"

#define PART 64u

/* A task of that kind with all the arguments that it has. */
static struct side_work work_of(enum side_kind kind)
{
	struct side_work work = {.kind = kind, .imm = 1, .add = 2, .swap = 3, .data = 4};

	work.src = side_data(&here, 0, PART);
	work.dst = side_room(&here, PART, PART);
	work.result = side_room(&here, 2 * (size_t)PART, PART);
	return work;
}

/* rule: X-3 */
static void tasks_are_configured_while_idle_only(void **state)
{
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++) {
		assert_error(side_set_conf(&here, kind, 0), DOCA_ERROR_INVALID_VALUE);
		assert_ok(side_set_conf(&here, kind, SIDE_TASKS));
	}
	assert_ok(side_start(&here));
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++)
		assert_error(side_set_conf(&here, kind, SIDE_TASKS), DOCA_ERROR_BAD_STATE);
}

static void nothing_sent(struct doca_rdma_task_send *task, union doca_data data,
			 union doca_data ctx_data)
{
	(void)task;
	(void)data;
	(void)ctx_data;
}

/* rule */
static void callbacks_of_tasks_are_required_and_may_be_the_same(void **state)
{
	assert_ok(doca_rdma_task_send_set_conf(here.rdma, nothing_sent, nothing_sent, 1));
	assert_error(doca_rdma_task_send_set_conf(NULL, nothing_sent, nothing_sent, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_send_set_conf(here.rdma, NULL, nothing_sent, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_task_send_set_conf(here.rdma, nothing_sent, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule */
static void tasks_of_each_kind_are_limited_by_their_pool(void **state)
{
	struct doca_task *tasks[SIDE_KINDS][SIDE_TASKS], *one;

	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++) {
		struct side_work work = work_of(kind);

		for (unsigned int i = 0; i < SIDE_TASKS; i++) {
			assert_ok(side_alloc(&here, &work, &tasks[kind][i]));
			assert_non_null(tasks[kind][i]);
		}
		one = NULL;
		assert_error(side_alloc(&here, &work, &one), DOCA_ERROR_NO_MEMORY);
		assert_null(one);
	}
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++) {
		struct side_work work = work_of(kind);

		doca_task_free(tasks[kind][0]);
		assert_ok(side_alloc(&here, &work, &tasks[kind][0]));
		for (unsigned int i = 0; i < SIDE_TASKS; i++)
			doca_task_free(tasks[kind][i]);
	}
}

/* rule: X-4 */
static void a_context_that_is_not_running_allocates_nothing(void **state)
{
	struct doca_task *task = NULL;

	assert_ok(doca_ctx_stop(here.ctx));
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++) {
		struct side_work work = work_of(kind);

		work.connection = there.connections[0];
		assert_error(side_alloc(&here, &work, &task), DOCA_ERROR_BAD_STATE);
	}
	assert_null(task);
}

/* rule: X-1 */
static void a_connection_of_another_context_is_refused(void **state)
{
	struct doca_task *task = NULL;

	for (enum side_kind kind = SIDE_SEND; kind < SIDE_KINDS; kind++) {
		struct side_work work = work_of(kind);

		work.connection = there.connections[0];
		assert_error(side_alloc(&here, &work, &task), DOCA_ERROR_INVALID_VALUE);
	}
	assert_null(task);
}

static struct doca_buf *bufs[4];
static struct doca_rdma_connection *other;

/* Allocate a task of that type with those arguments after the connection. */
#define NEW(task, type, ...)                                                        \
	struct type *(task) = NULL;                                                 \
	assert_ok(type##_allocate_init(here.rdma, here.connections[0], __VA_ARGS__, \
				       (union doca_data){.u64 = 9}, &(task)));      \
	assert_ptr_equal(type##_as_task(task), (struct doca_task *)(task));         \
	assert_null(type##_as_task(NULL));                                          \
	assert_ptr_equal(type##_get_rdma_connection(task), here.connections[0]);    \
	type##_set_rdma_connection(task, other);                                    \
	assert_ptr_equal(type##_get_rdma_connection(task), other)

#define FREE(task, type)                              \
	do {                                          \
		doca_task_free(type##_as_task(task)); \
	} while (0)

static void fields_of_sends(void)
{
	NEW(send, doca_rdma_task_send, bufs[0]);
	assert_ptr_equal(doca_rdma_task_send_get_src_buf(send), bufs[0]);
	side_check_field(send, doca_rdma_task_send, src_buf, bufs[1]);
	FREE(send, doca_rdma_task_send);
	assert_ptr_equal(doca_rdma_task_send_get_src_buf(send), bufs[1]);

	NEW(imm, doca_rdma_task_send_imm, bufs[0], 7);
	assert_ptr_equal(doca_rdma_task_send_imm_get_src_buf(imm), bufs[0]);
	assert_int_equal(doca_rdma_task_send_imm_get_immediate_data(imm), 7);
	side_check_field(imm, doca_rdma_task_send_imm, src_buf, bufs[1]);
	side_check_field(imm, doca_rdma_task_send_imm, immediate_data, 0x87654321u);
	FREE(imm, doca_rdma_task_send_imm);
	assert_int_equal(doca_rdma_task_send_imm_get_immediate_data(imm), 0x87654321u);
}

static void fields_of_reads_and_writes(void)
{
	NEW(read, doca_rdma_task_read, bufs[0], bufs[1]);
	assert_ptr_equal(doca_rdma_task_read_get_src_buf(read), bufs[0]);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(read), bufs[1]);
	side_check_field(read, doca_rdma_task_read, src_buf, bufs[2]);
	side_check_field(read, doca_rdma_task_read, dst_buf, bufs[3]);
	FREE(read, doca_rdma_task_read);
	assert_ptr_equal(doca_rdma_task_read_get_dst_buf(read), bufs[3]);

	NEW(write, doca_rdma_task_write, bufs[0], bufs[1]);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(write), bufs[0]);
	assert_ptr_equal(doca_rdma_task_write_get_dst_buf(write), bufs[1]);
	side_check_field(write, doca_rdma_task_write, src_buf, bufs[2]);
	side_check_field(write, doca_rdma_task_write, dst_buf, bufs[3]);
	FREE(write, doca_rdma_task_write);
	assert_ptr_equal(doca_rdma_task_write_get_src_buf(write), bufs[2]);

	NEW(imm, doca_rdma_task_write_imm, bufs[0], bufs[1], 5);
	assert_ptr_equal(doca_rdma_task_write_imm_get_src_buf(imm), bufs[0]);
	assert_ptr_equal(doca_rdma_task_write_imm_get_dst_buf(imm), bufs[1]);
	assert_int_equal(doca_rdma_task_write_imm_get_immediate_data(imm), 5);
	side_check_field(imm, doca_rdma_task_write_imm, src_buf, bufs[2]);
	side_check_field(imm, doca_rdma_task_write_imm, dst_buf, bufs[3]);
	side_check_field(imm, doca_rdma_task_write_imm, immediate_data, 0xfedcba98u);
	FREE(imm, doca_rdma_task_write_imm);
	assert_int_equal(doca_rdma_task_write_imm_get_immediate_data(imm), 0xfedcba98u);
}

static void fields_of_atomics(void)
{
	NEW(swap, doca_rdma_task_atomic_cmp_swp, bufs[0], bufs[1], 11, 12);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_dst_buf(swap), bufs[0]);
	assert_ptr_equal(doca_rdma_task_atomic_cmp_swp_get_result_buf(swap), bufs[1]);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_cmp_data(swap), 11);
	assert_int_equal(doca_rdma_task_atomic_cmp_swp_get_swap_data(swap), 12);
	side_check_field(swap, doca_rdma_task_atomic_cmp_swp, dst_buf, bufs[2]);
	side_check_field(swap, doca_rdma_task_atomic_cmp_swp, result_buf, bufs[3]);
	side_check_field(swap, doca_rdma_task_atomic_cmp_swp, cmp_data, UINT64_MAX);
	side_check_field(swap, doca_rdma_task_atomic_cmp_swp, swap_data, UINT64_MAX - 1);
	FREE(swap, doca_rdma_task_atomic_cmp_swp);
	assert_true(doca_rdma_task_atomic_cmp_swp_get_cmp_data(swap) == UINT64_MAX);

	NEW(add, doca_rdma_task_atomic_fetch_add, bufs[0], bufs[1], 11);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_dst_buf(add), bufs[0]);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_result_buf(add), bufs[1]);
	assert_int_equal(doca_rdma_task_atomic_fetch_add_get_add_data(add), 11);
	side_check_field(add, doca_rdma_task_atomic_fetch_add, dst_buf, bufs[2]);
	side_check_field(add, doca_rdma_task_atomic_fetch_add, result_buf, bufs[3]);
	side_check_field(add, doca_rdma_task_atomic_fetch_add, add_data, UINT64_MAX);
	FREE(add, doca_rdma_task_atomic_fetch_add);
	assert_ptr_equal(doca_rdma_task_atomic_fetch_add_get_dst_buf(add), bufs[2]);
}

static void fields_of_receives(void)
{
	struct doca_rdma_task_receive *task = NULL;

	assert_ok(doca_rdma_task_receive_allocate_init(here.rdma, bufs[0], (union doca_data){0},
						       &task));
	assert_ptr_equal(doca_rdma_task_receive_as_task(task), (struct doca_task *)task);
	assert_null(doca_rdma_task_receive_as_task(NULL));
	assert_ptr_equal(doca_rdma_task_receive_get_dst_buf(task), bufs[0]);
	side_check_field(task, doca_rdma_task_receive, dst_buf, bufs[1]);
	FREE(task, doca_rdma_task_receive);
	assert_ptr_equal(doca_rdma_task_receive_get_dst_buf(task), bufs[1]);
}

/* rule: X-5, X-6a, X-6b */
static void fields_of_tasks_are_as_set_also_after_free(void **state)
{
	assert_ok(side_connect());
	other = here.connections[1];
	for (unsigned int i = 0; i < 4; i++)
		bufs[i] = side_room(&here, (size_t)i * PART, PART);
	fields_of_receives();
	fields_of_sends();
	fields_of_reads_and_writes();
	fields_of_atomics();
}

#define refuses_null(call) assert_error(call, DOCA_ERROR_INVALID_VALUE)

/* rule: X-1, CM-R10 */
static void null_for_a_connection_or_its_outputs_is_invalid(void **state)
{
	struct doca_rdma_connection *c = here.connections[0], *none = NULL;
	struct doca_rdma_addr *addr = NULL;
	union doca_data data = {.u64 = 7};
	const void *details = NULL;
	uint32_t id = 7;
	size_t len = 7;

	refuses_null(doca_rdma_connection_get_user_data(NULL, &data));
	refuses_null(doca_rdma_connection_get_user_data(c, NULL));
	refuses_null(doca_rdma_connection_set_user_data(NULL, data));
	refuses_null(doca_rdma_connection_get_id(NULL, &id));
	refuses_null(doca_rdma_connection_get_id(c, NULL));
	refuses_null(doca_rdma_connection_get_addr(NULL, &addr));
	refuses_null(doca_rdma_connection_get_addr(c, NULL));
	refuses_null(doca_rdma_connection_get_addr(c, &addr)); /* it was made by details */
	refuses_null(doca_rdma_connection_accept(NULL, NULL, 0));
	refuses_null(doca_rdma_connection_reject(NULL));
	refuses_null(doca_rdma_connection_disconnect(NULL));
	refuses_null(doca_rdma_set_connection_state_callbacks(NULL, NULL, NULL, NULL, NULL));
	refuses_null(doca_rdma_export(NULL, &details, &len, &none));
	refuses_null(doca_rdma_export(here.rdma, NULL, &len, &none));
	refuses_null(doca_rdma_export(here.rdma, &details, NULL, &none));
	refuses_null(doca_rdma_export(here.rdma, &details, &len, NULL));
	assert_true(!addr && !none && !details && id == 7 && len == 7 && data.u64 == 7);
}

/* rule: X-1 */
static void null_for_an_address_or_its_outputs_is_invalid(void **state)
{
	struct doca_rdma_addr *addr = NULL, *none = NULL;
	enum doca_rdma_addr_type type = DOCA_RDMA_ADDR_TYPE_GID;
	const char *text = NULL;
	uint16_t port = 7;

	refuses_null(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, NULL, 1, &none));
	refuses_null(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.0.2.1", 1, NULL));
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "192.0.2.1", 1, &addr));
	refuses_null(doca_rdma_addr_get_params(NULL, &type, &text, &port));
	refuses_null(doca_rdma_addr_get_params(addr, NULL, &text, &port));
	refuses_null(doca_rdma_addr_get_params(addr, &type, NULL, &port));
	refuses_null(doca_rdma_addr_get_params(addr, &type, &text, NULL));
	refuses_null(doca_rdma_start_listen_to_port(NULL, 1));
	refuses_null(doca_rdma_stop_listen_to_port(NULL, 1));
	refuses_null(doca_rdma_connect_to_addr(NULL, addr, (union doca_data){0}));
	refuses_null(doca_rdma_connect_to_addr(here.rdma, NULL, (union doca_data){0}));
	assert_true(!none && type == DOCA_RDMA_ADDR_TYPE_GID && !text && port == 7);
	assert_ok(doca_rdma_addr_destroy(addr));
}

/* rule: X-10 */
static void objects_that_were_never_created_are_errors(void **state)
{
	enum doca_ctx_states now;

	assert_null(doca_rdma_as_ctx(NULL));
	assert_error(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_state(NULL, &now), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_addr_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_progress(NULL), 0);
}

/* rule: RE-destroy */
static void destroy_of_a_running_context_is_bad_state(void **state)
{
	assert_error(doca_rdma_destroy(here.rdma), DOCA_ERROR_BAD_STATE);
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
}

/* rule: RE-set-1, RE-set-2, RE-set-6 */
static void invalid_numbers_of_connections_and_permissions_are_refused(void **state)
{
	uint16_t num = 0;

	assert_error(doca_rdma_set_max_num_connections(here.rdma, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_set_max_num_connections(here.rdma, UINT16_MAX));
	assert_ok(doca_rdma_get_max_num_connections(here.rdma, &num));
	assert_int_equal(num, UINT16_MAX);
	assert_error(doca_rdma_set_permissions(here.rdma, PCI_RW), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_set_permissions(here.rdma, DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(side_start(&here));
	assert_error(doca_rdma_set_max_num_connections(here.rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_permissions(here.rdma, LOCAL_RW), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_gid_index(here.rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_set_transport_type(here.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC),
		     DOCA_ERROR_BAD_STATE);
}

/* rule: RE-dc */
static void dc_is_not_supported(void **state)
{
	enum doca_rdma_transport_type type = DOCA_RDMA_TRANSPORT_TYPE_DC;
	uint32_t max = 77;

	assert_error(doca_rdma_set_transport_type(here.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_rdma_set_transport_type(here.rdma, (enum doca_rdma_transport_type)2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_get_transport_type(here.rdma, &type));
	assert_int_equal(type, DOCA_RDMA_TRANSPORT_TYPE_RC);
	assert_error(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
			     doca_dev_as_devinfo(here.dev), DOCA_RDMA_TRANSPORT_TYPE_DC, &max),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(max, 77);
}

/* rule: RE-callbacks */
static void state_callbacks_may_be_null_and_need_an_idle_context(void **state)
{
	assert_ok(doca_rdma_set_connection_state_callbacks(here.rdma, NULL, NULL, NULL, NULL));
	assert_ok(side_set_callbacks(&here));
	assert_error(doca_rdma_set_connection_state_callbacks(NULL, NULL, NULL, NULL, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(side_start(&here));
	assert_error(side_set_callbacks(&here), DOCA_ERROR_BAD_STATE);
}

/* rule: RE-export-1, RE-export-2 */
static void export_needs_a_running_context_and_a_free_connection(void **state)
{
	struct doca_rdma_connection *connection = NULL;
	const void *details = NULL;
	size_t len = 77;

	assert_error(doca_rdma_export(here.rdma, &details, &len, &connection),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_set_max_num_connections(here.rdma, 2));
	assert_ok(side_start(&here));
	assert_error(doca_rdma_export(here.rdma, NULL, &len, &connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_export(here.rdma, &details, NULL, &connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_export(here.rdma, &details, &len, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(details);
	assert_int_equal(len, 77);
	for (unsigned int i = 0; i < 2; i++)
		assert_ok(doca_rdma_export(here.rdma, &details, &len, &connection));
	connection = NULL;
	assert_error(doca_rdma_export(here.rdma, &details, &len, &connection), DOCA_ERROR_FULL);
	assert_null(connection);
}

static doca_error_t connect_copy(const uint8_t *details, size_t len)
{
	return doca_rdma_connect(here.rdma, details, len, here.connections[0]);
}

/* rule: RE-connect-1, RE-connect-2, RE-connect-3 */
static void connect_checks_the_details_and_the_connection(void **state)
{
	struct doca_rdma_connection *mine, *theirs;
	uint8_t copy[512];
	const void *bytes;
	size_t len;

	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(doca_rdma_export(here.rdma, &bytes, &len, &mine));
	assert_ok(doca_rdma_export(there.rdma, &bytes, &len, &theirs));
	memcpy(copy, bytes, len);
	here.connections[0] = mine;
	here.n_connections = 1;
	for (size_t i = 0; i < len; i++) {
		copy[i] ^= 0xff;
		assert_error(connect_copy(copy, len), DOCA_ERROR_CONNECTION_ABORTED);
		copy[i] ^= 0xff;
	}
	for (size_t i = 1; i < len; i++)
		assert_error(connect_copy(copy, i), DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(doca_rdma_connect(here.rdma, copy, len, theirs), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connect(here.rdma, NULL, len, mine), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connect(here.rdma, copy, len, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(connect_copy(copy, len));
	assert_error(connect_copy(copy, len), DOCA_ERROR_BAD_STATE);
}

/* rule: RE-ips-1 */
static void connection_tells_which_addresses_it_would_connect(void **state)
{
	struct sockaddr_storage own[2], peer[2];
	struct doca_rdma_connection *mine, *theirs;
	uint8_t of_here[512], of_there[512];
	const void *bytes;
	size_t len;

	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(doca_rdma_export(here.rdma, &bytes, &len, &mine));
	memcpy(of_here, bytes, len);
	assert_ok(doca_rdma_export(there.rdma, &bytes, &len, &theirs));
	memcpy(of_there, bytes, len);
	assert_ok(dpumap_rdma_connection_get_ips(mine, of_there, len, &own[0], &peer[0]));
	assert_ok(dpumap_rdma_connection_get_ips(theirs, of_here, len, &own[1], &peer[1]));
	assert_int_equal(own[0].ss_family, AF_INET);
	assert_memory_equal(&own[0], &peer[1], sizeof(own[0]));
	assert_memory_equal(&own[1], &peer[0], sizeof(own[0]));
	assert_error(dpumap_rdma_connection_get_ips(mine, of_there, len - 1, &own[0], &peer[0]),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connection_get_ips(NULL, of_there, len, &own[0], &peer[0]),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connection_get_ips(mine, NULL, len, &own[0], &peer[0]),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connection_get_ips(mine, of_there, len, NULL, &peer[0]),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connection_get_ips(mine, of_there, len, &own[0], NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_connect(here.rdma, of_there, len, mine));
	here.connections[0] = mine;
	here.n_connections = 1;
	assert_error(dpumap_rdma_connection_get_ips(mine, of_there, len, &own[0], &peer[0]),
		     DOCA_ERROR_BAD_STATE);
}

#define DETAILS_LEN 48
#define CRC_AT	    12
#define GID_AT	    28

static void seal(uint8_t details[static DETAILS_LEN])
{
	memset(details + CRC_AT, 0, sizeof(uint32_t));
	test_put_le32(details + CRC_AT, test_crc32c(details, DETAILS_LEN));
}

/* An IPv4 address here, and an IPv6 address there. */
/* rule: RE-ips-2 */
static void connection_between_families_has_no_addresses(void **state)
{
	struct sockaddr_storage own, peer;
	struct doca_rdma_connection *mine;
	uint8_t details[DETAILS_LEN];
	const void *bytes;
	size_t len;

	assert_ok(side_start(&here));
	assert_ok(doca_rdma_export(here.rdma, &bytes, &len, &mine));
	memcpy(details, bytes, sizeof(details));
	memset(details + GID_AT, 0, 16);
	details[GID_AT] = 0xfd;
	seal(details);
	assert_int_equal(dpumap_rdma_connection_get_ips(mine, details, len, &own, &peer),
			 DOCA_ERROR_NOT_SUPPORTED);
}

/* rule: RE-connect-1 */
static void connect_needs_a_running_context(void **state)
{
	struct doca_rdma_connection *theirs;
	const void *bytes;
	size_t len;

	assert_ok(side_start(&there));
	assert_ok(doca_rdma_export(there.rdma, &bytes, &len, &theirs));
	assert_error(doca_rdma_connect(here.rdma, bytes, len, theirs), DOCA_ERROR_BAD_STATE);
}

/* --- details with a right checksum that are wrong --------------------------------------------- */

#define MAJOR_AT 4
#define MINOR_AT 5

/* `here` gets other details of `there`, which are sealed; `there` connects to the real ones. */
static doca_error_t connect_by(size_t at, uint8_t value)
{
	struct doca_rdma_connection *mine, *theirs;
	uint8_t of_here[DETAILS_LEN], of_there[DETAILS_LEN];
	const void *bytes;
	doca_error_t result;
	size_t len;

	assert_ok(doca_rdma_export(here.rdma, &bytes, &len, &mine));
	memcpy(of_here, bytes, sizeof(of_here));
	assert_ok(doca_rdma_export(there.rdma, &bytes, &len, &theirs));
	memcpy(of_there, bytes, sizeof(of_there));
	of_there[at] = value;
	seal(of_there);
	here.connections[here.n_connections++] = mine;
	result = doca_rdma_connect(here.rdma, of_there, len, mine);
	if (result == DOCA_SUCCESS)
		assert_ok(doca_rdma_connect(there.rdma, of_here, len, theirs));
	return result;
}

/* A new major version may mean anything, a new minor version means the same (docs/wire-format.md, 15). */
/* rule: RE-connect-2 */
static void details_of_another_major_version_are_refused(void **state)
{
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_error(connect_by(MAJOR_AT, 2), DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(connect_by(MAJOR_AT, 0), DOCA_ERROR_CONNECTION_ABORTED);
	assert_ok(connect_by(MINOR_AT, 9));
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[2],
		.src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_ok(there.done[0].status);
}

static const struct lie {
	size_t at, len;
	const char *bytes;
} lies[] = {
	{16, 3, "\xf0\xff\xff"},		  /* a queue pair that does not exist */
	{20, 3, "\x77\x77\x77"},		  /* another packet sequence number */
	{26, 1, "\x08"},			  /* an MTU of 256 bytes */
	{27, 1, "\xff"},			  /* 255 reads at a time */
	{28, 16, "\x20\x01\x0d\xb8vvvvvvvvvvvv"}, /* an address that does not exist */
};
#define LIES ARRAY_SIZE(lies)

/* Connect by details of `there`, which does not connect, after that change. */
static bool connect_to_lie(const struct lie *lie)
{
	struct doca_rdma_connection *mine, *theirs;
	uint8_t details[DETAILS_LEN];
	const void *bytes;
	doca_error_t result;
	size_t len;

	assert_ok(doca_rdma_export(here.rdma, &bytes, &len, &mine));
	assert_ok(doca_rdma_export(there.rdma, &bytes, &len, &theirs));
	assert_int_equal(len, sizeof(details));
	memcpy(details, bytes, len);
	seal(details);
	assert_memory_equal(details, bytes, len);
	memcpy(details + lie->at, lie->bytes, lie->len);
	seal(details);
	result = doca_rdma_connect(here.rdma, details, len, mine);
	if (result != DOCA_SUCCESS)
		assert_error(result, DOCA_ERROR_CONNECTION_ABORTED);
	else
		here.connections[here.n_connections++] = mine;
	return result == DOCA_SUCCESS;
}

/* rule: RE-wrong-1, RT-10, RT-10b */
static void tasks_of_connections_by_wrong_details_fail(void **state)
{
	unsigned int connected = 0;

	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	for (size_t i = 0; i < LIES; i++)
		connected += connect_to_lie(&lies[i]);
	assert_true(connected > 0);
	for (unsigned int i = 0; i < connected; i++)
		side_post(&here, .kind = SIDE_SEND, .connection = here.connections[i],
			  .src = side_data(&here, 0, 64));
	assert_true(side_wait_state(&here, DOCA_CTX_STATE_IDLE));
	assert_int_equal(here.n_done, connected);
	for (unsigned int i = 0; i < connected; i++)
		if (here.done[i].status != DOCA_ERROR_SHUTDOWN)
			assert_error(here.done[i].status, DOCA_ERROR_CONNECTION_ABORTED);
	/* An honest peer works. */
	assert_ok(side_stop(&there));
	here.n_connections = there.n_connections = 0;
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(side_connect());
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	side_ok(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, 64));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		idle_test(tasks_are_configured_while_idle_only),
		idle_test(callbacks_of_tasks_are_required_and_may_be_the_same),
		connected_test(tasks_of_each_kind_are_limited_by_their_pool),
		connected_test(a_context_that_is_not_running_allocates_nothing),
		connected_test(a_connection_of_another_context_is_refused),
		connected_test(fields_of_tasks_are_as_set_also_after_free),
		connected_test(null_for_a_connection_or_its_outputs_is_invalid),
		connected_test(null_for_an_address_or_its_outputs_is_invalid),
		idle_test(objects_that_were_never_created_are_errors),
		connected_test(destroy_of_a_running_context_is_bad_state),
		idle_test(invalid_numbers_of_connections_and_permissions_are_refused),
		idle_test(dc_is_not_supported),
		idle_test(state_callbacks_may_be_null_and_need_an_idle_context),
		idle_test(export_needs_a_running_context_and_a_free_connection),
		idle_test(connect_checks_the_details_and_the_connection),
		idle_test(connection_tells_which_addresses_it_would_connect),
		idle_test(connection_between_families_has_no_addresses),
		idle_test(connect_needs_a_running_context),
		idle_test(tasks_of_connections_by_wrong_details_fail),
		idle_test(details_of_another_major_version_are_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
