/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "comch/connection/ready.h"
#include "log/log.h"

#define OUTPUT_SIZE ((size_t)64 << 10)
#define OUTPUT_MAX  ((size_t)1 << 20)

doca_error_t dpumap_comch_output_create(struct comch_output *output)
{
	*output = (struct comch_output){.size = OUTPUT_SIZE, .bytes = malloc(OUTPUT_SIZE)};
	return output->bytes ? DOCA_SUCCESS
			     : dpumap_fail(DOCA_ERROR_NO_MEMORY,
					   "no memory for the output of a connection");
}

void dpumap_comch_output_destroy(struct comch_output *output)
{
	if (output->bytes)
		explicit_bzero(output->bytes, output->size);
	free(output->bytes);
	*output = (struct comch_output){.is_broken = true};
}

/* --- the buffer ------------------------------------------------------------------------------- */

static bool has_room(struct comch_output *out, size_t size)
{
	if (out->size - out->start - out->len >= size)
		return true;
	if (out->size - out->len < size)
		return false;
	memmove(out->bytes, out->bytes + out->start, out->len);
	out->start = 0;
	return true;
}

static bool grow(struct comch_output *out)
{
	uint8_t *bytes;

	if (out->size >= OUTPUT_MAX)
		return false;
	bytes = malloc(out->size * 2);
	if (!bytes)
		return false;
	memcpy(bytes + out->start, out->bytes + out->start, out->len);
	explicit_bzero(out->bytes, out->size);
	free(out->bytes);
	out->bytes = bytes;
	out->size *= 2;
	return true;
}

static void append(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	struct comch_output *out = &c->out;
	struct comch_frame sent = *frame;
	size_t size;

	sent.credits = (uint16_t)c->in.credits_to_return;
	c->in.credits_to_return = 0;
	size = dpumap_comch_encode(&sent, out->bytes + out->start + out->len);
	out->len += size;
	out->queued += size;
}

