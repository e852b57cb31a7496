/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parsing work queue entries as libmlx5 builds them. Keys are not checked here. */
#include "emu/engine/memory/wqe.h"

#include <string.h>

#include "emu/engine/memory/segments.h"
#include "emu/engine/memory/wire.h"

#define QPN_MASK     0xffffffu
#define ATOMIC_BYTES 8u

/* Reads a WQE of the send ring segment by segment; it may wrap at the ring's end. */
struct cursor {
	uint8_t raw[ENGINE_WQE_MAX];
	size_t pos;
	size_t end;
	uint64_t ring;
	uint64_t ring_bytes;
	uint64_t first; /* offset of the WQE in the ring */
};

static uint64_t ring_of(const struct emu_qp *q)
{
	return q->buf_addr + ((uint64_t)q->rq_wqe_count << q->rq_wqe_shift);
}

static uint64_t offset_of(const struct emu_qp *q, uint16_t ci)
{
	return (uint64_t)(ci & (q->sq_wqe_count - 1)) * EMU_WQEBB_BYTES;
}

static void load(struct cursor *c, const struct emu_qp *q, uint16_t ci, uint32_t ds)
{
	uint64_t until_end;

	c->ring = ring_of(q);
	c->ring_bytes = (uint64_t)q->sq_wqe_count * EMU_WQEBB_BYTES;
	c->first = offset_of(q, ci);
	c->end = (size_t)ds * EMU_SEG_BYTES;
	c->pos = sizeof(struct emu_seg_ctrl);
	until_end = c->ring_bytes - c->first;
	if (c->end <= until_end) {
		memcpy(c->raw, emu_own(c->ring + c->first), c->end);
	} else {
		memcpy(c->raw, emu_own(c->ring + c->first), until_end);
		memcpy(c->raw + until_end, emu_own(c->ring), c->end - until_end);
	}
}

static const void *take(struct cursor *c, size_t len)
{
	const uint8_t *p = c->raw + c->pos;

	if (len > c->end - c->pos)
		return NULL;
	c->pos += len;
	return p;
}

static bool add(struct emu_wqe *w, uint64_t addr, uint64_t len, uint32_t lkey, bool inl)
{
	struct emu_sge *s;

	if (w->nsge == EMU_MSG_SEGS)
		return false;
	s = &w->sge[w->nsge++];
	s->addr = addr;
	s->len = len;
	s->lkey = lkey;
	s->inl = inl;
	w->len += len;
	return true;
}

/* Inline bytes are sent from their place in the ring. */
static bool add_inline(struct cursor *c, struct emu_wqe *w, uint32_t len)
{
	uint64_t off = (c->first + c->pos) % c->ring_bytes;
	uint64_t head = c->ring_bytes - off;

	if (len > c->end - c->pos)
		return false;
	c->pos += len;
	c->pos = (c->pos + 15) & ~(size_t)15;
	if (head > len)
		head = len;
	if (head && !add(w, c->ring + off, head, 0, true))
		return false;
	return head == len || add(w, c->ring, len - head, 0, true);
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == EMU_WQE_ATOMIC_CS || opcode == EMU_WQE_ATOMIC_FA;
}

/* Does the answer of the responder fill the buffers? */
static bool receives(uint8_t opcode)
{
	return opcode == EMU_WQE_RDMA_READ || is_atomic(opcode);
}

static bool parse_data(struct cursor *c, struct emu_wqe *w)
{
	while (c->pos < c->end) {
		const struct emu_seg_data *d = take(c, sizeof(d->byte_count));
		uint32_t count;

		if (!d)
			return false;
		count = emu_get32(d->byte_count);
		if (count & EMU_SEG_DATA_INLINE) {
			if (receives(w->opcode) || !add_inline(c, w, count & ~EMU_SEG_DATA_INLINE))
				return false;
			continue;
		}
		if (!take(c, sizeof(*d) - sizeof(d->byte_count)))
			return false;
		if (count && !add(w, emu_get64(d->addr), count, emu_get32(d->lkey), false))
			return false;
	}
	return true;
}

