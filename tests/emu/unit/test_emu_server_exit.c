/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Engines whose server has ended: outstanding work is flushed, and no more data is moved. */
#include "engine_pair.h"

#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/grace.h"

/* On a socket whose peer is closed, so that the engine notices before it has a queue. */
static uint32_t start_orphan(int *fd)
{
	int pair[2];
	uint32_t slot;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	*fd = pair[0];
	slot = fixture_engine_start_on(pair[0]);
	while (!atomic_load(&fixture_queues->engine[slot].asleep))
		usleep(100);
	return slot;
}

/*
 * An engine that is preempted between its look at the queues and its look for the server sees
 * neither: the queue was created and used, and the server ended, in the meantime.
 */
static void a_queue_that_is_found_later_is_flushed(void **state)
{
	uint8_t *mem = fixture_alloc(64);
	struct fixture_qp qp;
	struct fixture_cq cq;
	uint32_t slot, key;
	int fd;

	slot = start_orphan(&fd);
	key = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, mem, 64);
	fixture_cq_init(&cq, slot, 32, 64);
	fixture_qp_init(&qp, slot, FUNC_A, PD_A, 16, &cq, &cq);
	fixture_qp_connect(&qp, &qp);
	fixture_recv(&qp, &(struct fixture_sge){mem, 64, key}, 1);
	assert_int_equal(fixture_expect(&cq, EMU_SYN_FLUSH).opcode, EMU_CQE_RESP_ERR);
	post_nop(&qp, FIXTURE_SIGNALED);
	assert_int_equal(fixture_expect(&cq, EMU_SYN_FLUSH).opcode, EMU_CQE_REQ_ERR);
	fixture_engine_stop(slot);
	close(fd);
	munmap(mem, 64);
}

static int gone_teardown(void **state)
{
	atomic_store(&fixture_queues->server_ended, 0);
	return pair_teardown(state);
}

/* The engine that notices tells all others, and waits until each has begun another pass. */
static void outstanding_work_of_every_queue_is_flushed(void **state)
{
	struct pair *p = *state;

	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&p->cq_a, p->slot_a); /* there is no receive WQE */
	atomic_store(&fixture_queues->server_ended, 1);
	fixture_passes(p->slot_a); /* the client that marks the end waits for them, too */
	fixture_passes(p->slot_b);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 64, p->key_a), p->mem_b, p->key_b);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_expect(&p->cq_b, EMU_SYN_FLUSH);
	assert_int_equal(p->mem_b[1], 0);
}

/* In the middle of a command: no process unfreezes the ring, or answers. */
static void a_frozen_queue_is_flushed(void **state)
{
	struct pair *p = *state;

	atomic_store(&fixture_queues->cq[p->cq_a.cqn].frozen, 1);
	fixture_recv(&p->a, &(struct fixture_sge){p->mem_a, 64, p->key_a}, 1);
	fixture_expect_none(&p->cq_a, p->slot_a);
	atomic_store(&fixture_queues->server_ended, 1);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
}

/* A peer has the message, and is stopped. */
static void a_message_that_is_not_answered_is_flushed(void **state)
{
	struct pair *p = *state;
	_Atomic uint32_t *word = &p->b.entry->inbox.state;

	fixture_engine_stop(p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	while (EMU_MSG_STATE(atomic_load(word)) != EMU_MSG_POSTED)
		usleep(100);
	atomic_store(word, EMU_MSG_FOR(p->slot_b, EMU_MSG_BUSY));
	fixture_expect_none(&p->cq_a, p->slot_a);
	atomic_store(&fixture_queues->server_ended, 1);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
}

/* The same, with a live server: a queue that is to fail waits for a limited time only. */
static void a_failed_queue_does_not_wait_for_a_stopped_peer(void **state)
{
	struct pair *p = *state;
	_Atomic uint32_t *word = &p->b.entry->inbox.state;

	fixture_engine_stop(p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	while (EMU_MSG_STATE(atomic_load(word)) != EMU_MSG_POSTED)
		usleep(100);
	atomic_store(word, EMU_MSG_FOR(p->slot_b, EMU_MSG_BUSY));
	fixture_qp_state(&p->a, EMU_QPS_ERR);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
	assert_int_equal(atomic_load(word), EMU_MSG_FREE);
}

static unsigned int asked[3];

static bool never_ends(const struct emu_engine *e)
{
	size_t i = (size_t)(e - fixture_queues->engine) - (EMU_MAX_ENGINES - 3);

	assert_true(i < 3);
	asked[i]++;
	assert_true(asked[0] >= asked[i] && asked[0] <= asked[i] + 1);
	return false;
}

/* Engines that were stopped within a pass are waited for together, and only once. */
static void stopped_engines_are_waited_for_together_and_once(void **state)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];
	struct emu_engine *e = &fixture_queues->engine[EMU_MAX_ENGINES - 3];
	unsigned int before;

	for (unsigned int i = 0; i < 3; i++) {
		atomic_store(&e[i].epoch, 2 * i + 1);
		atomic_store(&e[i].serial, 1000 + i);
	}
	emu_grace_wait(fixture_queues, gave_up_at, never_ends);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(gave_up_at[EMU_MAX_ENGINES - 3 + i], 2 * i + 1);
	before = asked[0];
	assert_true(before && asked[1] == before && asked[2] == before);
	emu_grace_wait(fixture_queues, gave_up_at, never_ends);
	assert_int_equal(asked[0], before);
	for (unsigned int i = 0; i < 3; i++)
		atomic_store(&e[i].serial, 0);
}

#define GONE_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, gone_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_that_is_found_later_is_flushed),
		GONE_TEST(outstanding_work_of_every_queue_is_flushed),
		GONE_TEST(a_frozen_queue_is_flushed),
		GONE_TEST(a_message_that_is_not_answered_is_flushed),
		PAIR_TEST(a_failed_queue_does_not_wait_for_a_stopped_peer),
		cmocka_unit_test(stopped_engines_are_waited_for_together_and_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
