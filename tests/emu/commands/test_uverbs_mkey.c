/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Mkeys and flow counters created by PRM commands, field by field: what the firmware refuses, and
 * that a query returns what was set. Fields that prm.h lacks are named as in rdma-core's
 * providers/mlx5/mlx5_ifc.h and UCX's src/uct/ib/mlx5/dv/ib_mlx5_ifc.h.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "prm.h"
#include "uverbs.h"
#include "uverbs_queues.h"
#include "uverbs_umem.h"

#define HEADER	    16u
#define MKC_BITS    (HEADER * 8)
#define MAX_ENTRIES 8u
#define TYPE_MKEY   0xff01u
#define TYPE_OTHER  0x2cu
#define ALLOW_BYTES 0x40u
#define ALIAS_BYTES 0x50u
#define CAPS_BYTES  0x400u

/* QUERY_HCA_CAP: the current capabilities of the device, and one of them. */
#define OP_MOD_DEVICE_CURRENT 1
#define CAP_VHCA_ID	      (HEADER * 8 + 0x30), 16

/* ALLOW_OTHER_VHCA_ACCESS */
#define ALLOW_OBJECT_TYPE 0x90, 16
#define ALLOW_OBJECT_ID	  0xa0, 32
#define ALLOW_ACCESS_KEY  0x20u /* a byte, as the next one */

/* CREATE_GENERAL_OBJECT of an alias, with its context behind the header. */
#define ALIAS_OBJECT	 0x60, 1
#define ALIAS_VHCA_ID	 (HEADER * 8 + 0x0), 16
#define ALIAS_OBJECT_ID	 (HEADER * 8 + 0x20), 32
#define ALIAS_METADATA_1 (HEADER * 8 + 0x180), 32 /* the protection domain */
#define ALIAS_ACCESS_KEY (HEADER + 0x10)
#define ALIAS_METADATA	 (HEADER + 0x30)
#define ACCESS_KEY_BYTES 32u

/* CREATE_PSV and QUERY_FLOW_COUNTER */
#define PSV_NUM_PSV		0x40, 4
#define COUNTER_CLEAR		0xc0, 1
#define COUNTER_NUM_OF_COUNTERS 0xd0, 16
#define COUNTER_ID		0xe0, 32
#define QUERY_Q_COUNTER_LEN	0x20
#define COUNTER_SET_ID		0xf8, 8

struct mailbox {
	uint8_t in[MKEY_ENTRIES + MAX_ENTRIES * 16], out[CAPS_BYTES];
	size_t in_len, out_len;
	uint32_t handle;
};

/* Returns 0, the firmware's status, or minus the kernel's errno. */
static int answer(const struct mailbox *m, int err)
{
	return err == EREMOTEIO ? m->out[OUT_STATUS] : -err;
}

static int create(int fd, struct mailbox *m)
{
	union command c;
	int err;

	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	add(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, m->in, m->in_len);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, m->out, m->out_len);
	err = issue(fd, &c);
	m->handle = (uint32_t)c.hdr.attrs[0].data;
	return answer(m, err);
}

static int query(int fd, uint32_t handle, struct mailbox *m)
{
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	add(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, 0, handle);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, m->in, m->in_len);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, m->out, m->out_len);
	return answer(m, issue(fd, &c));
}

static int general(int fd, struct mailbox *m)
{
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, m->in, m->in_len);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, m->out, m->out_len);
	return answer(m, issue(fd, &c));
}

static void destroy_obj(int fd, uint32_t handle)
{
	union command c;

	add(begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY),
	    MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0, handle);
	assert_int_equal(issue(fd, &c), 0);
}

static uint32_t new_domain(int fd)
{
	uint32_t pd = 0, pdn = 0;
	union command c;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	add(&c, MLX5_IB_ATTR_QUERY_PD_HANDLE, 0, pd);
	add_buf(&c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn));
	assert_int_equal(issue(fd, &c), 0);
	return pdn;
}

/* --- mkeys ------------------------------------------------------------------------------------ */

static void entry(struct mailbox *m, unsigned int i, uint32_t bytes, uint32_t key, uint64_t addr)
{
	uint8_t *p = m->in + MKEY_ENTRIES + (size_t)i * 16;

	prm_put(p, KLM_BYTE_COUNT, bytes);
	prm_put(p, KLM_MKEY, key);
	prm_put(p, KLM_ADDRESS, addr);
}

