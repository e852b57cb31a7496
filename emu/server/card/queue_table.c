/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/queue_table.h"

#include <string.h>

#include "emu/server/card/blocks.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/path.h"
#include "emu/server/card/segments.h"

/* The numbers [first, end) of one kind of queue; each entry begins with a struct emu_queue. */
struct table {
	size_t at, stride; /* in struct emu_queues */
	size_t high;	   /* offset of its _Atomic uint32_t: all queues in use are below */
	uint32_t first, end;
	uint32_t last; /* the number that was used last */
};

#define TABLE(member, first, end)                                                                 \
	{                                                                                         \
		offsetof(struct emu_queues, member), sizeof(((struct emu_queues *)0)->member[0]), \
			offsetof(struct emu_queues, member##_high), first, end, (end)-1           \
	}

static struct table qps = TABLE(qp, EMU_FIRST_QPN, EMU_MAX_QPS);
static struct table cqs = TABLE(cq, 1, EMU_MAX_CQS);
static struct table srqs = TABLE(srq, 1, EMU_MAX_SRQS);

static struct emu_queue *entry(const struct table *t, uint32_t number)
{
	return (struct emu_queue *)(void *)((char *)emu_queues + t->at + number * t->stride);
}

static bool is_free(const struct table *t, uint32_t number)
{
	return !atomic_load(&entry(t, number)->serial);
}

static bool is_free_qpn(uint32_t qpn)
{
	return is_free(&qps, qpn);
}

/* The numbers of a block belong to one engine. */
static uint32_t find_number(struct table *t)
{
	for (uint32_t n = t->first; n < t->end; n++) {
		if (++t->last >= t->end)
			t->last = t->first;
		if (is_free(t, t->last) && (t != &qps || emu_block_owner(t->last) == EMU_NO_ENGINE))
			return t->last;
	}
	return 0;
}

static uint32_t publish(struct table *t, uint32_t number, const void *as)
{
	_Atomic uint32_t *high = (_Atomic uint32_t *)(void *)((char *)emu_queues + t->high);
	struct emu_queue *q = entry(t, number);

	if (!number)
		return 0;
	/* grace.pml: publish_fill */
	memcpy((char *)q + sizeof(q->serial), (const char *)as + sizeof(q->serial),
	       t->stride - sizeof(q->serial));
	/* grace.pml: publish */
	atomic_store_explicit(&q->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(high) <= number)
		atomic_store(high, number + 1);
	emu_engine_wake(q->engine);
	return number;
}

uint32_t emu_qp_publish(const struct emu_qp *q)
{
	const struct emu_func *f = &emu_topology.func[q->func];

	if (emu_endpoint_find(f, NULL) != EMU_NO_ENDPOINT)
		return publish(&qps, emu_block_number(q->engine, is_free_qpn), q);
	return publish(&qps, find_number(&qps), q);
}

uint32_t emu_cq_publish(const struct emu_cq *q)
{
	return publish(&cqs, find_number(&cqs), q);
}

uint32_t emu_srq_publish(const struct emu_srq *q)
{
	return publish(&srqs, find_number(&srqs), q);
}

/* The requester's message to a QP that is withdrawn is lost. */
static void drop_message(struct emu_msg *m)
{
	uint32_t word = atomic_load(&m->state);

	if (EMU_MSG_STATE(word) == EMU_MSG_POSTED || EMU_MSG_STATE(word) == EMU_MSG_BUSY)
		atomic_compare_exchange_strong(&m->state, &word, EMU_MSG_FREE);
}

static void withdraw(const struct table *t, uint32_t number)
{
	struct emu_queue *q = entry(t, number);

	if (!number)
		return;
	atomic_store(&q->serial, 0); /* grace.pml: retire */
	emu_grace();
	/* grace.pml: withdrawn */
	if (t == &qps)
		drop_message(&emu_queues->qp[number].inbox);
	emu_engine_wake(q->engine);
}

/*
 * A device flushes a failed queue pair within microseconds, long before firmware destroys it. The receive that an
 * engine took from a shared queue would be lost otherwise.
 */
static void let_flush(const struct emu_qp *q)
{
	if (atomic_load(&q->state) == EMU_QPS_ERR && q->srqn)
		emu_engine_let_pass(q->engine);
}

void emu_qp_withdraw(uint32_t qpn)
{
	if (qpn)
		let_flush(&emu_queues->qp[qpn]);
	withdraw(&qps, qpn);
	if (qpn)
		emu_path_clear(&emu_queues->qp[qpn]);
}

void emu_cq_withdraw(uint32_t cqn)
{
	withdraw(&cqs, cqn);
}

void emu_srq_withdraw(uint32_t srqn)
{
	withdraw(&srqs, srqn);
}
