/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/nic_clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/clock_register.h"
#include "device/device_priv.h"
#include "device/errno.h"
#include "device/port.h"
#include "device/queue/qp.h"
#include "log/log.h"

#define DEPTH	   2u	 /* one request is in flight; a completion may come twice */
#define TIMEOUT_MS 2000u /* more than the retries of a queue pair take */

/* cq and qp are NULL before they are needed. The lock guards all but device. */
struct dpumap_nic_clock {
	const struct dpumap_device *device;
	pthread_mutex_t lock;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	uint64_t number; /* of the last work request */
	bool failed;	 /* a work request of the past may still complete */
};

doca_error_t dpumap_nic_clock_create(const struct dpumap_device *device,
				     struct dpumap_nic_clock **clock)
{
	struct dpumap_nic_clock *created = calloc(1, sizeof(*created));

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a clock");
	if (pthread_mutex_init(&created->lock, NULL)) {
		free(created);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for the lock of a clock");
	}
	created->device = device;
	*clock = created;
	return DOCA_SUCCESS;
}

static doca_error_t fail_destroy(const struct dpumap_nic_clock *clock, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying the %s of a clock failed: %s",
			   dpumap_hca_name(clock->device->hca), what, strerror(err));
}

static doca_error_t destroy_queue(struct dpumap_nic_clock *clock)
{
	struct ibv_context *context = clock->device->context;
	int err;

	if (clock->qp) {
		err = dpumap_errno_of_end(context, ibv_destroy_qp(clock->qp));
		if (err)
			return fail_destroy(clock, "queue pair", err);
		clock->qp = NULL;
	}
	if (clock->cq) {
		err = dpumap_errno_of_end(context, ibv_destroy_cq(ibv_cq_ex_to_cq(clock->cq)));
		if (err)
			return fail_destroy(clock, "completion queue", err);
		clock->cq = NULL;
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_nic_clock_destroy(struct dpumap_nic_clock *clock)
{
	doca_error_t result = destroy_queue(clock);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_destroy(&clock->lock);
	free(clock);
	return DOCA_SUCCESS;
}

/* NOT_SUPPORTED: the card stamps completions with its real-time clock only. */
static doca_error_t fail_create(const struct dpumap_nic_clock *clock, const char *what, int err)
{
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED),
		"%s: creating a %s with time stamps failed: %s",
		dpumap_hca_name(clock->device->hca), what, strerror(err));
}

static doca_error_t create_cq(struct dpumap_nic_clock *clock)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = DEPTH,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};

	clock->cq = ibv_create_cq_ex(clock->device->context, &attr);
	return clock->cq ? DOCA_SUCCESS : fail_create(clock, "completion queue", errno);
}

static doca_error_t create_qp(struct dpumap_nic_clock *clock)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = ibv_cq_ex_to_cq(clock->cq),
		.recv_cq = ibv_cq_ex_to_cq(clock->cq),
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
	};

	clock->qp = ibv_create_qp(clock->device->pd, &attr);
	return clock->qp ? DOCA_SUCCESS : fail_create(clock, "queue pair", errno);
}

static doca_error_t connect_qp(struct dpumap_nic_clock *clock)
{
	struct ibv_port_attr port;
	doca_error_t result = dpumap_port_query_active(clock->device, &port);

	if (result == DOCA_SUCCESS)
		result = dpumap_qp_connect_to_self(clock->device, clock->qp, &port);
	return result;
}

static doca_error_t create_queue(struct dpumap_nic_clock *clock)
{
	doca_error_t result = create_cq(clock);

	if (result == DOCA_SUCCESS)
		result = create_qp(clock);
	if (result == DOCA_SUCCESS)
		result = connect_qp(clock);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	/* What cannot be destroyed now is destroyed with the clock. */
	if (destroy_queue(clock) != DOCA_SUCCESS)
		clock->failed = true;
	return result;
}

