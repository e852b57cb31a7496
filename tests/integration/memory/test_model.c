/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random calls on a few maps, compared with a model of each map: every call must have a result that
 * the model allows, and every getter must agree with it. DPUMAP_MODEL_SECONDS sets the duration, 0
 * for no limit; DPUMAP_MODEL_SEED the first sequence. The seed of a failing sequence is printed.
 * DPUMAP_MODEL_TRACE prints each call.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "base/array.h"
#include "fixture.h"
#include "peer.h"

#define MAPS		6
#define DEVS		2
#define BLOBS		8
#define BUFS		12
#define LEN		8192u
#define CALLS		400
#define DEFAULT_SECONDS 3
#define COPY_PATIENCE	60000

#define E(name)		(1u << DOCA_ERROR_##name)
#define OK_TOO		(1u << DOCA_SUCCESS)
#define PCI_FLAGS	(PCI_RO | PCI_RW)
#define RDMA_FLAGS                                                             \
	((uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
		    DOCA_ACCESS_FLAG_RDMA_ATOMIC))
#define RELAXED	  ((uint32_t)DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)
#define ALL_FLAGS 0x7fu

enum state { NONE, NEW, STARTED, STOPPED, IMPORTED, IMPORTED_STOPPED };
enum kind { PCI, RDMA, KINDS };

struct model_map {
	struct doca_mmap *mmap;
	enum state state;
	bool was_started, shared; /* shared: with thread safety */
	bool has_cb, armed;
	void *addr;
	size_t len; /* 0: no range */
	uint32_t access, devs, max_devs, bufs;
	uint64_t user_data;
	const void *desc[KINDS][DEVS]; /* exported descriptors */
	enum kind import_kind;
	uint32_t from, from_life;
	uint32_t life; /* of an export: changes when it ends, even if the slot is reused */
};

struct blob {
	struct descriptor desc;
	enum kind kind;
	uint32_t from, life, access;
	unsigned int dev;
	void *addr;
	size_t len;
};

struct model_buf {
	struct doca_buf *buf;
	int map; /* -1: it has ended */
};

static struct {
	uint32_t random, seed;
	unsigned int call, ndevs, nblobs, nbufs, freed;
	struct doca_dev *devs[DEVS];
	struct dpumap_dma *dma;
	struct doca_mmap *bounce;
	struct doca_buf_inventory *inventory;
	struct model_map maps[MAPS];
	struct blob blobs[BLOBS];
	struct model_buf bufs[BUFS];
	bool trace;
	unsigned long made; /* calls with a result, getters not counted */
} m;

static uint8_t memory[MAPS][LEN], bounce[LEN];

static uint32_t draw(uint32_t below)
{
	m.random = m.random * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)m.random * below) >> 32);
}

static uint32_t index_of(const struct model_map *map)
{
	return (uint32_t)(map - m.maps);
}

static bool is_import(const struct model_map *map)
{
	return map->state == IMPORTED || map->state == IMPORTED_STOPPED;
}

static bool is_usable(const struct model_map *map)
{
	return map->state == STARTED || map->state == IMPORTED;
}

/*
 * errors: all results that the call may have, 0 if it must succeed; with OK_TOO it may also
 * succeed. Returns true if it did.
 */
static bool expect(const char *call, const struct model_map *map, doca_error_t result,
		   uint32_t errors)
{
	bool fine = errors ? errors & (1u << result) : result == DOCA_SUCCESS;

	m.made++;
	if (m.trace)
		print_message("%u: %s of map %u: %s\n", m.call, call, index_of(map),
			      doca_error_get_name(result));
	if (!fine)
		fail_msg("seed %" PRIu32 ", call %u: %s of map %u (state %d): %s, expected 0x%x",
			 m.seed, m.call, call, index_of(map), map->state,
			 doca_error_get_name(result), errors);
	return result == DOCA_SUCCESS;
}

static void free_range(void *addr, size_t len, void *cookie)
{
	const struct model_map *map = cookie;

	if (addr == map->addr && len == map->len)
		m.freed++;
}

