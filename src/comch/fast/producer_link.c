/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/producer_link.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/pe/pe.h"
#include "device/queue/details.h"
#include "log/log.h"

static void lock(const struct doca_comch_producer *producer)
{
	dpumap_comch_conn_lock(producer->endpoint.connection);
}

static void unlock(const struct doca_comch_producer *producer)
{
	dpumap_comch_conn_unlock(producer->endpoint.connection);
}

/* --- frames: any thread, with the lock -------------------------------------------------------- */

static struct doca_comch_producer *producer_of(const struct comch_endpoint *endpoint)
{
	return dpumap_comch_producer_of(endpoint->ctx);
}

static struct producer_link *find_link(const struct doca_comch_producer *producer,
				       uint32_t consumer_id)
{
	struct producer_link *link = producer->links;

	while (link && link->consumer_id != consumer_id)
		link = link->next;
	return link;
}

static void wake(struct doca_comch_producer *producer)
{
	if (producer->is_open)
		dpumap_pe_wake(producer->ctx.pe);
}

static void report_event(struct doca_comch_producer *producer)
{
	atomic_store(&producer->has_link_events, true);
	wake(producer);
}

static doca_error_t connect_link(struct producer_link *link, const struct comch_path *path)
{
	struct dpumap_qp_info peer;
	doca_error_t result = dpumap_rdma_details_decode(path->info, path->info_len, &peer);

	return result == DOCA_SUCCESS ? dpumap_mq_send_connect(link->send, &peer) : result;
}

static void set_up(struct doca_comch_producer *producer, struct producer_link *link)
{
	struct doca_task *task;

	while ((task = dpumap_task_list_take(&link->waiting)))
		(void)dpumap_comch_link_post(producer, link, (void *)task, 0); /* there is room */
	dpumap_mq_send_flush(link->send);
	atomic_store_explicit(&link->state, LINK_UP, memory_order_release);
}

static void take_answer(struct doca_comch_producer *producer, const struct comch_frame *frame)
{
	struct producer_link *link = find_link(producer, frame->path.consumer_id);

	/* The peer answers each request in order; only the last one matters. */
	if (!link || !link->answers || --link->answers || atomic_load(&link->state) != LINK_OPENING)
		return;
	if (frame->type == COMCH_PATH_UP && connect_link(link, &frame->path) == DOCA_SUCCESS) {
		set_up(producer, link);
		wake(producer);
		return;
	}
	dpumap_log_from(COMCH_PEERS, DPUMAP_LOG_WARNING, DOCA_SUCCESS,
			"comch producer %" PRIu32 ": no path to consumer %" PRIu32
			": it stopped, or the connection's other side refused it",
			producer->endpoint.id, link->consumer_id);
	atomic_store(&link->state, LINK_FAILED);
	report_event(producer);
}

static void on_frame(struct comch_endpoint *endpoint, const struct comch_frame *frame)
{
	if (frame->type == COMCH_PATH_UP || frame->type == COMCH_PATH_DOWN)
		take_answer(producer_of(endpoint), frame);
}

static void on_consumer_gone(struct comch_endpoint *endpoint, uint32_t consumer_id)
{
	struct doca_comch_producer *producer = producer_of(endpoint);
	struct producer_link *link = find_link(producer, consumer_id);

	if (!link || atomic_load(&link->state) == LINK_CLOSED)
		return;
	atomic_store(&link->is_gone, true);
	report_event(producer);
}

static void on_down(struct comch_endpoint *endpoint)
{
	struct doca_comch_producer *producer = producer_of(endpoint);

	atomic_store(&producer->is_down, true);
	report_event(producer);
}

const struct comch_endpoint_ops dpumap_comch_producer_endpoint_ops = {
	.on_frame = on_frame,
	.on_consumer_gone = on_consumer_gone,
	.on_down = on_down,
};

/* --- opening ---------------------------------------------------------------------------------- */

static doca_error_t refuse_consumer(const struct doca_comch_producer *producer,
				    uint32_t consumer_id)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "comch producer %" PRIu32 ": the peer has no running consumer %" PRIu32,
			   producer->endpoint.id, consumer_id);
}

static doca_error_t find_consumer(const struct doca_comch_producer *producer, uint32_t consumer_id,
				  struct comch_consumer_info *info)
{
	const struct comch_consumer_info *found;

	lock(producer);
	found = dpumap_comch_conn_find_consumer(producer->endpoint.connection, consumer_id);
	if (found)
		*info = *found;
	unlock(producer);
	if (!found || info->imm_len > COMCH_MAX_IMM)
		return refuse_consumer(producer, consumer_id);
	return DOCA_SUCCESS;
}

static bool is_reusable(const struct producer_link *link)
{
	return atomic_load(&link->state) == LINK_CLOSED && !link->answers && !link->send;
}

/* The link of that consumer, of none any more, or a new one: there is one link for each consumer. */
static struct producer_link *take_link(struct doca_comch_producer *producer, uint32_t consumer_id)
{
	struct producer_link *link = find_link(producer, consumer_id);

