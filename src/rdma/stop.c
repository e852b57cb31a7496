/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/pe/pe.h"
#include "device/queue/rdma_queue.h"
#include "log/log.h"
#include "rdma/connection.h"
#include "rdma/task.h"
#include "rdma/task_list.h"

/* An unreachable peer fails tasks earlier; one that does not receive never does. */
#define FINISH_TIMEOUT_S 3

/* --- the end of a connection ------------------------------------------------------------------ */

static void forget_waiting(struct doca_rdma_connection *connection)
{
	struct doca_rdma_connection **at = &connection->rdma->waiting;

	while (*at && *at != connection)
		at = &(*at)->next_waiting;
	if (*at)
		*at = connection->next_waiting;
	connection->waiting = NULL;
}

doca_error_t dpumap_rdma_end_connection(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	doca_error_t result;

	if (!connection->qp)
		return DOCA_SUCCESS;
	result = dpumap_rdma_qp_destroy(connection->qp);
	if (result != DOCA_SUCCESS)
		return result;
	connection->qp = NULL;
	forget_waiting(connection);
	/* What the device had completed comes first; it refers to the connection. */
	dpumap_rdma_take_completions(rdma);
	for (struct rdma_task *task = rdma_task_of(connection->submitted.first); task;
	     task = rdma_task_of(task->base.next)) {
		rdma_task_fail(task, DOCA_ERROR_SHUTDOWN);
		task->end = connection->completed;
	}
	rdma_connection_finish(connection);
	if (rdma->finished.first)
		dpumap_pe_wake(rdma->ctx.pe);
	return DOCA_SUCCESS;
}

/* --- the end of the context ------------------------------------------------------------------- */

static void close_timer(struct doca_rdma *rdma)
{
	if (rdma->timer < 0)
		return;
	dpumap_pe_unwatch(rdma->ctx.pe, rdma->timer);
	close(rdma->timer);
	rdma->timer = -1;
}

/* So that a program that sleeps wakes up in time. */
static bool open_timer(struct doca_rdma *rdma)
{
	const struct itimerspec spec = {.it_value = {.tv_sec = FINISH_TIMEOUT_S}};

	rdma->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (rdma->timer < 0) {
		dpumap_log(
			DPUMAP_LOG_WARNING,
			"RDMA context %p: creating a timer failed: %s; tasks are flushed at once",
			(void *)rdma, strerror(errno));
		return false;
	}
	if (timerfd_settime(rdma->timer, 0, &spec, NULL) ||
	    dpumap_pe_watch(rdma->ctx.pe, rdma->timer) != DOCA_SUCCESS) {
		close(rdma->timer);
		rdma->timer = -1;
		return false;
	}
	return true;
}

static doca_error_t end_all(struct doca_rdma *rdma)
{
	doca_error_t result = dpumap_rdma_connections_end(rdma);

	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_queue_stop(rdma->queue);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->is_flushed = true;
	close_timer(rdma);
	dpumap_rdma_take_completions(rdma);
	if (rdma->finished.first)
		dpumap_pe_wake(rdma->ctx.pe);
	return DOCA_SUCCESS;
}

void dpumap_rdma_begin_stop(struct doca_rdma *rdma)
{
	if (rdma->is_stopping)
		return;
	rdma->is_stopping = true;
	rdma->is_fast = false;
	if (!rdma->num_unended || !open_timer(rdma))
		dpumap_pe_wake(rdma->ctx.pe);
}

static bool has_timed_out(struct doca_rdma *rdma)
{
	uint64_t times;

	if (rdma->timer >= 0 && read(rdma->timer, &times, sizeof(times)) < 0)
		return false;
	close_timer(rdma);
	return true;
}

bool dpumap_rdma_is_to_end(const struct doca_rdma *rdma)
{
	return rdma->is_stopping && !rdma->is_flushed && !rdma->num_unended;
}

void dpumap_rdma_continue_stop(struct doca_rdma *rdma)
{
	if (!rdma->num_unended || has_timed_out(rdma))
		(void)end_all(rdma);
}

doca_error_t dpumap_rdma_close_queue(struct doca_rdma *rdma)
{
	doca_error_t result = rdma->is_flushed ? DOCA_SUCCESS : end_all(rdma);

	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_queue_destroy(rdma->queue);
	if (result == DOCA_SUCCESS)
		rdma->queue = NULL;
	return result;
}
