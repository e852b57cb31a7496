/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fixture of the engine's tests, and one-line work requests on it. */
#ifndef EMU_PAIR_H
#define EMU_PAIR_H

#include "emu_rig.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "emu/engine/engine_int.h"

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
	struct rig_cq cq_a;
	struct rig_cq cq_b;
	struct rig_qp a;
	struct rig_qp b;
	uint8_t *mem_a;
	uint8_t *mem_b;
	uint32_t key_a;
	uint32_t key_b;
};

static inline int pair_setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->slot_a = rig_engine_start();
	p->slot_b = rig_engine_start();
	rig_cq_init(&p->cq_a, p->slot_a, 32, 64);
	rig_cq_init(&p->cq_b, p->slot_b, 32, 64);
	rig_qp_init(&p->a, p->slot_a, FUNC_A, PD_A, 16, &p->cq_a, &p->cq_a);
	rig_qp_init(&p->b, p->slot_b, FUNC_B, PD_B, 16, &p->cq_b, &p->cq_b);
	p->mem_a = rig_alloc(SIZE);
	p->mem_b = rig_alloc(SIZE);
	for (unsigned int i = 0; i < SIZE; i++)
		p->mem_a[i] = (uint8_t)(i * 7 + i / 256);
	p->key_a = rig_mkey_mem(FUNC_A, PD_A, RIG_ALL, p->mem_a, SIZE);
	p->key_b = rig_mkey_mem(FUNC_B, PD_B, RIG_ALL, p->mem_b, SIZE);
	rig_qp_connect(&p->a, &p->b);
	*state = p;
	return 0;
}

static inline int pair_teardown(void **state)
{
	struct pair *p = *state;

	rig_engine_stop(p->slot_a);
	rig_engine_stop(p->slot_b);
	munmap(p->mem_a, SIZE);
	munmap(p->mem_b, SIZE);
	free(p);
	return 0;
}

/* The fixture with one more QP of A's, connected to itself, as a DMA queue is. */
static inline void add_loop(struct pair *p, struct rig_qp *loop)
{
	rig_qp_init(loop, p->slot_a, FUNC_A, PD_A, 16, &p->cq_a, &p->cq_a);
	rig_qp_connect(loop, loop);
}

static inline void post_one(struct rig_qp *qp, struct rig_wr *wr, uint32_t opcode, uint32_t flags)
{
	rig_wr_put(qp, wr, opcode, flags);
	rig_ring(qp);
}

static inline void post_nop(struct rig_qp *qp, uint32_t flags)
{
	struct rig_wr wr;

	rig_wr_begin(&wr);
	post_one(qp, &wr, EMU_WQE_NOP, flags);
}

static inline void post_rdma(struct rig_qp *qp, uint32_t opcode, struct rig_sge local,
			     const void *remote, uint32_t rkey)
{
	struct rig_wr wr;

	rig_wr_begin(&wr);
	rig_wr_raddr(&wr, remote, rkey);
	rig_wr_sge(&wr, &local);
	post_one(qp, &wr, opcode, RIG_SIGNALED);
}

static inline void post_send(struct rig_qp *qp, struct rig_sge sge)
{
	struct rig_wr wr;

	rig_wr_begin(&wr);
	if (sge.len)
		rig_wr_sge(&wr, &sge);
	post_one(qp, &wr, EMU_WQE_SEND, RIG_SIGNALED);
}

/* The opaque buffer is the last 64 bytes of A's memory. */
static inline void put_mmo(struct pair *p, struct rig_qp *qp, struct rig_sge src,
			   struct rig_sge dst, uint32_t flags)
{
	struct rig_wr wr;

	rig_wr_begin(&wr);
	wr.raw[0] = 1;
	rig_wr_meta(&wr, p->mem_a + SIZE - 64, p->key_a);
	rig_wr_sge(&wr, &src);
	rig_wr_sge(&wr, &dst);
	rig_wr_put(qp, &wr, EMU_WQE_MMO, flags);
}

static inline void post_mmo(struct pair *p, struct rig_qp *qp, struct rig_sge src,
			    struct rig_sge dst)
{
	put_mmo(p, qp, src, dst, RIG_SIGNALED);
	rig_ring(qp);
}

static inline void post_atomic(struct rig_qp *qp, uint32_t opcode, struct rig_sge old,
			       const void *cell, uint32_t rkey, uint64_t swap_add, uint64_t compare)
{
	struct rig_wr wr;

	rig_wr_begin(&wr);
	rig_wr_raddr(&wr, cell, rkey);
	rig_wr_atomic(&wr, swap_add, compare);
	rig_wr_sge(&wr, &old);
	post_one(qp, &wr, opcode, RIG_SIGNALED);
}

static inline struct rig_sge sge(const void *addr, uint32_t len, uint32_t key)
{
	struct rig_sge s = {addr, len, key};

	return s;
}

/* A key field for an address that is not a pointer of this process. */
static inline const void *at(uint64_t addr)
{
	return (const void *)(uintptr_t)addr;
}

static inline void expect_state(struct rig_qp *qp, enum emu_qp_state state)
{
	assert_int_equal(atomic_load(&qp->entry->state), state);
}

static inline uint32_t dm_key(uint16_t func, uint32_t pdn, uint64_t offset, uint64_t len)
{
	struct emu_mkey m = {.mode = EMU_MKEY_DM, .func = func, .pdn = pdn, .rights = RIG_ALL};

	m.len = len;
	m.u.dm.offset = offset;
	return rig_mkey(&m);
}

static inline void refuse_mmo(struct pair *p, struct rig_sge src, struct rig_sge dst,
			      uint8_t syndrome)
{
	struct rig_qp qp;

	add_loop(p, &qp);
	post_mmo(p, &qp, src, dst);
	assert_int_equal(rig_expect(&p->cq_a, syndrome).opcode, EMU_CQE_REQ_ERR);
	expect_state(&qp, EMU_QPS_ERR);
}

static inline void expect_event(const struct rig_qp *qp, uint32_t event)
{
	struct emu_note note = {0};

	assert_true(rig_note(&note));
	assert_int_equal(note.type, EMU_NOTE_QP);
	assert_int_equal(note.number, qp->qpn);
	assert_int_equal(note.serial, atomic_load(&qp->entry->serial));
	assert_int_equal(note.event, event);
}

static inline void refuse_remote(struct pair *p, uint32_t opcode, const void *remote, uint32_t len,
				 uint32_t rkey, uint8_t syndrome)
{
	post_rdma(&p->a, opcode, sge(p->mem_a, len, p->key_a), remote, rkey);
	rig_expect(&p->cq_a, syndrome);
	expect_event(&p->b, syndrome == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
							   : EMU_EVENT_QP_REQ_ERR);
	expect_state(&p->a, EMU_QPS_ERR);
	expect_state(&p->b, EMU_QPS_ERR);
	rig_qp_reset(&p->a);
	rig_qp_reset(&p->b);
	rig_qp_connect(&p->a, &p->b);
}

#endif
