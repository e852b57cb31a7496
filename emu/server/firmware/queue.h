/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues and queue pairs that firmware commands create. */
#ifndef EMU_FIRMWARE_QUEUE_H
#define EMU_FIRMWARE_QUEUE_H

#include "emu/prm/prm_cq.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/firmware/mailbox.h"
#include "emu/server/firmware/umem.h"

struct emu_devx_cq {
	struct emu_uobj obj;
	uint32_t cqn; /* 0: not created yet, and nothing is held */
	struct emu_umem *buf, *dbr;
	struct emu_uobj *uar, *eq; /* of a function's driver, or NULL */
};

#define EMU_MAX_LOG_CQ 22u

struct emu_devx_qp {
	struct emu_uobj obj;
	uint32_t qpn; /* 0: not created yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_uobj *send_cq, *recv_cq; /* of verbs or of DEVX */
	struct emu_uobj *srq;		    /* likewise, or NULL */
	struct emu_umem *buf, *dbr;
	struct emu_uobj *uar;  /* of a function's driver, or NULL */
	struct emu_xrcd *xrcd; /* or NULL */
	unsigned int groups;   /* multicast groups to which it is attached */
};

/* Firmware commands; those on a verbs QP are mlx5dv_devx_qp_modify() and _query(). */
int emu_devx_create_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
/* ATTACH_TO_MCG and DETACH_FROM_MCG. */
int emu_driver_change_group(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_verbs_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_init2init_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_rts2rts_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/* The number of a completion queue of verbs or of a command; 0: it is another object. */
uint32_t emu_cq_number(const struct emu_uobj *o);
/* The file's queue of verbs or of a command by its number, which `number_of` reads of an object; or NULL. */
struct emu_uobj *emu_queue_by_number(const struct emu_file *f, uint64_t number,
				     uint32_t (*number_of)(const struct emu_uobj *o));
/* The event queue of a completion queue. */
uint32_t emu_devx_eqn(const struct emu_uobj *cq);
/* The file's completion queue of a command, by its number; or NULL. */
struct emu_devx_cq *emu_devx_cq_by_number(const struct emu_file *f, uint64_t number);

int emu_devx_cq_undo(struct emu_uobj *o);
int emu_devx_qp_undo(struct emu_uobj *o);

#endif
