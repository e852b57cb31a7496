/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "comch/connection/connection.h"
#include "comch/connection/output.h"
#include "comch/connection/ready.h"
#include "comch/connection/state.h"
#include "core/pe/pe.h"
#include "log/log.h"

/* Calls of progress between two polls of the sockets; they are polled when the clock moves, too. */
#define CALLS_PER_POLL	      32
#define CALLS_PER_POLL_ACTIVE 4
#define ACTIVE_POLLS	      256 /* polls after something has arrived */
#define MAX_EVENTS	      32
#define MAX_LAST_SENDER_POLLS 8
#define TICK_NS		      100000000
#define MIN_WINDOW	      128 /* messages leave although their sender makes no progress */
#define MIN_RETIRED	      16 /* so that a stale pointer does not become another client at once */

/* --- clients of a server ---------------------------------------------------------------------- */

static uint32_t count_clients(const struct comch_control *control)
{
	uint32_t num = 0;

	for (const struct doca_comch_connection *c = control->connections; c; c = c->next)
		num += comch_conn_state(c) == COMCH_CONN_UP && !c->is_hidden;
	return num;
}

static doca_error_t admit_client(struct doca_comch_connection *c, const struct comch_hello *hello)
{
	const struct comch_control *control = dpumap_comch_control_of(c);
	const struct dpumap_comch_place *place = &control->place;
	const char *peer = dpumap_comch_link_peer(c->link);

	if (hello->place.card != place->card || hello->place.function != place->function ||
	    strcmp(hello->place.name, place->name) != 0)
		return dpumap_fail_from(peer, DOCA_ERROR_NOT_FOUND,
					"server \"%s\": %s wants another server, and is refused",
					place->name, peer);
	if (count_clients(control) >= COMCH_MAX_CLIENTS)
		return dpumap_fail_from(
			peer, DOCA_ERROR_FULL,
			"server \"%s\": %s is refused, there are %d clients, the maximum",
			place->name, peer, COMCH_MAX_CLIENTS);
	return DOCA_SUCCESS;
}

/* --- life ------------------------------------------------------------------------------------- */

doca_error_t dpumap_comch_control_init(struct comch_control *control, const struct ctx_ops *ops,
				       struct doca_dev *dev)
{
	control->owner.ctx = &control->ctx;
	control->owner.admit = admit_client;
	if (dpumap_comch_ready_init(&control->owner) != DOCA_SUCCESS)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a %s", ops->name);
	control->max_msg_size = COMCH_MAX_MESSAGE;
	control->recv_queue_size = COMCH_MAX_RECV_QUEUE;
	control->epoll = control->timer = -1;
	dpumap_ctx_init(&control->ctx, ops, dev);
	return DOCA_SUCCESS;
}

static void close_descriptors(struct comch_control *control)
{
	if (control->timer >= 0)
		close(control->timer);
	if (control->epoll >= 0)
		close(control->epoll);
	control->timer = control->epoll = -1;
	control->is_timer_on = false;
}

static int watch(const struct comch_control *control, int fd, void *ptr)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = ptr};

	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event);
}

static doca_error_t open_descriptors(struct comch_control *control)
{
	int err;

	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	control->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (control->epoll >= 0 && control->timer >= 0 &&
	    !watch(control, control->timer, &control->timer))
		return DOCA_SUCCESS;
	err = errno;
	close_descriptors(control);
	return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
			   "%s context %p: creating its descriptors failed: %s",
			   control->ctx.ops->name, (void *)control, strerror(err));
}

doca_error_t dpumap_comch_control_open(struct comch_control *control)
{
	doca_error_t result;

	if (!control->recv_cb)
		return dpumap_fail(DOCA_ERROR_INITIALIZATION,
				   "%s context %p: register a callback for messages before "
				   "starting it",
				   control->ctx.ops->name, (void *)control);
	result = dpumap_comch_pool_create(&control->pool, &control->ctx, control->max_msg_size);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_descriptors(control);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_pe_watch(control->ctx.pe, control->epoll);
	if (result != DOCA_SUCCESS)
		close_descriptors(control);
	control->poll_now = true;
	return result;
}

static void unlist(struct comch_control *control, struct doca_comch_connection *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		control->connections = c->next;
	if (c->next)
		c->next->prev = c->prev;
	control->num_connections--;
}

static void append_retired(struct comch_control *control, struct doca_comch_connection *c)
{
	c->next_retired = NULL;
	if (control->first_retired)
		control->last_retired->next_retired = c;
	else
		control->first_retired = c;
	control->last_retired = c;
	control->num_retired++;
}

