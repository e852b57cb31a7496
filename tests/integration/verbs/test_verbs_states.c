/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* States of QPs: which transitions exist, and which attributes each needs and takes. */
#include <string.h>

#include "base/array.h"
#include "pair.h"

#define BIT(name)  DOCA_VERBS_QP_ATTR_##name
#define WRITE	   BIT(ALLOW_REMOTE_WRITE)
#define READ	   BIT(ALLOW_REMOTE_READ)
#define NUM_STATES 5
#define ALL_BITS   19

/* Whether the kernel, which may know more rules, changes this in RTS. */
struct row {
	const char *name;
	uint32_t type;
	enum doca_verbs_qp_state from, to;
	int needs, takes;
	int refused_by_kernel;
};

#define RC(from, to, ...)                                                                  \
	{                                                                                  \
		"rc_" #from "_to_" #to, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_##from, \
			DOCA_VERBS_QP_STATE_##to, __VA_ARGS__                              \
	}
#define UC(from, to, ...)                                                                  \
	{                                                                                  \
		"uc_" #from "_to_" #to, DOCA_VERBS_QP_TYPE_UC, DOCA_VERBS_QP_STATE_##from, \
			DOCA_VERBS_QP_STATE_##to, __VA_ARGS__                              \
	}

static struct row rows[] = {
	RC(RST, INIT, WRITE | READ | BIT(PKEY_INDEX) | BIT(PORT_NUM), BIT(ATOMIC_MODE), 0),
	RC(INIT, INIT, 0, WRITE | READ | BIT(ATOMIC_MODE) | BIT(PKEY_INDEX) | BIT(PORT_NUM), 0),
	RC(INIT, RTR,
	   BIT(RQ_PSN) | BIT(DEST_QP_NUM) | BIT(PATH_MTU) | BIT(AH_ATTR) | BIT(MIN_RNR_TIMER),
	   BIT(MAX_DEST_RD_ATOMIC) | WRITE | READ | BIT(ATOMIC_MODE) | BIT(PKEY_INDEX), 0),
	RC(RTR, RTS, BIT(SQ_PSN) | BIT(ACK_TIMEOUT) | BIT(RETRY_CNT) | BIT(RNR_RETRY),
	   BIT(MAX_QP_RD_ATOMIC) | WRITE | READ | BIT(MIN_RNR_TIMER) | BIT(ATOMIC_MODE), 0),
	RC(RTS, RTS, 0, WRITE | READ | BIT(ATOMIC_MODE) | BIT(MIN_RNR_TIMER) | BIT(AH_ATTR),
	   BIT(AH_ATTR)),
	UC(RST, INIT, WRITE | BIT(PKEY_INDEX) | BIT(PORT_NUM), READ, 0),
	UC(INIT, INIT, 0, WRITE | BIT(PKEY_INDEX) | BIT(PORT_NUM), 0),
	UC(INIT, RTR, BIT(RQ_PSN) | BIT(DEST_QP_NUM) | BIT(PATH_MTU) | BIT(AH_ATTR),
	   WRITE | BIT(PKEY_INDEX), 0),
	UC(RTR, RTS, BIT(SQ_PSN), WRITE, 0),
	UC(RTS, RTS, 0, WRITE | BIT(AH_ATTR), BIT(AH_ATTR)),
};

static struct doca_verbs_ah_attr *ah;

static int setup(void **state)
{
	if (pair_setup_unconnected(NULL))
		return -1;
	ah = pair_create_ah();
	return ah ? 0 : -1;
}

static int teardown(void **state)
{
	return doca_verbs_ah_attr_destroy(ah) != DOCA_SUCCESS || pair_teardown(NULL) ? -1 : 0;
}
#define state_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static struct doca_verbs_qp *create(uint32_t type)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();

	assert_ok(doca_verbs_qp_init_attr_set_qp_type(attr, type));
	return pair_create_qp(attr);
}

