/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attributes of doca_verbs: each is what was set, in its range. */
#include <string.h>

#include <doca_log.h>

#include "base/array.h"
#include "pair.h"

static char thing; /* its address stands for any object */

#define POINTER(type) ((type *)(void *)&thing)

/* A member of the object `attr`. */
#define CHECK(object, name, value)                                                        \
	do {                                                                              \
		assert_ok(object##_set_##name(attr, value));                              \
		assert_true(object##_get_##name(attr) == (value));                        \
		assert_error(object##_set_##name(NULL, value), DOCA_ERROR_INVALID_VALUE); \
		assert_true(!object##_get_##name(NULL));                                  \
	} while (0)
#define CHECK_UP_TO(object, name, max)                                                        \
	do {                                                                                  \
		CHECK(object, name, max);                                                     \
		assert_error(object##_set_##name(attr, (max) + 1), DOCA_ERROR_INVALID_VALUE); \
		assert_true(object##_get_##name(attr) == (max));                              \
	} while (0)
#define CHECK_UMEM(object, name)                                                                   \
	do {                                                                                       \
		struct doca_umem *umem = POINTER(struct doca_umem);                                \
		uint64_t offset = 1;                                                               \
                                                                                                   \
		assert_ok(object##_get_##name(attr, &umem, &offset));                              \
		assert_null(umem);                                                                 \
		assert_int_equal(offset, 0);                                                       \
		assert_ok(object##_set_##name(attr, POINTER(struct doca_umem), 4096));             \
		assert_ok(object##_get_##name(attr, &umem, &offset));                              \
		assert_ptr_equal(umem, &thing);                                                    \
		assert_int_equal(offset, 4096);                                                    \
		assert_error(object##_set_##name(NULL, umem, 1), DOCA_ERROR_INVALID_VALUE);        \
		assert_error(object##_get_##name(NULL, &umem, &offset), DOCA_ERROR_INVALID_VALUE); \
		assert_error(object##_get_##name(attr, NULL, &offset), DOCA_ERROR_INVALID_VALUE);  \
		assert_error(object##_get_##name(attr, &umem, NULL), DOCA_ERROR_INVALID_VALUE);    \
	} while (0)
#define CREATE(object)                                                         \
	do {                                                                   \
		assert_error(object##_create(NULL), DOCA_ERROR_INVALID_VALUE); \
		assert_ok(object##_create(&attr));                             \
	} while (0)
#define DESTROY(object)                                                         \
	do {                                                                    \
		assert_ok(object##_destroy(attr));                              \
		assert_error(object##_destroy(NULL), DOCA_ERROR_INVALID_VALUE); \
	} while (0)

/* rule: VB-attr, VB-null */
static void attributes_of_a_new_qp(void **state)
{
	struct doca_uar *uar = POINTER(struct doca_uar);
	struct doca_verbs_qp_init_attr *attr;

	CREATE(doca_verbs_qp_init_attr);
	CHECK(doca_verbs_qp_init_attr, pd, POINTER(struct doca_verbs_pd));
	CHECK(doca_verbs_qp_init_attr, srq, POINTER(struct doca_verbs_srq));
	CHECK(doca_verbs_qp_init_attr, sq_sig_all, 1);
	CHECK(doca_verbs_qp_init_attr, sq_wr, UINT32_MAX);
	CHECK(doca_verbs_qp_init_attr, rq_wr, 7);
	CHECK(doca_verbs_qp_init_attr, send_max_sges, 8);
	CHECK(doca_verbs_qp_init_attr, receive_max_sges, 9);
	CHECK(doca_verbs_qp_init_attr, max_inline_data, 10);
	CHECK(doca_verbs_qp_init_attr, user_index, 11);
	CHECK_UP_TO(doca_verbs_qp_init_attr, qp_type, (uint32_t)DOCA_VERBS_QP_TYPE_UC);
	CHECK(doca_verbs_qp_init_attr, uar_id, 12);
	CHECK(doca_verbs_qp_init_attr, pdn, 13);
	CHECK(doca_verbs_qp_init_attr, external_datapath_en, 1);
	CHECK(doca_verbs_qp_init_attr, core_direct_master, 1);
	CHECK(doca_verbs_qp_init_attr, qp_context, (void *)&thing);
	CHECK(doca_verbs_qp_init_attr, dpa, POINTER(struct doca_dpa));
	CHECK(doca_verbs_qp_init_attr, send_dpa_completion, POINTER(struct doca_dpa_completion));
	CHECK(doca_verbs_qp_init_attr, receive_dpa_completion, POINTER(struct doca_dpa_completion));
	CHECK_UP_TO(doca_verbs_qp_init_attr, send_dbr_mode, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT);
	CHECK_UP_TO(doca_verbs_qp_init_attr, cqe_inline, DOCA_VERBS_QP_SCATTER_TO_CQE_32B);
	CHECK_UMEM(doca_verbs_qp_init_attr, external_umem);
	CHECK_UMEM(doca_verbs_qp_init_attr, external_dbr_umem);
	assert_ok(doca_verbs_qp_init_attr_get_external_uar(attr, &uar));
	assert_null(uar);
	assert_ok(doca_verbs_qp_init_attr_set_external_uar(attr, POINTER(struct doca_uar)));
	assert_ok(doca_verbs_qp_init_attr_get_external_uar(attr, &uar));
	assert_ptr_equal(uar, &thing);
	assert_error(doca_verbs_qp_init_attr_set_external_uar(NULL, uar), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_init_attr_get_external_uar(NULL, &uar),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_init_attr_get_external_uar(attr, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_init_attr_set_wq_umem(attr, 5, 6));
	assert_ok(doca_verbs_qp_init_attr_set_dbr_umem(attr, 7, 8));
	assert_int_equal(doca_verbs_qp_init_attr_get_wq_umem_id(attr), 5);
	assert_int_equal(doca_verbs_qp_init_attr_get_wq_umem_offset(attr), 6);
	assert_int_equal(doca_verbs_qp_init_attr_get_dbr_umem_id(attr), 7);
	assert_int_equal(doca_verbs_qp_init_attr_get_dbr_umem_offset(attr), 8);
	assert_error(doca_verbs_qp_init_attr_set_wq_umem(NULL, 5, 6), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_init_attr_set_dbr_umem(NULL, 5, 6), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_verbs_qp_init_attr_get_wq_umem_id(NULL), 0);
	assert_int_equal(doca_verbs_qp_init_attr_get_wq_umem_offset(NULL), 0);
	assert_int_equal(doca_verbs_qp_init_attr_get_dbr_umem_id(NULL), 0);
	assert_int_equal(doca_verbs_qp_init_attr_get_dbr_umem_offset(NULL), 0);
	DESTROY(doca_verbs_qp_init_attr);
}

/* rule: VB-attr */
static void queues_of_a_new_qp_have_numbers(void **state)
{
	struct doca_verbs_qp_init_attr *attr;

	CREATE(doca_verbs_qp_init_attr);
	assert_int_equal(doca_verbs_qp_init_attr_get_send_cqn(attr), 0);
	CHECK(doca_verbs_qp_init_attr, send_cq, pair.cq);
	CHECK(doca_verbs_qp_init_attr, receive_cq, pair.cq);
	assert_int_not_equal(doca_verbs_cq_get_cqn(pair.cq), 0);
	assert_int_equal(doca_verbs_qp_init_attr_get_send_cqn(attr),
			 doca_verbs_cq_get_cqn(pair.cq));
	assert_int_equal(doca_verbs_qp_init_attr_get_receive_cqn(attr),
			 doca_verbs_cq_get_cqn(pair.cq));
	assert_int_equal(doca_verbs_qp_init_attr_get_send_cqn(NULL), 0);
	assert_int_equal(doca_verbs_qp_init_attr_get_receive_cqn(NULL), 0);
	DESTROY(doca_verbs_qp_init_attr);
}

/* rule: VB-attr, VB-null */
static void attributes_of_a_qp_to_change(void **state)
{
	struct doca_verbs_qp_attr *attr;

	CREATE(doca_verbs_qp_attr);
	CHECK_UP_TO(doca_verbs_qp_attr, next_state, DOCA_VERBS_QP_STATE_ERR);
	CHECK_UP_TO(doca_verbs_qp_attr, current_state, DOCA_VERBS_QP_STATE_ERR);
	CHECK_UP_TO(doca_verbs_qp_attr, path_mtu, DOCA_MTU_SIZE_4K_BYTES);
	CHECK_UP_TO(doca_verbs_qp_attr, rq_psn, 0xffffffu);
	CHECK_UP_TO(doca_verbs_qp_attr, sq_psn, 0xffffffu);
	CHECK_UP_TO(doca_verbs_qp_attr, dest_qp_num, 0xffffffu);
	CHECK(doca_verbs_qp_attr, allow_remote_write, 1);
	CHECK(doca_verbs_qp_attr, allow_remote_read, 1);
	CHECK_UP_TO(doca_verbs_qp_attr, atomic_mode, DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_256BYTES);
	CHECK(doca_verbs_qp_attr, max_rd_atomic, UINT8_MAX);
	CHECK(doca_verbs_qp_attr, max_dest_rd_atomic, UINT8_MAX);
	CHECK(doca_verbs_qp_attr, ah_attr, POINTER(struct doca_verbs_ah_attr));
	CHECK(doca_verbs_qp_attr, pkey_index, UINT16_MAX);
	CHECK_UP_TO(doca_verbs_qp_attr, port_num, UINT8_MAX);
	CHECK_UP_TO(doca_verbs_qp_attr, ack_timeout, 31);
	CHECK_UP_TO(doca_verbs_qp_attr, retry_cnt, 7);
	CHECK_UP_TO(doca_verbs_qp_attr, rnr_retry, 7);
	CHECK_UP_TO(doca_verbs_qp_attr, min_rnr_timer, 31);
	CHECK(doca_verbs_qp_attr, cc_group, POINTER(struct doca_verbs_cc_group));
	DESTROY(doca_verbs_qp_attr);
}

/* rule: VB-attr, VB-null */
static void attributes_of_an_address(void **state)
{
	const struct doca_verbs_gid gid = {.raw = {1, [15] = 2}}, none = {.raw = {0}};
	struct doca_verbs_gid found;
	struct doca_verbs_ah_attr *attr = NULL;

	assert_error(doca_verbs_ah_attr_create(NULL, &attr), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_ah_attr_create(pair.context, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(attr);
	assert_ok(doca_verbs_ah_attr_create(pair.context, &attr));
	CHECK_UP_TO(doca_verbs_ah_attr, addr_type, DOCA_VERBS_ADDR_TYPE_IB_NO_GRH);
	CHECK_UP_TO(doca_verbs_ah_attr, dlid, 0xffffu);
	CHECK_UP_TO(doca_verbs_ah_attr, sl, 15);
	CHECK(doca_verbs_ah_attr, sgid_index, UINT8_MAX);
	CHECK(doca_verbs_ah_attr, static_rate, UINT8_MAX);
	CHECK(doca_verbs_ah_attr, hop_limit, UINT8_MAX);
	CHECK(doca_verbs_ah_attr, traffic_class, UINT8_MAX);
	assert_ok(doca_verbs_ah_attr_set_gid(attr, gid));
	found = doca_verbs_ah_attr_get_gid(attr);
	assert_memory_equal(found.raw, gid.raw, sizeof(gid.raw));
	assert_error(doca_verbs_ah_attr_set_gid(NULL, gid), DOCA_ERROR_INVALID_VALUE);
	found = doca_verbs_ah_attr_get_gid(NULL);
	assert_memory_equal(found.raw, none.raw, sizeof(none.raw));
	DESTROY(doca_verbs_ah_attr);
}

/* rule: VB-attr, VB-null */
static void attributes_of_a_new_cq(void **state)
{
	struct doca_verbs_cq_attr *attr;

	CREATE(doca_verbs_cq_attr);
	CHECK(doca_verbs_cq_attr, cq_size, UINT32_MAX);
	CHECK(doca_verbs_cq_attr, dpa_thread_id, 2);
	CHECK_UP_TO(doca_verbs_cq_attr, entry_size, DOCA_VERBS_CQ_ENTRY_SIZE_128);
	CHECK(doca_verbs_cq_attr, cq_overrun, 1);
	CHECK(doca_verbs_cq_attr, external_datapath_en, 1);
	CHECK(doca_verbs_cq_attr, comp_channel, POINTER(struct doca_verbs_comp_channel));
	CHECK(doca_verbs_cq_attr, cq_context, (void *)&thing);
	CHECK(doca_verbs_cq_attr, external_uar, POINTER(struct doca_uar));
	CHECK_UMEM(doca_verbs_cq_attr, external_umem);
	DESTROY(doca_verbs_cq_attr);
}

/* rule: VB-attr, VB-null */
static void attributes_of_a_new_srq(void **state)
{
	struct doca_verbs_srq_init_attr *attr;

	CREATE(doca_verbs_srq_init_attr);
	CHECK(doca_verbs_srq_init_attr, srq_wr, UINT32_MAX);
	CHECK(doca_verbs_srq_init_attr, receive_max_sges, 2);
	CHECK_UP_TO(doca_verbs_srq_init_attr, type, DOCA_VERBS_SRQ_TYPE_CONTIGUOUS);
	CHECK(doca_verbs_srq_init_attr, pd, POINTER(struct doca_verbs_pd));
	CHECK(doca_verbs_srq_init_attr, external_datapath_en, 1);
	CHECK(doca_verbs_srq_init_attr, dpa, POINTER(struct doca_dpa));
	CHECK_UMEM(doca_verbs_srq_init_attr, external_umem);
	CHECK_UMEM(doca_verbs_srq_init_attr, external_dbr_umem);
	DESTROY(doca_verbs_srq_init_attr);
}

/* --- devices ---------------------------------------------------------------------------------- */

typedef doca_error_t is_supported(const struct doca_verbs_device_attr *attr);

/* rule: VB-device */
static void device_attributes_are_those_of_libibverbs(void **state)
{
	struct ibv_context *context = doca_verbs_bridge_get_ibv_ctx(pair.context);
	struct doca_verbs_device_attr *attr, *bridged;
	struct ibv_device_attr_ex expected;

	assert_int_equal(ibv_query_device_ex(context, NULL, &expected), 0);
	assert_ok(doca_verbs_query_device(pair.context, &attr));
	assert_ok(doca_verbs_bridge_verbs_query_device(context, &bridged));
#define SAME(name, member)                                                             \
	assert_int_equal(doca_verbs_device_attr_get_##name(attr), expected.member);    \
	assert_int_equal(doca_verbs_device_attr_get_##name(bridged), expected.member); \
	assert_int_equal(doca_verbs_device_attr_get_##name(NULL), 0)
	SAME(max_qp, orig_attr.max_qp);
	SAME(max_qp_wr, orig_attr.max_qp_wr);
	SAME(max_sge, orig_attr.max_sge);
	SAME(max_cq, orig_attr.max_cq);
	SAME(max_cqe, orig_attr.max_cqe);
	SAME(max_mr, orig_attr.max_mr);
	SAME(max_pd, orig_attr.max_pd);
	SAME(max_ah, orig_attr.max_ah);
	SAME(max_srq, orig_attr.max_srq);
	SAME(max_srq_wr, orig_attr.max_srq_wr);
	SAME(max_srq_sge, orig_attr.max_srq_sge);
	SAME(max_pkeys, orig_attr.max_pkeys);
	SAME(max_qp_rd_atom, orig_attr.max_qp_rd_atom);
	SAME(max_qp_init_rd_atom, orig_attr.max_qp_init_rd_atom);
	SAME(ts_free_running_clock_frequency, hca_core_clock);
	assert_int_equal(doca_verbs_device_attr_get_atomic_cap(attr),
			 expected.orig_attr.atomic_cap);
	assert_ok(doca_verbs_device_attr_get_is_qp_type_supported(attr, DOCA_VERBS_QP_TYPE_RC));
	assert_ok(doca_verbs_device_attr_get_is_qp_type_supported(attr, DOCA_VERBS_QP_TYPE_UC));
	assert_error(doca_verbs_device_attr_get_is_qp_type_supported(attr, 2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_device_attr_get_is_send_dbr_mode_supported(
		attr, DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID));
	assert_error(doca_verbs_device_attr_get_is_send_dbr_mode_supported(
			     attr, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_device_attr_get_is_send_dbr_mode_supported(
			     attr, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_INT),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_device_attr_get_is_send_dbr_mode_supported(attr, 3),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_device_attr_free(bridged));
	assert_ok(doca_verbs_device_attr_free(attr));
	assert_error(doca_verbs_device_attr_free(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_query_device(NULL, &attr), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_query_device(pair.context, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_verbs_query_device(NULL, &attr), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_verbs_query_device(context, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: VB-device, VB-refused */
static void device_lacks_what_has_no_data_path_here(void **state)
{
	static is_supported *const lacking[] = {
		doca_verbs_device_attr_get_is_dpa_external_datapath_supported,
		doca_verbs_device_attr_get_is_gpu_external_datapath_supported,
		doca_verbs_device_attr_get_is_ece_supported,
		doca_verbs_device_attr_get_is_cc_group_supported,
		doca_verbs_device_attr_get_is_cqe_inline_supported,
		doca_verbs_device_attr_get_is_allow_multi_pkt_send_wqe_supported,
		doca_verbs_device_attr_get_is_plane_index_supported,
		doca_verbs_device_attr_get_is_eth_rq_srq_supported,
	};
	struct doca_verbs_device_attr *attr;

	assert_ok(doca_verbs_query_device(pair.context, &attr));
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++) {
		assert_error(lacking[i](attr), DOCA_ERROR_NOT_SUPPORTED);
		assert_error(lacking[i](NULL), DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_verbs_device_attr_get_is_eth_sq_ts_source_type_supported(attr, 0),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_device_attr_get_is_eth_rq_ts_source_type_supported(attr, 0),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_verbs_device_attr_get_max_cc_group(attr), 0);
	assert_int_equal(doca_verbs_device_attr_get_max_eth_sq_wr_num(attr), 0);
	assert_int_equal(doca_verbs_device_attr_get_max_eth_rq_wr_num(attr), 0);
	assert_int_equal(doca_verbs_device_attr_get_max_cc_group_hint_max_size(attr), 0);
	assert_ok(doca_verbs_device_attr_free(attr));
}

/* --- what is refused -------------------------------------------------------------------------- */

static unsigned int num_lines;

static void count_line(char *text)
{
	(void)text;
	num_lines++;
}

#define REFUSED(call)                                         \
	do {                                                  \
		num_lines = 0;                                \
		assert_error(call, DOCA_ERROR_NOT_SUPPORTED); \
		assert_int_equal(num_lines, 1);               \
	} while (0)

/* rule: VB-refused */
static void ethernet_queues_and_groups_are_refused(void **state)
{
	struct doca_verbs_eth_sq_init_attr *sq_attr = NULL;
	struct doca_verbs_eth_rq_init_attr *rq_attr = NULL;
	struct doca_verbs_cc_group_attr *group_attr = NULL;
	struct doca_verbs_cc_group_caps *caps = NULL;
	struct doca_verbs_eth_sq *sq = NULL;
	struct doca_log_backend *backend;
	static char line[512];

	assert_ok(doca_log_backend_create_with_buf_sdk(line, sizeof(line), count_line, &backend));
	REFUSED(doca_verbs_eth_sq_init_attr_create(&sq_attr));
	REFUSED(doca_verbs_eth_rq_init_attr_create(&rq_attr));
	REFUSED(doca_verbs_cc_group_attr_create(&group_attr));
	REFUSED(doca_verbs_query_cc_group_caps(pair.context, &caps));
	REFUSED(doca_verbs_eth_sq_create(pair.context, NULL, &sq));
	REFUSED(doca_verbs_eth_sq_init_attr_set_pd(POINTER(struct doca_verbs_eth_sq_init_attr),
						   pair.pd));
	assert_null(sq_attr);
	assert_null(rq_attr);
	assert_null(group_attr);
	assert_null(caps);
	assert_null(sq);
	assert_error(doca_verbs_eth_sq_init_attr_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_eth_sq_recover_from_error(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_verbs_eth_sq_init_attr_get_pd(NULL));
	assert_int_equal(doca_verbs_eth_rq_init_attr_get_wr_num(NULL), 0);
	assert_int_equal(doca_verbs_eth_rq_init_attr_get_user_data(NULL).u64, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_a_new_qp),
		object_test(queues_of_a_new_qp_have_numbers),
		cmocka_unit_test(attributes_of_a_qp_to_change),
		object_test(attributes_of_an_address),
		cmocka_unit_test(attributes_of_a_new_cq),
		cmocka_unit_test(attributes_of_a_new_srq),
		object_test(device_attributes_are_those_of_libibverbs),
		object_test(device_lacks_what_has_no_data_path_here),
		object_test(ethernet_queues_and_groups_are_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
