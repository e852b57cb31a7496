/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies of the DMA engine: RDMA, MMO, memory keys, every refusal. */
#include "engine_pair.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

static void a_nop_completes(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;

	post_nop(&p->a, FIXTURE_SIGNALED);
	cqe = fixture_expect(&p->cq_a, 0);
	assert_int_equal(cqe.opcode, EMU_CQE_REQ);
	assert_int_equal(cqe.wqe_opcode, EMU_WQE_NOP);
	assert_int_equal(cqe.qpn, p->a.qpn);
	assert_int_equal(cqe.uidx, 0x1000 + p->a.qpn);
}

static void an_unsignaled_request_has_no_cqe(void **state)
{
	struct pair *p = *state;

	post_nop(&p->a, 0);
	post_nop(&p->a, FIXTURE_SIGNALED);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_counter, 1);
	fixture_expect_none(&p->cq_a, p->slot_a);
}

static void write_reaches_the_peer(void **state)
{
	struct pair *p = *state;

	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a + 3, 5000, p->key_a), p->mem_b + 1,
		  p->key_b);
	assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_opcode, EMU_WQE_RDMA_WRITE);
	assert_memory_equal(p->mem_b + 1, p->mem_a + 3, 5000);
	assert_int_equal(p->mem_b[0], 0);
	assert_int_equal(p->mem_b[5001], 0);
}

static void read_fetches_from_the_peer(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;

	memset(p->mem_b, 0x5a, 9000);
	post_rdma(&p->a, EMU_WQE_RDMA_READ, sge(p->mem_a, 9000, p->key_a), p->mem_b, p->key_b);
	cqe = fixture_expect(&p->cq_a, 0);
	assert_int_equal(cqe.byte_cnt, 9000);
	assert_memory_equal(p->mem_a, p->mem_b, 9000);
}

static void a_read_fills_its_segments_in_order(void **state)
{
	struct pair *p = *state;
	struct fixture_sge second = {p->mem_a + 1000, 50, p->key_a};
	struct fixture_sge first = {p->mem_a, 14, p->key_a};
	struct fixture_wr wr;

	for (int i = 0; i < 64; i++)
		p->mem_b[i] = (uint8_t)(200 - i);
	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, p->mem_b, p->key_b);
	fixture_wr_sge(&wr, &first);
	fixture_wr_sge(&wr, &second);
	post_one(&p->a, &wr, EMU_WQE_RDMA_READ, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a, p->mem_b, 14);
	assert_memory_equal(p->mem_a + 1000, p->mem_b + 14, 50);
}

static void a_queue_pair_connected_to_itself_writes_and_sends(void **state)
{
	struct pair *p = *state;
	struct fixture_qp loop;

	add_loopback(p, &loop);
	post_rdma(&loop, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 100, p->key_a), p->mem_a + 4096,
		  p->key_a);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 4096, p->mem_a, 100);
	fixture_recv(&loop, &(struct fixture_sge){p->mem_a + 8192, 100, p->key_a}, 1);
	post_send(&loop, sge(p->mem_a, 100, p->key_a));
	assert_int_equal(fixture_expect(&p->cq_a, 0).opcode, EMU_CQE_RESP_SEND);
	assert_int_equal(fixture_expect(&p->cq_a, 0).opcode, EMU_CQE_REQ);
	assert_memory_equal(p->mem_a + 8192, p->mem_a, 100);
}

/* 16 blocks: a WQE of 3 blocks, five times, then the sixth wraps in the middle of its inline data.
 */
static void inline_data_wraps_at_the_end_of_the_ring(void **state)
{
	struct pair *p = *state;

	for (uint16_t i = 0; i < 12; i++) {
		struct fixture_sge data = {p->mem_a + (size_t)i * 131, 150, FIXTURE_INLINE};

		post_rdma(&p->a, EMU_WQE_RDMA_WRITE, data, p->mem_b + (size_t)i * 200, p->key_b);
		assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_counter, i * 3);
		assert_memory_equal(p->mem_b + (size_t)i * 200, p->mem_a + (size_t)i * 131, 150);
	}
}