static doca_error_t modify(struct doca_verbs_qp *qp, enum doca_verbs_qp_state to, int mask)
{
	struct doca_verbs_qp_attr *attr = pair_qp_attr(to, qp, ah);
	doca_error_t result;

	doca_verbs_qp_attr_set_max_rd_atomic(attr, 1);
	doca_verbs_qp_attr_set_max_dest_rd_atomic(attr, 1);
	result = doca_verbs_qp_modify(qp, attr, mask);
	doca_verbs_qp_attr_destroy(attr);
	return result;
}

static const struct row *row_to(uint32_t type, enum doca_verbs_qp_state to)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type == type && rows[i].to == to && rows[i].from != to)
			return &rows[i];
	return NULL;
}

/* Take a QP from any state to another, on the shortest way. */
static void bring(struct doca_verbs_qp *qp, uint32_t type, enum doca_verbs_qp_state to)
{
	assert_ok(modify(qp, DOCA_VERBS_QP_STATE_RST, BIT(NEXT_STATE)));
	if (to == DOCA_VERBS_QP_STATE_ERR)
		assert_ok(modify(qp, to, BIT(NEXT_STATE)));
	for (enum doca_verbs_qp_state next = DOCA_VERBS_QP_STATE_INIT;
	     next <= to && to != DOCA_VERBS_QP_STATE_ERR; next++)
		assert_ok(modify(qp, next, BIT(NEXT_STATE) | row_to(type, next)->needs));
}

static void check(struct doca_verbs_qp *qp, const struct row *row, int mask, doca_error_t wanted)
{
	doca_error_t result;

	bring(qp, row->type, row->from);
	result = modify(qp, row->to, mask);
	if (result != wanted)
		fail_msg("%s with the mask 0x%x: %s", row->name, mask, doca_error_get_name(result));
}

/* rule: VS-2 */
static void attributes_of_a_transition(void **state)
{
	const struct row *row = *state;
	struct doca_verbs_qp *qp = create(row->type);
	const int needs = row->needs | BIT(NEXT_STATE);

	assert_non_null(qp);
	check(qp, row, needs, DOCA_SUCCESS);
	check(qp, row, (needs | row->takes) & ~row->refused_by_kernel, DOCA_SUCCESS);
	for (int bit = 0; bit <= ALL_BITS; bit++) {
		const int one = 1 << bit;

		if (one & (BIT(NEXT_STATE) | BIT(CURRENT_STATE)))
			continue;
		if (one & row->needs)
			check(qp, row, needs & ~one, DOCA_ERROR_INVALID_VALUE);
		else if (one & (row->refused_by_kernel | BIT(CC_GROUP)))
			check(qp, row, needs | one, DOCA_ERROR_NOT_SUPPORTED);
		else
			check(qp, row, needs | one,
			      one & row->takes ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
	}
	assert_ok(doca_verbs_qp_destroy(qp));
}

static bool has_row(uint32_t type, enum doca_verbs_qp_state from, enum doca_verbs_qp_state to)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type == type && rows[i].from == from && rows[i].to == to)
			return true;
	return false;
}

/* rule: VS-1, VS-5 */
static void other_transitions_do_not_exist(void **state)
{
	for (uint32_t type = DOCA_VERBS_QP_TYPE_RC; type <= DOCA_VERBS_QP_TYPE_UC; type++) {
		struct doca_verbs_qp *qp = create(type);

		assert_non_null(qp);
		for (int from = 0; from < NUM_STATES; from++)
			for (int to = 0; to < NUM_STATES; to++) {
				bool ends = to == DOCA_VERBS_QP_STATE_RST ||
					    to == DOCA_VERBS_QP_STATE_ERR;

				if (has_row(type, from, to))
					continue;
				bring(qp, type, from);
				assert_error(modify(qp, to, BIT(NEXT_STATE)),
					     ends ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
				if (ends)
					assert_error(modify(qp, to, BIT(NEXT_STATE) | WRITE),
						     DOCA_ERROR_INVALID_VALUE);
			}
		assert_ok(doca_verbs_qp_destroy(qp));
	}
}

/* rule: VS-5 */
static void address_in_the_mask_must_exist(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_RTR, qp, NULL);

	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_INIT);
	assert_error(doca_verbs_qp_modify(qp, attr, pair_mask(DOCA_VERBS_QP_STATE_RTR)),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_modify(NULL, attr, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_modify(qp, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_destroy(qp));
}

static enum doca_verbs_qp_state state_of(struct doca_verbs_qp *qp)
{
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;
	enum doca_verbs_qp_state found;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_init_attr_create(&init));
	assert_ok(doca_verbs_qp_query(qp, attr, init, NULL));
	found = doca_verbs_qp_attr_get_next_state(attr);
	assert_int_equal(doca_verbs_qp_attr_get_current_state(attr), found);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_init_attr_destroy(init));
	return found;
}