static void end_exports(struct model_map *map)
{
	memset(map->desc, 0, sizeof(map->desc));
	map->life++;
}

static void call_create(struct model_map *map)
{
	if (map->state != NONE)
		return;
	*map = (struct model_map){.life = map->life};
	if (!expect("create", map, doca_mmap_create(&map->mmap), 0))
		return;
	map->state = NEW;
	map->access = LOCAL_RW;
	assert_ok(doca_mmap_get_max_num_devices(map->mmap, &map->max_devs));
}

static void call_destroy(struct model_map *map)
{
	unsigned int freed = m.freed;

	if (!expect("destroy", map, doca_mmap_destroy(map->mmap),
		    map->bufs && !map->shared ? E(NOT_PERMITTED) : 0)) {
		assert_int_equal(m.freed, freed);
		return;
	}
	assert_int_equal(m.freed, freed + (map->armed && map->has_cb));
	for (unsigned int i = 0; i < m.nbufs; i++)
		if (m.bufs[i].map == (int)index_of(map))
			m.bufs[i].map = -1;
	end_exports(map);
	map->state = NONE;
}

static void call_start(struct model_map *map)
{
	uint32_t errors = 0;

	if (map->state == STARTED || is_import(map))
		errors |= E(NOT_PERMITTED);
	else if (!map->len || !map->devs)
		errors |= E(INVALID_VALUE);
	if (!expect("start", map, doca_mmap_start(map->mmap), errors))
		return;
	map->state = STARTED;
	map->was_started = true;
	map->armed = true;
}

static void call_stop(struct model_map *map)
{
	bool busy = is_usable(map) && map->bufs && !map->shared;

	if (!expect("stop", map, doca_mmap_stop(map->mmap), busy ? E(NOT_PERMITTED) : 0) ||
	    !is_usable(map))
		return;
	end_exports(map);
	map->state = map->state == IMPORTED ? IMPORTED_STOPPED : STOPPED;
}

/* Results that a setter may have; doc: BAD_STATE or NOT_PERMITTED for an import. */
static uint32_t setter_errors(const struct model_map *map)
{
	if (is_import(map))
		return E(NOT_PERMITTED) | E(BAD_STATE);
	return map->state == STARTED ? E(BAD_STATE) : 0;
}

static void call_set_memrange(struct model_map *map)
{
	static const size_t lens[] = {LEN, LEN, 1, 4097, 0, SIZE_MAX};
	uint8_t *addr = draw(8) ? memory[index_of(map)] : NULL;
	size_t len = lens[draw(6)];
	uint32_t errors = setter_errors(map);

	if (map->len)
		errors |= E(NOT_PERMITTED);
	if (!addr || !len || len == SIZE_MAX)
		errors |= E(INVALID_VALUE);
	if (!expect("set_memrange", map, doca_mmap_set_memrange(map->mmap, addr, len), errors))
		return;
	map->addr = addr;
	map->len = len;
}

static void call_set_other_range(struct model_map *map)
{
	struct doca_dpa *dpa = (struct doca_dpa *)memory; /* never dereferenced */
	uint32_t errors = setter_errors(map);

	if (map->len)
		errors |= E(NOT_PERMITTED);
	if (draw(2))
		expect("set_dpa_memrange", map,
		       doca_mmap_set_dpa_memrange(map->mmap, dpa, 4096, LEN),
		       errors | E(NOT_SUPPORTED));
	else
		expect("set_dmabuf_memrange", map,
		       doca_mmap_set_dmabuf_memrange(map->mmap, -1, memory, 0, LEN),
		       errors | E(INVALID_VALUE));
}

static void call_set_permissions(struct model_map *map)
{
	uint32_t access = draw(ALL_FLAGS + 1), errors = setter_errors(map);

	if (!draw(16))
		access |= 0x80u << draw(24);
	if (access & ~ALL_FLAGS || (access & PCI_FLAGS) == PCI_FLAGS ||
	    ((access & PCI_FLAGS) && (access & RELAXED)))
		errors |= E(INVALID_VALUE);
	if (expect("set_permissions", map, doca_mmap_set_permissions(map->mmap, access), errors))
		map->access = access;
}

