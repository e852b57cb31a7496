/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The DMA engine between two QPs: messages, atomics, queue states, completions and their events. */
#include "engine_pair.h"

#include <unistd.h>

static void a_send_fills_the_receive_segments_in_order(void **state)
{
	struct pair *p = *state;
	struct fixture_sge parts[2] = {{p->mem_b + 10, 20, p->key_b},
				       {p->mem_b + 100, 50, p->key_b}};
	struct fixture_cqe cqe;
	struct fixture_wr wr;

	fixture_recv(&p->b, parts, 2);
	fixture_recv(&p->b, parts, 1);
	fixture_wr_begin(&wr);
	memcpy(wr.raw + 12, "\1\2\3\4", 4);
	fixture_wr_sge(&wr, &(struct fixture_sge){p->mem_a, 60, p->key_a});
	post_one(&p->a, &wr, EMU_WQE_SEND_IMM, FIXTURE_SIGNALED | FIXTURE_SOLICITED);
	cqe = fixture_expect(&p->cq_b, 0);
	assert_int_equal(cqe.opcode, EMU_CQE_RESP_SEND_IMM);
	assert_true(cqe.solicited);
	assert_int_equal(cqe.byte_cnt, 60);
	assert_int_equal(cqe.qpn, p->b.qpn);
	assert_int_equal(cqe.src_qpn, p->a.qpn);
	assert_memory_equal(cqe.imm, "\1\2\3\4", 4);
	assert_memory_equal(p->mem_b + 10, p->mem_a, 20);
	assert_memory_equal(p->mem_b + 100, p->mem_a + 20, 40);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_opcode, EMU_WQE_SEND_IMM);
	post_send(&p->a, sge(NULL, 0, 0));
	cqe = fixture_expect(&p->cq_b, 0);
	assert_int_equal(cqe.opcode, EMU_CQE_RESP_SEND);
	assert_int_equal(cqe.byte_cnt, 0);
	assert_false(cqe.solicited);
}

static void many_sends_arrive_in_their_buffers(void **state)
{
	struct pair *p = *state;

	for (unsigned int i = 0; i < 200; i++) {
		uint8_t *to = p->mem_b + (size_t)(i % 8) * 64;
		struct fixture_sge data = {p->mem_a + i, 40, i % 2 ? p->key_a : FIXTURE_INLINE};

		fixture_recv(&p->b, &(struct fixture_sge){to, 64, p->key_b}, 1);
		post_send(&p->a, data);
		fixture_expect(&p->cq_b, 0);
		fixture_expect(&p->cq_a, 0);
		assert_memory_equal(to, p->mem_a + i, 40);
	}
}

static void a_long_send_arrives_as_a_whole(void **state)
{
	const uint32_t len = (5u << 20) + 123;
	struct pair *p = *state;
	uint8_t *from = fixture_alloc(len);
	uint8_t *to = fixture_alloc(len);
	uint32_t lkey = fixture_mkey_mem(FUNC_A, PD_A, EMU_LR, from, len);
	uint32_t rkey = fixture_mkey_mem(FUNC_B, PD_B, EMU_LW, to, len);

	for (uint32_t i = 0; i < len; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 24);
	fixture_recv(&p->b, &(struct fixture_sge){to, len, rkey}, 1);
	post_send(&p->a, sge(from, len, lkey));
	assert_int_equal(fixture_expect(&p->cq_b, 0).byte_cnt, len);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(from, to, len);
	munmap(from, len);
	munmap(to, len);
}

static void a_write_with_immediate_takes_a_receive(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;

	fixture_recv(&p->b, NULL, 0);
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE_IMM, sge(p->mem_a, 700, p->key_a), p->mem_b + 5,
		  p->key_b);
	cqe = fixture_expect(&p->cq_b, 0);
	assert_int_equal(cqe.opcode, EMU_CQE_RESP_WR_IMM);
	assert_int_equal(cqe.byte_cnt, 700);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_b + 5, p->mem_a, 700);
}

static void a_receive_buffer_that_is_too_small_fails_both_sides(void **state)
{
	struct pair *p = *state;

	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 63, p->key_b}, 1);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	assert_int_equal(fixture_expect(&p->cq_b, EMU_SYN_LOC_LEN).opcode, EMU_CQE_RESP_ERR);
	fixture_expect(&p->cq_b, EMU_SYN_FLUSH);
	fixture_expect(&p->cq_a, EMU_SYN_REM_INV_REQ);
	expect_state(&p->a, EMU_QPS_ERR);
	expect_state(&p->b, EMU_QPS_ERR);
}

