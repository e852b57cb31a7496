/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arbitrary bytes as frames, and a connection whose peer sends arbitrary frames while the program
 * sends, progresses, disconnects, and has consumers and producers. Decoding must fail, or the frame
 * must encode to the same bytes. The connection must keep to its limits and must end.
 */
#include <stdlib.h>
#include <string.h>

#include "comch/connection/connection.h"
#include "comch/connection/control.h"
#include "comch/connection/output.h"
#include "comch/connection/send.h"
#include "comch/connection/state.h"
#include "core/pe/pe.h"
#include "log/log.h"

#define NUM_ENDPOINTS 4
#define NUM_TASKS     8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- what stands in for the rest of the library ----------------------------------------------- */

struct dpumap_comch_link {
	const uint8_t *bytes;
	size_t len;  /* that the peer has sent */
	size_t room; /* that the socket has for output */
	bool is_shut;
};

static struct dpumap_comch_link fake;

bool dpumap_log_admits(enum dpumap_log_level level, const char *source)
{
	return true;
}

const char *doca_error_get_name(doca_error_t error)
{
	return "";
}

doca_error_t dpumap_comch_link_read(struct dpumap_comch_link *link, void *buf, size_t len,
				    size_t *done)
{
	if (!link->len)
		return DOCA_ERROR_AGAIN;
	*done = link->len < len ? link->len : len;
	memcpy(buf, link->bytes, *done);
	link->bytes += *done;
	link->len -= *done;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_link_write(struct dpumap_comch_link *link, const void *buf, size_t len,
				     size_t *done)
{
	if (link->is_shut)
		abort();
	*done = link->room < len ? link->room : len;
	link->room -= *done;
	return *done ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

bool dpumap_comch_link_has_more(const struct dpumap_comch_link *link)
{
	return link->len;
}

int dpumap_comch_link_fd(const struct dpumap_comch_link *link)
{
	return -1;
}

void dpumap_comch_link_want_write(struct dpumap_comch_link *link, bool want)
{
}

void dpumap_comch_link_shutdown(struct dpumap_comch_link *link)
{
	link->is_shut = true;
}

void dpumap_comch_link_close(struct dpumap_comch_link *link)
{
}

const char *dpumap_comch_link_peer(const struct dpumap_comch_link *link)
{
	return "cert:fuzzer";
}

doca_error_t dpumap_pe_watch(struct doca_pe *pe, int fd)
{
	return DOCA_SUCCESS;
}

void dpumap_pe_unwatch(struct doca_pe *pe, int fd)
{
}

void dpumap_pe_wake(struct doca_pe *pe)
{
}

void dpumap_ctx_init(struct doca_ctx *ctx, const struct ctx_ops *ops, struct doca_dev *dev)
{
	ctx->ops = ops;
	ctx->refs = 1;
}

doca_error_t dpumap_ctx_check_idle(const struct doca_ctx *ctx, const char *function)
{
	return DOCA_SUCCESS;
}

doca_error_t dpumap_ctx_try_stop(struct doca_ctx *ctx)
{
	return DOCA_SUCCESS;
}

void dpumap_ctx_catch_up(struct doca_ctx *ctx, struct doca_task *task)
{
}

void dpumap_ctx_begin_stop(struct doca_ctx *ctx)
{
	ctx->state = DOCA_CTX_STATE_STOPPING;
}

void dpumap_ctx_complete_task(struct doca_ctx *ctx, struct doca_task *task)
{
	if (!ctx->num_inflight--)
		abort();
	ctx->num_allocated--;
	dpumap_comch_send_release(task);
}

/* --- decoding --------------------------------------------------------------------------------- */

static void check_decoding(const uint8_t *bytes, size_t len)
{
	uint8_t again[COMCH_MAX_FRAME];
	struct comch_frame frame;
	const char *why;
	size_t size;

	while (dpumap_comch_decode(bytes, len, &frame, &size, &why) == DOCA_SUCCESS) {
		if (size > len || dpumap_comch_encode(&frame, again) != size ||
		    memcmp(again, bytes, size) != 0)
			abort();
		bytes += size;
		len -= size;
	}
}

/* --- the program ------------------------------------------------------------------------------ */

static struct comch_control control;
static struct doca_comch_connection *connection;
static struct comch_endpoint endpoints[NUM_ENDPOINTS];
static bool is_up, is_ended;
static unsigned int num_consumers; /* that the program knows */

static void on_frame(struct comch_endpoint *endpoint, const struct comch_frame *frame)
{
	if (!endpoint->id)
		abort();
	(void)dpumap_comch_conn_send(endpoint->connection, frame);
}

static void on_consumer_gone(struct comch_endpoint *endpoint, uint32_t id)
{
	if (!endpoint->is_producer || dpumap_comch_conn_find_consumer(endpoint->connection, id))
		abort();
}

static void on_down(struct comch_endpoint *endpoint)
{
	endpoint->ctx = NULL;
}

static const struct comch_endpoint_ops endpoint_ops = {on_frame, on_consumer_gone, on_down};

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *c, uint8_t successful)
{
	if (is_up || c != connection)
		abort();
	is_up = true;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *c, uint8_t successful)
{
	if (!is_up || is_ended || num_consumers || c != connection)
		abort();
	is_ended = true;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *c)
{
	if (!is_up || is_ended || len > c->own.max_message || (uintptr_t)bytes % 8)
		abort();
	memset(bytes, 0, len);
}

static void on_new_consumer(struct doca_comch_event_consumer *event,
			    struct doca_comch_connection *c, uint32_t id)
{
	if (!is_up || is_ended || !id || id >= COMCH_ID_LIMIT)
		abort();
	num_consumers++;
}

static void on_expired_consumer(struct doca_comch_event_consumer *event,
				struct doca_comch_connection *c, uint32_t id)
{
	if (!num_consumers--)
		abort();
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
}

static void send_one(void)
{
	struct doca_comch_task_send *task;

	if (dpumap_comch_send_alloc(&control, __func__, connection, &control,
				    sizeof(control) < 100 ? 1 : 100, &task) != DOCA_SUCCESS)
		return;
	control.ctx.num_inflight++;
	(void)dpumap_comch_send_submit(&task->base, 0);
}

static void toggle_endpoint(unsigned int which)
{
	struct comch_endpoint *endpoint = &endpoints[which % NUM_ENDPOINTS];

	if (endpoint->connection) {
		dpumap_comch_conn_remove(endpoint);
		endpoint->connection = NULL;
		return;
	}
	*endpoint = (struct comch_endpoint){
		.ops = &endpoint_ops, .ctx = &control.ctx, .is_producer = which & 1};
	if (dpumap_comch_conn_add(connection, endpoint) != DOCA_SUCCESS)
		endpoint->connection = NULL;
}

static void disconnect(void)
{
	dpumap_comch_conn_lock(connection);
	connection->is_hidden = true;
	dpumap_comch_conn_close(connection);
	dpumap_comch_conn_unlock(connection);
}

static void begin(void)
{
	static const struct comch_limits own = {.max_message = 200, .window = 128};
	static const struct ctx_ops ops = {.name = "fuzzed", .free = dpumap_comch_control_free};
	struct doca_comch_connection *c;

	memset(&control, 0, sizeof(control));
	memset(endpoints, 0, sizeof(endpoints));
	is_up = is_ended = false;
	num_consumers = 0;
	control.owner.is_server = true;
	strcpy(control.place.name, "n");
	control.ctx.state = DOCA_CTX_STATE_RUNNING;
	if (dpumap_comch_control_init(&control, &ops, NULL) != DOCA_SUCCESS ||
	    dpumap_comch_send_set_conf(&control, __func__, on_sent, on_sent, NUM_TASKS) !=
		    DOCA_SUCCESS)
		abort();
	control.recv_queue_size = 1;
	control.max_msg_size = own.max_message;
	control.recv_cb = on_message;
	control.connect_cb = on_connect;
	control.disconnect_cb = on_disconnect;
	control.new_consumer_cb = on_new_consumer;
	control.expired_consumer_cb = on_expired_consumer;
	if (dpumap_comch_pool_create(&control.pool, &control.ctx, control.max_msg_size) !=
		    DOCA_SUCCESS ||
	    dpumap_comch_conn_open(&control.owner, &fake, &own, NULL, &c) != DOCA_SUCCESS)
		abort();
	connection = control.connections = c;
	control.num_connections = 1;
	dpumap_comch_conn_get(c);
}

static void progress(void)
{
	while (dpumap_comch_control_progress(&control.ctx))
		;
}

/* All tasks complete, and nothing is left. */
static void finish(void)
{
	struct doca_comch_connection *c;

	for (unsigned int i = 0; i < NUM_ENDPOINTS; i++)
		if (endpoints[i].connection)
			dpumap_comch_conn_remove(&endpoints[i]);
	dpumap_comch_conn_lock(connection);
	dpumap_comch_conn_down(connection);
	dpumap_comch_conn_unlock(connection);
	progress();
	if (control.ctx.num_inflight || control.ctx.num_allocated || control.connections ||
	    control.owner.num_ready || (is_up && !is_ended && !connection->is_hidden))
		abort();
	dpumap_comch_conn_put(connection);
	while ((c = control.first_retired)) {
		control.first_retired = c->next_retired;
		dpumap_comch_conn_put(c);
	}
	dpumap_comch_pool_destroy(&control.pool);
	pthread_mutex_destroy(&control.owner.ready_lock);
}

/* A frame that a fuzzer does not find by itself. */
static void greet(void)
{
	static uint8_t bytes[COMCH_MAX_FRAME];
	struct comch_frame frame = {.type = COMCH_HELLO};

	frame.hello.place = control.place;
	frame.hello.limits = (struct comch_limits){.max_message = 100, .window = 3};
	fake.bytes = bytes;
	fake.len = dpumap_comch_encode(&frame, bytes);
	dpumap_comch_conn_pump(connection);
}

static void run(const uint8_t *data, size_t size)
{
	size_t len;

	while (size >= 2) {
		uint8_t op = data[0], n = data[1];

		data += 2;
		size -= 2;
		switch (op % 8) {
		case 0:
		case 1:
			len = n < size ? n : size;
			fake.bytes = data;
			fake.len = len;
			fake.room += n;
			dpumap_comch_conn_pump(connection);
			data += len;
			size -= len;
			break;
		case 2:
			greet();
			break;
		case 3:
			progress();
			break;
		case 4:
			send_one();
			break;
		case 5:
			toggle_endpoint(n);
			break;
		case 6:
			fake.room += (size_t)n << 8;
			dpumap_comch_conn_pump(connection);
			break;
		default:
			if (n > 250)
				disconnect();
			break;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_decoding(data, size);
	memset(&fake, 0, sizeof(fake));
	begin();
	run(data, size);
	finish();
	return 0;
}
