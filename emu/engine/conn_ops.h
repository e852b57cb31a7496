/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the transport asks of a connection: memory, receives and completions. */
#ifndef EMU_ENGINE_CONN_OPS_H
#define EMU_ENGINE_CONN_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/wqe.h"
#include "emu/engine/receive.h"
#include "emu/wire/qp.h"

struct engine;

struct emu_conn {
	struct wire_qp wire;
	struct engine *e;
	struct emu_qp *q;
	struct emu_qp_run *run;
	uint32_t qpn;
	uint32_t serial, resets; /* of the queue pair */
	uint32_t endpoint;
	uint16_t flow;
	bool wrong_pkey; /* a packet of another partition has arrived, the last one with wrong_pkey_psn */
	uint32_t wrong_pkey_psn;
	bool sends;	   /* it was in RTS */
	uint16_t next;	   /* the WQE of the send ring that is handed over next */
	uint32_t done;	   /* requests that succeeded; their completions are delayed */
	uint32_t una, end; /* the requester's, and when one of them changed last */
	uint64_t moved;
	struct emu_wqe w;   /* parsed last: */
	bool parsed;	    /* in this pass */
	uint16_t parsed_ci; /* where it is */
	struct emu_receiver rx;
};

/* Their context is the struct emu_conn. */
extern const struct wire_ops emu_conn_ops;

/* Complete requests that succeeded, except those whose completions a fault on demand delays. */
void emu_conn_finish(struct emu_conn *c);
/* The queue has failed: a completion is delayed no more. */
void emu_conn_finish_all(struct emu_conn *c);

#endif
