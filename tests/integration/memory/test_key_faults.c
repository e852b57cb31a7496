/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a map creates on demand: keys for peers and for callers, and the lock. Each allocation and
 * each command of each step fails once; the step then works when called again, and no object is
 * left.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dpumap/mmap.h>

#include "base/array.h"
#include "faults.h"
#include "tasks.h"

#define LEN    8192
#define NAME   ((void *)(uintptr_t)0x7000000033)
#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)

enum kind { MEMORY, DEVICE_MEMORY, DMABUF };

static struct dpumap_dm *dm;
static int memfd;
static uint8_t memory[LEN];
static unsigned int swept;

struct life {
	struct doca_mmap *map;
	struct doca_mmap *import;
};

static int open_all(void **state)
{
	if (fixture_setup(state))
		return -1;
	if (dpumap_dm_alloc(fixture.dev, LEN, 0, &dm) != DOCA_SUCCESS)
		return -1;
	memfd = memfd_create("dma-buf", MFD_CLOEXEC);
	return memfd < 0 ? -1 : ftruncate(memfd, LEN);
}

static int close_all(void **state)
{
	close(memfd);
	if (dpumap_dm_free(dm) != DOCA_SUCCESS)
		return -1;
	return fixture_teardown(state);
}

static void create(struct life *life, enum kind kind)
{
	*life = (struct life){0};
	assert_ok(doca_mmap_create(&life->map));
	if (kind == MEMORY)
		assert_ok(doca_mmap_set_memrange(life->map, memory, LEN));
	else if (kind == DEVICE_MEMORY)
		assert_ok(dpumap_mmap_set_dm_memrange(life->map, dm, 0, LEN));
	else
		assert_ok(doca_mmap_set_dmabuf_memrange(life->map, memfd, NAME, 0, LEN));
	/*
	 * Peers may read and the card may write, so no single key has exactly the rights of either.
	 */
	assert_ok(doca_mmap_set_permissions(life->map, PCI_RW | RDMA_R));
	assert_ok(doca_mmap_add_dev(life->map, fixture.dev));
}

static void destroy(struct life *life)
{
	if (life->import)
		assert_ok(doca_mmap_destroy(life->import));
	assert_ok(doca_mmap_destroy(life->map));
}

static doca_error_t enable_thread_safety(struct life *life)
{
	return doca_mmap_enable_thread_safety(life->map);
}

static doca_error_t start(struct life *life)
{
	return doca_mmap_start(life->map);
}

static doca_error_t export_rdma(struct life *life)
{
	const void *desc;
	size_t len;

	return doca_mmap_export_rdma(life->map, fixture.dev, &desc, &len);
}

static doca_error_t export_pci(struct life *life)
{
	const void *desc;
	size_t len;

	return doca_mmap_export_pci(life->map, fixture.dev, &desc, &len);
}

static doca_error_t get_mkey(struct life *life)
{
	uint32_t key;

	return doca_mmap_get_mkey(life->map, fixture.dev, &key);
}

static doca_error_t import(struct life *life)
{
	const void *desc;
	size_t len;
	doca_error_t result = doca_mmap_export_rdma(life->map, fixture.dev, &desc, &len);

	if (result != DOCA_SUCCESS)
		return result;
	return doca_mmap_create_from_export(NULL, desc, len, fixture.dev, &life->import);
}

typedef doca_error_t (*step_fn)(struct life *life);
static const step_fn steps[] = {enable_thread_safety, start, export_rdma, get_mkey, import};
#define STEPS ARRAY_SIZE(steps)

static bool is_documented(doca_error_t result, enum fault_kind fault)
{
	return result == DOCA_ERROR_NO_MEMORY ||
	       (fault == FAULT_COMMAND && result == DOCA_ERROR_DRIVER);
}

/* Returns false when the step has no n-th event. */
static bool fail_once(enum kind kind, size_t step, enum fault_kind fault, unsigned int n, int err)
{
	struct life life;
	doca_error_t result;
	bool fired;

	create(&life, kind);
	for (size_t i = 0; i < step; i++)
		assert_ok(steps[i](&life));
	fault_arm(fault, n, err);
	result = steps[step](&life);
	fired = fault_fired();
	fault_disarm();
	if (fired) {
		assert_true(is_documented(result, fault));
		assert_ok(steps[step](&life));
		swept++;
	} else {
		assert_ok(result);
	}
	destroy(&life);
	return fired;
}