static bool parse_raddr(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_raddr *r = take(c, sizeof(*r));

	if (!r)
		return false;
	w->raddr = emu_get64(r->raddr);
	w->rkey = emu_get32(r->rkey);
	return true;
}

static bool parse_atomic(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_atomic *a;

	if (!parse_raddr(c, w))
		return false;
	a = take(c, sizeof(*a));
	if (!a)
		return false;
	w->operand[0] = emu_get64(a->swap_add);
	w->operand[1] = emu_get64(a->compare);
	return parse_data(c, w);
}

/* 0: it is not valid. */
static uint64_t mmo_len(const struct emu_seg_data *d)
{
	uint32_t len = emu_get32(d->byte_count);

	if (len & EMU_SEG_DATA_INLINE)
		return 0;
	return len ? len : ENGINE_MAX_SEG;
}

static uint64_t opaque_bytes(const struct emu_wqe *w)
{
	if (w->opmod == EMU_MMO_crypto)
		return sizeof(struct emu_crypto_opaque);
	return emu_wqe_transforms(w) ? sizeof(struct emu_mmo_result) : 64;
}

/* All of it is in the first block. sge[0] is the opaque buffer, sge[1] the source, sge[2] the destination. */
static bool parse_mmo(const uint8_t *p, uint32_t ds, struct emu_wqe *w)
{
	const struct emu_wqe_mmo *m = (const struct emu_wqe_mmo *)p;
	const uint64_t opaque = opaque_bytes(w);
	const uint64_t from = mmo_len(&m->src), to = mmo_len(&m->dst);

	if (ds != sizeof(*m) / EMU_SEG_BYTES || !from || !to)
		return false;
	w->sge[0] = (struct emu_sge){emu_get64(m->meta.addr), opaque, emu_get32(m->meta.lkey), 0};
	w->sge[1] = (struct emu_sge){emu_get64(m->src.addr), from, emu_get32(m->src.lkey), 0};
	w->sge[2] = (struct emu_sge){emu_get64(m->dst.addr), to, emu_get32(m->dst.lkey), 0};
	w->nsge = 3;
	w->len = from;
	w->control = emu_get32(m->meta.control);
	return emu_wqe_transforms(w) ? !(w->sge[0].addr % opaque) : from == to;
}

/* log2 of the longest source; 0: the card has no such engine, or the queue may not use it. */
static uint8_t mmo_limit(const struct emu_qp *q, uint8_t opmod)
{
	if (q->type != EMU_QPT_RC)
		return 0;
	switch (opmod) {
	case EMU_MMO_dma:
		return q->mmo.log_copy;
	case EMU_MMO_compress:
		return q->mmo.log_compress;
	case EMU_MMO_decompress:
		return q->mmo.log_decompress;
	case EMU_MMO_crypto:
		return q->mmo.log_crypto;
	default:
		return 0;
	}
}

static enum emu_syndrome check_mmo(const struct emu_qp *q, const uint8_t *p, uint32_t ds,
				   struct emu_wqe *w)
{
	uint8_t limit = mmo_limit(q, w->opmod);

	if (!limit || !parse_mmo(p, ds, w))
		return EMU_SYN_LOC_QP_OP;
	return w->len > 1ull << limit ? EMU_SYN_LOC_LEN : EMU_SYN_OK;
}

/* A data segment points to the list, and has its length or, as DPDK sends it, 0. */
static bool parse_umr_pointer(struct cursor *c, struct emu_wqe *w, size_t len)
{
	const struct emu_seg_data *d = take(c, sizeof(*d));

	if (!d || (emu_get32(d->byte_count) && emu_get32(d->byte_count) != len))
		return false;
	w->sge[0] = (struct emu_sge){emu_get64(d->addr), len, emu_get32(d->lkey), 0};
	w->nsge = 1;
	return true;
}

/*
 * Control segment, mkey context and the list, or what points to it. The server checks what the segments request.
 */
