/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps for peers over RDMA. The test exports on the DPU of card 0; another process on the DPU of
 * card 1 imports and uses the key of its map over a queue pair that is connected to one here.
 */
#include <string.h>
#include <unistd.h>

#include <dpumap/desc.h>

#include "fixture.h"
#include "link.h"

#define LEN    8192

#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W ((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)
#define RDMA_A ((uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC)

static struct rig rig;
static struct {
	pid_t pid;
	int to;
	int from;
} node;
static _Alignas(8) uint8_t memory[LEN];

/* What the other node is to do with an export, and what came of it. */
struct task {
	struct side_desc desc;
	struct link_end end;
	uint32_t opcode;
	uint64_t offset;
	uint8_t bytes[LINK_BYTES];
};

struct result {
	int32_t imported; /* a doca_error_t; the rest is there only if it is good */
	int32_t status;	  /* an ibv_wc_status */
	uint32_t key;
	uint64_t addr;
	uint64_t len;
	struct link_end end;
	uint8_t bytes[LINK_BYTES];
};

/* The other node. */

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

static void use_import(const struct task *task, struct link *link, struct result *result)
{
	char go;

	result->end = link->end;
	result->status = -1;
	if (!link_connect(link, &task->end) || !rig_send(STDOUT_FILENO, result, sizeof(*result)) ||
	    !rig_receive(STDIN_FILENO, &go, 1))
		return;
	memcpy(link->bytes, task->bytes, sizeof(link->bytes));
	result->status = link_access(link, (enum ibv_wr_opcode)task->opcode, result->key,
				     result->addr + task->offset);
	memcpy(result->bytes, link->bytes, sizeof(result->bytes));
}

static bool perform(struct doca_dev *dev, const struct task *task)
{
	struct doca_mmap *mmap = NULL;
	struct result result = {0};
	struct link link;
	bool good;

	result.imported = (int32_t)import(dev, task, &mmap, &result);
	if (!mmap)
		return rig_send(STDOUT_FILENO, &result, sizeof(result));
	good = link_open(&link, dev);
	if (good)
		use_import(task, &link, &result);
	good = link_close(&link) && good;
	good = doca_mmap_destroy(mmap) == DOCA_SUCCESS && good;
	return rig_send(STDOUT_FILENO, &result, sizeof(result)) && good;
}

static int be_node(void)
{
	struct doca_dev *dev;
	struct task task;
	bool good = true;

	if (rig_open_device(&dev) != DOCA_SUCCESS)
		return 1;
	while (good && rig_receive(STDIN_FILENO, &task, sizeof(task)))
		good = perform(dev, &task);
	return doca_dev_close(dev) != DOCA_SUCCESS || !good;
}

/* This side. */

static bool start_node(void)
{
	const char *const argv[] = {
		rig_options.emu, "run", "--as", "dpu1", "--", rig_options.self, "--be-peer", NULL,
	};

	node.pid = rig_spawn(argv, &node.to, &node.from);
	return node.pid > 0;
}

static int open_here(void **state)
{
	if (fixture_count(state) || rig_open(&rig) != DOCA_SUCCESS)
		return -1;
	rig_fill(memory, LEN, 5);
	return 0;
}

static int close_here(void **state)
{
	return rig_close(&rig) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

static int open_both(void **state)
{
	return open_here(state) || !start_node() ? -1 : 0;
}

static int close_both(void **state)
{
	close(node.to);
	close(node.from);
	return rig_reap(node.pid) || close_here(state) ? -1 : 0;
}

static struct doca_mmap *new_map(uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, LEN));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	return mmap;
}

static struct doca_mmap *started_map(uint32_t access)
{
	struct doca_mmap *mmap = new_map(access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static void export_map(struct doca_mmap *mmap, struct side_desc *desc)
{
	const void *blob;

	assert_ok(doca_mmap_export_rdma(mmap, rig.dev, &blob, &desc->len));
	assert_true(desc->len <= sizeof(desc->bytes));
	memcpy(desc->bytes, blob, desc->len);
}

static struct doca_mmap *import_pci(struct doca_mmap *from)
{
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_pci(from, rig.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, rig.dev, &mmap));
	return mmap;
}

static struct doca_mmap *import_rdma(const struct side_desc *desc)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create_from_export(NULL, desc->bytes, desc->len, rig.dev, &mmap));
	return mmap;
}