/* Of two entries with room for two more, 0x10000 bytes that begin within a page. */
static struct mailbox good_mkey(uint32_t pdn, unsigned int mode)
{
	struct mailbox m = {.in_len = MKEY_ENTRIES + 2 * 16, .out_len = HEADER};

	prm_put(m.in, IN_OPCODE, CMD_CREATE_MKEY);
	prm_put(m.in, MKC_A_TO_LR, MKC_A | MKC_RW | MKC_RR | MKC_LW | MKC_LR);
	prm_put(m.in, MKC_ACCESS_MODE_1_0, mode);
	prm_put(m.in, MKC_QPN, MKC_QPN_ANY);
	prm_put(m.in, MKC_MKEY_7_0, 0x42);
	prm_put(m.in, MKC_PD, pdn);
	prm_put(m.in, MKC_START_ADDR, 0x7000123400);
	prm_put(m.in, MKC_LEN, 0x10000);
	prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 4);
	prm_put(m.in, MKC_LOG_PAGE_SIZE, mode == KSM ? 16 : 0);
	prm_put(m.in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 2);
	entry(&m, 0, 0x10000, 0x1234, 0xabc000);
	entry(&m, 1, 0x10000, 0x5678, 0xdef000);
	return m;
}

static struct mailbox free_mkey(uint32_t pdn)
{
	struct mailbox m = good_mkey(pdn, KLM);

	prm_put(m.in, MKC_FREE, 1);
	prm_put(m.in, MKC_UMR_EN, 1);
	prm_put(m.in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 0);
	m.in_len = MKEY_ENTRIES;
	return m;
}

#define REFUSE(status, good, change)                        \
	do {                                                \
		struct mailbox m = good;                    \
                                                            \
		change;                                     \
		assert_int_equal(create(fd, &m), (status)); \
		if (!(status))                              \
			destroy_obj(fd, m.handle);          \
	} while (0)

#define REFUSE_BIT(good, bit) REFUSE(BAD_PARAM, good, prm_put(m.in, (bit), 1, 1))
#define ACCEPT(good, change)  REFUSE(0, good, change)

static void refuse_each_bit(int fd, const struct mailbox *good, unsigned int first,
			    unsigned int width)
{
	for (unsigned int bit = first; bit < first + width; bit++)
		REFUSE_BIT(*good, bit);
}

static void reserved_bits_of_an_mkey_are_refused(void **state)
{
	static const struct {
		uint16_t bit, width;
	} reserved[] = {
		{0x48, 24}, /* input_mkey_index: mkey_by_name is not announced */
		{0x61, 31}, /* mkey_umem_valid of a list, data_direct, function_id */
		{MKC_BITS + 0x0, 1},
		{MKC_BITS + 0x2, 1},
		{MKC_BITS + 0x6, 7}, /* alter_pd_to_vhca_id, crossed_side_mkey */
		{MKC_BITS + 0xe, 1},
		{MKC_BITS + 0x18, 8},
		{MKC_BITS + 0x40, 32},
		{MKC_BITS + 0x60, 7},	 /* length64, bsf_en, sync_umr, expected_sigerr_count */
		{MKC_BITS + 0x100, 32},	 /* bsf_octword_size */
		{MKC_BITS + 0x120, 128}, /* crossing_target_vhca_id */
		{MKC_BITS + 0x1c0, 25},
		{MKC_BITS + 0x1da, 1},	/* umr_log_entity_size_5 is not announced */
		{MKC_BITS + 0x1e0, 32}, /* crypto_en, pcie_tph_en */
		{0x280, 128},
		{0x380, 0x500},
	};
	int fd = open_context();
	struct mailbox good = good_mkey(new_domain(fd), KLM);

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		refuse_each_bit(fd, &good, reserved[i].bit, reserved[i].width);
	REFUSE(BAD_OP, good, prm_put(m.in, IN_OP_MOD, 1));
	REFUSE(-EINVAL, good, prm_put(m.in, IN_VHCA_TUNNEL_ID, 1));
	ACCEPT(good, prm_put(m.in, IN_UID, 0x77));	/* the kernel writes its own */
	ACCEPT(good, prm_put(m.in, MKEY_PG_ACCESS, 1)); /* there is paging */
	ACCEPT(good, prm_put(m.in, MKC_RELAXED_ORDERING_WRITE, 1));
	ACCEPT(good, prm_put(m.in, MKC_RELAXED_ORDERING_READ, 1));
	ACCEPT(good, prm_put(m.in, MKC_SMALL_FENCE_ON_RDMA_READ_RESPONSE, 1));
	close(fd);
}

