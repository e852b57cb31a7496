/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/consumer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/pe/pe.h"
#include "device/queue/details.h"
#include "log/log.h"

_Static_assert(RDMA_DETAILS_SIZE <= COMCH_QP_INFO_MAX, "details fit into a frame");

static struct doca_comch_consumer *consumer_of(const struct comch_endpoint *endpoint)
{
	return dpumap_comch_consumer_of(endpoint->ctx);
}

static struct consumer_path **find_path(struct doca_comch_consumer *consumer, uint32_t producer_id)
{
	struct consumer_path **at = &consumer->paths;

	while (*at && (*at)->producer_id != producer_id)
		at = &(*at)->next;
	return at;
}

static doca_error_t remove_path(struct doca_comch_consumer *consumer, struct consumer_path **at)
{
	struct consumer_path *path = *at;
	doca_error_t result = dpumap_mq_responder_destroy(path->responder);

	if (result != DOCA_SUCCESS)
		return result;
	*at = path->next;
	consumer->num_paths--;
	free(path);
	return DOCA_SUCCESS;
}

static doca_error_t add_path(struct doca_comch_consumer *consumer, uint32_t producer_id,
			     const struct dpumap_qp_info *peer, struct dpumap_qp_info *own)
{
	struct consumer_path *path;
	doca_error_t result;

	if (consumer->num_paths == COMCH_MAX_PRODUCERS)
		return dpumap_fail_from(COMCH_PEERS, DOCA_ERROR_NO_MEMORY,
					"comch consumer %" PRIu32
					": the peer has more than %d producers",
					consumer->endpoint.id, COMCH_MAX_PRODUCERS);
	path = calloc(1, sizeof(*path));
	if (!path)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a path of a consumer");
	result = dpumap_mq_responder_create(consumer->recv, &path->responder);
	if (result != DOCA_SUCCESS) {
		free(path);
		return result;
	}
	path->next = consumer->paths;
	consumer->paths = path;
	consumer->num_paths++;
	result = dpumap_mq_responder_connect(path->responder, peer);
	if (result != DOCA_SUCCESS) {
		(void)remove_path(consumer, &consumer->paths); /* or it stays, without a producer */
		return result;
	}
	dpumap_mq_responder_describe(path->responder, own);
	path->producer_id = producer_id;
	return DOCA_SUCCESS;
}

/* A producer that opens its path again replaces it: an error has ended the old one. */
static doca_error_t open_path(struct doca_comch_consumer *consumer, const struct comch_path *asked,
			      struct comch_path *answer)
{
	struct consumer_path **old = find_path(consumer, asked->producer_id);
	struct dpumap_qp_info peer, own;
	doca_error_t result;

	if (!consumer->is_open)
		return DOCA_ERROR_NOT_FOUND;
	result = dpumap_rdma_details_decode(asked->info, asked->info_len, &peer);
	if (result == DOCA_SUCCESS && *old)
		result = remove_path(consumer, old);
	if (result == DOCA_SUCCESS)
		result = add_path(consumer, asked->producer_id, &peer, &own);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_rdma_details_encode(&own, answer->info);
	answer->info_len = RDMA_DETAILS_SIZE;
	return DOCA_SUCCESS;
}

static void answer_open(struct doca_comch_consumer *consumer, const struct comch_path *asked)
{
	struct comch_frame answer = {
		.type = COMCH_PATH_UP,
		.path = {.producer_id = asked->producer_id, .consumer_id = asked->consumer_id},
	};
	doca_error_t result = open_path(consumer, asked, &answer.path);

	if (result != DOCA_SUCCESS) {
		answer.type = COMCH_PATH_DOWN;
		answer.path.code = (uint32_t)result;
	}
	(void)dpumap_comch_conn_send(consumer->endpoint.connection, &answer);
}

static void close_path(struct doca_comch_consumer *consumer, uint32_t producer_id)
{
	struct consumer_path **at = find_path(consumer, producer_id);

	if (*at)
		(void)remove_path(consumer, at);
}

static void wake(struct doca_comch_consumer *consumer)
{
	if (consumer->is_open)
		dpumap_pe_wake(consumer->ctx.pe);
}

static void take_answer(struct doca_comch_consumer *consumer, uint32_t code)
{
	atomic_store(&consumer->answer, code ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS);
	if (code)
		dpumap_log_from(COMCH_PEERS, DPUMAP_LOG_ERROR, (doca_error_t)code,
				"comch consumer %" PRIu32 ": the peer refuses it",
				consumer->endpoint.id);
	wake(consumer);
}

static void on_frame(struct comch_endpoint *endpoint, const struct comch_frame *frame)
{
	struct doca_comch_consumer *consumer = consumer_of(endpoint);

	if (frame->type == COMCH_CONSUMER_ACK)
		take_answer(consumer, frame->answer.code);
	else if (frame->type == COMCH_PATH_OPEN)
		answer_open(consumer, &frame->path);
	else if (frame->type == COMCH_PATH_CLOSE)
		close_path(consumer, frame->path.producer_id);
}

static void on_down(struct comch_endpoint *endpoint)
{
	struct doca_comch_consumer *consumer = consumer_of(endpoint);

	atomic_store(&consumer->is_down, true);
	wake(consumer);
}

const struct comch_endpoint_ops dpumap_comch_consumer_endpoint_ops = {
	.on_frame = on_frame,
	.on_down = on_down,
};

doca_error_t dpumap_comch_consumer_announce(struct doca_comch_consumer *consumer)
{
	struct doca_comch_connection *connection = consumer->endpoint.connection;
	struct comch_frame frame = {
		.type = COMCH_CONSUMER_NEW,
		.consumer = {.id = consumer->endpoint.id,
			     .num_tasks = consumer->pool.num_tasks,
			     .imm_len = consumer->imm_len,
			     .max_buf_size = COMCH_MAX_BUF},
	};
	doca_error_t result;

	dpumap_comch_conn_lock(connection);
	atomic_store(&consumer->answer, DOCA_ERROR_IN_PROGRESS);
	result = dpumap_comch_conn_send(connection, &frame);
	consumer->is_open = result == DOCA_SUCCESS;
	dpumap_comch_conn_unlock(connection);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "comch consumer %" PRIu32 " cannot start: its connection ended",
				   consumer->endpoint.id);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_consumer_withdraw(struct doca_comch_consumer *consumer)
{
	struct doca_comch_connection *connection = consumer->endpoint.connection;
	struct comch_frame frame = {
		.type = COMCH_CONSUMER_GONE,
		.answer = {.id = consumer->endpoint.id},
	};
	doca_error_t result = DOCA_SUCCESS;

	dpumap_comch_conn_lock(connection);
	if (consumer->is_open)
		(void)dpumap_comch_conn_send(connection, &frame);
	consumer->is_open = false;
	while (consumer->paths && result == DOCA_SUCCESS)
		result = remove_path(consumer, &consumer->paths);
	dpumap_comch_conn_unlock(connection);
	return result;
}
