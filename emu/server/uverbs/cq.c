/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/cq.h"

#include <errno.h>

#include "emu/ipc/sock.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/process.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/uar.h"

#define CQ_FLAGS (IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/* The driver takes any other value for no, and then ignores the format. */
static bool compresses(const struct mlx5_ib_create_cq *req)
{
	return req->cqe_comp_en == 1;
}

/* enum emu_mini, or the error of the driver's mini_cqe_res_format_to_hw(). */
static int mini_format(const struct emu_profile *p, const struct mlx5_ib_create_cq *req)
{
	if (!p->max_session)
		return -EOPNOTSUPP;
	switch (req->cqe_comp_res_format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
		return EMU_MINI_HASH;
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		return EMU_MINI_CSUM;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		return EMU_MINI_CSUM_STRIDX;
	default:
		return -EINVAL;
	}
}

/*
 * The errors of the driver's create_cq_user(): EOPNOTSUPP for flags that it knows and the device
 * lacks.
 */
static int check_cq(const struct emu_cmd *c, const struct mlx5_ib_create_cq *req, uint64_t cqe)
{
	const uint16_t had =
		MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	const uint16_t known = had | MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;

	if (cqe > EMU_MAX_CQE ||
	    emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0) >= EMU_COMP_VECTORS ||
	    emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 0) & ~(uint64_t)CQ_FLAGS)
		return -EINVAL;
	if ((req->cqe_size != 64 && req->cqe_size != 128) || req->reserved0 || req->reserved1 ||
	    req->flags & ~known || req->db_addr % EMU_DBR_BYTES)
		return -EINVAL;
	if (req->flags & ~had ||
	    (req->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD && req->cqe_size != 128))
		return -EOPNOTSUPP;
	if (compresses(req)) {
		int format = mini_format(c->file->func->card->profile, req);

		if (format < 0)
			return format;
	}
	if (!(req->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) ||
	    !emu_has_uar(c->file, req->uar_page_index))
		return -EINVAL;
	return req->buf_addr % EMU_PAGE ? -EINVAL : 0; /* the driver sends no offset in a page */
}

static uint64_t cqe_sz(const struct mlx5_ib_create_cq *req)
{
	if (req->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD)
		return EMU_CQE_SZ_128_PADDED;
	return req->cqe_size == 64 ? EMU_CQE_SZ_64 : EMU_CQE_SZ_128;
}

/* What mlx5_ib_create_cq() gives to the firmware, but for the page list. */
static void write_context(const struct emu_cmd *c, const struct mlx5_ib_create_cq *req,
			  uint32_t entries, uint8_t *cqc)
{
	const struct emu_profile *p = c->file->func->card->profile;
	const uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 0);
	const bool on = compresses(req);
	const struct emu_prm_value fields[] = {
		{EMU_CQC_CQE_SZ, cqe_sz(req)},
		{EMU_CQC_OI, (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0},
		{EMU_CQC_CQE_COMP_EN, on},
		{EMU_CQC_MINI_CQE_RES_FORMAT, on ? (uint64_t)mini_format(p, req) : 0},
		{EMU_CQC_LOG_CQ_SIZE, emu_log2(entries)},
		{EMU_CQC_UAR_PAGE, req->uar_page_index},
		{EMU_CQC_C_EQN, emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0) + 1},
		{EMU_CQC_DBR_ADDR, req->db_addr},
	};

	EMU_PRM_FILL(cqc, fields);
}

static uint32_t publish(const struct emu_cmd *c, const struct mlx5_ib_create_cq *req,
			uint32_t entries, uint32_t slot, const struct emu_cq_obj *cq)
{
	struct emu_cq q = {
		.engine = slot,
		.file = cq->obj.file->ino,
		.handle = cq->obj.handle,
		.buf_addr = req->buf_addr,
		.dbr_addr = req->db_addr,
		.has_channel = cq->channel != NULL,
	};
	uint8_t cqc[EMU_CQC_BYTES] = {0};
	uint32_t cqn;

	write_context(c, req, entries, cqc);
	emu_cq_read_context(c->file->func->card->profile, cqc, &q);
	cqn = emu_cq_publish(&q);
	if (cqn)
		emu_cq_begin_context(cqn, cqc);
	return cqn;
}

