/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Engines whose server has ended: what anybody waits for is flushed, nothing is moved any more. */
#include "emu_pair.h"

#include <sys/socket.h>
#include <unistd.h>

#include "emu/grace.h"

/* On a socket whose other end is closed, so that the engine has found out before it has a queue. */
static uint32_t start_orphan(int *fd)
{
	int pair[2];
	uint32_t slot;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	*fd = pair[0];
	slot = rig_engine_start_on(pair[0]);
	while (!atomic_load(&rig_queues->engine[slot].asleep))
		usleep(100);
	return slot;
}

/*
 * An engine that is kept off its processor between its look at the queues and its look for the
 * server finds neither: the queue was made, and used, and the server has ended meanwhile.
 */
static void test_queue_that_is_found_later(void **state)
{
	uint8_t *mem = rig_alloc(64);
	struct rig_qp qp;
	struct rig_cq cq;
	uint32_t slot, key;
	int fd;

	(void)state;
	slot = start_orphan(&fd);
	key = rig_mkey_mem(FUNC_A, PD_A, RIG_ALL, mem, 64);
	rig_cq_init(&cq, slot, 32, 64);
	rig_qp_init(&qp, slot, FUNC_A, PD_A, 16, &cq, &cq);
	rig_qp_connect(&qp, &qp);
	rig_recv(&qp, &(struct rig_sge){mem, 64, key}, 1);
	assert_int_equal(rig_expect(&cq, EMU_SYN_FLUSH).opcode, EMU_CQE_RESP_ERR);
	post_nop(&qp, RIG_SIGNALED);
	assert_int_equal(rig_expect(&cq, EMU_SYN_FLUSH).opcode, EMU_CQE_REQ_ERR);
	rig_engine_stop(slot);
	close(fd);
	munmap(mem, 64);
}

static int gone_teardown(void **state)
{
	atomic_store(&rig_queues->gone, 0);
	return pair_teardown(state);
}

/* Whoever finds out tells all, and has their word when they began another pass. */
static void test_all_are_told(void **state)
{
	struct pair *p = *state;

	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	rig_expect_none(&p->cq_a, p->slot_a); /* nobody receives it */
	atomic_store(&rig_queues->gone, 1);
	rig_expect(&p->cq_a, EMU_SYN_FLUSH);
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 64, p->key_a), p->mem_b, p->key_b);
	rig_expect(&p->cq_a, EMU_SYN_FLUSH);
	rig_recv(&p->b, &(struct rig_sge){p->mem_b, 64, p->key_b}, 1);
	rig_expect(&p->cq_b, EMU_SYN_FLUSH);
	assert_int_equal(p->mem_b[1], 0);
}

/* In the middle of a command: nobody thaws the ring, or answers. */
static void test_frozen_for_ever(void **state)
{
	struct pair *p = *state;

	atomic_store(&rig_queues->cq[p->cq_a.cqn].frozen, 1);
	rig_recv(&p->a, &(struct rig_sge){p->mem_a, 64, p->key_a}, 1);
	rig_expect_none(&p->cq_a, p->slot_a);
	atomic_store(&rig_queues->gone, 1);
	rig_expect(&p->cq_a, EMU_SYN_FLUSH);
}

/* A peer has the message, and is stopped. */
static void test_message_that_is_not_answered(void **state)
{
	struct pair *p = *state;
	_Atomic uint32_t *word = &p->b.entry->inbox.state;

	rig_engine_stop(p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	while (EMU_MSG_STATE(atomic_load(word)) != EMU_MSG_POSTED)
		usleep(100);
	atomic_store(word, EMU_MSG_FOR(p->slot_b, EMU_MSG_BUSY));
	rig_expect_none(&p->cq_a, p->slot_a);
	atomic_store(&rig_queues->gone, 1);
	rig_expect(&p->cq_a, EMU_SYN_FLUSH);
}

/* The same, and the server is there: a queue that is to fail waits for so long only. */
static void test_stopped_peer(void **state)
{
	struct pair *p = *state;
	_Atomic uint32_t *word = &p->b.entry->inbox.state;

	rig_engine_stop(p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	while (EMU_MSG_STATE(atomic_load(word)) != EMU_MSG_POSTED)
		usleep(100);
	atomic_store(word, EMU_MSG_FOR(p->slot_b, EMU_MSG_BUSY));
	rig_qp_state(&p->a, EMU_QPS_ERR);
	rig_expect(&p->cq_a, EMU_SYN_FLUSH);
	assert_int_equal(atomic_load(word), EMU_MSG_FREE);
}

static unsigned int asked[3];

static bool never_ends(const struct emu_engine *e)
{
	size_t i = (size_t)(e - rig_queues->engine) - (EMU_MAX_ENGINES - 3);

	assert_true(i < 3);
	asked[i]++;
	assert_true(asked[0] >= asked[i] && asked[0] <= asked[i] + 1);
	return false;
}

/* Engines that were stopped in a pass are waited for all at once, and only once. */
static void test_stopped_engines(void **state)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];
	struct emu_engine *e = &rig_queues->engine[EMU_MAX_ENGINES - 3];
	unsigned int i, before;

	(void)state;
	for (i = 0; i < 3; i++) {
		atomic_store(&e[i].epoch, 2 * i + 1);
		atomic_store(&e[i].serial, 1000 + i);
	}
	emu_grace_wait(rig_queues, gave_up_at, never_ends);
	for (i = 0; i < 3; i++)
		assert_int_equal(gave_up_at[EMU_MAX_ENGINES - 3 + i], 2 * i + 1);
	before = asked[0];
	assert_true(before && asked[1] == before && asked[2] == before);
	emu_grace_wait(rig_queues, gave_up_at, never_ends);
	assert_int_equal(asked[0], before);
	for (i = 0; i < 3; i++)
		atomic_store(&e[i].serial, 0);
}

#define GONE_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, gone_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_that_is_found_later),
		GONE_TEST(test_all_are_told),
		GONE_TEST(test_frozen_for_ever),
		GONE_TEST(test_message_that_is_not_answered),
		PAIR_TEST(test_stopped_peer),
		cmocka_unit_test(test_stopped_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
