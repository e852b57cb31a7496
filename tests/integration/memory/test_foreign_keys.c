/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Objects of others and former objects: keys of other protection domains, stale keys, keys with
 * fewer rights, and the handles and numbers of another client are refused, with the completion or
 * the errno of a real device.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "rc.h"
#include "uverbs.h"

#define FOREIGN 4096

static struct ibv_context *context;
static struct ibv_pd *own, *other;
static struct rc rc;
static uint8_t *bytes;

static int open_all(void **state)
{
	if (fixture_count(state))
		return -1;
	bytes = fixture_memory_create(FOREIGN);
	context = fixture_open_context();
	own = context ? ibv_alloc_pd(context) : NULL;
	other = own ? ibv_alloc_pd(context) : NULL;
	if (!bytes || !other || !rc_open_loopback(&rc, own))
		return -1;
	fixture_fill(bytes, FOREIGN, 3);
	return 0;
}

static int close_all(void **state)
{
	bool ok = rc_close(&rc) && !ibv_dealloc_pd(other) && !ibv_dealloc_pd(own) &&
		  !ibv_close_device(context);

	fixture_memory_destroy(bytes);
	return ok ? fixture_recount(state) : -1;
}

/* A refused request fails the connection and moves nothing. */
static void assert_refused(int status, int wanted)
{
	uint8_t intact[FOREIGN];

	assert_int_equal(status, wanted);
	fixture_fill(intact, sizeof(intact), 3);
	assert_memory_equal(bytes, intact, sizeof(intact));
	assert_true(rc_reconnect(&rc));
}

