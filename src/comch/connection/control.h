/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What servers and clients share: settings, the connections, and their events.
 *
 * The sockets are not polled in each call of progress: that would cost a system call for each
 * call of an engine that drives other contexts too.
 */
#ifndef DPUMAP_COMCH_CONTROL_H
#define DPUMAP_COMCH_CONTROL_H

#include "comch/connection/connection_priv.h"
#include "comch/connection/pool.h"

#define COMCH_MAX_CLIENTS    512
#define COMCH_MAX_SEND_TASKS 8192
#define COMCH_MAX_RECV_QUEUE 1024

struct comch_control {
	struct doca_ctx ctx;
	struct comch_owner owner;
	struct dpumap_comch_place place;

	uint32_t max_msg_size, recv_queue_size;
	doca_comch_task_send_completion_cb_t success_cb, error_cb;
	doca_comch_event_msg_recv_cb_t recv_cb;
	doca_comch_event_consumer_cb_t new_consumer_cb, expired_consumer_cb;
	doca_comch_event_connection_status_changed_cb_t connect_cb, disconnect_cb;

	struct comch_pool pool;
	struct task_list late; /* submitted after their connection had ended */

	/* What the descriptor of a listener or dial announces. */
	void (*on_event)(struct comch_control *control);
	struct doca_comch_connection *connections; /* newest first */
	uint32_t num_connections;
	struct doca_comch_connection *first_retired, *last_retired;
	uint32_t num_retired;

	int epoll; /* of the connections, of the timer, and of the listener or dial */
	int timer;
	bool is_timer_on;
	bool poll_now;
	struct doca_comch_connection *last_sender; /* the last that sent something */
	uint32_t idle_polls;			   /* polls since something arrived */
	uint32_t last_sender_polls;		   /* since all sockets were polled */
	uint32_t calls;				   /* of progress, since the sockets were polled */
	uint64_t polled_ms;
};

/* NO_MEMORY. `dev`, the place and whether it is a server are set already. */
doca_error_t dpumap_comch_control_init(struct comch_control *control, const struct ctx_ops *ops,
				       struct doca_dev *dev);
/* Allocate what a context needs that is not IDLE. */
doca_error_t dpumap_comch_control_open(struct comch_control *control);
/* Retire the connections and free it. */
void dpumap_comch_control_close(struct comch_control *control);
/* Free the object: ctx_ops.free. */
void dpumap_comch_control_free(struct doca_ctx *ctx);

/* Watch the descriptor of a listener or dial: on_event() is called for it. */
doca_error_t dpumap_comch_control_watch(struct comch_control *control, int fd);
void dpumap_comch_control_unwatch(struct comch_control *control, int fd);
/* Make a connection of a link, which it takes over, also on failure. */
doca_error_t dpumap_comch_control_add(struct comch_control *control, struct dpumap_comch_link *link,
				      struct doca_comch_connection **connection);
/* Whether it is time to poll the sockets. */
bool dpumap_comch_control_is_due(struct comch_control *control);
void dpumap_comch_control_poll(struct comch_control *control);
/* Check time limits every 100 ms. */
void dpumap_comch_control_start_timer(struct comch_control *control);
/* Disconnect all; the program does not hear of them any more. */
void dpumap_comch_control_disconnect(struct comch_control *control);
/* Whether all connections have ended. */
bool dpumap_comch_control_is_disconnected(struct comch_control *control);
/* The connection is one of this control, which the program may use. */
bool dpumap_comch_control_owns(const struct comch_control *control,
			       const struct doca_comch_connection *connection);

/* The server or client of a connection; NULL after that has ended. */
static inline struct comch_control *
dpumap_comch_control_of(const struct doca_comch_connection *connection)
{
	return connection->owner ? (struct comch_control *)connection->owner->ctx : NULL;
}

/* Operations of the context. */
bool dpumap_comch_control_progress(struct doca_ctx *ctx);
doca_error_t dpumap_comch_control_arm(struct doca_ctx *ctx);
bool dpumap_comch_control_is_ready(struct doca_ctx *ctx);

#endif
