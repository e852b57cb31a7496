/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tasks: their bufs, results and errors. */
#include <string.h>

#include "side.h"

#define PART  100u
#define FAR   65536u /* an offset that nothing else uses */
#define VALUE 0x1122334455667788u

static void assert_equal_bytes(size_t at_here, size_t at_there, size_t len)
{
	assert_memory_equal(here.bytes + at_here, there.bytes + at_there, len);
}

static uint64_t value_at(const struct side *side, size_t offset)
{
	uint64_t value;

	memcpy(&value, side->bytes + offset, sizeof(value));
	return value;
}

static void set_value(struct side *side, size_t offset, uint64_t value)
{
	memcpy(side->bytes + offset, &value, sizeof(value));
}

/* A receive of `there`, and then a send of `here`, both complete. */
static void send_and_receive(struct doca_buf *src, struct doca_buf *dst)
{
	unsigned int n = there.n_done + 1;

	side_post(&there, .kind = SIDE_RECEIVE, .dst = dst);
	side_ok(&here, .kind = SIDE_SEND, .src = src);
	assert_true(side_wait(&there, n));
	assert_ok(there.done[n - 1].status);
}

/* rule: RT-3a, RT-5a, RT-5b */
static void a_message_arrives_after_the_data_of_the_buf(void **state)
{
	struct doca_buf *dst = side_room(&there, 0, 2 * (size_t)PART);

	assert_ok(doca_buf_set_data(dst, there.bytes + 10, 20));
	fixture_fill(here.bytes, PART, 1);
	fixture_fill(there.bytes, 30, 2);
	send_and_receive(side_data(&here, 0, PART), dst);
	assert_equal_bytes(0, 30, PART);
	assert_int_equal(side_data_len(dst), 20 + PART);
	assert_int_equal(side_last(&there)->len, PART);
	assert_int_equal(side_last(&there)->opcode, DOCA_RDMA_OPCODE_RECV_SEND);
	assert_ptr_equal(side_last(&there)->connection, there.connections[0]);
}

/* rule: RT-1a */
static void a_list_of_the_maximum_length_is_sent(void **state)
{
	uint32_t max = 0;

	assert_ok(doca_rdma_get_max_send_buf_list_len(here.rdma, &max));
	assert_true(max > 1);
	max = max > SIDE_BUFS / 2 ? SIDE_BUFS / 2 : max;
	fixture_fill(here.bytes, SIDE_LEN, 1);
	send_and_receive(side_list(&here, true, 0, 8, 16, max), side_room(&there, 0, 8 * max));
	for (uint32_t i = 0; i < max; i++)
		assert_equal_bytes(i * (size_t)16, i * (size_t)8, 8);
}

/* rule: RT-1a */
static void lists_are_written_and_read(void **state)
{
	struct doca_buf *dst;

	fixture_fill(here.bytes, SIDE_LEN, 1);
	side_ok(&here, .kind = SIDE_WRITE, .src = side_list(&here, true, 0, 40, 64, 5),
		.dst = side_peer_room(&here, 0, 200));
	for (size_t i = 0; i < 5; i++)
		assert_equal_bytes(i * 64, i * 40, 40);
	dst = side_list(&here, false, FAR, 50, 100, 4);
	side_ok(&here, .kind = SIDE_READ, .src = side_peer_data(&here, 0, 200), .dst = dst);
	for (size_t i = 0; i < 4; i++)
		assert_equal_bytes(FAR + i * 100, i * 50, 50);
	assert_int_equal(side_last(&here)->len, 200);
}

/* rule: RT-1a, RT-5c */
static void lists_are_written_and_sent_with_immediate_data(void **state)
{
	fixture_fill(here.bytes, SIDE_LEN, 1);
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, FAR, PART));
	side_ok(&here, .kind = SIDE_WRITE_IMM, .src = side_list(&here, true, 0, 20, 64, 3),
		.dst = side_peer_room(&here, 0, 60), .imm = 7);
	side_ok(&here, .kind = SIDE_SEND_IMM, .src = side_list(&here, true, 0, 20, 64, 3),
		.imm = 8);
	assert_true(side_wait(&there, 2));
	for (size_t i = 0; i < 3; i++) {
		assert_equal_bytes(i * 64, i * 20, 20);
		assert_equal_bytes(i * 64, FAR + i * 20, 20);
	}
}