static void a_refused_receive_key_fails_both_sides(void **state)
{
	struct pair *p = *state;
	uint32_t read_only = fixture_mkey_mem(FUNC_B, PD_B, EMU_LR, p->mem_b, SIZE);

	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, read_only}, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_b, EMU_SYN_LOC_PROT);
	fixture_expect(&p->cq_a, EMU_SYN_REM_OP);
}

static void a_refused_send_key_fails_the_sender_alone(void **state)
{
	struct pair *p = *state;

	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_b));
	fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
	fixture_expect_none(&p->cq_b, p->slot_b);
	expect_state(&p->b, EMU_QPS_RTS);
}

static void atomics_return_the_old_value(void **state)
{
	struct pair *p = *state;
	struct fixture_sge old = {p->mem_a, 8, p->key_a};
	uint32_t dm = dm_key(FUNC_B, PD_B, 64, 64);
	uint64_t value = 40;

	memcpy(p->mem_b + 8, &value, 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, old, p->mem_b + 8, p->key_b, 2, 0);
	assert_int_equal(fixture_expect(&p->cq_a, 0).byte_cnt, 8);
	assert_memory_equal(p->mem_a, &value, 8);
	value = 42;
	assert_memory_equal(p->mem_b + 8, &value, 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_CS, old, p->mem_b + 8, p->key_b, 7, 41);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a, &value, 8);
	assert_memory_equal(p->mem_b + 8, &value, 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_CS, old, p->mem_b + 8, p->key_b, 7, 42);
	fixture_expect(&p->cq_a, 0);
	value = 7;
	assert_memory_equal(p->mem_b + 8, &value, 8);
	memcpy(fixture_dm + 72, &value, 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, old, at(8), dm, 1, 0);
	fixture_expect(&p->cq_a, 0);
	assert_int_equal(fixture_dm[72], 8);
}

static void refuse_atomic(struct pair *p, const void *cell, uint32_t rkey, uint8_t syndrome)
{
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, sge(p->mem_a, 8, p->key_a), cell, rkey, 1, 0);
	fixture_expect(&p->cq_a, syndrome);
	expect_event(&p->b, syndrome == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
							   : EMU_EVENT_QP_REQ_ERR);
	fixture_qp_reset(&p->a);
	fixture_qp_reset(&p->b);
	fixture_qp_connect(&p->a, &p->b);
}

static void an_atomic_without_alignment_or_rights_is_refused(void **state)
{
	struct pair *p = *state;
	uint32_t no_atomic = fixture_mkey_mem(FUNC_B, PD_B, EMU_RR | EMU_RW, p->mem_b, SIZE);
	uint8_t *page = fixture_alloc(4096);
	uint32_t page_key = fixture_mkey_mem(FUNC_B, PD_B, FIXTURE_ALL, page, 4096);
	struct emu_mkey foreign = *fixture_mkey_entry(p->key_b);

	atomic_store(&foreign.serial, 0);
	foreign.u.mem.pid = getppid();
	refuse_atomic(p, p->mem_b + 4, p->key_b, EMU_SYN_REM_INV_REQ);
	refuse_atomic(p, p->mem_b, no_atomic, EMU_SYN_REM_ACCESS);
	refuse_atomic(p, p->mem_b, fixture_mkey(&foreign), EMU_SYN_REM_OP);
	mprotect(page, 4096, PROT_READ);
	refuse_atomic(p, page, page_key, EMU_SYN_REM_OP);
	munmap(page, 4096);
	refuse_atomic(p, page, page_key, EMU_SYN_REM_OP);
	p->b.entry->access = EMU_QP_REMOTE_READ;
	refuse_atomic(p, p->mem_b, p->key_b, EMU_SYN_REM_INV_REQ);
	assert_int_equal(p->mem_b[0], 0);
}