static void call_set_free_cb(struct model_map *map)
{
	bool on = draw(2);

	if (!expect("set_free_cb", map,
		    doca_mmap_set_free_cb(map->mmap, on ? free_range : NULL, map),
		    setter_errors(map)))
		return;
	map->has_cb = on;
	map->armed = false;
}

static void call_set_user_data(struct model_map *map)
{
	union doca_data data = {.u64 = draw(UINT32_MAX)};

	if (expect("set_user_data", map, doca_mmap_set_user_data(map->mmap, data),
		   setter_errors(map)))
		map->user_data = data.u64;
}

static uint32_t count_devs(const struct model_map *map)
{
	return (uint32_t)__builtin_popcount(map->devs);
}

static void call_set_max_devs(struct model_map *map)
{
	uint32_t n = draw(4), errors = 0;

	if (map->was_started || is_import(map))
		errors |= E(NOT_PERMITTED);
	if (!n || n < count_devs(map))
		errors |= E(INVALID_VALUE);
	if (expect("set_max_num_devices", map, doca_mmap_set_max_num_devices(map->mmap, n), errors))
		map->max_devs = n;
}

static uint32_t device_errors(const struct model_map *map)
{
	return map->state == STARTED || is_import(map) ? E(NOT_PERMITTED) : 0;
}

static void call_add_dev(struct model_map *map)
{
	unsigned int dev = draw(m.ndevs);
	uint32_t errors = device_errors(map);

	if (map->devs & (1u << dev))
		errors |= E(ALREADY_EXIST);
	if (count_devs(map) >= map->max_devs)
		errors |= E(NO_MEMORY);
	if (expect("add_dev", map, doca_mmap_add_dev(map->mmap, m.devs[dev]), errors))
		map->devs |= 1u << dev;
}

static void call_rm_dev(struct model_map *map)
{
	unsigned int dev = draw(m.ndevs);
	uint32_t errors = device_errors(map);

	if (!(map->devs & (1u << dev)))
		errors |= E(NOT_FOUND);
	if (expect("rm_dev", map, doca_mmap_rm_dev(map->mmap, m.devs[dev]), errors))
		map->devs &= ~(1u << dev);
}

static void keep_blob(const struct model_map *map, enum kind kind, unsigned int dev,
		      const void *desc, size_t len)
{
	struct blob *blob = &m.blobs[m.nblobs++ % BLOBS];

	assert_in_range(len, 1, sizeof(blob->desc.bytes));
	memcpy(blob->desc.bytes, desc, len);
	blob->desc.len = len;
	blob->kind = kind;
	blob->from = index_of(map);
	blob->life = map->life;
	blob->access = map->access;
	blob->dev = dev;
	blob->addr = map->addr;
	blob->len = map->len;
}

static void call_export(struct model_map *map)
{
	unsigned int dev = draw(m.ndevs);
	enum kind kind = draw(2) ? PCI : RDMA;
	uint32_t errors = 0;
	const void *desc;
	doca_error_t result;
	size_t len;

	if (!(map->devs & (1u << dev)))
		errors |= E(NOT_FOUND);
	if (!(map->access & (kind == PCI ? PCI_FLAGS : RDMA_FLAGS)))
		errors |= E(NOT_PERMITTED);
	if (map->state != STARTED && (map->state != IMPORTED || kind == PCI))
		errors |= E(NOT_PERMITTED);
	if (is_import(map) && map->import_kind == RDMA && kind == RDMA)
		errors |= E(NOT_SUPPORTED);
	/* An export that has ended and one that can be exported again differ in use only. */
	if (!errors && map->state == IMPORTED && m.maps[map->from].life != map->from_life)
		errors = OK_TOO | E(DRIVER);
	result = kind == PCI ? doca_mmap_export_pci(map->mmap, m.devs[dev], &desc, &len)
			     : doca_mmap_export_rdma(map->mmap, m.devs[dev], &desc, &len);
	if (!expect(kind == PCI ? "export_pci" : "export_rdma", map, result, errors))
		return;
	if (map->desc[kind][dev])
		assert_ptr_equal(desc, map->desc[kind][dev]);
	map->desc[kind][dev] = desc;
	keep_blob(map, kind, dev, desc, len);
}

