/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fixture for the tests of bufs: memory in a started map, and a started inventory. A test must
 * release all its bufs.
 */
#ifndef DPUMAP_TESTS_BUFS_H
#define DPUMAP_TESTS_BUFS_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "fixture.h"

#define BUFS_ELEMENTS 8

extern uint8_t memory[4096];
extern struct doca_dev *dev;
extern struct doca_mmap *map; /* of memory */
extern struct doca_buf_inventory *inventory;

#define bufs_test(function) cmocka_unit_test_setup_teardown(function, bufs_open, bufs_close)

int bufs_open(void **state);
int bufs_close(void **state);

/* Maps of the same memory: one that is not started, and one imported from map. */
struct doca_mmap *new_map(void);
struct doca_mmap *imported_map(void);

struct doca_buf *get_buf(size_t offset, size_t len);
/* Drop its only reference. */
void put_buf(struct doca_buf *buf);

uint32_t num_free(void);
uint32_t num_bufs(const struct doca_mmap *of);
uint16_t refcount(const struct doca_buf *buf);
void assert_buf(const struct doca_buf *buf, const void *head, size_t len, const void *data,
		size_t data_len);

#endif
