/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The bridge: programs that use verbs themselves obtain protection domains and keys from the
 * library, and library devices from their own protection domains.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>
#include <doca_rdma_bridge.h>

#include "device_pd.h"
#include "fixture.h"
#include "rc.h"

#define LEN 8192
#define ALL (LOCAL_RW | PCI_RW | (uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)

static uint8_t memory[LEN];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct doca_dev *own; /* as doca_dev_open() opens it */
static struct doca_dev *dev; /* of pd */
static struct doca_mmap *map;

static struct ibv_context *open_context(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened = NULL;

	if (list && list[0])
		opened = mlx5dv_open_device(list[0], &attr);
	if (list)
		ibv_free_device_list(list);
	return opened;
}

static doca_error_t start_map(void)
{
	doca_error_t result = doca_mmap_create(&map);

	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(map, memory, LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(map, ALL));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(map, own));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(map, dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(map));
	return result;
}

static int open_all(void **state)
{
	if (fixture_count(state) || fixture_open_device(&own) != DOCA_SUCCESS)
		return -1;
	context = open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || doca_rdma_bridge_open_dev_from_pd(pd, &dev) != DOCA_SUCCESS)
		return -1;
	return start_map() == DOCA_SUCCESS ? 0 : -1;
}

static int close_all(void **state)
{
	if (doca_mmap_destroy(map) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS ||
	    doca_dev_close(own) != DOCA_SUCCESS)
		return -1;
	/* Both belong to the program. */
	if (ibv_dealloc_pd(pd) || ibv_close_device(context))
		return -1;
	return fixture_recount(state);
}