static void call_import(struct model_map *map)
{
	const struct blob *blob = &m.blobs[draw(m.nblobs < BLOBS ? m.nblobs : BLOBS)];
	unsigned int dev = draw(4) ? blob->dev : draw(m.ndevs);
	struct descriptor desc = blob->desc;
	union doca_data data = {.u64 = draw(UINT32_MAX)};
	uint32_t errors = 0;

	if (map->state != NONE || !desc.len)
		return;
	if (!draw(8)) {
		errors |= E(INVALID_VALUE);
		desc.bytes[draw((uint32_t)desc.len)] ^= (uint8_t)(1u << draw(8));
	} else if (blob->kind == PCI &&
		   (m.maps[blob->from].life != blob->life || dev != blob->dev)) {
		errors |= E(NOT_PERMITTED);
	}
	*map = (struct model_map){.life = map->life};
	if (!expect("create_from_export", map,
		    doca_mmap_create_from_export(&data, desc.bytes, desc.len, m.devs[dev],
						 &map->mmap),
		    errors))
		return;
	map->state = IMPORTED;
	map->import_kind = blob->kind;
	map->from = blob->from;
	map->from_life = blob->life;
	map->access = blob->access;
	map->addr = blob->addr;
	map->len = blob->len;
	map->devs = 1u << dev;
	map->user_data = data.u64;
	assert_ok(doca_mmap_get_max_num_devices(map->mmap, &map->max_devs));
}

static void call_get_key(struct model_map *map)
{
	unsigned int dev = draw(m.ndevs);
	uint32_t key_errors = 0, handle_errors = 0, key, handle;
	bool both;

	if (!(map->devs & (1u << dev))) {
		key_errors |= E(INVALID_VALUE);
		handle_errors |= E(NOT_FOUND);
	}
	if (!is_usable(map)) {
		key_errors |= E(INVALID_VALUE);
		handle_errors |= E(NOT_PERMITTED);
	}
	both = expect("get_mkey", map, doca_mmap_get_mkey(map->mmap, m.devs[dev], &key),
		      key_errors);
	both &= expect("dev_get_dpa_handle", map,
		       doca_mmap_dev_get_dpa_handle(map->mmap, m.devs[dev], &handle),
		       handle_errors);
	if (both)
		assert_int_equal(key, handle);
}

static void call_enable_thread_safety(struct model_map *map)
{
	uint32_t errors = map->state == STARTED || map->bufs ? E(NOT_PERMITTED) : 0;

	if (map->shared && map->bufs)
		errors |= OK_TOO;
	if (expect("enable_thread_safety", map, doca_mmap_enable_thread_safety(map->mmap), errors))
		map->shared = true;
}

static void keep_buf(struct model_map *map, struct doca_buf *buf)
{
	m.bufs[m.nbufs++] = (struct model_buf){.buf = buf, .map = (int)index_of(map)};
	map->bufs++;
}

static void call_get_buf(struct model_map *map)
{
	size_t offset = draw(LEN), len = draw(LEN) + 1;
	uint8_t *addr = (uint8_t *)(map->len ? map->addr : memory[0]) + offset;
	uint32_t errors = 0;
	struct doca_buf *buf;

	if (!draw(2) && map->len) { /* within the range this time */
		addr -= offset;
		len = map->len;
		offset = 0;
	}
	if (!is_usable(map))
		errors |= E(BAD_STATE);
	if (offset + len > map->len)
		errors |= E(INVALID_VALUE);
	if (m.nbufs == BUFS)
		errors |= E(NO_MEMORY);
	if (expect("buf_get_by_addr", map,
		   doca_buf_inventory_buf_get_by_addr(m.inventory, map->mmap, addr, len, &buf),
		   errors))
		keep_buf(map, buf);
}

