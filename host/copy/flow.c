/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/copy/flow.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/base/interrupt.h"

#define PIECE	((size_t)1 << 20)
#define WAKE_MS 10

struct stage {
	struct flow *flow;
	bool exists;
	struct flow_rule rule;
	uint64_t at;
	bool has_thread;
	pthread_t thread;
	pthread_cond_t ready;
	bool is_waiting;
	bool has_ended;
};

struct flow {
	pthread_mutex_t mutex; /* of everything that changes */
	struct stage stages[FLOW_STAGES];
	uint64_t total;
	size_t ring;
	void *context;
	int fd;
	bool is_stopped;
	doca_error_t result; /* of the first thread that failed */
	struct dpumap_error error;
};

doca_error_t flow_create(uint64_t total, size_t ring, void *context, struct flow **flow,
			 struct dpumap_error *error)
{
	struct flow *f = calloc(1, sizeof(*f));

	if (!f)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a copy");
	f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd < 0) {
		free(f);
		return dpumap_error_errno(error, errno, "cannot set up a copy");
	}
	f->total = total;
	f->ring = ring;
	f->context = context;
	pthread_mutex_init(&f->mutex, NULL);
	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		f->stages[i].flow = f;
		pthread_cond_init(&f->stages[i].ready, NULL);
	}
	*flow = f;
	return DOCA_SUCCESS;
}

void flow_add(struct flow *flow, enum flow_stage stage, const struct flow_rule *rule)
{
	flow->stages[stage].exists = true;
	flow->stages[stage].rule = *rule;
}

/* --- positions; the mutex is held ------------------------------------------------------------- */

static uint64_t limit_of(const struct flow *flow, const struct stage *s)
{
	uint64_t limit = flow->total;

	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		const struct stage *other = &flow->stages[i];

		if (!other->exists)
			continue;
		if (s->rule.after & FLOW_BIT(i) && limit > other->at)
			limit = other->at;
		if (s->rule.ahead & FLOW_BIT(i) && limit > other->at + s->rule.room)
			limit = other->at + s->rule.room;
	}
	return limit;
}

/* The next piece: a thread does not begin with less, because each piece costs a wake-up. */
static size_t piece_of(const struct flow *flow, const struct stage *s)
{
	uint64_t len = flow->ring - s->at % flow->ring;

	if (len > PIECE)
		len = PIECE;
	if (len > flow->total - s->at)
		len = flow->total - s->at;
	return (size_t)len;
}

static bool is_at_end(const struct flow *flow, const struct stage *s)
{
	return flow->is_stopped || s->at == flow->total;
}

static bool is_ready(const struct flow *flow, const struct stage *s)
{
	return is_at_end(flow, s) || limit_of(flow, s) - s->at >= piece_of(flow, s);
}

/* Threads that wait and have work now. */
static unsigned int find_ready(const struct flow *flow)
{
	unsigned int ready = 0;

	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		if (flow->stages[i].is_waiting && is_ready(flow, &flow->stages[i]))
			ready |= FLOW_BIT(i);
	}
	return ready;
}

/* A sum that changes when the caller can do more: a limit only grows, except at the end of the stream. */
static uint64_t caller_limits(const struct flow *flow)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		const struct stage *s = &flow->stages[i];

		if (s->exists && !s->rule.work)
			sum += limit_of(flow, s);
	}
	return sum;
}

/* --- without the mutex: a thread that wakes takes it at once ---------------------------------- */

static void wake(struct flow *flow, unsigned int stages)
{
	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		if (stages & FLOW_BIT(i))
			pthread_cond_signal(&flow->stages[i].ready);
	}
}

