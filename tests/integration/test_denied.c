/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What an importer must not get: by descriptors that were changed, by rights it has not, by a bare
 * key. */
#include <string.h>

#include <infiniband/verbs.h>

#include <dpumap/desc.h>

#include "fixture.h"

#define LEN 8192

static struct side here;
static struct peer there;
static struct side_desc desc;
static struct dpumap_desc fields;
static uint8_t got[2 * LEN], sent[LEN];

/* Whether the device can. */
static bool export_here(enum side_source source, uint32_t access)
{
	struct side_export what = {.source = source, .len = LEN, .access = access, .seed = 21};

	rig_fill(sent, LEN, what.seed);
	if (fixture_refused(side_export_map(&here, 0, &what, &desc), source))
		return false;
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	return true;
}

static int open_sides(void **state)
{
	if (fixture_count(state) || side_open(&here) != DOCA_SUCCESS)
		return -1;
	return peer_start(&there) ? 0 : -1;
}

static int close_sides(void **state)
{
	dpumap_desc_wipe(&fields);
	if (!peer_finish(&there) || side_close(&here) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

/* The exporter's memory is what it was, and a proper import still works. */
static void assert_unharmed(void)
{
	assert_ok(side_peek(&here, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(peer_import_map(&there, 7, &desc));
	assert_ok(peer_read(&there, 7, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(peer_drop(&there, 7));
}

static doca_error_t import_changed(void)
{
	struct side_desc changed;

	changed.len = sizeof(changed.bytes);
	assert_int_equal(
		dpumap_desc_encode(&fields, changed.bytes, sizeof(changed.bytes), &changed.len),
		DPUMAP_DESC_OK);
	return peer_import_map(&there, 0, &changed);
}

static void test_wrong_access_key(void **state)
{
	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	for (size_t i = 0; i < sizeof(fields.access_key); i += 31) {
		fields.access_key[i] ^= 1;
		assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
		fields.access_key[i] ^= 1;
	}
	memset(fields.access_key, 0x55, sizeof(fields.access_key));
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void test_wrong_vhca_id(void **state)
{
	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	for (uint16_t flip = 1; flip; flip = (uint16_t)(flip << 1)) {
		fields.vhca_id ^= flip;
		assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
		fields.vhca_id ^= flip;
	}
	assert_unharmed();
}

static void test_wrong_mkey(void **state)
{
	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	fields.mkey ^= 0x00800000;
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void test_descriptor_of_another_card(void **state)
{
	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	fields.device_guid ^= 1;
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void read_outside(enum side_source source)
{
	if (!export_here(source, LOCAL_RW | PCI_RW))
		return;
	fields.len *= 2;
	assert_ok(import_changed());
	assert_error(peer_read(&there, 0, LEN, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_read(&there, 0, LEN - 64, got, 128), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_write(&there, 0, LEN, sent, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&there, 0, LEN - 64, got, 64));
	assert_memory_equal(got, sent + LEN - 64, 64);
	assert_ok(peer_drop(&there, 0));
	fields.len = LEN;
	fields.addr -= 4096;
	assert_ok(import_changed());
	assert_error(peer_read(&there, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void test_outside_of_memory(void **state)
{
	(void)state;
	read_outside(SIDE_MEMORY);
}

static void test_outside_of_device_memory(void **state)
{
	(void)state;
	read_outside(SIDE_DEVICE_MEMORY);
}

static void write_to_read_only(enum side_source source)
{
	uint8_t zeros[64] = {0};

	if (!export_here(source, LOCAL_RW | PCI_RO))
		return;
	assert_ok(peer_import_map(&there, 0, &desc));
	assert_error(peer_write(&there, 0, 0, zeros, sizeof(zeros)), DOCA_ERROR_NOT_PERMITTED);
	/* A descriptor that claims more than was granted gets no more. */
	fields.access = LOCAL_RW | PCI_RW;
	assert_ok(peer_drop(&there, 0));
	assert_ok(import_changed());
	assert_error(peer_write(&there, 0, 64, zeros, sizeof(zeros)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&there, 0, 0, got, LEN));
	assert_unharmed();
}

static void test_write_to_read_only_memory(void **state)
{
	(void)state;
	write_to_read_only(SIDE_MEMORY);
}

static void test_write_to_read_only_device_memory(void **state)
{
	(void)state;
	write_to_read_only(SIDE_DEVICE_MEMORY);
}

static void test_bare_key_of_the_exporter(void **state)
{
	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	assert_int_equal(peer_raw_access(&there, fields.mkey, fields.addr, RAW_REMOTE_READ),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(peer_raw_access(&there, fields.mkey, fields.addr, RAW_REMOTE_WRITE),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(peer_raw_access(&there, fields.mkey, fields.addr, RAW_LOCAL),
			 IBV_WC_LOC_PROT_ERR);
	assert_unharmed();
}

static void test_descriptor_of_an_ended_export(void **state)
{
	struct side_export what = {.source = SIDE_MEMORY, .len = LEN, .access = PCI_RW, .seed = 1};
	struct side_desc other;

	(void)state;
	export_here(SIDE_MEMORY, LOCAL_RW | PCI_RW);
	assert_ok(side_drop(&here, 0));
	assert_error(peer_import_map(&there, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
	/* Nor once its mkey may have been given to another. */
	assert_ok(side_export_map(&here, 0, &what, &other));
	assert_error(peer_import_map(&there, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_import_map(&there, 0, &other));
}

#define sides_test(function) cmocka_unit_test_setup_teardown(function, open_sides, close_sides)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		sides_test(test_wrong_access_key),
		sides_test(test_wrong_vhca_id),
		sides_test(test_wrong_mkey),
		sides_test(test_descriptor_of_another_card),
		sides_test(test_outside_of_memory),
		sides_test(test_outside_of_device_memory),
		sides_test(test_write_to_read_only_memory),
		sides_test(test_write_to_read_only_device_memory),
		sides_test(test_bare_key_of_the_exporter),
		sides_test(test_descriptor_of_an_ended_export),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
