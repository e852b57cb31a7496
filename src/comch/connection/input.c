/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "comch/connection/output.h"
#include "comch/connection/ready.h"
#include "comch/connection/state.h"
#include "log/log.h"

#define INPUT_SIZE ((size_t)64 << 10)
#define MAX_READS  16 /* at a time, so that other connections have their turn */

doca_error_t dpumap_comch_input_create(struct comch_input *input)
{
	*input = (struct comch_input){.bytes = malloc(INPUT_SIZE)};
	return input->bytes ? DOCA_SUCCESS
			    : dpumap_fail(DOCA_ERROR_NO_MEMORY,
					  "no memory for the input of a connection");
}

void dpumap_comch_input_destroy(struct comch_input *input)
{
	if (input->bytes)
		explicit_bzero(input->bytes, INPUT_SIZE); /* messages often hold descriptors */
	free(input->bytes);
	*input = (struct comch_input){0};
}

static void break_off(struct doca_comch_connection *c, const char *why)
{
	const char *peer = dpumap_comch_link_peer(c->link);

	dpumap_log_from(peer, DPUMAP_LOG_ERROR, DOCA_ERROR_BAD_STATE,
			"connection %p: invalid data from %s (%s); it is disconnected", (void *)c,
			peer, why);
	dpumap_comch_conn_down(c);
}

/* --- consumers of the peer -------------------------------------------------------------------- */

static void add_note(struct doca_comch_connection *c, struct comch_note *note, uint32_t id,
		     bool is_expired)
{
	*note = (struct comch_note){.after = c->in.received, .id = id, .is_expired = is_expired};
	if (c->first_note)
		c->last_note->next = note;
	else
		c->first_note = note;
	c->last_note = note;
	dpumap_comch_ready_add(c);
}

static struct comch_remote *find_remote(struct doca_comch_connection *c, uint32_t id)
{
	for (size_t i = 0; i < COMCH_MAX_CONSUMERS; i++)
		if (c->remotes[i].is_alive && c->remotes[i].info.id == id)
			return &c->remotes[i];
	return NULL;
}

static doca_error_t add_remote(struct doca_comch_connection *c,
			       const struct comch_consumer_info *info)
{
	for (size_t i = 0; i < COMCH_MAX_CONSUMERS; i++) {
		struct comch_remote *remote = &c->remotes[i];

		if (remote->is_used)
			continue;
		*remote = (struct comch_remote){.info = *info, .is_used = true, .is_alive = true};
		add_note(c, &remote->added, info->id, false);
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NO_MEMORY;
}

static const char *take_consumer_new(struct doca_comch_connection *c,
				     const struct comch_frame *frame)
{
	struct comch_frame ack = {.type = COMCH_CONSUMER_ACK};

	if (find_remote(c, frame->consumer.id))
		return "the id of a consumer is in use already";
	ack.answer.id = frame->consumer.id;
	ack.answer.code = (uint32_t)add_remote(c, &frame->consumer);
	(void)dpumap_comch_output_frame(c, &ack);
	return NULL;
}

static void expire(struct doca_comch_connection *c, struct comch_remote *remote)
{
	remote->is_alive = false;
	add_note(c, &remote->expired, remote->info.id, true);
	for (struct comch_endpoint *endpoint = c->endpoints; endpoint; endpoint = endpoint->next)
		if (endpoint->is_producer)
			endpoint->ops->on_consumer_gone(endpoint, remote->info.id);
}

static const char *take_consumer_gone(struct doca_comch_connection *c,
				      const struct comch_frame *frame)
{
	struct comch_remote *remote = find_remote(c, frame->answer.id);

	/* The peer withdraws one that had no place here, too. */
	if (remote)
		expire(c, remote);
	return NULL;
}

/* --- endpoints of this side ------------------------------------------------------------------- */

static void pass_on(struct doca_comch_connection *c, bool is_producer, uint32_t id,
		    const struct comch_frame *frame)
{
	struct comch_endpoint *endpoint = c->endpoints;

	while (endpoint && (endpoint->is_producer != is_producer || endpoint->id != id))
		endpoint = endpoint->next;
	if (endpoint)
		endpoint->ops->on_frame(endpoint, frame);
}

/* A consumer that is gone: the producer learns it from CONSUMER_GONE. */
static const char *take_path(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	bool to_producer = frame->type == COMCH_PATH_UP || frame->type == COMCH_PATH_DOWN;

	pass_on(c, to_producer, to_producer ? frame->path.producer_id : frame->path.consumer_id,
		frame);
	return NULL;
}

/* --- frames ----------------------------------------------------------------------------------- */

static const char *take_message(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	if (c->is_hidden || comch_conn_state(c) != COMCH_CONN_UP)
		return NULL;
	if (!dpumap_comch_inbox_put(&c->inbox, frame->message.bytes, frame->message.len))
		return frame->message.len > c->inbox.max_message ? "a message is too long"
								 : "too many messages";
	c->in.received++;
	dpumap_comch_ready_add(c);
	return NULL;
}

static const char *take_credits(struct doca_comch_connection *c, uint32_t credits)
{
	c->out.credits += credits;
	if (c->out.credits > c->peer.window)
		return "too many credits";
	return NULL;
}

static const char *take_session_frame(struct doca_comch_connection *c,
				      const struct comch_frame *frame)
{
	const char *why = take_credits(c, frame->credits);

	if (why)
		return why;
	switch (frame->type) {
	case COMCH_MESSAGE:
		return take_message(c, frame);
	case COMCH_CREDIT:
		return NULL;
	case COMCH_BYE:
		dpumap_comch_conn_down(c);
		return NULL;
	case COMCH_CONSUMER_NEW:
		return take_consumer_new(c, frame);
	case COMCH_CONSUMER_GONE:
		return take_consumer_gone(c, frame);
	case COMCH_CONSUMER_ACK:
		pass_on(c, false, frame->answer.id, frame);
		return NULL;
	case COMCH_PATH_OPEN:
	case COMCH_PATH_UP:
	case COMCH_PATH_DOWN:
	case COMCH_PATH_CLOSE:
		return take_path(c, frame);
	default:
		return "a frame of another state";
	}
}

static doca_error_t establish(struct doca_comch_connection *c, const struct comch_limits *peer)
{
	c->peer = *peer;
	c->max_message =
		peer->max_message < c->own.max_message ? peer->max_message : c->own.max_message;
	c->out.credits = peer->window;
	return dpumap_comch_inbox_create(&c->inbox, c->own.window, c->max_message);
}

static void refuse(struct doca_comch_connection *c, doca_error_t code)
{
	struct comch_frame frame = {.type = COMCH_REFUSE, .code = (uint32_t)code};

	(void)dpumap_comch_output_frame(c, &frame);
	dpumap_comch_conn_down(c);
}

static const char *take_hello(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	struct comch_frame welcome = {.type = COMCH_WELCOME, .limits = c->own};
	doca_error_t result;

	if (!c->is_server || frame->type != COMCH_HELLO || frame->credits)
		return "a frame of another state";
	result = c->owner->admit(c, &frame->hello);
	if (result == DOCA_SUCCESS)
		result = establish(c, &frame->hello.limits);
	if (result != DOCA_SUCCESS) {
		refuse(c, result);
		return NULL;
	}
	(void)dpumap_comch_output_frame(c, &welcome);
	c->is_new = true;
	atomic_store(&c->state, COMCH_CONN_UP);
	dpumap_comch_ready_add(c);
	return NULL;
}

static const char *take_welcome(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	if (frame->credits || (frame->type != COMCH_WELCOME && frame->type != COMCH_REFUSE))
		return "a frame of another state";
	if (frame->type == COMCH_REFUSE) {
		c->refusal = dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
					 "the server refuses the client: %s",
					 doca_error_get_name((doca_error_t)frame->code));
		dpumap_comch_conn_down(c);
		return NULL;
	}
	if (establish(c, &frame->limits) != DOCA_SUCCESS) {
		dpumap_comch_conn_down(c);
		return NULL;
	}
	atomic_store(&c->state, COMCH_CONN_UP);
	dpumap_comch_ready_add(c);
	return NULL;
}

