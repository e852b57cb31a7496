/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fixture of the engine's tests, and work requests in one line. */
#ifndef ENGINE_PAIR_H
#define ENGINE_PAIR_H

#include "engine_fixture.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"

#define FUNC_A		1
#define FUNC_B		2
#define PD_A		10
#define PD_B		20
#define SIZE		(64u << 10)

#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

/* Two connected QPs of two functions, on two engines; CQs, and memory with all rights. */
struct pair {
	uint32_t slot_a;
	uint32_t slot_b;
	struct fixture_cq cq_a;
	struct fixture_cq cq_b;
	struct fixture_qp a;
	struct fixture_qp b;
	uint8_t *mem_a;
	uint8_t *mem_b;
	uint32_t key_a;
	uint32_t key_b;
};

static inline int pair_setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->slot_a = fixture_engine_start();
	p->slot_b = fixture_engine_start();
	fixture_cq_init(&p->cq_a, p->slot_a, 32, 64);
	fixture_cq_init(&p->cq_b, p->slot_b, 32, 64);
	fixture_qp_init(&p->a, p->slot_a, FUNC_A, PD_A, 16, &p->cq_a, &p->cq_a);
	fixture_qp_init(&p->b, p->slot_b, FUNC_B, PD_B, 16, &p->cq_b, &p->cq_b);
	p->mem_a = fixture_alloc(SIZE);
	p->mem_b = fixture_alloc(SIZE);
	for (unsigned int i = 0; i < SIZE; i++)
		p->mem_a[i] = (uint8_t)(i * 7 + i / 256);
	p->key_a = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, p->mem_a, SIZE);
	p->key_b = fixture_mkey_mem(FUNC_B, PD_B, FIXTURE_ALL, p->mem_b, SIZE);
	fixture_qp_connect(&p->a, &p->b);
	*state = p;
	return 0;
}

static inline int pair_teardown(void **state)
{
	struct pair *p = *state;

	fixture_engine_stop(p->slot_a);
	fixture_engine_stop(p->slot_b);
	munmap(p->mem_a, SIZE);
	munmap(p->mem_b, SIZE);
	free(p);
	return 0;
}

/* The fixture with one more QP of A's, connected to itself, as a DMA queue is. */
static inline void add_loopback(struct pair *p, struct fixture_qp *loop)
{
	fixture_qp_init(loop, p->slot_a, FUNC_A, PD_A, 16, &p->cq_a, &p->cq_a);
	fixture_qp_connect(loop, loop);
}

static inline void post_one(struct fixture_qp *qp, struct fixture_wr *wr, uint32_t opcode,
			    uint32_t flags)
{
	fixture_wr_put(qp, wr, opcode, flags);
	fixture_ring(qp);
}

static inline void post_nop(struct fixture_qp *qp, uint32_t flags)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	post_one(qp, &wr, EMU_WQE_NOP, flags);
}

static inline void post_rdma(struct fixture_qp *qp, uint32_t opcode, struct fixture_sge local,
			     const void *remote, uint32_t rkey)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, remote, rkey);
	fixture_wr_sge(&wr, &local);
	post_one(qp, &wr, opcode, FIXTURE_SIGNALED);
}

static inline void post_send(struct fixture_qp *qp, struct fixture_sge sge)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	if (sge.len)
		fixture_wr_sge(&wr, &sge);
	post_one(qp, &wr, EMU_WQE_SEND, FIXTURE_SIGNALED);
}

/* The opaque buffer is the last 64 bytes of A's memory. */
static inline void put_mmo(struct pair *p, struct fixture_qp *qp, struct fixture_sge src,
			   struct fixture_sge dst, uint32_t flags)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	wr.raw[0] = 1;
	fixture_wr_meta(&wr, p->mem_a + SIZE - 64, p->key_a);
	fixture_wr_sge(&wr, &src);
	fixture_wr_sge(&wr, &dst);
	fixture_wr_put(qp, &wr, EMU_WQE_MMO, flags);
}

static inline void post_mmo(struct pair *p, struct fixture_qp *qp, struct fixture_sge src,
			    struct fixture_sge dst)
{
	put_mmo(p, qp, src, dst, FIXTURE_SIGNALED);
	fixture_ring(qp);
}

static inline void post_atomic(struct fixture_qp *qp, uint32_t opcode, struct fixture_sge old,
			       const void *cell, uint32_t rkey, uint64_t swap_add, uint64_t compare)
{
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, cell, rkey);
	fixture_wr_atomic(&wr, swap_add, compare);
	fixture_wr_sge(&wr, &old);
	post_one(qp, &wr, opcode, FIXTURE_SIGNALED);
}

static inline struct fixture_sge sge(const void *addr, uint32_t len, uint32_t key)
{
	struct fixture_sge s = {addr, len, key};

	return s;
}

/* A key field for an address that is not a pointer of this process. */
static inline const void *at(uint64_t addr)
{
	return (const void *)(uintptr_t)addr;
}

static inline void expect_state(struct fixture_qp *qp, enum emu_qp_state state)
{
	assert_int_equal(atomic_load(&qp->entry->state), state);
}

static inline uint32_t dm_key(uint16_t func, uint32_t pdn, uint64_t offset, uint64_t len)
{
	struct emu_mkey m = {.mode = EMU_MKEY_DM, .func = func, .pdn = pdn, .rights = FIXTURE_ALL};

	m.len = len;
	m.u.dm.offset = offset;
	return fixture_mkey(&m);
}

static inline void refuse_mmo(struct pair *p, struct fixture_sge src, struct fixture_sge dst,
			      uint8_t syndrome)
{
	struct fixture_qp qp;

	add_loopback(p, &qp);
	post_mmo(p, &qp, src, dst);
	assert_int_equal(fixture_expect(&p->cq_a, syndrome).opcode, EMU_CQE_REQ_ERR);
	expect_state(&qp, EMU_QPS_ERR);
}

static inline void expect_event(const struct fixture_qp *qp, uint32_t event)
{
	struct emu_note note = {0};

	assert_true(fixture_note(&note));
	assert_int_equal(note.type, EMU_NOTE_QP);
	assert_int_equal(note.number, qp->qpn);
	assert_int_equal(note.serial, atomic_load(&qp->entry->serial));
	assert_int_equal(note.event, event);
}

static inline void refuse_remote(struct pair *p, uint32_t opcode, const void *remote, uint32_t len,
				 uint32_t rkey, uint8_t syndrome)
{
	post_rdma(&p->a, opcode, sge(p->mem_a, len, p->key_a), remote, rkey);
	fixture_expect(&p->cq_a, syndrome);
	expect_event(&p->b, syndrome == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
							   : EMU_EVENT_QP_REQ_ERR);
	expect_state(&p->a, EMU_QPS_ERR);
	expect_state(&p->b, EMU_QPS_ERR);
	fixture_qp_reset(&p->a);
	fixture_qp_reset(&p->b);
	fixture_qp_connect(&p->a, &p->b);
}

#endif