/* libmlx5 names 8 bytes in ibv_post_send(); ibv_wr_set_sge() passes any length on. */
static void atomic_takes_eight_bytes_of_its_list(void **state)
{
	struct pair *p = *state;
	struct fixture_sge parts[2] = {{p->mem_a, 4, p->key_a}, {p->mem_a + 100, 9, p->key_a}};
	uint64_t value = 0x1122334455667788ull;
	uint8_t beyond = p->mem_a[104];
	struct fixture_wr wr;

	memcpy(p->mem_b, &value, 8);
	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, p->mem_b, p->key_b);
	fixture_wr_atomic(&wr, 1, 0);
	fixture_wr_sge(&wr, &parts[0]);
	fixture_wr_sge(&wr, &parts[1]);
	post_one(&p->a, &wr, EMU_WQE_ATOMIC_FA, FIXTURE_SIGNALED);
	assert_int_equal(fixture_expect(&p->cq_a, 0).byte_cnt, 8);
	assert_memory_equal(p->mem_a, &value, 4);
	assert_memory_equal(p->mem_a + 100, (uint8_t *)&value + 4, 4);
	assert_int_equal(p->mem_a[104], beyond);
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, sge(p->mem_a, 7, p->key_a), p->mem_b, p->key_b, 1, 0);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_LEN);
	assert_int_equal(p->mem_b[0], 0x89);
}

static void receiver_not_ready_is_waited_for(void **state)
{
	struct pair *p = *state;

	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&p->cq_a, p->slot_a);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_expect(&p->cq_b, 0);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_b, p->mem_a, 64);
}

static void receiver_not_ready_fails_after_its_retries(void **state)
{
	struct pair *p = *state;

	p->a.entry->rnr_retry = 2;
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_a, EMU_SYN_RNR_RETRY);
	expect_state(&p->b, EMU_QPS_RTS);
	fixture_expect_none(&p->cq_b, p->slot_b);
}

static void refuse_unreachable(struct pair *p)
{
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 64, p->key_a), p->mem_b, p->key_b);
	fixture_expect(&p->cq_a, EMU_SYN_RETRY);
	fixture_qp_reset(&p->a);
	fixture_qp_state(&p->a, EMU_QPS_RTS);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_a, EMU_SYN_RETRY);
	fixture_qp_reset(&p->a);
	fixture_qp_state(&p->a, EMU_QPS_RTS);
}

static void a_peer_that_is_not_connected_is_unreachable(void **state)
{
	struct pair *p = *state;

	fixture_qp_state(&p->b, EMU_QPS_INIT);
	refuse_unreachable(p);
	fixture_qp_state(&p->b, EMU_QPS_ERR);
	refuse_unreachable(p);
	fixture_qp_state(&p->b, EMU_QPS_RTR);
	p->b.entry->dest_qpn = p->b.qpn;
	refuse_unreachable(p);
	p->b.entry->dest_qpn = p->a.qpn;
	p->a.entry->dest_func = UINT32_MAX;
	refuse_unreachable(p);
	p->a.entry->dest_func = FUNC_B;
	fixture_qp_retire(&p->b);
	refuse_unreachable(p);
}

/* The peer disappears while a send waits for its answer. */
static void peer_dies_under_a_send(void **state)
{
	struct pair *p = *state;

	p->b.entry->min_rnr_timer = 5;
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&p->cq_a, p->slot_a);
	fixture_qp_retire(&p->b);
	fixture_expect(&p->cq_a, EMU_SYN_RETRY);
}

static void error_flushes_both_queues(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;

	for (int i = 0; i < 3; i++)
		fixture_recv(&p->a, &(struct fixture_sge){p->mem_a, 64, p->key_a}, 1);
	fixture_wr_put(&p->a, &(struct fixture_wr){.len = 16}, 0xee, 0);
	fixture_wr_put(&p->a, &(struct fixture_wr){.len = 16 * 6}, EMU_WQE_NOP, 0);
	fixture_wr_put(&p->a, &(struct fixture_wr){.len = 16}, EMU_WQE_NOP, FIXTURE_SIGNALED);
	fixture_ring(&p->a);
	cqe = fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP);
	assert_int_equal(cqe.wqe_counter, 0);
	assert_int_equal(cqe.wqe_opcode, 0xee);
	assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).wqe_counter, 1);
	assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).wqe_counter, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).opcode, EMU_CQE_RESP_ERR);
	post_nop(&p->a, 0);
	assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).wqe_counter, 4);
	fixture_recv(&p->a, NULL, 0);
	assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).opcode, EMU_CQE_RESP_ERR);
	fixture_expect_none(&p->cq_a, p->slot_a);
}