static void call_dup_buf(struct model_map *map)
{
	uint32_t errors = 0;
	struct doca_buf *twin;

	for (unsigned int i = 0; i < m.nbufs; i++) {
		if (m.bufs[i].map != (int)index_of(map))
			continue;
		if (!is_usable(map))
			errors |= E(BAD_STATE);
		if (m.nbufs == BUFS)
			errors |= E(NO_MEMORY);
		if (expect("buf_dup", map,
			   doca_buf_inventory_buf_dup(m.inventory, m.bufs[i].buf, &twin), errors))
			keep_buf(map, twin);
		return;
	}
}

static void put_buf(unsigned int i)
{
	uint16_t old = 0;

	assert_ok(doca_buf_dec_refcount(m.bufs[i].buf, &old));
	assert_int_equal(old, 1);
	if (m.bufs[i].map >= 0)
		m.maps[m.bufs[i].map].bufs--;
	m.bufs[i] = m.bufs[--m.nbufs];
}

static void call_put_buf(struct model_map *map)
{
	if (m.nbufs)
		put_buf(draw(m.nbufs));
}

/* The device can read all of a usable map, and an import as long as its export exists. */
static void call_copy(struct model_map *map)
{
	struct fixture first = {.dev = m.devs[0], .dma = m.dma};
	void *addr = map->len ? map->addr : memory[index_of(map)];
	struct fixture_copy copy = {m.bounce, bounce, map->mmap, addr, map->len ? map->len : 1};
	uint32_t errors = 0;

	if (!is_usable(map))
		errors |= E(BAD_STATE);
	else if (!(map->devs & 1))
		errors |= E(NOT_FOUND);
	else if (map->state == IMPORTED && map->import_kind == RDMA)
		errors |= E(NOT_SUPPORTED);
	else if (map->state == IMPORTED && m.maps[map->from].life != map->from_life)
		errors |= E(NOT_PERMITTED);
	memset(bounce, 0, sizeof(bounce));
	if (expect("memcpy", map, fixture_copy_within(&first, &copy, COPY_PATIENCE), errors))
		assert_memory_equal(bounce, map->addr, map->len);
}

static const struct {
	void (*make)(struct model_map *map);
	unsigned int weight;
	bool on_any; /* also in a slot without a map */
} calls[] = {
	{call_create, 3, true},
	{call_import, 20, true},
	{call_put_buf, 5, true},
	{call_destroy, 1, false},
	{call_start, 12, false},
	{call_stop, 2, false},
	{call_set_memrange, 12, false},
	{call_set_other_range, 1, false},
	{call_set_permissions, 8, false},
	{call_set_free_cb, 2, false},
	{call_set_user_data, 2, false},
	{call_set_max_devs, 1, false},
	{call_add_dev, 10, false},
	{call_rm_dev, 1, false},
	{call_export, 16, false},
	{call_get_key, 3, false},
	{call_enable_thread_safety, 1, false},
	{call_get_buf, 5, false},
	{call_dup_buf, 2, false},
	{call_copy, 8, false},
};
#define N_CALLS ARRAY_SIZE(calls)

static size_t draw_call(void)
{
	uint32_t all = 0, at;
	size_t call = 0;

	for (size_t i = 0; i < N_CALLS; i++)
		all += calls[i].weight;
	for (at = draw(all); at >= calls[call].weight; call++)
		at -= calls[call].weight;
	return call;
}