static void segments_wrap_at_the_end_of_the_ring(void **state)
{
	struct pair *p = *state;

	for (unsigned int round = 0; round < 12; round++) {
		struct fixture_wr wr;

		fixture_wr_begin(&wr);
		fixture_wr_raddr(&wr, p->mem_b, p->key_b);
		for (unsigned int i = 0; i < 10; i++) {
			struct fixture_sge s = {p->mem_a + round + i * 64, 10 + i, p->key_a};

			fixture_wr_sge(&wr, &s);
		}
		post_one(&p->a, &wr, EMU_WQE_RDMA_WRITE, FIXTURE_SIGNALED);
		fixture_expect(&p->cq_a, 0);
		assert_memory_equal(p->mem_b, p->mem_a + round, 10);
		assert_memory_equal(p->mem_b + 126, p->mem_a + round + 576, 19);
	}
}

static void inline_data_may_follow_the_end_of_the_ring(void **state)
{
	struct pair *p = *state;

	for (unsigned int round = 0; round < 12; round++) {
		struct fixture_sge inl = {p->mem_a + 5000 + round, 40, FIXTURE_INLINE};
		struct fixture_wr wr;

		fixture_wr_begin(&wr);
		fixture_wr_raddr(&wr, p->mem_b, p->key_b);
		for (unsigned int i = 0; i < 5; i++)
			fixture_wr_sge(&wr, &(struct fixture_sge){p->mem_a, 8, p->key_a});
		fixture_wr_sge(&wr, &inl);
		post_one(&p->a, &wr, EMU_WQE_RDMA_WRITE, FIXTURE_SIGNALED);
		fixture_expect(&p->cq_a, 0);
		assert_memory_equal(p->mem_b + 40, inl.addr, 40);
	}
}

/* The bytes of all segments, in their order, fill the entries of the receive in theirs. */
static void send_gathers_inline_and_pointers_in_order(void **state)
{
	static const struct {
		uint32_t len;
		bool is_inline;
	} segments[] = {{40, true}, {64, false}, {5, true}, {1, true}, {300, false}, {16, false}};
	struct pair *p = *state;

	for (unsigned int round = 0; round < 20; round++) {
		const struct fixture_sge entries[] = {{p->mem_b, 40, p->key_b},
						      {p->mem_b + 64, 1000, p->key_b}};
		uint8_t expected[1000];
		struct fixture_wr wr;
		size_t n = 0;

		fixture_recv(&p->b, entries, 2);
		fixture_wr_begin(&wr);
		for (size_t i = 0; i < ARRAY_SIZE(segments); i++) {
			uint8_t *from = p->mem_a + 1000 * i + round;

			memset(from, (int)(round + i + 1), segments[i].len);
			memcpy(expected + n, from, segments[i].len);
			n += segments[i].len;
			fixture_wr_sge(&wr,
				       &(struct fixture_sge){from, segments[i].len,
							     segments[i].is_inline ? FIXTURE_INLINE
										   : p->key_a});
		}
		post_one(&p->a, &wr, EMU_WQE_SEND, FIXTURE_SIGNALED);
		fixture_expect(&p->cq_a, 0);
		assert_int_equal(fixture_expect(&p->cq_b, 0).byte_cnt, n);
		assert_memory_equal(p->mem_b, expected, 40);
		assert_memory_equal(p->mem_b + 64, expected + 40, n - 40);
	}
}

static void queue_memory_is_reused(void **state)
{
	struct pair *p = *state;

	for (unsigned int i = 0; i < 70000; i += 16) {
		for (unsigned int k = 0; k < 15; k++)
			fixture_wr_put(&p->a, &(struct fixture_wr){.len = 16}, EMU_WQE_NOP, 0);
		fixture_wr_put(&p->a, &(struct fixture_wr){.len = 16}, EMU_WQE_NOP,
			       FIXTURE_SIGNALED);
		fixture_ring(&p->a);
		assert_int_equal(fixture_expect(&p->cq_a, 0).wqe_counter, (i + 15) & 0xffff);
	}
}

