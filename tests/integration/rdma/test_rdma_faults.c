/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An RDMA context in steps, under faults. Each allocation and each command of each step fails once:
 * the step reports it, works when it is called again, and no object is left in the end.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "endpoint.h"
#include "faults.h"
#include "fixture.h"

static struct doca_dev *dev;
static struct endpoint remote;
static unsigned int swept;

struct life {
	struct endpoint end;
	struct endpoint_offer offer, peer;
};

static int open_all(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ||
	    endpoint_open(&remote, dev, LOCAL_RW | RDMA_R, LOCAL_RW | RDMA_R) != DOCA_SUCCESS ||
	    doca_ctx_start(remote.ctx) != DOCA_SUCCESS)
		return -1;
	fixture_fill(remote.bytes, ENDPOINT_LEN, 2);
	return 0;
}

static int close_all(void **state)
{
	doca_error_t result = endpoint_close(&remote);

	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

static void begin(struct life *life)
{
	memset(life, 0, sizeof(*life));
	assert_ok(endpoint_stop(&remote));
	assert_ok(doca_ctx_start(remote.ctx));
	assert_ok(endpoint_offer(&remote, &life->peer));
	assert_ok(endpoint_open(&life->end, dev, LOCAL_RW, LOCAL_RW));
}

static doca_error_t create_another(struct life *life)
{
	struct doca_rdma *rdma;
	doca_error_t result;

	result = doca_rdma_create(dev, &rdma);
	return result == DOCA_SUCCESS ? doca_rdma_destroy(rdma) : result;
}

static doca_error_t start(struct life *life)
{
	return doca_ctx_start(life->end.ctx);
}

static doca_error_t offer(struct life *life)
{
	return endpoint_offer(&life->end, &life->offer);
}

static doca_error_t connect_life(struct life *life)
{
	return doca_rdma_connect(life->end.rdma, life->peer.details.bytes, life->peer.details.len,
				 life->end.connection);
}

static doca_error_t (*const steps[])(struct life *life) = {
	create_another,
	start,
	offer,
	connect_life,
};
#define STEPS ARRAY_SIZE(steps)

static const doca_error_t documented[STEPS][3] = {
	{DOCA_ERROR_NO_MEMORY},
	{DOCA_ERROR_INITIALIZATION},
	{DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER, DOCA_ERROR_CONNECTION_ABORTED},
	{DOCA_ERROR_CONNECTION_ABORTED},
};

/* The data must have arrived. */
static doca_error_t transfer(struct life *life)
{
	struct endpoint *end = &life->end;

	if (!end->peer) {
		assert_ok(doca_mmap_create_from_export(NULL, life->peer.map.bytes,
						       life->peer.map.len, dev, &end->peer));
		end->peer_addr = remote.bytes;
		assert_ok(doca_rdma_connect(remote.rdma, life->offer.details.bytes,
					    life->offer.details.len, remote.connection));
	}
	return endpoint_read(end, 0, 0, ENDPOINT_LEN);
}

static bool is_documented(size_t step, doca_error_t result)
{
	for (size_t i = 0; i < 3; i++)
		if (result != DOCA_SUCCESS && documented[step][i] == result)
			return true;
	return false;
}

static bool fail_once(size_t step, enum fault_kind fault, unsigned int n, int err)
{
	struct life life;
	doca_error_t result;
	bool fired;

	begin(&life);
	for (size_t i = 0; i < step; i++)
		assert_ok(steps[i](&life));
	fault_arm(fault, n, err);
	result = steps[step](&life);
	fired = fault_fired();
	fault_disarm();
	if (!fired)
		assert_ok(result);
	if (result != DOCA_SUCCESS) {
		assert_true(is_documented(step, result));
		assert_ok(steps[step](&life));
		swept++;
	}
	for (size_t i = step + 1; i < STEPS; i++)
		assert_ok(steps[i](&life));
	assert_ok(transfer(&life));
	assert_memory_equal(life.end.bytes, remote.bytes, ENDPOINT_LEN);
	assert_ok(endpoint_close(&life.end));
	return fired;
}

static void sweep(enum fault_kind fault, int err)
{
	unsigned int live = fault_count_live();

	swept = 0;
	for (size_t step = 0; step < STEPS; step++)
		for (unsigned int n = 1; fail_once(step, fault, n, err); n++)
			assert_true(n < 100);
	print_message("%u points swept\n", swept);
	assert_true(swept > 3);
	/* Details of another connection, of the same size. */
	assert_int_equal(fault_count_live(), live);
}

static void start_the_other_end_with_a_connection(void)
{
	struct endpoint_offer unused;

	assert_ok(endpoint_offer(&remote, &unused));
}

static void each_allocation_fails_once(void **state)
{
	start_the_other_end_with_a_connection();
	sweep(FAULT_ALLOC, ENOMEM);
}

static void each_command_fails_once(void **state)
{
	static const int errors[] = {EIO, ENOMEM, EREMOTEIO};

	start_the_other_end_with_a_connection();
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		sweep(FAULT_COMMAND, errors[i]);
}

/* A device that fails to destroy: stop tries again or reports it, nothing crashes, and stop works later. */
static bool stop_fails_once(unsigned int n)
{
	struct life life;
	doca_error_t result;
	bool fired;

	begin(&life);
	for (size_t i = 0; i + 1 < STEPS; i++)
		assert_ok(steps[i](&life));
	fault_arm(FAULT_DESTROY, n, EIO);
	result = doca_ctx_stop(life.end.ctx);
	fired = fault_fired();
	fault_disarm();
	assert_error(result,
		     fired && result != DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS);
	if (result != DOCA_SUCCESS) {
		assert_error(doca_rdma_destroy(life.end.rdma), DOCA_ERROR_BAD_STATE);
		(void)connect_life(&life);
		assert_int_equal(doca_pe_progress(life.end.pe), 0);
		assert_ok(doca_ctx_stop(life.end.ctx));
	}
	assert_ok(endpoint_close(&life.end));
	return fired;
}

static void a_stop_that_failed_in_part_can_be_repeated(void **state)
{
	unsigned int n = 1;

	while (stop_fails_once(n))
		n++;
	assert_true(n > 2);
}

/* The same when a failed task stops the context: no further call is needed. */
static bool failure_stops_in_part(unsigned int n)
{
	struct life life;
	bool fired;

	begin(&life);
	for (size_t i = 0; i < STEPS; i++)
		assert_ok(steps[i](&life));
	assert_ok(transfer(&life));
	assert_ok(doca_mmap_stop(remote.mmap));
	fault_arm(FAULT_DESTROY, n, EIO);
	assert_error(transfer(&life), DOCA_ERROR_NOT_PERMITTED);
	fired = fault_fired();
	fault_disarm();
	if (endpoint_state(&life.end) == DOCA_CTX_STATE_STOPPING)
		assert_int_equal(doca_pe_progress(life.end.pe), 1);
	assert_int_equal(endpoint_state(&life.end), DOCA_CTX_STATE_IDLE);
	assert_ok(endpoint_close(&life.end));
	assert_ok(doca_mmap_start(remote.mmap));
	return fired;
}

static void a_failed_task_stops_in_part(void **state)
{
	unsigned int n = 1;

	while (failure_stops_in_part(n))
		n++;
	assert_true(n > 2);
}

#define faults_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		faults_test(each_allocation_fails_once),
		faults_test(each_command_fails_once),
		faults_test(a_stop_that_failed_in_part_can_be_repeated),
		faults_test(a_failed_task_stops_in_part),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