/* rule: VS-1, VS-6 */
static void state_stays_without_next_state(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);

	assert_int_equal(state_of(qp), DOCA_VERBS_QP_STATE_RST);
	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_INIT);
	assert_ok(modify(qp, DOCA_VERBS_QP_STATE_RTS, WRITE));
	assert_int_equal(state_of(qp), DOCA_VERBS_QP_STATE_INIT);
	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_RTS);
	assert_ok(modify(qp, DOCA_VERBS_QP_STATE_RST, READ));
	assert_int_equal(state_of(qp), DOCA_VERBS_QP_STATE_RTS);
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* rule: VS-2 */
static void current_state_must_be_the_state(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_INIT, qp, ah);
	const int mask = pair_mask(DOCA_VERBS_QP_STATE_INIT) | BIT(CURRENT_STATE);

	assert_ok(doca_verbs_qp_attr_set_current_state(attr, DOCA_VERBS_QP_STATE_RTS));
	assert_error(doca_verbs_qp_modify(qp, attr, mask), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_attr_set_current_state(attr, DOCA_VERBS_QP_STATE_RST));
	assert_ok(doca_verbs_qp_modify(qp, attr, mask));
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* rule: VS-2 */
static void larger_atomic_modes_are_refused(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_INIT, qp, ah);
	const int mask = pair_mask(DOCA_VERBS_QP_STATE_INIT) | BIT(ATOMIC_MODE);

	assert_ok(
		doca_verbs_qp_attr_set_atomic_mode(attr, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_16BYTES));
	assert_error(doca_verbs_qp_modify(qp, attr, mask), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_verbs_qp_attr_set_atomic_mode(attr, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES));
	assert_ok(doca_verbs_qp_modify(qp, attr, mask));
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_destroy(qp));
}

static void expect_access(struct doca_verbs_qp *qp, int wanted)
{
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_init_attr_create(&init));
	assert_ok(doca_verbs_qp_query(qp, attr, init, NULL));
	assert_int_equal(doca_verbs_qp_attr_get_allow_remote_write(attr), !!(wanted & WRITE));
	assert_int_equal(doca_verbs_qp_attr_get_allow_remote_read(attr), !!(wanted & READ));
	assert_int_equal(doca_verbs_qp_attr_get_atomic_mode(attr) != DOCA_VERBS_QP_ATOMIC_MODE_NONE,
			 !!(wanted & BIT(ATOMIC_MODE)));
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_init_attr_destroy(init));
}

/* rule: VS-11 */
static void each_right_of_the_peer_changes_alone(void **state)
{
	const int rights[] = {WRITE, READ, BIT(ATOMIC_MODE)};
	int left = WRITE | READ | BIT(ATOMIC_MODE);
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_RTS, qp, ah);

	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_RTS);
	expect_access(qp, WRITE | READ);
	assert_ok(doca_verbs_qp_attr_set_atomic_mode(attr, DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC));
	assert_ok(doca_verbs_qp_modify(qp, attr, left));
	expect_access(qp, left);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_attr_create(&attr));
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		left &= ~rights[i];
		assert_ok(doca_verbs_qp_modify(qp, attr, rights[i]));
		expect_access(qp, left);
	}
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* rule: VB-9 */
static void one_object_serves_for_all_transitions(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_INIT, qp, ah);

	/* Not in a mask until RTR, and not valid there. */
	assert_ok(doca_verbs_qp_attr_set_pkey_index(attr, 0));
	assert_ok(doca_verbs_qp_attr_set_max_rd_atomic(attr, 255));
	for (enum doca_verbs_qp_state to = DOCA_VERBS_QP_STATE_INIT; to <= DOCA_VERBS_QP_STATE_RTS;
	     to++) {
		assert_ok(doca_verbs_qp_attr_set_next_state(attr, to));
		assert_ok(doca_verbs_qp_modify(qp, attr, pair_mask(to)));
		assert_ok(doca_verbs_qp_attr_set_port_num(attr, 200));
	}
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* --- paths ------------------------------------------------------------------------------------ */