static void entries_that_do_not_fit_their_mkey_are_refused(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd);

	for (unsigned int mode = 0; mode < 32; mode++)
		if (mode != KLM && mode != KSM && mode != MTT)
			REFUSE(BAD_PARAM, good_mkey(pdn, KLM),
			       (prm_put(m.in, MKC_ACCESS_MODE_4_2, mode >> 2),
				prm_put(m.in, MKC_ACCESS_MODE_1_0, mode & 3)));
	ACCEPT(good_mkey(pdn, KLM), prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 2));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 1));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 0));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 4097));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM),
	       prm_put(m.in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 0));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), m.in_len = MKEY_ENTRIES + 16);
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_LEN, 0x20008));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_LEN, 0));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_START_ADDR, UINT64_MAX - 8));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_LOG_PAGE_SIZE, 16));
	ACCEPT(good_mkey(pdn, KLM), prm_put(m.in, AT(MKEY_ENTRIES, KLM_BYTE_COUNT), 0x80000000));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM),
	       prm_put(m.in, AT(MKEY_ENTRIES, KLM_BYTE_COUNT), 0x80000001));
	REFUSE(BAD_RES, good_mkey(pdn, KLM), prm_put(m.in, MKC_PD, pdn + 100));
	/* Where atomics are allowed, they must be aligned. */
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_START_ADDR, 0x7000123404));
	REFUSE(BAD_PARAM, good_mkey(pdn, KLM), prm_put(m.in, MKC_LEN, 0xfffc));
	ACCEPT(good_mkey(pdn, KLM), (prm_put(m.in, MKC_A_TO_LR, MKC_RW | MKC_RR | MKC_LW | MKC_LR),
				     prm_put(m.in, MKC_START_ADDR, 0x7000123401)));
	close(fd);
}

static void entries_of_fixed_size_cover_the_range(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd);

	ACCEPT(good_mkey(pdn, KSM), (void)0);
	ACCEPT(good_mkey(pdn, KSM), prm_put(m.in, MKC_LOG_PAGE_SIZE, 31));
	REFUSE(BAD_PARAM, good_mkey(pdn, KSM), prm_put(m.in, MKC_LOG_PAGE_SIZE, 11));
	REFUSE(BAD_PARAM, good_mkey(pdn, KSM), prm_put(m.in, MKC_LOG_PAGE_SIZE, 0));
	/* The range is counted from the start of its first page. */
	ACCEPT(good_mkey(pdn, KSM), prm_put(m.in, MKC_LEN, 0x20000 - 0x400));
	REFUSE(BAD_PARAM, good_mkey(pdn, KSM), prm_put(m.in, MKC_LEN, 0x20000 - 0x3f8));
	close(fd);
}

static void a_free_mkey_is_a_list_for_umr(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd);

	ACCEPT(free_mkey(pdn), (void)0);
	ACCEPT(free_mkey(pdn), prm_put(m.in, MKC_LEN, 0));
	ACCEPT(free_mkey(pdn),
	       (prm_put(m.in, MKC_ACCESS_MODE_1_0, KSM), prm_put(m.in, MKC_LOG_PAGE_SIZE, 16)));
	REFUSE(BAD_PARAM, free_mkey(pdn), prm_put(m.in, MKC_ACCESS_MODE_1_0, MTT));
	REFUSE(BAD_PARAM, free_mkey(pdn), prm_put(m.in, MKC_UMR_EN, 0));
	REFUSE(BAD_PARAM, free_mkey(pdn), prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 0));
	REFUSE(BAD_PARAM, free_mkey(pdn), prm_put(m.in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 2));
	close(fd);
}

/* --- queries ---------------------------------------------------------------------------------- */

static uint32_t new_mkey(int fd, uint32_t pdn, uint32_t *handle)
{
	struct mailbox made = good_mkey(pdn, KLM);

	assert_int_equal(create(fd, &made), 0);
	*handle = made.handle;
	return (uint32_t)prm_get(made.out, OUT_NUMBER);
}

static struct mailbox query_of(uint32_t index)
{
	struct mailbox m = {.in_len = HEADER, .out_len = MKEY_ENTRIES + 2 * 16};

