/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tests of the rules in rules.txt. Each test is named for what it shows; the rules that it shows
 * are in the comment above it. Maps made here are destroyed after the test; any other object left
 * on the device fails it.
 */
#ifndef DPUMAP_TESTS_RULES_H
#define DPUMAP_TESTS_RULES_H

#include <doca_buf_inventory.h>

#include "fixture.h"

#define RDMA_RW	  ((uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE))
#define ALL_RW	  (LOCAL_RW | PCI_RW | RDMA_RW)
#define RULES_LEN 8192

/* For results that the sources leave open. */
#define assert_either(call, one, other)                                                           \
	do {                                                                                      \
		doca_error_t got_ = (call);                                                       \
		if (got_ != (other))                                                              \
			assert_string_equal(doca_error_get_name(got_), doca_error_get_name(one)); \
	} while (0)

enum rules_state { NEW, STARTED, EXPORTED, STOPPED, IMPORTED };
#define RULES_STATES 5

struct rules_blob {
	const void *bytes;
	size_t len;
};

extern struct rules {
	struct fixture fixture;
	struct doca_dev *second; /* on another card; NULL if there is one card */
	uint8_t memory[RULES_LEN];
} rules;

int rules_open(void **state);
int rules_close(void **state);
#define rule_test(function) cmocka_unit_test_setup_teardown(function, rules_open, rules_close)

/* A map without range and device; with both; started; in a state, with all permissions. */
struct doca_mmap *rules_blank(void);
struct doca_mmap *rules_new(uint32_t access);
struct doca_mmap *rules_started(uint32_t access);
struct doca_mmap *rules_map(enum rules_state state);

struct rules_blob rules_export(struct doca_mmap *mmap);
struct rules_blob rules_export_rdma(struct doca_mmap *mmap);
struct doca_mmap *rules_import(struct rules_blob blob);

/*
 * Destroy a map before the end of the test; or let the fixture destroy one that the test created.
 */
void rules_destroy(struct doca_mmap *mmap);
void rules_keep(struct doca_mmap *mmap);
void rules_forget(const struct doca_mmap *mmap);

/* Get bufs of the map in every way: each must have this result, and all bufs are released. */
void rules_check_bufs(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
		      doca_error_t wanted);
uint32_t rules_count_bufs(const struct doca_mmap *mmap);

/* Through the device, from a map into a buffer and back. */
doca_error_t rules_read(struct doca_mmap *mmap, uint8_t *dst, size_t len);
doca_error_t rules_write(struct doca_mmap *mmap, const uint8_t *src, size_t len);

#endif
