/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One copy between a buffer and the export, as requests that keep the queue full until the end. */
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "common/clock.h"
#include "import.h"
#include "interrupt.h"
#include "way.h"

#define POLL_BATCH 16

/* A busy wait finds a short copy's end at once; a long one may have the processor. */
#define SPIN_POLLS  200
#define YIELD_POLLS 2000
#define NAP_NS	    20000

struct burst {
	struct import *import;
	struct import_piece next;
	size_t len;
	size_t posted;
	size_t done;
	unsigned int inflight;
	unsigned int idle; /* polls in a row that found nothing */
	uint64_t deadline;
	doca_error_t status; /* of the first copy that failed */
};

static doca_error_t failed(const struct burst *b, doca_error_t why, struct dpumap_fault *fault)
{
	const char *guess = "";

	if (why == DOCA_ERROR_NOT_PERMITTED)
		guess = ": the export has ended or does not allow it";
	else if (why == DOCA_ERROR_CONNECTION_ABORTED)
		guess = ": the other side does not answer, or the export has ended";
	dpumap_fault_doca(fault, why, "copying between this host and %s failed%s", b->import->name,
			  guess);
	/* Whatever the reason, what the caller has is a failed transfer. */
	fault->code = DOCA_ERROR_IO_FAILED;
	return fault->code;
}

static void push_deadline(struct burst *b)
{
	b->deadline = dpumap_clock_ns() + b->import->timeout_ns;
	b->idle = 0;
}

static doca_error_t post(struct burst *b)
{
	struct import *import = b->import;
	doca_error_t result;
	size_t len;

	while (b->posted < b->len && b->inflight < IMPORT_QUEUE_DEPTH &&
	       b->status == DOCA_SUCCESS) {
		len = b->len - b->posted;
		if (len > import->max_request)
			len = import->max_request;
		b->next.len = len;
		result = import->way->post(import, &b->next);
		if (result == DOCA_ERROR_AGAIN)
			return DOCA_SUCCESS;
		if (result != DOCA_SUCCESS)
			return result;
		b->next.local_addr += len;
		b->next.remote_addr += len;
		b->posted += len;
		b->inflight++;
	}
	return DOCA_SUCCESS;
}

static void take(struct burst *b, const struct dpumap_dma_completion *completion)
{
	b->inflight--;
	b->done += completion->user_data.u64;
	/* Those behind the one that failed only say SHUTDOWN. */
	if (b->status == DOCA_SUCCESS)
		b->status = completion->status;
}

static doca_error_t wait_a_little(struct burst *b, struct dpumap_fault *fault)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	if (interrupt_signal)
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	b->idle++;
	if (b->idle < SPIN_POLLS)
		return DOCA_SUCCESS;
	if (dpumap_clock_ns() > b->deadline)
		return dpumap_fault_set(fault, DOCA_ERROR_TIME_OUT,
					"copying between this host and %s: no copy has ended for "
					"%" PRIu64 " s",
					b->import->name,
					b->import->timeout_ns / DPUMAP_NSEC_PER_SEC);
	if (b->idle < YIELD_POLLS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
	return DOCA_SUCCESS;
}

static doca_error_t poll_once(struct burst *b, struct dpumap_fault *fault)
{
	struct dpumap_dma_completion completions[POLL_BATCH];
	doca_error_t result;
	uint32_t n = 0;

	result = b->import->way->poll(b->import, completions, POLL_BATCH, &n);
	if (result != DOCA_SUCCESS)
		return failed(b, result, fault);
	if (n == 0)
		return wait_a_little(b, fault);
	for (uint32_t i = 0; i < n; i++)
		take(b, &completions[i]);
	push_deadline(b);
	return DOCA_SUCCESS;
}

static doca_error_t run(struct burst *b, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	push_deadline(b);
	while (result == DOCA_SUCCESS && b->done < b->len && b->status == DOCA_SUCCESS) {
		result = post(b);
		if (result != DOCA_SUCCESS)
			return failed(b, result, fault);
		result = poll_once(b, fault);
	}
	if (result == DOCA_SUCCESS && b->status != DOCA_SUCCESS)
		return failed(b, b->status, fault);
	return result;
}

doca_error_t import_copy(struct import *import, enum import_direction direction, unsigned int which,
			 uint64_t offset, size_t len, struct dpumap_fault *fault)
{
	struct import_buffer *buffer = &import->buffers[which];
	struct burst b = {.import = import, .len = len, .status = DOCA_SUCCESS};
	uint64_t began = dpumap_clock_ns();
	doca_error_t result;

	b.next = (struct import_piece){.direction = direction,
				       .local = buffer->map,
				       .local_addr = buffer->memory,
				       .remote_addr = import->base + offset};
	result = run(&b, fault);
	import->copy_ns += dpumap_clock_ns() - began;
	return result;
}