	prm_put(m.in, IN_OPCODE, CMD_QUERY_MKEY);
	prm_put(m.in, IN_NUMBER, index);
	return m;
}

static void assert_comes_back(int fd, struct mailbox *set)
{
	struct mailbox q;

	assert_int_equal(create(fd, set), 0);
	q = query_of((uint32_t)prm_get(set->out, OUT_NUMBER));
	assert_int_equal(query(fd, set->handle, &q), 0);
	assert_memory_equal(q.out + HEADER, set->in + HEADER, 64);
	assert_memory_equal(q.out + MKEY_ENTRIES, set->in + MKEY_ENTRIES,
			    prm_get(set->in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE) * 16);
	destroy_obj(fd, set->handle);
}

static void query_returns_what_was_set(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd);
	struct mailbox set = good_mkey(pdn, KLM);

	assert_comes_back(fd, &set);
	prm_put(set.in, MKC_RELAXED_ORDERING_WRITE, 1);
	prm_put(set.in, MKC_A_TO_LR, MKC_RW | MKC_LR);
	prm_put(set.in, MKC_QPN, 0x1234);
	prm_put(set.in, MKC_EN_RINVAL, 1);
	prm_put(set.in, MKC_RELAXED_ORDERING_READ, 1);
	assert_comes_back(fd, &set);
	set = good_mkey(pdn, KSM);
	prm_put(set.in, MKC_QPN, 0); /* of QP 0, not of any */
	assert_comes_back(fd, &set);
	set = free_mkey(pdn);
	assert_comes_back(fd, &set);
	close(fd);
}

static void a_query_of_another_mkey_is_refused(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd), handle, index = new_mkey(fd, pdn, &handle);
	struct mailbox q;

	q = query_of(index + 1);
	assert_int_equal(query(fd, handle, &q), -EINVAL);
	q = query_of(index);
	prm_put(q.in, IN_VHCA_TUNNEL_ID, 1);
	assert_int_equal(query(fd, handle, &q), -EINVAL);
	q = query_of(index);
	prm_put(q.in, IN_OP_MOD, 1);
	assert_int_equal(query(fd, handle, &q), BAD_OP);
	q = query_of(index);
	prm_put(q.in, 0x7f, 1, 1);
	assert_int_equal(query(fd, handle, &q), BAD_PARAM);
	close(fd);
}

/* --- umems ------------------------------------------------------------------------------------ */

#define REFUSE_UMEM(errnum, change)                                                         \
	do {                                                                                \
		struct umem u = {.addr = (uintptr_t)ring, .len = 4ull * PAGE, .access = 1}; \
                                                                                            \
		change;                                                                     \
		assert_int_equal(reg_umem(fd, &u), (errnum));                               \
		if (!(errnum))                                                              \
			assert_int_equal(dereg_umem(fd, &u), 0);                            \
	} while (0)

/* Ordinary memory cannot be relied on to have pages of 8 KiB or more. */
static void a_umem_with_invalid_pages_or_range_is_refused(void **state)
{
	int fd = open_context();

	REFUSE_UMEM(0, (void)0);
	REFUSE_UMEM(0, (u.addr += 8, u.len = 24));
	REFUSE_UMEM(0, u.pages = PAGE);
	REFUSE_UMEM(0, u.pages = ~(uint64_t)(PAGE - 1));
	REFUSE_UMEM(EINVAL, u.pages = PAGE / 2);
	REFUSE_UMEM(EINVAL, u.pages = (uint64_t)1 << 40);
	REFUSE_UMEM(EINVAL, u.pages = 2 * (uint64_t)PAGE);
	REFUSE_UMEM(EINVAL, u.pages = 4 * (uint64_t)PAGE);
	REFUSE_UMEM(EINVAL, (u.len = 1, u.pages = 2 * (uint64_t)PAGE));
	REFUSE_UMEM(EINVAL, u.len = 0);
	REFUSE_UMEM(EINVAL, (u.addr = UINT64_MAX - 8, u.len = 8));
	REFUSE_UMEM(EINVAL, u.access = 8);
	REFUSE_UMEM(EINVAL, u.access = 2);
	REFUSE_UMEM(EFAULT, u.addr = (uintptr_t)constant);
	close(fd);
}

/* As UCX and libdpumap lay mkeys on umems. */
static struct mailbox umem_mkey(uint32_t pdn, const struct umem *u)
{
	struct mailbox m = good_mkey(pdn, MTT);