static int undo(struct emu_uobj *o)
{
	struct emu_cq_obj *cq = (struct emu_cq_obj *)o;

	emu_cq_withdraw(cq->cqn);
	emu_unpin_queue(&o->file->db_pages, &cq->pins);
	emu_events_put(cq->channel);
	emu_events_put(cq->async);
	return 0;
}

/* This word marks a CQ that was never armed: a first arm may be all zeros. */
static int mark_unarmed(const struct emu_cmd *c, uint64_t dbr_addr)
{
	static const uint32_t word = EMU_CQ_UNARMED;

	return emu_copy_to(c->chan->pid, dbr_addr + 4, &word, sizeof(word));
}

static int find_channel(const struct emu_cmd *c, struct emu_events **e)
{
	const struct ib_uverbs_attr *a = emu_attr(c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	*e = a ? emu_events_find(c, a->data_s64, EMU_EVENTS_COMPLETION) : NULL;
	return a && !*e ? -EBADF : 0;
}

/* The engine reports completion events itself from now on; without the descriptor it sends notes. */
static void send_channel_fd(const struct emu_cq_obj *cq, uint32_t slot)
{
	const struct emu_proc *p = emu_proc_by_slot(slot);
	struct emu_channel_fd g = {
		.cqn = cq->cqn,
		.serial = atomic_load(&emu_queues->cq[cq->cqn].serial),
		.element = cq->user_handle,
	};

	if (!p || !cq->channel || cq->channel->watch.fd < 0)
		return;
	if (!emu_sock_send_now(p->notes.fd, &g, sizeof(g), &cq->channel->watch.fd, 1))
		emu_engine_wake(slot);
}

/* The attributes of newer kernels replace what it says. */
static int read_driver_part(struct emu_cmd *c, uint64_t entries, struct mlx5_ib_create_cq *req,
			    struct emu_mapped *mapped)
{
	static const struct emu_buffer_attrs attrs = {
		.ring = EMU_UVERBS_ATTR_CREATE_CQ_BUF_UMEM,
		.dbr = EMU_MLX5_IB_ATTR_CREATE_CQ_DBR_BUF_UMEM,
		.parts = EMU_UVERBS_ATTR_CREATE_CQ_BUFFER_VA,
	};
	uint64_t ring, dbr;
	int err;

	if (emu_attr_len(c, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	err = emu_attr_in_known(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
	if (err)
		return err;
	if (emu_attr(c, EMU_MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX)) {
		req->uar_page_index =
			(uint32_t)emu_attr_u64(c, EMU_MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, 0);
		req->flags |= MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	}
	ring = req->buf_addr;
	dbr = req->db_addr;
	err = emu_take_buffers(c, &attrs, entries * req->cqe_size, &ring, &dbr, mapped);
	req->buf_addr = ring;
	req->db_addr = dbr;
	return err;
}

/* The number of entries that Linux asks mlx5 for. */
static uint32_t entries_for(uint32_t cqe)
{
	return 2 * emu_power_below(cqe) - (cqe ? 1 : 0) + 1;
}

static int cq_create(struct emu_cmd *c)
{
	uint32_t cqe = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_CQE, 0), slot;
	struct mlx5_ib_create_cq_resp uhw = {0};
	struct mlx5_ib_create_cq req;
	struct emu_mapped mapped;
	struct emu_queue_memory m;
	struct emu_events *channel;
	struct emu_cq_obj *cq;
	int err;

	err = read_driver_part(c, entries_for(cqe), &req, &mapped);
	if (!err)
		err = check_cq(c, &req, cqe);
	if (!err)
		err = find_channel(c, &channel);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (err)
		return err;
	cq = emu_uobj_new(c->file, EMU_T_CQ, sizeof(*cq), undo);
	if (!cq)
		return -ENOMEM;
	cqe = entries_for(cqe) - 1;
	cq->mapped = mapped;
	cq->user_handle = emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	cq->channel = channel;
	cq->async = emu_async_of(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	emu_events_get(cq->channel);
	emu_events_get(cq->async);
	emu_attr_new(c, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->obj);
	m = (struct emu_queue_memory){req.buf_addr, (cqe + 1ull) * req.cqe_size, req.db_addr,
				      .is_written = true};
	err = emu_pin_queue_of(c, &m, &cq->pins);
	if (!err)
		err = mark_unarmed(c, req.db_addr);
	if (err)
		return err;
	cq->cqn = publish(c, &req, cqe + 1, slot, cq);
	if (!cq->cqn)
		return -ENOMEM;
	send_channel_fd(cq, slot);
	uhw.cqn = cq->cqn;
	err = emu_attr_out_driver(c, &uhw, sizeof(uhw));
	return err ? err : emu_attr_out_u32(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
}

/* Afterwards its engine writes no event. Returns the number of those that the program has read. */
static uint32_t withdraw(struct emu_cq_obj *cq)
{
	uint32_t events;

	emu_cq_withdraw(cq->cqn);
	events = cq->comp_events + atomic_load(&emu_queues->cq[cq->cqn].events);
	cq->cqn = 0;
	return events - emu_events_retract(cq->channel, cq->user_handle);
}

static int cq_destroy(struct emu_cmd *c)
{
	struct emu_cq_obj *cq = emu_attr_obj(c, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp r = {0};

	if (cq->obj.users)
		return -EBUSY;
	emu_proc_drain_notes(emu_proc_by_slot(emu_queues->cq[cq->cqn].engine));
	r.async_events_reported = cq->async_events - emu_events_retract(cq->async, cq->user_handle);
	r.comp_events_reported = withdraw(cq);
	emu_let_unmap(c, &cq->mapped);
	emu_uobj_destroy(&cq->obj);
	return emu_attr_out(c, UVERBS_ATTR_DESTROY_CQ_RESP, &r, sizeof(r));
}

static const struct emu_field create_fields[] = {
	EMU_IN("cqe", UVERBS_ATTR_CREATE_CQ_CQE, 4, EMU_DECIMAL),
	EMU_OUT("cqe", UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, EMU_DECIMAL),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_cq[] = {
	{
		.command.name = "cq.create",
		.command.fields = create_fields,
		.object = UVERBS_OBJECT_CQ,
		.method = UVERBS_METHOD_CQ_CREATE,
		.handler = cq_create,
		.attr = {{UVERBS_ATTR_CREATE_CQ_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_CREATE_CQ_CQE, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, EMU_A_FD, false, 0},
			 {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_CREATE_CQ_FLAGS, EMU_A_FLAGS, false, 0},
			 {UVERBS_ATTR_CREATE_CQ_RESP_CQE, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_CREATE_CQ_EVENT_FD, EMU_A_FD, false, 0},
			 {EMU_UVERBS_ATTR_CREATE_CQ_BUFFER_VA, EMU_A_VALUE, false, 8},
			 {EMU_UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, EMU_A_VALUE, false, 8},
			 {EMU_UVERBS_ATTR_CREATE_CQ_BUFFER_FD, EMU_A_FD, false, 0},
			 {EMU_UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, EMU_A_VALUE, false, 8},
			 {EMU_UVERBS_ATTR_CREATE_CQ_BUF_UMEM, EMU_A_VALUE, false,
			  sizeof(struct emu_buffer_desc)},
			 {EMU_MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, EMU_A_VALUE, false, 4},
			 {EMU_MLX5_IB_ATTR_CREATE_CQ_DBR_BUF_UMEM, EMU_A_VALUE, false,
			  sizeof(struct emu_buffer_desc)},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}},
	},
	{
		.command.name = "cq.destroy",
		.object = UVERBS_OBJECT_CQ,
		.method = UVERBS_METHOD_CQ_DESTROY,
		.handler = cq_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_CQ_HANDLE, EMU_A_OBJ, true, EMU_T_CQ},
			 {UVERBS_ATTR_DESTROY_CQ_RESP, EMU_A_RESULT, true, 8}},
	},
	{.handler = NULL},
};
