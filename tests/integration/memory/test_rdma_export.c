/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps for peers over RDMA. The parent exports on the DPU of card 0; the peer, on the DPU of card
 * 1, imports the map and uses its key over a queue pair that is connected to the parent's.
 */
#include <string.h>
#include <unistd.h>

#include <dpumap/desc.h>

#include "base/array.h"
#include "device_pd.h"
#include "fixture.h"
#include "rc.h"
#include "sharer.h"

#define LEN    8192

#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W ((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)
#define RDMA_A ((uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static struct process peer;
static _Alignas(8) uint8_t memory[LEN];

/* What the peer is to do with an export, and the result. */
struct task {
	struct descriptor desc;
	struct rc_address address;
	uint32_t opcode;
	uint64_t offset;
	uint8_t bytes[RC_ACCESS_LEN];
};

struct result {
	int32_t imported; /* a doca_error_t; the rest is valid if it is DOCA_SUCCESS */
	int32_t status;	  /* an ibv_wc_status */
	uint32_t key;
	uint64_t addr;
	uint64_t len;
	struct rc_address address;
	uint8_t bytes[RC_ACCESS_LEN];
};

/* The peer. */

static doca_error_t import(struct doca_dev *dev, const struct task *task, struct doca_mmap **mmap,
			   struct result *result)
{
	doca_error_t error;
	void *addr = NULL;
	size_t len = 0;

	error = doca_mmap_create_from_export(NULL, task->desc.bytes, task->desc.len, dev, mmap);
	if (error != DOCA_SUCCESS)
		return error;
	DOCA_ERROR_PROPAGATE(error, doca_mmap_get_memrange(*mmap, &addr, &len));
	DOCA_ERROR_PROPAGATE(error, doca_mmap_get_mkey(*mmap, dev, &result->key));
	result->addr = (uintptr_t)addr;
	result->len = len;
	return error;
}

static void use_import(const struct task *task, struct rc *rc, struct result *result)
{
	char go;

	result->address = rc->address;
	result->status = -1;
	if (!rc_connect(rc, &task->address) ||
	    !process_send(STDOUT_FILENO, result, sizeof(*result)) ||
	    !process_receive(STDIN_FILENO, &go, 1))
		return;
	memcpy(rc->bytes, task->bytes, sizeof(task->bytes));
	result->status = rc_access(rc, (enum ibv_wr_opcode)task->opcode, result->key,
				   result->addr + task->offset);
	memcpy(result->bytes, rc->bytes, sizeof(result->bytes));
}

static bool perform(struct doca_dev *dev, const struct task *task)
{
	struct doca_mmap *mmap = NULL;
	struct result result = {0};
	struct rc rc;
	bool good;

	result.imported = (int32_t)import(dev, task, &mmap, &result);
	if (!mmap)
		return process_send(STDOUT_FILENO, &result, sizeof(result));
	good = rc_open(&rc, device_pd(dev));
	if (good)
		use_import(task, &rc, &result);
	good = rc_close(&rc) && good;
	good = doca_mmap_destroy(mmap) == DOCA_SUCCESS && good;
	return process_send(STDOUT_FILENO, &result, sizeof(result)) && good;
}

static int serve(void)
{
	struct doca_dev *dev;
	struct task task;
	bool good = true;

	if (fixture_open_device(&dev) != DOCA_SUCCESS)
		return 1;
	while (good && process_receive(STDIN_FILENO, &task, sizeof(task)))
		good = perform(dev, &task);
	return doca_dev_close(dev) != DOCA_SUCCESS || !good;
}

/* The parent. */

static int open_parent(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_fill(memory, LEN, 5);
	return 0;
}

static int close_parent(void **state)
{
	return fixture_teardown(state);
}

static int open_both(void **state)
{
	return open_parent(state) || !process_start_peer(&peer, "dpu1") ? -1 : 0;
}

static int close_both(void **state)
{
	return !process_finish(&peer) || close_parent(state) ? -1 : 0;
}