	m.in_len = MKEY_ENTRIES;
	prm_put(m.in, MKC_START_ADDR, u->addr);
	prm_put(m.in, MKC_LEN, u->len);
	prm_put(m.in, MKC_TRANSLATIONS_OCTWORD_SIZE, 1);
	prm_put(m.in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 1);
	prm_put(m.in, MKEY_UMEM_ID, u->id);
	return m;
}

static void mkey_on_a_umem_covers_its_pages(void **state)
{
	struct umem u = {
		.addr = (uintptr_t)ring + 24, .len = 2ull * PAGE, .pages = PAGE, .access = 1};
	int fd = open_context();
	uint32_t pdn = new_domain(fd);

	assert_int_equal(reg_umem(fd, &u), 0);
	ACCEPT(umem_mkey(pdn, &u), (void)0);
	ACCEPT(umem_mkey(pdn, &u), prm_put(m.in, MKC_LOG_PAGE_SIZE, 12));
	ACCEPT(umem_mkey(pdn, &u), prm_put(m.in, MKC_START_ADDR, 24));
	ACCEPT(umem_mkey(pdn, &u),
	       (prm_put(m.in, MKEY_UMEM_OFFSET, PAGE), prm_put(m.in, MKC_LEN, PAGE)));
	REFUSE(BAD_RES, umem_mkey(pdn, &u), prm_put(m.in, MKEY_UMEM_ID, u.id + 1));
	REFUSE(BAD_PARAM, umem_mkey(pdn, &u), prm_put(m.in, MKEY_UMEM_OFFSET, PAGE));
	REFUSE(BAD_PARAM, umem_mkey(pdn, &u), prm_put(m.in, MKC_LEN, u.len + 1));
	REFUSE(BAD_PARAM, umem_mkey(pdn, &u), prm_put(m.in, MKC_LOG_PAGE_SIZE, 11));
	/* The translation is by pages: in a page a byte is where it is in memory. */
	REFUSE(BAD_PARAM, umem_mkey(pdn, &u), prm_put(m.in, MKC_START_ADDR, 0));
	/* A work request cannot change such an mkey. */
	REFUSE(BAD_PARAM, umem_mkey(pdn, &u), prm_put(m.in, MKC_UMR_EN, 1));
	assert_int_equal(dereg_umem(fd, &u), 0);
	close(fd);
}

/* --- other functions -------------------------------------------------------------------------- */

static struct mailbox allow(uint32_t index)
{
	struct mailbox m = {.in_len = ALLOW_BYTES, .out_len = HEADER};

	prm_put(m.in, IN_OPCODE, CMD_ALLOW_OTHER_VHCA_ACCESS);
	prm_put(m.in, ALLOW_OBJECT_TYPE, TYPE_MKEY);
	prm_put(m.in, ALLOW_OBJECT_ID, index);
	memset(m.in + ALLOW_ACCESS_KEY, 0x5a, ACCESS_KEY_BYTES);
	return m;
}

#define REFUSE_ALLOW(status, change)                         \
	do {                                                 \
		struct mailbox m = allow(index);             \
                                                             \
		change;                                      \
		assert_int_equal(general(fd, &m), (status)); \
	} while (0)

static uint16_t own_vhca(int fd)
{
	struct mailbox m = {.in_len = HEADER, .out_len = CAPS_BYTES};

	prm_put(m.in, IN_OPCODE, CMD_QUERY_HCA_CAP);
	prm_put(m.in, IN_OP_MOD, OP_MOD_DEVICE_CURRENT);
	assert_int_equal(general(fd, &m), 0);
	return (uint16_t)prm_get(m.out, CAP_VHCA_ID);
}

static struct mailbox good_alias(int fd, uint32_t index, uint32_t pdn)
{
	struct mailbox m = {.in_len = ALIAS_BYTES, .out_len = ALIAS_BYTES};

	prm_put(m.in, IN_OPCODE, CMD_CREATE_GENERAL_OBJECT);
	prm_put(m.in, IN_OBJ_TYPE, TYPE_MKEY);
	prm_put(m.in, ALIAS_OBJECT, 1);
	prm_put(m.in, ALIAS_VHCA_ID, own_vhca(fd));
	prm_put(m.in, ALIAS_OBJECT_ID, index);
	prm_put(m.in, ALIAS_METADATA_1, pdn);
	memset(m.in + ALIAS_ACCESS_KEY, 0x5a, ACCESS_KEY_BYTES);
	return m;
}

