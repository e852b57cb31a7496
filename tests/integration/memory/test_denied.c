/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an importer must not reach: with modified descriptors, without permission, or with a bare
 * key.
 */
#include <string.h>

#include <infiniband/verbs.h>

#include <dpumap/desc.h>

#include "fixture.h"
#include "peer.h"

#define LEN 8192

static struct descriptor desc;
static struct dpumap_desc fields;
static uint8_t got[2 * LEN], sent[LEN];

/* Whether the device supports it. */
static bool export_from_parent(enum map_source source, uint32_t access)
{
	struct map_spec what = {.source = source, .len = LEN, .access = access, .seed = 21};

	fixture_fill(sent, LEN, what.seed);
	if (sharer_was_refused(sharer_export(&parent, 0, &what, &desc), source))
		return false;
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	return true;
}

static int close_all(void **state)
{
	dpumap_desc_wipe(&fields);
	return peer_teardown(state);
}

/* The exporter's memory is unchanged, and a proper import still works. */
static void assert_unharmed(void)
{
	assert_ok(sharer_peek(&parent, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(peer_import(&peer, 7, &desc));
	assert_ok(peer_read(&peer, 7, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	assert_ok(peer_drop(&peer, 7));
}

static doca_error_t import_changed(void)
{
	struct descriptor changed;

	changed.len = sizeof(changed.bytes);
	assert_int_equal(
		dpumap_desc_encode(&fields, changed.bytes, sizeof(changed.bytes), &changed.len),
		DPUMAP_DESC_OK);
	return peer_import(&peer, 0, &changed);
}

static void wrong_access_key_is_denied(void **state)
{
	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	for (size_t i = 0; i < sizeof(fields.access_key); i += 31) {
		fields.access_key[i] ^= 1;
		assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
		fields.access_key[i] ^= 1;
	}
	memset(fields.access_key, 0x55, sizeof(fields.access_key));
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void wrong_vhca_id_is_denied(void **state)
{
	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	for (uint16_t flip = 1; flip; flip = (uint16_t)(flip << 1)) {
		fields.vhca_id ^= flip;
		assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
		fields.vhca_id ^= flip;
	}
	assert_unharmed();
}

static void wrong_mkey_is_denied(void **state)
{
	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	fields.mkey ^= 0x00800000;
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void descriptor_of_another_card_is_denied(void **state)
{
	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	fields.device_guid ^= 1;
	assert_error(import_changed(), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void read_outside(enum map_source source)
{
	if (!export_from_parent(source, LOCAL_RW | PCI_RW))
		return;
	fields.len *= 2;
	assert_ok(import_changed());
	assert_error(peer_read(&peer, 0, LEN, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_read(&peer, 0, LEN - 64, got, 128), DOCA_ERROR_NOT_PERMITTED);
	assert_error(peer_write(&peer, 0, LEN, sent, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&peer, 0, LEN - 64, got, 64));
	assert_memory_equal(got, sent + LEN - 64, 64);
	assert_ok(peer_drop(&peer, 0));
	fields.len = LEN;
	fields.addr -= 4096;
	assert_ok(import_changed());
	assert_error(peer_read(&peer, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_unharmed();
}

static void access_outside_of_memory_is_denied(void **state)
{
	read_outside(FROM_MEMORY);
}

static void access_outside_of_device_memory_is_denied(void **state)
{
	read_outside(FROM_DEVICE_MEMORY);
}

static void write_to_read_only(enum map_source source)
{
	uint8_t zeros[64] = {0};

	if (!export_from_parent(source, LOCAL_RW | PCI_RO))
		return;
	assert_ok(peer_import(&peer, 0, &desc));
	assert_error(peer_write(&peer, 0, 0, zeros, sizeof(zeros)), DOCA_ERROR_NOT_PERMITTED);
	/* A descriptor that claims more than was granted reaches no more than was granted. */
	fields.access = LOCAL_RW | PCI_RW;
	assert_ok(peer_drop(&peer, 0));
	assert_ok(import_changed());
	assert_error(peer_write(&peer, 0, 64, zeros, sizeof(zeros)), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_unharmed();
}

static void write_to_read_only_memory_is_denied(void **state)
{
	write_to_read_only(FROM_MEMORY);
}

static void write_to_read_only_device_memory_is_denied(void **state)
{
	write_to_read_only(FROM_DEVICE_MEMORY);
}

static void bare_key_of_the_exporter_is_denied(void **state)
{
	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	assert_int_equal(peer_key_access(&peer, fields.mkey, fields.addr, KEY_REMOTE_READ),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(peer_key_access(&peer, fields.mkey, fields.addr, KEY_REMOTE_WRITE),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(peer_key_access(&peer, fields.mkey, fields.addr, KEY_LOCAL),
			 IBV_WC_LOC_PROT_ERR);
	assert_unharmed();
}

static void descriptor_of_an_ended_export_is_denied(void **state)
{
	struct map_spec what = {.source = FROM_MEMORY, .len = LEN, .access = PCI_RW, .seed = 1};
	struct descriptor other;

	export_from_parent(FROM_MEMORY, LOCAL_RW | PCI_RW);
	assert_ok(sharer_drop(&parent, 0));
	assert_error(peer_import(&peer, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
	/* Nor does it after the mkey may have been reused. */
	assert_ok(sharer_export(&parent, 0, &what, &other));
	assert_error(peer_import(&peer, 0, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_import(&peer, 0, &other));
}

#define denied_test(function) cmocka_unit_test_setup_teardown(function, peer_setup, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		denied_test(wrong_access_key_is_denied),
		denied_test(wrong_vhca_id_is_denied),
		denied_test(wrong_mkey_is_denied),
		denied_test(descriptor_of_another_card_is_denied),
		denied_test(access_outside_of_memory_is_denied),
		denied_test(access_outside_of_device_memory_is_denied),
		denied_test(write_to_read_only_memory_is_denied),
		denied_test(write_to_read_only_device_memory_is_denied),
		denied_test(bare_key_of_the_exporter_is_denied),
		denied_test(descriptor_of_an_ended_export_is_denied),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