/* rule: RT-1b, RT-3a */
static void a_message_fills_the_bufs_of_a_list_in_order(void **state)
{
	struct doca_buf *dst = side_list(&there, false, 0, PART, 256, SIDE_LIST);
	struct doca_buf *last;
	const size_t len = SIDE_LIST * PART - 30;

	fixture_fill(here.bytes, len, 1);
	send_and_receive(side_data(&here, 0, len), dst);
	for (size_t i = 0; i + 1 < SIDE_LIST; i++)
		assert_equal_bytes(i * PART, i * 256, PART);
	assert_equal_bytes((SIDE_LIST - 1) * PART, (SIDE_LIST - 1) * (size_t)256, PART - 30);
	assert_ok(doca_buf_get_last_in_list(dst, &last));
	assert_int_equal(side_data_len(dst), PART);
	assert_int_equal(side_data_len(last), PART - 30);
	assert_int_equal(side_last(&there)->len, len);
}

/* rule: RT-1b */
static void a_longer_list_than_configured_is_not_received(void **state)
{
	side_post(&there, .kind = SIDE_RECEIVE,
		  .dst = side_list(&there, false, 0, PART, 256, 64 * SIDE_LIST));
	assert_true(side_wait(&there, 1));
	assert_error(there.done[0].status, DOCA_ERROR_IO_FAILED);
}

/* rule: RT-1c, RT-4 */
static void only_the_head_of_a_remote_list_counts(void **state)
{
	struct doca_buf *src = side_peer_data(&here, 0, 32);
	struct doca_buf *next;

	assert_ok(doca_buf_inventory_buf_get_by_data(here.inventory, here.peer,
						     here.peer_bytes + 64, 32, &next));
	assert_ok(doca_buf_chain_list(src, next));
	fixture_fill(there.bytes, 128, 1);
	side_ok(&here, .kind = SIDE_READ, .src = src, .dst = side_room(&here, 0, 64));
	assert_equal_bytes(0, 0, 32);
	assert_int_equal(side_last(&here)->len, 32);
	assert_int_equal(here.bytes[32], 0);
}

/* rule: RT-2 */
static void messages_without_bufs_are_empty(void **state)
{
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND);
	side_ok(&here, .kind = SIDE_SEND_IMM, .imm = 1);
	side_ok(&here, .kind = SIDE_READ);
	side_ok(&here, .kind = SIDE_WRITE);
	side_ok(&here, .kind = SIDE_WRITE_IMM, .imm = 2);
	assert_true(side_wait(&there, 3));
	for (unsigned int i = 0; i < 3; i++) {
		assert_ok(there.done[i].status);
		assert_int_equal(there.done[i].len, 0);
	}
}

/* rule: RT-3b */
static void a_write_starts_after_the_data_of_the_remote_buf(void **state)
{
	struct doca_buf *dst = side_peer_room(&here, 0, 256);

	fixture_fill(here.bytes, PART, 1);
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART), .dst = dst);
	assert_equal_bytes(0, 0, PART);
	assert_int_equal(there.bytes[PART], 0);
	assert_int_equal(side_data_len(dst), 0);
	assert_ok(doca_buf_set_data_len(dst, PART));
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART), .dst = dst);
	assert_equal_bytes(0, PART, PART);
	assert_int_equal(side_data_len(dst), PART);
}

static doca_error_t write_to(struct doca_buf *dst)
{
	return side_do(
		&here,
		&(struct side_work){.kind = SIDE_WRITE, .src = side_data(&here, 0, 8), .dst = dst});
}

static struct doca_buf *buf_of(struct doca_mmap *map, void *bytes)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(here.inventory, map, bytes, 8, &buf));
	return buf;
}

/* The failure stops the context. */
static void assert_refused(struct doca_buf *buf, doca_error_t error)
{
	assert_error(write_to(buf), error);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

/* rule: RT-13 */
static void a_write_to_own_memory_is_not_supported(void **state)
{
	assert_refused(buf_of(here.mmap, here.bytes), DOCA_ERROR_NOT_SUPPORTED);
}

/* rule: RT-13 */
static void a_write_to_a_stopped_import_is_bad_state(void **state)
{
	struct doca_mmap *map;
	struct doca_buf *buf;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_rdma(there.mmap, there.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, here.dev, &map));
	/* So it can stop although it has a buf. */
	assert_ok(doca_mmap_enable_thread_safety(map));
	buf = buf_of(map, here.peer_bytes);
	assert_ok(write_to(buf));
	assert_ok(doca_mmap_stop(map));
	assert_refused(buf, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(map));
}

