/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/import/import_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "host/base/interrupt.h"
#include "host/import/transport.h"

#define POLL_BATCH 16

/* Busy polling suits short copies; during long ones, the processor is yielded. */
#define SPIN_POLLS  10
#define YIELD_POLLS 2000
#define SLEEP_NS    20000
/* Without spinning: some megabytes are copied meanwhile. */
#define LONG_SLEEP_NS 200000
/* A signal may arrive just before poll(): check the flag periodically. */
#define IDLE_MS 100

/* The tag of a copy: its length and its direction. */
#define TAG_GET ((uint64_t)1 << 63)

static doca_error_t failed(const struct import *import, doca_error_t why,
			   struct dpumap_error *error)
{
	const char *guess = "";

	if (why == DOCA_ERROR_NOT_PERMITTED)
		guess = ": the export was revoked, or does not permit it";
	else if (why == DOCA_ERROR_CONNECTION_ABORTED)
		guess = ": the DPU does not respond, or the export was revoked";
	else if (why == DOCA_ERROR_SHUTDOWN || why == DOCA_ERROR_NOT_CONNECTED)
		/* its request to disconnect came first, and flushed the copy or preceded it */
		guess = ": the DPU ended the connection, or the export was revoked";
	dpumap_error_doca(error, why, "copy between this host and %s failed%s", import->name,
			  guess);
	/* Any cause is reported as a failed transfer. */
	error->code = DOCA_ERROR_IO_FAILED;
	return error->code;
}

doca_error_t import_post(struct import *import, struct import_piece *piece,
			 struct dpumap_error *error)
{
	struct import_queue *q = &import->queue;
	doca_error_t result;

	if (q->inflight == IMPORT_QUEUE_DEPTH)
		return DOCA_ERROR_AGAIN;
	piece->tag.u64 = piece->len | (piece->direction == IMPORT_GET ? TAG_GET : 0);
	result = import->transport->post(import, piece);
	if (result == DOCA_ERROR_AGAIN)
		return result;
	if (result != DOCA_SUCCESS)
		return failed(import, result, error);
	if (q->inflight++ == 0) {
		q->busy_since = monotonic_ns();
		q->deadline = q->busy_since + import->timeout_ns;
		q->idle = 0;
	}
	return DOCA_SUCCESS;
}

static void note_progress(struct import *import)
{
	struct import_queue *q = &import->queue;
	uint64_t now = monotonic_ns();

	q->deadline = now + import->timeout_ns;
	q->idle = 0;
	if (q->inflight == 0)
		q->busy_ns += now - q->busy_since;
}

doca_error_t import_poll(struct import *import, uint64_t done[static IMPORT_DIRECTIONS],
			 struct dpumap_error *error)
{
	struct dpumap_dma_completion completions[POLL_BATCH];
	doca_error_t result;
	uint32_t n = 0;

	if (import->queue.inflight == 0)
		return DOCA_SUCCESS;
	result = import->transport->poll(import, completions, POLL_BATCH, &n);
	/* Requests after the failed one complete with SHUTDOWN: the first status counts. */
	for (uint32_t i = 0; i < n && result == DOCA_SUCCESS; i++) {
		uint64_t tag = completions[i].user_data.u64;

		result = completions[i].status;
		done[tag & TAG_GET ? IMPORT_GET : IMPORT_PUT] += tag & ~TAG_GET;
	}
	if (result != DOCA_SUCCESS)
		return failed(import, result, error);
	import->queue.inflight -= n;
	if (n > 0)
		note_progress(import);
	return DOCA_SUCCESS;
}

static doca_error_t sleep_on(struct pollfd *fds, nfds_t num_fds, const struct timespec *limit,
			     struct dpumap_error *error)
{
	if (ppoll(fds, num_fds, limit, NULL) < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for the copy");
	return DOCA_SUCCESS;
}

doca_error_t import_wait(struct import *import, bool spin, struct pollfd *fds, nfds_t num_fds,
			 struct dpumap_error *error)
{
	const struct timespec time = {.tv_nsec = spin ? SLEEP_NS : LONG_SLEEP_NS};
	const struct timespec idle = {.tv_nsec = IDLE_MS * (long)NSEC_PER_MSEC};
	struct import_queue *q = &import->queue;

	if (interrupt_signal)
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
	if (q->inflight == 0)
		return sleep_on(fds, num_fds, &idle, error);
	q->idle++;
	if (spin && q->idle < SPIN_POLLS)
		return DOCA_SUCCESS;
	if (monotonic_ns() > q->deadline)
		return dpumap_error_set(
			error, DOCA_ERROR_TIME_OUT,
			"copy between this host and %s timed out: no completion within %" PRIu64
			" s (--timeout)",
			import->name, import->timeout_ns / NSEC_PER_SEC);
	if (!spin || q->idle >= YIELD_POLLS)
		return sleep_on(fds, num_fds, &time, error);
	sched_yield();
	return DOCA_SUCCESS;
}
