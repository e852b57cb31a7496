/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exporter and importer in two processes, on two sides of the card. */
#include "rules.h"

static struct side here;
static struct peer there;

static int open_sides(void **state)
{
	if (fixture_count(state) || side_open(&here) != DOCA_SUCCESS)
		return -1;
	return peer_start(&there) ? 0 : -1;
}

static int close_here(void **state)
{
	return side_close(&here) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

static int close_sides(void **state)
{
	return peer_finish(&there) ? close_here(state) : -1;
}

static const struct side_export what = {
	.source = SIDE_MEMORY, .len = RULES_LEN, .access = LOCAL_RW | PCI_RW, .seed = 3};

static void export_to_peer(void)
{
	struct side_desc desc;

	assert_ok(side_export_map(&here, 0, &what, &desc));
	assert_ok(peer_import_map(&there, 0, &desc));
}

/* rule: M-IMP-12 */
static void importer_may_be_another_process(void **state)
{
	uint8_t got[64], wanted[64];

	(void)state;
	export_to_peer();
	rig_fill(wanted, sizeof(wanted), what.seed);
	assert_ok(peer_read(&there, 0, 0, got, sizeof(got)));
	assert_memory_equal(got, wanted, sizeof(got));
}

/* rule: M-STO-3, M-IMP-13 */
static void stop_ends_imports_of_other_processes(void **state)
{
	uint8_t got[64];

	(void)state;
	export_to_peer();
	assert_ok(peer_read(&there, 0, 0, got, sizeof(got)));
	assert_ok(side_stop(&here, 0));
	assert_error(peer_read(&there, 0, 0, got, sizeof(got)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_drop(&there, 0));
}

/* rule: M-IMP-13 */
static void import_can_be_destroyed_after_its_exporter_died(void **state)
{
	struct side_desc desc;

	(void)state;
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_ok(side_import_map(&here, 0, &desc));
	assert_true(peer_kill(&there));
	assert_ok(side_drop(&here, 0));
}

#define sides_test(function)   cmocka_unit_test_setup_teardown(function, open_sides, close_sides)
#define killing_test(function) cmocka_unit_test_setup_teardown(function, open_sides, close_here)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		sides_test(importer_may_be_another_process),
		sides_test(stop_ends_imports_of_other_processes),
		killing_test(import_can_be_destroyed_after_its_exporter_died),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
