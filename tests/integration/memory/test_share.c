/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory across the functions of the card, in two processes and both directions. */
#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "base/array.h"
#include "fixture.h"
#include "peer.h"

#define LEN 16384

static uint8_t *got, *sent;

static int open_all(void **state)
{
	got = malloc(SHARER_BOUNCE_LEN);
	sent = malloc(SHARER_BOUNCE_LEN);
	return got && sent ? peer_setup(state) : -1;
}

static int close_all(void **state)
{
	free(got);
	free(sent);
	return peer_teardown(state);
}

static const struct {
	size_t offset, len;
} pieces[] = {{0, LEN}, {0, 1}, {1, 1}, {LEN - 1, 1}, {4095, 2}, {3, 8191}, {64, 64}};
#define N_PIECES ARRAY_SIZE(pieces)

static struct map_spec source_of(enum map_source source)
{
	return (struct map_spec){
		.source = source, .len = LEN, .access = LOCAL_RW | PCI_RW, .seed = 11};
}

static void peer_reads_and_writes(enum map_source source)
{
	struct map_spec what = source_of(source);
	struct descriptor desc;

	if (sharer_was_refused(sharer_export(&parent, 0, &what, &desc), source))
		return;
	assert_ok(peer_import(&peer, 0, &desc));
	fixture_fill(sent, LEN, what.seed);
	for (size_t i = 0; i < N_PIECES; i++) {
		assert_ok(peer_read(&peer, 0, pieces[i].offset, got, pieces[i].len));
		assert_memory_equal(got, sent + pieces[i].offset, pieces[i].len);
	}
	for (size_t i = 0; i < N_PIECES; i++) {
		fixture_fill(sent + pieces[i].offset, pieces[i].len, (uint32_t)(100 + i));
		assert_ok(peer_write(&peer, 0, pieces[i].offset, sent + pieces[i].offset,
				     pieces[i].len));
		assert_ok(sharer_peek(&parent, 0, 0, got, LEN));
		assert_memory_equal(got, sent, LEN);
	}
	assert_ok(peer_drop(&peer, 0));
	assert_ok(sharer_drop(&parent, 0));
}

static void peer_uses_memory(void **state)
{
	peer_reads_and_writes(FROM_MEMORY);
}

