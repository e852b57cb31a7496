/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An export that ends, in order or by SIGKILL: the importer's next copy fails, nothing hangs or
 * stays. */
#include <string.h>

#include <dpumap/mmap.h>

#include "fixture.h"

#define LEN 16384
/* Against a hang. Importers are promised a second, but a busy machine may need it for one copy. */
#define PATIENCE_MS 30000

static struct side here;
static struct peer there;
static uint8_t got[LEN], sent[LEN];

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

static struct side_export source_of(enum side_source source)
{
	return (struct side_export){
		.source = source, .len = LEN, .access = LOCAL_RW | PCI_RW, .seed = 31};
}

static doca_error_t read_soon(unsigned int map)
{
	return rig_copy_within(&here.rig,
			       &(struct rig_copy){here.bounce.mmap, here.bounce.bytes,
						  here.maps[map].mmap, here.maps[map].addr, LEN},
			       PATIENCE_MS);
}

static doca_error_t write_soon(unsigned int map)
{
	return rig_copy_within(&here.rig,
			       &(struct rig_copy){here.maps[map].mmap, here.maps[map].addr,
						  here.bounce.mmap, here.bounce.bytes, LEN},
			       PATIENCE_MS);
}

/* A death is noticed when the connection breaks, which is soon but not at once. */
static void assert_denied_soon(unsigned int map)
{
	uint64_t deadline = rig_now_ms() + PATIENCE_MS;
	doca_error_t result;

	do {
		result = read_soon(map);
	} while (result == DOCA_SUCCESS && rig_now_ms() < deadline);
	assert_error(result, DOCA_ERROR_NOT_PERMITTED);
}