/* rule: RT-13 */
static void a_write_to_own_stopped_memory_is_bad_state(void **state)
{
	static uint8_t bytes[8];
	struct doca_mmap *map;
	struct doca_buf *buf;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_add_dev(map, here.dev));
	assert_ok(doca_mmap_enable_thread_safety(map));
	assert_ok(doca_mmap_start(map));
	buf = buf_of(map, bytes);
	assert_ok(doca_mmap_stop(map));
	assert_refused(buf, DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(map));
}

/* rule: RT-3a, RT-4 */
static void a_read_appends_the_data_of_the_source(void **state)
{
	struct doca_buf *dst = side_room(&here, 0, 300);

	fixture_fill(there.bytes, 300, 1);
	for (unsigned int i = 0; i < 3; i++) {
		side_ok(&here, .kind = SIDE_READ, .src = side_peer_data(&here, i * PART, PART),
			.dst = dst);
		assert_int_equal(side_last(&here)->len, PART);
		assert_int_equal(side_data_len(dst), (i + 1) * PART);
	}
	assert_equal_bytes(0, 0, 300);
}

/* rule: RT-5a, RT-5c, RT-6 */
static void a_receive_reports_the_operation_and_its_immediate_data(void **state)
{
	static const enum doca_rdma_opcode wanted[] = {
		DOCA_RDMA_OPCODE_RECV_SEND,
		DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
		DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
	};

	fixture_fill(here.bytes, PART, 1);
	for (unsigned int i = 0; i < 3; i++)
		side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, i * FAR, PART),
			  .data = i);
	side_ok(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART));
	side_ok(&here, .kind = SIDE_SEND_IMM, .src = side_data(&here, 0, PART), .imm = 0x12345678);
	side_ok(&here, .kind = SIDE_WRITE_IMM, .src = side_data(&here, 0, PART),
		.dst = side_peer_room(&here, 3 * FAR, PART), .imm = 0x9abcdef0);
	assert_true(side_wait(&there, 3));
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(there.done[i].data, i);
		assert_int_equal(there.done[i].opcode, wanted[i]);
		assert_int_equal(there.done[i].len, PART);
	}
	assert_int_equal(there.done[1].imm, 0x12345678);
	assert_int_equal(there.done[2].imm, 0x9abcdef0);
	assert_equal_bytes(0, 0, PART);
	assert_equal_bytes(0, FAR, PART);
	assert_int_equal(there.bytes[2 * FAR], 0); /* the buf of the third receive */
	assert_equal_bytes(0, 3 * (size_t)FAR, PART);
}

/* rule: RT-7, RT-5b */
static void one_pool_of_receives_serves_all_connections(void **state)
{
	for (unsigned int i = 1; i < SIDE_CONNECTIONS; i++)
		assert_ok(side_connect());
	for (unsigned int i = 0; i < SIDE_CONNECTIONS; i++)
		side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, i * 64, 64),
			  .data = i);
	for (unsigned int i = 0; i < SIDE_CONNECTIONS; i++) {
		memset(here.bytes, (int)i + 1, 64);
		side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[i],
			.src = side_data(&here, 0, i + 1));
		assert_true(side_wait(&there, i + 1));
		assert_int_equal(there.done[i].data, i);
		assert_int_equal(there.done[i].len, i + 1);
		assert_ptr_equal(there.done[i].connection, there.connections[i]);
		assert_int_equal(there.bytes[i * 64], i + 1);
	}
}

/* rule: RT-8a */
static void compare_and_swap_changes_only_an_equal_value(void **state)
{
	struct doca_buf *dst, *old = side_room(&here, 0, 16);

	set_value(&there, 64, VALUE);
	dst = side_peer_data(&here, 64, 8);
	side_ok(&here, .kind = SIDE_CMP_SWP, .dst = dst, .result = old, .add = VALUE + 1,
		.swap = 5);
	assert_int_equal(value_at(&there, 64), VALUE);
	assert_int_equal(value_at(&here, 0), VALUE);
	side_ok(&here, .kind = SIDE_CMP_SWP, .dst = dst, .result = old, .add = VALUE, .swap = 5);
	assert_int_equal(value_at(&there, 64), 5);
	assert_int_equal(value_at(&here, 8), VALUE);
	assert_int_equal(side_data_len(old), 16);
}

