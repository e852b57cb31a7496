/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/comch.h>

#include "base/clock.h"
#include "comch/connection/connection_priv.h"
#include "comch/connection/input.h"
#include "comch/connection/output.h"
#include "comch/connection/ready.h"
#include "comch/connection/state.h"
#include "log/log.h"

/* --- life ------------------------------------------------------------------------------------- */

static struct doca_comch_connection *allocate(void)
{
	struct doca_comch_connection *c = calloc(1, sizeof(*c));

	if (c && pthread_mutex_init(&c->lock, NULL)) {
		free(c);
		return NULL;
	}
	return c;
}

/* Reset a connection to which there are no other references. False: its memory has been freed. */
static bool reset(struct doca_comch_connection *c)
{
	pthread_mutex_destroy(&c->lock);
	memset(c, 0, sizeof(*c));
	if (!pthread_mutex_init(&c->lock, NULL))
		return true;
	free(c);
	return false;
}

static void free_buffers(struct doca_comch_connection *c)
{
	dpumap_comch_link_close(c->link);
	c->link = NULL;
	dpumap_comch_input_destroy(&c->in);
	dpumap_comch_output_destroy(&c->out);
	dpumap_comch_inbox_destroy(&c->inbox);
}

doca_error_t dpumap_comch_conn_open(struct comch_owner *owner, struct dpumap_comch_link *link,
				    const struct comch_limits *own,
				    struct doca_comch_connection *recycled,
				    struct doca_comch_connection **connection)
{
	struct doca_comch_connection *c = recycled ? recycled : allocate();
	doca_error_t result;

	if (!c || (recycled && !reset(c))) {
		dpumap_comch_link_close(link);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	}
	atomic_init(&c->refs, 1);
	atomic_init(&c->state, COMCH_CONN_GREETING);
	c->owner = owner;
	c->dev = owner->ctx->dev;
	c->is_server = owner->is_server;
	c->link = link;
	snprintf(c->identity, sizeof(c->identity), "%s", dpumap_comch_link_peer(link));
	c->own = *own;
	c->deadline = monotonic_coarse_ms() + COMCH_GREETING_MS;
	result = dpumap_comch_input_create(&c->in);
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_output_create(&c->out);
	if (result != DOCA_SUCCESS) {
		free_buffers(c);
		atomic_store(&c->state, COMCH_CONN_DOWN);
		dpumap_comch_conn_put(c);
		return result;
	}
	*connection = c;
	return DOCA_SUCCESS;
}

void dpumap_comch_conn_get(struct doca_comch_connection *c)
{
	atomic_fetch_add(&c->refs, 1);
}

void dpumap_comch_conn_put(struct doca_comch_connection *c)
{
	if (atomic_fetch_sub(&c->refs, 1) > 1)
		return;
	free_buffers(c);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void dpumap_comch_conn_retire(struct doca_comch_connection *c)
{
	dpumap_comch_conn_lock(c);
	dpumap_comch_conn_down(c);
	c->owner = NULL;
	/* Endpoints still watch its descriptor. */
	if (!c->endpoints)
		free_buffers(c);
	dpumap_comch_conn_unlock(c);
}

void dpumap_comch_conn_lock(struct doca_comch_connection *c)
{
	pthread_mutex_lock(&c->lock);
}

void dpumap_comch_conn_unlock(struct doca_comch_connection *c)
{
	pthread_mutex_unlock(&c->lock);
}

/* --- endpoints -------------------------------------------------------------------------------- */

static bool is_id_in_use(const struct doca_comch_connection *c, const struct comch_endpoint *added,
			 uint32_t id)
{
	const struct comch_endpoint *e = c->endpoints;

	while (e && (e->is_producer != added->is_producer || e->id != id))
		e = e->next;
	return e;
}

/* Ids are used again as late as possible. */
static uint32_t next_id(const struct doca_comch_connection *c, const struct comch_endpoint *added,
			uint32_t last)
{
	uint32_t id = last;

	do
		id = id + 1 < COMCH_ID_LIMIT ? id + 1 : 1;
	while (is_id_in_use(c, added, id));
	return id;
}

static doca_error_t add(struct doca_comch_connection *c, struct comch_endpoint *endpoint)
{
	uint32_t *num = endpoint->is_producer ? &c->num_producers : &c->num_consumers;
	uint32_t *last = endpoint->is_producer ? &c->last_producer : &c->last_consumer;

	if (comch_conn_state(c) != COMCH_CONN_UP || c->is_hidden)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "connection %p is not established",
				   (void *)c);
	if (*num >= COMCH_MAX_ENDPOINTS)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "connection %p has %d %s, the maximum; destroy one first",
				   (void *)c, COMCH_MAX_ENDPOINTS,
				   endpoint->is_producer ? "producers" : "consumers");
	endpoint->id = *last = next_id(c, endpoint, *last);
	endpoint->connection = c;
	endpoint->next = c->endpoints;
	c->endpoints = endpoint;
	++*num;
	dpumap_comch_conn_get(c);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_conn_add(struct doca_comch_connection *c, struct comch_endpoint *endpoint)
{
	doca_error_t result;

	dpumap_comch_conn_lock(c);
	result = add(c, endpoint);
	dpumap_comch_conn_unlock(c);
	return result;
}

