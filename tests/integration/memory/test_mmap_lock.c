/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * With thread safety each call takes the lock of its map once and releases it, whatever it returns. The
 * linker's --wrap shows the calls of the library.
 */
#include <errno.h>
#include <pthread.h>

#include <doca_mmap.h>
#include <dpumap/dm.h>
#include <dpumap/mmap.h>
#include <dpumap/umem.h>

#include "base/array.h"
#include "faults.h"
#include "fixture.h"

#define DM_LEN 4096u

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);

static uint8_t memory[4096];
static struct doca_dev *dev;
static struct doca_mmap *map;
static struct dpumap_dm *dm;
static struct dpumap_umem *umem;
static const pthread_mutex_t *lock; /* the map's, which was initialized last */
static unsigned int locked, unlocked, destroyed;
static int init_error;

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	lock = mutex;
	return init_error ? init_error : __real_pthread_mutex_init(mutex, attr);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	locked += mutex == lock;
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	unlocked += mutex == lock;
	return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	destroyed += mutex == lock;
	return __real_pthread_mutex_destroy(mutex);
}

static const union doca_data data = {.u64 = 7};
static doca_dpa_dev_mmap_t handle;
static union doca_data found;
static uint32_t number;
static const void *desc;
static uint8_t flag;
static size_t len;
static void *addr;

#define CALLS(CALL)                                                                              \
	CALL(set_permissions, doca_mmap_set_permissions(map, LOCAL_RW))                          \
	CALL(set_free_cb, doca_mmap_set_free_cb(map, NULL, NULL))                                \
	CALL(set_user_data, doca_mmap_set_user_data(map, data))                                  \
	CALL(set_max_num_devices, doca_mmap_set_max_num_devices(map, 4))                         \
	CALL(add_dev, doca_mmap_add_dev(map, dev))                                               \
	CALL(rm_dev, doca_mmap_rm_dev(map, dev))                                                 \
	CALL(set_token, doca_mmap_set_export_access_token(map, dev, memory, 1))                  \
	CALL(set_memrange, doca_mmap_set_memrange(map, memory, sizeof(memory)))                  \
	CALL(set_dm_memrange, dpumap_mmap_set_dm_memrange(map, dm, 0, 1))                        \
	CALL(set_umem_memrange, dpumap_mmap_set_umem_memrange(map, umem, 0, 1))                  \
	CALL(set_dmabuf_memrange, doca_mmap_set_dmabuf_memrange(map, 0, memory, 0, 1))           \
	CALL(set_dpa_memrange, doca_mmap_set_dpa_memrange(map, (struct doca_dpa *)memory, 0, 1)) \
	CALL(start_map, doca_mmap_start(map))                                                    \
	CALL(revoke_pci, dpumap_mmap_revoke_pci(map, dev))                                       \
	CALL(export_pci, doca_mmap_export_pci(map, dev, &desc, &len))                            \
	CALL(export_rdma, doca_mmap_export_rdma(map, dev, &desc, &len))                          \
	CALL(get_mkey, doca_mmap_get_mkey(map, dev, &number))                                    \
	CALL(get_dpa_handle, doca_mmap_dev_get_dpa_handle(map, dev, &handle))                    \
	CALL(get_memrange, doca_mmap_get_memrange(map, &addr, &len))                             \
	CALL(get_user_data, doca_mmap_get_user_data(map, &found))                                \
	CALL(get_max_num_devices, doca_mmap_get_max_num_devices(map, &number))                   \
	CALL(get_num_bufs, doca_mmap_get_num_bufs(map, &number))                                 \
	CALL(get_exported, doca_mmap_get_exported(map, &flag))                                   \
	CALL(get_from_export, doca_mmap_get_from_export(map, &flag))                             \
	CALL(stop_map, doca_mmap_stop(map))

#define DEFINE(name, call)             \
	static doca_error_t name(void) \
	{                              \
		return call;           \
	}
CALLS(DEFINE)

#define ENTRY(name, call) {#name, name},
static const struct {
	const char *name;
	doca_error_t (*call)(void);
} calls[] = {CALLS(ENTRY)};

static void each_call_holds_the_lock(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		locked = unlocked = 0;
		calls[i].call();
		if (locked != 1 || unlocked != 1)
			fail_msg("%s locks %u times, and unlocks %u times", calls[i].name, locked,
				 unlocked);
	}
}

static void lock_is_enabled_once_and_ends_with_the_map(void **state)
{
	struct doca_mmap *other;
	const pthread_mutex_t *own;

	assert_error(doca_mmap_enable_thread_safety(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&other));
	assert_ok(doca_mmap_enable_thread_safety(other));
	own = lock;
	assert_ok(doca_mmap_enable_thread_safety(other));
	assert_ptr_equal(lock, own);
	destroyed = 0;
	assert_ok(doca_mmap_destroy(other));
	assert_int_equal(destroyed, 1);
}

static void map_without_a_lock_stays_without(void **state)
{
	unsigned int live = fault_count_live();
	struct doca_mmap *plain;

	assert_ok(doca_mmap_create(&plain));
	init_error = EAGAIN;
	assert_error(doca_mmap_enable_thread_safety(plain), DOCA_ERROR_OPERATING_SYSTEM);
	init_error = 0;
	assert_ok(doca_mmap_set_user_data(plain, data));
	assert_ok(doca_mmap_destroy(plain));
	assert_int_equal(fault_count_live(), live);
}

static int open_all(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	assert_ok(dpumap_dm_alloc(dev, DM_LEN, 0, &dm));
	assert_ok(dpumap_umem_register(dev, memory, sizeof(memory), LOCAL_RW, &umem));
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_enable_thread_safety(map));
	return 0;
}

static int close_all(void **state)
{
	assert_ok(doca_mmap_destroy(map));
	assert_ok(dpumap_umem_deregister(umem));
	assert_ok(dpumap_dm_free(dm));
	assert_ok(doca_dev_close(dev));
	return fixture_recount(state);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_call_holds_the_lock, open_all, close_all),
		cmocka_unit_test_setup_teardown(lock_is_enabled_once_and_ends_with_the_map,
						open_all, close_all),
		cmocka_unit_test_setup_teardown(map_without_a_lock_stays_without, open_all,
						close_all),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
