/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rules.h"

#include <doca_buf.h>
#include <string.h>

#define MAX_MAPS 128

struct rules rules;
static struct doca_mmap *maps[MAX_MAPS];
static unsigned int n_maps;

static doca_error_t open_second(void)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	rules.second = NULL;
	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	if (n > 1)
		result = doca_dev_open(list[1], &rules.second);
	doca_devinfo_destroy_list(list);
	return result;
}

int rules_open(void **state)
{
	n_maps = 0;
	if (fixture_count(state) || fixture_open(&rules.fixture) != DOCA_SUCCESS)
		return -1;
	fixture_fill(rules.memory, RULES_LEN, 1);
	return open_second() == DOCA_SUCCESS ? 0 : -1;
}

int rules_close(void **state)
{
	while (n_maps)
		if (doca_mmap_destroy(maps[--n_maps]) != DOCA_SUCCESS)
			return -1;
	if (rules.second && doca_dev_close(rules.second) != DOCA_SUCCESS)
		return -1;
	return fixture_close(&rules.fixture) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

void rules_keep(struct doca_mmap *mmap)
{
	assert_true(n_maps < MAX_MAPS);
	maps[n_maps++] = mmap;
}

void rules_forget(const struct doca_mmap *mmap)
{
	unsigned int i = 0;

	while (i < n_maps && maps[i] != mmap)
		i++;
	assert_true(i < n_maps);
	memmove(&maps[i], &maps[i + 1], (n_maps - i - 1) * sizeof(struct doca_mmap *));
	n_maps--;
}

void rules_destroy(struct doca_mmap *mmap)
{
	assert_ok(doca_mmap_destroy(mmap));
	rules_forget(mmap);
}

struct doca_mmap *rules_blank(void)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	rules_keep(mmap);
	return mmap;
}

struct doca_mmap *rules_new(uint32_t access)
{
	struct doca_mmap *mmap = rules_blank();

	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	return mmap;
}

struct doca_mmap *rules_started(uint32_t access)
{
	struct doca_mmap *mmap = rules_new(access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

struct rules_blob rules_export(struct doca_mmap *mmap)
{
	struct rules_blob blob;

	assert_ok(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len));
	return blob;
}

struct rules_blob rules_export_rdma(struct doca_mmap *mmap)
{
	struct rules_blob blob;

	assert_ok(doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len));
	return blob;
}

struct doca_mmap *rules_import(struct rules_blob blob)
{
	struct doca_mmap *mmap;

	assert_ok(
		doca_mmap_create_from_export(NULL, blob.bytes, blob.len, rules.fixture.dev, &mmap));
	rules_keep(mmap);
	return mmap;
}

struct doca_mmap *rules_map(enum rules_state state)
{
	struct doca_mmap *mmap;

	if (state == NEW)
		return rules_new(ALL_RW);
	mmap = rules_started(ALL_RW);
	if (state == EXPORTED)
		rules_export(mmap);
	if (state == STOPPED)
		assert_ok(doca_mmap_stop(mmap));
	return state == IMPORTED ? rules_import(rules_export(mmap)) : mmap;
}

uint32_t rules_count_bufs(const struct doca_mmap *mmap)
{
	uint32_t bufs = UINT32_MAX;

	assert_ok(doca_mmap_get_num_bufs(mmap, &bufs));
	return bufs;
}

void rules_check_bufs(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		      doca_error_t wanted)
{
	void *bytes = rules.memory;
	struct doca_buf *bufs[3];

	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, mmap, bytes, 8, &bufs[0]),
		     wanted);
	assert_error(doca_buf_inventory_buf_get_by_data(inventory, mmap, bytes, 8, &bufs[1]),
		     wanted);
	assert_error(
		doca_buf_inventory_buf_get_by_args(inventory, mmap, bytes, 8, bytes, 4, &bufs[2]),
		wanted);
	for (int i = 0; i < 3 && wanted == DOCA_SUCCESS; i++)
		assert_ok(doca_buf_dec_refcount(bufs[i], NULL));
	assert_int_equal(rules_count_bufs(mmap), 0);
}

static doca_error_t copy_out(struct doca_mmap *mmap, const struct fixture_buf *buf)
{
	struct fixture_copy copy = {.dst = buf->mmap, .dst_addr = buf->bytes, .len = buf->len};
	doca_error_t result;
	void *addr;
	size_t len;

	result = doca_mmap_get_memrange(mmap, &addr, &len);
	copy.src = mmap;
	copy.src_addr = addr;
	return result == DOCA_SUCCESS ? fixture_copy(&rules.fixture, &copy) : result;
}

static doca_error_t copy_in(struct doca_mmap *mmap, const struct fixture_buf *buf)
{
	struct fixture_copy copy = {.src = buf->mmap, .src_addr = buf->bytes, .len = buf->len};
	doca_error_t result;
	size_t len;

	result = doca_mmap_get_memrange(mmap, &copy.dst_addr, &len);
	copy.dst = mmap;
	return result == DOCA_SUCCESS ? fixture_copy(&rules.fixture, &copy) : result;
}

doca_error_t rules_read(struct doca_mmap *mmap, uint8_t *dst, size_t len)
{
	struct fixture_buf buf;
	doca_error_t result;

	result = fixture_buf_create(&rules.fixture, len, LOCAL_RW, &buf);
	if (result != DOCA_SUCCESS)
		return result;
	result = copy_out(mmap, &buf);
	memcpy(dst, buf.bytes, len);
	assert_ok(fixture_buf_destroy(&buf));
	return result;
}

doca_error_t rules_write(struct doca_mmap *mmap, const uint8_t *src, size_t len)
{
	struct fixture_buf buf;
	doca_error_t result;

	result = fixture_buf_create(&rules.fixture, len, LOCAL_RW, &buf);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(buf.bytes, src, len);
	result = copy_in(mmap, &buf);
	assert_ok(fixture_buf_destroy(&buf));
	return result;
}
