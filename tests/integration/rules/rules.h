/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tests of the rules in rules.txt, each named for what it shows and with the rules it shows above
 * it. Maps made here are destroyed after the test; whatever else stays on the device fails it.
 */
#ifndef DPUMAP_TESTS_RULES_H
#define DPUMAP_TESTS_RULES_H

#include "fixture.h"

#define RDMA_RW	  ((uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE))
#define ALL_RW	  (LOCAL_RW | PCI_RW | RDMA_RW)
#define RULES_LEN 8192

/* Where the sources leave the code open. */
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
	struct rig rig;
	struct doca_dev *second; /* on another card; NULL if there is one card */
	uint8_t memory[RULES_LEN];
} rules;

int rules_open(void **state);
int rules_close(void **state);
#define rule_test(function) cmocka_unit_test_setup_teardown(function, rules_open, rules_close)

/* Without range and device; with both; started; with permissions for everything in a state. */
struct doca_mmap *rules_blank(void);
struct doca_mmap *rules_new(uint32_t access);
struct doca_mmap *rules_started(uint32_t access);
struct doca_mmap *rules_map(enum rules_state state);

struct rules_blob rules_export(struct doca_mmap *mmap);
struct rules_blob rules_export_rdma(struct doca_mmap *mmap);
struct doca_mmap *rules_import(struct rules_blob blob);

/* After the test, but in the order the test wants; and a map that the test made itself. */
void rules_destroy(struct doca_mmap *mmap);
void rules_keep(struct doca_mmap *mmap);
void rules_forget(const struct doca_mmap *mmap);

/* Through the device, from a map into a buffer and back. */
doca_error_t rules_read(struct doca_mmap *mmap, uint8_t *dst, size_t len);
doca_error_t rules_write(struct doca_mmap *mmap, const uint8_t *src, size_t len);

#endif
