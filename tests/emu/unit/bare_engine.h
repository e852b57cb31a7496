/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An engine without a thread, whose parts a test calls itself, and a CQ of 64 bytes an entry. */
#ifndef DPUMAP_TESTS_BARE_ENGINE_H
#define DPUMAP_TESTS_BARE_ENGINE_H

#include <stdlib.h>

#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"

static inline struct engine *bare_engine_open(uint64_t now)
{
	struct engine *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->cfg.queues = calloc(1, sizeof(*e->cfg.queues));
	assert_non_null(e->cfg.queues);
	e->pass.now = now;
	return e;
}

static inline struct emu_cq *bare_engine_cq(struct engine *e, uint32_t cqn, uint8_t *ring,
					    uint32_t entries, void *doorbell_record)
{
	struct emu_cq *cq = &e->cfg.queues->cq[cqn];

	cq->buf_addr = (uintptr_t)ring;
	cq->dbr_addr = (uintptr_t)doorbell_record;
	cq->entries = entries;
	cq->cqe_size = 64;
	atomic_store(&cq->serial, 1);
	return cq;
}

static inline void bare_engine_close(struct engine *e)
{
	free(e->cfg.queues);
	free(e);
}

#endif