static void retire(struct comch_control *control, struct doca_comch_connection *c)
{
	if (control->last_sender == c)
		control->last_sender = NULL;
	unlist(control, c);
	dpumap_comch_control_unwatch(control, dpumap_comch_conn_fd(c));
	dpumap_comch_conn_retire(c);
	dpumap_comch_ready_forget(&control->owner, c);
	append_retired(control, c);
}

/* The oldest retired connection to which there are no other references, or NULL. */
static struct doca_comch_connection *take_retired(struct comch_control *control)
{
	uint32_t num = control->num_retired;
	struct doca_comch_connection *c;

	for (; num > MIN_RETIRED; num--) {
		c = control->first_retired;
		control->first_retired = c->next_retired;
		control->num_retired--;
		if (atomic_load(&c->refs) == 1)
			return c;
		append_retired(control, c);
	}
	return NULL;
}

void dpumap_comch_control_close(struct comch_control *control)
{
	while (control->connections)
		retire(control, control->connections);
	dpumap_pe_unwatch(control->ctx.pe, control->epoll);
	close_descriptors(control);
}

void dpumap_comch_control_free(struct doca_ctx *ctx)
{
	struct comch_control *control = (struct comch_control *)ctx;
	struct doca_comch_connection *c;

	while ((c = control->first_retired)) {
		control->first_retired = c->next_retired;
		dpumap_comch_conn_put(c);
	}
	dpumap_comch_pool_destroy(&control->pool);
	dpumap_comch_ready_destroy(&control->owner);
	free(control);
}

/* --- connections ------------------------------------------------------------------------------ */

doca_error_t dpumap_comch_control_watch(struct comch_control *control, int fd)
{
	if (watch(control, fd, control))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "%s context %p: watching descriptor %d failed: %s",
				   control->ctx.ops->name, (void *)control, fd, strerror(errno));
	return DOCA_SUCCESS;
}

void dpumap_comch_control_unwatch(struct comch_control *control, int fd)
{
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static struct comch_limits limits_of(const struct comch_control *control)
{
	return (struct comch_limits){
		.max_message = control->max_msg_size,
		.window = control->recv_queue_size > MIN_WINDOW ? control->recv_queue_size
								: MIN_WINDOW,
	};
}

doca_error_t dpumap_comch_control_add(struct comch_control *control, struct dpumap_comch_link *link,
				      struct doca_comch_connection **connection)
{
	const struct comch_limits own = limits_of(control);
	struct doca_comch_connection *c;
	doca_error_t result;

	result = dpumap_comch_conn_open(&control->owner, link, &own, take_retired(control), &c);
	if (result != DOCA_SUCCESS)
		return result;
	if (watch(control, dpumap_comch_conn_fd(c), c)) {
		result = dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				     "%s context %p: watching a connection failed: %s",
				     control->ctx.ops->name, (void *)control, strerror(errno));
		atomic_store(&c->state, COMCH_CONN_DOWN);
		dpumap_comch_conn_put(c);
		return result;
	}
	c->next = control->connections;
	if (c->next)
		c->next->prev = c;
	control->connections = c;
	control->num_connections++;
	*connection = c;
	return DOCA_SUCCESS;
}

void dpumap_comch_control_disconnect(struct comch_control *control)
{
	for (struct doca_comch_connection *c = control->connections; c; c = c->next) {
		dpumap_comch_conn_lock(c);
		c->is_hidden = true;
		dpumap_comch_conn_close(c);
		dpumap_comch_conn_unlock(c);
	}
	if (control->connections)
		dpumap_comch_control_start_timer(control);
}

bool dpumap_comch_control_is_disconnected(struct comch_control *control)
{
	for (struct doca_comch_connection *c = control->connections; c; c = c->next)
		if (comch_conn_state(c) != COMCH_CONN_DOWN)
			return false;
	return true;
}

bool dpumap_comch_control_owns(const struct comch_control *control,
			       const struct doca_comch_connection *c)
{
	return c->owner == &control->owner && !c->is_hidden && !c->is_new;
}

/* --- time ------------------------------------------------------------------------------------- */

static void set_timer(struct comch_control *control, bool is_on)
{
	struct itimerspec spec = {.it_value.tv_nsec = is_on ? TICK_NS : 0,
				  .it_interval.tv_nsec = is_on ? TICK_NS : 0};

	timerfd_settime(control->timer, 0, &spec, NULL);
	control->is_timer_on = is_on;
}