static struct doca_mmap *new_map(uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, LEN));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	return mmap;
}

static struct doca_mmap *started_map(uint32_t access)
{
	struct doca_mmap *mmap = new_map(access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static void export_map(struct doca_mmap *mmap, struct descriptor *desc)
{
	const void *blob;

	assert_ok(doca_mmap_export_rdma(mmap, fixture.dev, &blob, &desc->len));
	assert_true(desc->len <= sizeof(desc->bytes));
	memcpy(desc->bytes, blob, desc->len);
}

static struct doca_mmap *import_rdma(const struct descriptor *desc)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create_from_export(NULL, desc->bytes, desc->len, fixture.dev, &mmap));
	return mmap;
}

/* The peer uses desc; bytes go to the map with a write and come back with a read. */
static int remote(const struct descriptor *desc, enum ibv_wr_opcode opcode, uint64_t offset,
		  uint8_t bytes[RC_ACCESS_LEN])
{
	struct task task = {.desc = *desc, .opcode = (uint32_t)opcode, .offset = offset};
	struct result result;
	struct rc rc;

	assert_true(rc_open(&rc, device_pd(fixture.dev)));
	task.address = rc.address;
	memcpy(task.bytes, bytes, sizeof(task.bytes));
	assert_true(process_send(peer.to, &task, sizeof(task)));
	assert_true(process_receive(peer.from, &result, sizeof(result)));
	assert_ok((doca_error_t)result.imported);
	assert_true(rc_connect(&rc, &result.address));
	assert_true(process_send(peer.to, "", 1));
	assert_true(process_receive(peer.from, &result, sizeof(result)));
	assert_true(rc_close(&rc));
	memcpy(bytes, result.bytes, sizeof(result.bytes));
	return result.status;
}

static int remote_read(const struct descriptor *desc, uint64_t offset, uint8_t bytes[RC_ACCESS_LEN])
{
	memset(bytes, 0, RC_ACCESS_LEN);
	return remote(desc, IBV_WR_RDMA_READ, offset, bytes);
}

static int remote_write(const struct descriptor *desc, uint64_t offset, uint32_t seed)
{
	uint8_t bytes[RC_ACCESS_LEN];

	fixture_fill(bytes, sizeof(bytes), seed);
	return remote(desc, IBV_WR_RDMA_WRITE, offset, bytes);
}

