/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/state.h"

#include <string.h>

#include "base/clock.h"
#include "comch/connection/output.h"
#include "comch/connection/ready.h"

static void expire_remotes(struct doca_comch_connection *c)
{
	for (size_t i = 0; i < COMCH_MAX_CONSUMERS; i++) {
		struct comch_remote *remote = &c->remotes[i];

		if (!remote->is_alive)
			continue;
		remote->is_alive = false;
		remote->expired = (struct comch_note){
			.after = c->in.received, .id = remote->info.id, .is_expired = true};
		if (c->first_note)
			c->last_note->next = &remote->expired;
		else
			c->first_note = &remote->expired;
		c->last_note = &remote->expired;
	}
}

void dpumap_comch_conn_down(struct doca_comch_connection *c)
{
	if (comch_conn_state(c) == COMCH_CONN_DOWN)
		return;
	/* A refusal. */
	if (comch_conn_state(c) == COMCH_CONN_GREETING && !c->out.is_broken)
		dpumap_comch_output_flush(c);
	atomic_store(&c->state, COMCH_CONN_DOWN);
	dpumap_comch_output_abort(c, DOCA_ERROR_CONNECTION_RESET);
	if (!c->out.is_shut)
		dpumap_comch_link_shutdown(c->link);
	c->out.is_shut = true;
	expire_remotes(c);
	for (struct comch_endpoint *endpoint = c->endpoints; endpoint; endpoint = endpoint->next)
		endpoint->ops->on_down(endpoint);
	dpumap_comch_ready_add(c);
}

/* On one machine the peer gets what the socket has taken, whatever happens here. */
void dpumap_comch_conn_end_if_shut(struct doca_comch_connection *c)
{
	if (comch_conn_state(c) == COMCH_CONN_CLOSING &&
	    (c->out.is_broken ||
	     (c->out.is_shut && !strncmp(dpumap_comch_link_peer(c->link), "uid:", 4))))
		dpumap_comch_conn_down(c);
}

void dpumap_comch_conn_close(struct doca_comch_connection *c)
{
	if (comch_conn_state(c) == COMCH_CONN_GREETING)
		dpumap_comch_conn_down(c);
	if (comch_conn_state(c) != COMCH_CONN_UP)
		return;
	c->close_wanted = true;
	if (c->endpoints)
		return;
	c->deadline = monotonic_coarse_ms() + COMCH_FLUSH_MS;
	atomic_store(&c->state, COMCH_CONN_CLOSING);
	if (!c->out.is_broken)
		dpumap_comch_output_flush(c);
	dpumap_comch_conn_end_if_shut(c);
}

void dpumap_comch_conn_check_deadline(struct doca_comch_connection *c)
{
	enum comch_conn_state state = comch_conn_state(c);

	if ((state == COMCH_CONN_CLOSING || (state == COMCH_CONN_GREETING && c->is_server)) &&
	    monotonic_coarse_ms() >= c->deadline)
		dpumap_comch_conn_down(c);
}
