/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Plays the server and libmlx5 for tests of the emulator's DMA engine: entries of the shared
 * tables, rings in plain memory, doorbell records. One world a process; entries are never used
 * twice.
 */
#ifndef EMU_RIG_H
#define EMU_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/engine/engine.h"

#define RIG_SIGNALED  0x08u
#define RIG_SOLICITED 0x02u
#define RIG_ALL	      (EMU_LR | EMU_LW | EMU_RR | EMU_RW | EMU_RA)

struct rig_cq {
	uint32_t cqn;
	uint32_t entries;
	uint32_t cqe_size;
	uint32_t ci;
	uint8_t *buf;
	uint32_t *dbr;
};

struct rig_qp {
	uint32_t qpn;
	uint32_t rq_head;
	uint16_t sq_post; /* blocks */
	uint8_t *buf;
	uint32_t *dbr;
	struct rig_cq *scq;
	struct rig_cq *rcq;
	struct emu_qp *entry;
};

struct rig_cqe {
	uint8_t opcode;
	uint8_t syndrome;
	uint8_t wqe_opcode;
	bool solicited;
	uint16_t wqe_counter;
	uint32_t qpn;
	uint32_t src_qpn;
	uint32_t uidx;
	uint32_t byte_cnt;
	uint8_t imm[4];
};

/* A scatter/gather entry; key RIG_INLINE: `addr` are bytes to copy into the WQE. */
#define RIG_INLINE UINT32_MAX
struct rig_sge {
	const void *addr;
	uint32_t len;
	uint32_t key;
};

/* A work request in the making: 16-byte segments. */
struct rig_wr {
	uint8_t raw[64 * 16];
	uint32_t len; /* bytes */
};

extern struct emu_tables *rig_tables;
extern struct emu_queues *rig_queues;
extern uint8_t *rig_dm;

/* An engine in a slot of its own. */
uint32_t rig_engine_start(void);
/* One that tells its notes to somebody else. */
uint32_t rig_engine_start_on(int fd);
void rig_engine_stop(uint32_t slot);

/* Memory of whole pages, never given back except by the test. */
void *rig_alloc(size_t len);

uint32_t rig_mkey(const struct emu_mkey *m);
uint32_t rig_mkey_mem(uint16_t func, uint32_t pdn, uint32_t rights, const void *addr, uint64_t len);
/* An mkey with a list: KLM, or KSM if log_entity is not 0. */
uint32_t rig_mkey_list(uint16_t func, uint32_t pdn, uint64_t start, uint64_t len,
		       uint32_t log_entity, const struct emu_klm *klm, uint32_t count);
uint32_t rig_mkey_alias(uint16_t func, uint32_t pdn, uint32_t target_key);
struct emu_mkey *rig_mkey_entry(uint32_t key);
/* Retire an mkey and wait for the grace period. */
void rig_mkey_retire(uint32_t key);

void rig_cq_init(struct rig_cq *cq, uint32_t slot, uint32_t entries, uint32_t cqe_size);
/* In RESET, unconnected, with 4 receive WQEs of 64 bytes. */
void rig_qp_init(struct rig_qp *qp, uint32_t slot, uint16_t func, uint32_t pdn, uint32_t sq_blocks,
		 struct rig_cq *scq, struct rig_cq *rcq);
void rig_qp_connect(struct rig_qp *a, struct rig_qp *b);
void rig_qp_state(struct rig_qp *qp, enum emu_qp_state state);
/* What the server and libmlx5 do for a transition to RESET. */
void rig_qp_reset(struct rig_qp *qp);
void rig_qp_retire(struct rig_qp *qp);

void rig_wr_begin(struct rig_wr *wr);
void rig_wr_raddr(struct rig_wr *wr, const void *addr, uint32_t rkey);
void rig_wr_atomic(struct rig_wr *wr, uint64_t swap_add, uint64_t compare);
void rig_wr_sge(struct rig_wr *wr, const struct rig_sge *sge);
void rig_wr_meta(struct rig_wr *wr, const void *opaque, uint32_t key);
/* Write the control segment and the WQE into the ring; not yet visible. */
void rig_wr_put(struct rig_qp *qp, struct rig_wr *wr, uint32_t opcode, uint32_t flags);
void rig_ring(struct rig_qp *qp);

void rig_recv(struct rig_qp *qp, const struct rig_sge *sge, unsigned int n);

/* Poll one; false if none comes within five seconds. */
bool rig_poll(struct rig_cq *cq, struct rig_cqe *cqe);
/* One that must come, with this syndrome. */
struct rig_cqe rig_expect(struct rig_cq *cq, uint8_t syndrome);
/* No completion for as many passes as an engine needs to notice anything. */
void rig_expect_none(struct rig_cq *cq, uint32_t slot);
/* Wait until the engine has begun and ended a few passes. */
void rig_passes(uint32_t slot);

bool rig_note(struct emu_note *note);
void rig_expect_no_note(uint32_t slot);

#endif
