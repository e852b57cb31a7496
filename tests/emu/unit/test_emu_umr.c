/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mkeys that work requests change: how the engine requests it, waits, and reads the result. */
#include "engine_pair.h"

#include <unistd.h>

#define INLINE_LIST 0x80u

static void begin_umr(struct fixture_wr *wr, uint32_t key, uint16_t entries)
{
	uint8_t *ctrl = wr->raw + 16;

	fixture_wr_begin(wr);
	emu_put32(wr->raw + 12, key);
	memset(ctrl, 0, 48 + 64 + (size_t)entries * 16);
	ctrl[0] = INLINE_LIST;
	emu_put16(ctrl + 4, entries);
	wr->len += 48u + 64u + entries * 16u;
}

/* The request that the engine sent to the server, which is this test. */
static struct emu_umr *posted(struct fixture_qp *qp, enum emu_umr_side side)
{
	struct emu_note note;

	assert_true(fixture_note(&note));
	assert_int_equal(note.type, EMU_NOTE_UMR);
	assert_int_equal(note.number, qp->qpn);
	assert_int_equal(note.serial, atomic_load(&qp->entry->serial));
	assert_int_equal(atomic_load(&qp->entry->umr[side].state), EMU_UMR_POSTED);
	return &qp->entry->umr[side];
}

static void answer(struct emu_umr *u, uint32_t syndrome)
{
	u->syndrome = syndrome;
	atomic_store(&u->state, EMU_UMR_DONE);
}

static void a_queue_waits_for_the_answer_to_its_umr(void **state)
{
	struct pair *p = *state;
	struct emu_umr *u;
	struct fixture_wr wr;

	begin_umr(&wr, 0x1234500, 2);
	wr.raw[16 + 48 + 64 + 3] = 77;
	fixture_wr_put(&p->a, &wr, EMU_WQE_UMR, FIXTURE_SIGNALED);
	fixture_wr_begin(&wr);
	fixture_wr_put(&p->a, &wr, EMU_WQE_NOP, FIXTURE_SIGNALED);
	fixture_ring(&p->a);
	u = posted(&p->a, EMU_UMR_SQ);
	assert_int_equal(u->op, EMU_UMR_CHANGE);
	assert_int_equal(u->key, 0x1234500);
	assert_int_equal(u->nklm, 2);
	assert_int_equal(u->klm[3], 77);
	fixture_expect_none(&p->cq_a, p->a.entry->engine);
	answer(u, 0);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_opcode, EMU_WQE_UMR);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_opcode, EMU_WQE_NOP);
	assert_int_equal(atomic_load(&u->state), EMU_UMR_IDLE);
}

static void a_refused_umr_fails_its_queue(void **state)
{
	struct pair *p = *state;
	struct fixture_wr wr;

	begin_umr(&wr, 0x1234500, 0);
	post_one(&p->a, &wr, EMU_WQE_UMR, FIXTURE_SIGNALED);
	answer(posted(&p->a, EMU_UMR_SQ), EMU_SYN_MW_BIND);
	fixture_expect(&p->cq_a, EMU_SYN_MW_BIND);
	assert_int_equal(atomic_load(&p->a.entry->state), EMU_QPS_ERR);
}

/* The list must lie in the WQE, and all of it. */
#define LIST 128 /* after the control segments and the mkey context */

static void a_umr_without_its_whole_list_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_wr wr;

	begin_umr(&wr, 0x1234500, 1);
	wr.raw[16] = 0;
	emu_put32(wr.raw + LIST, 8); /* bytes of a list of one entry */
	post_one(&p->a, &wr, EMU_WQE_UMR, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP);
	begin_umr(&wr, 0x1234500, 1);
	emu_put16(wr.raw + 16 + 4, 2);
	post_one(&p->b, &wr, EMU_WQE_UMR, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_b, EMU_SYN_LOC_QP_OP);
}

static void send_invalidating(struct pair *p, uint32_t key)
{
	struct fixture_wr wr;

	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	fixture_wr_begin(&wr);
	emu_put32(wr.raw + 12, key);
	fixture_wr_sge(&wr, &(struct fixture_sge){p->mem_a, 60, p->key_a});
	post_one(&p->a, &wr, EMU_WQE_SEND_INVAL, FIXTURE_SIGNALED);
}

static void a_send_with_invalidate_completes_after_the_answer(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;
	struct emu_umr *u;

	send_invalidating(p, 0xabcd07);
	u = posted(&p->b, EMU_UMR_RQ);
	assert_int_equal(u->op, EMU_UMR_INVALIDATE);
	assert_int_equal(u->key, 0xabcd07);
	fixture_expect_none(&p->cq_b, p->b.entry->engine);
	answer(u, 0);
	cqe = fixture_expect(&p->cq_b, 0);
	assert_int_equal(cqe.opcode, EMU_CQE_RESP_SEND_INV);
	assert_int_equal(emu_get32(cqe.imm), 0xabcd07);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_opcode, EMU_WQE_SEND_INVAL);
	assert_memory_equal(p->mem_b, p->mem_a, 60);
}