doca_error_t dpumap_comch_output_frame(struct doca_comch_connection *c,
				       const struct comch_frame *frame)
{
	struct comch_output *out = &c->out;
	const char *peer;

	if (out->is_broken || out->has_bye)
		return DOCA_ERROR_NOT_CONNECTED;
	while (!has_room(out, COMCH_MAX_FRAME))
		if (!grow(out)) {
			peer = dpumap_comch_link_peer(c->link);
			dpumap_comch_output_abort(c, DOCA_ERROR_CONNECTION_RESET);
			return dpumap_fail_from(
				peer, DOCA_ERROR_NOT_CONNECTED,
				"connection %p: %s does not read; it is disconnected", (void *)c,
				peer);
		}
	append(c, frame);
	return DOCA_SUCCESS;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void finish(struct doca_comch_connection *c, struct doca_comch_task_send *task,
		   doca_error_t status)
{
	task->base.status = status;
	dpumap_task_list_append(&c->done, &task->base);
	dpumap_comch_ready_add(c);
}

/* False: the peer or the socket does not accept it now. Half of the buffer is for other frames. */
static bool put_message(struct doca_comch_connection *c, struct doca_comch_task_send *task,
			const void *bytes)
{
	struct comch_frame frame = {.type = COMCH_MESSAGE};
	size_t size = dpumap_comch_frame_size(task->len);

	if (!c->out.credits || c->out.len + size > OUTPUT_SIZE / 2 || !has_room(&c->out, size + 8))
		return false;
	frame.message.bytes = bytes;
	frame.message.len = task->len;
	append(c, &frame);
	c->out.credits--;
	task->end = c->out.queued;
	dpumap_task_list_append(&c->writing, &task->base);
	return true;
}

void dpumap_comch_output_message(struct doca_comch_connection *c, struct doca_comch_task_send *task)
{
	if (comch_conn_state(c) != COMCH_CONN_UP || c->out.is_broken || c->is_hidden) {
		finish(c, task, DOCA_ERROR_NOT_CONNECTED);
		return;
	}
	c->counters.sent_messages++;
	c->counters.sent_bytes += task->len;
	if (!c->waiting.first && put_message(c, task, task->msg)) {
		dpumap_comch_output_flush(c);
		return;
	}
	if (!c->waiting.first)
		c->stalled = monotonic_coarse_ms();
	memcpy(task->copy, task->msg, task->len);
	dpumap_task_list_append(&c->waiting, &task->base);
}

static bool put_waiting(struct doca_comch_connection *c)
{
	bool is_any = false;

	while (c->waiting.first && !c->out.is_broken) {
		struct doca_comch_task_send *task = comch_task_of(c->waiting.first);
		struct doca_task *next = task->base.next;

		if (!put_message(c, task, task->copy))
			break;
		explicit_bzero(task->copy, task->len);
		c->waiting.first = next;
		is_any = true;
	}
	if (is_any)
		c->stalled = monotonic_coarse_ms();
	return is_any;
}

static void finish_written(struct doca_comch_connection *c)
{
	struct doca_comch_task_send *task;

	while ((task = comch_task_of(c->writing.first)) && task->end <= c->out.written) {
		dpumap_task_list_take(&c->writing);
		finish(c, task, DOCA_SUCCESS);
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

void dpumap_comch_output_abort(struct doca_comch_connection *c, doca_error_t status)
{
	struct doca_comch_task_send *task;

	c->out.is_broken = true;
	c->out.len = 0;
	while ((task = comch_task_of(dpumap_task_list_take(&c->writing))))
		finish(c, task, status);
	while ((task = comch_task_of(dpumap_task_list_take(&c->waiting)))) {
		explicit_bzero(task->copy, task->len);
		finish(c, task, status);
	}
	if (c->link)
		dpumap_comch_link_want_write(c->link, false);
}

static void write_some(struct doca_comch_connection *c)
{
	struct comch_output *out = &c->out;
	doca_error_t result = DOCA_SUCCESS;
	size_t done;

	while (out->len && result == DOCA_SUCCESS) {
		result = dpumap_comch_link_write(c->link, out->bytes + out->start, out->len, &done);
		if (result != DOCA_SUCCESS)
			break;
		out->start += done;
		out->len -= done;
		out->written += done;
		if (comch_conn_state(c) == COMCH_CONN_CLOSING)
			c->deadline = monotonic_coarse_ms() + COMCH_FLUSH_MS;
	}
	if (!out->len)
		out->start = 0;
	/* What the peer sent before it ended is still to be read. */
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		dpumap_comch_output_abort(c, DOCA_ERROR_CONNECTION_RESET);
}

static void say_bye(struct doca_comch_connection *c)
{
	static const struct comch_frame bye = {.type = COMCH_BYE};

	if (comch_conn_state(c) != COMCH_CONN_CLOSING || c->waiting.first || c->out.has_bye)
		return;
	if (dpumap_comch_output_frame(c, &bye) == DOCA_SUCCESS)
		c->out.has_bye = true;
}

void dpumap_comch_output_flush(struct doca_comch_connection *c)
{
	do {
		say_bye(c);
		write_some(c);
		finish_written(c);
	} while (put_waiting(c) || (!c->out.has_bye && !c->out.is_broken && !c->waiting.first &&
				    comch_conn_state(c) == COMCH_CONN_CLOSING));
	if (!c->out.is_broken)
		dpumap_comch_link_want_write(c->link, c->out.len);
	if (c->out.has_bye && !c->out.len && !c->out.is_shut) {
		c->out.is_shut = true;
		c->deadline = monotonic_coarse_ms() + COMCH_BYE_TIMEOUT_MS;
		dpumap_comch_link_shutdown(c->link);
	}
}

void dpumap_comch_output_credits(struct doca_comch_connection *c)
{
	static const struct comch_frame credit = {.type = COMCH_CREDIT};

	if (c->in.credits_to_return * 4 < c->own.window || comch_conn_state(c) != COMCH_CONN_UP)
		return;
	if (dpumap_comch_output_frame(c, &credit) == DOCA_SUCCESS)
		dpumap_comch_output_flush(c);
}
