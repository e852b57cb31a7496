/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* When the event of a completion is sent: that of a message may wait for the reply. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bare_engine.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"

#define CQN	7u
#define QPN	65u
#define ENTRIES 16u
#define NOW	1000000u

struct bench {
	struct engine *e;
	struct emu_cq *cq;
	int channel; /* what the program reads */
	uint32_t events;
	uint8_t dbr[8];
	uint8_t ring[ENTRIES * 64];
};

/* As the program does after an event. */
static void arm(struct bench *b)
{
	emu_put32(b->dbr, b->cq->pi);
	emu_put32(b->dbr + 4, (b->events & 3) << 28 | b->cq->pi);
}

static int setup(void **state)
{
	struct emu_channel_fd message = {.cqn = CQN, .serial = 1, .element = 1};
	struct bench *b = test_calloc(1, sizeof(*b));
	int ends[2];

	b->e = bare_engine_open(NOW);
	b->e->pass.deadline = UINT64_MAX;
	b->cq = bare_engine_cq(b->e, CQN, b->ring, ENTRIES, b->dbr);
	b->cq->has_channel = true;
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	b->channel = ends[0];
	emu_cq_accept(b->e, &message, ends[1]);
	arm(b);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	emu_cq_close_channels(b->e);
	close(b->channel);
	bare_engine_close(b->e);
	test_free(b);
	return 0;
}

/* Is there an event? If so, the program takes it, and asks for the next one. */
static bool tells(struct bench *b)
{
	uint64_t element;

	emu_cq_notify(b->e, CQN);
	if (read(b->channel, &element, sizeof(element)) != sizeof(element))
		return false;
	b->events++;
	arm(b);
	return true;
}

static void push(struct bench *b, uint8_t opcode)
{
	struct emu_cqe cqe = {.opcode = opcode, .qpn = QPN};

	assert_true(emu_cq_push(b->e, CQN, &cqe));
	emu_cq_publish(b->e);
	b->e->pass.now = NOW;
}

static void send(struct bench *b)
{
	push(b, EMU_CQE_REQ);
	emu_cq_sent(b->e, CQN);
}

static void receive(struct bench *b)
{
	emu_cq_answered(b->e, CQN);
	push(b, EMU_CQE_RESP_SEND);
}

/* A message whose completion has an event of its own, and a reply. */
static void exchange(struct bench *b)
{
	send(b);
	assert_true(tells(b));
	receive(b);
	assert_true(tells(b));
}

static void one_event_tells_of_a_message_and_its_reply(void **state)
{
	struct bench *b = *state;

	exchange(b);
	for (int i = 0; i < 3; i++) {
		send(b);
		assert_false(tells(b));
		assert_int_equal(b->e->pass.deadline, NOW + ENGINE_REPLY_NS);
		receive(b);
		assert_true(tells(b));
		assert_false(tells(b));
	}
}

static void a_late_reply_has_an_event_of_its_own(void **state)
{
	struct bench *b = *state;

	exchange(b);
	send(b);
	b->e->pass.now = NOW + ENGINE_REPLY_NS - 1;
	assert_false(tells(b));
	b->e->pass.now++;
	assert_true(tells(b));
	receive(b);
	assert_true(tells(b));
}

static void messages_without_replies_do_not_wait(void **state)
{
	struct bench *b = *state;

	exchange(b);
	send(b);
	assert_false(tells(b));
	b->e->pass.now = NOW + ENGINE_REPLY_NS;
	assert_true(tells(b));
	for (int i = 0; i < 3; i++) {
		send(b);
		assert_true(tells(b));
	}
}

static void another_completion_ends_the_wait(void **state)
{
	struct bench *b = *state;

	exchange(b);
	send(b);
	push(b, EMU_CQE_REQ);
	assert_true(tells(b));
	/* The first completion was there before. */
	exchange(b);
	push(b, EMU_CQE_REQ);
	send(b);
	assert_true(tells(b));
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		bench_test(one_event_tells_of_a_message_and_its_reply),
		bench_test(a_late_reply_has_an_event_of_its_own),
		bench_test(messages_without_replies_do_not_wait),
		bench_test(another_completion_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