static const char *take_frame(struct doca_comch_connection *c, const struct comch_frame *frame)
{
	if (comch_conn_state(c) != COMCH_CONN_GREETING)
		return take_session_frame(c, frame);
	return c->is_server ? take_hello(c, frame) : take_welcome(c, frame);
}

static void take_frames(struct doca_comch_connection *c)
{
	size_t at = 0, size;
	struct comch_frame frame;
	const char *why = NULL;
	doca_error_t result;

	while (comch_conn_state(c) != COMCH_CONN_DOWN) {
		result = dpumap_comch_decode(c->in.bytes + at, c->in.len - at, &frame, &size, &why);
		if (result == DOCA_ERROR_AGAIN)
			break;
		if (result == DOCA_SUCCESS)
			why = take_frame(c, &frame);
		if (why) {
			break_off(c, why);
			return;
		}
		at += size;
	}
	if (comch_conn_state(c) == COMCH_CONN_DOWN)
		return;
	c->in.len -= at;
	memmove(c->in.bytes, c->in.bytes + at, c->in.len);
}

bool dpumap_comch_input_read(struct doca_comch_connection *c)
{
	bool is_any = false, is_short = false;
	doca_error_t result;
	size_t done;

	/* What the descriptor does not show must be read now. */
	for (int i = 0; (i < MAX_READS && !is_short) || dpumap_comch_link_has_more(c->link); i++) {
		if (comch_conn_state(c) == COMCH_CONN_DOWN)
			return is_any;
		result = dpumap_comch_link_read(c->link, c->in.bytes + c->in.len,
						INPUT_SIZE - c->in.len, &done);
		if (result == DOCA_ERROR_AGAIN)
			break;
		is_any = true;
		if (result != DOCA_SUCCESS) {
			dpumap_comch_conn_down(c);
			return true;
		}
		is_short = done < INPUT_SIZE - c->in.len;
		c->in.len += done;
		take_frames(c);
	}
	/* Answers. */
	if (is_any && comch_conn_state(c) != COMCH_CONN_DOWN)
		dpumap_comch_output_flush(c);
	return is_any;
}