/* rule: RT-8b */
static void fetch_and_add_wraps_and_returns_the_old_value(void **state)
{
	struct doca_buf *dst;

	set_value(&there, 64, UINT64_MAX - 1);
	dst = side_peer_data(&here, 64, 8);
	for (unsigned int i = 0; i < 3; i++)
		side_ok(&here, .kind = SIDE_FETCH_ADD, .dst = dst,
			.result = side_room(&here, i * 8, 8), .add = 1);
	assert_int_equal(value_at(&there, 64), 1);
	assert_int_equal(value_at(&here, 0), UINT64_MAX - 1);
	assert_int_equal(value_at(&here, 8), UINT64_MAX);
	assert_int_equal(value_at(&here, 16), 0);
}

/* rule: RT-8c, RT-10 */
static void an_atomic_on_a_misaligned_address_fails(void **state)
{
	doca_error_t result;

	set_value(&there, 68, VALUE);
	result = side_do(&here, &(struct side_work){.kind = SIDE_FETCH_ADD,
						    .dst = side_peer_data(&here, 68, 8),
						    .result = side_room(&here, 0, 8),
						    .add = 1});
	assert_int_not_equal(result, DOCA_SUCCESS);
	assert_int_equal(value_at(&there, 68), VALUE);
	assert_true(side_last(&here)->by_error_cb);
}

/* rule: RT-10, RT-10b */
static void a_message_longer_than_the_buf_is_an_error_on_both_sides(void **state)
{
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, PART - 1));
	for (unsigned int i = 0; i < 3; i++)
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART), .data = i);
	assert_true(side_wait(&here, 3));
	assert_true(side_wait(&there, 1));
	assert_int_not_equal(there.done[0].status, DOCA_SUCCESS);
	assert_int_not_equal(here.done[0].status, DOCA_SUCCESS);
	assert_error(here.done[1].status, DOCA_ERROR_SHUTDOWN);
	assert_error(here.done[2].status, DOCA_ERROR_SHUTDOWN);
	assert_true(side_wait_state(&here, DOCA_CTX_STATE_IDLE));
	assert_true(side_wait_state(&there, DOCA_CTX_STATE_IDLE));
	if (there.done[0].status == DOCA_ERROR_IO_FAILED && side_is_software(&there))
		test_lacks("a completion that says that the receive was too short");
	assert_error(there.done[0].status, DOCA_ERROR_INVALID_VALUE);
}

static unsigned int resubmissions;

static void send_again(struct side *side, const struct side_done *done, struct doca_task *task)
{
	doca_task_free(task);
	if (done->status == DOCA_SUCCESS && resubmissions++ < 20)
		side_post(side, .kind = done->kind, .src = side->bufs[0], .data = done->data + 1);
}

/* rule: RT-11, X-7 */
static void a_pool_of_one_task_suffices(void **state)
{
	assert_ok(side_stop(&here));
	assert_ok(side_set_conf(&here, SIDE_SEND, 1));
	assert_ok(side_start(&here));
	assert_ok(side_stop(&there));
	assert_ok(side_start(&there));
	here.n_connections = there.n_connections = 0;
	assert_ok(side_connect());
	side_data(&here, 0, PART); /* bufs[0] */
	here.hook = send_again;
	resubmissions = 0;
	for (unsigned int i = 0; i < 21; i++)
		side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, i * PART, PART));
	side_post(&here, .kind = SIDE_SEND, .src = here.bufs[0]);
	assert_true(side_wait(&there, 21));
	assert_true(side_wait(&here, 21));
	for (unsigned int i = 0; i < 21; i++)
		assert_int_equal(here.done[i].data, i);
}

/* rule: RT-12 */
static void tasks_of_one_connection_complete_in_order(void **state)
{
	unsigned int n = 0;

	for (unsigned int round = 0; round < 4; round++)
		for (unsigned int i = 0; i < SIDE_TASKS / 4; i++) {
			side_post(&there, .kind = SIDE_RECEIVE,
				  .dst = side_room(&there, FAR, PART));
			side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART),
				  .data = n++);
			side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, 3 * PART),
				  .dst = side_peer_room(&here, 0, 3 * PART), .data = n++);
			side_post(&here, .kind = SIDE_READ, .src = side_peer_data(&here, 0, i + 1),
				  .dst = side_room(&here, FAR, i + 1), .data = n++);
			side_post(&here, .kind = SIDE_FETCH_ADD,
				  .dst = side_peer_data(&here, 2 * (size_t)FAR, 8),
				  .result = side_room(&here, 2 * (size_t)FAR, 8), .add = 1,
				  .data = n++);
		}
	assert_true(side_wait(&here, n));
	for (unsigned int i = 0; i < n; i++) {
		assert_ok(here.done[i].status);
		assert_int_equal(here.done[i].data, i);
	}
	assert_int_equal(value_at(&there, 2 * (size_t)FAR), n / 4);
}