static struct ibv_qp_attr query_attr(struct doca_verbs_qp *qp)
{
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;
	struct ibv_qp_attr found;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_init_attr_create(&init));
	assert_ok(doca_verbs_qp_query(qp, attr, init, NULL));
	assert_ok(doca_verbs_bridge_qp_attr_get(attr, &found));
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_init_attr_destroy(init));
	return found;
}

/* rule: VS-7, VS-8 */
static void address_and_mtu_are_those_of_the_path(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_gid gid;
	struct ibv_qp_attr found;

	assert_ok(doca_verbs_ah_attr_set_traffic_class(ah, 0x68));
	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_RTR);
	found = query_attr(qp);
	gid = doca_verbs_ah_attr_get_gid(ah);
	assert_int_equal(found.path_mtu, IBV_MTU_1024);
	assert_int_equal(found.ah_attr.is_global, 1);
	assert_memory_equal(found.ah_attr.grh.dgid.raw, gid.raw, sizeof(gid.raw));
	assert_int_equal(found.ah_attr.grh.sgid_index, doca_verbs_ah_attr_get_sgid_index(ah));
	assert_int_equal(found.ah_attr.grh.traffic_class, 0x68);
	assert_int_equal(found.dest_qp_num, doca_verbs_qp_get_qpn(qp));
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* rule: VS-7 */
static void kinds_of_addresses_are_translated(void **state)
{
	static const struct {
		enum doca_verbs_addr_type type;
		uint8_t is_global;
	} kinds[] = {
		{DOCA_VERBS_ADDR_TYPE_IPv4, 1},
		{DOCA_VERBS_ADDR_TYPE_IPv6, 1},
		{DOCA_VERBS_ADDR_TYPE_IB_GRH, 1},
		{DOCA_VERBS_ADDR_TYPE_IB_NO_GRH, 0},
	};
	struct doca_verbs_gid gid = {.raw = {0xfe, 0x80, [15] = 1}};
	struct doca_verbs_qp_attr *attr;
	struct ibv_qp_attr found;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_attr_set_ah_attr(attr, ah));
	assert_ok(doca_verbs_qp_attr_set_port_num(attr, 2));
	assert_ok(doca_verbs_ah_attr_set_sl(ah, 3));
	assert_ok(doca_verbs_ah_attr_set_static_rate(ah, 4));
	assert_ok(doca_verbs_ah_attr_set_hop_limit(ah, 5));
	assert_ok(doca_verbs_ah_attr_set_sgid_index(ah, 6));
	assert_ok(doca_verbs_ah_attr_set_traffic_class(ah, 7));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool has_lid = kinds[i].type >= DOCA_VERBS_ADDR_TYPE_IB_GRH;

		if (kinds[i].type == DOCA_VERBS_ADDR_TYPE_IPv6)
			assert_ok(doca_verbs_ah_attr_set_gid(ah, gid));
		assert_ok(doca_verbs_ah_attr_set_addr_type(ah, kinds[i].type));
		assert_ok(doca_verbs_ah_attr_set_dlid(ah, has_lid ? 0x1234 : 0));
		assert_ok(doca_verbs_bridge_qp_attr_get(attr, &found));
		assert_int_equal(found.ah_attr.is_global, kinds[i].is_global);
		assert_int_equal(found.ah_attr.dlid, has_lid ? 0x1234 : 0);
		assert_int_equal(found.ah_attr.port_num, 2);
		assert_int_equal(found.ah_attr.sl, 3);
		assert_int_equal(found.ah_attr.static_rate, 4);
		if (kinds[i].is_global) {
			assert_int_equal(found.ah_attr.grh.hop_limit, 5);
			assert_int_equal(found.ah_attr.grh.sgid_index, 6);
			assert_int_equal(found.ah_attr.grh.traffic_class, 7);
		}
		/* And back. */
		assert_ok(doca_verbs_ah_attr_set_addr_type(ah, DOCA_VERBS_ADDR_TYPE_IB_GRH));
		assert_ok(doca_verbs_bridge_qp_attr_set(attr, &found, IBV_QP_AV));
		assert_int_equal(doca_verbs_ah_attr_get_addr_type(ah), kinds[i].type);
		assert_int_equal(doca_verbs_ah_attr_get_sl(ah), 3);
		assert_int_equal(doca_verbs_ah_attr_get_static_rate(ah), 4);
		assert_int_equal(doca_verbs_ah_attr_get_hop_limit(ah), kinds[i].is_global * 5);
		assert_int_equal(doca_verbs_ah_attr_get_sgid_index(ah), kinds[i].is_global * 6);
		assert_int_equal(doca_verbs_ah_attr_get_traffic_class(ah), kinds[i].is_global * 7);
	}
	assert_ok(doca_verbs_qp_attr_destroy(attr));
}

