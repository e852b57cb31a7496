/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory across the functions of the card, in two processes and both directions. */
#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "fixture.h"

#define LEN 16384

static struct side here;
static struct peer there;
static uint8_t *got, *sent;

static int open_sides(void **state)
{
	if (fixture_count(state) || side_open(&here) != DOCA_SUCCESS)
		return -1;
	got = malloc(SIDE_BOUNCE_LEN);
	sent = malloc(SIDE_BOUNCE_LEN);
	return got && sent && peer_start(&there) ? 0 : -1;
}

static int close_sides(void **state)
{
	free(got);
	free(sent);
	if (!peer_finish(&there) || side_close(&here) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static const struct {
	size_t offset, len;
} pieces[] = {{0, LEN}, {0, 1}, {1, 1}, {LEN - 1, 1}, {4095, 2}, {3, 8191}, {64, 64}};
#define N_PIECES (sizeof(pieces) / sizeof(pieces[0]))

static struct side_export source_of(enum side_source source)
{
	return (struct side_export){
		.source = source, .len = LEN, .access = LOCAL_RW | PCI_RW, .seed = 11};
}

static void peer_reads_and_writes(enum side_source source)
{
	struct side_export what = source_of(source);
	struct side_desc desc;

	if (fixture_refused(side_export_map(&here, 0, &what, &desc), source))
		return;
	assert_ok(peer_import_map(&there, 0, &desc));
	rig_fill(sent, LEN, what.seed);
	for (size_t i = 0; i < N_PIECES; i++) {
		assert_ok(peer_read(&there, 0, pieces[i].offset, got, pieces[i].len));
		assert_memory_equal(got, sent + pieces[i].offset, pieces[i].len);
	}
	for (size_t i = 0; i < N_PIECES; i++) {
		rig_fill(sent + pieces[i].offset, pieces[i].len, (uint32_t)(100 + i));
		assert_ok(peer_write(&there, 0, pieces[i].offset, sent + pieces[i].offset,
				     pieces[i].len));
		assert_ok(side_peek(&here, 0, 0, got, LEN));
		assert_memory_equal(got, sent, LEN);
	}
	assert_ok(peer_drop(&there, 0));
	assert_ok(side_drop(&here, 0));
}

static void test_peer_uses_memory(void **state)
{
	(void)state;
	peer_reads_and_writes(SIDE_MEMORY);
}

/* Wherever it begins and ends, what is shared is exact to the byte. */
static void test_peer_uses_odd_memory(void **state)
{
	static const size_t first = 4093, len = 5003;
	static uint8_t memory[4 * 4096];
	struct dpumap_desc fields;
	struct side_desc desc;
	struct doca_mmap *mmap;
	const void *bytes;

	(void)state;
	rig_fill(memory, sizeof(memory), 3);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory + first, len));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, here.rig.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, here.rig.dev, &bytes, &desc.len));
	assert_int_equal(dpumap_desc_decode(bytes, desc.len, &fields), DPUMAP_DESC_OK);
	/* A peer that believes in more than there is. */
	fields.addr--;
	fields.len += 2;
	assert_int_equal(dpumap_desc_encode(&fields, desc.bytes, sizeof(desc.bytes), &desc.len),
			 DPUMAP_DESC_OK);
	dpumap_desc_wipe(&fields);
	assert_ok(peer_import_map(&there, 0, &desc));
	assert_ok(peer_read(&there, 0, 1, got, len));
	assert_memory_equal(got, memory + first, len);
	rig_fill(sent, len, 4);
	assert_ok(peer_write(&there, 0, 1, sent, len));
	assert_memory_equal(memory + first, sent, len);
	assert_error(peer_read(&there, 0, 0, got, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_read(&there, 0, len + 1, got, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_drop(&there, 0));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_peer_uses_device_memory(void **state)
{
	(void)state;
	peer_reads_and_writes(SIDE_DEVICE_MEMORY);
}

static void use_of_peers(enum side_source source)
{
	struct side_export what = source_of(source);
	struct side_desc desc;

	if (fixture_refused(peer_export_map(&there, 0, &what, &desc), source))
		return;
	assert_ok(side_import_map(&here, 0, &desc));
	rig_fill(sent, LEN, what.seed);
	assert_ok(side_read(&here, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	rig_fill(sent + 100, 5000, 5);
	assert_ok(side_write(&here, 0, 100, sent + 100, 5000));
	assert_ok(peer_peek(&there, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void test_use_of_peers_memory(void **state)
{
	(void)state;
	use_of_peers(SIDE_MEMORY);
}

static void test_use_of_peers_device_memory(void **state)
{
	(void)state;
	use_of_peers(SIDE_DEVICE_MEMORY);
}

static void test_copy_between_two_imports(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc memory, device;

	(void)state;
	assert_ok(peer_export_map(&there, 0, &what, &memory));
	what.source = rig_options.shares_direct ? SIDE_MEMORY : SIDE_DEVICE_MEMORY;
	what.seed = 12;
	assert_ok(peer_export_map(&there, 1, &what, &device));
	assert_ok(side_import_map(&here, 0, &memory));
	assert_ok(side_import_map(&here, 1, &device));
	assert_ok(
		rig_copy(&here.rig, &(struct rig_copy){here.maps[0].mmap, here.maps[0].addr,
						       here.maps[1].mmap, here.maps[1].addr, LEN}));
	rig_fill(sent, LEN, what.seed);
	assert_ok(peer_peek(&there, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void test_import_is_named_by_exporters_addresses(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct dpumap_desc fields;
	struct side_desc desc;

	(void)state;
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	assert_ok(side_import_map(&here, 0, &desc));
	assert_int_equal((uintptr_t)here.maps[0].addr, fields.addr);
	assert_int_equal(here.maps[0].len, LEN);
	assert_int_equal(fields.access, LOCAL_RW | PCI_RW);
	dpumap_desc_wipe(&fields);
}

static void test_one_descriptor_imported_twice(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc desc;

	(void)state;
	assert_ok(side_export_map(&here, 0, &what, &desc));
	assert_ok(peer_import_map(&there, 0, &desc));
	assert_ok(peer_import_map(&there, 1, &desc));
	assert_ok(side_import_map(&here, 1, &desc));
	assert_ok(peer_drop(&there, 0));
	rig_fill(sent, LEN, what.seed);
	assert_ok(peer_read(&there, 1, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(side_read(&here, 1, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void test_large_map(void **state)
{
	struct side_export what = source_of(SIDE_MEMORY);
	struct side_desc desc;
	uint8_t *all;

	(void)state;
	what.len = 64u << 20;
	all = malloc(what.len);
	assert_non_null(all);
	rig_fill(all, what.len, what.seed);
	assert_ok(peer_export_map(&there, 0, &what, &desc));
	assert_ok(side_import_map(&here, 0, &desc));
	for (size_t at = 0; at < what.len; at += SIDE_BOUNCE_LEN) {
		assert_ok(side_read(&here, 0, at, got, SIDE_BOUNCE_LEN));
		assert_memory_equal(got, all + at, SIDE_BOUNCE_LEN);
	}
	free(all);
}

/* Several maps over one device memory: to the peer, each is a range of its own. */

static const struct {
	size_t offset, len;
} parts[] = {{0, 4000}, {4000, 96}, {4097, 3001}, {0, LEN}};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void export_part(struct dpumap_dm *dm, size_t i, struct doca_mmap **mmap,
			struct side_desc *desc)
{
	const void *bytes;

	assert_ok(doca_mmap_create(mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(*mmap, dm, parts[i].offset, parts[i].len));
	assert_ok(doca_mmap_set_permissions(*mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(*mmap, here.rig.dev));
	assert_ok(doca_mmap_start(*mmap));
	assert_ok(doca_mmap_export_pci(*mmap, here.rig.dev, &bytes, &desc->len));
	assert_true(desc->len <= sizeof(desc->bytes));
	memcpy(desc->bytes, bytes, desc->len);
}

static void test_maps_over_parts_of_device_memory(void **state)
{
	struct doca_mmap *maps[N_PARTS];
	struct side_desc desc;
	struct dpumap_dm *dm;

	(void)state;
	if (rig_options.shares_direct)
		skip();
	rig_fill(sent, LEN, 31);
	assert_ok(dpumap_dm_alloc(here.rig.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, sent, LEN));
	for (uint32_t i = 0; i < N_PARTS; i++) {
		export_part(dm, i, &maps[i], &desc);
		assert_ok(peer_import_map(&there, i, &desc));
	}
	for (uint32_t i = 0; i < N_PARTS; i++) {
		assert_ok(peer_read(&there, i, 0, got, parts[i].len));
		assert_memory_equal(got, sent + parts[i].offset, parts[i].len);
		rig_fill(sent + parts[i].offset, parts[i].len, 40 + i);
		assert_ok(peer_write(&there, i, 0, sent + parts[i].offset, parts[i].len));
		assert_ok(dpumap_dm_read(dm, 0, got, LEN));
		assert_memory_equal(got, sent, LEN);
	}
	/* The end of one map is not that of the others. */
	assert_ok(doca_mmap_stop(maps[0]));
	assert_error(peer_read(&there, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&there, 1, 0, got, parts[1].len));
	assert_memory_equal(got, sent + parts[1].offset, parts[1].len);
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	for (uint32_t i = 0; i < N_PARTS; i++) {
		assert_ok(peer_drop(&there, i));
		assert_ok(doca_mmap_destroy(maps[i]));
	}
	assert_ok(dpumap_dm_free(dm));
}

#define sides_test(function) cmocka_unit_test_setup_teardown(function, open_sides, close_sides)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		sides_test(test_peer_uses_memory),
		sides_test(test_peer_uses_odd_memory),
		sides_test(test_peer_uses_device_memory),
		sides_test(test_use_of_peers_memory),
		sides_test(test_use_of_peers_device_memory),
		sides_test(test_copy_between_two_imports),
		sides_test(test_import_is_named_by_exporters_addresses),
		sides_test(test_one_descriptor_imported_twice),
		sides_test(test_large_map),
		sides_test(test_maps_over_parts_of_device_memory),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
