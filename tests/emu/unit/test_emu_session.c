/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completions that an engine delays in order to compress them, and events that may end the delay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bare_engine.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"

#define CQN	7u
#define QPN	65u
#define ENTRIES 16u
#define INVALID 0xf0u
#define NOW	1000000u

struct bench {
	struct engine *e;
	struct emu_cq *cq;
	struct emu_qp *qp;
	uint32_t dbr[2];
	uint8_t ring[ENTRIES * 64];
};

static int setup(void **state)
{
	struct bench *b = test_calloc(1, sizeof(*b));

	b->e = bare_engine_open(NOW);
	b->e->cfg.notify_fd = -1;
	memset(b->ring, INVALID, sizeof(b->ring));
	b->cq = bare_engine_cq(b->e, CQN, b->ring, ENTRIES, b->dbr);
	b->cq->session = EMU_MAX_SESSION;
	b->qp = &b->e->cfg.queues->qp[QPN];
	b->qp->recv_cqn = CQN;
	b->qp->type = EMU_QPT_RC;
	atomic_store(&b->qp->serial, 2);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	bare_engine_close(b->e);
	test_free(b);
	return 0;
}

static bool is_written(const struct bench *b, uint32_t index)
{
	return b->ring[index * 64 + 63] != INVALID;
}

static bool push(struct bench *b, uint16_t counter)
{
	struct emu_cqe cqe = {.opcode = EMU_CQE_RESP_SEND, .qpn = QPN, .wqe_counter = counter};

	return emu_cq_push(b->e, CQN, &cqe);
}

/* Three delayed completions. */
static void hold(struct bench *b)
{
	for (uint16_t i = 0; i < 3; i++)
		assert_true(push(b, i));
	emu_cq_publish(b->e);
	assert_int_equal(b->e->cq.session.n, 3);
	assert_int_equal(b->cq->pi, 0);
	assert_false(is_written(b, 0));
}

static void dropped(struct bench *b)
{
	emu_cq_end_session(b->e);
	assert_int_equal(b->e->cq.session.n, 0);
	assert_int_equal(b->cq->pi, 0);
	assert_false(is_written(b, 0));
}

static void written_first(struct bench *b)
{
	assert_int_equal(b->cq->pi, 3);
	assert_int_equal(b->ring[63], EMU_CQE_RESP_SEND << 4 | 3 << 2);
	assert_int_equal(emu_get32(b->ring + 44), 3);
}

static void written(struct bench *b)
{
	assert_int_equal(b->e->cq.session.n, 0);
	written_first(b);
}

static void session_ends_when_nothing_else_happens(void **state)
{
	struct bench *b = *state;

	hold(b);
	b->e->pass.worked = false;
	b->e->pass.now = NOW + ENGINE_SESSION_IDLE_NS - 1;
	emu_cq_age_session(b->e);
	assert_int_equal(b->e->cq.session.n, 3);
	b->e->pass.now++;
	emu_cq_age_session(b->e);
	written(b);
	assert_true(b->e->pass.worked);
}

static void session_ends_in_time_if_much_happens(void **state)
{
	struct bench *b = *state;

	hold(b);
	b->e->pass.worked = true;
	b->e->pass.now = NOW + ENGINE_SESSION_NS - 1;
	emu_cq_age_session(b->e);
	assert_int_equal(b->e->cq.session.n, 3);
	b->e->pass.now++;
	emu_cq_age_session(b->e);
	written(b);
}

static void session_is_dropped_with_its_queue_pair(void **state)
{
	struct bench *b = *state;

	hold(b);
	atomic_store(&b->qp->serial, 0);
	dropped(b);
	atomic_store(&b->qp->serial, 3);
	hold(b);
	atomic_store(&b->qp->resets, 1);
	dropped(b);
	/* The first completion after a reset ends it too. */
	hold(b);
	atomic_store(&b->qp->resets, 2);
	assert_true(push(b, 3));
	assert_int_equal(b->e->cq.session.n, 1);
	assert_int_equal(b->cq->pi, 0);
}

static void session_is_dropped_with_its_completion_queue(void **state)
{
	struct bench *b = *state;

	hold(b);
	atomic_store(&b->cq->serial, 0);
	dropped(b);
	atomic_store(&b->cq->serial, 4);
	hold(b);
	atomic_store(&b->cq->serial, 5); /* a different queue with that number */
	dropped(b);
}

static void session_waits_for_a_frozen_queue(void **state)
{
	struct bench *b = *state;

	hold(b);
	atomic_store(&b->cq->frozen, 1);
	emu_cq_end_session(b->e);
	assert_int_equal(b->e->cq.session.n, 3);
	assert_false(is_written(b, 0));
	atomic_store(&b->cq->frozen, 0);
	emu_cq_end_session(b->e);
	written(b);
}

/* The ring has been replaced by one that is too small. */
static void session_overruns_a_smaller_ring(void **state)
{
	struct bench *b = *state;

	hold(b);
	b->cq->entries = 2;
	dropped(b);
	assert_true(atomic_load(&b->cq->error));
	assert_false(push(b, 3));
}

/* A session of one completion is a normal CQE. */
static void session_of_one_is_a_full_cqe(void **state)
{
	struct bench *b = *state;

	assert_true(push(b, 9));
	emu_cq_end_session(b->e);
	assert_int_equal(b->ring[63], EMU_CQE_RESP_SEND << 4);
	assert_int_equal(emu_get16(b->ring + 60), 9);
	assert_int_equal(b->cq->pi, 1);
}

/* A WQE was skipped, for example by an injected fault. */
static void session_of_consecutive_counters_is_compressed(void **state)
{
	struct bench *b = *state;

	hold(b);
	assert_true(push(b, 4));
	written_first(b);
	assert_int_equal(b->e->cq.session.n, 1);
}

/* A CQE that is written at once must follow the delayed ones. */
static void session_keeps_the_order(void **state)
{
	struct emu_cqe cqe = {.opcode = EMU_CQE_REQ, .qpn = QPN};
	struct bench *b = *state;

	assert_true(emu_cq_push(b->e, CQN, &cqe));
	assert_true(push(b, 0));
	assert_true(push(b, 1));
	assert_true(emu_cq_push(b->e, CQN, &cqe));
	emu_cq_publish(b->e);
	assert_int_equal(b->cq->pi, 4);
	assert_int_equal(b->ring[63], EMU_CQE_REQ << 4);
	assert_int_equal(b->ring[64 + 63], EMU_CQE_RESP_SEND << 4 | 3 << 2);
	assert_int_equal(b->ring[3 * 64 + 63], EMU_CQE_REQ << 4);
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		bench_test(session_ends_when_nothing_else_happens),
		bench_test(session_ends_in_time_if_much_happens),
		bench_test(session_is_dropped_with_its_queue_pair),
		bench_test(session_is_dropped_with_its_completion_queue),
		bench_test(session_waits_for_a_frozen_queue),
		bench_test(session_overruns_a_smaller_ring),
		bench_test(session_of_one_is_a_full_cqe),
		bench_test(session_of_consecutive_counters_is_compressed),
		bench_test(session_keeps_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
