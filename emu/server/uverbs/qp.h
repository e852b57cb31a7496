/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs: creating and destroying them. */
#ifndef EMU_QP_H
#define EMU_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/prm/prm_dct.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/abi.h"
#include "emu/server/uverbs/buffer.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_qp_obj {
	struct emu_uobj obj;
	uint32_t qpn;
	uint8_t type; /* enum emu_qp_type */
	uint64_t user_handle;
	struct emu_pd *pd;
	struct emu_cq_obj *send_cq, *recv_cq;
	struct emu_srq_obj *srq;
	struct emu_xrcd *xrcd;
	struct emu_events *async;
	uint32_t async_events;
	struct ib_uverbs_qp_cap cap;
	/* What mlx5's driver keeps of the attributes; the rest is in the context. */
	uint32_t access;
	uint8_t responders; /* max_dest_rd_atomic */
	bool sq_sig_all;
	bool block_self;     /* no copy of its own multicast datagrams */
	unsigned int groups; /* multicast groups to which it is attached */
	/* A target of DC: the firmware has it, with a number, only in RTR. */
	uint8_t dct_state;
	uint8_t dctc[EMU_DCTC_BYTES];
	struct emu_queue_pins pins;
	struct emu_mapped mapped;
};

extern const struct emu_method emu_methods_qp[];

/* Create a handle without a QP behind it yet; `as` has the objects that it uses, which are held. */
struct emu_qp_obj *emu_qp_new(struct emu_file *f, const struct emu_qp_obj *as);
/*
 * Before a command ends a queue pair. A command takes a card a long time: what was rung before is done by then. So if
 * something is not, -EAGAIN: the shim waits for it, and sends the command again. A target of DC may have no number.
 */
int emu_let_send(struct emu_cmd *c, uint32_t qpn);

#endif