static void assert_key_refused(uint32_t key)
{
	assert_refused(rc_read(&rc, key, (uintptr_t)bytes, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_write(&rc, key, (uintptr_t)bytes, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_gather(&rc, key, (uintptr_t)bytes, 64), IBV_WC_LOC_PROT_ERR);
}

/* For local and for remote use. */
static uint32_t key_of(const struct ibv_mr *mr)
{
	return mr ? mr->rkey : 0;
}

static void key_of_another_domain_is_refused(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(other, bytes, FOREIGN, RC_ALL);

	assert_non_null(mr);
	assert_key_refused(key_of(mr));
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void key_of_another_client_is_refused(void **state)
{
	struct ibv_context *client = fixture_open_context();
	struct ibv_pd *pd = client ? ibv_alloc_pd(client) : NULL;
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, bytes, FOREIGN, RC_ALL) : NULL;

	assert_non_null(mr);
	assert_key_refused(key_of(mr));
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	ibv_close_device(client);
}

static void key_that_no_longer_exists_is_refused(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(own, bytes, FOREIGN, RC_ALL);
	uint32_t key;

	assert_non_null(mr);
	key = key_of(mr);
	assert_int_equal(rc_gather(&rc, key, (uintptr_t)bytes, 64), IBV_WC_SUCCESS);
	assert_key_refused(key ^ 1);	  /* of a former use of the entry */
	assert_key_refused(key + 0x4000); /* an entry that is not in use */
	assert_key_refused(0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_key_refused(key);
}

/* The key no longer belongs to its first domain. */
static void key_that_moved_to_another_domain_is_refused(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(own, bytes, FOREIGN, RC_ALL);

	assert_non_null(mr);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0);
	assert_key_refused(key_of(mr));
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, own, NULL, 0, 0), 0);
	assert_int_equal(rc_gather(&rc, key_of(mr), (uintptr_t)bytes, 64), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void key_is_valid_for_its_rights_and_range_only(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(own, bytes, FOREIGN, IBV_ACCESS_REMOTE_READ);
	uint64_t at = (uintptr_t)bytes;

	assert_non_null(mr);
	assert_int_equal(rc_read(&rc, key_of(mr), at, 64), IBV_WC_SUCCESS);
	assert_refused(rc_write(&rc, key_of(mr), at, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_read(&rc, key_of(mr), at - 1, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_read(&rc, key_of(mr), at + FOREIGN - 63, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_read(&rc, mr->rkey, UINT64_MAX - 10, 64), IBV_WC_REM_ACCESS_ERR);
	assert_refused(rc_gather(&rc, key_of(mr), at + FOREIGN - 63, 64), IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* --- another client's handles and numbers ----------------------------------------------------- */

static int query_pd(int fd, uint32_t pd, uint32_t *pdn)
{
	union command c;

	begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	add(&c, MLX5_IB_ATTR_QUERY_PD_HANDLE, 0, pd);
	add_buf(&c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pdn, sizeof(*pdn));
	return issue(fd, &c);
}

/* Handles belong to a client, so one client creates more objects than the other. */
static void handles_of_another_client_are_not_found(void **state)
{
	int mine = open_context(), theirs = open_context(), i;
	uint32_t pd = 0, first = 0, pdn = 0;
	union command c;

	assert_int_equal(alloc_pd(mine, &first), 0);
	for (i = 0; i < 40; i++)
		assert_int_equal(alloc_pd(theirs, &pd), 0);
	assert_int_equal(query_pd(mine, pd, &pdn), ENOENT);
	assert_int_equal(dealloc_pd(mine, pd), ENOENT);
	begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);
	add(&c, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, first);
	assert_int_equal(issue(mine, &c), EINVAL);
	assert_int_equal(query_pd(theirs, pd, &pdn), 0);
	assert_int_equal(dealloc_pd(theirs, pd), 0);
	assert_int_equal(dealloc_pd(theirs, pd), ENOENT);
	close(mine);
	close(theirs);
}

#define CREATE_MKEY    0x0200
#define MKEY_BYTES     0x120
#define STATUS_BAD_RES 0x5

/*
 * Create an mkey over another one of the whole address space, in a domain; returns 0, or the
 * firmware's status.
 */
static int create_mkey(int fd, uint32_t pdn)
{
	uint8_t in[MKEY_BYTES] = {CREATE_MKEY >> 8, CREATE_MKEY & 0xff}, out[16] = {0};
	uint8_t *mkc = in + 16;
	union command c;
	int err;

	mkc[2] = 0x3c | 3; /* all rights, KSM */
	mkc[7] = 0x42;
	mkc[0xd] = (uint8_t)(pdn >> 16);
	mkc[0xe] = (uint8_t)(pdn >> 8);
	mkc[0xf] = (uint8_t)pdn;
	mkc[0x1e] = 0x10; /* length 4096 */
	mkc[0x37] = 1;	  /* translations */
	mkc[0x3b] = 12;
	in[0x63] = 1;
	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	add(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, sizeof(in));
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, sizeof(out));
	err = issue(fd, &c);
	return err == EREMOTEIO ? out[0] : -err;
}

static void domain_number_of_another_client_is_refused(void **state)
{
	int mine = open_context(), theirs = open_context();
	uint32_t my_pd = 0, their_pd = 0, my_pdn = 0, their_pdn = 0;

	assert_int_equal(alloc_pd(mine, &my_pd), 0);
	assert_int_equal(alloc_pd(theirs, &their_pd), 0);
	assert_int_equal(query_pd(mine, my_pd, &my_pdn), 0);
	assert_int_equal(query_pd(theirs, their_pd, &their_pdn), 0);
	assert_int_not_equal(my_pdn, their_pdn);
	assert_int_equal(create_mkey(mine, their_pdn), STATUS_BAD_RES);
	assert_int_equal(create_mkey(mine, my_pdn), 0);
	assert_int_equal(dealloc_pd(mine, my_pd), 0);
	assert_int_equal(create_mkey(mine, my_pdn), STATUS_BAD_RES);
	close(mine);
	close(theirs);
}

#define ALL(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ALL(key_of_another_domain_is_refused),
		ALL(key_of_another_client_is_refused),
		ALL(key_that_no_longer_exists_is_refused),
		ALL(key_that_moved_to_another_domain_is_refused),
		ALL(key_is_valid_for_its_rights_and_range_only),
		counted_test(handles_of_another_client_are_not_found),
		counted_test(domain_number_of_another_client_is_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
