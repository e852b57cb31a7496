/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sync events without tasks: values and waits, of each origin. */
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "sync_side.h"

#define ADDS 2000u

/* rule: SE-1 */
static void event_starts_at_zero(void **state)
{
	sync_start();
	assert_int_equal(sync_value(), 0);
	if (test.origin != SYNC_OWN)
		assert_int_equal(sync_ask_value(&test.peer, SYNC_GET, 0), 0);
}

/* rule: SE-1 */
static void event_started_again_is_zero(void **state)
{
	sync_start();
	assert_ok(doca_sync_event_update_set(test.event, 5));
	sync_stop();
	if (test.origin == SYNC_EXPORTED)
		assert_ok(sync_ask(&test.peer, SYNC_DESTROY, 0));
	sync_start();
	assert_int_equal(sync_value(), test.origin == SYNC_IMPORTED ? 5 : 0);
}

/* rule: SE-2b */
static void updates_return_and_change_the_value(void **state)
{
	uint64_t fetched = 0;

	sync_start();
	assert_ok(doca_sync_event_update_set(test.event, UINT64_MAX - 1));
	assert_int_equal(sync_value(), UINT64_MAX - 1);
	assert_ok(doca_sync_event_update_add(test.event, 3, &fetched));
	assert_int_equal(fetched, UINT64_MAX - 1);
	assert_int_equal(sync_value(), 1);
}

/* rule: SE-2b, SE-3, SE-7 */
static void both_sides_update_and_read(void **state)
{
	uint64_t fetched = 0;

	sync_start();
	assert_ok(doca_sync_event_update_set(test.event, 0x1122334455667788));
	assert_int_equal(sync_ask_value(&test.peer, SYNC_GET, 0), 0x1122334455667788);
	assert_ok(sync_ask(&test.peer, SYNC_SET, 40));
	assert_int_equal(sync_value(), 40);
	assert_int_equal(sync_ask_value(&test.peer, SYNC_ADD, 2), 40);
	assert_ok(doca_sync_event_update_add(test.event, 8, &fetched));
	assert_int_equal(fetched, 42);
	assert_int_equal(sync_ask_value(&test.peer, SYNC_GET, 0), 50);
}

static bool has_answered(const struct process *peer)
{
	struct pollfd answer = {.fd = peer->from, .events = POLLIN};

	return poll(&answer, 1, 0) > 0;
}

/* rule: SE-13 */
static void additions_of_both_sides_lose_nothing(void **state)
{
	struct sync_request request = {.order = SYNC_ADD, .value = 1, .times = ADDS};
	struct sync_answer answer;
	uint64_t fetched = 0, added = 0;

	sync_start();
	sync_send(&test.peer, &request);
	while (added < ADDS || !has_answered(&test.peer)) {
		assert_ok(doca_sync_event_update_add(test.event, 1, &fetched));
		added++;
	}
	sync_receive(&test.peer, &answer);
	assert_ok(answer.result);
	assert_int_equal(sync_value(), added + ADDS);
}

/* rule: SE-5a */
static void waits_compare_the_masked_event(void **state)
{
	sync_start();
	assert_ok(doca_sync_event_update_set(test.event, 0xaa00000000000055));
	assert_ok(doca_sync_event_wait_eq(test.event, 0x55, 0xff));
	assert_ok(doca_sync_event_wait_eq_yield(test.event, 0xaa00000000000055, UINT64_MAX));
	assert_ok(doca_sync_event_wait_eq(test.event, 0, 0));
	assert_ok(doca_sync_event_wait_neq(test.event, 0x1055, 0xff));
	assert_ok(doca_sync_event_wait_neq_yield(test.event, 0x54, 0xff));
	assert_ok(doca_sync_event_wait_gt(test.event, 0x54, 0x7f));
	assert_ok(doca_sync_event_wait_gt_yield(test.event, INT64_MAX, UINT64_MAX));
	assert_ok(doca_sync_event_update_set(test.event, UINT64_MAX));
	assert_ok(doca_sync_event_wait_gt(test.event, UINT64_MAX - 1, UINT64_MAX));
}

/* rule: SE-5b, SE-7 */
static void waits_end_when_the_peer_updates(void **state)
{
	sync_start();
	sync_send(&test.peer, &(struct sync_request){.order = SYNC_SET, .value = 7});
	assert_ok(doca_sync_event_wait_eq(test.event, 7, UINT64_MAX));
	sync_receive(&test.peer, &(struct sync_answer){0});
	sync_send(&test.peer, &(struct sync_request){.order = SYNC_ADD, .value = 1, .times = 3});
	assert_ok(doca_sync_event_wait_gt_yield(test.event, 9, UINT64_MAX));
	sync_receive(&test.peer, &(struct sync_answer){0});
	sync_send(&test.peer, &(struct sync_request){.order = SYNC_SET, .value = 11});
	assert_ok(doca_sync_event_wait_neq_yield(test.event, 10, UINT64_MAX));
	sync_receive(&test.peer, &(struct sync_answer){0});
}