static void check_range(const struct model_map *map)
{
	size_t len = 0;
	void *addr = NULL;

	assert_error(doca_mmap_get_memrange(map->mmap, &addr, &len),
		     map->len ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
	assert_int_equal(len, map->len);
	assert_ptr_equal(addr, map->len ? map->addr : NULL);
}

static void check_getters(const struct model_map *map)
{
	uint8_t exported = 9, from_export = 9, handed_out = 0;
	uint32_t max_devs = 0, bufs = UINT32_MAX;
	union doca_data data = {0};

	for (unsigned int i = 0; i < DEVS; i++)
		handed_out |= map->desc[PCI][i] || map->desc[RDMA][i];
	assert_ok(doca_mmap_get_exported(map->mmap, &exported));
	assert_int_equal(exported, handed_out);
	assert_ok(doca_mmap_get_from_export(map->mmap, &from_export));
	assert_int_equal(from_export, is_import(map));
	assert_ok(doca_mmap_get_max_num_devices(map->mmap, &max_devs));
	assert_int_equal(max_devs, map->max_devs);
	assert_ok(doca_mmap_get_num_bufs(map->mmap, &bufs));
	assert_int_equal(bufs, map->shared ? 0 : map->bufs);
	assert_ok(doca_mmap_get_user_data(map->mmap, &data));
	assert_int_equal(data.u64, map->user_data);
}

static void make_call(void)
{
	struct model_map *map = &m.maps[draw(MAPS)];
	size_t call = draw_call();

	if (map->state == NONE && !calls[call].on_any)
		return;
	calls[call].make(map);
	if (map->state == NONE)
		return;
	check_range(map);
	check_getters(map);
}

static void drop_all(void)
{
	while (m.nbufs)
		put_buf(m.nbufs - 1);
	for (unsigned int i = 0; i < MAPS; i++)
		if (m.maps[i].state != NONE)
			call_destroy(&m.maps[i]);
	memset(m.blobs, 0, sizeof(m.blobs));
	m.nblobs = 0;
}

static void run_sequence(uint32_t seed)
{
	m.seed = seed;
	m.random = seed;
	for (m.call = 0; m.call < CALLS; m.call++)
		make_call();
	drop_all();
}

static uint32_t draw_seed(void)
{
	uint32_t seed = 1;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint32_t)monotonic_ms();
	return seed;
}

static void open_all(void)
{
	struct doca_devinfo **list;
	uint32_t n;

	assert_ok(doca_devinfo_create_list(&list, &n));
	for (m.ndevs = 0; m.ndevs < n && m.ndevs < DEVS; m.ndevs++)
		assert_ok(doca_dev_open(list[m.ndevs], &m.devs[m.ndevs]));
	assert_ok(doca_devinfo_destroy_list(list));
	assert_true(m.ndevs > 0);
	assert_ok(dpumap_dma_create(m.devs[0], 1, &m.dma));
	assert_ok(doca_mmap_create(&m.bounce));
	assert_ok(doca_mmap_set_memrange(m.bounce, bounce, sizeof(bounce)));
	assert_ok(doca_mmap_add_dev(m.bounce, m.devs[0]));
	assert_ok(doca_mmap_start(m.bounce));
	assert_ok(doca_buf_inventory_create(BUFS, &m.inventory));
	assert_ok(doca_buf_inventory_start(m.inventory));
	for (uint32_t i = 0; i < MAPS; i++)
		fixture_fill(memory[i], LEN, i);
}

static void close_all(void)
{
	assert_ok(doca_buf_inventory_destroy(m.inventory));
	assert_ok(doca_mmap_destroy(m.bounce));
	assert_ok(dpumap_dma_destroy(m.dma));
	while (m.ndevs)
		assert_ok(doca_dev_close(m.devs[--m.ndevs]));
}

static void random_calls_agree_with_the_model(void **state)
{
	unsigned long seconds = test_setting("DPUMAP_MODEL_SECONDS", DEFAULT_SECONDS);
	uint64_t end = monotonic_ms() + seconds * 1000;
	uint32_t seed = (uint32_t)test_setting("DPUMAP_MODEL_SEED", draw_seed());
	unsigned int sequences = 0;
	struct objects before;

	m.trace = getenv("DPUMAP_MODEL_TRACE");
	print_message("first seed %" PRIu32 "\n", seed);
	open_all();
	assert_true(objects_read(&before));
	do {
		run_sequence(seed + sequences++);
		if (!objects_wait(&before))
			fail_msg("seed %" PRIu32 ": left on the device", m.seed);
	} while (!seconds || monotonic_ms() < end);
	close_all();
	print_message("%u sequences, %lu calls\n", sequences, m.made);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(random_calls_agree_with_the_model),
	};

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0); /* refused calls count as well */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