static void check_alias_query(int fd, const struct mailbox *alias)
{
	static const uint8_t no_key[ACCESS_KEY_BYTES];
	const uint32_t id = (uint32_t)prm_get(alias->out, OUT_OBJ_ID);
	struct mailbox q = {.in_len = HEADER, .out_len = ALIAS_BYTES};

	prm_put(q.in, IN_OPCODE, CMD_QUERY_GENERAL_OBJECT);
	prm_put(q.in, IN_OBJ_TYPE, TYPE_MKEY);
	prm_put(q.in, IN_OBJ_ID, id + 1);
	assert_int_equal(query(fd, alias->handle, &q), -EINVAL);
	prm_put(q.in, IN_OBJ_ID, id);
	prm_put(q.in, IN_OBJ_TYPE, TYPE_OTHER);
	assert_int_equal(query(fd, alias->handle, &q), -EINVAL);
	prm_put(q.in, IN_OBJ_TYPE, TYPE_MKEY);
	assert_int_equal(query(fd, alias->handle, &q), 0);
	assert_int_equal(prm_get(q.out, OUT_OBJ_ID), id);
	assert_memory_equal(q.out + HEADER, alias->in + HEADER, 16);
	assert_memory_equal(q.out + ALIAS_ACCESS_KEY, no_key, sizeof(no_key));
	assert_memory_equal(q.out + ALIAS_METADATA, alias->in + ALIAS_METADATA, 16);
}

static void a_grant_with_an_invalid_field_is_refused(void **state)
{
	int fd = open_context();
	uint32_t pdn = new_domain(fd), handle, index = new_mkey(fd, pdn, &handle);

	REFUSE_ALLOW(BAD_OP, prm_put(m.in, IN_OP_MOD, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, IN_VHCA_TUNNEL_ID, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, 0x40, 1, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, 0x7f, 1, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, 0x80, 1, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, ALLOW_OBJECT_TYPE, TYPE_MKEY - 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, 0xc0, 1, 1));
	REFUSE_ALLOW(BAD_PARAM, prm_put(m.in, 0xff, 1, 1));
	REFUSE_ALLOW(BAD_RES, prm_put(m.in, ALLOW_OBJECT_ID, index + 1));
	REFUSE_ALLOW(BAD_RES, prm_put(m.in, ALLOW_OBJECT_ID, index | 1u << 24));
	REFUSE(BAD_PARAM, good_alias(fd, index, pdn), (void)0); /* not granted yet */
	REFUSE_ALLOW(0, (void)0);
	ACCEPT(good_alias(fd, index, pdn), (void)0);
	destroy_obj(fd, handle);
	close(fd);
}

static void an_alias_with_an_invalid_field_is_refused(void **state)
{
	static const struct range {
		uint16_t bit, width;
	} reserved[] = {
		{0x40, 32}, {0x61, 31}, {0x90, 16}, {0xc0, 64}, {HEADER * 8 + 0x1a0, 96},
	};
	int fd = open_context();
	uint32_t pdn = new_domain(fd), handle, index = new_mkey(fd, pdn, &handle);
	struct mailbox good = good_alias(fd, index, pdn);

	REFUSE_ALLOW(0, (void)0);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		refuse_each_bit(fd, &good, reserved[i].bit, reserved[i].width);
	REFUSE(-EINVAL, good, prm_put(m.in, IN_VHCA_TUNNEL_ID, 1));
	REFUSE(BAD_PARAM, good, m.in[ALIAS_ACCESS_KEY] = 0);
	REFUSE(BAD_RES, good, prm_put(m.in, ALIAS_METADATA_1, pdn + 100));
	assert_int_equal(create(fd, &good), 0);
	check_alias_query(fd, &good);
	destroy_obj(fd, handle);
	destroy_obj(fd, good.handle);
	close(fd);
}

/* --- other objects ---------------------------------------------------------------------------- */

/* No function here manages other functions (vhca_resource_manager). */
static void capabilities_of_another_function_are_refused(void **state)
{
	struct mailbox m = {.in_len = HEADER, .out_len = CAPS_BYTES};
	int fd = open_context();

	prm_put(m.in, IN_OPCODE, CMD_QUERY_HCA_CAP);
	prm_put(m.in, IN_OP_MOD, OP_MOD_DEVICE_CURRENT);
	assert_int_equal(general(fd, &m), 0);
	prm_put(m.in, IN_OTHER_FUNCTION, 1);
	assert_int_equal(general(fd, &m), BAD_PARAM);
	prm_put(m.in, IN_OTHER_FUNCTION, 0);
	prm_put(m.in, IN_FUNCTION_ID, 1);
	assert_int_equal(general(fd, &m), BAD_PARAM);
	close(fd);
}