static void assert_read(const struct descriptor *desc, uint64_t offset)
{
	uint8_t got[RC_ACCESS_LEN];

	assert_int_equal(remote_read(desc, offset, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, memory + offset, sizeof(got));
}

static void assert_no_read(const struct descriptor *desc, uint64_t offset)
{
	uint8_t got[RC_ACCESS_LEN];

	assert_int_equal(remote_read(desc, offset, got), IBV_WC_REM_ACCESS_ERR);
}

static void assert_write(const struct descriptor *desc, uint64_t offset)
{
	uint8_t sent[RC_ACCESS_LEN];

	fixture_fill(sent, sizeof(sent), 99);
	assert_memory_not_equal(memory + offset, sent, sizeof(sent));
	assert_int_equal(remote_write(desc, offset, 99), IBV_WC_SUCCESS);
	assert_memory_equal(memory + offset, sent, sizeof(sent));
}

static void assert_no_write(const struct descriptor *desc, uint64_t offset)
{
	uint8_t before[RC_ACCESS_LEN];

	memcpy(before, memory + offset, sizeof(before));
	assert_int_equal(remote_write(desc, offset, 98), IBV_WC_REM_ACCESS_ERR);
	assert_memory_equal(memory + offset, before, sizeof(before));
}

static void peer_reads_and_writes(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct descriptor desc;

	export_map(mmap, &desc);
	assert_read(&desc, 0);
	assert_read(&desc, LEN - RC_ACCESS_LEN);
	assert_write(&desc, 0);
	assert_write(&desc, LEN - RC_ACCESS_LEN);
	assert_ok(doca_mmap_destroy(mmap));
}

/* Device memory of the parent, at an odd place in it, from a queue pair of the peer. */
static void peer_uses_device_memory_at_an_odd_place(void **state)
{
	const uint64_t count = 0x1122334455667788;
	uint8_t sent[RC_ACCESS_LEN], got[RC_ACCESS_LEN];
	struct doca_mmap *mmap;
	struct descriptor desc;
	struct dpumap_dm *dm;
	uint64_t word;

	assert_ok(dpumap_dm_alloc(fixture.dev, LEN, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 520, 1000));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W | RDMA_A));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	fixture_fill(sent, sizeof(sent), 77);
	assert_int_equal(remote_write(&desc, 1000 - RC_ACCESS_LEN, 77), IBV_WC_SUCCESS);
	assert_ok(dpumap_dm_read(dm, 1520 - RC_ACCESS_LEN, got, sizeof(got)));
	assert_memory_equal(got, sent, sizeof(got));
	assert_int_equal(remote_read(&desc, 1000 - RC_ACCESS_LEN, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, sent, sizeof(got));
	assert_int_equal(remote_read(&desc, 1001 - RC_ACCESS_LEN, got), IBV_WC_REM_ACCESS_ERR);
	assert_ok(dpumap_dm_write(dm, 528, &count, sizeof(count)));
	assert_int_equal(remote(&desc, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, &count, sizeof(count));
	assert_ok(dpumap_dm_read(dm, 528, &word, sizeof(word)));
	assert_true(word == count + 1);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

static void peer_stays_in_the_range(void **state)
{
	struct doca_mmap *mmap;
	struct descriptor desc;
	uint8_t got[RC_ACCESS_LEN];

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory + RC_ACCESS_LEN, LEN - 2 * RC_ACCESS_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	assert_int_equal(remote_read(&desc, (uint64_t)-1, got), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_read(&desc, LEN - 3 * RC_ACCESS_LEN + 1, got),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_write(&desc, LEN - 3 * RC_ACCESS_LEN + 1, 3),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_read(&desc, LEN - 3 * RC_ACCESS_LEN, got), IBV_WC_SUCCESS);
	assert_ok(doca_mmap_destroy(mmap));
}

static void rights_of_a_peer_are_the_rdma_flags(void **state)
{
	static const uint32_t others[] = {0, LOCAL_RW, PCI_RO, PCI_RW, LOCAL_RW | PCI_RW};
	struct descriptor desc;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct doca_mmap *mmap = started_map(others[i] | RDMA_R);

		export_map(mmap, &desc);
		assert_read(&desc, 64);
		assert_no_write(&desc, 64);
		assert_ok(doca_mmap_destroy(mmap));

		fixture_fill(memory, LEN, 5);
		mmap = started_map(others[i] | RDMA_W);
		export_map(mmap, &desc);
		assert_no_read(&desc, 64);
		assert_write(&desc, 64);
		assert_ok(doca_mmap_destroy(mmap));
		fixture_fill(memory, LEN, 5);
	}
}

static void atomic_permission_alone_lets_a_peer_add(void **state)
{
	struct doca_mmap *mmap = started_map(RDMA_A);
	uint64_t *counter = (uint64_t *)(void *)memory;
	uint8_t bytes[RC_ACCESS_LEN] = {0};
	struct descriptor desc;
	uint64_t old;

	*counter = 41;
	export_map(mmap, &desc);
	assert_int_equal(remote(&desc, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, bytes), IBV_WC_SUCCESS);
	memcpy(&old, bytes, sizeof(old));
	assert_int_equal(old, 41);
	assert_int_equal(*counter, 42);
	assert_no_read(&desc, 0);
	assert_no_write(&desc, 0);
	assert_ok(doca_mmap_destroy(mmap));
}

static void stop_ends_the_access_of_the_peer(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | PCI_RW);
	struct descriptor desc;

	export_map(mmap, &desc);
	assert_read(&desc, 0);
	assert_ok(doca_mmap_stop(mmap));
	assert_no_read(&desc, 0);
	assert_ok(doca_mmap_destroy(mmap));
}

