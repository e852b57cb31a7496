/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every allocation of the library and every command to the device fails once in the life of verbs objects. Each
 * time, the call returns a documented error and creates nothing; in the end nothing is left. And how a queue is
 * polled, which its users do not see.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include <doca_uar.h>
#include <doca_umem.h>

#include "base/array.h"
#include "faults.h"
#include "pair.h"
#include "verbs/verbs.h"

#define ENDLESS 1000u

/* The objects of a life, each NULL if it does not exist. `pair` has the first ones. */
static struct {
	struct doca_dev *dev;
	struct doca_uar *uar;
	struct doca_umem *umem;
	struct doca_verbs_comp_channel *channel;
	struct doca_verbs_srq *srq;
	struct doca_verbs_device_attr *device_attr;
} life;

static uint8_t *bytes;

static doca_error_t open_context(void)
{
	pair.context = pair_open_context();
	return pair.context ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
}

static doca_error_t create_pd(void)
{
	return doca_verbs_pd_create(pair.context, &pair.pd);
}

static doca_error_t open_dev(void)
{
	return doca_verbs_pd_as_doca_dev(pair.pd, &life.dev);
}

static doca_error_t create_uar(void)
{
	return doca_uar_create(life.dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, &life.uar);
}

static doca_error_t create_umem(void)
{
	return doca_umem_create(life.dev, bytes, PAIR_LEN, LOCAL_RW, &life.umem);
}

static doca_error_t query(void)
{
	return doca_verbs_query_device(pair.context, &life.device_attr);
}

static doca_error_t create_channel(void)
{
	return doca_verbs_comp_channel_create(pair.context, &life.channel);
}

static doca_error_t create_cq(void)
{
	struct doca_verbs_cq_attr *attr;
	doca_error_t result = doca_verbs_cq_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	doca_verbs_cq_attr_set_cq_size(attr, 16);
	doca_verbs_cq_attr_set_comp_channel(attr, life.channel);
	result = doca_verbs_cq_create(pair.context, attr, &pair.cq);
	doca_verbs_cq_attr_destroy(attr);
	return result;
}

static doca_error_t create_srq(void)
{
	struct doca_verbs_srq_init_attr *attr;
	doca_error_t result = doca_verbs_srq_init_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	doca_verbs_srq_init_attr_set_pd(attr, pair.pd);
	doca_verbs_srq_init_attr_set_srq_wr(attr, 8);
	doca_verbs_srq_init_attr_set_receive_max_sges(attr, 1);
	result = doca_verbs_srq_create(pair.context, attr, &life.srq);
	doca_verbs_srq_init_attr_destroy(attr);
	return result;
}

static doca_error_t create_qp(void)
{
	struct doca_verbs_qp_init_attr *attr;
	doca_error_t result = doca_verbs_qp_init_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	doca_verbs_qp_init_attr_set_pd(attr, pair.pd);
	doca_verbs_qp_init_attr_set_send_cq(attr, pair.cq);
	doca_verbs_qp_init_attr_set_receive_cq(attr, pair.cq);
	doca_verbs_qp_init_attr_set_srq(attr, life.srq);
	doca_verbs_qp_init_attr_set_sq_wr(attr, 4);
	doca_verbs_qp_init_attr_set_send_max_sges(attr, 1);
	result = doca_verbs_qp_create(pair.context, attr, &pair.a);
	doca_verbs_qp_init_attr_destroy(attr);
	return result;
}

static doca_error_t move(enum doca_verbs_qp_state to)
{
	struct doca_verbs_ah_attr *ah = pair_create_ah();
	struct doca_verbs_qp_attr *attr = ah ? pair_qp_attr(to, pair.a, ah) : NULL;
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	if (attr)
		result = doca_verbs_qp_modify(pair.a, attr, pair_mask(to));
	doca_verbs_qp_attr_destroy(attr);
	doca_verbs_ah_attr_destroy(ah);
	return result;
}

static doca_error_t connect_qp(void)
{
	doca_error_t result = move(DOCA_VERBS_QP_STATE_INIT);

	if (result == DOCA_SUCCESS)
		result = move(DOCA_VERBS_QP_STATE_RTR);
	if (result == DOCA_SUCCESS)
		result = move(DOCA_VERBS_QP_STATE_RTS);
	return result;
}

static doca_error_t query_qp(void)
{
	struct doca_verbs_qp_init_attr *init = NULL;
	struct doca_verbs_qp_attr *attr = NULL;
	doca_error_t result = doca_verbs_qp_attr_create(&attr);

	if (result == DOCA_SUCCESS)
		result = doca_verbs_qp_init_attr_create(&init);
	if (result == DOCA_SUCCESS)
		result = doca_verbs_qp_query(pair.a, attr, init, NULL);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_verbs_qp_attr_get_next_state(attr), DOCA_VERBS_QP_STATE_RTS);
	doca_verbs_qp_init_attr_destroy(init);
	doca_verbs_qp_attr_destroy(attr);
	return result;
}