static void an_invalidate_of_a_bad_key_fails_both_queues(void **state)
{
	struct pair *p = *state;

	send_invalidating(p, 0xabcd07);
	answer(posted(&p->b, EMU_UMR_RQ), EMU_SYN_MW_BIND);
	fixture_expect(&p->cq_b, EMU_SYN_MW_BIND);
	fixture_expect(&p->cq_a, EMU_SYN_RETRY); /* class J: neither ACK nor NAK */
	assert_int_equal(atomic_load(&p->b.entry->state), EMU_QPS_ERR);
}

/* 3 turns of 10 bytes and 6 bytes, each entry 100 bytes further on at a turn. */
static uint32_t strided(struct pair *p)
{
	struct emu_klm klm[2] = {
		{.bytes = 100u << 16 | 10, .key = p->key_a, .addr = (uintptr_t)p->mem_a},
		{.bytes = 100u << 16 | 6, .key = p->key_a, .addr = (uintptr_t)p->mem_a + 50},
	};
	uint32_t key = fixture_mkey_list(FUNC_A, PD_A, 0, 1000, 0, klm, 2);

	fixture_mkey_entry(key)->mode = EMU_MKEY_STRIDED;
	fixture_mkey_entry(key)->u.klm.repeat = 3;
	return key;
}

static void strided_mkey_is_read_in_order(void **state)
{
	struct pair *p = *state;
	uint32_t key = strided(p);

	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge((void *)8, 40, key));
	fixture_expect(&p->cq_a, 0);
	fixture_expect(&p->cq_b, 0);
	assert_memory_equal(p->mem_b, p->mem_a + 8, 2);
	assert_memory_equal(p->mem_b + 2, p->mem_a + 50, 6);
	assert_memory_equal(p->mem_b + 8, p->mem_a + 100, 10);
	assert_memory_equal(p->mem_b + 18, p->mem_a + 150, 6);
	assert_memory_equal(p->mem_b + 24, p->mem_a + 200, 10);
	assert_memory_equal(p->mem_b + 34, p->mem_a + 250, 6);
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge((void *)8, 41, key));
	fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
}

/* Peers use the rights of the list, if requests can change it: its entries are local keys. */
static void entries_of_a_changeable_list_need_local_rights_only(void **state)
{
	struct pair *p = *state;
	uint32_t inner = fixture_mkey_mem(FUNC_B, PD_B, EMU_LR | EMU_LW, p->mem_b, 4096);
	struct emu_klm klm = {.bytes = 100, .key = inner, .addr = (uintptr_t)p->mem_b};
	uint32_t key = fixture_mkey_list(FUNC_B, PD_B, 0, 100, 0, &klm, 1);

	fixture_mkey_entry(key)->flags = EMU_MK_UMR;
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 100, p->key_a), (void *)0, key);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_b, p->mem_a, 100);
	fixture_mkey_entry(key)->flags = 0;
	refuse_remote(p, EMU_WQE_RDMA_WRITE, (void *)0, 100, key, EMU_SYN_REM_ACCESS);
}

static void refused(struct pair *p, uint32_t key)
{
	fixture_recv(&p->b, &(struct fixture_sge){p->mem_b, 64, p->key_b}, 1);
	post_send(&p->a, sge(p->mem_a, 8, key));
	fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
}

static void a_free_mkey_is_refused(void **state)
{
	struct pair *p = *state;

	fixture_mkey_entry(p->key_a)->flags = EMU_MK_FREE;
	refused(p, p->key_a);
}

static void an_mkey_of_another_queue_pair_is_refused(void **state)
{
	struct pair *p = *state;

	fixture_mkey_entry(p->key_a)->qpn = p->b.qpn;
	refused(p, p->key_a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_queue_waits_for_the_answer_to_its_umr),
		PAIR_TEST(a_refused_umr_fails_its_queue),
		PAIR_TEST(a_umr_without_its_whole_list_is_refused),
		PAIR_TEST(a_send_with_invalidate_completes_after_the_answer),
		PAIR_TEST(an_invalidate_of_a_bad_key_fails_both_queues),
		PAIR_TEST(strided_mkey_is_read_in_order),
		PAIR_TEST(entries_of_a_changeable_list_need_local_rights_only),
		PAIR_TEST(a_free_mkey_is_refused),
		PAIR_TEST(an_mkey_of_another_queue_pair_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
