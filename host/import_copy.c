/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "import_copy.h"

#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "interrupt.h"
#include "local/clock.h"
#include "transport.h"

#define POLL_BATCH 16

/* Busy polling suits short copies; during long ones, the processor is yielded. */
#define SPIN_POLLS  200
#define YIELD_POLLS 2000
#define NAP_NS	    20000

struct copy {
	struct import *import;
	struct import_piece next;
	size_t len;
	size_t posted;
	size_t done;
	unsigned int inflight;
	unsigned int idle; /* consecutive polls without a completion */
	uint64_t deadline;
	doca_error_t status; /* of the first copy that failed */
};

static doca_error_t failed(const struct copy *c, doca_error_t why, struct dpumap_fault *fault)
{
	const char *guess = "";

	if (why == DOCA_ERROR_NOT_PERMITTED)
		guess = ": the export was revoked, or does not permit it";
	else if (why == DOCA_ERROR_CONNECTION_ABORTED)
		guess = ": the DPU does not respond, or the export was revoked";
	else if (why == DOCA_ERROR_SHUTDOWN || why == DOCA_ERROR_NOT_CONNECTED)
		/* its request to disconnect came first, and flushed the copy or preceded it */
		guess = ": the DPU ended the connection, or the export was revoked";
	dpumap_fault_doca(fault, why, "copy between this host and %s failed%s", c->import->name,
			  guess);
	/* Any cause is reported as a failed transfer. */
	fault->code = DOCA_ERROR_IO_FAILED;
	return fault->code;
}

static void push_deadline(struct copy *c)
{
	c->deadline = dpumap_clock_ns() + c->import->timeout_ns;
	c->idle = 0;
}

static doca_error_t post(struct copy *c)
{
	struct import *import = c->import;
	doca_error_t result;
	size_t len;

	while (c->posted < c->len && c->inflight < IMPORT_QUEUE_DEPTH &&
	       c->status == DOCA_SUCCESS) {
		len = c->len - c->posted;
		if (len > import->max_request)
			len = import->max_request;
		c->next.len = len;
		result = import->transport->post(import, &c->next);
		if (result == DOCA_ERROR_AGAIN)
			return DOCA_SUCCESS;
		if (result != DOCA_SUCCESS)
			return result;
		c->next.local_addr += len;
		c->next.remote_addr += len;
		c->posted += len;
		c->inflight++;
	}
	return DOCA_SUCCESS;
}

static void take(struct copy *c, const struct dpumap_dma_completion *completion)
{
	c->inflight--;
	c->done += completion->user_data.u64;
	/* Requests after the failed one complete with SHUTDOWN: keep the first status. */
	if (c->status == DOCA_SUCCESS)
		c->status = completion->status;
}

static doca_error_t wait_a_little(struct copy *c, struct dpumap_fault *fault)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	if (interrupt_signal)
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	c->idle++;
	if (c->idle < SPIN_POLLS)
		return DOCA_SUCCESS;
	if (dpumap_clock_ns() > c->deadline)
		return dpumap_fault_set(
			fault, DOCA_ERROR_TIME_OUT,
			"copy between this host and %s timed out: no completion within %" PRIu64
			" s (--timeout)",
			c->import->name, c->import->timeout_ns / DPUMAP_NSEC_PER_SEC);
	if (c->idle < YIELD_POLLS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
	return DOCA_SUCCESS;
}

static doca_error_t poll_once(struct copy *c, struct dpumap_fault *fault)
{
	struct dpumap_dma_completion completions[POLL_BATCH];
	doca_error_t result;
	uint32_t n = 0;

	result = c->import->transport->poll(c->import, completions, POLL_BATCH, &n);
	if (result != DOCA_SUCCESS)
		return failed(c, result, fault);
	if (n == 0)
		return wait_a_little(c, fault);
	for (uint32_t i = 0; i < n; i++)
		take(c, &completions[i]);
	push_deadline(c);
	return DOCA_SUCCESS;
}

static doca_error_t run(struct copy *c, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	push_deadline(c);
	while (result == DOCA_SUCCESS && c->done < c->len && c->status == DOCA_SUCCESS) {
		result = post(c);
		if (result != DOCA_SUCCESS)
			return failed(c, result, fault);
		result = poll_once(c, fault);
	}
	if (result == DOCA_SUCCESS && c->status != DOCA_SUCCESS)
		return failed(c, c->status, fault);
	return result;
}

doca_error_t import_copy(struct import *import, enum import_direction direction, unsigned int which,
			 uint64_t offset, size_t len, struct dpumap_fault *fault)
{
	struct import_buffer *buffer = &import->buffers[which];
	struct copy c = {.import = import, .len = len, .status = DOCA_SUCCESS};
	uint64_t began = dpumap_clock_ns();
	doca_error_t result;

	c.next = (struct import_piece){.direction = direction,
				       .local = buffer->map,
				       .local_addr = buffer->memory,
				       .remote_addr = import->base + offset};
	result = run(&c, fault);
	import->copy_ns += dpumap_clock_ns() - began;
	return result;
}
