/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/timerfd.h>

#include "core/pe/pe.h"
#include "log/log.h"

#define PAUSE_NS 1000000 /* between reads of a program that sleeps */

static bool is_wait(const struct sync_task *task)
{
	return task->kind == SYNC_WAIT_EQ || task->kind == SYNC_WAIT_NEQ;
}

static bool is_met(const struct sync_task *task, uint64_t value)
{
	return ((value & task->mask) == task->value) == (task->kind == SYNC_WAIT_EQ);
}

/* 0, 1, 2, 4 or 8 neighbouring bytes of 0xff. */
static bool is_valid_mask(uint64_t mask)
{
	while (mask && !(mask & 0xff))
		mask >>= 8;
	return !mask || mask == UINT8_MAX || mask == UINT16_MAX || mask == UINT32_MAX ||
	       mask == UINT64_MAX;
}

doca_error_t dpumap_sync_check(const struct doca_task *base)
{
	const struct sync_task *task = (const struct sync_task *)base;

	if (is_wait(task) && !is_valid_mask(task->mask))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"task %p of sync event %p: mask 0x%" PRIx64
			" is not valid: use 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff",
			(const void *)task, (void *)base->ctx, task->mask);
	if ((task->kind == SYNC_GET || task->kind == SYNC_NOTIFY_ADD) && !task->out)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "task %p of sync event %p: the pointer for the value is NULL",
				   (const void *)task, (void *)base->ctx);
	return DOCA_SUCCESS;
}

static void finish(struct doca_sync_event *event, struct sync_task *task, doca_error_t status)
{
	task->base.status = status;
	dpumap_task_list_append(&event->done, &task->base);
}

/* --- get, set and add ------------------------------------------------------------------------- */

static void run_by_cpu(struct doca_sync_event *event, struct sync_task *task)
{
	if (task->kind == SYNC_GET)
		task->op.value = dpumap_sync_load(event);
	else if (task->kind == SYNC_NOTIFY_SET)
		__atomic_store_n(event->cell, task->value, __ATOMIC_SEQ_CST);
	else
		task->op.value = __atomic_fetch_add(event->cell, task->value, __ATOMIC_SEQ_CST);
	finish(event, task, DOCA_SUCCESS);
}

static enum dpumap_counter_kind kind_of(const struct sync_task *task)
{
	switch (task->kind) {
	case SYNC_NOTIFY_SET:
		return DPUMAP_COUNTER_WRITE;
	case SYNC_NOTIFY_ADD:
		return DPUMAP_COUNTER_ADD;
	default:
		return DPUMAP_COUNTER_READ;
	}
}

/* False: the queue is full. */
static bool post(struct doca_sync_event *event, struct sync_task *task)
{
	doca_error_t result = dpumap_counter_post(event->counter, &task->op);

	if (result == DOCA_ERROR_AGAIN)
		return false;
	if (result == DOCA_SUCCESS)
		dpumap_task_list_append(&event->posted, &task->base);
	else
		finish(event, task, result);
	return true;
}

/* Tasks are posted in the order in which they were submitted. */
static void run_by_device(struct doca_sync_event *event, struct sync_task *task)
{
	task->op = (struct dpumap_counter_op){.kind = kind_of(task), .value = task->value};
	if (event->unposted.first || !post(event, task))
		dpumap_task_list_append(&event->unposted, &task->base);
}

