/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "flow.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

struct request {
	uint32_t op;
	uint32_t a, b, c, d;
	char name[NODE_NAME];
};

struct reply {
	int32_t status;
	uint32_t value;
};

struct flow flow;
uint32_t flow_value;
bool flow_waits_for_events;
unsigned int flow_missed;
struct process flow_peer;

/* --- objects ---------------------------------------------------------------------------------- */

static enum doca_ctx_states state_of(const struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	if (doca_ctx_get_state(ctx, &state) != DOCA_SUCCESS)
		abort();
	return state;
}

static void note_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		       enum doca_ctx_states next)
{
	struct flow_object *o = data.ptr;
	size_t len = strlen(o->states);

	(void)ctx;
	(void)prev;
	snprintf(o->states + len, sizeof(o->states) - len, "%s%s", len ? " " : "",
		 test_state_name(next));
}

static uint32_t read_number(const uint8_t *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static void make_message(uint8_t *bytes, uint32_t len, uint32_t number)
{
	fixture_fill(bytes, len, number);
	if (len >= sizeof(number))
		memcpy(bytes, &number, sizeof(number));
}

static bool is_right(struct flow_object *o, const struct doca_buf *buf, uint32_t producer)
{
	uint8_t *expected;
	void *bytes;
	size_t len;
	uint32_t number;
	bool right;

	if (doca_buf_get_data(buf, &bytes) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(buf, &len) != DOCA_SUCCESS)
		return false;
	if (len < sizeof(number))
		return true;
	number = read_number(bytes);
	if (producer >= FLOW_PEERS || number < o->last[producer])
		return false;
	o->last[producer] = number + 1;
	expected = malloc(len);
	if (!expected)
		abort();
	make_message(expected, (uint32_t)len, number);
	right = !memcmp(bytes, expected, len);
	free(expected);
	return right;
}

static void free_slot(struct flow_object *o, struct flow_task *slot)
{
	(void)o;
	doca_task_free(slot->task);
	if (slot->buf)
		doca_buf_dec_refcount(slot->buf, NULL);
	slot->task = NULL;
	slot->buf = NULL;
}

static void count_failure(struct flow_object *o, struct doca_task *task)
{
	o->n_failed++;
	o->error = doca_task_get_status(task);
}

static void on_received(struct doca_comch_consumer_task_post_recv *recv, union doca_data task_data,
			union doca_data ctx_data)
{
	struct doca_task *task = doca_comch_consumer_task_post_recv_as_task(recv);
	struct flow_object *o = ctx_data.ptr;
	struct flow_task *slot = task_data.ptr;

	if (slot->task != task)
		abort(); /* the program freed it */
	if (doca_task_get_status(task) != DOCA_SUCCESS) {
		count_failure(o, task);
		free_slot(o, slot);
		return;
	}
	o->producer_id = doca_comch_consumer_task_post_recv_get_producer_id(recv);
	o->imm_len = doca_comch_consumer_task_post_recv_get_imm_data_len(recv);
	if (o->imm_len)
		memcpy(o->imm, doca_comch_consumer_task_post_recv_get_imm_data(recv), o->imm_len);
	else if (doca_comch_consumer_task_post_recv_get_imm_data(recv))
		abort();
	if (slot->buf && !is_right(o, slot->buf, o->producer_id))
		o->n_bad++;
	o->n_done++;
	if (!o->reposts) {
		free_slot(o, slot);
		return;
	}
	if (slot->buf && doca_buf_reset_data_len(slot->buf) != DOCA_SUCCESS)
		abort();
	if (state_of(o->ctx) != DOCA_CTX_STATE_RUNNING || doca_task_submit(task) != DOCA_SUCCESS)
		free_slot(o, slot);
}

static void on_sent(struct doca_comch_producer_task_send *send, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct doca_task *task = doca_comch_producer_task_send_as_task(send);
	struct flow_object *o = ctx_data.ptr;
	struct flow_task *slot = task_data.ptr;

	if (doca_task_get_status(task) == DOCA_SUCCESS)
		o->n_done++;
	else
		count_failure(o, task);
	free_slot(o, slot);
}

static doca_error_t map_memory(struct flow_object *o, uint32_t tasks, uint32_t size,
			       uint32_t access)
{
	doca_error_t result = fixture_open_device(&o->dev);

	o->n_tasks = tasks;
	o->size = size;
	o->bytes = calloc(tasks, size);
	if (!o->bytes)
		abort();
	DOCA_ERROR_PROPAGATE(result, doca_mmap_create(&o->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(o->mmap, o->dev));
	DOCA_ERROR_PROPAGATE(result,
			     doca_mmap_set_memrange(o->mmap, o->bytes, (size_t)tasks * size));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(o->mmap, access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(o->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(tasks, &o->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(o->inventory));
	return result;
}

static doca_error_t connect_ctx(struct flow_object *o, struct doca_pe *pe)
{
	doca_error_t result;

	o->pe = pe;
	result = doca_ctx_set_user_data(o->ctx, (union doca_data){.ptr = o});
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(o->ctx, note_state));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(pe, o->ctx));
	return result;
}

doca_error_t flow_open_consumer(struct flow_object *o, struct doca_pe *pe, uint32_t tasks,
				uint32_t size)
{
	doca_error_t result = map_memory(o, tasks, size, PCI_RW);

	if (result == DOCA_SUCCESS)
		result = doca_comch_consumer_create(flow_connection(), o->mmap, &o->consumer);
	if (result != DOCA_SUCCESS)
		return result;
	o->ctx = doca_comch_consumer_as_ctx(o->consumer);
	result = doca_comch_consumer_task_post_recv_set_conf(o->consumer, on_received, on_received,
							     tasks);
	DOCA_ERROR_PROPAGATE(result, connect_ctx(o, pe));
	return result;
}

doca_error_t flow_open_producer(struct flow_object *o, struct doca_pe *pe, uint32_t tasks,
				uint32_t size)
{
	doca_error_t result = map_memory(o, tasks, size, PCI_RO);

	if (result == DOCA_SUCCESS)
		result = doca_comch_producer_create(flow_connection(), &o->producer);
	if (result != DOCA_SUCCESS)
		return result;
	o->ctx = doca_comch_producer_as_ctx(o->producer);
	result = doca_comch_producer_task_send_set_conf(o->producer, on_sent, on_sent, tasks);
	DOCA_ERROR_PROPAGATE(result, connect_ctx(o, pe));
	return result;
}

doca_error_t flow_destroy(struct flow_object *o)
{
	doca_error_t result = DOCA_SUCCESS;

	if (o->consumer)
		result = doca_comch_consumer_destroy(o->consumer);
	if (o->producer)
		result = doca_comch_producer_destroy(o->producer);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_stop(o->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(o->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(o->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(o->dev));
	free(o->bytes);
	return result;
}

static struct flow_task *find_slot(struct flow_object *o)
{
	for (unsigned int i = 0; i < o->n_tasks; i++)
		if (!o->tasks[i].task) {
			o->tasks[i].slot = i;
			return &o->tasks[i];
		}
	return NULL;
}

static doca_error_t submit(struct flow_object *o, struct flow_task *slot)
{
	doca_error_t result;

	doca_task_set_user_data(slot->task, (union doca_data){.ptr = slot});
	result = doca_task_submit(slot->task);
	if (result != DOCA_SUCCESS)
		free_slot(o, slot);
	return result;
}

static uint8_t *memory_of(const struct flow_object *o, const struct flow_task *slot)
{
	return o->bytes + (size_t)slot->slot * o->size;
}

static doca_error_t drop_buf(struct flow_task *slot, doca_error_t result)
{
	if (slot->buf)
		doca_buf_dec_refcount(slot->buf, NULL);
	slot->buf = NULL;
	slot->task = NULL;
	return result;
}

static doca_error_t post_one(struct flow_object *o, bool without_buf)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct flow_task *slot = find_slot(o);
	doca_error_t result;

	if (!slot)
		return DOCA_ERROR_NO_MEMORY;
	if (!without_buf) {
		result = doca_buf_inventory_buf_get_by_addr(
			o->inventory, o->mmap, memory_of(o, slot), o->size, &slot->buf);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = doca_comch_consumer_task_post_recv_alloc_init(o->consumer, slot->buf, &recv);
	if (result != DOCA_SUCCESS)
		return drop_buf(slot, result);
	slot->task = doca_comch_consumer_task_post_recv_as_task(recv);
	return submit(o, slot);
}

doca_error_t flow_post(struct flow_object *o, unsigned int n, bool without_buf)
{
	doca_error_t result = DOCA_SUCCESS;

	while (n-- && result == DOCA_SUCCESS)
		result = post_one(o, without_buf);
	return result;
}

doca_error_t flow_send(struct flow_object *o, uint32_t len, uint32_t consumer_id, uint32_t imm_len)
{
	struct doca_comch_producer_task_send *send;
	struct flow_task *slot = find_slot(o);
	uint8_t imm[64];
	doca_error_t result;

	if (!slot)
		return DOCA_ERROR_NO_MEMORY;
	fixture_fill(imm, sizeof(imm), o->number);
	if (len) {
		make_message(memory_of(o, slot), len, o->number);
		result = doca_buf_inventory_buf_get_by_data(o->inventory, o->mmap,
							    memory_of(o, slot), len, &slot->buf);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = doca_comch_producer_task_send_alloc_init(
		o->producer, slot->buf, imm_len ? imm : NULL, imm_len, consumer_id, &send);
	memset(imm, 0xee, sizeof(imm)); /* it was copied */
	if (result != DOCA_SUCCESS)
		return drop_buf(slot, result);
	slot->task = doca_comch_producer_task_send_as_task(send);
	result = submit(o, slot);
	if (result == DOCA_SUCCESS)
		o->number++;
	return result;
}

void flow_drop(struct flow_object *o)
{
	for (unsigned int i = 0; i < o->n_tasks; i++)
		if (o->tasks[i].task)
			free_slot(o, &o->tasks[i]);
}

/* --- this side -------------------------------------------------------------------------------- */

struct doca_comch_connection *flow_connection(void)
{
	return flow.node.connections[0];
}

bool flow_progress(void)
{
	bool any = false;

	flow.node.is_frozen = flow.frozen & FLOW_NODE_ENGINE;
	any = node_progress_all();
	if (!(flow.frozen & FLOW_FAST_ENGINE) && flow.pe && doca_pe_progress(flow.pe))
		any = true;
	return any;
}

static struct pollfd arm_engine(struct doca_pe *pe)
{
	doca_notification_handle_t handle;

	if (doca_pe_get_notification_handle(pe, &handle) != DOCA_SUCCESS ||
	    doca_pe_request_notification(pe) != DOCA_SUCCESS)
		abort();
	return (struct pollfd){.fd = handle, .events = POLLIN};
}

/* Sleep until there is something to do, or something to read from extra. */
static void sleep_on_engines(int extra)
{
	struct pollfd fds[3] = {
		arm_engine(flow.node.pe), arm_engine(flow.pe), {.fd = extra, .events = POLLIN}};
	bool is_late = !poll(fds, 3, FLOW_NAP_MS);

	/* Unless it happened just now. */
	if (is_late && flow_progress() && !poll(fds, 2, 0))
		flow_missed++;
	if (doca_pe_clear_notification(flow.node.pe, fds[0].fd) != DOCA_SUCCESS ||
	    doca_pe_clear_notification(flow.pe, fds[1].fd) != DOCA_SUCCESS)
		abort();
}

/* One round of waiting; false when it took too long. */
static bool pause_until(uint64_t deadline)
{
	if (flow_progress())
		return monotonic_ms() < deadline;
	if (flow_waits_for_events)
		sleep_on_engines(-1);
	else
		usleep(50);
	return monotonic_ms() < deadline;
}

bool flow_wait(const unsigned int *what, unsigned int n)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (*what < n)
		if (!pause_until(deadline)) {
			fprintf(stderr, "%u of %u happened\n", *what, n);
			return false;
		}
	return true;
}

static bool wait_state(const struct doca_ctx *ctx, enum doca_ctx_states state)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (state_of(ctx) != state)
		if (!pause_until(deadline))
			return false;
	return true;
}

bool flow_wait_state(const struct flow_object *o, enum doca_ctx_states state)
{
	return wait_state(o->ctx, state);
}

static doca_error_t in_time(bool happened)
{
	return happened ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
}

static doca_error_t add_object(struct flow_object **at, bool is_consumer, uint32_t tasks,
			       uint32_t size)
{
	doca_error_t result;

	*at = calloc(1, sizeof(**at));
	if (!*at)
		abort();
	result = is_consumer ? flow_open_consumer(*at, flow.pe, tasks, size)
			     : flow_open_producer(*at, flow.pe, tasks, size);
	if (result != DOCA_SUCCESS)
		return result;
	if (is_consumer)
		return doca_comch_consumer_get_id((*at)->consumer, &flow_value);
	result = doca_comch_producer_get_id((*at)->producer, &flow_value);
	return result == DOCA_SUCCESS ? doca_ctx_start((*at)->ctx) : result;
}

static bool is_eager;
uint32_t flow_eager_id;

static void on_word(struct node *node, const char *word)
{
	if (strcmp(word, node->is_server ? "connect:0" : "RUNNING") != 0)
		return;
	if (add_object(&flow.consumers[0], true, 1, 64) != DOCA_SUCCESS ||
	    doca_ctx_start(flow.consumers[0]->ctx) != DOCA_ERROR_IN_PROGRESS ||
	    node_send(node, 0, "hello", 5) != DOCA_SUCCESS)
		abort();
	flow_eager_id = flow_value;
}

static doca_error_t start_node(const char *name)
{
	doca_error_t result = node_open(&flow.node, name);

	if (result == DOCA_SUCCESS)
		result = doca_pe_create(&flow.pe);
	flow.node.hook = is_eager ? on_word : NULL;
	if (result == DOCA_SUCCESS)
		result = node_start(&flow.node);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

static doca_error_t wait_connected(void)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (!flow.node.n_connections)
		if (!pause_until(deadline))
			return DOCA_ERROR_TIME_OUT;
	return DOCA_SUCCESS;
}

static doca_error_t run(struct flow_object *o)
{
	doca_error_t result = doca_ctx_start(o->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		return result == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : result;
	return in_time(flow_wait_state(o, DOCA_CTX_STATE_RUNNING));
}

static doca_error_t send_many(struct flow_object *o, unsigned int n, uint32_t len, uint32_t to)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_error_t result = DOCA_SUCCESS;

	while (n && (result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY)) {
		result = flow_send(o, len, to & 0xffff, to >> 16);
		if (result == DOCA_SUCCESS)
			n--;
		if (result == DOCA_ERROR_NO_MEMORY && !pause_until(deadline))
			return DOCA_ERROR_TIME_OUT;
	}
	return result;
}

static doca_error_t wait_ended(const struct flow_object *o, unsigned int n)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (o->n_done + o->n_failed < n)
		if (!pause_until(deadline))
			return DOCA_ERROR_TIME_OUT;
	return DOCA_SUCCESS;
}

static doca_error_t end_object(struct flow_object **at)
{
	struct flow_object *o = *at;
	doca_error_t result;

	if (state_of(o->ctx) != DOCA_CTX_STATE_IDLE) {
		doca_ctx_stop(o->ctx);
		if (!flow_wait_state(o, DOCA_CTX_STATE_IDLE))
			return DOCA_ERROR_TIME_OUT;
	}
	result = flow_destroy(o);
	free(o);
	*at = NULL;
	return result;
}

static doca_error_t close_all(void)
{
	doca_error_t result = DOCA_SUCCESS;

	flow.frozen = 0;
	for (unsigned int i = 0; i < FLOW_OBJECTS; i++) {
		if (flow.consumers[i])
			DOCA_ERROR_PROPAGATE(result, end_object(&flow.consumers[i]));
		if (flow.producers[i])
			DOCA_ERROR_PROPAGATE(result, end_object(&flow.producers[i]));
	}
	if (flow.pe)
		DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(flow.pe));
	flow.pe = NULL;
	DOCA_ERROR_PROPAGATE(result, node_close(&flow.node));
	memset(&flow, 0, sizeof(flow));
	return result;
}

static const char *word_of(uint32_t a, uint32_t b)
{
	static char word[32];

	if (a == 2)
		return "msg:hello";
	snprintf(word, sizeof(word), "%s:%u", a ? "gone" : "new", b);
	return word;
}

static doca_error_t wait_word(const char *word)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (!node_count(&flow.node, word))
		if (!pause_until(deadline))
			return DOCA_ERROR_TIME_OUT;
	return DOCA_SUCCESS;
}

