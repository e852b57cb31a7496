/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stream by a producer and a consumer, each with an engine of its own. Tasks are allocated once,
 * and submitted again and again.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "control.h"
#include "device.h"
#include "stats.h"
#include "stream.h"

#define PATIENCE 10 /* seconds */

struct fast {
	struct control control;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_comch_producer *producer;
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	struct doca_buf *bufs[STREAM_MAX_SLOTS];
	struct doca_task *tasks[STREAM_MAX_SLOTS];
	uint32_t posted;
	int done; /* in this call of reap() */
	bool failed;
};

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct fast *)ctx_data.ptr)->done++;
}

static void on_send_error(struct doca_comch_producer_task_send *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct fast *)ctx_data.ptr)->failed = true;
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
			union doca_data ctx_data)
{
	(void)task_data;
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	((struct fast *)ctx_data.ptr)->done++;
}

static void on_receive_error(struct doca_comch_consumer_task_post_recv *task,
			     union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct fast *)ctx_data.ptr)->failed = true;
}

static bool make_producer(struct fast *f, const struct stream *stream)
{
	doca_error_t result = doca_comch_producer_create(f->control.connection, &f->producer);

	if (result == DOCA_SUCCESS)
		f->ctx = doca_comch_producer_as_ctx(f->producer);
	DOCA_ERROR_PROPAGATE(
		result, doca_comch_producer_task_send_set_conf(f->producer, on_sent, on_send_error,
							       (uint32_t)stream->slots));
	return bench_is_ok(result, "a producer");
}

static bool make_consumer(struct fast *f, const struct stream *stream)
{
	doca_error_t result =
		doca_comch_consumer_create(f->control.connection, f->map, &f->consumer);

	if (result == DOCA_SUCCESS)
		f->ctx = doca_comch_consumer_as_ctx(f->consumer);
	DOCA_ERROR_PROPAGATE(result, doca_comch_consumer_task_post_recv_set_conf(
					     f->consumer, on_received, on_receive_error,
					     (uint32_t)stream->slots));
	return bench_is_ok(result, "a consumer");
}

static bool start(struct fast *f)
{
	doca_error_t result;

	if (!bench_is_ok(doca_ctx_set_user_data(f->ctx, (union doca_data){.ptr = f}), "data") ||
	    !bench_is_ok(doca_pe_create(&f->pe), "an engine") ||
	    !bench_is_ok(doca_pe_connect_ctx(f->pe, f->ctx), "an engine"))
		return false;
	result = doca_ctx_start(f->ctx);
	return bench_is_ok(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "starting") &&
	       control_await(f->pe, &f->control, f->ctx, DOCA_CTX_STATE_RUNNING);
}

static bool find_consumer(struct control *c)
{
	double end = bench_now() + PATIENCE;

	while (!c->consumer_id && bench_now() < end)
		doca_pe_progress(c->pe);
	return c->consumer_id || bench_is_ok(DOCA_ERROR_TIME_OUT, "the consumer");
}

static doca_error_t make_send(struct fast *f, size_t i)
{
	struct doca_comch_producer_task_send *task;
	doca_error_t result = doca_comch_producer_task_send_alloc_init(
		f->producer, f->bufs[i], NULL, 0, f->control.consumer_id, &task);

	if (result == DOCA_SUCCESS)
		f->tasks[i] = doca_comch_producer_task_send_as_task(task);
	return result;
}

static doca_error_t make_receive(struct fast *f, size_t i)
{
	struct doca_comch_consumer_task_post_recv *task;
	doca_error_t result =
		doca_comch_consumer_task_post_recv_alloc_init(f->consumer, f->bufs[i], &task);

	if (result == DOCA_SUCCESS)
		f->tasks[i] = doca_comch_consumer_task_post_recv_as_task(task);
	return result;
}

static bool make_tasks(struct fast *f, const struct stream *stream)
{
	if (!bench_is_ok(doca_buf_inventory_create(stream->slots, &f->inventory), "bufs") ||
	    !bench_is_ok(doca_buf_inventory_start(f->inventory), "bufs"))
		return false;
	for (size_t i = 0; i < stream->slots; i++) {
		uint8_t *at = stream->memory + i * stream->stride;
		doca_error_t result =
			stream->is_sender
				? doca_buf_inventory_buf_get_by_data(f->inventory, f->map, at,
								     stream->len, &f->bufs[i])
				: doca_buf_inventory_buf_get_by_addr(f->inventory, f->map, at,
								     stream->len, &f->bufs[i]);

		DOCA_ERROR_PROPAGATE(result,
				     stream->is_sender ? make_send(f, i) : make_receive(f, i));
		if (!bench_is_ok(result, "a task"))
			return false;
	}
	return true;
}

