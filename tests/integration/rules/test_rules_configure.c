/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What configures a map, in each of its states. */
#include <sys/mman.h>
#include <unistd.h>

#include "rules.h"

static void assert_range_setters(struct doca_mmap *mmap, doca_error_t one, doca_error_t other)
{
	struct doca_dpa *dpa = (void *)rules.memory; /* never looked into */
	int fd = memfd_create("range", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_either(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN), one, other);
	assert_either(doca_mmap_set_dmabuf_memrange(mmap, fd, rules.memory, 0, RULES_LEN), one,
		      other);
	assert_either(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, RULES_LEN), one, other);
	close(fd);
}

/* rule: T-2.4-set_memrange-NEW */
static void set_memrange_on_new_map_succeeds(void **state)
{
	struct doca_mmap *mmap = rules_blank();

	(void)state;
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_range_setters(mmap, DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_memrange-STARTED, M-RNG-3 */
static void set_memrange_on_started_map_is_refused(void **state)
{
	(void)state;
	assert_range_setters(rules_map(STARTED), DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_memrange-EXPORTED, M-RNG-5 */
static void set_memrange_on_exported_map_is_refused(void **state)
{
	(void)state;
	assert_range_setters(rules_map(EXPORTED), DOCA_ERROR_BAD_STATE, DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_memrange-STOPPED, M-RNG-4 */
static void set_memrange_on_stopped_map_is_not_permitted(void **state)
{
	(void)state;
	assert_range_setters(rules_map(STOPPED), DOCA_ERROR_NOT_PERMITTED,
			     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_memrange-IMPORTED, M-RNG-5, M-IMP-9 */
static void set_memrange_on_imported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_range_setters(rules_map(IMPORTED), DOCA_ERROR_NOT_PERMITTED,
			     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_permissions-NEW */
static void set_permissions_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_set_permissions(rules_map(NEW), LOCAL_RW));
}

/* rule: T-2.4-set_permissions-STARTED, M-PER-3 */
static void set_permissions_on_started_map_is_bad_state(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_permissions(rules_map(STARTED), LOCAL_RW), DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_permissions-EXPORTED */
static void set_permissions_on_exported_map_is_bad_state(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_permissions(rules_map(EXPORTED), LOCAL_RW),
		     DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_permissions-STOPPED */
static void set_permissions_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_set_permissions(rules_map(STOPPED), LOCAL_RW));
}

/* rule: T-2.4-set_permissions-IMPORTED */
static void set_permissions_on_imported_map_is_refused(void **state)
{
	(void)state;
	assert_either(doca_mmap_set_permissions(rules_map(IMPORTED), LOCAL_RW),
		      DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_user_data-NEW */
static void set_user_data_on_new_map_succeeds(void **state)
{
	union doca_data word = {.u64 = 5};

	(void)state;
	assert_ok(doca_mmap_set_user_data(rules_map(NEW), word));
}

/* rule: T-2.4-set_user_data-STARTED, M-USR-1 */
static void set_user_data_on_started_map_is_bad_state(void **state)
{
	union doca_data word = {.u64 = 5};

	(void)state;
	assert_error(doca_mmap_set_user_data(rules_map(STARTED), word), DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_user_data-EXPORTED */
static void set_user_data_on_exported_map_is_bad_state(void **state)
{
	union doca_data word = {.u64 = 5};

	(void)state;
	assert_error(doca_mmap_set_user_data(rules_map(EXPORTED), word), DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_user_data-STOPPED */
static void set_user_data_on_stopped_map_succeeds(void **state)
{
	union doca_data word = {.u64 = 5};

	(void)state;
	assert_ok(doca_mmap_set_user_data(rules_map(STOPPED), word));
}

/* rule: T-2.4-set_user_data-IMPORTED */
static void set_user_data_on_imported_map_is_refused(void **state)
{
	union doca_data word = {.u64 = 5};

	(void)state;
	assert_either(doca_mmap_set_user_data(rules_map(IMPORTED), word), DOCA_ERROR_NOT_PERMITTED,
		      DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_free_cb-NEW */
static void set_free_cb_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_set_free_cb(rules_map(NEW), NULL, NULL));
}

/* rule: T-2.4-set_free_cb-STARTED, M-FCB-1 */
static void set_free_cb_on_started_map_is_bad_state(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_free_cb(rules_map(STARTED), NULL, NULL), DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_free_cb-EXPORTED */
static void set_free_cb_on_exported_map_is_bad_state(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_free_cb(rules_map(EXPORTED), NULL, NULL), DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_free_cb-STOPPED */
static void set_free_cb_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_set_free_cb(rules_map(STOPPED), NULL, NULL));
}

/* rule: T-2.4-set_free_cb-IMPORTED */
static void set_free_cb_on_imported_map_is_refused(void **state)
{
	(void)state;
	assert_either(doca_mmap_set_free_cb(rules_map(IMPORTED), NULL, NULL),
		      DOCA_ERROR_NOT_PERMITTED, DOCA_ERROR_BAD_STATE);
}

/* rule: T-2.4-set_max_num_devices-NEW */
static void set_max_num_devices_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_set_max_num_devices(rules_map(NEW), 4));
}

/* rule: T-2.4-set_max_num_devices-STARTED, M-MAX-1 */
static void set_max_num_devices_on_started_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_max_num_devices(rules_map(STARTED), 4),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_max_num_devices-EXPORTED */
static void set_max_num_devices_on_exported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_max_num_devices(rules_map(EXPORTED), 4),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_max_num_devices-STOPPED, M-MAX-1 */
static void set_max_num_devices_on_stopped_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_max_num_devices(rules_map(STOPPED), 4),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-set_max_num_devices-IMPORTED */
static void set_max_num_devices_on_imported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_set_max_num_devices(rules_map(IMPORTED), 4),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-add_dev-NEW */
static void add_dev_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_add_dev(rules_map(NEW), rules.second));
}

/* rule: T-2.4-add_dev-STARTED, M-ADD-2 */
static void add_dev_on_started_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_add_dev(rules_map(STARTED), rules.second), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-add_dev-EXPORTED, M-ADD-3 */
static void add_dev_on_exported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_add_dev(rules_map(EXPORTED), rules.second),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-add_dev-STOPPED */
static void add_dev_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_add_dev(rules_map(STOPPED), rules.second));
}

/* rule: T-2.4-add_dev-IMPORTED, M-ADD-3 */
static void add_dev_on_imported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_add_dev(rules_map(IMPORTED), rules.second),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-rm_dev-NEW */
static void rm_dev_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_rm_dev(rules_map(NEW), rules.rig.dev));
}

/* rule: T-2.4-rm_dev-STARTED, M-RMD-3, M-RMD-6 */
static void rm_dev_on_started_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_rm_dev(rules_map(STARTED), rules.rig.dev), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-rm_dev-EXPORTED, M-RMD-3 */
static void rm_dev_on_exported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_rm_dev(rules_map(EXPORTED), rules.rig.dev),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-rm_dev-STOPPED, M-RMD-5 */
static void rm_dev_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_rm_dev(rules_map(STOPPED), rules.rig.dev));
}

/* rule: T-2.4-rm_dev-IMPORTED, M-RMD-3 */
static void rm_dev_on_imported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_rm_dev(rules_map(IMPORTED), rules.rig.dev),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-enable_thread_safety-NEW */
static void enable_thread_safety_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_enable_thread_safety(rules_map(NEW)));
}

/* rule: T-2.4-enable_thread_safety-STARTED, M-THR-2 */
static void enable_thread_safety_on_started_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_enable_thread_safety(rules_map(STARTED)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-enable_thread_safety-EXPORTED */
static void enable_thread_safety_on_exported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_enable_thread_safety(rules_map(EXPORTED)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-enable_thread_safety-STOPPED */
static void enable_thread_safety_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_enable_thread_safety(rules_map(STOPPED)));
}

/* rule: T-2.4-enable_thread_safety-IMPORTED, M-THR-6 */
static void enable_thread_safety_on_imported_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_enable_thread_safety(rules_map(IMPORTED)));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(set_memrange_on_new_map_succeeds),
		rule_test(set_memrange_on_started_map_is_refused),
		rule_test(set_memrange_on_exported_map_is_refused),
		rule_test(set_memrange_on_stopped_map_is_not_permitted),
		rule_test(set_memrange_on_imported_map_is_not_permitted),
		rule_test(set_permissions_on_new_map_succeeds),
		rule_test(set_permissions_on_started_map_is_bad_state),
		rule_test(set_permissions_on_exported_map_is_bad_state),
		rule_test(set_permissions_on_stopped_map_succeeds),
		rule_test(set_permissions_on_imported_map_is_refused),
		rule_test(set_user_data_on_new_map_succeeds),
		rule_test(set_user_data_on_started_map_is_bad_state),
		rule_test(set_user_data_on_exported_map_is_bad_state),
		rule_test(set_user_data_on_stopped_map_succeeds),
		rule_test(set_user_data_on_imported_map_is_refused),
		rule_test(set_free_cb_on_new_map_succeeds),
		rule_test(set_free_cb_on_started_map_is_bad_state),
		rule_test(set_free_cb_on_exported_map_is_bad_state),
		rule_test(set_free_cb_on_stopped_map_succeeds),
		rule_test(set_free_cb_on_imported_map_is_refused),
		rule_test(set_max_num_devices_on_new_map_succeeds),
		rule_test(set_max_num_devices_on_started_map_is_not_permitted),
		rule_test(set_max_num_devices_on_exported_map_is_not_permitted),
		rule_test(set_max_num_devices_on_stopped_map_is_not_permitted),
		rule_test(set_max_num_devices_on_imported_map_is_not_permitted),
		rule_test(add_dev_on_new_map_succeeds),
		rule_test(add_dev_on_started_map_is_not_permitted),
		rule_test(add_dev_on_exported_map_is_not_permitted),
		rule_test(add_dev_on_stopped_map_succeeds),
		rule_test(add_dev_on_imported_map_is_not_permitted),
		rule_test(rm_dev_on_new_map_succeeds),
		rule_test(rm_dev_on_started_map_is_not_permitted),
		rule_test(rm_dev_on_exported_map_is_not_permitted),
		rule_test(rm_dev_on_stopped_map_succeeds),
		rule_test(rm_dev_on_imported_map_is_not_permitted),
		rule_test(enable_thread_safety_on_new_map_succeeds),
		rule_test(enable_thread_safety_on_started_map_is_not_permitted),
		rule_test(enable_thread_safety_on_exported_map_is_not_permitted),
		rule_test(enable_thread_safety_on_stopped_map_succeeds),
		rule_test(enable_thread_safety_on_imported_map_succeeds),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
