/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "bufs.h"

uint8_t memory[4096];
struct doca_dev *dev;
struct doca_mmap *map;
struct doca_buf_inventory *inventory;

struct doca_mmap *new_map(void)
{
	struct doca_mmap *created;

	assert_ok(doca_mmap_create(&created));
	assert_ok(doca_mmap_set_memrange(created, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_permissions(created, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(created, dev));
	return created;
}

struct doca_mmap *imported_map(void)
{
	struct doca_mmap *imported;

	imported = fixture_import_pci(dev, map);
	return imported;
}

int bufs_open(void **state)
{
	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	map = new_map();
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_buf_inventory_create(BUFS_ELEMENTS, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	return 0;
}

int bufs_close(void **state)
{
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(dev));
	return fixture_recount(state);
}

struct doca_buf *get_buf(size_t offset, size_t len)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + offset, len, &buf));
	return buf;
}

void put_buf(struct doca_buf *buf)
{
	uint16_t old = 0;

	assert_ok(doca_buf_dec_refcount(buf, &old));
	assert_int_equal(old, 1);
}

uint32_t num_free(void)
{
	uint32_t n;

	assert_ok(doca_buf_inventory_get_num_free_elements(inventory, &n));
	return n;
}

uint32_t num_bufs(const struct doca_mmap *of)
{
	uint32_t n;

	assert_ok(doca_mmap_get_num_bufs(of, &n));
	return n;
}

uint16_t refcount(const struct doca_buf *buf)
{
	uint16_t n;

	assert_ok(doca_buf_get_refcount(buf, &n));
	return n;
}

void assert_buf(const struct doca_buf *buf, const void *head, size_t len, const void *data,
		size_t data_len)
{
	void *addr;
	size_t n;

	assert_ok(doca_buf_get_head(buf, &addr));
	assert_ptr_equal(addr, head);
	assert_ok(doca_buf_get_len(buf, &n));
	assert_int_equal(n, len);
	assert_ok(doca_buf_get_data(buf, &addr));
	assert_ptr_equal(addr, data);
	assert_ok(doca_buf_get_data_len(buf, &n));
	assert_int_equal(n, data_len);
}
