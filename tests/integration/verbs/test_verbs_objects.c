/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Objects of doca_verbs: how they are created, what uses them, and in which order they end. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <doca_mmap.h>
#include <doca_rdma_bridge.h>
#include <doca_uar.h>
#include <doca_umem.h>

#include "base/array.h"
#include "pair.h"

static char thing; /* its address stands for any object */

/* rule: VB-2, VB-null */
static void contexts_are_separate(void **state)
{
	struct doca_verbs_context *first, *second, *none = NULL;
	struct doca_devinfo **list;
	uint32_t num;

	assert_ok(doca_devinfo_create_list(&list, &num));
	assert_true(num > 0);
	assert_ok(doca_verbs_context_create(list[0], 0, &first));
	assert_ok(doca_verbs_context_create(list[0], 0, &second));
	assert_error(doca_verbs_context_create(list[0], 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_context_create(NULL, 0, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_context_create(list[0], 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
	assert_ok(doca_devinfo_destroy_list(list));
	assert_ptr_not_equal(doca_verbs_bridge_get_ibv_ctx(first),
			     doca_verbs_bridge_get_ibv_ctx(second));
	assert_ok(doca_verbs_context_destroy(first));
	assert_ok(doca_verbs_context_destroy(second));
	assert_error(doca_verbs_context_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_verbs_bridge_get_ibv_ctx(NULL));
	assert_int_equal(doca_verbs_context_export_handle(NULL), -1);
	assert_int_equal(doca_verbs_get_async_event_handle(NULL), -1);
}

/* rule: VB-2, VB-null */
static void context_needs_a_file_descriptor(void **state)
{
	struct doca_verbs_context *context = NULL;
	struct rlimit limit, none;
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t num;

	assert_ok(doca_devinfo_create_list(&list, &num));
	assert_true(num > 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	result = doca_verbs_context_create(list[0], 0, &context);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_error(result, DOCA_ERROR_NOT_CONNECTED);
	assert_null(context);
	assert_ok(doca_devinfo_destroy_list(list));
}

/* rule: VB-3, VB-5 */
static void device_of_a_pd_is_the_same_at_each_call(void **state)
{
	struct doca_dev *dev, *again;
	struct ibv_pd *pd = NULL;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &again));
	assert_ptr_equal(dev, again);
	assert_ok(doca_rdma_bridge_get_dev_pd(dev, &pd));
	assert_ptr_equal(pd, doca_verbs_bridge_verbs_pd_get_ibv_pd(pair.pd));
	assert_ptr_equal(pd->context, doca_verbs_bridge_get_ibv_ctx(pair.context));
	assert_error(doca_verbs_pd_destroy(pair.pd), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dev_close(dev));
	/* And a new one afterwards. */
	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_dev_close(dev));
	assert_error(doca_verbs_pd_as_doca_dev(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_pd_as_doca_dev(pair.pd, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: VB-3 */
static void device_of_a_pd_exports_maps(void **state)
{
	struct doca_dev *dev, *importer;
	struct doca_mmap *mmap, *imported;
	const void *desc;
	size_t len;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, pair.bytes, PAIR_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(fixture_open_device(&importer));
	if (doca_mmap_export_pci(mmap, dev, &desc, &len) != DOCA_SUCCESS) {
		/* As on each device of this card, which exports by RDMA alone. */
		assert_string_equal(test_options.engine, "rdma");
	} else {
		assert_ok(doca_mmap_create_from_export(NULL, desc, len, importer, &imported));
		assert_ok(doca_mmap_destroy(imported));
		assert_ok(doca_mmap_create_from_export(NULL, desc, len, dev, &imported));
		assert_ok(doca_mmap_destroy(imported));
	}
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(importer));
	assert_ok(doca_dev_close(dev));
}

/* rule: VB-4, VB-6, VB-5 */
static void objects_of_an_open_device_are_imported(void **state)
{
	struct doca_verbs_context *context, *none = NULL;
	struct doca_verbs_pd *pd, *no_pd = NULL;
	struct doca_dev *dev, *found;
	struct ibv_pd *ibv_pd;
	struct ibv_mr *mr;

	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_rdma_bridge_get_dev_pd(dev, &ibv_pd));
	assert_ok(doca_verbs_bridge_verbs_pd_import(ibv_pd, &pd));
	assert_ok(doca_verbs_bridge_verbs_context_import(ibv_pd->context, 0, &context));
	assert_ptr_equal(doca_verbs_bridge_verbs_pd_get_ibv_pd(pd), ibv_pd);
	assert_ok(doca_verbs_pd_as_doca_dev(pd, &found));
	assert_ptr_equal(found, dev);
	assert_ok(doca_verbs_pd_destroy(pd));
	assert_ok(doca_verbs_context_destroy(context));
	mr = ibv_reg_mr(ibv_pd, pair.bytes, PAIR_LEN, 0);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_ok(doca_dev_close(dev));
	assert_error(doca_verbs_bridge_verbs_pd_import(NULL, &no_pd), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_verbs_pd_import(ibv_pd, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_verbs_context_import(NULL, 0, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
	assert_null(no_pd);
	assert_null(doca_verbs_bridge_verbs_pd_get_ibv_pd(NULL));
}

/* rule: VB-4, VB-7 */
static void context_of_a_device_of_libibverbs(void **state)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct doca_verbs_context *context, *none = NULL;
	struct doca_verbs_pd *pd;
	struct ibv_device **list;
	struct ibv_context *ibv;
	int num;

	list = ibv_get_device_list(&num);
	assert_true(num > 0);
	assert_ok(doca_verbs_bridge_verbs_context_create(list[0], 0, &context));
	assert_error(doca_verbs_bridge_verbs_context_create(NULL, 0, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_bridge_verbs_context_create(list[0], 4, &none),
		     DOCA_ERROR_INVALID_VALUE);
	ibv_free_device_list(list);
	assert_ok(doca_verbs_pd_create(context, &pd));
	ibv = doca_verbs_bridge_get_ibv_ctx(context);
	attr.send_cq = attr.recv_cq = ibv_create_cq(ibv, 2, NULL, NULL, 0);
	assert_non_null(attr.send_cq);
	struct ibv_qp *qp = ibv_create_qp(doca_verbs_bridge_verbs_pd_get_ibv_pd(pd), &attr);

	assert_non_null(qp);
	/* The program's queue pair is on it. */
	assert_error(doca_verbs_pd_destroy(pd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(attr.send_cq), 0);
	assert_error(doca_verbs_context_destroy(context), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_verbs_pd_destroy(pd));
	assert_ok(doca_verbs_context_destroy(context));
}

/* rule: VB-11 */
static void handles_are_imported(void **state)
{
	struct doca_verbs_context *context, *none = NULL;
	struct doca_verbs_pd *pd, *no_pd = NULL;
	struct doca_verbs_cq *cq;
	int fds[2];

	assert_ok(doca_verbs_context_import_from_handle(
		doca_verbs_context_export_handle(pair.context), 0, &context));
	assert_ok(doca_verbs_pd_import_from_handle(context, doca_verbs_pd_export_handle(pair.pd),
						   &pd));
	assert_error(doca_verbs_pd_import_from_handle(context, 12345, &no_pd),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_pd_import_from_handle(NULL, 0, &no_pd), DOCA_ERROR_INVALID_VALUE);
	assert_null(no_pd);
	assert_ok(doca_verbs_pd_destroy(pd));
	assert_ok(doca_verbs_context_destroy(context));
	/* The exporter's still work. */
	cq = pair_create_cq(1);
	assert_non_null(cq);
	assert_ok(doca_verbs_cq_destroy(cq));
	assert_int_equal(pipe(fds), 0);
	assert_error(doca_verbs_context_import_from_handle(fds[0], 0, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_context_import_from_handle(-1, 0, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_context_import_from_handle(0, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(doca_verbs_pd_export_handle(NULL), -1);
}

/* rule: VB-10 */
static void object_in_use_cannot_be_destroyed(void **state)
{
	struct doca_verbs_qp *qp = pair_create_qp(pair_init_attr());

	assert_non_null(qp);
	assert_error(doca_verbs_cq_destroy(pair.cq), DOCA_ERROR_BAD_STATE);
	assert_error(doca_verbs_pd_destroy(pair.pd), DOCA_ERROR_BAD_STATE);
	assert_error(doca_verbs_context_destroy(pair.context), DOCA_ERROR_BAD_STATE);
	assert_true(pair_connect(qp, qp));
	assert_int_equal(pair_post_recv(qp, 1), 0);
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_error(doca_verbs_context_destroy(pair.context), DOCA_ERROR_BAD_STATE);
	assert_error(doca_verbs_qp_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_cq_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_pd_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_comp_channel_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: VB-8 */
static void attributes_outlive_objects_or_not(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_ah_attr *ah = pair_create_ah();
	struct doca_verbs_qp_attr *qp_attr;
	struct doca_verbs_qp *qp;

	assert_ok(doca_verbs_qp_create(pair.context, attr, &qp));
	assert_true(pair_connect(qp, qp));
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_ok(doca_verbs_qp_init_attr_destroy(attr));
	assert_ok(doca_verbs_qp_attr_create(&qp_attr));
	assert_ok(doca_verbs_qp_attr_set_ah_attr(qp_attr, ah));
	assert_ok(doca_verbs_ah_attr_destroy(ah));
	assert_ok(doca_verbs_qp_attr_destroy(qp_attr));
}

/* --- attributes that do not fit --------------------------------------------------------------- */

typedef void change(struct doca_verbs_qp_init_attr *attr);

static void expect_refusal(change *wrong, doca_error_t error)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_qp *qp = NULL;

	wrong(attr);
	assert_error(doca_verbs_qp_create(pair.context, attr, &qp), error);
	assert_null(qp);
	assert_ok(doca_verbs_qp_init_attr_destroy(attr));
}

#define CHANGE(name, member, value)                                           \
	static void name(struct doca_verbs_qp_init_attr *attr)                \
	{                                                                     \
		assert_ok(doca_verbs_qp_init_attr_set_##member(attr, value)); \
	}

CHANGE(no_pd, pd, NULL)
CHANGE(no_send_cq, send_cq, NULL)
CHANGE(no_receive_cq, receive_cq, NULL)
CHANGE(no_send_piece, send_max_sges, 0)
CHANGE(no_receive_piece, receive_max_sges, 0)
CHANGE(many_sends, sq_wr, 1u << 30)
CHANGE(many_receives, rq_wr, 1u << 30)
CHANGE(many_pieces, send_max_sges, 100000)
CHANGE(external, external_datapath_en, 1)
CHANGE(master, core_direct_master, 1)
CHANGE(user_index, user_index, 1)
CHANGE(number_of_a_page, uar_id, 1)
CHANGE(number_of_a_pd, pdn, 1)
CHANGE(in_a_dpa, dpa, (void *)&thing)
CHANGE(sends_in_a_dpa, send_dpa_completion, (void *)&thing)
CHANGE(receives_in_a_dpa, receive_dpa_completion, (void *)&thing)
CHANGE(data_in_completions, cqe_inline, DOCA_VERBS_QP_SCATTER_TO_CQE_32B)
CHANGE(no_record, send_dbr_mode, DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT)

static void no_cq(struct doca_verbs_qp_init_attr *attr)
{
	no_send_cq(attr);
	no_receive_cq(attr);
	assert_ok(doca_verbs_qp_init_attr_set_sq_wr(attr, 0));
	assert_ok(doca_verbs_qp_init_attr_set_rq_wr(attr, 0));
}

static void one_umem(struct doca_verbs_qp_init_attr *attr)
{
	assert_ok(doca_verbs_qp_init_attr_set_external_umem(attr, (void *)&thing, 0));
}

static void one_umem_of_a_record(struct doca_verbs_qp_init_attr *attr)
{
	assert_ok(doca_verbs_qp_init_attr_set_external_dbr_umem(attr, (void *)&thing, 0));
}

static void both_umems(struct doca_verbs_qp_init_attr *attr)
{
	one_umem(attr);
	one_umem_of_a_record(attr);
}

static void number_of_a_umem(struct doca_verbs_qp_init_attr *attr)
{
	assert_ok(doca_verbs_qp_init_attr_set_wq_umem(attr, 1, 0));
}

/* rule: VQ-1, VQ-2, VQ-3, VQ-7, VB-refused */
static void attributes_of_a_qp_must_fit(void **state)
{
	static change *const invalid[] = {
		no_pd,	       no_cq,
		no_send_cq,    no_receive_cq,
		no_send_piece, no_receive_piece,
		many_sends,    many_receives,
		many_pieces,   external,
		master,	       one_umem,
		both_umems,    one_umem_of_a_record,
	};
	static change *const unsupported[] = {
		user_index,	number_of_a_page,  number_of_a_pd,	number_of_a_umem, in_a_dpa,
		sends_in_a_dpa, receives_in_a_dpa, data_in_completions, no_record,
	};
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_qp *qp;

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		expect_refusal(invalid[i], DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++)
		expect_refusal(unsupported[i], DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_qp_create(NULL, attr, &qp), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_create(pair.context, NULL, &qp), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_create(pair.context, attr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_init_attr_destroy(attr));
}

/* rule: VQ-3 */
static void objects_of_another_context_are_invalid(void **state)
{
	struct doca_verbs_context *other = pair_open_context();
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_pd *pd;
	struct doca_verbs_qp *qp = NULL;

	assert_ok(doca_verbs_pd_create(other, &pd));
	assert_error(doca_verbs_qp_create(other, attr, &qp), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_init_attr_set_pd(attr, pd));
	assert_error(doca_verbs_qp_create(pair.context, attr, &qp), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_create(other, attr, &qp), DOCA_ERROR_INVALID_VALUE);
	assert_null(qp);
	assert_ok(doca_verbs_qp_init_attr_destroy(attr));
	assert_ok(doca_verbs_pd_destroy(pd));
	assert_ok(doca_verbs_context_destroy(other));
}

/* rule: VQ-1, VQ-9, VQ-10, VB-refused */
static void attributes_of_a_cq_must_fit(void **state)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *cq = NULL;

	assert_ok(doca_verbs_cq_attr_create(&attr));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_cq_attr_set_cq_size(attr, 1u << 30));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_cq_attr_set_cq_size(attr, 3));
	assert_ok(doca_verbs_cq_attr_set_entry_size(attr, DOCA_VERBS_CQ_ENTRY_SIZE_128));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_cq_attr_set_entry_size(attr, DOCA_VERBS_CQ_ENTRY_SIZE_64));
	assert_ok(doca_verbs_cq_attr_set_dpa_thread_id(attr, 1));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_verbs_cq_attr_set_dpa_thread_id(attr, 0));
	assert_ok(doca_verbs_cq_attr_set_external_umem(attr, (void *)&thing, 0));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_verbs_cq_attr_set_external_umem(attr, NULL, 0));
	assert_ok(doca_verbs_cq_attr_set_external_datapath_en(attr, 1));
	assert_ok(doca_verbs_cq_attr_set_external_uar(attr, (void *)&thing));
	assert_error(doca_verbs_cq_create(pair.context, attr, &cq), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_cq_create(NULL, attr, &cq), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_cq_create(pair.context, NULL, &cq), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_cq_create(pair.context, attr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(cq);
	assert_ok(doca_verbs_cq_attr_destroy(attr));
}

/* rule: VB-refused, VB-null */
static void attributes_of_an_srq_must_fit(void **state)
{
	struct doca_verbs_srq_init_attr *attr;
	struct doca_verbs_srq *srq = NULL;

	assert_ok(doca_verbs_srq_init_attr_create(&attr));
	assert_error(doca_verbs_srq_create(pair.context, attr, &srq), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_srq_init_attr_set_pd(attr, pair.pd));
	assert_ok(doca_verbs_srq_init_attr_set_srq_wr(attr, 4));
	assert_error(doca_verbs_srq_create(pair.context, attr, &srq), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_srq_init_attr_set_receive_max_sges(attr, 1));
	assert_ok(doca_verbs_srq_init_attr_set_type(attr, DOCA_VERBS_SRQ_TYPE_CONTIGUOUS));
	assert_error(doca_verbs_srq_create(pair.context, attr, &srq), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_verbs_srq_init_attr_set_type(attr, DOCA_VERBS_SRQ_TYPE_LINKED_LIST));
	assert_ok(doca_verbs_srq_init_attr_set_dpa(attr, (void *)&thing));
	assert_error(doca_verbs_srq_create(pair.context, attr, &srq), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_verbs_srq_init_attr_set_dpa(attr, NULL));
	assert_ok(doca_verbs_srq_init_attr_set_srq_wr(attr, 1u << 30));
	assert_error(doca_verbs_srq_create(pair.context, attr, &srq), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_create(NULL, attr, &srq), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_query(NULL, attr), DOCA_ERROR_INVALID_VALUE);
	assert_null(srq);
	assert_ok(doca_verbs_srq_init_attr_destroy(attr));
}

/* rule: VB-null */
static void null_is_refused_by_each_function(void **state)
{
	struct doca_verbs_async_event event = {.event_type = -1};
	struct doca_verbs_comp_channel *channel = NULL, *none = NULL;
	struct doca_verbs_srq_init_attr *attr;
	struct doca_verbs_pd *pd = NULL;
	struct doca_verbs_cq *cq = NULL;
	void *context = NULL;

	assert_error(doca_verbs_pd_create(NULL, &pd), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_pd_create(pair.context, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_pd_import_from_handle(pair.context, 0, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_get_async_event(NULL, &event), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_get_async_event(pair.context, NULL), DOCA_ERROR_INVALID_VALUE);
	doca_verbs_ack_async_event(&(struct doca_verbs_async_event){0});
	assert_error(doca_verbs_comp_channel_create(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_comp_channel_create(pair.context, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_comp_channel_create(pair.context, &channel));
	assert_error(doca_verbs_get_cq_event(NULL, &cq, &context), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_get_cq_event(channel, NULL, &context), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_get_cq_event(channel, &cq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_comp_channel_destroy(channel));
	assert_error(doca_verbs_req_notify_cq(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_srq_init_attr_create(&attr));
	assert_error(doca_verbs_srq_create(pair.context, NULL, &(struct doca_verbs_srq *){NULL}),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_create(pair.context, attr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_srq_init_attr_destroy(attr));
	assert_error(doca_verbs_qp_set_ece(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(event.event_type, -1);
	assert_null(none);
	assert_null(pd);
	assert_null(cq);
	assert_null(context);
}

/* rule: VB-refused, VB-null */
static void handles_for_dpas_are_refused(void **state)
{
	struct doca_verbs_qp *qp = pair_create_qp(pair_init_attr());
	doca_dpa_dev_verbs_qp_t handle = 5;

	assert_error(doca_verbs_qp_get_dpa_handle(qp, (void *)&thing, &handle),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_verbs_qp_get_dpa_handle(NULL, (void *)&thing, &handle),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_qp_get_dpa_handle(qp, (void *)&thing, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_get_dpa_handle(NULL, (void *)&thing, &handle),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(handle, 5);
	assert_error(doca_verbs_qp_set_ece(qp, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_verbs_qp_query_ece(qp), 0);
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* --- queues that the program drives ----------------------------------------------------------- */

static struct doca_verbs_cq *create_external_cq(bool large)
{
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_cq *cq = NULL;

	assert_ok(doca_verbs_cq_attr_create(&attr));
	assert_ok(doca_verbs_cq_attr_set_cq_size(attr, 5));
	assert_ok(doca_verbs_cq_attr_set_external_datapath_en(attr, 1));
	assert_ok(doca_verbs_cq_attr_set_cq_overrun(attr, 1));
	if (large)
		assert_ok(doca_verbs_cq_attr_set_entry_size(attr, DOCA_VERBS_CQ_ENTRY_SIZE_128));
	assert_ok(doca_verbs_cq_create(pair.context, attr, &cq));
	assert_ok(doca_verbs_cq_attr_destroy(attr));
	return cq;
}

static void check_memory_of_cq(struct doca_verbs_cq *cq, uint8_t wanted_size)
{
	uint32_t *consumer, *arm, entries;
	uint64_t *doorbell;
	uint8_t size;
	void *memory;

	doca_verbs_cq_get_wq(cq, &memory, &entries, &size);
	doca_verbs_cq_get_dbr_addr(cq, &doorbell, &consumer, &arm);
	assert_non_null(memory);
	assert_true(entries >= 5 && !(entries & (entries - 1)));
	assert_int_equal(size, wanted_size);
	assert_non_null(doorbell);
	assert_ptr_equal(arm, consumer + 1);
}

/* rule: VQ-19, VQ-1, VQ-10 */
static void memory_of_external_queues(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_cq *cq = create_external_cq(false), *large = create_external_cq(true);
	uint32_t sends = 0, receives = 0, size = 0;
	struct ibv_send_wr wr = {0}, *bad;
	void *sq = NULL, *rq = NULL;
	struct doca_verbs_qp *qp;
	struct ibv_wc wc;

	check_memory_of_cq(cq, 64);
	check_memory_of_cq(large, 128);
	assert_ok(doca_verbs_qp_init_attr_set_external_datapath_en(attr, 1));
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, cq));
	assert_ok(doca_verbs_qp_init_attr_set_receive_cq(attr, large));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	doca_verbs_qp_get_wq(qp, &sq, &sends, &rq, &receives, &size);
	assert_non_null(sq);
	assert_non_null(rq);
	assert_true(sends >= PAIR_DEPTH);
	assert_true(receives >= PAIR_DEPTH);
	assert_true(size >= 16);
	assert_non_null(doca_verbs_qp_get_uar_addr(qp));
	assert_non_null(doca_verbs_qp_get_dbr_addr(qp));
	assert_int_not_equal(doca_verbs_bridge_post_send(qp, &wr, &bad), 0);
	assert_true(doca_verbs_bridge_poll_cq(cq, 1, &wc) < 0);
	assert_int_not_equal(doca_verbs_bridge_set_wait_cq_pi_wr(cq, 0, &wr), 0);
	assert_error(doca_verbs_req_notify_cq(cq, 0), DOCA_ERROR_INVALID_VALUE);
	assert_true(pair_connect(qp, qp));
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_ok(doca_verbs_cq_destroy(cq));
	assert_ok(doca_verbs_cq_destroy(large));
}

/* rule: VQ-19, VQ-1, VB-null */
static void memory_of_an_external_srq(void **state)
{
	struct doca_verbs_srq_init_attr *attr;
	struct ibv_recv_wr wr = {0}, *bad;
	uint32_t entries = 0, size = 0;
	struct doca_verbs_srq *srq;
	void *memory = NULL;

	assert_ok(doca_verbs_srq_init_attr_create(&attr));
	assert_ok(doca_verbs_srq_init_attr_set_pd(attr, pair.pd));
	assert_ok(doca_verbs_srq_init_attr_set_srq_wr(attr, 9));
	assert_ok(doca_verbs_srq_init_attr_set_receive_max_sges(attr, 1));
	assert_ok(doca_verbs_srq_init_attr_set_external_datapath_en(attr, 1));
	assert_ok(doca_verbs_srq_create(pair.context, attr, &srq));
	doca_verbs_srq_get_wq(srq, &memory, &entries, &size);
	assert_non_null(memory);
	assert_int_equal(entries, 16);
	assert_true(size >= 32);
	assert_non_null(doca_verbs_srq_get_dbr_addr(srq));
	assert_int_equal(doca_verbs_bridge_post_srq_recv(srq, &wr, &bad), EINVAL);
	assert_error(doca_verbs_srq_query(srq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_verbs_srq_get_dpa_handle(srq, (void *)&thing, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_srq_destroy(srq));
	assert_ok(doca_verbs_srq_init_attr_destroy(attr));
}

/* rule: VQ-19, VB-null */
static void memory_of_other_queues_is_not_the_programs(void **state)
{
	struct doca_verbs_qp *qp = pair_create_qp(pair_init_attr());
	void *sq = &thing, *rq = &thing, *cqes = &thing;
	uint32_t sends = 1, receives = 1, size = 1, *consumer = &size;
	uint64_t *doorbell;

	doca_verbs_qp_get_wq(qp, &sq, &sends, &rq, &receives, &size);
	assert_null(sq);
	assert_null(rq);
	assert_int_equal(sends + receives + size, 0);
	assert_null(doca_verbs_qp_get_uar_addr(qp));
	assert_null(doca_verbs_qp_get_dbr_addr(qp));
	doca_verbs_cq_get_wq(pair.cq, &cqes, &size, NULL);
	assert_null(cqes);
	doca_verbs_cq_get_dbr_addr(pair.cq, &doorbell, &consumer, NULL);
	assert_null(consumer);
	doca_verbs_qp_get_wq(NULL, NULL, NULL, NULL, NULL, NULL);
	doca_verbs_cq_get_wq(NULL, NULL, NULL, NULL);
	doca_verbs_cq_get_dbr_addr(NULL, NULL, NULL, NULL);
	doca_verbs_srq_get_wq(NULL, &sq, NULL, NULL);
	assert_null(doca_verbs_qp_get_uar_addr(NULL));
	assert_null(doca_verbs_srq_get_dbr_addr(NULL));
	assert_int_equal(doca_verbs_qp_get_qpn(NULL), 0);
	assert_int_equal(doca_verbs_cq_get_cqn(NULL), 0);
	assert_int_equal(doca_verbs_srq_get_srqn(NULL), 0);
	doca_verbs_ack_cq_events(NULL, 1);
	assert_int_equal(doca_verbs_comp_channel_get_handle(NULL), -1);
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* --- umems and doorbell pages ----------------------------------------------------------------- */

/* rule: UM-1, UM-2, UM-3 */
static void umem_has_a_number(void **state)
{
	struct doca_umem *umem, *none = NULL;
	uint32_t id = 0, size = 0;
	struct doca_dev *dev;
	void *address;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_umem_create(dev, pair.bytes, PAIR_LEN,
				   LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_WRITE |
					   DOCA_ACCESS_FLAG_RDMA_READ |
					   DOCA_ACCESS_FLAG_RDMA_ATOMIC,
				   &umem));
	assert_ok(doca_umem_get_id(umem, &id));
	assert_ok(doca_umem_get_size(umem, &size));
	assert_ok(doca_umem_get_address(umem, &address));
	assert_int_not_equal(id, 0);
	assert_int_equal(size, PAIR_LEN);
	assert_ptr_equal(address, pair.bytes);
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_umem_destroy(umem));
	assert_error(doca_umem_create(dev, pair.bytes + 64, 64, LOCAL_RW, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_create(dev, pair.bytes, 65, LOCAL_RW, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_create(dev, pair.bytes, 0, LOCAL_RW, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_create(dev, pair.bytes, 64, 1u << 30, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_create(dev, NULL, 64, LOCAL_RW, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_create(NULL, pair.bytes, 64, LOCAL_RW, &none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_dpa_create((void *)&thing, 0, 64, LOCAL_RW, &none),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_umem_gpu_create((void *)&thing, dev, NULL, 64, LOCAL_RW, &none),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(none);
	assert_error(doca_umem_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_get_id(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_get_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_umem_get_address(NULL, &address), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_close(dev));
}

/* A page of this kind; NULL if the device, its driver or libmlx5 lacks it, which tests on hardware report. */
static struct doca_uar *create_page(const struct doca_dev *dev, enum doca_uar_allocation_type kind)
{
	static const char *const names[] = {"write-combining", "non-cached",
					    "dedicated non-cached"};
	struct doca_uar *uar = NULL;
	doca_error_t result = doca_uar_create(dev, kind, &uar);

	print_message("%s doorbell page: %s\n", names[kind], doca_error_get_name(result));
	if (result != DOCA_SUCCESS) {
		assert_error(result, DOCA_ERROR_NOT_SUPPORTED);
		assert_null(uar);
	}
	return uar;
}

static void check_page(const struct doca_uar *uar)
{
	const void *page, *doorbell;
	uint32_t id;

	assert_ok(doca_uar_id_get(uar, &id));
	assert_ok(doca_uar_page_get(uar, &page));
	assert_ok(doca_uar_reg_addr_get(uar, &doorbell));
	assert_non_null(page);
	assert_true((const char *)doorbell - (const char *)page >= 0 &&
		    (const char *)doorbell - (const char *)page < 4096);
}

/* rule: UM-4, UM-5 */
static void doorbell_pages_have_three_kinds(void **state)
{
	struct doca_uar *combining, *plain, *dedicated;
	struct doca_dev *dev;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	combining = create_page(dev, DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME);
	plain = create_page(dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE);
	dedicated = create_page(dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED);
	assert_non_null(plain);
	check_page(plain);
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_uar_destroy(plain));
	/* A machine without write-combining memory has none, such as a virtual one. */
	if (combining) {
		check_page(combining);
		assert_ok(doca_uar_destroy(combining));
	}
	if (dedicated) {
		check_page(dedicated);
		assert_ok(doca_uar_destroy(dedicated));
	}
	assert_ok(doca_dev_close(dev));
}

/* rule: VB-null, UM-3, VB-refused */
static void doorbell_pages_refuse_invalid_arguments(void **state)
{
	struct doca_uar *uar = NULL;
	const void *address;
	struct doca_dev *dev;
	uint32_t id;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_error(doca_uar_create(dev, 3, &uar), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_create(NULL, 0, &uar), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_create(dev, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_dpa_create((void *)&thing, &uar), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(uar);
	assert_error(doca_uar_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_id_get(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_page_get(NULL, &address), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_uar_reg_addr_get(NULL, &address), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		object_test(contexts_are_separate),
		object_test(context_needs_a_file_descriptor),
		object_test(device_of_a_pd_is_the_same_at_each_call),
		object_test(device_of_a_pd_exports_maps),
		object_test(objects_of_an_open_device_are_imported),
		object_test(context_of_a_device_of_libibverbs),
		object_test(handles_are_imported),
		object_test(object_in_use_cannot_be_destroyed),
		object_test(attributes_outlive_objects_or_not),
		object_test(attributes_of_a_qp_must_fit),
		object_test(objects_of_another_context_are_invalid),
		object_test(attributes_of_a_cq_must_fit),
		object_test(attributes_of_an_srq_must_fit),
		object_test(null_is_refused_by_each_function),
		object_test(handles_for_dpas_are_refused),
		object_test(memory_of_external_queues),
		object_test(memory_of_an_external_srq),
		object_test(memory_of_other_queues_is_not_the_programs),
		object_test(umem_has_a_number),
		object_test(doorbell_pages_have_three_kinds),
		object_test(doorbell_pages_refuse_invalid_arguments),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