static void zero_length_needs_no_key(void **state)
{
	struct pair *p = *state;
	struct fixture_wr wr;

	fixture_wr_begin(&wr);
	fixture_wr_raddr(&wr, NULL, 0xdeadbeef);
	post_one(&p->a, &wr, EMU_WQE_RDMA_WRITE, FIXTURE_SIGNALED);
	fixture_expect(&p->cq_a, 0);
}

static void mmo_copies_without_a_connection(void **state)
{
	struct pair *p = *state;
	struct fixture_cqe cqe;

	fixture_qp_reset(&p->a);
	p->a.entry->dest_func = UINT32_MAX;
	fixture_qp_state(&p->a, EMU_QPS_RTS);
	post_mmo(p, &p->a, sge(p->mem_a, 4000, p->key_a), sge(p->mem_a + 8192, 4000, p->key_a));
	cqe = fixture_expect(&p->cq_a, 0);
	assert_int_equal(cqe.wqe_opcode, EMU_WQE_MMO);
	assert_memory_equal(p->mem_a + 8192, p->mem_a, 4000);
}

static void mmo_copies_through_device_memory(void **state)
{
	struct pair *p = *state;
	uint32_t dm = dm_key(FUNC_A, PD_A, EMU_DM_STRIDE + 4096, 8192);

	post_mmo(p, &p->a, sge(p->mem_a, 3000, p->key_a), sge(at(16), 3000, dm));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(fixture_dm + EMU_DM_STRIDE + 4096 + 16, p->mem_a, 3000);
	post_mmo(p, &p->a, sge(at(16), 3000, dm), sge(at(4096), 3000, dm));
	fixture_expect(&p->cq_a, 0);
	post_mmo(p, &p->a, sge(at(4096), 3000, dm), sge(p->mem_a + 4096, 3000, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 4096, p->mem_a, 3000);
	post_mmo(p, &p->a, sge(p->mem_a, 10, p->key_a), sge(at(8190), 10, dm));
	fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
}

static void mmo_with_unequal_lengths_or_without_rights_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge good = {p->mem_a, 64, p->key_a};
	uint32_t read_only = fixture_mkey_mem(FUNC_A, PD_A, EMU_LR | EMU_RR, p->mem_a, SIZE);
	struct fixture_qp qp;

	refuse_mmo(p, good, sge(p->mem_a, 63, p->key_a), EMU_SYN_LOC_QP_OP);
	refuse_mmo(p, good, sge(p->mem_a, 64, read_only), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(p->mem_a, 0, p->key_a), sge(p->mem_a, 0, p->key_a), EMU_SYN_LOC_PROT);
	add_loopback(p, &qp);
	qp.entry->mmo = (struct emu_mmo){0};
	post_mmo(p, &qp, good, good);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP);
	p->key_a ^= 1;
	refuse_mmo(p, good, good, EMU_SYN_LOC_PROT);
}