static void poll_device(struct doca_sync_event *event)
{
	struct sync_task *task;

	dpumap_counter_poll(event->counter);
	while ((task = dpumap_sync_task_of(event->posted.first)) && !task->op.is_posted) {
		dpumap_task_list_take(&event->posted);
		finish(event, task, task->op.status);
	}
	while ((task = dpumap_sync_task_of(event->unposted.first))) {
		struct doca_task *next = task->base.next;

		if (!post(event, task))
			break;
		event->unposted.first = next;
	}
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Finish the waits whose condition is met, or all waits with an error. */
static void finish_met(struct doca_sync_event *event, struct task_list *list, uint64_t value,
		       doca_error_t status)
{
	struct task_list all = *list;
	struct sync_task *task;

	*list = (struct task_list){0};
	while ((task = dpumap_sync_task_of(dpumap_task_list_take(&all)))) {
		if (status != DOCA_SUCCESS || is_met(task, value))
			finish(event, task, status);
		else
			dpumap_task_list_append(list, &task->base);
	}
}

static void move_all(struct task_list *to, struct task_list *from)
{
	struct doca_task *task;

	while ((task = dpumap_task_list_take(from)))
		dpumap_task_list_append(to, task);
}

static void end_read(struct doca_sync_event *event)
{
	if (event->read.is_posted)
		return;
	finish_met(event, &event->read_waits, event->read.value, event->read.status);
	move_all(&event->waits, &event->read_waits);
}

/* A read counts only for waits that began before it: the value may have been read earlier. */
static void begin_read(struct doca_sync_event *event)
{
	doca_error_t result;

	if (event->read.is_posted || !event->waits.first)
		return;
	event->read = (struct dpumap_counter_op){.kind = DPUMAP_COUNTER_READ};
	result = dpumap_counter_post(event->counter, &event->read);
	if (result == DOCA_SUCCESS)
		move_all(&event->read_waits, &event->waits);
	else if (result != DOCA_ERROR_AGAIN)
		finish_met(event, &event->waits, 0, result);
}

static void poll_waits(struct doca_sync_event *event)
{
	if (event->cell)
		finish_met(event, &event->waits, dpumap_sync_load(event), DOCA_SUCCESS);
	else
		end_read(event);
}

static void set_timer(struct doca_sync_event *event, long nsec)
{
	struct itimerspec spec = {.it_value.tv_nsec = nsec};

	event->timer_is_set = nsec;
	timerfd_settime(event->timer, 0, &spec, NULL);
}

void dpumap_sync_begin_stop(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);

	finish_met(event, &event->read_waits, 0, DOCA_ERROR_SHUTDOWN);
	finish_met(event, &event->waits, 0, DOCA_ERROR_SHUTDOWN);
	if (event->done.first)
		dpumap_pe_wake(ctx->pe);
}

/* --- operations of the context ---------------------------------------------------------------- */

doca_error_t dpumap_sync_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_sync_event *event = dpumap_sync_of(base->ctx);
	struct sync_task *task = (struct sync_task *)base;
	doca_error_t result = dpumap_sync_check(base);

	(void)flags;
	if (result != DOCA_SUCCESS)
		return dpumap_task_refuse(base, result);
	if (is_wait(task))
		dpumap_task_list_append(&event->waits, &task->base);
	else if (event->counter)
		run_by_device(event, task);
	else
		run_by_cpu(event, task);
	dpumap_pe_wake(base->ctx->pe);
	return DOCA_SUCCESS;
}

static void poll_event(struct doca_sync_event *event)
{
	if (event->counter)
		poll_device(event);
	if (event->waits.first || event->read_waits.first)
		poll_waits(event);
}

struct doca_task *dpumap_sync_poll(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);

	if (event->timer_is_set)
		set_timer(event, 0);
	poll_event(event);
	if (!event->cell)
		begin_read(event);
	return dpumap_task_list_take(&event->done);
}

/* Nothing reports that the counter has changed, so a program that sleeps reads it from time to time. */
doca_error_t dpumap_sync_arm(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);

	if (event->waits.first || event->read_waits.first)
		set_timer(event, PAUSE_NS);
	if (event->posted.first || event->unposted.first)
		return dpumap_counter_arm(event->counter);
	return DOCA_SUCCESS;
}

/* Whether a task is finished. */
bool dpumap_sync_is_ready(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);

	poll_event(event);
	return event->done.first;
}