static void peer_reads_and_writes_a_part_of_device_memory(void **state)
{
	uint8_t got[RC_ACCESS_LEN], want[RC_ACCESS_LEN];
	struct doca_mmap *mmap;
	struct descriptor desc;
	struct dpumap_dm *dm;

	assert_ok(dpumap_dm_alloc(fixture.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, memory, LEN));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 64, LEN - 64));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	assert_int_equal(remote_read(&desc, 128, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, memory + 64 + 128, sizeof(got));
	assert_int_equal(remote_write(&desc, 4096, 7), IBV_WC_SUCCESS);
	fixture_fill(want, sizeof(want), 7);
	assert_ok(dpumap_dm_read(dm, 64 + 4096, got, sizeof(got)));
	assert_memory_equal(got, want, sizeof(got));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

/*
 * A PCI import of the host's memory is exported to a third process, with the rights that the host
 * granted.
 */
static void import_is_exported_with_the_rights_of_its_exporter(void **state)
{
	static const uint32_t rights[] = {RDMA_R | RDMA_W, RDMA_R, RDMA_W};
	struct descriptor desc;

	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW | rights[i]);
		struct doca_mmap *mmap = fixture_import_pci(fixture.dev, from);

		export_map(mmap, &desc);
		if (rights[i] & RDMA_R)
			assert_read(&desc, 256);
		else
			assert_no_read(&desc, 256);
		if (rights[i] & RDMA_W)
			assert_write(&desc, 256);
		else
			assert_no_write(&desc, 256);
		assert_ok(doca_mmap_stop(from));
		assert_int_not_equal(remote_write(&desc, 256, 3), IBV_WC_SUCCESS);
		assert_ok(doca_mmap_destroy(mmap));
		assert_ok(doca_mmap_destroy(from));
		fixture_fill(memory, LEN, 5);
	}
}

static void import_without_rdma_rights_is_not_exported(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *mmap = fixture_import_pci(fixture.dev, from);
	const void *desc = NULL;
	size_t len = 0;

	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));

	from = started_map(LOCAL_RW | PCI_RW | RDMA_R);
	mmap = fixture_import_pci(fixture.dev, from);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_null(desc);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void export_without_device_permission_or_start_is_refused(void **state)
{
	struct doca_mmap *mmap = new_map(RDMA_R);
	struct doca_mmap *without_flag = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *without_dev;
	const void *desc = NULL;
	size_t len = 0;

	assert_ok(doca_mmap_create(&without_dev));
	assert_error(doca_mmap_export_rdma(NULL, fixture.dev, &desc, &len),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, NULL, &len),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &desc, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(without_flag, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(without_dev, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_null(desc);
	assert_int_equal(len, 0);
	assert_ok(doca_mmap_destroy(without_dev));
	assert_ok(doca_mmap_destroy(without_flag));
	assert_ok(doca_mmap_destroy(mmap));
}

static void second_export_returns_the_first_descriptor(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | PCI_RW | RDMA_R);
	const void *first, *second, *other;
	struct objects before, after;
	size_t first_len, second_len;
	uint8_t exported = 9;

	assert_ok(doca_mmap_export_rdma(mmap, fixture.dev, &first, &first_len));
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 1);
	assert_true(objects_read(&before));
	assert_ok(doca_mmap_export_rdma(mmap, fixture.dev, &second, &second_len));
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
	assert_ptr_equal(first, second);
	assert_int_equal(first_len, second_len);
	assert_ok(doca_mmap_export_pci(mmap, fixture.dev, &other, &second_len));
	assert_ptr_not_equal(first, other);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
	assert_ok(doca_mmap_destroy(mmap));
}