static void copy_exactly(struct pair *p, uint32_t from, uint32_t to, uint32_t len)
{
	const uint8_t *src = p->mem_a + from;
	uint8_t *dst = p->mem_a + to;

	memset(dst - 64, 0xee, len + 128u);
	post_mmo(p, &p->a, sge(src, len, p->key_a), sge(dst, len, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(dst, src, len);
	for (int i = 1; i <= 64; i++) {
		assert_int_equal(dst[-i], 0xee);
		assert_int_equal(dst[len + (uint32_t)i - 1], 0xee);
	}
}

/* Every way of moving bytes moves exactly those requested. */
static void mmo_copies_any_length_at_any_place(void **state)
{
	static const uint32_t begins[] = {0, 1, 8, 31, 33};
	static const uint32_t lengths[] = {511, 512, 513, 540, 640, 672, 1023, 4096, 4103, 20000};
	struct pair *p = *state;

	for (size_t s = 0; s < 5; s++) {
		for (size_t d = 0; d < 5; d++) {
			for (uint32_t len = 1; len < 70; len++)
				copy_exactly(p, begins[s], SIZE / 2 + begins[d], len);
			for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
				copy_exactly(p, begins[s], SIZE / 2 + begins[d], lengths[i]);
		}
	}
}

/* A copy does not affect the next one with the same key. */
static void mmo_does_not_affect_the_next_with_the_same_key(void **state)
{
	struct pair *p = *state;
	uint32_t read_only = fixture_mkey_mem(FUNC_A, PD_A, EMU_LR, p->mem_a, 4096);
	struct emu_klm k = {.key = read_only, .addr = (uintptr_t)p->mem_a};
	uint32_t list = fixture_mkey_list(FUNC_A, PD_A, 0, 4096, 12, &k, 1);
	struct fixture_sge room = {p->mem_a + 8192, 64, p->key_a};
	const struct {
		struct fixture_sge src, dst;
	} refused[] = {
		{room, sge(p->mem_a, 64, read_only)},
		{sge(p->mem_a + 4040, 64, read_only), room},
		{room, sge(at(0), 64, list)},
		{sge(at(4040), 64, list), room},
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct fixture_qp qp;

		add_loopback(p, &qp);
		put_mmo(p, &qp, sge(p->mem_a + 64, 64, read_only), room, FIXTURE_SIGNALED);
		put_mmo(p, &qp, sge(at(128), 64, list), room, FIXTURE_SIGNALED);
		put_mmo(p, &qp, refused[i].src, refused[i].dst, FIXTURE_SIGNALED);
		fixture_ring(&qp);
		fixture_expect(&p->cq_a, 0);
		fixture_expect(&p->cq_a, 0);
		fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
		assert_memory_equal(room.addr, p->mem_a + 128, 64);
	}
}

/* More than an engine caches. */
static void mmo_uses_more_keys_than_are_cached(void **state)
{
	struct pair *p = *state;
	uint32_t keys[8];

	for (uint32_t i = 0; i < 8; i++)
		keys[i] = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, p->mem_a + (size_t)i * 4096,
					   4096);
	for (uint32_t i = 0; i < 12; i++)
		put_mmo(p, &p->a, sge(p->mem_a + (size_t)(i % 8) * 4096, 256, keys[i % 8]),
			sge(p->mem_a + (size_t)((i + 1) % 8) * 4096 + 256 * (i + 1u), 256,
			    keys[(i + 1) % 8]),
			FIXTURE_SIGNALED);
	fixture_ring(&p->a);
	for (uint32_t i = 0; i < 12; i++)
		fixture_expect(&p->cq_a, 0);
	for (uint32_t i = 0; i < 12; i++)
		assert_memory_equal(p->mem_a + (size_t)((i + 1) % 8) * 4096 + 256 * (i + 1u),
				    p->mem_a + (size_t)(i % 8) * 4096, 256);
}

/* Each error of a key, as a local source. */
static void an_invalid_local_key_is_a_protection_error(void **state)
{
	struct pair *p = *state;
	struct fixture_sge dst = {p->mem_a + 4096, 64, p->key_a};
	uint32_t other_pd = fixture_mkey_mem(FUNC_A, PD_A + 1, FIXTURE_ALL, p->mem_a, SIZE);
	uint32_t other_func = fixture_mkey_mem(FUNC_B, PD_A, FIXTURE_ALL, p->mem_a, SIZE);
	uint32_t no_read = fixture_mkey_mem(FUNC_A, PD_A, EMU_LW, p->mem_a, SIZE);
	uint32_t half = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, p->mem_a + 1024, 1024);
	const struct fixture_sge bad[] = {
		{p->mem_a, 64, other_pd},
		{p->mem_a, 64, other_func},
		{p->mem_a, 64, no_read},
		{p->mem_a, 64, p->key_a ^ 1},
		{p->mem_a, 64, 0},
		{p->mem_a, 64, 0xfffffffe},
		{p->mem_a + 1023, 64, half},
		{p->mem_a + 2048 - 63, 64, half},
		{at(UINT64_MAX - 10), 64, half},
		{p->mem_a + 1024, 1025, half},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture_qp qp;

		dst.len = bad[i].len;
		add_loopback(p, &qp);
		post_mmo(p, &qp, bad[i], dst);
		fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
		add_loopback(p, &qp);
		post_rdma(&qp, EMU_WQE_RDMA_WRITE, bad[i], dst.addr, p->key_a);
		fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
	}
	refuse_mmo(p, sge(p->mem_a + 1024, 1024, half), sge(p->mem_a, 1024, half),
		   EMU_SYN_LOC_PROT);
}