static doca_error_t returns(uint32_t value)
{
	flow_value = value;
	return DOCA_SUCCESS;
}

/* --- threads ---------------------------------------------------------------------------------- */

struct worker {
	struct flow_object *object;
	bool is_consumer;
	unsigned int n;
	uint32_t len;
	doca_error_t result;
	atomic_bool is_done;
};

static atomic_uint peer_consumer; /* its id */

/* Its own engine and no other. */
static bool work_until(struct doca_pe *pe, const unsigned int *what, unsigned int n)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (*what < n) {
		if (!doca_pe_progress(pe))
			usleep(20);
		if (monotonic_ms() > deadline)
			return false;
	}
	return true;
}

static bool work_until_state(struct doca_pe *pe, struct doca_ctx *ctx, enum doca_ctx_states state)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (state_of(ctx) != state) {
		if (!doca_pe_progress(pe))
			usleep(20);
		if (monotonic_ms() > deadline)
			return false;
	}
	return true;
}

/* Posted tasks are freed before the stop, as programs do. */
static doca_error_t work_consumer(struct worker *w, struct doca_pe *pe)
{
	struct flow_object *o = w->object;
	doca_error_t result = flow_open_consumer(o, pe, FLOW_TASKS, w->len);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_ctx_start(o->ctx);
	if (result != DOCA_ERROR_IN_PROGRESS)
		return result;
	if (!work_until_state(pe, o->ctx, DOCA_CTX_STATE_RUNNING))
		return DOCA_ERROR_TIME_OUT;
	o->reposts = true;
	result = flow_post(o, FLOW_TASKS, false);
	if (result != DOCA_SUCCESS)
		return result;
	if (!work_until(pe, &o->n_done, w->n))
		return DOCA_ERROR_TIME_OUT;
	flow_drop(o);
	doca_ctx_stop(o->ctx);
	return in_time(work_until_state(pe, o->ctx, DOCA_CTX_STATE_IDLE));
}