static void stop_of_exporter(enum side_source source)
{
	struct side_export what = source_of(source);
	struct side_desc desc;

	if (fixture_refused(peer_export_map(&there, 0, &what, &desc), source))
		return;
	assert_ok(side_import_map(&here, 0, &desc));
	assert_ok(read_soon(0));
	assert_ok(peer_stop(&there, 0));
	assert_error(read_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_error(write_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_peek(&there, 0, 0, got, LEN));
	rig_fill(sent, LEN, what.seed);
	assert_memory_equal(got, sent, LEN);
	assert_ok(side_drop(&here, 0));
	assert_error(side_import_map(&here, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
}

static void test_stop_of_a_memory_export(void **state)
{
	(void)state;
	stop_of_exporter(SIDE_MEMORY);
}

static void test_stop_of_a_device_memory_export(void **state)
{
	(void)state;
	stop_of_exporter(SIDE_DEVICE_MEMORY);
}

static void test_importer_outlives_a_new_export(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc desc;

	(void)state;
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_ok(side_import_map(&here, 0, &desc));
	assert_ok(peer_drop(&there, 0));
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	/* The old import must not come to life through an mkey of the same number. */
	assert_error(read_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(side_import_map(&here, 1, &desc));
	assert_ok(read_soon(1));
}

static void death_of_exporter(enum side_source source)
{
	struct side_export what = source_of(source);
	struct side_desc desc;

	if (fixture_refused(peer_export_map(&there, 0, &what, &desc), source)) {
		assert_true(peer_finish(&there));
		return;
	}
	assert_ok(side_import_map(&here, 0, &desc));
	assert_ok(read_soon(0));
	assert_true(peer_kill(&there));
	assert_denied_soon(0);
	assert_error(write_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(side_drop(&here, 0));
	assert_error(side_import_map(&here, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
}

static void test_death_of_a_memory_exporter(void **state)
{
	(void)state;
	death_of_exporter(SIDE_MEMORY);
}

static void test_death_of_a_device_memory_exporter(void **state)
{
	(void)state;
	death_of_exporter(SIDE_DEVICE_MEMORY);
}

static void test_death_with_copies_in_flight(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct dpumap_dma_completion done;
	struct side_desc desc;
	unsigned int posted = 0;

	(void)state;
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_ok(side_import_map(&here, 0, &desc));
	for (; posted < 64; posted++)
		assert_ok(dpumap_dma_memcpy(here.rig.dma, here.bounce.mmap, here.bounce.bytes,
					    here.maps[0].mmap, here.maps[0].addr, LEN,
					    (union doca_data){.u64 = posted}));
	assert_true(peer_kill(&there));
	for (unsigned int i = 0; i < posted; i++) {
		assert_ok(rig_wait(here.rig.dma, PATIENCE_MS, &done));
		assert_int_equal(done.user_data.u64, i);
	}
	assert_ok(dpumap_dma_reset(here.rig.dma));
	assert_denied_soon(0);
}

static void test_death_of_an_importer(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc desc;

	(void)state;
	assert_ok(side_export_map(&here, 0, &what, &desc));
	assert_ok(peer_import_map(&there, 0, &desc));
	assert_ok(peer_read(&there, 0, 0, got, LEN));
	assert_true(peer_kill(&there));
	assert_ok(side_import_map(&here, 1, &desc));
	assert_ok(read_soon(1));
}

/* The map goes on: its memory is registered, and what is exported next is another thing. */
static void revoked_export(enum side_source source)
{
	struct side_export what = source_of(source);
	struct side_desc desc;
	const void *bytes;
	size_t len;

	if (fixture_refused(side_export_map(&here, 0, &what, &desc), source))
		return;
	assert_ok(peer_import_map(&there, 0, &desc));
	assert_ok(peer_read(&there, 0, 0, got, LEN));
	assert_ok(dpumap_mmap_revoke_pci(here.maps[0].mmap, here.rig.dev));
	assert_error(peer_read(&there, 0, 0, got, LEN), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_import_map(&there, 1, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(dpumap_mmap_revoke_pci(here.maps[0].mmap, here.rig.dev));

	assert_ok(doca_mmap_export_pci(here.maps[0].mmap, here.rig.dev, &bytes, &len));
	assert_int_equal(len, desc.len);
	assert_memory_not_equal(bytes, desc.bytes, len);
	memcpy(desc.bytes, bytes, len);
	assert_ok(peer_import_map(&there, 1, &desc));
	assert_ok(peer_read(&there, 1, 0, got, LEN));
	rig_fill(sent, LEN, what.seed);
	assert_memory_equal(got, sent, LEN);
}

static void test_revoked_export_of_memory(void **state)
{
	(void)state;
	revoked_export(SIDE_MEMORY);
}

static void test_revoked_export_of_device_memory(void **state)
{
	(void)state;
	revoked_export(SIDE_DEVICE_MEMORY);
}

static void test_revoking_what_cannot_be(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc desc;
	struct doca_mmap *map;

	(void)state;
	assert_error(dpumap_mmap_revoke_pci(NULL, here.rig.dev), DOCA_ERROR_INVALID_VALUE);
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_ok(side_import_map(&here, 0, &desc));
	map = here.maps[0].mmap;
	assert_error(dpumap_mmap_revoke_pci(map, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_revoke_pci(map, here.rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(side_drop(&here, 0));
	assert_ok(doca_mmap_create(&map));
	assert_error(dpumap_mmap_revoke_pci(map, here.rig.dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_add_dev(map, here.rig.dev));
	assert_error(dpumap_mmap_revoke_pci(map, here.rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(map));
}

#define sides_test(function)   cmocka_unit_test_setup_teardown(function, open_sides, close_sides)
#define killing_test(function) cmocka_unit_test_setup_teardown(function, open_sides, close_here)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		sides_test(test_stop_of_a_memory_export),
		sides_test(test_stop_of_a_device_memory_export),
		sides_test(test_importer_outlives_a_new_export),
		sides_test(test_revoked_export_of_memory),
		sides_test(test_revoked_export_of_device_memory),
		sides_test(test_revoking_what_cannot_be),
		killing_test(test_death_of_a_memory_exporter),
		killing_test(test_death_of_a_device_memory_exporter),
		killing_test(test_death_with_copies_in_flight),
		killing_test(test_death_of_an_importer),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