static void an_invalid_remote_key_is_an_access_error(void **state)
{
	struct pair *p = *state;
	uint32_t write_only =
		fixture_mkey_mem(FUNC_B, PD_B, EMU_RW | EMU_LR | EMU_LW, p->mem_b, SIZE);
	uint32_t read_only =
		fixture_mkey_mem(FUNC_B, PD_B, EMU_RR | EMU_LR | EMU_LW, p->mem_b, SIZE);
	uint32_t other_pd = fixture_mkey_mem(FUNC_B, PD_B + 1, FIXTURE_ALL, p->mem_b, SIZE);
	const uint8_t denied = EMU_SYN_REM_ACCESS;

	refuse_remote(p, EMU_WQE_RDMA_READ, p->mem_b, 64, write_only, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, p->mem_b, 64, read_only, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE_IMM, p->mem_b, 64, other_pd, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, p->mem_b, 64, other_pd, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, p->mem_a, 64, p->key_a, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, p->mem_b + SIZE - 63, 64, p->key_b, denied);
	p->b.entry->access = EMU_QP_REMOTE_READ;
	refuse_remote(p, EMU_WQE_RDMA_WRITE, p->mem_b, 64, p->key_b, EMU_SYN_REM_INV_REQ);
	p->b.entry->access = EMU_QP_REMOTE_WRITE;
	refuse_remote(p, EMU_WQE_RDMA_READ, p->mem_b, 64, p->key_b, EMU_SYN_REM_INV_REQ);
	assert_int_equal(p->mem_b[0], 0);
}

static void refuse_wqe(struct pair *p, uint32_t opcode, uint32_t word4, uint16_t doorbell)
{
	struct fixture_qp qp;
	struct fixture_wr wr;
	uint8_t *ring;

	add_loopback(p, &qp);
	fixture_wr_begin(&wr);
	fixture_wr_put(&qp, &wr, opcode, 0);
	ring = qp.buf + ((size_t)qp.entry->rq_wqe_count << qp.entry->rq_wqe_shift);
	emu_put32(ring + 4, word4 ? word4 : qp.qpn << 8 | 1);
	qp.sq_post = doorbell;
	fixture_ring(&qp);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_QP_OP);
	expect_state(&qp, EMU_QPS_ERR);
}

static void a_malformed_wqe_is_refused(void **state)
{
	struct pair *p = *state;
	uint32_t next = p->b.qpn + 1;

	refuse_wqe(p, 0x02, 0, 1);
	refuse_wqe(p, EMU_WQE_UMR, 0, 1);
	refuse_wqe(p, 0xff, 0, 1);
	refuse_wqe(p, EMU_WQE_RDMA_WRITE, 0, 1);
	refuse_wqe(p, EMU_WQE_ATOMIC_FA, 0, 1);
	next += 5;
	refuse_wqe(p, EMU_WQE_NOP, next++ << 8, 1);
	refuse_wqe(p, EMU_WQE_NOP, next++ << 8 | 64, 1);
	refuse_wqe(p, EMU_WQE_NOP, next++ << 8 | 5, 1);
	refuse_wqe(p, EMU_WQE_NOP, (next++ + 1) << 8 | 1, 1);
}