#define ROUNDS 8u

/* Write, read and add, each of its own number. */
static void post_accesses(struct side *side, unsigned int round)
{
	size_t own = (side == &here ? 0 : FAR / 2) + round * (size_t)PART;

	side_post(side, .kind = SIDE_WRITE, .src = side_data(side, own, PART),
		  .dst = side_peer_room(side, FAR + own, PART), .data = 3 * round);
	side_post(side, .kind = SIDE_READ, .src = side_peer_data(side, FAR / 4 + own, PART),
		  .dst = side_room(side, 2 * (size_t)FAR + own, PART), .data = 3 * round + 1);
	side_post(side, .kind = SIDE_FETCH_ADD, .dst = side_peer_data(side, 3 * (size_t)FAR, 8),
		  .result = side_room(side, 3 * (size_t)FAR + 64 + round * (size_t)8, 8), .add = 3,
		  .data = 3 * round + 2);
}

static void assert_accessed(const struct side *side, const struct side *peer, size_t own)
{
	const size_t len = ROUNDS * (size_t)PART;

	assert_int_equal(side->n_done, 3 * ROUNDS);
	for (unsigned int i = 0; i < side->n_done; i++) {
		assert_ok(side->done[i].status);
		assert_int_equal(side->done[i].data, i);
	}
	assert_memory_equal(peer->bytes + FAR + own, side->bytes + own, len);
	assert_memory_equal(side->bytes + 2 * (size_t)FAR + own, peer->bytes + FAR / 4 + own, len);
	for (unsigned int i = 0; i < ROUNDS; i++)
		assert_int_equal(value_at(side, 3 * (size_t)FAR + 64 + i * (size_t)8), 3 * i);
	assert_int_equal(value_at(peer, 3 * (size_t)FAR), 3 * ROUNDS);
}

/* rule: RD-7, RT-12 */
static void both_ends_access_the_memory_of_the_other(void **state)
{
	fixture_fill(here.bytes, FAR, 1);
	fixture_fill(there.bytes, FAR, 2);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		post_accesses(&here, i);
		post_accesses(&there, i);
	}
	assert_true(side_wait(&here, 3 * ROUNDS));
	assert_true(side_wait(&there, 3 * ROUNDS));
	assert_accessed(&here, &there, 0);
	assert_accessed(&there, &here, FAR / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(a_message_arrives_after_the_data_of_the_buf),
		connected_test(a_list_of_the_maximum_length_is_sent),
		connected_test(lists_are_written_and_read),
		connected_test(lists_are_written_and_sent_with_immediate_data),
		connected_test(a_message_fills_the_bufs_of_a_list_in_order),
		connected_test(a_longer_list_than_configured_is_not_received),
		connected_test(only_the_head_of_a_remote_list_counts),
		connected_test(messages_without_bufs_are_empty),
		connected_test(a_write_starts_after_the_data_of_the_remote_buf),
		connected_test(a_write_to_own_memory_is_not_supported),
		connected_test(a_write_to_a_stopped_import_is_bad_state),
		connected_test(a_write_to_own_stopped_memory_is_bad_state),
		connected_test(a_read_appends_the_data_of_the_source),
		connected_test(a_receive_reports_the_operation_and_its_immediate_data),
		connected_test(one_pool_of_receives_serves_all_connections),
		connected_test(compare_and_swap_changes_only_an_equal_value),
		connected_test(fetch_and_add_wraps_and_returns_the_old_value),
		connected_test(an_atomic_on_a_misaligned_address_fails),
		connected_test(a_message_longer_than_the_buf_is_an_error_on_both_sides),
		connected_test(a_pool_of_one_task_suffices),
		connected_test(tasks_of_one_connection_complete_in_order),
		connected_test(both_ends_access_the_memory_of_the_other),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