static doca_error_t query_srq(void)
{
	struct doca_verbs_srq_init_attr *attr;
	doca_error_t result = doca_verbs_srq_init_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_verbs_srq_query(life.srq, attr);
	if (result == DOCA_SUCCESS)
		assert_ptr_equal(doca_verbs_srq_init_attr_get_pd(attr), pair.pd);
	doca_verbs_srq_init_attr_destroy(attr);
	return result;
}

static doca_error_t post_wait(void)
{
	struct ibv_send_wr wr = {0}, *bad;
	int err;

	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(pair.cq, 0, &wr), 0);
	err = doca_verbs_bridge_post_send(pair.a, &wr, &bad);
	assert_true(!err || err == ENOMEM);
	return err ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS;
}

static doca_error_t (*const steps[])(void) = {
	open_context, create_pd,  open_dev,  create_uar, create_umem, query,	 create_channel,
	create_cq,    create_srq, create_qp, connect_qp, query_qp,    query_srq, post_wait,
};

static doca_error_t live(void)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && result == DOCA_SUCCESS; i++)
		result = steps[i]();
	return result;
}

/* End an object if it exists; if that fails, it still exists, and the next attempt succeeds. */
#define END(object, end)                                                                          \
	do {                                                                                      \
		doca_error_t ended = (object) ? end(object) : DOCA_SUCCESS;                       \
                                                                                                  \
		if (ended != DOCA_SUCCESS) {                                                      \
			assert_true(fault_fired());                                               \
			assert_true(ended == DOCA_ERROR_DRIVER || ended == DOCA_ERROR_BAD_STATE); \
			assert_ok(end(object));                                                   \
		}                                                                                 \
		(object) = NULL;                                                                  \
	} while (0)

static void end_life(void)
{
	END(pair.a, doca_verbs_qp_destroy);
	END(life.srq, doca_verbs_srq_destroy);
	END(pair.cq, doca_verbs_cq_destroy);
	END(life.channel, doca_verbs_comp_channel_destroy);
	END(life.device_attr, doca_verbs_device_attr_free);
	END(life.umem, doca_umem_destroy);
	END(life.uar, doca_uar_destroy);
	END(life.dev, doca_dev_close);
	END(pair.pd, doca_verbs_pd_destroy);
	END(pair.context, doca_verbs_context_destroy);
}

static bool is_documented(doca_error_t error)
{
	return error == DOCA_ERROR_NO_MEMORY || error == DOCA_ERROR_DRIVER ||
	       error == DOCA_ERROR_NOT_CONNECTED || error == DOCA_ERROR_INVALID_VALUE ||
	       error == DOCA_ERROR_NOT_SUPPORTED;
}

static void sweep(enum fault_kind kind, int err)
{
	unsigned int fired = 0, had;
	doca_error_t result;

	for (unsigned int n = 1; n < ENDLESS; n++) {
		had = fault_count_live();
		fault_arm(kind, n, err);
		result = live();
		if (result != DOCA_SUCCESS) {
			assert_true(fault_fired());
			assert_true(is_documented(result));
		}
		end_life();
		if (!fault_fired()) {
			fault_disarm();
			assert_in_range(fired, 3, ENDLESS);
			return;
		}
		fault_disarm();
		fired++;
		assert_int_equal(fault_count_live(), had);
	}
	fail_msg("the life does not end");
}

static void every_allocation_fails_once(void **state)
{
	sweep(FAULT_ALLOC, ENOMEM);
}

static void every_command_fails_once(void **state)
{
	sweep(FAULT_COMMAND, EIO);
	sweep(FAULT_COMMAND, ENOMEM);
}

static void every_end_fails_once(void **state)
{
	sweep(FAULT_DESTROY, EBUSY);
}

/* The queue pair's own completions are dropped, so nothing is kept that needs a lock. */
static void queue_is_polled_without_a_lock_after_a_queue_pair_ended(void **state)
{
	const uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct pair_request request;

	assert_non_null(atomic_load(&pair.cq->verbs.fast));
	assert_int_equal(pair_post(pair.a, pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8)), 0);
	while (!dpumap_verbs_has_completed(&pair.cq->verbs, 0) && monotonic_ms() < limit)
		sched_yield();
	assert_ok(doca_verbs_qp_destroy(pair.a));
	pair.a = NULL;
	assert_non_null(atomic_load(&pair.cq->verbs.fast));
	assert_true(pair_is_empty(pair.cq));
}

static int setup(void **state)
{
	bytes = fixture_memory_create(PAIR_LEN);
	/* What libibverbs keeps. */
	if (!bytes || live() != DOCA_SUCCESS)
		return -1;
	end_life();
	return fixture_count(state);
}

static int teardown(void **state)
{
	fixture_memory_destroy(bytes);
	return fixture_recount(state);
}
#define fault_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		fault_test(every_allocation_fails_once),
		fault_test(every_command_fails_once),
		fault_test(every_end_fails_once),
		pair_test(queue_is_polled_without_a_lock_after_a_queue_pair_ended),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