/* The driver passes commands that create objects; the firmware does not know all of them. */
static void missing_objects_are_refused(void **state)
{
	static const uint16_t make[] = {CMD_CREATE_PSV, CMD_CREATE_SRQ, CMD_CREATE_SQ,
					CMD_CREATE_FLOW_TABLE, CMD_SET_FLOW_TABLE_ENTRY};
	static const uint16_t others[] = {CMD_DESTROY_MKEY,	    CMD_DESTROY_CQ,
					  CMD_DESTROY_QP,	    CMD_RST2INIT_QP,
					  CMD_QUERY_XRC_SRQ,	    CMD_ALLOC_UAR,
					  CMD_DEALLOC_FLOW_COUNTER, CMD_CREATE_GENERAL_OBJECT - 1,
					  CMD_MODIFY_GENERAL_OBJECT};
	struct mailbox m = {.in_len = HEADER, .out_len = HEADER};
	int fd = open_context();

	prm_put(m.in, PSV_NUM_PSV, 1); /* of protection values, one */
	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		prm_put(m.in, IN_OPCODE, make[i]);
		assert_int_equal(create(fd, &m), BAD_OP);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		prm_put(m.in, IN_OPCODE, others[i]);
		assert_int_equal(create(fd, &m), -EINVAL);
	}
	prm_put(m.in, IN_OPCODE, CMD_CREATE_PSV);
	prm_put(m.in, PSV_NUM_PSV, 2);
	assert_int_equal(create(fd, &m), -EINVAL);
	prm_put(m.in, IN_OPCODE, CMD_SET_FLOW_TABLE_ENTRY);
	prm_put(m.in, IN_OP_MOD, 1);
	assert_int_equal(create(fd, &m), -EINVAL);
	close(fd);
}

static struct mailbox new_object(uint16_t opcode)
{
	struct mailbox m = {.in_len = HEADER, .out_len = HEADER};

	prm_put(m.in, IN_OPCODE, opcode);
	return m;
}

static void objects_without_memory_are_created_by_commands(void **state)
{
	static const uint16_t make[] = {CMD_ALLOC_PD, CMD_ALLOC_XRCD, CMD_ALLOC_TRANSPORT_DOMAIN,
					CMD_ALLOC_Q_COUNTER};
	int fd = open_context();

	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		struct mailbox good = new_object(make[i]), first = good, second = good;

		assert_int_equal(create(fd, &first), 0);
		assert_int_equal(create(fd, &second), 0);
		assert_int_not_equal(prm_get(first.out, OUT_OBJ_ID), 0);
		assert_int_not_equal(prm_get(first.out, OUT_OBJ_ID),
				     prm_get(second.out, OUT_OBJ_ID));
		destroy_obj(fd, first.handle);
		destroy_obj(fd, second.handle);
		REFUSE(BAD_OP, good, prm_put(m.in, IN_OP_MOD, 1));
	}
	close(fd);
}

/* Keys and queues of commands are in it. The kernel has no handle of a domain for it. */
static void domain_of_a_command_is_none_of_verbs(void **state)
{
	static uint8_t memory[16];
	struct mailbox domain = new_object(CMD_ALLOC_PD), key;
	int fd = open_context(), other = open_context();
	uint32_t verbs = 0, mr = 0;
	union command c;

	assert_int_equal(create(fd, &domain), 0);
	key = free_mkey((uint32_t)prm_get(domain.out, OUT_OBJ_ID));
	assert_int_equal(create(other, &key), BAD_RES);
	assert_int_equal(create(fd, &key), 0);
	assert_int_equal(reg_mr(fd, domain.handle, memory, (uintptr_t)memory, sizeof(memory),
				IB_UVERBS_ACCESS_LOCAL_WRITE, &mr),
			 EINVAL);
	assert_int_equal(dealloc_pd(fd, domain.handle), EINVAL);
	destroy_obj(fd, key.handle);
	destroy_obj(fd, domain.handle);
	assert_int_equal(alloc_pd(fd, &verbs), 0);
	add(begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY),
	    MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0, verbs);
	assert_int_equal(issue(fd, &c), EINVAL);
	close(fd);
	close(other);
}