static void modify_to_error_flushes(void **state)
{
	struct pair *p = *state;

	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect_none(&p->cq_a, p->slot_a);
	fixture_qp_state(&p->a, EMU_QPS_ERR);
	assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_FLUSH).wqe_opcode, EMU_WQE_SEND);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_expect_none(&p->cq_b, p->slot_b);
}

/*
 * The server waits for this before it destroys a queue pair; a message counts when it has been
 * answered.
 */
static void executed_requests_are_counted(void **state)
{
	struct pair *p = *state;

	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, EMU_SYN_OK);
	assert_int_equal(atomic_load(&p->a.entry->done), 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&p->cq_a, p->slot_a); /* there is no receive WQE */
	assert_int_equal(atomic_load(&p->a.entry->done), 1);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_expect(&p->cq_a, EMU_SYN_OK);
	assert_int_equal(atomic_load(&p->a.entry->done), 2);
}

/* No engine serves the peer's inbox, so the message is still there when its QP fails. */
static void flush_takes_the_message_back(void **state)
{
	struct pair *p = *state;
	struct emu_msg *inbox = &p->b.entry->inbox;

	fixture_engine_stop(p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&p->cq_a, p->slot_a);
	assert_int_equal(EMU_MSG_STATE(atomic_load(&inbox->state)), EMU_MSG_POSTED);
	fixture_qp_state(&p->a, EMU_QPS_ERR);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
	assert_int_equal(atomic_load(&inbox->state), EMU_MSG_FREE);
}

static void freeze(const struct fixture_cq *cq, uint32_t slot, uint32_t frozen)
{
	atomic_store(&fixture_queues->cq[cq->cqn].frozen, frozen);
	fixture_passes(slot);
}

/* A frozen CQ keeps an engine from its queue pair. */
static void acknowledged_message_completes_before_the_flush(void **state)
{
	struct pair *p = *state;
	struct emu_msg *inbox = &p->b.entry->inbox;

	freeze(&p->cq_b, p->slot_b, 1);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	while (EMU_MSG_STATE(atomic_load(&inbox->state)) != EMU_MSG_POSTED)
		fixture_passes(p->slot_a);
	freeze(&p->cq_a, p->slot_a, 1);
	freeze(&p->cq_b, p->slot_b, 0);
	fixture_expect(&p->cq_b, EMU_SYN_OK);
	while (EMU_MSG_STATE(atomic_load(&inbox->state)) != EMU_MSG_DONE)
		fixture_passes(p->slot_b);
	fixture_qp_state(&p->a, EMU_QPS_ERR);
	freeze(&p->cq_a, p->slot_a, 0);
	fixture_expect(&p->cq_a, EMU_SYN_OK);
	fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
}

static void reset_starts_anew(void **state)
{
	struct pair *p = *state;

	post_nop(&p->a, FIXTURE_SIGNALED);
	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, 0);
	fixture_expect(&p->cq_a, 0);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_passes(p->slot_a);
	fixture_qp_reset(&p->a);
	fixture_qp_state(&p->a, EMU_QPS_RTS);
	post_nop(&p->a, FIXTURE_SIGNALED);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_counter, 0);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_expect_none(&p->cq_b, p->slot_b);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_b, 0);
	fixture_expect(&p->cq_a, 0);
}

static void retired_qp_is_silent(void **state)
{
	struct pair *p = *state;

	fixture_qp_retire(&p->a);
	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect_none(&p->cq_a, p->slot_a);
}

static void drained_queue_does_not_start(void **state)
{
	struct pair *p = *state;

	fixture_qp_state(&p->a, EMU_QPS_SQD);
	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect_none(&p->cq_a, p->slot_a);
	fixture_qp_state(&p->a, EMU_QPS_RTS);
	fixture_expect(&p->cq_a, 0);
}

static void a_cq_overrun_fails_its_queue_pair(void **state)
{
	struct pair *p = *state;
	struct emu_note note;
	struct fixture_cq small;
	struct fixture_qp qp;

	fixture_cq_init(&small, p->slot_a, 4, 64);
	fixture_qp_init(&qp, p->slot_a, FUNC_A, PD_A, 16, &small, &small);
	fixture_qp_connect(&qp, &qp);
	for (int i = 0; i < 5; i++)
		fixture_wr_put(&qp, &(struct fixture_wr){.len = 16}, EMU_WQE_NOP, FIXTURE_SIGNALED);
	fixture_ring(&qp);
	assert_true(fixture_note(&note));
	assert_int_equal(note.type, EMU_NOTE_CQ_ERR);
	assert_int_equal(note.number, small.cqn);
	fixture_passes(p->slot_a);
	expect_state(&qp, EMU_QPS_ERR);
	for (int i = 0; i < 4; i++)
		fixture_expect(&small, 0);
	post_nop(&qp, FIXTURE_SIGNALED);
	fixture_expect_none(&small, p->slot_a);
}