void dpumap_comch_control_start_timer(struct comch_control *control)
{
	if (!control->is_timer_on)
		set_timer(control, true);
}

static void check_deadlines(struct comch_control *control)
{
	bool is_needed = false;
	uint64_t ticks;

	if (read(control->timer, &ticks, sizeof(ticks)) < 0 && errno == EAGAIN)
		return;
	for (struct doca_comch_connection *c = control->connections; c; c = c->next) {
		dpumap_comch_conn_lock(c);
		dpumap_comch_conn_check_deadline(c);
		is_needed |= c->close_wanted || comch_conn_state(c) == COMCH_CONN_GREETING;
		dpumap_comch_conn_unlock(c);
	}
	if (!is_needed)
		set_timer(control, false);
}

/* --- polling the sockets ---------------------------------------------------------------------- */

bool dpumap_comch_control_is_due(struct comch_control *control)
{
	uint32_t every =
		control->idle_polls < ACTIVE_POLLS ? CALLS_PER_POLL_ACTIVE : CALLS_PER_POLL;
	uint64_t now;

	if (++control->calls < every && !control->poll_now) {
		now = monotonic_coarse_ms();
		if (now == control->polled_ms)
			return false;
		control->polled_ms = now;
	}
	control->idle_polls++;
	control->poll_now = false;
	control->calls = 0;
	return true;
}

static bool pump(struct comch_control *control, struct doca_comch_connection *c)
{
	bool is_any = dpumap_comch_conn_pump(c);

	if (is_any) {
		control->last_sender = c;
		control->idle_polls = 0;
	}
	if (comch_conn_state(c) == COMCH_CONN_DOWN)
		dpumap_comch_control_unwatch(control, dpumap_comch_conn_fd(c));
	return is_any;
}

/* A client that waits for each answer costs its server one system call for each. */
static bool pump_last_sender(struct comch_control *control)
{
	if (!control->last_sender || ++control->last_sender_polls > MAX_LAST_SENDER_POLLS) {
		control->last_sender_polls = 0;
		return false;
	}
	return pump(control, control->last_sender);
}

void dpumap_comch_control_poll(struct comch_control *control)
{
	struct epoll_event events[MAX_EVENTS];
	int n;

	/* A client has one connection. */
	if (!control->owner.is_server && control->connections) {
		pump(control, control->connections);
		if (control->is_timer_on)
			check_deadlines(control);
		return;
	}
	if (pump_last_sender(control))
		return;
	n = epoll_wait(control->epoll, events, MAX_EVENTS, 0);
	for (int i = 0; i < n; i++) {
		void *ptr = events[i].data.ptr;

		if (ptr == &control->timer)
			check_deadlines(control);
		else if (ptr == control)
			control->on_event(control);
		else
			pump(control, ptr);
	}
}

/* What has arrived and was not read keeps the descriptor readable. */
doca_error_t dpumap_comch_control_arm(struct doca_ctx *ctx)
{
	struct comch_control *control = (struct comch_control *)ctx;

	control->poll_now = true;
	return DOCA_SUCCESS;
}

bool dpumap_comch_control_is_ready(struct doca_ctx *ctx)
{
	struct comch_control *control = (struct comch_control *)ctx;

	return control->owner.num_ready || control->late.first;
}

/* --- events ----------------------------------------------------------------------------------- */

static void before_callback(struct comch_control *control, struct doca_comch_connection *c)
{
	dpumap_comch_conn_get(c);
	control->ctx.busy++;
}

static void after_callback(struct comch_control *control, struct doca_comch_connection *c)
{
	dpumap_comch_conn_put(c);
	dpumap_ctx_after_callback(&control->ctx, NULL);
}

static bool announce(struct comch_control *control, struct doca_comch_connection *c)
{
	c->is_new = false;
	if (!control->connect_cb || c->is_hidden)
		return false;
	before_callback(control, c);
	control->connect_cb((void *)control, c, 1);
	after_callback(control, c);
	return true;
}

static bool deliver_note(struct comch_control *control, struct doca_comch_connection *c,
			 bool is_expired, uint32_t id)
{
	doca_comch_event_consumer_cb_t cb =
		is_expired ? control->expired_consumer_cb : control->new_consumer_cb;

	if (!cb || c->is_hidden)
		return false;
	before_callback(control, c);
	cb((void *)control, c, id);
	after_callback(control, c);
	return true;
}