static doca_error_t work_producer(struct worker *w, struct doca_pe *pe)
{
	struct flow_object *o = w->object;
	doca_error_t result = flow_open_producer(o, pe, FLOW_TASKS, w->len);
	unsigned int n = w->n;

	while (!atomic_load(&peer_consumer))
		usleep(100);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(o->ctx);
	while (n && (result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY)) {
		result = flow_send(o, w->len, atomic_load(&peer_consumer), 0);
		if (result == DOCA_SUCCESS)
			n--;
		else
			doca_pe_progress(pe);
	}
	if (result != DOCA_SUCCESS)
		return result;
	if (!work_until(pe, &o->n_done, w->n))
		return DOCA_ERROR_TIME_OUT;
	doca_ctx_stop(o->ctx);
	return in_time(work_until_state(pe, o->ctx, DOCA_CTX_STATE_IDLE));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct doca_pe *pe;

	w->object = calloc(1, sizeof(*w->object));
	w->result = w->object ? doca_pe_create(&pe) : DOCA_ERROR_NO_MEMORY;
	if (w->result == DOCA_SUCCESS) {
		w->result = w->is_consumer ? work_consumer(w, pe) : work_producer(w, pe);
		DOCA_ERROR_PROPAGATE(w->result, flow_destroy(w->object));
		DOCA_ERROR_PROPAGATE(w->result, doca_pe_destroy(pe));
	}
	atomic_store(&w->is_done, true);
	return NULL;
}