/* rule: SE-5b, SE-7 */
static void waits_of_the_peer_end_when_we_update(void **state)
{
	static const enum sync_order orders[] = {SYNC_WAIT_NEQ, SYNC_WAIT_GT};
	struct sync_answer answer;
	uint64_t value = 0;

	sync_start();
	for (unsigned int i = 0; i < 2; i++) {
		sync_send(&test.peer, &(struct sync_request){.order = orders[i], .value = value});
		assert_ok(doca_sync_event_update_set(test.event, ++value));
		sync_receive(&test.peer, &answer);
		assert_ok(answer.result);
	}
	sync_send(&test.peer, &(struct sync_request){.order = SYNC_WAIT_EQ, .value = 9});
	assert_ok(doca_sync_event_update_set(test.event, 8));
	assert_ok(doca_sync_event_update_set(test.event, 9));
	sync_receive(&test.peer, &answer);
	assert_ok(answer.result);
}

static void *set_later(void *arg)
{
	struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};

	nanosleep(&pause, NULL);
	__atomic_store_n((uint64_t *)arg, 3, __ATOMIC_SEQ_CST);
	return NULL;
}

/* rule: SE-5b */
static void wait_longer_than_the_first_looks_ends(void **state)
{
	static _Alignas(8) uint64_t cell;
	pthread_t thread;

	cell = 2;
	assert_ok(doca_sync_event_set_addr(test.event, &cell));
	sync_start();
	assert_int_equal(pthread_create(&thread, NULL, set_later, &cell), 0);
	assert_ok(doca_sync_event_wait_gt(test.event, 2, UINT64_MAX));
	assert_int_equal(sync_value(), 3);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A wait for an exporter that is gone ends with an error and not never. */
/* rule: SE-3 */
static void import_of_a_stopped_exporter_fails(void **state)
{
	uint64_t value = 77;

	sync_start();
	assert_ok(sync_ask(&test.peer, SYNC_STOP, 0));
	assert_error(doca_sync_event_get(test.event, &value), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_sync_event_update_add(test.event, 1, &value), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_sync_event_update_set(test.event, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_sync_event_wait_eq(test.event, 1, UINT64_MAX), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(value, 77);
}

/* rule: SE-3 */
static void import_of_a_killed_exporter_fails(void **state)
{
	doca_error_t result;

	sync_start();
	assert_int_equal(sync_value(), 0);
	assert_true(process_kill(&test.peer));
	test.peer.pid = 0;
	result = doca_sync_event_wait_eq(test.event, 1, UINT64_MAX);
	assert_true(result == DOCA_ERROR_NOT_PERMITTED || result == DOCA_ERROR_IO_FAILED);
}

/* rule: SE-7 */
static void exporter_survives_a_killed_importer(void **state)
{
	uint64_t fetched = 0;

	sync_start();
	sync_send(&test.peer,
		  &(struct sync_request){.order = SYNC_ADD, .value = 0, .times = UINT32_MAX});
	assert_ok(doca_sync_event_update_add(test.event, 4, &fetched));
	assert_true(process_kill(&test.peer));
	test.peer.pid = 0;
	assert_ok(doca_sync_event_update_add(test.event, 4, &fetched));
	assert_int_equal(fetched, 4);
	assert_int_equal(sync_value(), 8);
}

/* rule: SE-14 */
static void memory_of_the_user_is_the_event(void **state)
{
	static _Alignas(8) uint64_t cell;

	cell = 12;
	assert_ok(doca_sync_event_set_addr(test.event, &cell));
	sync_start();
	assert_int_equal(sync_value(), 12);
	assert_int_equal(sync_ask_value(&test.peer, SYNC_ADD, 5), 12);
	assert_int_equal(__atomic_load_n(&cell, __ATOMIC_SEQ_CST), 17);
	sync_stop();
	assert_int_equal(cell, 17);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		all_test(event_starts_at_zero),
		all_test(event_started_again_is_zero),
		all_test(updates_return_and_change_the_value),
		shared_test(both_sides_update_and_read),
		shared_test(additions_of_both_sides_lose_nothing),
		all_test(waits_compare_the_masked_event),
		shared_test(waits_end_when_the_peer_updates),
		shared_test(waits_of_the_peer_end_when_we_update),
		own_test(wait_longer_than_the_first_looks_ends),
		imported_test(import_of_a_stopped_exporter_fails),
		imported_test(import_of_a_killed_exporter_fails),
		exported_test(exporter_survives_a_killed_importer),
		exported_test(memory_of_the_user_is_the_event),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return sync_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