/* Sharing is exact to the byte, wherever the range begins and ends. */
static void peer_uses_odd_memory(void **state)
{
	static const size_t first = 4093, len = 5003;
	static uint8_t memory[4 * 4096];
	struct dpumap_desc fields;
	struct descriptor desc;
	struct doca_mmap *mmap;
	const void *bytes;

	fixture_fill(memory, sizeof(memory), 3);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory + first, len));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, parent.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, parent.fixture.dev, &bytes, &desc.len));
	assert_int_equal(dpumap_desc_decode(bytes, desc.len, &fields), DPUMAP_DESC_OK);
	/* A peer that claims a larger range. */
	fields.addr--;
	fields.len += 2;
	assert_int_equal(dpumap_desc_encode(&fields, desc.bytes, sizeof(desc.bytes), &desc.len),
			 DPUMAP_DESC_OK);
	dpumap_desc_wipe(&fields);
	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_read(&peer, 0, 1, got, len));
	assert_memory_equal(got, memory + first, len);
	fixture_fill(sent, len, 4);
	assert_ok(peer_write(&peer, 0, 1, sent, len));
	assert_memory_equal(memory + first, sent, len);
	assert_error(peer_read(&peer, 0, 0, got, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_read(&peer, 0, len + 1, got, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_drop(&peer, 0));
	assert_ok(doca_mmap_destroy(mmap));
}

static void peer_uses_device_memory(void **state)
{
	peer_reads_and_writes(FROM_DEVICE_MEMORY);
}

static void use_of_peers(enum map_source source)
{
	struct map_spec what = source_of(source);
	struct descriptor desc;

	if (sharer_was_refused(peer_export(&peer, 0, &what, &desc), source))
		return;
	assert_ok(sharer_import(&parent, 0, &desc));
	fixture_fill(sent, LEN, what.seed);
	assert_ok(sharer_read(&parent, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	fixture_fill(sent + 100, 5000, 5);
	assert_ok(sharer_write(&parent, 0, 100, sent + 100, 5000));
	assert_ok(peer_peek(&peer, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void parent_uses_memory_of_the_peer(void **state)
{
	use_of_peers(FROM_MEMORY);
}

static void parent_uses_device_memory_of_the_peer(void **state)
{
	use_of_peers(FROM_DEVICE_MEMORY);
}

static void bytes_are_copied_between_two_imports(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor memory, device;

	assert_ok(peer_export(&peer, 0, &what, &memory));
	what.source = test_options.shares_direct ? FROM_MEMORY : FROM_DEVICE_MEMORY;
	what.seed = 12;
	assert_ok(peer_export(&peer, 1, &what, &device));
	assert_ok(sharer_import(&parent, 0, &memory));
	assert_ok(sharer_import(&parent, 1, &device));
	assert_ok(fixture_copy(&parent.fixture,
			       &(struct fixture_copy){parent.maps[0].mmap, parent.maps[0].addr,
						      parent.maps[1].mmap, parent.maps[1].addr,
						      LEN}));
	fixture_fill(sent, LEN, what.seed);
	assert_ok(peer_peek(&peer, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void import_is_named_by_exporters_addresses(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct dpumap_desc fields;
	struct descriptor desc;

	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	assert_ok(sharer_import(&parent, 0, &desc));
	assert_int_equal((uintptr_t)parent.maps[0].addr, fields.addr);
	assert_int_equal(parent.maps[0].len, LEN);
	assert_int_equal(fields.access, LOCAL_RW | PCI_RW);
	dpumap_desc_wipe(&fields);
}

static void descriptor_can_be_imported_twice(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor desc;

	assert_ok(sharer_export(&parent, 0, &what, &desc));
	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_import(&peer, 1, &desc));
	assert_ok(sharer_import(&parent, 1, &desc));
	assert_ok(peer_drop(&peer, 0));
	fixture_fill(sent, LEN, what.seed);
	assert_ok(peer_read(&peer, 1, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(sharer_read(&parent, 1, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
}

static void a_large_map_is_read_as_a_whole(void **state)
{
	struct map_spec what = source_of(FROM_MEMORY);
	struct descriptor desc;
	uint8_t *all;

	what.len = 64u << 20;
	all = malloc(what.len);
	assert_non_null(all);
	fixture_fill(all, what.len, what.seed);
	assert_ok(peer_export(&peer, 0, &what, &desc));
	assert_ok(sharer_import(&parent, 0, &desc));
	for (size_t at = 0; at < what.len; at += SHARER_BOUNCE_LEN) {
		assert_ok(sharer_read(&parent, 0, at, got, SHARER_BOUNCE_LEN));
		assert_memory_equal(got, all + at, SHARER_BOUNCE_LEN);
	}
	free(all);
}

/* Several maps over one device memory: each is a range of its own to the peer. */

static const struct {
	size_t offset, len;
} parts[] = {{0, 4000}, {4000, 96}, {4097, 3001}, {0, LEN}};
#define N_PARTS ARRAY_SIZE(parts)

static void export_part(struct dpumap_dm *dm, size_t i, struct doca_mmap **mmap,
			struct descriptor *desc)
{
	const void *bytes;

	assert_ok(doca_mmap_create(mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(*mmap, dm, parts[i].offset, parts[i].len));
	assert_ok(doca_mmap_set_permissions(*mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(*mmap, parent.fixture.dev));
	assert_ok(doca_mmap_start(*mmap));
	assert_ok(doca_mmap_export_pci(*mmap, parent.fixture.dev, &bytes, &desc->len));
	assert_true(desc->len <= sizeof(desc->bytes));
	memcpy(desc->bytes, bytes, desc->len);
}

static void maps_of_parts_of_device_memory_are_shared_apart(void **state)
{
	struct doca_mmap *maps[N_PARTS];
	struct descriptor desc;
	struct dpumap_dm *dm;

	if (test_options.shares_direct)
		skip();
	fixture_fill(sent, LEN, 31);
	assert_ok(dpumap_dm_alloc(parent.fixture.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, sent, LEN));
	for (uint32_t i = 0; i < N_PARTS; i++) {
		export_part(dm, i, &maps[i], &desc);
		assert_ok(peer_import(&peer, i, &desc));
	}
	for (uint32_t i = 0; i < N_PARTS; i++) {
		assert_ok(peer_read(&peer, i, 0, got, parts[i].len));
		assert_memory_equal(got, sent + parts[i].offset, parts[i].len);
		fixture_fill(sent + parts[i].offset, parts[i].len, 40 + i);
		assert_ok(peer_write(&peer, i, 0, sent + parts[i].offset, parts[i].len));
		assert_ok(dpumap_dm_read(dm, 0, got, LEN));
		assert_memory_equal(got, sent, LEN);
	}
	/* Stopping one map does not affect the others. */
	assert_ok(doca_mmap_stop(maps[0]));
	assert_error(peer_read(&peer, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&peer, 1, 0, got, parts[1].len));
	assert_memory_equal(got, sent + parts[1].offset, parts[1].len);
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	for (uint32_t i = 0; i < N_PARTS; i++) {
		assert_ok(peer_drop(&peer, i));
		assert_ok(doca_mmap_destroy(maps[i]));
	}
	assert_ok(dpumap_dm_free(dm));
}

#define share_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		share_test(peer_uses_memory),
		share_test(peer_uses_odd_memory),
		share_test(peer_uses_device_memory),
		share_test(parent_uses_memory_of_the_peer),
		share_test(parent_uses_device_memory_of_the_peer),
		share_test(bytes_are_copied_between_two_imports),
		share_test(import_is_named_by_exporters_addresses),
		share_test(descriptor_can_be_imported_twice),
		share_test(a_large_map_is_read_as_a_whole),
		share_test(maps_of_parts_of_device_memory_are_shared_apart),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