static bool parse_umr(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_umr_ctrl *ctrl = take(c, sizeof(*ctrl));
	const uint8_t *mkc = take(c, sizeof(w->umr.mkc));
	const uint8_t *klm;
	size_t len;

	if (!ctrl || !mkc)
		return false;
	w->umr.op = EMU_UMR_CHANGE;
	w->umr.key = emu_get32((const uint8_t *)&w->imm);
	w->umr.nklm = emu_get16(ctrl->klm_octowords);
	memcpy(w->umr.ctrl, ctrl, sizeof(w->umr.ctrl));
	memcpy(w->umr.mkc, mkc, sizeof(w->umr.mkc));
	len = (size_t)w->umr.nklm * EMU_SEG_BYTES;
	w->umr.nseg = 0;
	if (!w->umr.nklm)
		return true;
	if (!(ctrl->flags & EMU_SEG_UMR_INLINE))
		return parse_umr_pointer(c, w, len);
	klm = take(c, len);
	if (!klm || w->umr.nklm > EMU_UMR_KLMS)
		return false;
	memcpy(w->umr.klm, klm, len);
	return true;
}

static bool parse_av(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_av *av = take(c, sizeof(*av));
	uint32_t grh;

	if (!av)
		return false;
	grh = emu_get32(av->grh_gid_fl);
	w->av.dc_key = emu_get64(av->dc_key);
	w->av.qkey = emu_get32(av->qkey);
	w->av.qpn = emu_get32(av->dqp_dct) & QPN_MASK;
	w->av.tclass = av->tclass;
	w->av.hop_limit = av->hop_limit;
	w->av.sgid_index = (uint8_t)(grh >> 20);
	w->av.flow = grh & 0xfffff;
	memcpy(w->av.dgid, av->rgid, sizeof(w->av.dgid));
	return true;
}

static bool parse_xrc(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_xrc *x = take(c, sizeof(*x));

	if (!x)
		return false;
	w->srqn = emu_get32(x->xrc_srqn) & QPN_MASK;
	return true;
}

/* The segments before those of the operation, by the kind of transport. */
static bool parse_transport(struct cursor *c, struct emu_wqe *w, const struct emu_qp *q)
{
	if (w->opcode == EMU_WQE_NOP || w->opcode == EMU_WQE_UMR)
		return true;
	switch (q->type) {
	case EMU_QPT_UD:
		return (w->opcode == EMU_WQE_SEND || w->opcode == EMU_WQE_SEND_IMM) &&
		       parse_av(c, w);
	case EMU_QPT_XRC_INI:
		return parse_xrc(c, w);
	case EMU_QPT_DCI:
		return parse_av(c, w);
	default:
		return true;
	}
}

static bool parse_send_en(struct cursor *c, struct emu_wqe *w)
{
	const struct emu_seg_send_en *e = take(c, sizeof(*e));

	if (!e)
		return false;
	w->operand[0] = emu_get32(e->index);
	w->rkey = emu_get32(e->qpn) & QPN_MASK;
	return true;
}

static bool parse_body(struct cursor *c, struct emu_wqe *w, const struct emu_qp *q)
{
	if (!parse_transport(c, w, q))
		return false;
	switch (w->opcode) {
	case EMU_WQE_NOP:
		return true;
	case EMU_WQE_SEND:
	case EMU_WQE_SEND_IMM:
		return parse_data(c, w);
	case EMU_WQE_SEND_INVAL:
		return emu_qp_reliable(q) && parse_data(c, w);
	case EMU_WQE_UMR:
		return parse_umr(c, w);
	case EMU_WQE_SEND_EN:
		return q->releases && parse_send_en(c, w);
	case EMU_WQE_RDMA_WRITE:
	case EMU_WQE_RDMA_WRITE_IMM:
		return parse_raddr(c, w) && parse_data(c, w);
	case EMU_WQE_RDMA_READ:
		return emu_qp_reliable(q) && parse_raddr(c, w) && parse_data(c, w);
	case EMU_WQE_ATOMIC_CS:
	case EMU_WQE_ATOMIC_FA:
		return emu_qp_reliable(q) && parse_atomic(c, w);
	default:
		return false;
	}
}

