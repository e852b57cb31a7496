/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "engine_fixture.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"

#define PAGE	    4096u
#define RQ_COUNT    4u
#define RQ_SHIFT    6u
#define PATIENCE_NS 60000000000u

struct emu_tables *fixture_tables;
struct emu_queues *fixture_queues;
uint8_t *fixture_dm;

static int note_fd[2];
static uint32_t next_slot;
static uint32_t next_serial = 1;
static uint32_t next_mkey = 1;
static uint32_t next_klm;
static uint32_t next_cq;
static uint32_t next_qp = 1;

void *fixture_alloc(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void make_world(void)
{
	if (fixture_tables)
		return;
	fixture_tables = fixture_alloc(sizeof(*fixture_tables));
	fixture_queues = fixture_alloc(sizeof(*fixture_queues));
	fixture_dm = fixture_alloc(EMU_MAX_CARDS * EMU_DM_STRIDE);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, note_fd), 0);
}

static void kick(uint32_t slot)
{
	struct emu_engine *e = &fixture_queues->engine[slot];

	atomic_fetch_add(&e->wake, 1);
	syscall(SYS_futex, &e->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void fixture_announce(uint32_t slot)
{
	atomic_fetch_add(&fixture_queues->engine[slot].change, 1);
	kick(slot);
}

static void grace(uint32_t slot)
{
	struct emu_engine *e = &fixture_queues->engine[slot];
	uint32_t epoch = atomic_load(&e->epoch);

	while (epoch % 2 && atomic_load(&e->epoch) == epoch)
		usleep(10);
}

static void grace_all(void)
{
	for (uint32_t i = 0; i < next_slot; i++)
		grace(i);
}

uint32_t fixture_engine_start_on(int fd)
{
	struct emu_engine_config config = {0};
	uint32_t slot = next_slot++;

	make_world();
	assert_true(slot < EMU_MAX_ENGINES);
	fixture_queues->engine[slot].pid = getpid();
	atomic_store(&fixture_queues->engine[slot].serial, next_serial++);
	config.tables = fixture_tables;
	config.queues = fixture_queues;
	config.dm = fixture_dm;
	config.slot = slot;
	config.notify_fd = fd;
	assert_int_equal(emu_engine_start(&config), 0);
	return slot;
}

uint32_t fixture_engine_start(void)
{
	make_world();
	return fixture_engine_start_on(note_fd[0]);
}

void fixture_engine_stop(uint32_t slot)
{
	struct emu_note note;

	atomic_store(&fixture_queues->engine[slot].serial, 0);
	fixture_announce(slot);
	grace(slot);
	while (recv(note_fd[1], &note, sizeof(note), MSG_DONTWAIT) > 0)
		;
}

uint32_t fixture_mkey(const struct emu_mkey *m)
{
	uint32_t index = next_mkey++;
	struct emu_mkey *entry = &fixture_tables->mkey[index];

	assert_true(index < EMU_MAX_MKEYS);
	memcpy(entry, m, sizeof(*entry));
	entry->tag = (uint8_t)(0x40 + index);
	entry->first_serial = next_serial;
	atomic_store(&entry->serial, next_serial++);
	return index << 8 | entry->tag;
}

uint32_t fixture_mkey_mem(uint16_t func, uint32_t pdn, uint32_t rights, const void *addr,
			  uint64_t len)
{
	struct emu_mkey m = {.mode = EMU_MKEY_MEM, .func = func, .pdn = pdn, .rights = rights};

	m.start = (uintptr_t)addr;
	m.len = len;
	m.u.mem.addr = (uintptr_t)addr;
	m.u.mem.pid = getpid();
	return fixture_mkey(&m);
}

uint32_t fixture_mkey_list(uint16_t func, uint32_t pdn, uint64_t start, uint64_t len,
			   uint32_t log_entity, const struct emu_klm *klm, uint32_t count)
{
	struct emu_mkey m = {.func = func, .pdn = pdn, .rights = FIXTURE_ALL};

	m.mode = log_entity ? EMU_MKEY_KSM : EMU_MKEY_KLM;
	m.log_entity = log_entity;
	m.start = start;
	m.len = len;
	m.u.klm.first = next_klm;
	m.u.klm.count = count;
	assert_true(next_klm + count <= EMU_MAX_KLMS);
	memcpy(&fixture_tables->klm[next_klm], klm, count * sizeof(*klm));
	next_klm += count;
	return fixture_mkey(&m);
}

uint32_t fixture_mkey_alias(uint16_t func, uint32_t pdn, uint32_t target_key)
{
	struct emu_mkey m = {.mode = EMU_MKEY_ALIAS, .func = func, .pdn = pdn};

	m.u.alias.index = target_key >> 8;
	m.u.alias.serial = fixture_mkey_entry(target_key)->first_serial;
	fixture_mkey_entry(target_key)->shared = 1;
	return fixture_mkey(&m);
}

struct emu_mkey *fixture_mkey_entry(uint32_t key)
{
	return &fixture_tables->mkey[key >> 8];
}

void fixture_mkey_retire(uint32_t key)
{
	atomic_store(&fixture_mkey_entry(key)->serial, 0);
	grace_all();
}

void fixture_cq_init(struct fixture_cq *cq, uint32_t slot, uint32_t entries, uint32_t cqe_size)
{
	uint32_t cqn = next_cq++;
	struct emu_cq *entry = &fixture_queues->cq[cqn];

	assert_true(cqn < EMU_MAX_CQS);
	memset(cq, 0, sizeof(*cq));
	cq->cqn = cqn;
	cq->entries = entries;
	cq->cqe_size = cqe_size;
	cq->buf = fixture_alloc((size_t)entries * cqe_size);
	for (uint32_t i = 0; i < entries; i++)
		cq->buf[(size_t)(i + 1) * cqe_size - 1] = 0xf0;
	cq->dbr = fixture_alloc(PAGE);
	cq->dbr[1] = EMU_CQ_UNARMED;
	entry->engine = slot;
	entry->buf_addr = (uintptr_t)cq->buf;
	entry->dbr_addr = (uintptr_t)cq->dbr;
	entry->entries = entries;
	entry->cqe_size = cqe_size;
	entry->has_channel = 1;
	atomic_store(&entry->serial, next_serial++);
	atomic_store(&fixture_queues->cq_high, cqn + 1);
	fixture_announce(slot);
}

void fixture_qp_init(struct fixture_qp *qp, uint32_t slot, uint16_t func, uint32_t pdn,
		     uint32_t sq_blocks, struct fixture_cq *scq, struct fixture_cq *rcq)
{
	uint32_t qpn = next_qp++;
	struct emu_qp *entry = &fixture_queues->qp[qpn];

	assert_true(qpn < EMU_MAX_QPS);
	memset(qp, 0, sizeof(*qp));
	qp->qpn = qpn;
	qp->scq = scq;
	qp->rcq = rcq;
	qp->entry = entry;
	qp->buf = fixture_alloc((RQ_COUNT << RQ_SHIFT) + (size_t)sq_blocks * 64);
	qp->dbr = fixture_alloc(PAGE);
	entry->engine = slot;
	entry->func = func;
	entry->type = EMU_QPT_RC;
	entry->mmo.log_copy = 31;
	entry->pdn = pdn;
	entry->pkey = UINT16_MAX;
	entry->uidx = 0x1000 + qpn;
	entry->send_cqn = scq->cqn;
	entry->recv_cqn = rcq->cqn;
	entry->access = EMU_QP_REMOTE_WRITE | EMU_QP_REMOTE_READ | EMU_QP_REMOTE_ATOMIC;
	entry->buf_addr = (uintptr_t)qp->buf;
	entry->dbr_addr = (uintptr_t)qp->dbr;
	entry->sq_wqe_count = sq_blocks;
	entry->rq_wqe_count = RQ_COUNT;
	entry->rq_wqe_shift = RQ_SHIFT;
	entry->dest_func = UINT32_MAX;
	entry->timeout = 1;
	entry->retry_cnt = 1;
	entry->rnr_retry = 7;
	entry->min_rnr_timer = 1;
	atomic_store(&entry->serial, next_serial++);
	atomic_store(&fixture_queues->qp_high, qpn + 1);
	fixture_announce(slot);
}

static void connect_one(struct fixture_qp *qp, const struct fixture_qp *to)
{
	qp->entry->dest_qpn = to->qpn;
	qp->entry->dest_func = to->entry->func;
}

void fixture_qp_connect(struct fixture_qp *a, struct fixture_qp *b)
{
	connect_one(a, b);
	connect_one(b, a);
	fixture_qp_state(a, EMU_QPS_RTS);
	fixture_qp_state(b, EMU_QPS_RTS);
}

void fixture_qp_state(struct fixture_qp *qp, enum emu_qp_state state)
{
	atomic_store(&qp->entry->state, state);
}

void fixture_qp_reset(struct fixture_qp *qp)
{
	atomic_store(&qp->entry->state, EMU_QPS_RESET);
	atomic_fetch_add(&qp->entry->resets, 1);
	grace_all();
	atomic_store(&qp->entry->inbox.state, EMU_MSG_FREE);
	qp->sq_post = 0;
	qp->rq_head = 0;
	__atomic_store_n(&qp->dbr[0], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->dbr[1], 0, __ATOMIC_RELEASE);
}

void fixture_qp_retire(struct fixture_qp *qp)
{
	atomic_store(&qp->entry->serial, 0);
	fixture_announce(qp->entry->engine);
	grace_all();
}

static uint8_t *grow(struct fixture_wr *wr, uint32_t len)
{
	uint8_t *p = wr->raw + wr->len;

	assert_true(wr->len + len <= sizeof(wr->raw));
	wr->len += len;
	return p;
}

void fixture_wr_begin(struct fixture_wr *wr)
{
	memset(wr, 0, sizeof(*wr));
	wr->len = 16;
}

void fixture_wr_raddr(struct fixture_wr *wr, const void *addr, uint32_t rkey)
{
	uint8_t *p = grow(wr, 16);

	emu_put64(p, (uintptr_t)addr);
	emu_put32(p + 8, rkey);
}

void fixture_wr_atomic(struct fixture_wr *wr, uint64_t swap_add, uint64_t compare)
{
	uint8_t *p = grow(wr, 16);

	emu_put64(p, swap_add);
	emu_put64(p + 8, compare);
}

static void put_sge(uint8_t *p, const struct fixture_sge *sge)
{
	emu_put32(p, sge->len);
	emu_put32(p + 4, sge->key);
	emu_put64(p + 8, (uintptr_t)sge->addr);
}

void fixture_wr_sge(struct fixture_wr *wr, const struct fixture_sge *sge)
{
	uint8_t *p;

	if (sge->key != FIXTURE_INLINE) {
		put_sge(grow(wr, 16), sge);
		return;
	}
	p = grow(wr, (4 + sge->len + 15) & ~15u);
	emu_put32(p, 0x80000000u | sge->len);
	memcpy(p + 4, sge->addr, sge->len);
}

void fixture_wr_meta(struct fixture_wr *wr, const void *opaque, uint32_t key)
{
	uint8_t *p = grow(wr, 16);

	emu_put32(p + 4, key);
	emu_put64(p + 8, (uintptr_t)opaque);
}

void fixture_wr_put(struct fixture_qp *qp, struct fixture_wr *wr, uint32_t opcode, uint32_t flags)
{
	uint8_t *ring = qp->buf + (RQ_COUNT << RQ_SHIFT);
	uint32_t blocks = qp->entry->sq_wqe_count;

	emu_put32(wr->raw, (uint32_t)wr->raw[0] << 24 | (uint32_t)qp->sq_post << 8 | opcode);
	emu_put32(wr->raw + 4, qp->qpn << 8 | wr->len / 16);
	wr->raw[11] = (uint8_t)flags;
	for (uint32_t off = 0; off < wr->len; off += 64, qp->sq_post++)
		memcpy(ring + (size_t)(qp->sq_post & (blocks - 1)) * 64, wr->raw + off, 64);
}

void fixture_ring(struct fixture_qp *qp)
{
	uint32_t raw;

	emu_put32((uint8_t *)&raw, qp->sq_post);
	__atomic_store_n(&qp->dbr[1], raw, __ATOMIC_RELEASE);
}

void fixture_recv(struct fixture_qp *qp, const struct fixture_sge *sge, unsigned int n)
{
	uint8_t *p = qp->buf + ((size_t)(qp->rq_head % RQ_COUNT) << RQ_SHIFT);
	const struct fixture_sge end = {NULL, 0, 0x100};
	uint32_t raw;

	for (unsigned int i = 0; i < n; i++)
		put_sge(p + (size_t)i * 16, &sge[i]);
	if (n < (1u << RQ_SHIFT) / 16)
		put_sge(p + (size_t)n * 16, &end);
	qp->rq_head++;
	emu_put32((uint8_t *)&raw, qp->rq_head & 0xffff);
	__atomic_store_n(&qp->dbr[0], raw, __ATOMIC_RELEASE);
}

static void decode(const uint8_t *p, uint8_t op_own, struct fixture_cqe *cqe)
{
	memset(cqe, 0, sizeof(*cqe));
	cqe->opcode = op_own >> 4;
	cqe->solicited = op_own & 2;
	cqe->src_qpn = emu_get32(p + 24) & 0xffffff;
	cqe->uidx = emu_get32(p + 32);
	memcpy(cqe->imm, p + 36, 4);
	cqe->byte_cnt = emu_get32(p + 44);
	cqe->wqe_opcode = p[56];
	cqe->qpn = emu_get32(p + 56) & 0xffffff;
	cqe->wqe_counter = emu_get16(p + 60);
	if (cqe->opcode != EMU_CQE_REQ_ERR && cqe->opcode != EMU_CQE_RESP_ERR)
		return;
	cqe->hw_syndrome = p[52];
	cqe->vendor = p[54];
	cqe->syndrome = p[55];
}

static bool take(struct fixture_cq *cq, struct fixture_cqe *cqe)
{
	uint8_t *p = cq->buf + (size_t)((cq->ci & (cq->entries - 1)) + 1) * cq->cqe_size - 64;
	uint8_t op_own = __atomic_load_n(p + 63, __ATOMIC_ACQUIRE);
	uint32_t raw;

	if (op_own >> 4 == 15 || (op_own & 1) != !!(cq->ci & cq->entries))
		return false;
	decode(p, op_own, cqe);
	cq->ci++;
	emu_put32((uint8_t *)&raw, cq->ci & 0xffffff);
	__atomic_store_n(&cq->dbr[0], raw, __ATOMIC_RELEASE);
	return true;
}

bool fixture_poll(struct fixture_cq *cq, struct fixture_cqe *cqe)
{
	uint64_t end = monotonic_ns() + PATIENCE_NS;

	while (!take(cq, cqe)) {
		if (monotonic_ns() > end)
			return false;
		usleep(20);
	}
	return true;
}

struct fixture_cqe fixture_expect(struct fixture_cq *cq, uint8_t syndrome)
{
	struct fixture_cqe cqe = {0};

	assert_true(fixture_poll(cq, &cqe));
	assert_int_equal(cqe.syndrome, syndrome);
	return cqe;
}

void fixture_passes(uint32_t slot)
{
	uint32_t start = atomic_load(&fixture_queues->engine[slot].epoch);

	while (atomic_load(&fixture_queues->engine[slot].epoch) - start < 8) {
		kick(slot);
		usleep(100);
	}
}

void fixture_expect_none(struct fixture_cq *cq, uint32_t slot)
{
	struct fixture_cqe cqe;

	fixture_passes(slot);
	assert_false(take(cq, &cqe));
}

bool fixture_note(struct emu_note *note)
{
	struct pollfd p = {.fd = note_fd[1], .events = POLLIN};

	return poll(&p, 1, 5000) == 1 && recv(note_fd[1], note, sizeof(*note), 0) == sizeof(*note);
}

void fixture_expect_no_note(uint32_t slot)
{
	struct emu_note note;

	fixture_passes(slot);
	assert_int_equal(recv(note_fd[1], &note, sizeof(note), MSG_DONTWAIT), -1);
}
