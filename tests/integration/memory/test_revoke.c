/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An export that ends, in order or by SIGKILL: the next copy of an importer fails, nothing hangs,
 * and no object remains.
 */
#include <string.h>

#include <dpumap/mmap.h>

#include "fixture.h"
#include "peer.h"

#define LEN 16384
/*
 * A limit against hanging. Importers are promised one second, but a busy machine may need it for
 * one copy.
 */
#define PATIENCE_MS 30000

static uint8_t got[LEN], sent[LEN];

static struct map_spec source_of(enum map_source source)
{
	return (struct map_spec){
		.source = source, .len = LEN, .access = LOCAL_RW | PCI_RW, .seed = 31};
}

static doca_error_t read_soon(unsigned int map)
{
	return fixture_copy_within(&parent.fixture,
				   &(struct fixture_copy){parent.bounce.mmap, parent.bounce.bytes,
							  parent.maps[map].mmap,
							  parent.maps[map].addr, LEN},
				   PATIENCE_MS);
}

static doca_error_t write_soon(unsigned int map)
{
	return fixture_copy_within(&parent.fixture,
				   &(struct fixture_copy){parent.maps[map].mmap,
							  parent.maps[map].addr, parent.bounce.mmap,
							  parent.bounce.bytes, LEN},
				   PATIENCE_MS);
}

/* A process that dies is noticed when its connection breaks: soon, but not at once. */
static void assert_denied_soon(unsigned int map)
{
	uint64_t deadline = monotonic_ms() + PATIENCE_MS;
	doca_error_t result;

	do {
		result = read_soon(map);
	} while (result == DOCA_SUCCESS && monotonic_ms() < deadline);
	assert_error(result, DOCA_ERROR_NOT_PERMITTED);
}