/* The other node uses desc; bytes go there with a write and come back with a read. */
static int remote(const struct side_desc *desc, enum ibv_wr_opcode opcode, uint64_t offset,
		  uint8_t bytes[LINK_BYTES])
{
	struct task task = {.desc = *desc, .opcode = (uint32_t)opcode, .offset = offset};
	struct result result;
	struct link link;

	assert_true(link_open(&link, rig.dev));
	task.end = link.end;
	memcpy(task.bytes, bytes, sizeof(task.bytes));
	assert_true(rig_send(node.to, &task, sizeof(task)));
	assert_true(rig_receive(node.from, &result, sizeof(result)));
	assert_ok((doca_error_t)result.imported);
	assert_true(link_connect(&link, &result.end));
	assert_true(rig_send(node.to, "", 1));
	assert_true(rig_receive(node.from, &result, sizeof(result)));
	assert_true(link_close(&link));
	memcpy(bytes, result.bytes, sizeof(result.bytes));
	return result.status;
}

static int remote_read(const struct side_desc *desc, uint64_t offset, uint8_t bytes[LINK_BYTES])
{
	memset(bytes, 0, LINK_BYTES);
	return remote(desc, IBV_WR_RDMA_READ, offset, bytes);
}

static int remote_write(const struct side_desc *desc, uint64_t offset, uint32_t seed)
{
	uint8_t bytes[LINK_BYTES];

	rig_fill(bytes, sizeof(bytes), seed);
	return remote(desc, IBV_WR_RDMA_WRITE, offset, bytes);
}