static bool open_comch(struct stream *stream)
{
	struct fast *f = calloc(1, sizeof(*f));

	stream->own = f;
	if (!f || !control_open(&f->control, stream->duo, !stream->is_sender, "bench stream"))
		return false;
	f->map = bench_map(f->control.dev, stream->memory, STREAM_MEMORY,
			   DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	return f->map &&
	       (stream->is_sender ? make_producer(f, stream) : make_consumer(f, stream)) &&
	       start(f) && (!stream->is_sender || find_consumer(&f->control)) &&
	       make_tasks(f, stream) && duo_meet(stream->duo);
}

static void stop(struct fast *f)
{
	for (size_t i = 0; i < STREAM_MAX_SLOTS; i++)
		if (f->tasks[i])
			doca_task_free(f->tasks[i]);
	if (f->ctx && doca_ctx_stop(f->ctx) == DOCA_ERROR_IN_PROGRESS)
		control_await(f->pe, &f->control, f->ctx, DOCA_CTX_STATE_IDLE);
	if (f->producer)
		bench_is_ok(doca_comch_producer_destroy(f->producer), "destroying the producer");
	if (f->consumer)
		bench_is_ok(doca_comch_consumer_destroy(f->consumer), "destroying the consumer");
	if (f->pe)
		bench_is_ok(doca_pe_destroy(f->pe), "destroying the engine");
}

static void close_comch(struct stream *stream)
{
	struct fast *f = stream->own;

	if (!f)
		return;
	stop(f);
	for (size_t i = 0; i < STREAM_MAX_SLOTS; i++)
		if (f->bufs[i])
			doca_buf_dec_refcount(f->bufs[i], NULL);
	if (f->inventory)
		bench_is_ok(doca_buf_inventory_destroy(f->inventory), "destroying the bufs");
	if (f->map)
		bench_is_ok(doca_mmap_destroy(f->map), "destroying the map");
	control_close(&f->control);
	free(f);
}

static bool post(struct stream *stream, size_t n)
{
	struct fast *f = stream->own;

	for (; n; n--) {
		struct doca_task *task = f->tasks[f->posted++ & (stream->slots - 1)];

		if (doca_task_submit_ex(task, n > 1 ? DOCA_TASK_SUBMIT_FLAG_NONE
						    : DOCA_TASK_SUBMIT_FLAG_FLUSH) != DOCA_SUCCESS)
			return false;
	}
	return true;
}

static int reap(struct stream *stream, size_t max)
{
	struct fast *f = stream->own;

	f->done = 0;
	while ((size_t)f->done < max && doca_pe_progress(f->pe))
		;
	return f->failed ? -1 : f->done;
}

static bool arm(struct doca_pe *pe, struct pollfd *event)
{
	event->events = POLLIN;
	while (doca_pe_progress(pe))
		;
	return doca_pe_get_notification_handle(pe, &event->fd) == DOCA_SUCCESS &&
	       doca_pe_request_notification(pe) == DOCA_SUCCESS;
}

long stream_comch_wait(struct stream *stream, double seconds)
{
	struct fast *f = stream->own;
	double end = bench_now() + seconds, left;
	long wakeups = 0;

	while ((left = end - bench_now()) > 0) {
		struct pollfd events[2];
		int n;

		if (!arm(f->pe, &events[0]) || !arm(f->control.pe, &events[1]))
			return -1;
		n = poll(events, 2, (int)(left * 1000) + 1);
		if (n < 0 || doca_pe_clear_notification(f->pe, events[0].fd) != DOCA_SUCCESS ||
		    doca_pe_clear_notification(f->control.pe, events[1].fd) != DOCA_SUCCESS)
			return -1;
		wakeups += n;
	}
	return wakeups;
}

const struct stream_kind stream_comch = {"doca_comch", open_comch, close_comch, post, reap};