static void remove_locked(struct doca_comch_connection *c, struct comch_endpoint *endpoint)
{
	struct comch_endpoint **at = &c->endpoints;

	while (*at != endpoint)
		at = &(*at)->next;
	*at = endpoint->next;
	if (endpoint->is_producer)
		c->num_producers--;
	else
		c->num_consumers--;
	if (c->endpoints)
		return;
	if (c->close_wanted) {
		dpumap_comch_conn_close(c);
		dpumap_comch_ready_add(c);
	}
	if (!c->owner)
		free_buffers(c);
}

void dpumap_comch_conn_remove(struct comch_endpoint *endpoint)
{
	struct doca_comch_connection *c = endpoint->connection;

	dpumap_comch_conn_lock(c);
	remove_locked(c, endpoint);
	dpumap_comch_conn_unlock(c);
	dpumap_comch_conn_put(c);
}

bool dpumap_comch_conn_pump(struct doca_comch_connection *c)
{
	bool is_any = false;

	/* Another thread does it. */
	if (pthread_mutex_trylock(&c->lock))
		return false;
	if (comch_conn_state(c) != COMCH_CONN_DOWN && c->out.len && !c->out.is_broken)
		dpumap_comch_output_flush(c);
	if (comch_conn_state(c) != COMCH_CONN_DOWN)
		is_any = dpumap_comch_input_read(c);
	dpumap_comch_conn_end_if_shut(c);
	dpumap_comch_conn_unlock(c);
	return is_any;
}

bool dpumap_comch_conn_is_up(const struct doca_comch_connection *c)
{
	return comch_conn_state(c) == COMCH_CONN_UP;
}

int dpumap_comch_conn_fd(const struct doca_comch_connection *c)
{
	return dpumap_comch_link_fd(c->link);
}

struct doca_dev *dpumap_comch_conn_dev(const struct doca_comch_connection *c)
{
	return c->dev;
}

doca_error_t dpumap_comch_conn_send(struct doca_comch_connection *c,
				    const struct comch_frame *frame)
{
	doca_error_t result;

	if (comch_conn_state(c) != COMCH_CONN_UP)
		return DOCA_ERROR_NOT_CONNECTED;
	result = dpumap_comch_output_frame(c, frame);
	if (result == DOCA_SUCCESS)
		dpumap_comch_output_flush(c);
	return result;
}

const struct comch_consumer_info *
dpumap_comch_conn_find_consumer(const struct doca_comch_connection *c, uint32_t id)
{
	for (size_t i = 0; i < COMCH_MAX_CONSUMERS; i++)
		if (c->remotes[i].is_alive && c->remotes[i].info.id == id)
			return &c->remotes[i].info;
	return NULL;
}

/* --- for users -------------------------------------------------------------------------------- */

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
						 union doca_data user_data)
{
	if (!connection)
		return dpumap_fail_null(__func__);
	connection->user_data = user_data;
	return DOCA_SUCCESS;
}

union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
	return connection ? connection->user_data : (union doca_data){.u64 = 0};
}

doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *connection)
{
	if (!connection)
		return dpumap_fail_null(__func__);
	switch (comch_conn_state(connection)) {
	case COMCH_CONN_GREETING:
		return dpumap_fail(DOCA_ERROR_CONNECTION_INPROGRESS,
				   "connection %p is not established yet", (void *)connection);
	case COMCH_CONN_UP:
		dpumap_comch_conn_lock(connection);
		connection->updated = connection->counters;
		dpumap_comch_conn_unlock(connection);
		return DOCA_SUCCESS;
	default:
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED, "connection %p has ended",
				   (void *)connection);
	}
}

doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *connection,
					       enum doca_comch_counter counter_type,
					       uint64_t *counter_value)
{
	if (!connection || !counter_value)
		return dpumap_fail_null(__func__);
	switch (counter_type) {
	case DOCA_COMCH_COUNTER_SENT_MESSAGES:
		*counter_value = connection->updated.sent_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_SENT_BYTES:
		*counter_value = connection->updated.sent_bytes;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_MESSAGES:
		*counter_value = connection->updated.recv_messages;
		return DOCA_SUCCESS;
	case DOCA_COMCH_COUNTER_RECV_BYTES:
		*counter_value = connection->updated.recv_bytes;
		return DOCA_SUCCESS;
	default:
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "connection %p: invalid counter %d",
				   (const void *)connection, (int)counter_type);
	}
}

doca_error_t dpumap_comch_connection_get_peer(const struct doca_comch_connection *connection,
					      const char **identity)
{
	if (!connection || !identity)
		return dpumap_fail_null(__func__);
	*identity = connection->identity;
	return DOCA_SUCCESS;
}