/* Parse the control segment: the number of segments, or 0 if it is not valid. */
static uint32_t parse_control(const uint8_t *p, const struct emu_qp *q, uint32_t qpn,
			      uint16_t avail, struct emu_wqe *w)
{
	const struct emu_seg_ctrl *ctrl = (const struct emu_seg_ctrl *)p;
	uint32_t word = emu_get32(ctrl->qpn_ds), ds = word & 0xff;
	uint32_t blocks = (ds * EMU_SEG_BYTES + EMU_WQEBB_BYTES - 1) / EMU_WQEBB_BYTES;

	w->opmod = ctrl->opmod;
	w->opcode = ctrl->opcode;
	w->flags = ctrl->fm_ce_se;
	w->stream = emu_get16(ctrl->dci_stream_channel_id);
	memcpy(&w->imm, ctrl->imm, sizeof(w->imm));
	if (ds > ENGINE_WQE_MAX / EMU_SEG_BYTES || blocks > avail || blocks > q->sq_wqe_count ||
	    word >> 8 != qpn)
		return 0;
	if (ds)
		w->blocks = (uint8_t)blocks;
	return ds;
}

/* The 8 bytes of the answer are scattered; what the buffers have beyond them stays. */
static enum emu_syndrome fit_atomic(struct emu_wqe *w)
{
	if (w->len < ATOMIC_BYTES)
		return EMU_SYN_LOC_LEN;
	w->len = ATOMIC_BYTES;
	return EMU_SYN_OK;
}

enum emu_syndrome emu_wqe_parse(const struct emu_qp *q, uint32_t qpn, uint16_t ci, uint16_t avail,
				struct emu_wqe *w)
{
	const uint8_t *p = emu_own(ring_of(q) + offset_of(q, ci));
	struct cursor c;
	uint32_t ds;

	memset(w, 0, offsetof(struct emu_wqe, av));
	w->blocks = 1;
	ds = parse_control(p, q, qpn, avail, w);
	if (!ds)
		return EMU_SYN_LOC_QP_OP;
	if (w->opcode == EMU_WQE_MMO)
		return check_mmo(q, p, ds, w);
	if (q->type == EMU_QPT_FRAMES)
		return EMU_SYN_OK; /* segments of its own, which nobody looks at */
	load(&c, q, ci, ds);
	if (!parse_body(&c, w, q))
		return EMU_SYN_LOC_QP_OP;
	if (is_atomic(w->opcode))
		return fit_atomic(w);
	if (w->len > (q->type == EMU_QPT_UD ? ENGINE_UD_MTU : ENGINE_MAX_MSG))
		return EMU_SYN_LOC_LEN;
	return EMU_SYN_OK;
}

void emu_rqe_parse(const struct emu_qp *q, uint16_t index, struct emu_wqe *w)
{
	uint64_t pos = (uint64_t)(index & (q->rq_wqe_count - 1)) << q->rq_wqe_shift;
	const uint8_t *p = emu_own(q->buf_addr + pos);

	emu_rqe_parse_segs(p, p + ((size_t)1 << q->rq_wqe_shift), w);
}

void emu_rqe_parse_segs(const uint8_t *p, const uint8_t *end, struct emu_wqe *w)
{
	memset(w, 0, offsetof(struct emu_wqe, av));
	for (; p < end; p += sizeof(struct emu_seg_data)) {
		const struct emu_seg_data *d = (const struct emu_seg_data *)p;
		uint32_t count = emu_get32(d->byte_count) & ~EMU_SEG_DATA_INLINE;
		uint32_t lkey = emu_get32(d->lkey);

		if (!count && lkey == EMU_SEG_DATA_INVALID_LKEY)
			return;
		if (count && !add(w, emu_get64(d->addr), count, lkey, false))
			return;
	}
}