	for (struct producer_link *l = producer->links; l && !link; l = l->next)
		if (is_reusable(l))
			link = l;
	if (!link) {
		link = calloc(1, sizeof(*link));
		if (!link)
			return NULL;
		link->next = producer->links;
		producer->links = link;
	}
	link->consumer_id = consumer_id;
	return link;
}

static doca_error_t create_send(struct doca_comch_producer *producer, struct producer_link *link)
{
	struct dpumap_mq_attr attr = {
		.depth = producer->pool.num_tasks,
		.header_len = dpumap_comch_header_len(link->imm_len),
		.events = producer->events,
		.vector = producer->ctx.vector,
	};
	doca_error_t result = link->send ? dpumap_mq_send_destroy(link->send) : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_mq_send_create(producer->ctx.dev->device, &attr, &link->send);
	if (result != DOCA_SUCCESS)
		link->send = NULL;
	return result;
}

/* Ask the peer for a path. */
static doca_error_t ask(struct doca_comch_producer *producer, struct producer_link *link)
{
	struct comch_frame frame = {
		.type = COMCH_PATH_OPEN,
		.path = {.producer_id = producer->endpoint.id,
			 .consumer_id = link->consumer_id,
			 .info_len = RDMA_DETAILS_SIZE},
	};
	struct dpumap_qp_info info;
	doca_error_t result;

	dpumap_mq_send_describe(link->send, &info);
	dpumap_rdma_details_encode(&info, frame.path.info);
	lock(producer);
	result = dpumap_comch_conn_send(producer->endpoint.connection, &frame);
	if (result == DOCA_SUCCESS) {
		link->answers++;
		atomic_store(&link->is_gone, false);
		atomic_store(&link->state, LINK_OPENING);
	}
	unlock(producer);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result,
				   "comch producer %" PRIu32 ": no path to consumer %" PRIu32
				   ": the connection ended",
				   producer->endpoint.id, link->consumer_id);
	return DOCA_SUCCESS;
}

/* Open a link that is closed, with the tasks that wait for it. On failure they wait still. */
static doca_error_t open_link(struct doca_comch_producer *producer, struct producer_link *link,
			      const struct comch_consumer_info *info)
{
	doca_error_t result;

	link->imm_len = info->imm_len;
	link->max_len =
		info->max_buf_size < COMCH_MAX_BUF ? (uint32_t)info->max_buf_size : COMCH_MAX_BUF;
	result = create_send(producer, link);
	if (result == DOCA_SUCCESS)
		result = ask(producer, link);
	return result;
}

static doca_error_t open_new(struct doca_comch_producer *producer, uint32_t consumer_id,
			     struct producer_link **link)
{
	struct comch_consumer_info info;
	struct producer_link *taken;
	doca_error_t result = find_consumer(producer, consumer_id, &info);

	if (result != DOCA_SUCCESS)
		return result;
	lock(producer);
	taken = take_link(producer, consumer_id);
	unlock(producer);
	if (!taken)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for a link of a comch producer");
	result = open_link(producer, taken, &info);
	if (result == DOCA_SUCCESS)
		*link = taken;
	return result;
}

doca_error_t dpumap_comch_link_get(struct doca_comch_producer *producer, uint32_t consumer_id,
				   struct producer_link **link)
{
	struct producer_link *found;

	if (doca_unlikely(atomic_load(&producer->has_link_events)))
		dpumap_comch_link_handle_events(producer);
	found = find_link(producer, consumer_id);
	if (!found || atomic_load(&found->state) == LINK_CLOSED)
		return open_new(producer, consumer_id, link);
	if (atomic_load(&found->is_gone))
		return refuse_consumer(producer, consumer_id);
	*link = found;
	return DOCA_SUCCESS;
}

bool dpumap_comch_link_submit(struct doca_comch_producer *producer, struct producer_link *link,
			      struct doca_comch_producer_task_send *task)
{
	enum link_state state;

	lock(producer);
	state = atomic_load(&link->state);
	/* If it failed, the tasks that wait will fail. */
	if (state == LINK_OPENING || state == LINK_FAILED)
		dpumap_task_list_append(&link->waiting, &task->base);
	unlock(producer);
	if (state == LINK_FAILED)
		atomic_store(&producer->has_link_events, true);
	if (state == LINK_UP && dpumap_comch_link_post(producer, link, task, 0)) {
		dpumap_mq_send_flush(link->send);
		return true;
	}
	return state == LINK_OPENING || state == LINK_FAILED;
}

/* --- closing ---------------------------------------------------------------------------------- */

static void finish_all(struct doca_comch_producer *producer, struct task_list *list,
		       doca_error_t status)
{
	struct doca_task *task;

	while ((task = dpumap_task_list_take(list))) {
		task->status = status;
		dpumap_task_list_append(&producer->finished, task);
	}
}

/* Tell the peer, and take the tasks that wait. */
static void detach(struct doca_comch_producer *producer, struct producer_link *link,
		   struct task_list *waiting)
{
	struct comch_frame frame = {
		.type = COMCH_PATH_CLOSE,
		.path = {.producer_id = producer->endpoint.id, .consumer_id = link->consumer_id},
	};