static void lists_may_refer_to_lists(void **state)
{
	struct pair *p = *state;
	struct emu_klm ksm[4];
	struct emu_klm klm[3];
	uint64_t start = 0x700000000000;
	uint32_t inner;
	uint32_t outer;

	for (uint32_t i = 0; i < 4; i++) {
		ksm[i].key = p->key_a;
		ksm[i].addr = (uintptr_t)p->mem_a + (3 - i) * 4096u;
		ksm[i].bytes = 0;
	}
	inner = fixture_mkey_list(FUNC_A, PD_A, start, 16384, 12, ksm, 4);
	klm[0] = (struct emu_klm){.bytes = 100, .key = inner, .addr = start + 4096 - 50};
	klm[1] = (struct emu_klm){.bytes = 0, .key = 0, .addr = 0};
	klm[2] = (struct emu_klm){.bytes = 28, .key = p->key_a, .addr = (uintptr_t)p->mem_a};
	outer = fixture_mkey_list(FUNC_A, PD_A, 0, 128, 0, klm, 3);
	post_mmo(p, &p->a, sge(at(10), 118, outer), sge(p->mem_a + 20000, 118, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 20000, p->mem_a + 12288 + 4096 - 40, 40);
	assert_memory_equal(p->mem_a + 20040, p->mem_a + 8192, 50);
	assert_memory_equal(p->mem_a + 20090, p->mem_a, 28);
}

static void indirect_mkeys_without_rights_or_too_deep_are_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge dst = {p->mem_a + 4096, 64, p->key_a};
	uint64_t addr = (uintptr_t)p->mem_a;
	uint32_t read_only = fixture_mkey_mem(FUNC_A, PD_A, EMU_LR, p->mem_a, SIZE);
	struct emu_klm one = {.bytes = 64, .key = read_only, .addr = addr};
	uint32_t key = fixture_mkey_list(FUNC_A, PD_A, addr, 128, 0, &one, 1);

	refuse_mmo(p, dst, sge(p->mem_a, 64, key), EMU_SYN_LOC_PROT);
	dst.len = 65;
	refuse_mmo(p, sge(p->mem_a, 65, key), dst, EMU_SYN_LOC_PROT);
	dst.len = 64;
	one.key = fixture_mkey_mem(FUNC_A, PD_A + 1, FIXTURE_ALL, p->mem_a, SIZE);
	refuse_mmo(p, sge(p->mem_a, 64, fixture_mkey_list(FUNC_A, PD_A, addr, 64, 0, &one, 1)), dst,
		   EMU_SYN_LOC_PROT);
	one.key = p->key_a;
	for (unsigned int i = 0; i < 4; i++)
		one.key = fixture_mkey_list(FUNC_A, PD_A, addr, 64, 0, &one, 1);
	post_mmo(p, &p->a, sge(p->mem_a, 64, one.key), dst);
	fixture_expect(&p->cq_a, 0);
	one.key = fixture_mkey_list(FUNC_A, PD_A, addr, 64, 0, &one, 1);
	refuse_mmo(p, sge(p->mem_a, 64, one.key), dst, EMU_SYN_LOC_PROT);
}

/* A list of more pieces than a pass has room for goes on in the next one, without a gap. */
static void many_small_pieces_are_copied_without_a_gap(void **state)
{
	struct pair *p = *state;
	struct emu_klm klm[1000];
	uint32_t key;

	for (uint32_t i = 0; i < 1000; i++) {
		klm[i].bytes = 17;
		klm[i].key = p->key_a;
		klm[i].addr = (uintptr_t)p->mem_a + (999 - i) * 17;
	}
	key = fixture_mkey_list(FUNC_A, PD_A, 0, 17000, 0, klm, 1000);
	post_mmo(p, &p->a, sge(at(0), 17000, key), sge(p->mem_a + 20000, 17000, p->key_a));
	fixture_expect(&p->cq_a, 0);
	for (size_t i = 0; i < 1000; i++)
		assert_memory_equal(p->mem_a + 20000 + i * 17, p->mem_a + (999 - i) * 17, 17);
}

static void an_alias_reaches_the_exported_memory(void **state)
{
	struct pair *p = *state;
	struct emu_klm one = {.bytes = SIZE, .key = p->key_b, .addr = (uintptr_t)p->mem_b};
	uint32_t exported = fixture_mkey_list(FUNC_B, PD_B, 0x1000, SIZE, 0, &one, 1);
	uint32_t alias = fixture_mkey_alias(FUNC_A, PD_A, exported);
	struct fixture_qp loop;

	post_mmo(p, &p->a, sge(p->mem_a, 300, p->key_a), sge(at(0x1000), 300, alias));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_b, p->mem_a, 300);
	add_loopback(p, &loop);
	post_rdma(&loop, EMU_WQE_RDMA_READ, sge(p->mem_a + 4096, 300, p->key_a), at(0x1000), alias);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 4096, p->mem_b, 300);
}