static void deliver_message(struct comch_control *control, struct doca_comch_connection *c,
			    uint8_t *bytes, const struct comch_inbox_message *message)
{
	before_callback(control, c);
	control->recv_cb((void *)control, bytes, message->len, c);
	dpumap_comch_conn_lock(c);
	dpumap_comch_inbox_release(&c->inbox, message);
	c->in.credits_to_return++;
	dpumap_comch_output_credits(c);
	dpumap_comch_conn_unlock(c);
	after_callback(control, c);
}

/* The program has heard of everything that came before. */
static bool end(struct comch_control *control, struct doca_comch_connection *c)
{
	bool is_reported = false;

	/* A client keeps its connection until it is IDLE. */
	if (!control->owner.is_server) {
		if (control->ctx.state != DOCA_CTX_STATE_RUNNING)
			return false;
		dpumap_ctx_begin_stop(&control->ctx);
		return true;
	}
	if (c->peer.window && !c->is_hidden && control->disconnect_cb) {
		is_reported = true;
		before_callback(control, c);
		control->disconnect_cb((void *)control, c, 1);
		dpumap_comch_conn_put(c);
	}
	/* A callback that stopped the server left it to us: no connection is retired before. */
	retire(control, c);
	if (is_reported)
		dpumap_ctx_after_callback(&control->ctx, NULL);
	return is_reported;
}

static struct comch_note *take_note(struct doca_comch_connection *c)
{
	struct comch_note *note = c->first_note;
	struct comch_remote *remote;

	if (!note || (note->after > c->in.delivered && !c->is_hidden))
		return NULL;
	c->first_note = note->next;
	if (note->is_expired) {
		remote = (void *)((uint8_t *)note - offsetof(struct comch_remote, expired));
		remote->is_used = false;
	}
	return note;
}

static bool has_work(const struct doca_comch_connection *c)
{
	return c->done.first || c->first_note || c->inbox.num ||
	       comch_conn_state(c) == COMCH_CONN_DOWN;
}

/* What is next for the program, in the order in which the peer caused it. */
struct work {
	struct doca_comch_task_send *task;
	bool is_note, is_expired;
	uint32_t id;
	uint8_t *bytes;
	struct comch_inbox_message message;
	bool is_end;
};

static void take_message(struct doca_comch_connection *c, struct work *work)
{
	work->bytes = dpumap_comch_inbox_take(&c->inbox, &work->message);
	if (!work->bytes)
		return;
	c->in.delivered++;
	c->counters.recv_messages++;
	c->counters.recv_bytes += work->message.len;
}

static void take_work(struct doca_comch_connection *c, struct work *work)
{
	struct comch_note *note;

	*work = (struct work){.task = comch_task_of(dpumap_task_list_take(&c->done))};
	if (!work->task) {
		note = take_note(c);
		if (note) {
			work->is_note = true;
			work->is_expired = note->is_expired;
			work->id = note->id;
		} else if (!c->is_hidden) {
			take_message(c, work);
		}
	}
	work->is_end = !work->task && !work->is_note && !work->bytes &&
		       comch_conn_state(c) == COMCH_CONN_DOWN;
	if (!work->is_end &&
	    (c->is_hidden ? c->done.first || c->first_note || comch_conn_state(c) == COMCH_CONN_DOWN
			  : has_work(c)))
		dpumap_comch_ready_add(c);
}

/* True: a callback ran, or the state changed; the objects may be gone. */
static bool serve(struct comch_control *control, struct doca_comch_connection *c)
{
	struct work work;

	if (c->is_new) {
		dpumap_comch_conn_lock(c);
		dpumap_comch_ready_add(c);
		dpumap_comch_conn_unlock(c);
		return announce(control, c);
	}
	dpumap_comch_conn_lock(c);
	take_work(c, &work);
	dpumap_comch_conn_unlock(c);
	if (work.task) {
		dpumap_ctx_complete_task(&control->ctx, &work.task->base);
		return true;
	}
	if (work.is_note)
		return deliver_note(control, c, work.is_expired, work.id);
	if (work.bytes) {
		deliver_message(control, c, work.bytes, &work.message);
		return true;
	}
	return work.is_end && end(control, c);
}

bool dpumap_comch_control_progress(struct doca_ctx *ctx)
{
	struct comch_control *control = (struct comch_control *)ctx;
	struct doca_comch_connection *c;

	if (dpumap_comch_control_is_due(control))
		dpumap_comch_control_poll(control);
	if (control->late.first) {
		dpumap_ctx_complete_task(ctx, dpumap_task_list_take(&control->late));
		return true;
	}
	while (control->owner.num_ready && (c = dpumap_comch_ready_take(&control->owner)))
		if (serve(control, c))
			return true;
	return false;
}