static void assert_read(const struct side_desc *desc, uint64_t offset)
{
	uint8_t got[LINK_BYTES];

	assert_int_equal(remote_read(desc, offset, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, memory + offset, sizeof(got));
}

static void assert_no_read(const struct side_desc *desc, uint64_t offset)
{
	uint8_t got[LINK_BYTES];

	assert_int_equal(remote_read(desc, offset, got), IBV_WC_REM_ACCESS_ERR);
}

static void assert_write(const struct side_desc *desc, uint64_t offset)
{
	uint8_t sent[LINK_BYTES];

	rig_fill(sent, sizeof(sent), 99);
	assert_memory_not_equal(memory + offset, sent, sizeof(sent));
	assert_int_equal(remote_write(desc, offset, 99), IBV_WC_SUCCESS);
	assert_memory_equal(memory + offset, sent, sizeof(sent));
}

static void assert_no_write(const struct side_desc *desc, uint64_t offset)
{
	uint8_t before[LINK_BYTES];

	memcpy(before, memory + offset, sizeof(before));
	assert_int_equal(remote_write(desc, offset, 98), IBV_WC_REM_ACCESS_ERR);
	assert_memory_equal(memory + offset, before, sizeof(before));
}

static void test_peer_reads_and_writes(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct side_desc desc;

	(void)state;
	export_map(mmap, &desc);
	assert_read(&desc, 0);
	assert_read(&desc, LEN - LINK_BYTES);
	assert_write(&desc, 0);
	assert_write(&desc, LEN - LINK_BYTES);
	assert_ok(doca_mmap_destroy(mmap));
}

/* Device memory here, at an odd place in it, from a queue pair of another node. */
static void test_peer_uses_device_memory(void **state)
{
	const uint64_t count = 0x1122334455667788;
	uint8_t sent[LINK_BYTES], got[LINK_BYTES];
	struct doca_mmap *mmap;
	struct side_desc desc;
	struct dpumap_dm *dm;
	uint64_t word;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, LEN, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 520, 1000));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W | RDMA_A));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	rig_fill(sent, sizeof(sent), 77);
	assert_int_equal(remote_write(&desc, 1000 - LINK_BYTES, 77), IBV_WC_SUCCESS);
	assert_ok(dpumap_dm_read(dm, 1520 - LINK_BYTES, got, sizeof(got)));
	assert_memory_equal(got, sent, sizeof(got));
	assert_int_equal(remote_read(&desc, 1000 - LINK_BYTES, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, sent, sizeof(got));
	assert_int_equal(remote_read(&desc, 1001 - LINK_BYTES, got), IBV_WC_REM_ACCESS_ERR);
	assert_ok(dpumap_dm_write(dm, 528, &count, sizeof(count)));
	assert_int_equal(remote(&desc, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, &count, sizeof(count));
	assert_ok(dpumap_dm_read(dm, 528, &word, sizeof(word)));
	assert_true(word == count + 1);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

static void test_peer_stays_in_the_range(void **state)
{
	struct doca_mmap *mmap;
	struct side_desc desc;
	uint8_t got[LINK_BYTES];

	(void)state;
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory + LINK_BYTES, LEN - 2 * LINK_BYTES));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	assert_int_equal(remote_read(&desc, (uint64_t)-1, got), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_read(&desc, LEN - 3 * LINK_BYTES + 1, got), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_write(&desc, LEN - 3 * LINK_BYTES + 1, 3), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(remote_read(&desc, LEN - 3 * LINK_BYTES, got), IBV_WC_SUCCESS);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_rights_are_the_rdma_flags(void **state)
{
	static const uint32_t others[] = {0, LOCAL_RW, PCI_RO, PCI_RW, LOCAL_RW | PCI_RW};
	struct side_desc desc;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct doca_mmap *mmap = started_map(others[i] | RDMA_R);

		export_map(mmap, &desc);
		assert_read(&desc, 64);
		assert_no_write(&desc, 64);
		assert_ok(doca_mmap_destroy(mmap));

		rig_fill(memory, LEN, 5);
		mmap = started_map(others[i] | RDMA_W);
		export_map(mmap, &desc);
		assert_no_read(&desc, 64);
		assert_write(&desc, 64);
		assert_ok(doca_mmap_destroy(mmap));
		rig_fill(memory, LEN, 5);
	}
}

static void test_peer_adds(void **state)
{
	struct doca_mmap *mmap = started_map(RDMA_A);
	uint64_t *counter = (uint64_t *)(void *)memory;
	uint8_t bytes[LINK_BYTES] = {0};
	struct side_desc desc;
	uint64_t old;

	(void)state;
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

static void test_stop_ends_it(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | PCI_RW);
	struct side_desc desc;

	(void)state;
	export_map(mmap, &desc);
	assert_read(&desc, 0);
	assert_ok(doca_mmap_stop(mmap));
	assert_no_read(&desc, 0);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_device_memory(void **state)
{
	uint8_t got[LINK_BYTES], want[LINK_BYTES];
	struct doca_mmap *mmap;
	struct side_desc desc;
	struct dpumap_dm *dm;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, memory, LEN));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 64, LEN - 64));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R | RDMA_W));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	export_map(mmap, &desc);
	assert_int_equal(remote_read(&desc, 128, got), IBV_WC_SUCCESS);
	assert_memory_equal(got, memory + 64 + 128, sizeof(got));
	assert_int_equal(remote_write(&desc, 4096, 7), IBV_WC_SUCCESS);
	rig_fill(want, sizeof(want), 7);
	assert_ok(dpumap_dm_read(dm, 64 + 4096, got, sizeof(got)));
	assert_memory_equal(got, want, sizeof(got));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

/* What the host exported by PCI goes on to a third party, with the rights the host gave it. */
static void test_imported_map_goes_on(void **state)
{
	static const uint32_t rights[] = {RDMA_R | RDMA_W, RDMA_R, RDMA_W};
	struct side_desc desc;

	(void)state;
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW | rights[i]);
		struct doca_mmap *mmap = import_pci(from);

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
		rig_fill(memory, LEN, 5);
	}
}