static void descriptor_describes_the_map(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct dpumap_desc fields;
	struct descriptor desc;
	struct rc rc;

	export_map(mmap, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	assert_int_equal(fields.kind, DPUMAP_DESC_KIND_RDMA);
	assert_int_equal(fields.source, DPUMAP_DESC_SOURCE_MEMORY);
	/* The descriptor names the port that queue pairs of the exporter use. */
	assert_true(rc_open(&rc, device_pd(fixture.dev)));
	assert_int_equal(fields.port.link_layer, DPUMAP_DESC_LINK_ETHERNET);
	assert_int_equal(fields.port.lid, 0);
	assert_memory_equal(fields.port.gid, rc.address.gid, sizeof(fields.port.gid));
	assert_true(rc_close(&rc));
	assert_int_equal(fields.access, LOCAL_RW | RDMA_R | RDMA_W);
	assert_int_equal(fields.addr, (uintptr_t)memory);
	assert_int_equal(fields.len, LEN);
	assert_ok(doca_mmap_destroy(mmap));
}

static uint16_t exported_source(struct doca_mmap *mmap)
{
	struct dpumap_desc fields;
	struct descriptor desc;

	export_map(mmap, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	return fields.source;
}

static void source_is_named_also_by_an_import_that_goes_on(void **state)
{
	struct doca_mmap *mmap, *import;
	struct dpumap_dm *dm;

	assert_ok(dpumap_dm_alloc(fixture.dev, LEN, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 0, LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW | RDMA_R));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	import = fixture_import_pci(fixture.dev, mmap);
	assert_int_equal(exported_source(mmap), DPUMAP_DESC_SOURCE_DEVICE_MEMORY);
	assert_int_equal(exported_source(import), DPUMAP_DESC_SOURCE_DEVICE_MEMORY);
	assert_ok(doca_mmap_destroy(import));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

/* The last byte of all addresses is in no range. */
static void import_may_end_where_addresses_end(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | RDMA_R), *mmap;
	struct dpumap_desc fields;
	struct descriptor desc;
	void *addr = NULL;
	size_t len = 0;

	export_map(from, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	fields.addr = UINTPTR_MAX - LEN;
	assert_int_equal(dpumap_desc_encode(&fields, desc.bytes, sizeof(desc.bytes), &desc.len),
			 DPUMAP_DESC_OK);
	mmap = import_rdma(&desc);
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_true((uintptr_t)addr == UINTPTR_MAX - LEN);
	assert_int_equal(len, LEN);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void import_needs_no_device_object(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | RDMA_R);
	struct objects before, after;
	struct doca_mmap *mmap;
	struct descriptor desc;
	void *addr = NULL;
	size_t len = 0;

	export_map(from, &desc);
	assert_true(objects_read(&before));
	mmap = import_rdma(&desc);
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, LEN);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void rdma_import_is_not_for_copies_of_this_device(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct doca_mmap *mmap;
	struct descriptor desc;
	const void *blob;
	struct fixture_buf buf;
	size_t len;

	export_map(from, &desc);
	mmap = import_rdma(&desc);
	assert_ok(fixture_buf_create(&fixture, LEN, LOCAL_RW, &buf));
	assert_error(fixture_copy(&fixture,
				  &(struct fixture_copy){buf.mmap, buf.bytes, mmap, memory, LEN}),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(fixture_copy(&fixture,
				  &(struct fixture_copy){mmap, memory, buf.mmap, buf.bytes, LEN}),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_rdma(mmap, fixture.dev, &blob, &len),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_pci(mmap, fixture.dev, &blob, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void key_of_an_rdma_import_is_that_of_its_exporter(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW | RDMA_R | RDMA_W);
	struct dpumap_desc fields;
	struct doca_mmap *mmap;
	struct descriptor desc;
	uint32_t key = 0, handle = 0;

	export_map(from, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	mmap = import_rdma(&desc);
	assert_ok(doca_mmap_get_mkey(mmap, fixture.dev, &key));
	assert_ok(doca_mmap_dev_get_dpa_handle(mmap, fixture.dev, &handle));
	assert_int_equal(key, fields.mkey);
	assert_int_equal(handle, key);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_get_mkey(mmap, fixture.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, fixture.dev, &handle),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void keys_of_a_map_that_is_not_started_are_refused(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);
	struct doca_mmap *other;
	uint32_t key = 77;

	assert_ok(doca_mmap_create(&other));
	assert_error(doca_mmap_get_mkey(mmap, fixture.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(other, fixture.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(NULL, fixture.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(mmap, fixture.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, fixture.dev, &key),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_dev_get_dpa_handle(other, fixture.dev, &key), DOCA_ERROR_NOT_FOUND);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, fixture.dev, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(key, 77);
	assert_ok(doca_mmap_destroy(other));
	assert_ok(doca_mmap_destroy(mmap));
}

/* A work request of this process names the bytes at addr by the map's key. */
static void assert_key_reaches(struct doca_mmap *mmap, uint64_t addr, const uint8_t *want)
{
	struct rc from = {0}, to = {0};
	struct rc_request request = {
		.opcode = IBV_WR_RDMA_WRITE,
		.addr = addr,
		.len = RC_ACCESS_LEN,
	};

	assert_ok(doca_mmap_get_mkey(mmap, fixture.dev, &request.lkey));
	assert_true(rc_open_pair(&from, &to, device_pd(fixture.dev)));
	request.rkey = to.mr->rkey;
	request.remote_addr = (uintptr_t)to.bytes;
	assert_int_equal(rc_run(&from, &request), IBV_WC_SUCCESS);
	assert_memory_equal(to.bytes, want, RC_ACCESS_LEN);
	assert_true(rc_close(&from) && rc_close(&to));
}

static void key_of_memory_reaches_it(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW);

	assert_key_reaches(mmap, (uintptr_t)memory + 192, memory + 192);
	assert_ok(doca_mmap_destroy(mmap));
}

static void key_of_a_pci_import_reaches_the_exporters_memory(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *mmap = fixture_import_pci(fixture.dev, from);

	assert_key_reaches(mmap, (uintptr_t)memory + 192, memory + 192);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void key_of_device_memory_reaches_it_and_stays_the_same(void **state)
{
	uint32_t first = 0, second = 1;
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;
	size_t len = 0;
	void *addr;

	assert_ok(dpumap_dm_alloc(fixture.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, memory, LEN));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 0, LEN));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_key_reaches(mmap, (uintptr_t)addr + 320, memory + 320);
	assert_ok(doca_mmap_get_mkey(mmap, fixture.dev, &first));
	assert_ok(doca_mmap_get_mkey(mmap, fixture.dev, &second));
	assert_int_equal(first, second);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

#define here_test(function) cmocka_unit_test_setup_teardown(function, open_parent, close_parent)
#define peer_test(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		peer_test(peer_reads_and_writes),
		peer_test(peer_uses_device_memory_at_an_odd_place),
		peer_test(peer_stays_in_the_range),
		peer_test(rights_of_a_peer_are_the_rdma_flags),
		peer_test(atomic_permission_alone_lets_a_peer_add),
		peer_test(stop_ends_the_access_of_the_peer),
		peer_test(peer_reads_and_writes_a_part_of_device_memory),
		peer_test(import_is_exported_with_the_rights_of_its_exporter),
		here_test(import_without_rdma_rights_is_not_exported),
		here_test(export_without_device_permission_or_start_is_refused),
		here_test(second_export_returns_the_first_descriptor),
		here_test(descriptor_describes_the_map),
		here_test(source_is_named_also_by_an_import_that_goes_on),
		here_test(import_may_end_where_addresses_end),
		here_test(import_needs_no_device_object),
		here_test(rdma_import_is_not_for_copies_of_this_device),
		here_test(key_of_an_rdma_import_is_that_of_its_exporter),
		here_test(keys_of_a_map_that_is_not_started_are_refused),
		here_test(key_of_memory_reaches_it),
		here_test(key_of_a_pci_import_reaches_the_exporters_memory),
		here_test(key_of_device_memory_reaches_it_and_stays_the_same),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
