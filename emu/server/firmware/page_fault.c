/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Page faults of a function's driver: the event that asks for a page, and the command that resumes the queue. */
#include "emu/prm/prm_page_fault.h"

#include "base/array.h"
#include "emu/prm/prm_eqe.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"

/* A token of 24 bits names the queue pair, the side and the turn. */
#define TURN_BITS 9u
#define SIDE_BITS 1u
_Static_assert(EMU_MAX_QPS <= 1u << (24 - TURN_BITS - SIDE_BITS),
	       "a token has room for the number");

static uint32_t token_of(uint32_t qpn, uint32_t side, uint32_t turn)
{
	return qpn << (TURN_BITS + SIDE_BITS) | side << TURN_BITS | turn;
}

static void fill_wqe_fault(const struct emu_page_fault *f, uint32_t token, uint8_t *eqe)
{
	const struct emu_prm_value fields[] = {
		{EMU_EQE_WQE_FAULT_SUB_TYPE, EMU_EQE_FAULT_OF_WQE},
		{EMU_EQE_WQE_FAULT_INDEX, f->wqe},
		{EMU_EQE_WQE_FAULT_TOKEN, token},
		{EMU_EQE_WQE_FAULT_FAULT_TYPE, emu_prm_fit(EMU_EQE_WQE_FAULT_FAULT_TYPE, f->type)},
		{EMU_EQE_WQE_FAULT_WQ, emu_prm_fit(EMU_EQE_WQE_FAULT_WQ, f->wq)},
	};

	EMU_PRM_FILL(eqe, fields);
}

static void fill_rdma_fault(const struct emu_page_fault *f, uint32_t token, uint8_t *eqe)
{
	const struct emu_prm_value fields[] = {
		{EMU_EQE_RDMA_FAULT_SUB_TYPE, EMU_EQE_FAULT_OF_RDMA},
		{EMU_EQE_RDMA_FAULT_R_KEY, f->key},
		{EMU_EQE_RDMA_FAULT_LEN, f->len},
		{EMU_EQE_RDMA_FAULT_VA, f->address},
		{EMU_EQE_RDMA_FAULT_FAULT_TYPE,
		 emu_prm_fit(EMU_EQE_RDMA_FAULT_FAULT_TYPE, f->type)},
		{EMU_EQE_RDMA_FAULT_TOKEN, token},
	};

	EMU_PRM_FILL(eqe, fields);
}

/* NULL: a program's queue pair, which the driver of the same function does not know. */
static const struct emu_driver *driver_of(const struct emu_qp *q)
{
	const struct emu_file *f = emu_file_by_ino(q->file);

	return f ? f->driver : NULL;
}

static void end(const struct emu_qp *q, struct emu_page_fault *f, uint32_t state)
{
	atomic_store(&f->state, state);
	emu_engine_wake(f->engine);
	emu_engine_wake(q->engine);
}

void emu_page_fault_serve(uint32_t qpn, uint32_t side)
{
	struct emu_qp *q = &emu_queues->qp[qpn];
	struct emu_page_fault *f = &q->page_fault[side % EMU_PAGE_FAULT_SIDES];
	const struct emu_driver *d = driver_of(q);
	const uint32_t eqn = d ? emu_driver_eqn(d, EMU_EVENT_TYPE_PAGE_FAULT) : 0;
	uint8_t eqe[EMU_EQE_BYTES] = {0};
	uint32_t token;

	if (side >= EMU_PAGE_FAULT_SIDES || atomic_load(&f->state) != EMU_PAGE_FAULT_POSTED)
		return;
	if (!eqn) { /* the driver gives no pages on demand */
		end(q, f, EMU_PAGE_FAULT_FAILED);
		return;
	}
	f->turn = (f->turn + 1) & ((1u << TURN_BITS) - 1);
	token = token_of(qpn, side, f->turn);
	if (f->by_key)
		fill_rdma_fault(f, token, eqe);
	else
		fill_wqe_fault(f, token, eqe);
	emu_driver_send(d, eqn, EMU_EVENT_TYPE_PAGE_FAULT, eqe);
}

/* The queue of a late command may have been reset, and wait for another page: that one is not given. */
int emu_driver_page_fault_resume(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	int err = emu_driver_check(m, EMU_PAGE_FAULT_RESUME_IN_BYTES, EMU_CMD_OUT_BYTES);
	uint32_t token, qpn, side;
	struct emu_page_fault *f;
	struct emu_qp *q;

	(void)o;
	if (err)
		return err;
	token = (uint32_t)emu_prm_get(m->in, EMU_PAGE_FAULT_RESUME_IN_TOKEN);
	qpn = token >> (TURN_BITS + SIDE_BITS);
	side = token >> TURN_BITS & (EMU_PAGE_FAULT_SIDES - 1);
	if (qpn >= EMU_MAX_QPS)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OBJECT);
	q = &emu_queues->qp[qpn];
	f = &q->page_fault[side];
	if (!atomic_load(&q->serial) || q->func != c->file->func->index)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OBJECT);
	if (token == token_of(qpn, side, f->turn) &&
	    atomic_load(&f->state) == EMU_PAGE_FAULT_POSTED)
		end(q, f,
		    emu_prm_get(m->in, EMU_PAGE_FAULT_RESUME_IN_ERROR) ? EMU_PAGE_FAULT_FAILED
								       : EMU_PAGE_FAULT_NONE);
	return 0;
}
