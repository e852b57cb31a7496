/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/handlers.h"

#include <errno.h>
#include <time.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/queue.h"

#define CI_MASK	    0xffffffu
#define CQE_RESIZE  5u
#define CQ_MODERATE 1u /* enum ib_cq_attr_mask */
#define CATCH_UP_MS 50
#define TWO_PASSES  4u	   /* of struct emu_engine.epoch, counted from within a pass */
#define MAX_PERIOD  0xfffu /* MLX5_MAX_CQ_PERIOD */

static uint32_t be32_at(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Write the last entry of the old ring: later entries are in the new one. */
static int put_resize_cqe(pid_t pid, const struct emu_cq *q)
{
	uint64_t at = q->buf_addr + (uint64_t)(q->pi & (q->entries - 1)) * q->cqe_size;
	uint8_t op_own = (uint8_t)(CQE_RESIZE << 4 | (q->pi & q->entries ? 1 : 0));

	return emu_copy_to(pid, at + q->cqe_size - 1, &op_own, sizeof(op_own));
}

/*
 * The driver moves the completions that it has not polled, each one entry further. They must fit
 * in the new ring, and the old ring needs room for the entry that ends it.
 */
static int switch_ring(pid_t pid, struct emu_cq *q, uint64_t buf_addr, uint32_t entries)
{
	uint32_t unpolled;
	uint8_t ci[4];
	int err;

	err = emu_copy_from(pid, ci, q->dbr_addr, sizeof(ci));
	if (err)
		return err;
	unpolled = (q->pi - be32_at(ci)) & CI_MASK;
	if (atomic_load(&q->error) || unpolled >= q->entries || unpolled > entries)
		return -EINVAL; /* firmware: BAD_SIZE_OUTS_CQES */
	err = put_resize_cqe(pid, q);
	if (err)
		return err;
	q->pi++;
	q->buf_addr = buf_addr;
	q->entries = entries;
	return 0;
}

/*
 * A command takes a device a long time: work that was posted before is done when it reaches the
 * CQ. Engines may be slower: wait, for a limited time, until the engine has no work left.
 */
static void catch_up(const struct emu_engine *e, uint32_t slot)
{
	uint32_t serial = atomic_load(&e->serial), epoch = atomic_load(&e->epoch);

	emu_engine_wake(slot);
	for (int i = 0; i < CATCH_UP_MS * 10; i++) {
		if (atomic_load(&e->serial) != serial ||
		    (atomic_load(&e->epoch) - epoch >= TWO_PASSES && atomic_load(&e->asleep)))
			return;
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
}

int emu_cq_resize(pid_t pid, struct emu_cq *q, uint64_t buf_addr, uint32_t entries)
{
	int err;

	if (q->engine < EMU_MAX_ENGINES) /* else its process has ended, and others have the file */
		catch_up(&emu_queues->engine[q->engine], q->engine);
	atomic_store(&q->frozen, 1);
	emu_grace();
	err = switch_ring(pid, q, buf_addr, entries);
	atomic_store(&q->frozen, 0);
	emu_engine_wake(q->engine);
	return err;
}

/* Both rings are locked while both exist. The firmware, which knows the entries' size, is asked last. */
static int resize_pinned(const struct emu_cmd *c, struct emu_cq_obj *cq, uint32_t entries,
			 const struct mlx5_ib_resize_cq *req)
{
	struct emu_cq *q = &emu_queues->cq[cq->cqn];
	const struct emu_pin_owner owner = emu_pin_owner(c->chan);
	struct emu_pin next = {0};
	int err;

	err = emu_pin(&owner, req->buf_addr, (uint64_t)entries * req->cqe_size, true, &next);
	if (err)
		return err;
	if (req->buf_addr % EMU_PAGE || req->cqe_size != q->cqe_size)
		err = -EINVAL;
	else
		err = emu_cq_resize(c->chan->pid, q, req->buf_addr, entries);
	emu_unpin(err ? &next : &cq->pins.ring);
	if (err)
		return err;
	cq->pins.ring = next;
	emu_prm_set(emu_cq_context(cq->cqn), EMU_CQC_LOG_CQ_SIZE, emu_log2(entries));
	return 0;
}

static int resize(const struct emu_cmd *c, struct emu_cq_obj *cq, uint32_t entries)
{
	struct mlx5_ib_resize_cq req;
	int err;

	if (entries == emu_queues->cq[cq->cqn].entries)
		return 0;
	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (err)
		return err;
	if (req.reserved0 || req.reserved1 || !req.cqe_size)
		return -EINVAL;
	return resize_pinned(c, cq, entries, &req);
}

int emu_write_resize_cq(struct emu_cmd *c)
{
	struct ib_uverbs_resize_cq_resp r = {0};
	struct ib_uverbs_resize_cq req;
	struct emu_cq_obj *cq;
	uint32_t entries = 1;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (!err)
		err = emu_cmd_obj(c, req.cq_handle, EMU_T_CQ, &cq);
	if (err)
		return err;
	if (!req.cqe || req.cqe > EMU_MAX_CQE)
		return -EINVAL;
	while (entries < req.cqe + 1)
		entries <<= 1;
	err = resize(c, cq, entries);
	r.cqe = entries - 1;
	return err ? err : emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

int emu_write_modify_cq(struct emu_cmd *c)
{
	struct ib_uverbs_ex_modify_cq req;
	const struct emu_cq_obj *cq;
	struct emu_cq *q;
	uint8_t *cqc;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	if (!req.attr_mask || req.reserved)
		return -EINVAL;
	if (req.attr_mask > CQ_MODERATE)
		return -EOPNOTSUPP;
	err = emu_cmd_obj(c, req.cq_handle, EMU_T_CQ, &cq);
	if (err)
		return err;
	if (req.attr.cq_period > MAX_PERIOD)
		return -EINVAL;
	q = &emu_queues->cq[cq->cqn];
	cqc = emu_cq_context(cq->cqn);
	emu_prm_set(cqc, EMU_CQC_CQ_PERIOD, req.attr.cq_period);
	emu_prm_set(cqc, EMU_CQC_CQ_MAX_COUNT, req.attr.cq_count);
	atomic_store(&q->moderation, emu_cq_moderation(cqc));
	emu_engine_wake(q->engine);
	return 0;
}
