/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>

#include <doca_clock.h>

#include "base/clock.h"
#include "core/clock/host_clock.h"
#include "core/dev/caps.h"
#include "device/queue/nic_clock.h"

#define NIC_KINDS \
	(DOCA_CLOCK_NIC_FREE_RUNNING | DOCA_CLOCK_NIC_REAL_TIME | DOCA_CLOCK_NIC_DPA_TIMER)
#define HOST_KINDS                                                                                \
	(DOCA_CLOCK_HOST_COUNTER_CYCLES | DOCA_CLOCK_HOST_REAL_TIME | DOCA_CLOCK_HOST_MONOTONIC | \
	 DOCA_CLOCK_HOST_MONOTONIC_RAW)

struct doca_clock {
	struct doca_dev *dev;
	struct dpumap_nic_clock *nic; /* NULL if the device has no clock */
};

static doca_error_t check_no_clock(const char *function, const struct doca_devinfo *devinfo,
				   const char *what)
{
	if (!devinfo)
		return dpumap_fail_null(function);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: %s is not supported",
				dpumap_hca_name(devinfo->hca), what);
}

doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, devinfo, &caps);

	if (result != DOCA_SUCCESS || caps.clock_khz)
		return result;
	return check_no_clock(__func__, devinfo, "the free-running clock");
}

doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo)
{
	return check_no_clock(__func__, devinfo, "the real-time clock of the NIC");
}

doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo)
{
	return check_no_clock(__func__, devinfo, "the timer of the DPA");
}

doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock)
{
	struct doca_clock *created;
	doca_error_t result = DOCA_SUCCESS;

	if (!dev || !clock)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a clock");
	if (dpumap_device_caps(dev->device)->clock_khz)
		result = dpumap_nic_clock_create(dev->device, &created->nic);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	/* The interface takes a const device, and counts its users. */
	created->dev = (struct doca_dev *)dev;
	dpumap_dev_add_user(created->dev);
	*clock = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!clock)
		return dpumap_fail_null(__func__);
	if (clock->nic)
		result = dpumap_nic_clock_destroy(clock->nic);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_dev_remove_user(clock->dev);
	free(clock);
	return DOCA_SUCCESS;
}

static doca_error_t check_kind(const char *function, uint64_t kind, uint64_t allowed)
{
	if (kind && !(kind & (kind - 1)) && kind & allowed)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: 0x%" PRIx64 " is not one type of clock%s",
			   function, kind, allowed == NIC_KINDS ? " of the NIC" : "");
}

/* The errors that the interface documents. */
static doca_error_t nic_error(doca_error_t error)
{
	if (error == DOCA_ERROR_NOT_PERMITTED)
		return DOCA_ERROR_OPERATING_SYSTEM;
	return error == DOCA_SUCCESS || error == DOCA_ERROR_NOT_SUPPORTED ? error
									  : DOCA_ERROR_DRIVER;
}

/* Whether a read of this type is possible, and will be short. */
static doca_error_t prepare(const struct doca_clock *clock, uint64_t kind)
{
	if (kind & HOST_KINDS)
		return DOCA_SUCCESS;
	if (kind == DOCA_CLOCK_NIC_FREE_RUNNING && clock->nic)
		return nic_error(dpumap_nic_clock_prepare(clock->nic));
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: clock type 0x%" PRIx64 " is not supported: see "
			   "doca_clock_cap_nic_free_running_is_supported()",
			   dpumap_hca_name(clock->dev->info.hca), kind);
}

static doca_error_t read_clock(const struct doca_clock *clock, uint64_t kind, uint64_t *value)
{
	if (kind & HOST_KINDS)
		return dpumap_host_clock_read(kind, value);
	return nic_error(dpumap_nic_clock_read(clock->nic, value));
}

static union doca_clock_timespec_t to_timestamp(uint64_t kind, uint64_t value)
{
	union doca_clock_timespec_t out = {.counter = 0};

	if (kind == DOCA_CLOCK_HOST_COUNTER_CYCLES) {
		out.counter = value;
	} else {
		out.ts.tv_sec = (time_t)(value / NSEC_PER_SEC);
		out.ts.tv_nsec = (long)(value % NSEC_PER_SEC);
	}
	return out;
}

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
				      union doca_clock_timespec_t *timestamp)
{
	doca_error_t result;
	uint64_t value;

	if (!clock || !timestamp)
		return dpumap_fail_null(__func__);
	result = check_kind(__func__, clock_type, HOST_KINDS | NIC_KINDS);
	if (result == DOCA_SUCCESS)
		result = prepare(clock, clock_type);
	if (result == DOCA_SUCCESS)
		result = read_clock(clock, clock_type, &value);
	if (result == DOCA_SUCCESS)
		*timestamp = to_timestamp(clock_type, value);
	return result;
}

/* The primary clock before and after the clock of the NIC. */
struct readings {
	uint64_t before, nic, after;
};

static doca_error_t read_around(const struct doca_clock *clock, uint64_t primary_type,
				uint64_t nic_type, struct readings *r)
{
	doca_error_t result = prepare(clock, primary_type);

	if (result == DOCA_SUCCESS)
		result = prepare(clock, nic_type);
	if (result == DOCA_SUCCESS)
		result = read_clock(clock, primary_type, &r->before);
	if (result == DOCA_SUCCESS)
		result = read_clock(clock, nic_type, &r->nic);
	if (result == DOCA_SUCCESS)
		result = read_clock(clock, primary_type, &r->after);
	if (result == DOCA_SUCCESS && r->after < r->before)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "%s: the primary clock was set back during the call: call again",
				   dpumap_hca_name(clock->dev->info.hca));
	return result;
}

doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_type,
					   uint64_t nic_type, union doca_clock_timespec_t *primary,
					   union doca_clock_timespec_t *nic,
					   uint64_t *error_margin_nsecs)
{
	struct readings r = {0};
	doca_error_t result;

	if (!clock || !primary || !nic || !error_margin_nsecs)
		return dpumap_fail_null(__func__);
	result = check_kind(__func__, primary_type, HOST_KINDS | NIC_KINDS);
	if (result == DOCA_SUCCESS)
		result = check_kind(__func__, nic_type, NIC_KINDS);
	if (result == DOCA_SUCCESS)
		result = read_around(clock, primary_type, nic_type, &r);
	if (result != DOCA_SUCCESS)
		return result;
	*primary = to_timestamp(primary_type, r.before + (r.after - r.before) / 2);
	*nic = to_timestamp(nic_type, r.nic);
	*error_margin_nsecs = (r.after - r.before + 1) / 2;
	return DOCA_SUCCESS;
}