static void signal_caller(const struct flow *flow)
{
	const uint64_t one = 1;
	ssize_t n = write(flow->fd, &one, sizeof(one));

	(void)n; /* cannot fail: the counter is far from its limit */
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Takes the mutex. Should the caller know? */
static bool advance(struct flow *flow, struct stage *s, size_t asked, size_t len)
{
	uint64_t before;
	unsigned int ready;
	bool concerns_caller;

	pthread_mutex_lock(&flow->mutex);
	before = caller_limits(flow);
	s->at += len;
	if (len < asked)
		flow->total = s->at;
	concerns_caller = is_at_end(flow, s) || caller_limits(flow) != before;
	ready = find_ready(flow);
	pthread_mutex_unlock(&flow->mutex);
	wake(flow, ready);
	return concerns_caller;
}

static bool await_work(struct flow *flow, struct stage *s, size_t *len)
{
	bool has_work;

	pthread_mutex_lock(&flow->mutex);
	s->is_waiting = true;
	while (!is_ready(flow, s))
		pthread_cond_wait(&s->ready, &flow->mutex);
	s->is_waiting = false;
	has_work = !is_at_end(flow, s);
	*len = piece_of(flow, s);
	pthread_mutex_unlock(&flow->mutex);
	return has_work;
}

static void end(struct flow *flow, struct stage *s, const struct dpumap_error *error)
{
	pthread_mutex_lock(&flow->mutex);
	if (error->code != DOCA_SUCCESS && flow->result == DOCA_SUCCESS) {
		flow->result = error->code;
		flow->error = *error;
	}
	s->has_ended = true;
	pthread_mutex_unlock(&flow->mutex);
	signal_caller(flow);
}

static void *run(void *context)
{
	struct dpumap_error error = {0};
	struct stage *s = context;
	struct flow *flow = s->flow;
	size_t asked, len;

	while (await_work(flow, s, &asked)) {
		len = asked;
		if (s->rule.work(flow->context, s->at, &len, &error) != DOCA_SUCCESS)
			break;
		if (advance(flow, s, asked, len))
			signal_caller(flow);
	}
	end(flow, s, &error);
	return NULL;
}

doca_error_t flow_start(struct flow *flow, struct dpumap_error *error)
{
	sigset_t before;
	int err = 0;

	interrupt_mask(&before);
	pthread_mutex_lock(&flow->mutex);
	for (unsigned int i = 0; i < FLOW_STAGES && !err; i++) {
		struct stage *s = &flow->stages[i];

		if (!s->exists || !s->rule.work)
			continue;
		err = pthread_create(&s->thread, NULL, run, s);
		s->has_thread = !err;
	}
	pthread_mutex_unlock(&flow->mutex);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return dpumap_error_errno(error, err, "cannot start a thread to copy");
	return DOCA_SUCCESS;
}

/* --- for the caller --------------------------------------------------------------------------- */

uint64_t flow_limit(struct flow *flow, enum flow_stage stage)
{
	uint64_t limit;

	pthread_mutex_lock(&flow->mutex);
	limit = limit_of(flow, &flow->stages[stage]);
	pthread_mutex_unlock(&flow->mutex);
	return limit;
}

void flow_advance(struct flow *flow, enum flow_stage stage, uint64_t len)
{
	unsigned int ready;

	pthread_mutex_lock(&flow->mutex);
	flow->stages[stage].at += len;
	ready = find_ready(flow);
	pthread_mutex_unlock(&flow->mutex);
	wake(flow, ready);
}

static uint64_t last_position(const struct flow *flow)
{
	uint64_t at = flow->total;

	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		if (flow->stages[i].exists && at > flow->stages[i].at)
			at = flow->stages[i].at;
	}
	return at;
}

uint64_t flow_done(struct flow *flow)
{
	uint64_t at;

	pthread_mutex_lock(&flow->mutex);
	at = last_position(flow);
	pthread_mutex_unlock(&flow->mutex);
	return at;
}

bool flow_is_end(struct flow *flow, uint64_t at)
{
	bool is_end;

	pthread_mutex_lock(&flow->mutex);
	is_end = at == flow->total;
	pthread_mutex_unlock(&flow->mutex);
	return is_end;
}

bool flow_is_complete(struct flow *flow)
{
	bool complete;

	pthread_mutex_lock(&flow->mutex);
	complete = last_position(flow) == flow->total;
	pthread_mutex_unlock(&flow->mutex);
	return complete;
}

doca_error_t flow_check(struct flow *flow, struct dpumap_error *error)
{
	doca_error_t result;

	pthread_mutex_lock(&flow->mutex);
	result = flow->result;
	if (result != DOCA_SUCCESS)
		*error = flow->error;
	pthread_mutex_unlock(&flow->mutex);
	return result;
}

int flow_fd(const struct flow *flow)
{
	return flow->fd;
}

void flow_listen(struct flow *flow)
{
	uint64_t count;
	ssize_t n = read(flow->fd, &count, sizeof(count));

	(void)n; /* nothing has happened */
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool has_ended(struct flow *flow, const struct stage *s)
{
	bool ended;

	pthread_mutex_lock(&flow->mutex);
	ended = s->has_ended;
	pthread_mutex_unlock(&flow->mutex);
	return ended;
}

/* The thread may wait in write(), where nobody reads the pipe. */
static void join(struct flow *flow, const struct stage *s)
{
	struct pollfd p = {.fd = flow->fd, .events = POLLIN};

	while (!has_ended(flow, s)) {
		interrupt_wake(s->thread);
		poll(&p, 1, WAKE_MS);
		flow_listen(flow);
	}
	pthread_join(s->thread, NULL);
}

static void stop(struct flow *flow)
{
	unsigned int ready;

	pthread_mutex_lock(&flow->mutex);
	flow->is_stopped = true;
	ready = find_ready(flow);
	pthread_mutex_unlock(&flow->mutex);
	wake(flow, ready);
}

void flow_destroy(struct flow *flow, uint64_t *total)
{
	if (!flow)
		return;
	stop(flow);
	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		if (flow->stages[i].has_thread)
			join(flow, &flow->stages[i]);
	}
	for (unsigned int i = 0; i < FLOW_STAGES; i++)
		pthread_cond_destroy(&flow->stages[i].ready);
	*total = flow->total;
	pthread_mutex_destroy(&flow->mutex);
	close(flow->fd);
	free(flow);
}