	lock(producer);
	if (!atomic_load(&link->is_gone))
		(void)dpumap_comch_conn_send(producer->endpoint.connection, &frame);
	if (atomic_load(&link->state) != LINK_UP)
		atomic_store(&link->state, LINK_CLOSED);
	*waiting = link->waiting;
	link->waiting = (struct task_list){0};
	unlock(producer);
}

/*
 * Stop a queue that is up. What has succeeded is finished; *rest gets the others in order. False: the
 * device failed, and nothing has changed.
 */
static bool drain(struct doca_comch_producer *producer, struct producer_link *link,
		  struct task_list *rest)
{
	struct dpumap_mq_sent sent;
	struct doca_comch_producer_task_send *task;

	if (dpumap_mq_send_stop(link->send) != DOCA_SUCCESS)
		return false;
	while (dpumap_mq_send_poll(link->send, &sent)) {
		task = sent.cookie;
		task->base.status = sent.status;
		dpumap_task_list_append(sent.status == DOCA_SUCCESS ? &producer->finished : rest,
					&task->base);
	}
	if (producer->unflushed == link)
		producer->unflushed = NULL;
	atomic_store(&link->state, LINK_CLOSED);
	return true;
}

static void destroy_send(struct producer_link *link)
{
	if (link->send && dpumap_mq_send_destroy(link->send) == DOCA_SUCCESS)
		link->send = NULL;
}

/* Close a link that is not closed; its tasks end with that status. */
static bool close_link(struct doca_comch_producer *producer, struct producer_link *link,
		       doca_error_t status)
{
	struct task_list waiting, rest = {0};

	detach(producer, link, &waiting);
	finish_all(producer, &waiting, status);
	if (dpumap_comch_link_is_up(link)) {
		if (!drain(producer, link, &rest))
			return false;
		finish_all(producer, &rest, status);
	}
	destroy_send(link); /* or the next start does */
	return true;
}

static bool is_lost(const struct doca_comch_producer *producer, const struct producer_link *link)
{
	return atomic_load(&link->is_gone) || atomic_load(&producer->is_down);
}

/*
 * The consumer may have got messages whose answers are still on their way. The device knows: it
 * completes them, and the others with an error after its retries.
 */
static bool is_draining(const struct doca_comch_producer *producer,
			const struct producer_link *link)
{
	return dpumap_comch_link_is_up(link) && is_lost(producer, link) &&
	       dpumap_mq_send_inflight(link->send);
}

bool dpumap_comch_link_is_any_draining(const struct doca_comch_producer *producer)
{
	const struct producer_link *link = producer->links;

	while (link && !is_draining(producer, link))
		link = link->next;
	return link;
}

void dpumap_comch_link_handle_events(struct doca_comch_producer *producer)
{
	bool failed = false;

	atomic_store(&producer->has_link_events, false);
	for (struct producer_link *link = producer->links; link; link = link->next) {
		enum link_state state = atomic_load(&link->state);

		if (state == LINK_FAILED || (state != LINK_CLOSED && is_lost(producer, link) &&
					     !is_draining(producer, link)))
			failed |= !close_link(producer, link, DOCA_ERROR_NOT_CONNECTED);
	}
	if (failed)
		atomic_store(&producer->has_link_events, true);
}

bool dpumap_comch_link_close_all(struct doca_comch_producer *producer)
{
	doca_error_t status =
		atomic_load(&producer->is_down) ? DOCA_ERROR_NOT_CONNECTED : DOCA_ERROR_SHUTDOWN;
	bool is_closed = true;

	for (struct producer_link *link = producer->links; link; link = link->next) {
		if (atomic_load(&link->state) != LINK_CLOSED)
			is_closed &= close_link(producer, link, status);
		else
			destroy_send(link);
		is_closed &= !link->send;
	}
	return is_closed;
}

/* The words of the interface for what the device says. */
static doca_error_t status_of(doca_error_t status)
{
	switch (status) {
	case DOCA_ERROR_TOO_BIG:
		return DOCA_ERROR_INVALID_VALUE;
	case DOCA_ERROR_CONNECTION_ABORTED:
		return DOCA_ERROR_NOT_CONNECTED;
	default:
		return status;
	}
}

doca_error_t dpumap_comch_link_recover(struct doca_comch_producer *producer,
				       struct producer_link *link, doca_error_t status)
{
	struct task_list rest = {0};
	struct comch_consumer_info info;
	doca_error_t result;

	if (!drain(producer, link, &rest))
		return status_of(status);
	destroy_send(link);
	if (!rest.first)
		return status_of(status); /* the next task opens it */
	link->waiting = rest;
	result = find_consumer(producer, link->consumer_id, &info);
	if (result == DOCA_SUCCESS)
		result = open_link(producer, link, &info);
	if (result != DOCA_SUCCESS) {
		finish_all(producer, &link->waiting, DOCA_ERROR_NOT_CONNECTED);
		link->waiting = (struct task_list){0};
	}
	return status_of(status);
}
