/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/fault.h"

#include "base/clock.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/state.h"

static uint32_t func_of(const struct engine *e, uint32_t qpn)
{
	return qpn < EMU_MAX_QPS ? e->cfg.queues->qp[qpn].func : EMU_ANY_FUNC;
}

/* Is a completion of this QP one that the rule is about, and is it its turn? */
static bool due(struct engine *e, uint32_t qpn)
{
	struct emu_rule *r = &e->cfg.queues->rule;
	uint64_t seen;

	if (r->func != EMU_ANY_FUNC && r->func != func_of(e, qpn))
		return false;
	seen = atomic_fetch_add(&r->seen, 1) + 1;
	if (seen < r->nth || seen - r->nth >= r->count)
		return false;
	atomic_fetch_add(&r->hit, 1);
	return true;
}

const struct emu_cqe *emu_fault_completion(struct engine *e, const struct emu_cqe *cqe,
					   struct emu_cqe *other)
{
	const struct emu_rule *r = &e->cfg.queues->rule;
	uint32_t action = e->pass.rule;

	if ((action != EMU_CQE_LOSE && action != EMU_CQE_ERROR) || cqe->syndrome ||
	    !due(e, cqe->qpn))
		return cqe;
	if (action == EMU_CQE_LOSE)
		return NULL;
	*other = *cqe;
	other->opcode = cqe->opcode == EMU_CQE_REQ ? EMU_CQE_REQ_ERR : EMU_CQE_RESP_ERR;
	other->syndrome = (uint8_t)r->syndrome;
	return other;
}

uint64_t emu_fault_delay(struct engine *e, uint32_t qpn)
{
	const struct emu_rule *r = &e->cfg.queues->rule;

	if (!due(e, qpn))
		return 0;
	return monotonic_ns() + r->delay_us * 1000ull;
}

/* Not of receives: the driver counts their completions, and would use a buffer that is still posted. */
bool emu_fault_twice(struct engine *e, const struct emu_cqe *cqe)
{
	return e->pass.rule == EMU_CQE_TWICE && cqe->opcode == EMU_CQE_REQ && due(e, cqe->qpn);
}

/* Of n bytes that a request of this function has moved, how many are changed, from *first on? */
static uint64_t due_bytes(struct engine *e, uint32_t func, uint64_t n, uint64_t *first)
{
	struct emu_rule *r = &e->cfg.queues->data_rule;
	uint64_t before, seen, passed;

	if (r->func != EMU_ANY_FUNC && r->func != func)
		return 0;
	seen = atomic_fetch_add(&r->seen, n);
	before = r->nth - 1;
	passed = seen > before ? seen - before : 0;
	*first = before > seen ? before - seen : 0;
	if (*first >= n || passed >= r->count)
		return 0;
	n = n - *first < r->count - passed ? n - *first : r->count - passed;
	atomic_fetch_add(&r->hit, n);
	return n;
}

void emu_fault_data(struct engine *e, uint32_t func, const struct emu_seg_list *to, uint64_t n)
{
	uint64_t first, due = due_bytes(e, func, n, &first);

	if (due)
		emu_memory_spoil(&e->memory, to, first, due);
}

void emu_fault_packet(struct engine *e, uint32_t func, uint8_t *bytes, uint32_t n)
{
	uint64_t first, due = due_bytes(e, func, n, &first);

	for (uint64_t i = 0; i < due; i++)
		bytes[first + i] ^= 1;
}

static enum emu_qp_fault fault_of(const struct emu_qp *q)
{
	return (enum emu_qp_fault)atomic_load(&q->fault);
}

bool emu_fault_silences(const struct emu_qp *a, const struct emu_qp *b)
{
	return fault_of(a) == EMU_QP_SILENT || fault_of(b) == EMU_QP_SILENT;
}

bool emu_fault_unready(const struct emu_qp *q)
{
	return fault_of(q) == EMU_QP_UNREADY;
}

uint64_t emu_fault_slow(const struct emu_qp *q)
{
	return fault_of(q) == EMU_QP_SLOW ? monotonic_ns() + q->slow_us * 1000ull : 0;
}