static void an_alias_without_domain_rights_or_source_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge dst = {p->mem_a, 64, p->key_a};
	uint32_t read_only = fixture_mkey_mem(FUNC_B, PD_B, EMU_LR, p->mem_b, SIZE);
	uint32_t alias = fixture_mkey_alias(FUNC_A, PD_A, p->key_b);
	uint32_t reader = fixture_mkey_alias(FUNC_A, PD_A, read_only);
	uint32_t other_pd = fixture_mkey_alias(FUNC_A, PD_A + 1, p->key_b);
	uint32_t of_alias = fixture_mkey_alias(FUNC_A, PD_A, alias);
	const uint8_t denied = EMU_SYN_LOC_PROT;

	refuse_mmo(p, sge(p->mem_b, 64, p->key_b), dst, denied);
	refuse_mmo(p, sge(p->mem_b, 64, other_pd), dst, denied);
	refuse_mmo(p, sge(p->mem_b, 64, of_alias), dst, denied);
	refuse_mmo(p, sge(p->mem_b + SIZE - 63, 64, alias), dst, denied);
	refuse_mmo(p, dst, sge(p->mem_b, 64, reader), denied);
	fixture_mkey_entry(p->key_b)->shared = 0;
	refuse_mmo(p, sge(p->mem_b, 64, alias), dst, denied);
	fixture_mkey_entry(p->key_b)->shared = 1;
	fixture_mkey_retire(p->key_b);
	refuse_mmo(p, sge(p->mem_b, 64, alias), dst, denied);
	fixture_mkey_entry(p->key_b)->first_serial = 0x7fffffff;
	atomic_store(&fixture_mkey_entry(p->key_b)->serial, 0x7fffffff);
	refuse_mmo(p, sge(p->mem_b, 64, alias), dst, denied);
}

/* Copies that take much longer than revoking the key, which ends the one in execution. */
static void revoking_a_key_ends_the_copy_in_execution(void **state)
{
	struct pair *p = *state;
	uint8_t *window = fixture_alloc(1u << 20);
	uint32_t inner = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, window, 1u << 20);
	struct emu_klm *ksm = calloc(2048, sizeof(*ksm));
	struct fixture_cqe cqe;
	uint32_t key;

	assert_non_null(ksm);
	for (uint32_t i = 0; i < 2048; i++) {
		ksm[i].key = inner;
		ksm[i].addr = (uintptr_t)window;
	}
	key = fixture_mkey_list(FUNC_A, PD_A, 0, 2048ull << 20, 20, ksm, 2048);
	free(ksm);
	for (unsigned int i = 0; i < 8; i++)
		put_mmo(p, &p->a, sge(at(0), 0, key), sge(at(0), 0, key), 0);
	fixture_ring(&p->a);
	fixture_passes(p->slot_a);
	fixture_mkey_retire(inner);
	munmap(window, 1u << 20);
	cqe = fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
	assert_in_range(cqe.wqe_counter, 0, 7);
	for (unsigned int i = cqe.wqe_counter + 1u; i < 8; i++)
		fixture_expect(&p->cq_a, EMU_SYN_FLUSH);
}

/* Inaccessible after the registration; the mapping remains, so that nothing takes its place. */
static void inaccessible_memory_is_an_error_of_its_side(void **state)
{
	struct pair *p = *state;
	uint8_t *hidden = fixture_alloc(8192);
	uint32_t key_a = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, hidden, 8192);
	uint32_t key_b = fixture_mkey_mem(FUNC_B, PD_B, FIXTURE_ALL, hidden, 8192);
	const uint8_t denied = EMU_SYN_REM_ACCESS;

	mprotect(hidden + 4096, 4096, PROT_NONE);
	refuse_mmo(p, sge(hidden, 8192, key_a), sge(p->mem_a, 8192, p->key_a), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(p->mem_a, 8192, p->key_a), sge(hidden, 8192, key_a), EMU_SYN_LOC_PROT);
	refuse_remote(p, EMU_WQE_RDMA_READ, hidden, 8192, key_b, denied);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, hidden, 8192, key_b, denied);
	fixture_recv(&p->b, &(struct fixture_sge){hidden, 8192, key_b}, 1);
	post_send(&p->a, sge(p->mem_a, 8192, p->key_a));
	fixture_expect(&p->cq_a, EMU_SYN_REM_OP);
	fixture_expect(&p->cq_b, EMU_SYN_LOC_PROT);
	munmap(hidden, 8192);
}

