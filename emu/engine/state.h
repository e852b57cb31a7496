/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state of an engine. Everything runs on its one thread and within a pass (see ipc/shm.h): a
 * pointer into the tables stays valid, once its entry's serial was seen non-zero, until the end of
 * the pass. What must survive a pass is in struct emu_qp_run, emu_cq_run and emu_srq_run, with the
 * serial of its queue.
 */
#ifndef EMU_ENGINE_STATE_H
#define EMU_ENGINE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/cq.h"
#include "emu/engine/doorbell.h"
#include "emu/engine/engine.h"
#include "emu/engine/memory/memory.h"
#include "emu/engine/net.h"
#include "emu/engine/notes.h"
#include "emu/engine/qp.h"
#include "emu/engine/srq.h"
#include "emu/ipc/shm.h"

/* The most work requests of one QP in a pass. */
#define ENGINE_BUDGET 64

struct emu_conn;

struct engine {
	struct emu_engine_config cfg;
	pthread_mutex_t turn; /* held by the thread that makes passes: see doorbell.h */
	struct emu_engine *slot;
	uint32_t serial; /* of the slot */
	uint32_t change; /* as of the last scan */
	bool scanned;
	bool worked;	    /* this pass made progress */
	bool abandoned;	    /* the server has ended */
	uint64_t looked;    /* ns; when the server was checked last */
	uint64_t now;	    /* ns; when the clock was read last, at least once per pass */
	bool timed;	    /* the clock was read in this pass */
	bool unsent;	    /* the notify socket had no room for a note of this pass */
	uint64_t reported;  /* ns; when a completion event was sent last; 0: never */
	uint32_t looks;	    /* passes without work that did not lead to a sleep */
	uint32_t quiet;	    /* passes without work since the engine woke or armed the doorbells */
	uint32_t rule;	    /* enum emu_cqe_action of this pass */
	uint32_t qp_faults; /* emu_queues.qp_faults in this pass */
	struct emu_memory memory;
	struct emu_doorbells doorbells;
	struct emu_net net;
	struct emu_conn *conns; /* room for one of each queue pair; NULL: not yet needed */
	struct emu_conn *conn[EMU_MAX_QPS]; /* NULL: none, or not yet */
	struct emu_cq_batch batch;
	struct emu_cq_session session;
	uint32_t qp_count;
	uint32_t cq_count;
	uint32_t srq_count;
	bool has_xsrqs; /* has or had XRC SRQs: it may have to execute messages to others' XRC targets */
	uint32_t tgt_count;
	uint32_t tgt_list[EMU_MAX_QPS]; /* XRC targets of other engines, if has_xsrqs */
	uint32_t qp_list[EMU_MAX_QPS];
	uint32_t cq_list[EMU_MAX_CQS];
	struct emu_qp_run qp_run[EMU_MAX_QPS];
	struct emu_cq_run cq_run[EMU_MAX_CQS];
	uint32_t srq_list[EMU_MAX_SRQS];
	struct emu_srq_run srq_run[EMU_MAX_SRQS];
	uint32_t channels;   /* how many of cq_run have one */
	uint32_t trace_lost; /* records that were not read in time */
	uint32_t capture_lost;
	uint32_t event_count; /* events that wait for room in the notify socket */
	struct emu_note event[ENGINE_EVENTS];
};

#endif