/* The main thread progresses the connection until both are done. */
static doca_error_t run_threads(unsigned int n, uint32_t len, uint32_t round)
{
	struct worker workers[2] = {{.is_consumer = true, .n = n, .len = len},
				    {.n = n, .len = len}};
	uint64_t deadline = monotonic_ms() + 2 * FIXTURE_TIMEOUT_MS;
	pthread_t threads[2];
	doca_error_t result;

	atomic_store(&peer_consumer, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			abort();
	while ((!atomic_load(&workers[0].is_done) || !atomic_load(&workers[1].is_done)) &&
	       monotonic_ms() < deadline) {
		if (!doca_pe_progress(flow.node.pe))
			usleep(50);
		if (!atomic_load(&peer_consumer) && node_count(&flow.node, word_of(0, round + 1)))
			atomic_store(&peer_consumer, round + 1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	result = workers[0].result;
	DOCA_ERROR_PROPAGATE(result, workers[1].result);
	flow_value = workers[0].object->n_bad;
	free(workers[0].object);
	free(workers[1].object);
	return result;
}

/* --- operations ------------------------------------------------------------------------------- */

static doca_error_t perform_node(const struct request *r)
{
	switch (r->op) {
	case FLOW_START:
		return start_node(r->name);
	case FLOW_CONNECTED:
		return wait_connected();
	case FLOW_STOP:
		return node_stop(&flow.node);
	case FLOW_CLOSE:
		return close_all();
	case FLOW_FREEZE:
		flow.frozen = r->a;
		return DOCA_SUCCESS;
	case FLOW_WORD:
		return wait_word(word_of(r->a, r->b));
	case FLOW_WORDS:
		return returns(node_count(&flow.node, word_of(r->a, r->b)));
	case FLOW_NODE_STATE:
		return in_time(wait_state(flow.node.ctx, (enum doca_ctx_states)r->a));
	case FLOW_THREADS:
		return run_threads(r->a, r->b, r->c);
	default:
		return DOCA_ERROR_NOT_SUPPORTED;
	}
}

static doca_error_t perform_consumer(const struct request *r, struct flow_object **at)
{
	struct flow_object *o = *at;

	switch (r->op) {
	case FLOW_CONSUMER:
		return add_object(at, true, r->b, r->c);
	case FLOW_RUN:
		return run(o);
	case FLOW_IMM:
		return doca_comch_consumer_set_imm_data_len(o->consumer, r->b);
	case FLOW_POST:
		return flow_post(o, r->b, r->c);
	case FLOW_REPOST:
		o->reposts = r->b;
		return DOCA_SUCCESS;
	case FLOW_RECEIVED:
		return in_time(flow_wait(&o->n_done, r->b));
	case FLOW_FAILED:
		return in_time(flow_wait(&o->n_failed, r->b));
	case FLOW_COUNT:
		return returns(o->n_done);
	case FLOW_BAD:
		return returns(o->n_bad);
	case FLOW_DROP:
		flow_drop(o);
		return DOCA_SUCCESS;
	default:
		return perform_node(r);
	}
}

static doca_error_t perform_producer(const struct request *r, struct flow_object **at)
{
	struct flow_object *o = *at;

	switch (r->op) {
	case FLOW_PRODUCER:
		return add_object(at, false, r->b, r->c);
	case FLOW_SEND:
		return send_many(o, r->b, r->c, r->d);
	case FLOW_SENT:
		return in_time(flow_wait(&o->n_done, r->b));
	case FLOW_ENDED:
		return wait_ended(o, r->b);
	case FLOW_UNSENT:
		return in_time(flow_wait(&o->n_failed, r->b));
	case FLOW_SENT_COUNT:
		return returns(o->n_done);
	default:
		return perform_consumer(r, &flow.consumers[r->a % FLOW_OBJECTS]);
	}
}

static doca_error_t perform(const struct request *r)
{
	struct flow_object **at = &(r->b ? flow.producers : flow.consumers)[r->a % FLOW_OBJECTS];

	switch (r->op) {
	case FLOW_ERROR:
		return returns((uint32_t)(*at)->error);
	case FLOW_STATE:
		return in_time(flow_wait_state(*at, (enum doca_ctx_states)r->c));
	case FLOW_BEGIN:
		return doca_ctx_start((*at)->ctx);
	case FLOW_HALT:
		return doca_ctx_stop((*at)->ctx);
	case FLOW_DESTROY:
		return end_object(at);
	default:
		return perform_producer(r, &flow.producers[r->a % FLOW_OBJECTS]);
	}
}

/* --- the other side --------------------------------------------------------------------------- */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, timeout_ms) > 0;
}

static bool wait_readable(int fd, uint64_t deadline)
{
	while (!is_readable(fd, 0)) {
		bool any = flow_progress();

		if (!any && flow_waits_for_events)
			sleep_on_engines(fd);
		else if (!any)
			is_readable(fd, 1);
		if (deadline && monotonic_ms() > deadline)
			return false;
	}
	return true;
}

static doca_error_t ask(const struct request *request)
{
	return process_send(flow_peer.to, request, sizeof(*request)) ? DOCA_SUCCESS
								     : DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t take_reply(void)
{
	struct reply reply;

	if (!wait_readable(flow_peer.from, monotonic_ms() + 3 * FIXTURE_TIMEOUT_MS))
		return DOCA_ERROR_TIME_OUT;
	if (!process_receive(flow_peer.from, &reply, sizeof(reply)))
		return DOCA_ERROR_CONNECTION_RESET;
	flow_value = reply.value;
	return (doca_error_t)reply.status;
}

doca_error_t flow_do(enum flow_side side, enum flow_op op, uint32_t a, uint32_t b, uint32_t c,
		     uint32_t d)
{
	struct request request = {.op = op, .a = a, .b = b, .c = c, .d = d};
	doca_error_t result, theirs;
	uint32_t bad;

	if (side == HERE && op != FLOW_THREADS)
		return perform(&request);
	result = ask(&request);
	if (op != FLOW_THREADS || result != DOCA_SUCCESS)
		return result == DOCA_SUCCESS ? take_reply() : result;
	/* On both sides at once. */
	result = perform(&request);
	bad = flow_value;
	theirs = take_reply();
	flow_value += bad;
	DOCA_ERROR_PROPAGATE(result, theirs);
	return result;
}

int flow_serve(void)
{
	struct request request;
	struct reply reply;

	while (wait_readable(STDIN_FILENO, 0) &&
	       process_receive(STDIN_FILENO, &request, sizeof(request))) {
		flow_value = 0;
		reply.status = (int32_t)perform(&request);
		reply.value = flow_value;
		if (!process_send(STDOUT_FILENO, &reply, sizeof(reply)))
			return 1;
	}
	return close_all() == DOCA_SUCCESS ? 0 : 1;
}

static doca_error_t start_both(void)
{
	struct request request = {.op = FLOW_START};
	bool is_server = strcmp(test_options.peer_as, "dpu") != 0;
	doca_error_t result = DOCA_SUCCESS;

	snprintf(request.name, sizeof(request.name), "%s", node_unique_name());
	if (is_server)
		result = perform(&request);
	if (result == DOCA_SUCCESS)
		result = ask(&request);
	if (result == DOCA_SUCCESS)
		result = take_reply();
	if (result == DOCA_SUCCESS && !is_server)
		result = perform(&request);
	if (result == DOCA_SUCCESS)
		result = wait_connected();
	return result == DOCA_SUCCESS ? flow_do(THERE, FLOW_CONNECTED, 0, 0, 0, 0) : result;
}

int flow_setup(void **state)
{
	if (fixture_count(state) || !process_start_peer(&flow_peer, test_options.peer_as))
		return -1;
	return start_both() == DOCA_SUCCESS ? 0 : -1;
}

int flow_eager_setup(void **state)
{
	int result;

	is_eager = true;
	result = flow_setup(state);
	is_eager = false;
	return result;
}

int flow_teardown_here(void **state)
{
	if (close_all() != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

int flow_teardown(void **state)
{
	bool is_closed = flow_do(THERE, FLOW_CLOSE, 0, 0, 0, 0) == DOCA_SUCCESS &&
			 flow_do(HERE, FLOW_CLOSE, 0, 0, 0, 0) == DOCA_SUCCESS;

	if (!process_finish(&flow_peer) || !is_closed)
		return -1;
	return fixture_recount(state);
}