static void test_imported_map_without_rdma_stays(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *mmap = import_pci(from);
	const void *desc = NULL;
	size_t len = 0;

	(void)state;
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));

	from = started_map(LOCAL_RW | PCI_RW | RDMA_R);
	mmap = import_pci(from);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_null(desc);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_export_refusals(void **state)
{
	struct doca_mmap *mmap = new_map(RDMA_R);
	struct doca_mmap *without_flag = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *without_dev;
	const void *desc = NULL;
	size_t len = 0;

	(void)state;
	assert_ok(doca_mmap_create(&without_dev));
	assert_error(doca_mmap_export_rdma(NULL, rig.dev, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &desc, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(without_flag, rig.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(without_dev, rig.dev, &desc, &len),
		     DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_null(desc);
	assert_int_equal(len, 0);
	assert_ok(doca_mmap_destroy(without_dev));
	assert_ok(doca_mmap_destroy(without_flag));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_export_again_is_the_same(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | PCI_RW | RDMA_R);
	const void *first, *second, *other;
	struct rig_counts before, after;
	size_t first_len, second_len;
	uint8_t exported = 9;

	(void)state;
	assert_ok(doca_mmap_export_rdma(mmap, rig.dev, &first, &first_len));
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 1);
	assert_true(rig_read_counts(&before));
	assert_ok(doca_mmap_export_rdma(mmap, rig.dev, &second, &second_len));
	assert_true(rig_read_counts(&after));
	assert_true(rig_counts_equal(&before, &after));
	assert_ptr_equal(first, second);
	assert_int_equal(first_len, second_len);
	assert_ok(doca_mmap_export_pci(mmap, rig.dev, &other, &second_len));
	assert_ptr_not_equal(first, other);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_descriptor_tells_the_map(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct dpumap_desc fields;
	struct side_desc desc;
	struct link link;

	(void)state;
	export_map(mmap, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	assert_int_equal(fields.kind, DPUMAP_DESC_KIND_RDMA);
	assert_int_equal(fields.source, DPUMAP_DESC_SOURCE_MEMORY);
	/* Who looks for the exporter finds the port that queue pairs here are on. */
	assert_true(link_open(&link, rig.dev));
	assert_int_equal(fields.port.link_layer, DPUMAP_DESC_LINK_ETHERNET);
	assert_int_equal(fields.port.lid, 0);
	assert_memory_equal(fields.port.gid, link.end.gid, sizeof(fields.port.gid));
	assert_true(link_close(&link));
	assert_int_equal(fields.access, LOCAL_RW | RDMA_R | RDMA_W);
	assert_int_equal(fields.addr, (uintptr_t)memory);
	assert_int_equal(fields.len, LEN);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_import_needs_no_device_object(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | RDMA_R);
	struct rig_counts before, after;
	struct doca_mmap *mmap;
	struct side_desc desc;
	void *addr = NULL;
	size_t len = 0;

	(void)state;
	export_map(from, &desc);
	assert_true(rig_read_counts(&before));
	mmap = import_rdma(&desc);
	assert_true(rig_read_counts(&after));
	assert_true(rig_counts_equal(&before, &after));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, LEN);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_import_is_not_for_this_device(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | RDMA_R | RDMA_W);
	struct doca_mmap *mmap;
	struct side_desc desc;
	const void *blob;
	struct rig_buf buf;
	size_t len;

	(void)state;
	export_map(from, &desc);
	mmap = import_rdma(&desc);
	assert_ok(rig_buf_create(&rig, LEN, LOCAL_RW, &buf));
	assert_error(rig_copy(&rig, &(struct rig_copy){buf.mmap, buf.bytes, mmap, memory, LEN}),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(rig_copy(&rig, &(struct rig_copy){mmap, memory, buf.mmap, buf.bytes, LEN}),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_rdma(mmap, rig.dev, &blob, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, &blob, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(rig_buf_destroy(&buf));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_keys_of_imports(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW | RDMA_R | RDMA_W);
	struct dpumap_desc fields;
	struct doca_mmap *mmap;
	struct side_desc desc;
	uint32_t key = 0, handle = 0;

	(void)state;
	export_map(from, &desc);
	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	mmap = import_rdma(&desc);
	assert_ok(doca_mmap_get_mkey(mmap, rig.dev, &key));
	assert_ok(doca_mmap_dev_get_dpa_handle(mmap, rig.dev, &handle));
	assert_int_equal(key, fields.mkey);
	assert_int_equal(handle, key);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_get_mkey(mmap, rig.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rig.dev, &handle),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_key_refusals(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);
	struct doca_mmap *other;
	uint32_t key = 77;

	(void)state;
	assert_ok(doca_mmap_create(&other));
	assert_error(doca_mmap_get_mkey(mmap, rig.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(other, rig.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(NULL, rig.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(mmap, rig.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rig.dev, &key), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_dev_get_dpa_handle(other, rig.dev, &key), DOCA_ERROR_NOT_FOUND);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rig.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(key, 77);
	assert_ok(doca_mmap_destroy(other));
	assert_ok(doca_mmap_destroy(mmap));
}

/* A work request of this process names the bytes at addr by the key of the map. */
static void assert_key_reaches(struct doca_mmap *mmap, uint64_t addr, const uint8_t *want)
{
	struct link from = {0}, to = {0};
	struct link_request request = {
		.opcode = IBV_WR_RDMA_WRITE,
		.addr = addr,
		.len = LINK_BYTES,
	};

	assert_ok(doca_mmap_get_mkey(mmap, rig.dev, &request.lkey));
	assert_true(link_open(&from, rig.dev) && link_open(&to, rig.dev));
	assert_true(link_connect(&from, &to.end) && link_connect(&to, &from.end));
	request.rkey = to.key;
	request.remote_addr = (uintptr_t)to.bytes;
	assert_int_equal(link_run(&from, &request), IBV_WC_SUCCESS);
	assert_memory_equal(to.bytes, want, LINK_BYTES);
	assert_true(link_close(&from) && link_close(&to));
}

static void test_key_of_memory(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW);

	(void)state;
	assert_key_reaches(mmap, (uintptr_t)memory + 192, memory + 192);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_key_of_pci_import(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *mmap = import_pci(from);

	(void)state;
	assert_key_reaches(mmap, (uintptr_t)memory + 192, memory + 192);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_key_of_device_memory(void **state)
{
	uint32_t first = 0, second = 1;
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;
	size_t len = 0;
	void *addr;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, LEN, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 0, memory, LEN));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 0, LEN));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_key_reaches(mmap, (uintptr_t)addr + 320, memory + 320);
	assert_ok(doca_mmap_get_mkey(mmap, rig.dev, &first));
	assert_ok(doca_mmap_get_mkey(mmap, rig.dev, &second));
	assert_int_equal(first, second);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

#define here_test(function)  cmocka_unit_test_setup_teardown(function, open_here, close_here)
#define nodes_test(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		nodes_test(test_peer_reads_and_writes),
		nodes_test(test_peer_uses_device_memory),
		nodes_test(test_peer_stays_in_the_range),
		nodes_test(test_rights_are_the_rdma_flags),
		nodes_test(test_peer_adds),
		nodes_test(test_stop_ends_it),
		nodes_test(test_device_memory),
		nodes_test(test_imported_map_goes_on),
		here_test(test_imported_map_without_rdma_stays),
		here_test(test_export_refusals),
		here_test(test_export_again_is_the_same),
		here_test(test_descriptor_tells_the_map),
		here_test(test_import_needs_no_device_object),
		here_test(test_import_is_not_for_this_device),
		here_test(test_keys_of_imports),
		here_test(test_key_refusals),
		here_test(test_key_of_memory),
		here_test(test_key_of_pci_import),
		here_test(test_key_of_device_memory),
	};

	rig_parse(argc, argv);
	if (rig_options.is_peer)
		return be_node();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