/* rule: VS-8 */
static void every_mtu_is_that_of_libibverbs_less_one(void **state)
{
	struct doca_verbs_qp_attr *attr;
	struct ibv_qp_attr found;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	for (int mtu = DOCA_MTU_SIZE_256_BYTES; mtu <= DOCA_MTU_SIZE_4K_BYTES; mtu++) {
		assert_ok(doca_verbs_qp_attr_set_path_mtu(attr, mtu));
		assert_ok(doca_verbs_bridge_qp_attr_get(attr, &found));
		assert_int_equal(found.path_mtu, mtu + IBV_MTU_256);
	}
	assert_error(doca_verbs_qp_attr_set_path_mtu(attr, DOCA_MTU_SIZE_RAW_ETHERNET),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_verbs_qp_attr_get_path_mtu(attr), DOCA_MTU_SIZE_4K_BYTES);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
}

/* --- the bridge ------------------------------------------------------------------------------- */

/* rule: VS-10 */
static void masks_are_translated_bit_by_bit(void **state)
{
	const struct {
		int ibv, doca;
	} bits[] = {
		{IBV_QP_STATE, BIT(NEXT_STATE)},
		{IBV_QP_CUR_STATE, BIT(CURRENT_STATE)},
		{IBV_QP_ACCESS_FLAGS, WRITE | READ | BIT(ATOMIC_MODE)},
		{IBV_QP_PKEY_INDEX, BIT(PKEY_INDEX)},
		{IBV_QP_PORT, BIT(PORT_NUM)},
		{IBV_QP_AV, BIT(AH_ATTR)},
		{IBV_QP_PATH_MTU, BIT(PATH_MTU)},
		{IBV_QP_TIMEOUT, BIT(ACK_TIMEOUT)},
		{IBV_QP_RETRY_CNT, BIT(RETRY_CNT)},
		{IBV_QP_RNR_RETRY, BIT(RNR_RETRY)},
		{IBV_QP_RQ_PSN, BIT(RQ_PSN)},
		{IBV_QP_MAX_QP_RD_ATOMIC, BIT(MAX_QP_RD_ATOMIC)},
		{IBV_QP_MIN_RNR_TIMER, BIT(MIN_RNR_TIMER)},
		{IBV_QP_SQ_PSN, BIT(SQ_PSN)},
		{IBV_QP_MAX_DEST_RD_ATOMIC, BIT(MAX_DEST_RD_ATOMIC)},
		{IBV_QP_DEST_QPN, BIT(DEST_QP_NUM)},
		{IBV_QP_QKEY, 0},
		{IBV_QP_CAP, 0},
	};
	int ibv = 0, doca = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		assert_int_equal(doca_verbs_bridge_get_qp_attr_mask(bits[i].ibv), bits[i].doca);
		ibv |= bits[i].ibv;
		doca |= bits[i].doca;
	}
	assert_int_equal(doca_verbs_bridge_get_qp_attr_mask(ibv), doca);
}

