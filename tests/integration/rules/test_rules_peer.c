/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exporter and importer in two processes, on the two functions of the card. */
#include "peer.h"
#include "rules.h"

static const struct map_spec what = {
	.source = FROM_MEMORY, .len = RULES_LEN, .access = LOCAL_RW | PCI_RW, .seed = 3};

static void export_to_peer(void)
{
	struct descriptor desc;

	assert_ok(sharer_export(&parent, 0, &what, &desc));
	assert_ok(peer_import(&peer, 0, &desc));
}

/* rule: M-IMP-12 */
static void importer_may_be_another_process(void **state)
{
	uint8_t got[64], wanted[64];

	export_to_peer();
	fixture_fill(wanted, sizeof(wanted), what.seed);
	assert_ok(peer_read(&peer, 0, 0, got, sizeof(got)));
	assert_memory_equal(got, wanted, sizeof(got));
}

/* rule: M-STO-3, M-IMP-13 */
static void stop_ends_imports_of_other_processes(void **state)
{
	uint8_t got[64];

	export_to_peer();
	assert_ok(peer_read(&peer, 0, 0, got, sizeof(got)));
	assert_ok(sharer_stop(&parent, 0));
	assert_error(peer_read(&peer, 0, 0, got, sizeof(got)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_drop(&peer, 0));
}

/* rule: M-IMP-13 */
static void import_can_be_destroyed_after_its_exporter_died(void **state)
{
	struct descriptor desc;

	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_ok(sharer_import(&parent, 0, &desc));
	assert_true(process_kill(&peer));
	assert_ok(sharer_drop(&parent, 0));
}

#define killing_test(function) \
	cmocka_unit_test_setup_teardown(function, peer_setup, peer_teardown_parent)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		peer_test(importer_may_be_another_process),
		peer_test(stop_ends_imports_of_other_processes),
		killing_test(import_can_be_destroyed_after_its_exporter_died),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