static void bridge_functions_need_their_arguments(void **state)
{
	struct doca_dev *other = NULL;
	struct ibv_pd *got = NULL;
	uint32_t key = 0;

	assert_error(doca_rdma_bridge_get_dev_pd(NULL, &got), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_dev_pd(own, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_open_dev_from_pd(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_open_dev_from_pd(pd, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_buf_mkey(NULL, dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_mmap_mkey_from_pd(NULL, pd, &key),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_mmap_mkey_from_pd(map, NULL, &key),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_mmap_mkey_from_pd(map, pd, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(other);
	assert_null(got);
	assert_int_equal(key, 0);
}

static void device_returns_the_pd_that_it_was_opened_from(void **state)
{
	struct ibv_pd *got = NULL;
	struct ibv_mr *mr;

	assert_ok(doca_rdma_bridge_get_dev_pd(own, &got));
	mr = ibv_reg_mr(got, memory, LEN, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_ok(doca_rdma_bridge_get_dev_pd(dev, &got));
	assert_ptr_equal(got, pd);
}

static void pd_of_the_library_is_refused(void **state)
{
	struct doca_dev *other = NULL;
	struct ibv_pd *got;

	assert_ok(doca_rdma_bridge_get_dev_pd(own, &got));
	assert_error(doca_rdma_bridge_open_dev_from_pd(got, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_open_dev_from_pd(pd, &other), DOCA_ERROR_INVALID_VALUE);
	assert_null(other);
}

/* Read the map by its key in a connection of plain verbs in the same protection domain. */
static void read_by_key(const struct doca_dev *of, uint32_t key)
{
	static struct rc rc;

	fixture_fill(memory, LEN, key);
	assert_true(rc_open_loopback(&rc, device_pd(of)));
	assert_int_equal(rc_run(&rc,
				&(struct rc_request){
					.opcode = IBV_WR_RDMA_WRITE,
					.lkey = key,
					.addr = (uintptr_t)memory + 100,
					.len = RC_ACCESS_LEN,
					.rkey = rc.mr->rkey,
					.remote_addr = (uintptr_t)rc.bytes,
				}),
			 IBV_WC_SUCCESS);
	assert_memory_equal(rc.bytes, memory + 100, RC_ACCESS_LEN);
	assert_true(rc_close(&rc));
}

static void key_of_a_map_differs_by_pd(void **state)
{
	struct ibv_pd *got;
	uint32_t key, same;

	assert_ok(doca_rdma_bridge_get_mmap_mkey_from_pd(map, pd, &key));
	assert_ok(doca_mmap_get_mkey(map, dev, &same));
	assert_int_equal(key, same);
	read_by_key(dev, key);
	assert_ok(doca_rdma_bridge_get_dev_pd(own, &got));
	assert_ok(doca_rdma_bridge_get_mmap_mkey_from_pd(map, got, &key));
	assert_int_not_equal(key, same);
	read_by_key(own, key);
}

static void key_of_a_pd_without_the_map_is_not_found(void **state)
{
	struct ibv_pd *other = ibv_alloc_pd(context);
	uint32_t key = 7;

	assert_non_null(other);
	assert_error(doca_rdma_bridge_get_mmap_mkey_from_pd(map, other, &key),
		     DOCA_ERROR_NOT_FOUND);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	assert_ok(doca_mmap_stop(map));
	assert_error(doca_rdma_bridge_get_mmap_mkey_from_pd(map, pd, &key),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(key, 7);
}

static void key_of_a_buf_is_that_of_its_map(void **state)
{
	struct doca_buf_inventory *inventory;
	struct doca_dev *other;
	struct doca_buf *buf;
	struct ibv_pd *second = ibv_alloc_pd(context);
	uint32_t key, same;

	assert_non_null(second);
	assert_ok(doca_rdma_bridge_open_dev_from_pd(second, &other));
	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 64, &buf));
	assert_ok(doca_rdma_bridge_get_buf_mkey(buf, dev, &key));
	assert_ok(doca_mmap_get_mkey(map, dev, &same));
	assert_int_equal(key, same);
	assert_error(doca_rdma_bridge_get_buf_mkey(buf, other, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_buf_mkey(buf, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_get_buf_mkey(buf, dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_dev_close(other));
	assert_int_equal(ibv_dealloc_pd(second), 0);
}

static void device_from_a_pd_cannot_export_or_import(void **state)
{
	struct doca_mmap *import = NULL;
	const void *desc = NULL;
	size_t len = 0;

	assert_error(doca_mmap_export_pci(map, dev, &desc, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_rdma(map, dev, &desc, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(desc);
	assert_ok(doca_mmap_export_pci(map, own, &desc, &len));
	assert_error(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_export_rdma(map, own, &desc, &len));
	assert_error(doca_mmap_create_from_export(NULL, desc, len, dev, &import),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(import);
}

static void device_of_a_pd_is_not_the_one_that_the_library_opens(void **state)
{
	struct doca_dev *again;

	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(fixture_open_device(&again));
	assert_ptr_equal(again, own);
	assert_ok(doca_dev_close(again));
}

/* The library's own copies run in a protection domain of the program too. */
static void copies_run_in_a_programs_domain(void **state)
{
	static uint8_t to[LEN];
	struct fixture bridged = {.dev = dev};
	struct doca_mmap *dst;

	assert_ok(dpumap_dma_create(dev, 4, &bridged.dma));
	assert_ok(doca_mmap_create(&dst));
	assert_ok(doca_mmap_set_memrange(dst, to, LEN));
	assert_ok(doca_mmap_add_dev(dst, dev));
	assert_ok(doca_mmap_start(dst));
	fixture_fill(memory, LEN, 5);
	assert_ok(fixture_copy(&bridged, &(struct fixture_copy){dst, to, map, memory, LEN}));
	assert_memory_equal(to, memory, LEN);
	assert_ok(doca_mmap_destroy(dst));
	assert_ok(dpumap_dma_destroy(bridged.dma));
}

static void count(struct doca_dma_task_memcpy *task, union doca_data task_data,
		  union doca_data ctx_data)
{
	doca_error_t *result = ctx_data.ptr;

	*result = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* Copy LEN bytes from memory to `to`, by one task of a context on the device. */
static doca_error_t run_task(struct doca_dev *on, struct doca_mmap *from, struct doca_mmap *into,
			     uint8_t *to)
{
	doca_error_t result = DOCA_ERROR_AGAIN;
	struct doca_dma_task_memcpy *task;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	struct doca_dma *dma;
	struct doca_pe *pe;

	assert_ok(doca_buf_inventory_create(2, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, from, memory, LEN, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, into, to, LEN, &dst));
	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_dma_create(on, &dma));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, count, count, 1));
	assert_ok(doca_ctx_set_user_data(doca_dma_as_ctx(dma), (union doca_data){.ptr = &result}));
	assert_ok(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_task_memcpy_alloc_init(dma, src, dst, (union doca_data){0}, &task));
	assert_ok(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	while (result == DOCA_ERROR_AGAIN)
		doca_pe_progress(pe);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_pe_destroy(pe));
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	return result;
}

static struct doca_mmap *start_on(struct doca_dev *on, uint8_t *bytes)
{
	struct doca_mmap *started;

	assert_ok(doca_mmap_create(&started));
	assert_ok(doca_mmap_set_memrange(started, bytes, LEN));
	assert_ok(doca_mmap_add_dev(started, on));
	assert_ok(doca_mmap_start(started));
	return started;
}

static void tasks_copy_in_a_programs_domain(void **state)
{
	static uint8_t to[LEN];
	struct doca_mmap *dst = start_on(dev, to), *elsewhere = start_on(own, to);

	fixture_fill(memory, LEN, 6);
	assert_ok(run_task(dev, map, dst, to));
	assert_memory_equal(to, memory, LEN);
	/*
	 * A map is known only to the devices that were added to it, even if they share the
	 * hardware.
	 */
	assert_error(run_task(dev, map, elsewhere, to), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_destroy(dst));
	assert_ok(doca_mmap_destroy(elsewhere));
}

/* It also works if the program did not ask for DEVX. */
static void tasks_copy_in_a_plain_programs_domain(void **state)
{
	static uint8_t to[LEN];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *plain = ibv_open_device(list[0]);
	struct ibv_pd *plain_pd = ibv_alloc_pd(plain);
	struct doca_mmap *src, *dst;
	struct doca_dev *on;

	ibv_free_device_list(list);
	assert_ok(doca_rdma_bridge_open_dev_from_pd(plain_pd, &on));
	src = start_on(on, memory);
	dst = start_on(on, to);
	fixture_fill(memory, LEN, 7);
	assert_ok(run_task(on, src, dst, to));
	assert_memory_equal(to, memory, LEN);
	assert_ok(doca_mmap_destroy(src));
	assert_ok(doca_mmap_destroy(dst));
	assert_ok(doca_dev_close(on));
	assert_int_equal(ibv_dealloc_pd(plain_pd), 0);
	assert_int_equal(ibv_close_device(plain), 0);
}

#define bridge_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bridge_test(bridge_functions_need_their_arguments),
		bridge_test(device_returns_the_pd_that_it_was_opened_from),
		bridge_test(pd_of_the_library_is_refused),
		bridge_test(key_of_a_map_differs_by_pd),
		bridge_test(key_of_a_pd_without_the_map_is_not_found),
		bridge_test(key_of_a_buf_is_that_of_its_map),
		bridge_test(device_from_a_pd_cannot_export_or_import),
		bridge_test(device_of_a_pd_is_not_the_one_that_the_library_opens),
		bridge_test(copies_run_in_a_programs_domain),
		bridge_test(tasks_copy_in_a_programs_domain),
		bridge_test(tasks_copy_in_a_plain_programs_domain),
	};

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