static void large_cqes_change_their_owner_bit(void **state)
{
	struct pair *p = *state;
	struct fixture_cq cq;
	struct fixture_qp qp;

	fixture_cq_init(&cq, p->slot_a, 4, 128);
	fixture_qp_init(&qp, p->slot_a, FUNC_A, PD_A, 16, &cq, &cq);
	fixture_qp_connect(&qp, &qp);
	for (uint16_t i = 0; i < 30; i++) {
		post_nop(&qp, FIXTURE_SIGNALED);
		assert_int_equal(fixture_expect(&cq, 0).wqe_counter, i);
	}
}

static void arm(struct fixture_cq *cq, uint32_t sn, uint32_t cmd)
{
	uint32_t raw;

	emu_put32((uint8_t *)&raw, sn << 28 | cmd << 24 | (cq->ci & 0xffffff));
	__atomic_store_n(&cq->dbr[1], raw, __ATOMIC_RELEASE);
}

static void expect_comp(const struct fixture_cq *cq)
{
	struct emu_note note;

	assert_true(fixture_note(&note));
	assert_int_equal(note.type, EMU_NOTE_COMP);
	assert_int_equal(note.number, cq->cqn);
}

static void a_completion_is_reported_once_per_arm(void **state)
{
	struct pair *p = *state;

	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, 0);
	fixture_expect_no_note(p->slot_a);
	arm(&p->cq_a, 0, 0);
	fixture_expect_no_note(p->slot_a);
	post_nop(&p->a, FIXTURE_SIGNALED);
	expect_comp(&p->cq_a);
	arm(&p->cq_a, 0, 0);
	post_nop(&p->a, FIXTURE_SIGNALED);
	fixture_expect_no_note(p->slot_a);
	arm(&p->cq_a, 1, 0);
	expect_comp(&p->cq_a);
}

/* IBA 11.4.2.2. The driver overwrites the first request, so the engine must have seen it. */
static void request_for_any_completion_outlives_one_for_solicited(void **state)
{
	struct pair *p = *state;
	struct fixture_sge room = {p->mem_b, 64, p->key_b};

	arm(&p->cq_b, 0, 0);
	fixture_expect_no_note(p->slot_b);
	arm(&p->cq_b, 0, 1);
	fixture_expect_no_note(p->slot_b);
	fixture_recv(&p->b, &room, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	expect_comp(&p->cq_b);
	fixture_expect(&p->cq_b, 0);
	arm(&p->cq_b, 1, 1); /* after the event the next request counts alone */
	fixture_recv(&p->b, &room, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_b, 0);
	fixture_expect_no_note(p->slot_b);
}

/*
 * The peer acknowledges A's send, and sends its reply, while A's engine does not look: A's program
 * must see the completion of its send first, and the event for it.
 */
static void answer_precedes_the_reply(void **state)
{
	struct pair *p = *state;
	struct emu_msg *to_a = &p->a.entry->inbox, *to_b = &p->b.entry->inbox;
	struct fixture_cq sends; /* has the higher number */
	uint32_t serial;

	fixture_engine_stop(p->slot_b);
	fixture_cq_init(&sends, p->slot_a, 8, 64);
	serial = atomic_exchange(&p->a.entry->serial, 0);
	fixture_passes(p->slot_a); /* now the engine does not look at the queue pair */
	p->a.entry->send_cqn = sends.cqn;
	atomic_store(&p->a.entry->serial, serial);
	atomic_fetch_add(&fixture_queues->engine[p->slot_a].change, 1);
	fixture_recv(&p->a, NULL, 0);
	arm(&sends, 0, 0);
	arm(&p->cq_a, 0, 0);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect_none(&sends, p->slot_a);
	atomic_store(&fixture_queues->cq[sends.cqn].frozen, 1);
	fixture_passes(p->slot_a);
	to_b->syndrome = 0;
	atomic_store(&to_b->state, EMU_MSG_FOR(p->slot_b, EMU_MSG_DONE));
	to_a->opcode = EMU_WQE_SEND;
	to_a->len = to_a->nsge = to_a->flags = 0;
	to_a->src_engine = p->slot_b;
	to_a->src_qpn = p->b.qpn;
	to_a->src_serial = atomic_load(&p->b.entry->serial);
	to_a->src_resets = atomic_load(&p->b.entry->resets);
	atomic_store(&to_a->state, EMU_MSG_FOR(p->slot_a, EMU_MSG_POSTED));
	atomic_store(&fixture_queues->cq[sends.cqn].frozen, 0);
	expect_comp(&sends);
	expect_comp(&p->cq_a);
	fixture_expect(&sends, 0);
	fixture_expect(&p->cq_a, 0);
}

static void a_cq_armed_for_solicited_reports_them_and_errors(void **state)
{
	struct pair *p = *state;
	struct fixture_sge room = {p->mem_b, 64, p->key_b};
	struct fixture_wr wr;

	arm(&p->cq_b, 0, 1);
	fixture_recv(&p->b, &room, 1);
	fixture_recv(&p->b, &room, 1);
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_b, 0);
	fixture_expect_no_note(p->slot_b);
	fixture_wr_begin(&wr);
	post_one(&p->a, &wr, EMU_WQE_SEND, FIXTURE_SOLICITED);
	expect_comp(&p->cq_b);
	fixture_expect(&p->cq_b, 0);
	arm(&p->cq_b, 1, 1);
	fixture_recv(&p->b, &room, 1);
	fixture_passes(p->slot_b);
	fixture_qp_state(&p->b, EMU_QPS_ERR);
	expect_comp(&p->cq_b);
}

