/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "flow.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "interrupt.h"

#define PIECE	((size_t)512 << 10)
#define WAKE_MS 10

struct stage {
	struct flow *flow;
	bool exists;
	struct flow_rule rule;
	uint64_t at;
	bool has_thread;
	pthread_t thread;
	pthread_cond_t ready;
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
	struct dpumap_fault fault;
};

doca_error_t flow_create(uint64_t total, size_t ring, void *context, struct flow **flow,
			 struct dpumap_fault *fault)
{
	struct flow *f = calloc(1, sizeof(*f));

	if (!f)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a copy");
	f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd < 0) {
		free(f);
		return dpumap_fault_errno(fault, errno, "cannot set up a copy");
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

/* -- positions; the mutex is held -- */

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

static void wake_ready(struct flow *flow)
{
	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		struct stage *s = &flow->stages[i];

		if (s->has_thread && is_ready(flow, s))
			pthread_cond_signal(&s->ready);
	}
}

static void tell_caller(const struct flow *flow)
{
	const uint64_t one = 1;
	ssize_t n = write(flow->fd, &one, sizeof(one));

	(void)n; /* cannot fail: the counter is far from its limit */
}

/* -- threads -- */

static void fail(struct flow *flow, const struct dpumap_fault *fault)
{
	if (flow->result == DOCA_SUCCESS) {
		flow->result = fault->code;
		flow->fault = *fault;
	}
}

/* The mutex is held, but not during the work. */
static void work_on(struct flow *flow, struct stage *s)
{
	size_t asked = piece_of(flow, s), len = asked;
	struct dpumap_fault fault = {0};
	doca_error_t result;

	pthread_mutex_unlock(&flow->mutex);
	result = s->rule.work(flow->context, s->at, &len, &fault);
	pthread_mutex_lock(&flow->mutex);
	if (result != DOCA_SUCCESS) {
		fail(flow, &fault);
		s->has_ended = true;
		return;
	}
	s->at += len;
	if (len < asked)
		flow->total = s->at;
	wake_ready(flow);
}

static void *run(void *context)
{
	struct stage *s = context;
	struct flow *flow = s->flow;

	pthread_mutex_lock(&flow->mutex);
	while (!s->has_ended && !is_at_end(flow, s)) {
		if (is_ready(flow, s)) {
			work_on(flow, s);
			tell_caller(flow);
		} else {
			pthread_cond_wait(&s->ready, &flow->mutex);
		}
	}
	s->has_ended = true;
	tell_caller(flow);
	pthread_mutex_unlock(&flow->mutex);
	return NULL;
}

doca_error_t flow_start(struct flow *flow, struct dpumap_fault *fault)
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
		return dpumap_fault_errno(fault, err, "cannot start a thread to copy");
	return DOCA_SUCCESS;
}

/* -- for the caller -- */

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
	pthread_mutex_lock(&flow->mutex);
	flow->stages[stage].at += len;
	wake_ready(flow);
	pthread_mutex_unlock(&flow->mutex);
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

bool flow_is_complete(struct flow *flow)
{
	bool complete;

	pthread_mutex_lock(&flow->mutex);
	complete = last_position(flow) == flow->total;
	pthread_mutex_unlock(&flow->mutex);
	return complete;
}

doca_error_t flow_check(struct flow *flow, struct dpumap_fault *fault)
{
	doca_error_t result;

	pthread_mutex_lock(&flow->mutex);
	result = flow->result;
	if (result != DOCA_SUCCESS)
		*fault = flow->fault;
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

/* -- the end -- */

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

void flow_destroy(struct flow *flow, uint64_t *total)
{
	if (!flow)
		return;
	pthread_mutex_lock(&flow->mutex);
	flow->is_stopped = true;
	wake_ready(flow);
	pthread_mutex_unlock(&flow->mutex);
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
