/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the devx_*.c files share: mailboxes, and the firmware commands in them. */
#ifndef EMU_DEVX_H
#define EMU_DEVX_H

#include "cmd.h"
#include "prm.h"

#define EMU_MBOX_HDR 16
#define EMU_MBOX_OUT 0x1010u

/* An in and an out mailbox while a command runs. */
struct emu_mbox {
	uint8_t *in;
	size_t in_len;
	uint8_t out[EMU_MBOX_OUT];
	size_t out_len;
	uint16_t opcode, op_mod;
};

/* The firmware's "no": -EREMOTEIO, with the reason in the out mailbox. */
int emu_refuse(struct emu_mbox *m, uint8_t status, uint32_t syndrome);

struct emu_prm_field {
	uint16_t bit, width;
	uint64_t value;
};

void emu_prm_fill(uint8_t *page, const struct emu_prm_field *f, size_t n);

#define EMU_PRM_FILL(page, fields) emu_prm_fill(page, fields, sizeof(fields) / sizeof((fields)[0]))

/* Reserved, or of a capability that is not announced: whoever sets it gets BAD_PARAM. */
struct emu_prm_range {
	uint16_t bit, width;
};

bool emu_prm_is_zero(const uint8_t *p, const struct emu_prm_range *r, size_t n);

#define EMU_PRM_IS_ZERO(p, ranges) emu_prm_is_zero(p, ranges, sizeof(ranges) / sizeof((ranges)[0]))

/* Of the same file, or NULL. */
struct emu_pd *emu_pd_by_number(const struct emu_file *f, uint32_t pdn);
struct emu_umem *emu_devx_umem_by_id(const struct emu_file *f, uint64_t id);

#define EMU_MAX_FLOW_COUNTERS 4096u /* of a function */

#define EMU_CQC_BYTES	      0x40
#define EMU_QPC_BYTES	      0xe8

struct emu_devx_cq {
	struct emu_uobj obj;
	uint32_t cqn; /* 0: not made yet, and nothing is held */
	struct emu_umem *buf, *dbr;
	uint8_t cqc[EMU_CQC_BYTES];
};

struct emu_devx_qp {
	struct emu_uobj obj;
	uint32_t qpn; /* 0: not made yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_uobj *send_cq, *recv_cq; /* of either kind */
	struct emu_uobj *srq;		    /* of either kind, or NULL */
	struct emu_umem *buf, *dbr;
	uint8_t qpc[EMU_QPC_BYTES]; /* as the commands so far have made it */
};

/* A receive memory pool: a shared receive queue. */
struct emu_devx_rmp {
	struct emu_uobj obj;
	uint32_t srqn; /* 0: not made yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_umem *buf, *dbr;
};

/* A free number of a shared receive queue, or 0. */
uint32_t emu_srq_number(void);
/*
 * Memory for the engine to use: of the process whose engine it is, and all of it there.
 * Returns its address, or 0.
 */
uint64_t emu_devx_place(const struct emu_cmd *c, const struct emu_umem *u, uint64_t off,
			uint64_t len, uint64_t align);

/*
 * Commands: 0, or -EREMOTEIO with a status in the out mailbox, or what the kernel would say. Those
 * that make an object fill `d`.
 */
int emu_devx_query_hca_cap(const struct emu_func *f, struct emu_mbox *m);
int emu_devx_query_esw_functions(const struct emu_func *f, struct emu_mbox *m);
int emu_devx_allow_access(const struct emu_cmd *c, struct emu_mbox *m);
int emu_devx_create_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_cq(const struct emu_devx_cq *cq, struct emu_mbox *m);
int emu_devx_create_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_qp(const struct emu_func *f, struct emu_devx_qp *qp, struct emu_mbox *m);
int emu_devx_modify_verbs_qp(const struct emu_func *f, struct emu_qp_obj *qp, struct emu_mbox *m);
int emu_devx_query_qp(uint32_t qpn, const uint8_t *qpc, struct emu_mbox *m);
int emu_devx_query_verbs_qp(const struct emu_qp_obj *qp, struct emu_mbox *m);
int emu_devx_query_mkey(const struct emu_devx *d, struct emu_mbox *m);
int emu_devx_alloc_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_counter(const struct emu_devx *d, struct emu_mbox *m);
int emu_devx_query_alias(const struct emu_devx *d, struct emu_mbox *m);

/* uverbs methods */
int emu_devx_umem_reg(struct emu_cmd *c);
int emu_devx_umem_dereg(struct emu_cmd *c);
int emu_devx_event_file(struct emu_cmd *c);
int emu_devx_command_file(struct emu_cmd *c);
int emu_devx_subscribe(struct emu_cmd *c);

/* Queue the out mailbox of a query for the client to read. */
int emu_devx_answer(struct emu_events *to, uint64_t wr_id, const struct emu_mbox *m);

#endif