static void stop_of_exporter(enum map_source source)
{
	struct map_spec what = source_of(source);
	struct descriptor desc;

	if (sharer_was_refused(peer_export(&peer, 0, &what, &desc), source))
		return;
	assert_ok(sharer_import(&parent, 0, &desc));
	assert_ok(read_soon(0));
	assert_ok(peer_stop(&peer, 0));
	assert_error(read_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_error(write_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_peek(&peer, 0, 0, got, LEN));
	fixture_fill(sent, LEN, what.seed);
	assert_memory_equal(got, sent, LEN);
	assert_ok(sharer_drop(&parent, 0));
	assert_error(sharer_import(&parent, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
}

static void stop_of_a_memory_export_denies_its_importers(void **state)
{
	stop_of_exporter(FROM_MEMORY);
}

static void stop_of_a_device_memory_export_denies_its_importers(void **state)
{
	stop_of_exporter(FROM_DEVICE_MEMORY);
}

static void importer_outlives_a_new_export(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor desc;

	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_ok(sharer_import(&parent, 0, &desc));
	assert_ok(peer_drop(&peer, 0));
	assert_ok(peer_export(&peer, 0, &what, &desc));
	/* The old import must not work again through an mkey of the same number. */
	assert_error(read_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(sharer_import(&parent, 1, &desc));
	assert_ok(read_soon(1));
}

static void death_of_exporter(enum map_source source)
{
	struct map_spec what = source_of(source);
	struct descriptor desc;

	if (sharer_was_refused(peer_export(&peer, 0, &what, &desc), source)) {
		assert_true(process_finish(&peer));
		return;
	}
	assert_ok(sharer_import(&parent, 0, &desc));
	assert_ok(read_soon(0));
	assert_true(process_kill(&peer));
	assert_denied_soon(0);
	assert_error(write_soon(0), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(sharer_drop(&parent, 0));
	assert_error(sharer_import(&parent, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
}

static void death_of_a_memory_exporter_denies_its_importers(void **state)
{
	death_of_exporter(FROM_MEMORY);
}

static void death_of_a_device_memory_exporter_denies_its_importers(void **state)
{
	death_of_exporter(FROM_DEVICE_MEMORY);
}

static void copies_in_flight_complete_when_their_exporter_dies(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct dpumap_dma_completion done;
	struct descriptor desc;
	unsigned int posted = 0;

	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_ok(sharer_import(&parent, 0, &desc));
	for (; posted < 64; posted++)
		assert_ok(dpumap_dma_memcpy(parent.fixture.dma, parent.bounce.mmap,
					    parent.bounce.bytes, parent.maps[0].mmap,
					    parent.maps[0].addr, LEN,
					    (union doca_data){.u64 = posted}));
	assert_true(process_kill(&peer));
	for (unsigned int i = 0; i < posted; i++) {
		assert_ok(fixture_wait(parent.fixture.dma, PATIENCE_MS, &done));
		assert_int_equal(done.user_data.u64, i);
	}
	assert_ok(dpumap_dma_reset(parent.fixture.dma));
	assert_denied_soon(0);
}

static void death_of_an_importer_leaves_the_export(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor desc;

	assert_ok(sharer_export(&parent, 0, &what, &desc));
	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_true(process_kill(&peer));
	assert_ok(sharer_import(&parent, 1, &desc));
	assert_ok(read_soon(1));
}

/* The map remains registered, and its next export is independent of this one. */
static void revoked_export(enum map_source source)
{
	struct map_spec what = source_of(source);
	struct descriptor desc;
	const void *bytes;
	size_t len;

	if (sharer_was_refused(sharer_export(&parent, 0, &what, &desc), source))
		return;
	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_ok(dpumap_mmap_revoke_pci(parent.maps[0].mmap, parent.fixture.dev));
	assert_error(peer_read(&peer, 0, 0, got, LEN), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_import(&peer, 1, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(dpumap_mmap_revoke_pci(parent.maps[0].mmap, parent.fixture.dev));

	assert_ok(doca_mmap_export_pci(parent.maps[0].mmap, parent.fixture.dev, &bytes, &len));
	assert_int_equal(len, desc.len);
	assert_memory_not_equal(bytes, desc.bytes, len);
	memcpy(desc.bytes, bytes, len);
	assert_ok(peer_import(&peer, 1, &desc));
	assert_ok(peer_read(&peer, 1, 0, got, LEN));
	fixture_fill(sent, LEN, what.seed);
	assert_memory_equal(got, sent, LEN);
}

static void revoked_export_of_memory_denies_its_importers(void **state)
{
	revoked_export(FROM_MEMORY);
}

static void revoked_export_of_device_memory_denies_its_importers(void **state)
{
	revoked_export(FROM_DEVICE_MEMORY);
}

static void revoke_of_an_import_is_refused(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor desc;
	struct doca_mmap *map;

	assert_error(dpumap_mmap_revoke_pci(NULL, parent.fixture.dev), DOCA_ERROR_INVALID_VALUE);
	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_ok(sharer_import(&parent, 0, &desc));
	map = parent.maps[0].mmap;
	assert_error(dpumap_mmap_revoke_pci(map, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_revoke_pci(map, parent.fixture.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(sharer_drop(&parent, 0));
	assert_ok(doca_mmap_create(&map));
	assert_error(dpumap_mmap_revoke_pci(map, parent.fixture.dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_add_dev(map, parent.fixture.dev));
	assert_error(dpumap_mmap_revoke_pci(map, parent.fixture.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(map));
}

#define killing_test(function) \
	cmocka_unit_test_setup_teardown(function, peer_setup, peer_teardown_parent)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		peer_test(stop_of_a_memory_export_denies_its_importers),
		peer_test(stop_of_a_device_memory_export_denies_its_importers),
		peer_test(importer_outlives_a_new_export),
		peer_test(revoked_export_of_memory_denies_its_importers),
		peer_test(revoked_export_of_device_memory_denies_its_importers),
		peer_test(revoke_of_an_import_is_refused),
		killing_test(death_of_a_memory_exporter_denies_its_importers),
		killing_test(death_of_a_device_memory_exporter_denies_its_importers),
		killing_test(copies_in_flight_complete_when_their_exporter_dies),
		killing_test(death_of_an_importer_leaves_the_export),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