/* A write of no bytes, which needs no memory and no key. */
static doca_error_t post(struct dpumap_nic_clock *clock)
{
	struct ibv_send_wr wr = {
		.wr_id = ++clock->number,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	int err = ibv_post_send(clock->qp, &wr, &bad);

	if (!err)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: posting a work request for a time stamp: %s",
			   dpumap_hca_name(clock->device->hca), strerror(err));
}

/* Wait until ibv_start_poll() has a completion, which ibv_end_poll() ends. */
static doca_error_t wait_for_completion(const struct dpumap_nic_clock *clock)
{
	struct ibv_poll_cq_attr attr = {.comp_mask = 0};
	uint64_t end = monotonic_ms() + TIMEOUT_MS;
	int err = ibv_start_poll(clock->cq, &attr);

	while (err == ENOENT && monotonic_ms() < end)
		err = ibv_start_poll(clock->cq, &attr);
	if (!err)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: no completion with a time stamp: %s",
			   dpumap_hca_name(clock->device->hca),
			   err == ENOENT ? "the device does not answer" : strerror(err));
}

/* The time stamp of an earlier request would be a wrong time. */
static doca_error_t check_completion(const struct dpumap_nic_clock *clock)
{
	const char *name = dpumap_hca_name(clock->device->hca);

	if (clock->cq->status != IBV_WC_SUCCESS)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: a work request for a time stamp failed: %s", name,
				   ibv_wc_status_str(clock->cq->status));
	if (clock->cq->wr_id != clock->number)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: a work request for a time stamp completed twice", name);
	return DOCA_SUCCESS;
}

static doca_error_t take_stamp(struct dpumap_nic_clock *clock, uint64_t *ticks)
{
	doca_error_t result = wait_for_completion(clock);

	if (result != DOCA_SUCCESS)
		return result;
	result = check_completion(clock);
	if (result == DOCA_SUCCESS)
		*ticks = ibv_wc_read_completion_ts(clock->cq);
	ibv_end_poll(clock->cq);
	return result;
}

/* A queue that has failed is replaced at the next read. */
static doca_error_t prepare_queue(struct dpumap_nic_clock *clock)
{
	doca_error_t result = DOCA_SUCCESS;

	if (clock->failed)
		result = destroy_queue(clock);
	if (result != DOCA_SUCCESS)
		return result;
	clock->failed = false;
	return clock->qp ? DOCA_SUCCESS : create_queue(clock);
}

static doca_error_t read_stamp(struct dpumap_nic_clock *clock, uint64_t *ticks)
{
	doca_error_t result = prepare_queue(clock);

	if (result != DOCA_SUCCESS)
		return result;
	result = post(clock);
	if (result == DOCA_SUCCESS)
		result = take_stamp(clock, ticks);
	clock->failed = result != DOCA_SUCCESS;
	return result;
}

doca_error_t dpumap_nic_clock_prepare(struct dpumap_nic_clock *clock)
{
	doca_error_t result;
	uint64_t ticks;

	result = dpumap_clock_register_read(clock->device->context, &ticks);
	if (result != DOCA_ERROR_NOT_SUPPORTED)
		return result;
	pthread_mutex_lock(&clock->lock);
	result = prepare_queue(clock);
	pthread_mutex_unlock(&clock->lock);
	return result;
}

doca_error_t dpumap_nic_clock_read(struct dpumap_nic_clock *clock, uint64_t *ns)
{
	doca_error_t result;
	uint64_t ticks = 0;

	result = dpumap_clock_register_read(clock->device->context, &ticks);
	if (result == DOCA_ERROR_NOT_SUPPORTED) {
		pthread_mutex_lock(&clock->lock);
		result = read_stamp(clock, &ticks);
		pthread_mutex_unlock(&clock->lock);
	}
	if (result == DOCA_SUCCESS)
		*ns = dpumap_ticks_to_ns(ticks, clock->device->caps.clock_khz);
	return result;
}