static void an_engine_wakes_from_sleep(void **state)
{
	struct pair *p = *state;

	for (int i = 0; i < 5; i++) {
		while (!atomic_load(&fixture_queues->engine[p->slot_a].asleep) ||
		       !atomic_load(&fixture_queues->engine[p->slot_b].asleep))
			usleep(100);
		fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
		post_send(&p->a, sge(p->mem_a, 64, p->key_a));
		fixture_expect(&p->cq_b, 0);
		fixture_expect(&p->cq_a, 0);
	}
}

static void an_unreliable_connection_reports_no_remote_error(void **state)
{
	struct pair *p = *state;

	p->a.entry->type = EMU_QPT_UC;
	p->b.entry->type = EMU_QPT_UC;
	post_send(&p->a, sge(p->mem_a, 64, p->key_a));
	fixture_expect(&p->cq_a, 0);
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 64, p->key_a), p->mem_b, p->key_a);
	fixture_expect(&p->cq_a, 0);
	expect_state(&p->b, EMU_QPS_RTS);
	post_rdma(&p->a, EMU_WQE_RDMA_READ, sge(p->mem_a, 64, p->key_a), p->mem_b, p->key_b);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP);
}

/* Let `target` execute its requests before `index`. */
static void post_send_en(struct fixture_qp *qp, const struct fixture_qp *target, uint32_t index)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, NULL, index);
	emu_put32(wr.raw + 28, target->qpn);
	post_one(qp, &wr, EMU_WQE_SEND_EN, FIXTURE_SIGNALED);
}

static void put_nops(struct fixture_qp *qp, unsigned int n)
{
	struct fixture_wr wr;

	for (; n; n--) {
		fixture_wr_begin(&wr);
		fixture_wr_put(qp, &wr, EMU_WQE_NOP, FIXTURE_SIGNALED);
	}
}

static void expect_of(struct pair *p, const struct fixture_qp *qp, unsigned int n)
{
	for (; n; n--)
		assert_int_equal(fixture_expect(&p->cq_a, 0).qpn, qp->qpn);
}

/* What the engine reads of a queue pair is written before it is ready. */
static void init_master(struct pair *p, struct fixture_qp *qp, bool releases)
{
	fixture_qp_init(qp, p->slot_a, FUNC_A, PD_A, 16, &p->cq_a, &p->cq_a);
	qp->entry->releases = releases;
	fixture_qp_connect(qp, qp);
}

static void init_slave(struct pair *p, struct fixture_qp *qp, uint16_t func, uint32_t pdn)
{
	fixture_qp_init(qp, p->slot_a, func, pdn, 16, &p->cq_a, &p->cq_a);
	qp->entry->is_released = true;
	fixture_qp_connect(qp, qp);
}

