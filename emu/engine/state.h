/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state of an engine. Everything runs within a pass (see ipc/shm.h), and one thread at a time makes passes: a
 * pointer into the tables stays valid, once its entry's serial was seen non-zero, until the end of
 * the pass. What must survive a pass is in struct emu_qp_run, emu_cq_run and emu_srq_run, with the
 * serial of its queue.
 */
#ifndef EMU_ENGINE_STATE_H
#define EMU_ENGINE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/conn.h"
#include "emu/engine/cq.h"
#include "emu/engine/datagram.h"
#include "emu/engine/doorbell.h"
#include "emu/engine/engine.h"
#include "emu/engine/keys.h"
#include "emu/engine/memory/memory.h"
#include "emu/engine/net.h"
#include "emu/engine/notes.h"
#include "emu/engine/qp.h"
#include "emu/engine/srq.h"
#include "emu/engine/transform.h"
#include "emu/ipc/shm.h"

/* The most work requests of one QP in a pass. */
#define ENGINE_BUDGET 64

/* What holds for one pass. */
struct emu_pass {
	uint64_t now; /* ns; when the clock was read last, at least once per pass */
	uint64_t
		deadline; /* ns; when a timer of this engine's queues expires; UINT64_MAX: none runs */
	bool timed;	  /* the clock was read in this pass */
	bool worked;	  /* it made progress */
	bool unsent;	  /* the notify socket had no room for a note */
	bool lacks_page;    /* an access has failed for a page that is missing: page_fault.h */
	uint32_t rule;	    /* enum emu_cqe_action */
	uint32_t qp_faults; /* emu_queues.qp_faults */
	uint32_t data_rule; /* its action */
	bool has_faults;    /* of the three */
};

/* The queues that this engine executes, as of the last scan of the tables. */
struct emu_scan {
	bool done;
	uint32_t change;
	uint32_t qp_count, cq_count, srq_count, tgt_count;
	bool has_xsrqs; /* has or had XRC SRQs: it may have to execute messages to others' XRC targets */
	uint32_t qp_list[EMU_MAX_QPS];
	uint32_t cq_list[EMU_MAX_CQS];
	uint32_t srq_list[EMU_MAX_SRQS];
	uint32_t tgt_list[EMU_MAX_QPS]; /* XRC targets of other engines, if has_xsrqs */
};

/* Records that were not read in time, since the last one that was. */
struct emu_lost_records {
	uint32_t trace;
	uint32_t capture;
};

struct engine {
	/* Set once, when the engine starts. The server writes what `cfg.tables` points to. */
	struct emu_engine_config cfg;
	struct emu_engine *slot;
	uint32_t serial; /* of the slot */

	/* Held by the thread that makes passes: the engine's own, or the watcher (doorbell.h). It guards the rest. */
	pthread_mutex_t turn;

	/* engine.c writes them. */
	struct emu_scan scan;
	bool abandoned; /* the server has ended */

	/* All files of the room write them. */
	struct emu_pass pass;
	struct emu_qp_run qp_run[EMU_MAX_QPS];

	/* Each belongs to one file: that of its name, or trace.c and capture.c. */
	struct emu_srq_run srq_run[EMU_MAX_SRQS];
	struct emu_completions cq;
	struct emu_events events;
	struct emu_net net;
	struct emu_datagrams datagrams;
	struct emu_conns conns;
	struct emu_transform transform;
	struct emu_keys keys;
	struct emu_lost_records lost;
	struct emu_memory memory; /* of the lower room */

	/* Shared with the watcher, which does not wait for `turn`. */
	struct emu_doorbells doorbells;
};

#endif