static void a_set_of_counters_is_queried_by_its_number(void **state)
{
	struct mailbox set = new_object(CMD_ALLOC_Q_COUNTER), q = new_object(CMD_QUERY_Q_COUNTER);
	int fd = open_context();
	uint64_t id;

	assert_int_equal(create(fd, &set), 0);
	id = prm_get(set.out, OUT_OBJ_ID);
	q.in_len = QUERY_Q_COUNTER_LEN;
	q.out_len = CAPS_BYTES;
	prm_put(q.in, COUNTER_SET_ID, id);
	assert_int_equal(query(fd, set.handle, &q), 0);
	prm_put(q.in, COUNTER_SET_ID, id + 1);
	assert_int_equal(query(fd, set.handle, &q), -EINVAL);
	q.in_len = HEADER;
	assert_int_equal(query(fd, set.handle, &q), -EINVAL);
	destroy_obj(fd, set.handle);
	close(fd);
}

static struct mailbox counter_query(uint32_t id)
{
	struct mailbox m = {.in_len = 0x20, .out_len = 0x20};

	prm_put(m.in, IN_OPCODE, CMD_QUERY_FLOW_COUNTER);
	prm_put(m.in, COUNTER_ID, id);
	memset(m.out, 0xff, sizeof(m.out));
	return m;
}

#define REFUSE_QUERY(status, change)                               \
	do {                                                       \
		struct mailbox m = counter_query(id);              \
                                                                   \
		change;                                            \
		assert_int_equal(query(fd, c.handle, &m), status); \
	} while (0)

/* A flow counter can only be created, queried and destroyed: flow rules are not supported. */
static void a_flow_counter_is_only_created_queried_and_destroyed(void **state)
{
	static const uint8_t nothing[16];
	int fd = open_context();
	struct mailbox good = new_object(CMD_ALLOC_FLOW_COUNTER), c = good, q;
	uint32_t id;

	refuse_each_bit(fd, &good, 0x40, 64);
	REFUSE(BAD_OP, good, prm_put(m.in, IN_OP_MOD, 1));
	assert_int_equal(create(fd, &c), 0);
	id = (uint32_t)prm_get(c.out, OUT_OBJ_ID);
	assert_int_not_equal(id, 0);
	q = counter_query(id);
	assert_int_equal(query(fd, c.handle, &q), 0);
	assert_memory_equal(q.out + HEADER, nothing, sizeof(nothing));
	REFUSE_QUERY(0,
		     (prm_put(m.in, COUNTER_CLEAR, 1), prm_put(m.in, COUNTER_NUM_OF_COUNTERS, 1)));
	REFUSE_QUERY(-EINVAL, prm_put(m.in, COUNTER_ID, id + 1));
	REFUSE_QUERY(-EINVAL, m.in_len = HEADER);
	REFUSE_QUERY(BAD_OP, prm_put(m.in, IN_OP_MOD, 1));
	REFUSE_QUERY(BAD_PARAM, prm_put(m.in, 0x60, 32, 1));
	REFUSE_QUERY(BAD_PARAM, prm_put(m.in, 0xc1, 1, 1));
	REFUSE_QUERY(BAD_PARAM, prm_put(m.in, COUNTER_NUM_OF_COUNTERS, 2));
	destroy_obj(fd, c.handle);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_count, fixture_recount)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(reserved_bits_of_an_mkey_are_refused),
		TEST(entries_that_do_not_fit_their_mkey_are_refused),
		TEST(entries_of_fixed_size_cover_the_range),
		TEST(a_free_mkey_is_a_list_for_umr),
		TEST(query_returns_what_was_set),
		TEST(a_query_of_another_mkey_is_refused),
		TEST(a_umem_with_invalid_pages_or_range_is_refused),
		TEST(mkey_on_a_umem_covers_its_pages),
		TEST(a_grant_with_an_invalid_field_is_refused),
		TEST(an_alias_with_an_invalid_field_is_refused),
		TEST(capabilities_of_another_function_are_refused),
		TEST(missing_objects_are_refused),
		TEST(objects_without_memory_are_created_by_commands),
		TEST(domain_of_a_command_is_none_of_verbs),
		TEST(a_set_of_counters_is_queried_by_its_number),
		TEST(a_flow_counter_is_only_created_queried_and_destroyed),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
