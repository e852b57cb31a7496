/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The server's and libmlx5's part in tests of the emulator's DMA engine: entries of the shared
 * tables, rings in plain memory, doorbell records. There is one set of tables in a process, and no
 * entry is used twice.
 */
#ifndef ENGINE_FIXTURE_H
#define ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/engine/engine.h"

#define FIXTURE_SIGNALED  0x08u
#define FIXTURE_SOLICITED 0x02u
#define FIXTURE_ALL	  (EMU_LR | EMU_LW | EMU_RR | EMU_RW | EMU_RA)

struct fixture_cq {
	uint32_t cqn;
	uint32_t entries;
	uint32_t cqe_size;
	uint32_t ci;
	uint8_t *buf;
	uint32_t *dbr;
};

struct fixture_qp {
	uint32_t qpn;
	uint32_t rq_head;
	uint16_t sq_post; /* blocks */
	uint8_t *buf;
	uint32_t *dbr;
	struct fixture_cq *scq;
	struct fixture_cq *rcq;
	struct emu_qp *entry;
};

struct fixture_cqe {
	uint8_t opcode;
	uint8_t syndrome;
	uint8_t vendor, hw_syndrome; /* of an error */
	uint8_t wqe_opcode;
	bool solicited;
	uint16_t wqe_counter;
	uint32_t qpn;
	uint32_t src_qpn;
	uint32_t uidx;
	uint32_t byte_cnt;
	uint8_t imm[4];
};

/* A scatter/gather entry; key FIXTURE_INLINE: `addr` are bytes to copy into the WQE. */
#define FIXTURE_INLINE UINT32_MAX
struct fixture_sge {
	const void *addr;
	uint32_t len;
	uint32_t key;
};

/* A work request in the making: 16-byte segments. */
struct fixture_wr {
	uint8_t raw[64 * 16];
	uint32_t len; /* bytes */
};

extern struct emu_tables *fixture_tables;
extern struct emu_queues *fixture_queues;
extern uint8_t *fixture_dm;

/* An engine in a slot of its own. */
uint32_t fixture_engine_start(void);
/* An engine that writes its notes to fd. */
uint32_t fixture_engine_start_on(int fd);
void fixture_engine_stop(uint32_t slot);
/* Tell the engine that the tables have changed. */
void fixture_announce(uint32_t slot);

/* Whole pages of memory; the test may unmap them. */
void *fixture_alloc(size_t len);

uint32_t fixture_mkey(const struct emu_mkey *m);
uint32_t fixture_mkey_mem(uint16_t func, uint32_t pdn, uint32_t rights, const void *addr,
			  uint64_t len);
/* An mkey with a list: KLM, or KSM if log_entity is not 0. */
uint32_t fixture_mkey_list(uint16_t func, uint32_t pdn, uint64_t start, uint64_t len,
			   uint32_t log_entity, const struct emu_klm *klm, uint32_t count);
uint32_t fixture_mkey_alias(uint16_t func, uint32_t pdn, uint32_t target_key);
struct emu_mkey *fixture_mkey_entry(uint32_t key);
/* Retire an mkey and wait for the grace period. */
void fixture_mkey_retire(uint32_t key);

void fixture_cq_init(struct fixture_cq *cq, uint32_t slot, uint32_t entries, uint32_t cqe_size);
/* In RESET, unconnected, with 4 receive WQEs of 64 bytes. */
void fixture_qp_init(struct fixture_qp *qp, uint32_t slot, uint16_t func, uint32_t pdn,
		     uint32_t sq_blocks, struct fixture_cq *scq, struct fixture_cq *rcq);
void fixture_qp_connect(struct fixture_qp *a, struct fixture_qp *b);
void fixture_qp_state(struct fixture_qp *qp, enum emu_qp_state state);
/* Do what the server and libmlx5 do for a transition to RESET. */
void fixture_qp_reset(struct fixture_qp *qp);
void fixture_qp_retire(struct fixture_qp *qp);

void fixture_wr_begin(struct fixture_wr *wr);
void fixture_wr_raddr(struct fixture_wr *wr, const void *addr, uint32_t rkey);
void fixture_wr_atomic(struct fixture_wr *wr, uint64_t swap_add, uint64_t compare);
void fixture_wr_sge(struct fixture_wr *wr, const struct fixture_sge *sge);
void fixture_wr_meta(struct fixture_wr *wr, const void *opaque, uint32_t key);
/* Write the control segment and the WQE into the ring; not yet visible. */
void fixture_wr_put(struct fixture_qp *qp, struct fixture_wr *wr, uint32_t opcode, uint32_t flags);
void fixture_ring(struct fixture_qp *qp);

void fixture_recv(struct fixture_qp *qp, const struct fixture_sge *sge, unsigned int n);

/* Poll one; false if none comes within five seconds. */
bool fixture_poll(struct fixture_cq *cq, struct fixture_cqe *cqe);
/* Poll one, which must arrive and have this syndrome. */
struct fixture_cqe fixture_expect(struct fixture_cq *cq, uint8_t syndrome);
/* Fail if there is a completion within a few passes of the engine. */
void fixture_expect_none(struct fixture_cq *cq, uint32_t slot);
/* Wait until the engine has begun and ended a few passes. */
void fixture_passes(uint32_t slot);

bool fixture_note(struct emu_note *note);
void fixture_expect_no_note(uint32_t slot);

#endif
