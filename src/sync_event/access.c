/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include <sched.h>
#include <time.h>

#include "log/log.h"

#define READS_BEFORE_SLEEP 4096u
#define SLEEP_NS	   20000

static doca_error_t execute(struct doca_sync_event *event, enum dpumap_counter_kind kind,
			    uint64_t *value)
{
	struct dpumap_counter_op op = {.kind = kind, .value = *value};
	doca_error_t result = dpumap_counter_execute(event->counter, &op);

	if (result == DOCA_SUCCESS)
		*value = op.value;
	return result;
}

static doca_error_t read_value(struct doca_sync_event *event, uint64_t *value)
{
	if (!event->cell)
		return execute(event, DPUMAP_COUNTER_READ, value);
	*value = dpumap_sync_load(event);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	uint64_t read = 0;
	doca_error_t result;

	if (!event || !value)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_check_started(event, __func__);
	if (result == DOCA_SUCCESS)
		result = read_value(event, &read);
	if (result == DOCA_SUCCESS)
		*value = read;
	return result;
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
					uint64_t *fetched)
{
	doca_error_t result;

	if (!event || !fetched)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_check_started(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!event->counter)
		value = __atomic_fetch_add(event->cell, value, __ATOMIC_SEQ_CST);
	else
		result = execute(event, DPUMAP_COUNTER_ADD, &value);
	if (result == DOCA_SUCCESS)
		*fetched = value;
	return result;
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_check_started(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!event->cell)
		return execute(event, DPUMAP_COUNTER_WRITE, &value);
	__atomic_store_n(event->cell, value, __ATOMIC_SEQ_CST);
	return DOCA_SUCCESS;
}

/* --- waiting ---------------------------------------------------------------------------------- */

typedef bool compare_fn(uint64_t bits, uint64_t value);

static bool is_greater(uint64_t bits, uint64_t value)
{
	return bits > value;
}

static bool is_equal(uint64_t bits, uint64_t value)
{
	return bits == value;
}

static bool is_different(uint64_t bits, uint64_t value)
{
	return bits != value;
}

/* A wait of minutes should not occupy a CPU. */
static void sleep_shortly(void)
{
	struct timespec time = {.tv_nsec = SLEEP_NS};

	nanosleep(&time, NULL);
}

static doca_error_t wait(struct doca_sync_event *event, compare_fn *is_met, uint64_t value,
			 uint64_t mask, bool yields, const char *function)
{
	uint64_t read = 0;
	uint32_t reads = 0;
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(function);
	result = dpumap_sync_check_started(event, function);
	while (result == DOCA_SUCCESS) {
		result = read_value(event, &read);
		if (result != DOCA_SUCCESS || is_met(read & mask, value))
			break;
		if (yields)
			sched_yield();
		else if (reads == READS_BEFORE_SLEEP)
			sleep_shortly();
		else
			reads++;
	}
	return result;
}

doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait(event, is_greater, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask)
{
	return wait(event, is_greater, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait(event, is_equal, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
					   uint64_t mask)
{
	return wait(event, is_equal, value, mask, true, __func__);
}

doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask)
{
	return wait(event, is_different, value, mask, false, __func__);
}

doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
					    uint64_t mask)
{
	return wait(event, is_different, value, mask, true, __func__);
}