static void sweep(enum kind kind, enum fault_kind fault, int err)
{
	struct objects before;
	unsigned int live;

	assert_true(objects_read(&before));
	live = fault_count_live();
	for (size_t step = 0; step < STEPS; step++)
		for (unsigned int n = 1; fail_once(kind, step, fault, n, err); n++)
			assert_true(n < 100);
	assert_int_equal(fault_count_live(), live);
	assert_true(objects_wait(&before));
}

static void sweep_all(enum kind kind)
{
	static const int errors[] = {EIO, ENOMEM, EREMOTEIO};

	swept = 0;
	sweep(kind, FAULT_ALLOC, ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		sweep(kind, FAULT_COMMAND, errors[i]);
	print_message("%u points swept\n", swept);
	assert_true(swept > 0);
}

static void each_failure_with_memory_leaves_no_key(void **state)
{
	sweep_all(MEMORY);
}

static void each_failure_with_device_memory_leaves_no_key(void **state)
{
	sweep_all(DEVICE_MEMORY);
}

static void each_failure_with_a_dmabuf_leaves_no_key(void **state)
{
	sweep_all(DMABUF);
}

/*
 * A device that fails to destroy: the map reports it, exports nothing more, and can be stopped
 * later.
 */
static bool stop_fails_once(enum kind kind, unsigned int n)
{
	struct fixture_copy copy = {.len = 1};
	struct life life;
	doca_error_t result;
	size_t len;
	bool fired;

	create(&life, kind);
	for (size_t i = 0; i < STEPS; i++)
		assert_ok(steps[i](&life));
	fault_arm(FAULT_DESTROY, n, EIO);
	result = doca_mmap_stop(life.map);
	fired = fault_fired();
	fault_disarm();
	if (!fired) {
		assert_ok(result);
		destroy(&life);
		return false;
	}
	assert_error(result, DOCA_ERROR_NOT_PERMITTED);
	assert_error(export_rdma(&life), DOCA_ERROR_NOT_PERMITTED);
	assert_error(export_pci(&life), DOCA_ERROR_NOT_PERMITTED);
	assert_error(dpumap_mmap_revoke_pci(life.map, fixture.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(get_mkey(&life), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_get_memrange(life.map, &copy.dst_addr, &len));
	copy.dst = life.map;
	copy.src = life.map;
	copy.src_addr = copy.dst_addr;
	assert_error(fixture_copy(&fixture, &copy), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_stop(life.map));
	assert_ok(doca_mmap_start(life.map));
	assert_ok(export_rdma(&life));
	destroy(&life);
	return true;
}

static void a_stop_that_failed_in_part_can_be_repeated(void **state)
{
	static const enum kind kinds[] = {MEMORY, DEVICE_MEMORY, DMABUF};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned int n = 1;

		while (stop_fails_once(kinds[i], n))
			n++;
		assert_true(n > 2);
	}
}

/* The registration exists, but no task may use it. */
static void a_task_after_a_stop_that_failed_in_part_is_bad_state(void **state)
{
	struct doca_buf *src, *dst = tasks_room(0, LEN);
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, memory, LEN));
	assert_ok(doca_mmap_add_dev(map, tasks.dev));
	/* So it can stop although it has a buf. */
	assert_ok(doca_mmap_enable_thread_safety(map));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, map, memory, LEN, &src));
	fault_arm(FAULT_DESTROY, 1, EIO);
	assert_error(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	fault_disarm();
	tasks_start();
	tasks_submit(tasks_alloc(src, dst, 0));
	tasks_wait(1);
	assert_error(tasks.last_error, DOCA_ERROR_BAD_STATE);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(map));
}

#define faults_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		faults_test(each_failure_with_memory_leaves_no_key),
		faults_test(each_failure_with_device_memory_leaves_no_key),
		faults_test(each_failure_with_a_dmabuf_leaves_no_key),
		faults_test(a_stop_that_failed_in_part_can_be_repeated),
		task_test(a_task_after_a_stop_that_failed_in_part_is_bad_state),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