static void a_released_queue_goes_as_far_as_it_may(void **state)
{
	struct fixture_qp master, slave;
	struct pair *p = *state;

	init_master(p, &master, true);
	init_slave(p, &slave, FUNC_A, PD_A);
	for (unsigned int round = 0; round < 20; round++) {
		put_nops(&slave, 5);
		fixture_expect_none(&p->cq_a, p->slot_a);
		post_send_en(&master, &slave, (uint16_t)(slave.sq_post - 2));
		expect_of(p, &master, 1);
		expect_of(p, &slave, 3);
		fixture_expect_none(&p->cq_a, p->slot_a);
		if (round & 1) {
			fixture_ring(&slave);
		} else {
			post_send_en(&master, &slave, slave.sq_post);
			expect_of(p, &master, 1);
		}
		expect_of(p, &slave, 2);
	}
}

static void only_queues_that_are_made_for_it_are_released(void **state)
{
	struct fixture_qp master, slave, plain;
	struct pair *p = *state;

	for (unsigned int i = 0; i < 5; i++) {
		init_master(p, &master, i != 0);
		init_slave(p, &slave, i == 2 ? FUNC_B : FUNC_A, PD_A + (i == 1));
		add_loopback(p, &plain);
		put_nops(&slave, 1);
		post_send_en(&master, i == 3 ? &plain : i == 4 ? &p->b : &slave, 1);
		assert_int_equal(fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP).qpn, master.qpn);
		expect_state(&master, EMU_QPS_ERR);
		fixture_expect_none(&p->cq_a, p->slot_a);
	}
}

static void start_refuses_a_free_slot(void **state)
{
	struct pair *p = *state;
	struct emu_engine_config config = {
		fixture_tables, fixture_queues, fixture_dm, p->slot_a, -1, NULL, 0, NULL};

	config.slot = EMU_MAX_ENGINES - 1;
	assert_int_not_equal(emu_engine_start(&config), 0);
	config.slot = EMU_MAX_ENGINES;
	assert_int_not_equal(emu_engine_start(&config), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_send_fills_the_receive_segments_in_order),
		PAIR_TEST(many_sends_arrive_in_their_buffers),
		PAIR_TEST(a_long_send_arrives_as_a_whole),
		PAIR_TEST(a_write_with_immediate_takes_a_receive),
		PAIR_TEST(a_receive_buffer_that_is_too_small_fails_both_sides),
		PAIR_TEST(a_refused_receive_key_fails_both_sides),
		PAIR_TEST(a_refused_send_key_fails_the_sender_alone),
		PAIR_TEST(atomics_return_the_old_value),
		PAIR_TEST(an_atomic_without_alignment_or_rights_is_refused),
		PAIR_TEST(atomic_takes_eight_bytes_of_its_list),
		PAIR_TEST(receiver_not_ready_is_waited_for),
		PAIR_TEST(receiver_not_ready_fails_after_its_retries),
		PAIR_TEST(a_peer_that_is_not_connected_is_unreachable),
		PAIR_TEST(peer_dies_under_a_send),
		PAIR_TEST(error_flushes_both_queues),
		PAIR_TEST(modify_to_error_flushes),
		PAIR_TEST(executed_requests_are_counted),
		PAIR_TEST(flush_takes_the_message_back),
		PAIR_TEST(acknowledged_message_completes_before_the_flush),
		PAIR_TEST(reset_starts_anew),
		PAIR_TEST(retired_qp_is_silent),
		PAIR_TEST(drained_queue_does_not_start),
		PAIR_TEST(a_cq_overrun_fails_its_queue_pair),
		PAIR_TEST(large_cqes_change_their_owner_bit),
		PAIR_TEST(a_completion_is_reported_once_per_arm),
		PAIR_TEST(request_for_any_completion_outlives_one_for_solicited),
		PAIR_TEST(answer_precedes_the_reply),
		PAIR_TEST(a_cq_armed_for_solicited_reports_them_and_errors),
		PAIR_TEST(an_engine_wakes_from_sleep),
		PAIR_TEST(an_unreliable_connection_reports_no_remote_error),
		PAIR_TEST(a_released_queue_goes_as_far_as_it_may),
		PAIR_TEST(only_queues_that_are_made_for_it_are_released),
		PAIR_TEST(start_refuses_a_free_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