/* rule: VS-10 */
static void only_members_in_the_mask_are_read(void **state)
{
	const struct ibv_qp_attr ibv = {
		.qp_state = IBV_QPS_RTS,
		.path_mtu = IBV_MTU_2048,
		.rq_psn = 1,
		.sq_psn = 2,
		.dest_qp_num = 3,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.pkey_index = 4,
		.max_rd_atomic = 5,
		.max_dest_rd_atomic = 6,
		.min_rnr_timer = 7,
		.port_num = 8,
		.timeout = 9,
		.retry_cnt = 3,
		.rnr_retry = 2,
	};
	struct doca_verbs_qp_attr *attr;
	struct ibv_qp_attr back = {0};

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_bridge_qp_attr_set(attr, &ibv, IBV_QP_TIMEOUT));
	assert_int_equal(doca_verbs_qp_attr_get_ack_timeout(attr), 9);
	assert_int_equal(doca_verbs_qp_attr_get_sq_psn(attr), 0);
	assert_ok(doca_verbs_bridge_qp_attr_set(
		attr, &ibv,
		IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_DEST_QPN |
			IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MAX_QP_RD_ATOMIC |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_PORT |
			IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY));
	assert_int_equal(doca_verbs_qp_attr_get_next_state(attr), DOCA_VERBS_QP_STATE_RTS);
	assert_int_equal(doca_verbs_qp_attr_get_allow_remote_write(attr), 0);
	assert_int_equal(doca_verbs_qp_attr_get_allow_remote_read(attr), 1);
	assert_int_equal(doca_verbs_qp_attr_get_atomic_mode(attr),
			 DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC);
	assert_ok(doca_verbs_bridge_qp_attr_get(attr, &back));
	back.qp_access_flags &= ~(unsigned int)IBV_ACCESS_LOCAL_WRITE;
	back.cur_qp_state = ibv.cur_qp_state;
	assert_memory_equal(&back, &ibv, sizeof(ibv));
	assert_error(doca_verbs_bridge_qp_attr_set(attr, &ibv, IBV_QP_AV),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_qp_attr_set(NULL, &ibv, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_qp_attr_set(attr, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_qp_attr_get(NULL, &back), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_qp_attr_get(attr, NULL), DOCA_ERROR_INVALID_VALUE);
	back.qp_state = IBV_QPS_SQD;
	assert_error(doca_verbs_bridge_qp_attr_set(attr, &back, IBV_QP_STATE),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
}

/* --- queries ---------------------------------------------------------------------------------- */

/* rule: VS-11, VQ-3 */
static void query_returns_what_was_set(void **state)
{
	struct doca_verbs_qp *qp = create(DOCA_VERBS_QP_TYPE_RC);
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;
	int mask = 0;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_init_attr_create(&init));
	assert_ok(doca_verbs_qp_query(qp, attr, init, &mask));
	assert_int_equal(mask, BIT(NEXT_STATE) | BIT(CURRENT_STATE));
	assert_null(doca_verbs_qp_attr_get_ah_attr(attr));
	bring(qp, DOCA_VERBS_QP_TYPE_RC, DOCA_VERBS_QP_STATE_RTS);
	assert_ok(doca_verbs_qp_query(qp, attr, init, &mask));
	assert_int_equal(mask & (BIT(SQ_PSN) | BIT(AH_ATTR) | BIT(RNR_RETRY) | WRITE),
			 BIT(SQ_PSN) | BIT(AH_ATTR) | BIT(RNR_RETRY) | WRITE);
	assert_int_equal(doca_verbs_qp_attr_get_next_state(attr), DOCA_VERBS_QP_STATE_RTS);
	assert_int_equal(doca_verbs_qp_attr_get_allow_remote_write(attr), 1);
	assert_int_equal(doca_verbs_qp_attr_get_path_mtu(attr), DOCA_MTU_SIZE_1K_BYTES);
	assert_int_equal(doca_verbs_qp_attr_get_port_num(attr), 1);
	assert_int_equal(doca_verbs_qp_attr_get_ack_timeout(attr), 14);
	assert_int_equal(doca_verbs_qp_attr_get_max_rd_atomic(attr), 1);
	assert_int_equal(doca_verbs_qp_attr_get_max_dest_rd_atomic(attr), 1);
	/* The hop limit is that of the route, as the kernel finds it. */
	assert_int_equal(doca_verbs_ah_attr_get_sgid_index(doca_verbs_qp_attr_get_ah_attr(attr)),
			 doca_verbs_ah_attr_get_sgid_index(ah));
	assert_ptr_equal(doca_verbs_qp_init_attr_get_pd(init), pair.pd);
	assert_ptr_equal(doca_verbs_qp_init_attr_get_send_cq(init), pair.cq);
	assert_true(doca_verbs_qp_init_attr_get_sq_wr(init) >= PAIR_DEPTH);
	assert_true(doca_verbs_qp_init_attr_get_max_inline_data(init) >= 64);
	assert_error(doca_verbs_qp_query(NULL, attr, init, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_query(qp, NULL, init, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_query(qp, attr, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_init_attr_destroy(init));
	assert_ok(doca_verbs_qp_destroy(qp));
}

static int valid_members(struct doca_verbs_qp *qp)
{
	struct doca_verbs_qp_init_attr *init;
	struct doca_verbs_qp_attr *attr;
	int mask = 0;

	assert_ok(doca_verbs_qp_attr_create(&attr));
	assert_ok(doca_verbs_qp_init_attr_create(&init));
	assert_ok(doca_verbs_qp_query(qp, attr, init, &mask));
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_qp_init_attr_destroy(init));
	return mask;
}

/* rule: VS-11 */
static void each_state_adds_valid_members(void **state)
{
	static const int both[] = {
		BIT(NEXT_STATE) | BIT(CURRENT_STATE),
		WRITE | READ | BIT(ATOMIC_MODE) | BIT(PKEY_INDEX) | BIT(PORT_NUM),
		BIT(RQ_PSN) | BIT(DEST_QP_NUM) | BIT(PATH_MTU) | BIT(AH_ATTR),
		BIT(SQ_PSN),
	};
	static const int rc_alone[] = {
		0,
		0,
		BIT(MIN_RNR_TIMER) | BIT(MAX_DEST_RD_ATOMIC),
		BIT(ACK_TIMEOUT) | BIT(RETRY_CNT) | BIT(RNR_RETRY) | BIT(MAX_QP_RD_ATOMIC),
	};

	for (uint32_t type = DOCA_VERBS_QP_TYPE_RC; type <= DOCA_VERBS_QP_TYPE_UC; type++) {
		struct doca_verbs_qp *qp = create(type);
		int wanted = 0;

		for (int to = DOCA_VERBS_QP_STATE_RST; to <= DOCA_VERBS_QP_STATE_RTS; to++) {
			bring(qp, type, to);
			wanted |= both[to] | (type == DOCA_VERBS_QP_TYPE_RC ? rc_alone[to] : 0);
			assert_int_equal(valid_members(qp), wanted);
		}
		bring(qp, type, DOCA_VERBS_QP_STATE_ERR);
		assert_int_equal(valid_members(qp), both[DOCA_VERBS_QP_STATE_RST]);
		assert_ok(doca_verbs_qp_destroy(qp));
	}
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ARRAY_SIZE(rows) + 15] = {
		state_test(other_transitions_do_not_exist),
		state_test(address_in_the_mask_must_exist),
		state_test(state_stays_without_next_state),
		state_test(current_state_must_be_the_state),
		state_test(larger_atomic_modes_are_refused),
		state_test(each_right_of_the_peer_changes_alone),
		state_test(one_object_serves_for_all_transitions),
		state_test(address_and_mtu_are_those_of_the_path),
		state_test(kinds_of_addresses_are_translated),
		state_test(every_mtu_is_that_of_libibverbs_less_one),
		state_test(masks_are_translated_bit_by_bit),
		state_test(only_members_in_the_mask_are_read),
		state_test(query_returns_what_was_set),
		state_test(each_state_adds_valid_members),
		state_test(attributes_of_a_transition),
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[14 + i] = (struct CMUnitTest){rows[i].name, attributes_of_a_transition, setup,
						    teardown, &rows[i]};
	test_parse_options(argc, argv);
	return _cmocka_run_group_tests("states", tests, 14 + ARRAY_SIZE(rows), NULL, NULL);
}
