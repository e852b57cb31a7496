/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clocks. The emulated card has no register of its clock, so its time is that of completions, which
 * counts the nanoseconds of CLOCK_MONOTONIC. A register is tested by a function in place of
 * libmlx5's.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <infiniband/verbs.h>

#include <doca_clock.h>
#include <dpumap-emu.h>

#include "base/array.h"
#include "base/clock.h"
#include "device/queue/nic_clock.h"
#include "device_pd.h"
#include "faults.h"
#include "fixture.h"

#define NIC	DOCA_CLOCK_NIC_FREE_RUNNING
#define ENDLESS 1000u
#define THREADS 4u
#define READS	200u

static struct doca_dev *dev;
static struct doca_clock *clock_object;

static int setup(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	return doca_clock_create(dev, &clock_object) == DOCA_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
	if (doca_clock_destroy(clock_object) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

#define clock_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static uint64_t read_ns(uint64_t kind)
{
	union doca_clock_timespec_t now;

	assert_ok(doca_clock_get_timestamp(clock_object, kind, &now));
	assert_in_range(now.ts.tv_nsec, 0, NSEC_PER_SEC - 1);
	return timespec_ns(&now.ts);
}

static uint64_t read_system(clockid_t id)
{
	struct timespec now;

	assert_int_equal(clock_gettime(id, &now), 0);
	return timespec_ns(&now);
}

static doca_error_t read_kind(uint64_t kind)
{
	union doca_clock_timespec_t now;

	return doca_clock_get_timestamp(clock_object, kind, &now);
}

static void device_reports_the_clocks_that_can_be_read(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);

	assert_ok(doca_clock_cap_nic_free_running_is_supported(info));
	assert_error(doca_clock_cap_nic_real_time_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_clock_cap_nic_dpa_timer_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(read_kind(DOCA_CLOCK_NIC_REAL_TIME), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(read_kind(DOCA_CLOCK_NIC_DPA_TIMER), DOCA_ERROR_NOT_SUPPORTED);
}

static void clocks_refuse_null(void **state)
{
	union doca_clock_timespec_t a, b;
	struct doca_clock *other;
	uint64_t margin;

	assert_error(doca_clock_cap_nic_free_running_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_cap_nic_real_time_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_cap_nic_dpa_timer_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_create(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_create(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_timestamp(NULL, NIC, &a), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_timestamp(clock_object, NIC, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_crosstimestamp(NULL, NIC, NIC, &a, &b, &margin),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_crosstimestamp(clock_object, NIC, NIC, NULL, &b, &margin),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_crosstimestamp(clock_object, NIC, NIC, &a, NULL, &margin),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_crosstimestamp(clock_object, NIC, NIC, &a, &b, NULL),
		     DOCA_ERROR_INVALID_VALUE);
}

static void type_is_exactly_one_bit(void **state)
{
	static const uint64_t wrong[] = {
		0,
		1ul << 2,
		1ul << 20,
		1ul << 63,
		NIC | DOCA_CLOCK_NIC_REAL_TIME,
		UINT64_MAX,
		1ul << 15,
		NIC | DOCA_CLOCK_HOST_MONOTONIC,
	};
	union doca_clock_timespec_t a, b;
	uint64_t margin = 7;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_error(read_kind(wrong[i]), DOCA_ERROR_INVALID_VALUE);
		assert_error(
			doca_clock_get_crosstimestamp(clock_object, wrong[i], NIC, &a, &b, &margin),
			DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_clock_get_crosstimestamp(clock_object, DOCA_CLOCK_HOST_MONOTONIC,
							   wrong[i], &a, &b, &margin),
			     DOCA_ERROR_INVALID_VALUE);
	}
	/* The second clock is one of the NIC. */
	assert_error(doca_clock_get_crosstimestamp(clock_object, NIC, DOCA_CLOCK_HOST_MONOTONIC, &a,
						   &b, &margin),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_clock_get_crosstimestamp(clock_object, NIC, DOCA_CLOCK_NIC_REAL_TIME, &a,
						   &b, &margin),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_clock_get_crosstimestamp(clock_object, DOCA_CLOCK_NIC_DPA_TIMER, NIC, &a,
						   &b, &margin),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(margin, 7);
}

static const struct {
	uint64_t kind;
	clockid_t id;
} system_clocks[] = {
	{DOCA_CLOCK_HOST_REAL_TIME, CLOCK_REALTIME},
	{DOCA_CLOCK_HOST_MONOTONIC, CLOCK_MONOTONIC},
	{DOCA_CLOCK_HOST_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
};

static void clocks_of_the_host_are_those_of_the_system(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_clocks); i++) {
		uint64_t before = read_system(system_clocks[i].id);
		uint64_t between = read_ns(system_clocks[i].kind);
		uint64_t after = read_system(system_clocks[i].id);

		assert_true(before <= between);
		assert_true(between <= after);
	}
}

static void cycles_are_counted(void **state)
{
	union doca_clock_timespec_t first, second;

	assert_ok(doca_clock_get_timestamp(clock_object, DOCA_CLOCK_HOST_COUNTER_CYCLES, &first));
	assert_ok(doca_clock_get_timestamp(clock_object, DOCA_CLOCK_HOST_COUNTER_CYCLES, &second));
	assert_true(second.counter > first.counter);
}

static void time_of_the_card_is_that_of_the_read(void **state)
{
	test_needs_emulator();
	for (unsigned int i = 0; i < READS; i++) {
		uint64_t before = monotonic_ns();
		uint64_t between = read_ns(NIC);

		assert_true(before <= between);
		assert_true(between <= monotonic_ns());
	}
}

/* Both clocks of the emulated card are the same, so the margin must hold exactly. */
static void cross_timestamp_keeps_its_margin(void **state)
{
	union doca_clock_timespec_t primary, nic;
	uint64_t margin, before, after, ns;

	test_needs_emulator();
	for (unsigned int i = 0; i < READS; i++) {
		before = monotonic_ns();
		assert_ok(doca_clock_get_crosstimestamp(clock_object, DOCA_CLOCK_HOST_MONOTONIC,
							NIC, &primary, &nic, &margin));
		after = monotonic_ns();
		ns = timespec_ns(&primary.ts);
		assert_true(ns - margin >= before);
		assert_true(ns + margin <= after + 1); /* margins are rounded up */
		assert_true(timespec_ns(&nic.ts) >= ns - margin);
		assert_true(timespec_ns(&nic.ts) <= ns + margin);
	}
}

static void each_clock_can_be_the_primary_one(void **state)
{
	static const uint64_t kinds[] = {
		DOCA_CLOCK_HOST_COUNTER_CYCLES,
		DOCA_CLOCK_HOST_REAL_TIME,
		DOCA_CLOCK_HOST_MONOTONIC,
		DOCA_CLOCK_HOST_MONOTONIC_RAW,
		NIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		union doca_clock_timespec_t before, primary, nic, after;
		bool counts = kinds[i] == DOCA_CLOCK_HOST_COUNTER_CYCLES;
		uint64_t margin;

		assert_ok(doca_clock_get_timestamp(clock_object, kinds[i], &before));
		assert_ok(doca_clock_get_crosstimestamp(clock_object, kinds[i], NIC, &primary, &nic,
							&margin));
		assert_ok(doca_clock_get_timestamp(clock_object, kinds[i], &after));
		assert_true(margin > 0);
		if (counts) {
			assert_true(primary.counter - margin >= before.counter);
			assert_true(primary.counter + margin <= after.counter + 1);
		} else {
			assert_true(timespec_ns(&primary.ts) - margin >= timespec_ns(&before.ts));
			assert_true(timespec_ns(&primary.ts) + margin <=
				    timespec_ns(&after.ts) + 1);
		}
	}
}

static void clock_keeps_its_device_open(void **state)
{
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(read_kind(NIC));
}

static void *read_in_thread(void *answer)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < READS; i++) {
		union doca_clock_timespec_t now;

		if (doca_clock_get_timestamp(clock_object, NIC, &now) != DOCA_SUCCESS ||
		    timespec_ns(&now.ts) < last)
			return answer;
		last = timespec_ns(&now.ts);
	}
	return NULL;
}

static void threads_share_a_clock(void **state)
{
	pthread_t threads[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, threads), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		void *failed = threads;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

static void clock_works_again_after_its_port_was_down(void **state)
{
	test_needs_emulator();
	assert_int_equal(dpumap_emu_fault("port"), 0);
	assert_error(read_kind(NIC), DOCA_ERROR_DRIVER);
	assert_ok(read_kind(DOCA_CLOCK_HOST_MONOTONIC));
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	assert_ok(read_kind(NIC));
}

/* A queue that failed is replaced. */
static void clock_works_again_after_a_completion_failed(void **state)
{
	uint64_t before;

	test_needs_emulator();
	/* Transport retries exceeded. */
	assert_int_equal(dpumap_emu_fault("completion --syndrome 0x15"), 0);
	assert_error(read_kind(NIC), DOCA_ERROR_DRIVER);
	assert_ok(read_kind(NIC));
	assert_int_equal(dpumap_emu_fault("completion --lose"), 0);
	assert_error(read_kind(NIC), DOCA_ERROR_DRIVER);
	assert_ok(read_kind(NIC));
	/* The second completion has the time of the first read. */
	assert_int_equal(dpumap_emu_fault("completion --duplicate"), 0);
	assert_ok(read_kind(NIC));
	before = monotonic_ns();
	assert_error(read_kind(NIC), DOCA_ERROR_DRIVER);
	assert_true(read_ns(NIC) >= before);
}

/* The register of a card. */
static struct {
	uint64_t ticks;
	int error;
	unsigned int reads;
} fake;

static int read_fake(struct ibv_context *context, struct ibv_values_ex *values)
{
	fake.reads++;
	if (fake.error)
		return fake.error;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = (long)fake.ticks;
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

typedef int (*query_fn)(struct ibv_context *context, struct ibv_values_ex *values);

static query_fn replace_register(query_fn by)
{
	struct verbs_context *verbs = verbs_get_ctx(device_pd(dev)->context);
	query_fn own = verbs->query_rt_values;

	memset(&fake, 0, sizeof(fake));
	verbs->query_rt_values = by;
	return own;
}

static void register_of_the_card_is_read_where_it_has_one(void **state)
{
	union doca_clock_timespec_t primary, nic;
	uint64_t margin;
	query_fn own;

	test_needs_emulator();
	own = replace_register(read_fake);
	/* The emulated card reports 1 GHz. */
	fake.ticks = 5 * NSEC_PER_SEC + 7;
	assert_int_equal(read_ns(NIC), 5 * NSEC_PER_SEC + 7);
	assert_ok(doca_clock_get_crosstimestamp(clock_object, DOCA_CLOCK_HOST_MONOTONIC, NIC,
						&primary, &nic, &margin));
	assert_int_equal(nic.ts.tv_sec, 5);
	assert_int_equal(nic.ts.tv_nsec, 7);
	assert_true(fake.reads >= 2);
	(void)replace_register(own);
}

static void error_of_the_register_is_reported(void **state)
{
	query_fn own = replace_register(read_fake);

	fake.error = EPERM;
	assert_error(read_kind(NIC), DOCA_ERROR_OPERATING_SYSTEM);
	fake.error = EIO;
	assert_error(read_kind(NIC), DOCA_ERROR_DRIVER);
	/* Releases of libmlx5 have either sign. The time is then that of completions. */
	fake.error = EOPNOTSUPP;
	assert_ok(read_kind(NIC));
	fake.error = -EOPNOTSUPP;
	assert_ok(read_kind(NIC));
	(void)replace_register(own);
}

/* A completion has the time of the register between two reads of that. */
static void time_stamps_are_times_of_the_register(void **state)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	uint64_t before, between, after;
	query_fn own;

	if (ibv_query_rt_values_ex(device_pd(dev)->context, &values))
		test_lacks("a register of the clock that programs can read");
	before = read_ns(NIC);
	own = replace_register(read_fake);
	fake.error = EOPNOTSUPP;
	between = read_ns(NIC);
	(void)replace_register(own);
	after = read_ns(NIC);
	assert_true(before <= between);
	assert_true(between <= after);
}

static void ticks_become_nanoseconds(void **state)
{
	static const struct {
		uint64_t ticks, khz, ns;
	} cases[] = {
		{0, 1000000, 0},
		{1, 1000000, 1},
		{156250000, 156250, NSEC_PER_SEC},
		{1, 156250, 6},
		{5, 156250, 32},
		{UINT64_C(78125) << 32, 78125, NSEC_PER_MSEC << 32},
		{INT64_MAX, 1000000, INT64_MAX},
		{UINT32_MAX, UINT32_MAX, NSEC_PER_MSEC},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(dpumap_ticks_to_ns(cases[i].ticks, cases[i].khz), cases[i].ns);
}

/* Each step once, up to the first error. */
static doca_error_t live(void)
{
	struct doca_clock *created;
	doca_error_t result = doca_clock_create(dev, &created), end;
	union doca_clock_timespec_t now;

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_clock_get_timestamp(created, NIC, &now);
	end = doca_clock_destroy(created);
	if (end != DOCA_SUCCESS) {
		/* It still exists. */
		assert_ok(doca_clock_destroy(created));
		result = end;
	}
	return result;
}

static unsigned int sweep(enum fault_kind kind, int err)
{
	unsigned int n = 1;
	bool fired = true;

	for (; fired; n++) {
		doca_error_t result;

		assert_true(n < ENDLESS);
		fault_arm(kind, n, err);
		result = live();
		fired = fault_fired();
		fault_disarm();
		if (!fired)
			assert_ok(result);
		else if (kind == FAULT_ALLOC)
			assert_error(result, DOCA_ERROR_NO_MEMORY);
		else
			assert_true(result == DOCA_ERROR_DRIVER ||
				    result == DOCA_ERROR_NOT_SUPPORTED);
		assert_ok(live());
	}
	return n - 2;
}

static void each_failure_is_reported_and_leaves_nothing_behind(void **state)
{
	query_fn own =
		replace_register(read_fake); /* a card may have one, and then needs no queue */
	unsigned int before = fault_count_live();

	fake.error = EOPNOTSUPP;
	assert_true(sweep(FAULT_ALLOC, ENOMEM) >= 2);
	assert_true(sweep(FAULT_COMMAND, EIO) >= 5);
	assert_true(sweep(FAULT_COMMAND, EOPNOTSUPP) >= 5);
	assert_int_equal(sweep(FAULT_DESTROY, EIO), 2);
	assert_int_equal(fault_count_live(), before);
	(void)replace_register(own);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		clock_test(device_reports_the_clocks_that_can_be_read),
		clock_test(clocks_refuse_null),
		clock_test(type_is_exactly_one_bit),
		clock_test(clocks_of_the_host_are_those_of_the_system),
		clock_test(cycles_are_counted),
		clock_test(time_of_the_card_is_that_of_the_read),
		clock_test(cross_timestamp_keeps_its_margin),
		clock_test(each_clock_can_be_the_primary_one),
		clock_test(clock_keeps_its_device_open),
		clock_test(threads_share_a_clock),
		clock_test(clock_works_again_after_its_port_was_down),
		clock_test(clock_works_again_after_a_completion_failed),
		clock_test(register_of_the_card_is_read_where_it_has_one),
		clock_test(error_of_the_register_is_reported),
		clock_test(time_stamps_are_times_of_the_register),
		clock_test(each_failure_is_reported_and_leaves_nothing_behind),
		cmocka_unit_test(ticks_become_nanoseconds),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
