/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tests of a map whose result depends on the profile of the device; its rules are tested in ../rules/.
 */
#include <sys/mman.h>

#include <dpumap/desc.h>

#include "fixture.h"

static uint8_t memory[8192];

static struct doca_mmap *started_map(uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static struct dpumap_desc exported_fields(struct doca_mmap *mmap)
{
	struct dpumap_desc fields;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_pci(mmap, fixture.dev, &desc, &len));
	assert_int_equal(dpumap_desc_decode(desc, len, &fields), DPUMAP_DESC_OK);
	return fields;
}

static void restarted_map_exports_another_key(void **state)
{
	struct doca_mmap *mmap = started_map(PCI_RW);
	struct dpumap_desc first, second;

	first = exported_fields(mmap);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_start(mmap));
	second = exported_fields(mmap);
	assert_memory_not_equal(first.access_key, second.access_key, sizeof(first.access_key));
	assert_int_equal(second.kind, DPUMAP_DESC_KIND_PCI);
	assert_int_equal(second.source, DPUMAP_DESC_SOURCE_MEMORY);
	assert_int_equal(second.access, PCI_RW);
	assert_int_equal(second.addr, (uintptr_t)memory);
	assert_int_equal(second.len, sizeof(memory));
	dpumap_desc_wipe(&first);
	dpumap_desc_wipe(&second);
	assert_ok(doca_mmap_destroy(mmap));
}

/* More than one entry of 2 GiB in the exported mkey; the pages between are never touched. */
static void import_larger_than_an_mkey_entry_copies_across_entries(void **state)
{
	const size_t entry = (size_t)1 << 31, len = 2 * entry + 8192, piece = 4096;
	struct doca_mmap *from, *to;
	struct fixture_buf buf;
	uint8_t *area;

	area = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	if (area == MAP_FAILED)
		skip();
	assert_ok(fixture_buf_create(&fixture, piece, LOCAL_RW, &buf));
	assert_ok(doca_mmap_create(&from));
	assert_ok(doca_mmap_set_memrange(from, area + 100, len - 100));
	assert_ok(doca_mmap_set_permissions(from, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(from, fixture.dev));
	assert_ok(doca_mmap_start(from));
	to = fixture_import_pci(fixture.dev, from);
	for (size_t at = entry; at < len; at += entry) {
		uint8_t *border = area + 100 + at - piece / 2;

		fixture_fill(border, piece, (uint32_t)(at >> 31));
		assert_ok(fixture_copy(
			&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, to, border, piece}));
		assert_memory_equal(buf.bytes, border, piece);
	}
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){to, area + len - piece, buf.mmap,
								buf.bytes, piece}));
	assert_memory_equal(area + len - piece, buf.bytes, piece);
	assert_ok(doca_mmap_destroy(to));
	assert_ok(doca_mmap_destroy(from));
	assert_ok(fixture_buf_destroy(&buf));
	munmap(area, len);
}

/* The library refuses it: the device never has it, and the queue goes on. */
static void copy_into_a_read_only_import_is_not_posted(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RO),
			 *to = fixture_import_pci(fixture.dev, from);
	union doca_data none = {0};
	struct fixture_buf buf;

	assert_ok(fixture_buf_create(&fixture, 64, LOCAL_RW, &buf));
	assert_error(dpumap_dma_memcpy(fixture.dma, to, memory, buf.mmap, buf.bytes, 64, none),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){buf.mmap, buf.bytes, to, memory, 64}));
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(doca_mmap_destroy(to));
	assert_ok(doca_mmap_destroy(from));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		fixture_test(restarted_map_exports_another_key),
		fixture_test(import_larger_than_an_mkey_entry_copies_across_entries),
		fixture_test(copy_into_a_read_only_import_is_not_posted),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