/* A process that only holds memory, a copy of this one's. */
static pid_t spawn_holder(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	return pid;
}

static uint32_t key_in(pid_t pid, const void *addr, uint64_t len)
{
	struct emu_mkey m = {
		.mode = EMU_MKEY_MEM, .func = FUNC_A, .pdn = PD_A, .rights = FIXTURE_ALL};

	m.start = (uintptr_t)addr;
	m.len = len;
	m.u.mem.addr = m.start;
	m.u.mem.pid = pid;
	return fixture_mkey(&m);
}

static void memory_of_other_processes_is_copied_until_they_end(void **state)
{
	struct pair *p = *state;
	pid_t one = spawn_holder();
	pid_t two = spawn_holder();
	uint32_t key_one = key_in(one, p->mem_a, SIZE);
	uint32_t key_two = key_in(two, p->mem_a, SIZE);
	struct fixture_sge own = {p->mem_a, 4096, p->key_a};

	memset(p->mem_a, 0, SIZE);
	post_mmo(p, &p->a, sge(p->mem_a + 8192, 4096, key_one), sge(p->mem_a, 4096, key_two));
	fixture_expect(&p->cq_a, 0);
	post_mmo(p, &p->a, sge(p->mem_a, 4096, key_two), own);
	fixture_expect(&p->cq_a, 0);
	post_mmo(p, &p->a, sge(p->mem_a + 8192, 4096, key_one),
		 sge(p->mem_a + 4096, 4096, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_int_equal(p->mem_a[1], (uint8_t)(7 + 8192 / 256));
	assert_memory_equal(p->mem_a, p->mem_a + 4096, 4096);
	kill(one, SIGKILL);
	kill(two, SIGKILL);
	waitpid(one, NULL, 0);
	waitpid(two, NULL, 0);
	refuse_mmo(p, own, sge(p->mem_a, 4096, key_one), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(p->mem_a, 4096, key_two), own, EMU_SYN_LOC_PROT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_nop_completes),
		PAIR_TEST(an_unsignaled_request_has_no_cqe),
		PAIR_TEST(write_reaches_the_peer),
		PAIR_TEST(read_fetches_from_the_peer),
		PAIR_TEST(a_read_fills_its_segments_in_order),
		PAIR_TEST(a_queue_pair_connected_to_itself_writes_and_sends),
		PAIR_TEST(inline_data_wraps_at_the_end_of_the_ring),
		PAIR_TEST(segments_wrap_at_the_end_of_the_ring),
		PAIR_TEST(inline_data_may_follow_the_end_of_the_ring),
		PAIR_TEST(send_gathers_inline_and_pointers_in_order),
		PAIR_TEST(queue_memory_is_reused),
		PAIR_TEST(zero_length_needs_no_key),
		PAIR_TEST(mmo_copies_without_a_connection),
		PAIR_TEST(mmo_copies_through_device_memory),
		PAIR_TEST(mmo_with_unequal_lengths_or_without_rights_is_refused),
		PAIR_TEST(mmo_copies_any_length_at_any_place),
		PAIR_TEST(mmo_does_not_affect_the_next_with_the_same_key),
		PAIR_TEST(mmo_uses_more_keys_than_are_cached),
		PAIR_TEST(an_invalid_local_key_is_a_protection_error),
		PAIR_TEST(an_invalid_remote_key_is_an_access_error),
		PAIR_TEST(a_malformed_wqe_is_refused),
		PAIR_TEST(lists_may_refer_to_lists),
		PAIR_TEST(indirect_mkeys_without_rights_or_too_deep_are_refused),
		PAIR_TEST(many_small_pieces_are_copied_without_a_gap),
		PAIR_TEST(an_alias_reaches_the_exported_memory),
		PAIR_TEST(an_alias_without_domain_rights_or_source_is_refused),
		PAIR_TEST(revoking_a_key_ends_the_copy_in_execution),
		PAIR_TEST(inaccessible_memory_is_an_error_of_its_side),
		PAIR_TEST(memory_of_other_processes_is_copied_until_they_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
