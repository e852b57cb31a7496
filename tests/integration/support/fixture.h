/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CMocka and what all integration tests share: the first device of the function they run on, a copy
 * queue, buffers with maps, and a check that no object of the device outlives a test.
 */
#ifndef DPUMAP_TESTS_FIXTURE_H
#define DPUMAP_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dm.h>
#include <dpumap/dma.h>

#include "objects.h"
#include "process.h"

#define FIXTURE_TIMEOUT_MS 30000

#define assert_ok(call)	   assert_error(call, DOCA_SUCCESS)
#define assert_error(call, wanted) \
	assert_string_equal(doca_error_get_name(call), doca_error_get_name(wanted))

#define LOCAL_RW ((uint32_t)DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
#define PCI_RW	 ((uint32_t)DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define PCI_RO	 ((uint32_t)DOCA_ACCESS_FLAG_PCI_READ_ONLY)

/* The arguments of main(). */
extern struct test_options {
	const char *self;
	const char *emu;     /* the emulator's program */
	const char *peer_as; /* the function of the peer: "dpu" or "host" */
	const char *engine;  /* "mmo" or "rdma": what the device under test must use */
	bool shares_direct;  /* the device shares no indirect mkeys with other functions */
	bool is_peer;	     /* this process was started by peer_start() */
} test_options;
void test_parse_options(int argc, char **argv);
/* Skip the current test, and say what the device or the machine lacks. */
void test_lacks(const char *what);
/* Faults of the emulated card; without it, the current test skips. */
void test_needs_emulator(void);
/* A number from the environment. */
unsigned long test_setting(const char *name, unsigned long otherwise);
/* A pseudo-random number below a limit. */
uint32_t test_draw(uint64_t *state, uint32_t below);

/* The word that logs of tests use for a state. */
const char *test_state_name(enum doca_ctx_states state);
/* How often a line of words has this one. */
unsigned int test_count_word(const char *line, const char *word);

/* The CRC of a descriptor that a test has changed. */
uint32_t test_crc32c(const uint8_t *bytes, size_t len);
void test_put_le32(uint8_t *at, uint32_t value);

/* Setup and teardown: a test that leaves an object on the device fails. */
int fixture_count(void **state);
int fixture_recount(void **state);
#define counted_test(function) \
	cmocka_unit_test_setup_teardown(function, fixture_count, fixture_recount)

/* The device, and a copy queue on it. */
extern struct fixture {
	struct doca_dev *dev;
	struct dpumap_dma *dma;
} fixture;

/* Setup and teardown: as above, with the fixture open. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define fixture_test(function) \
	cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

struct ibv_context;

/* Open the first device with verbs alone; NULL if there is none. */
struct ibv_context *fixture_open_context(void);
doca_error_t fixture_open_device(struct doca_dev **dev);
doca_error_t fixture_open(struct fixture *f);
doca_error_t fixture_close(struct fixture *f);

/*
 * Memory at the beginning of a page. With the environment variable DPUMAP_TEST_MEMFDS it is a part of a
 * memfd, which the emulated device of another process maps.
 */
uint8_t *fixture_memory_create(size_t len);
void fixture_memory_destroy(uint8_t *bytes);

struct fixture_buf {
	uint8_t *bytes;
	size_t len;
	struct doca_mmap *mmap;
};

/* Zeroed memory in a started map with these permissions. */
doca_error_t fixture_buf_create(const struct fixture *f, size_t len, uint32_t access,
				struct fixture_buf *buf);
doca_error_t fixture_buf_destroy(struct fixture_buf *buf);
/* Two of them that tasks of this process may write; the first one is filled with seed 1. */
bool fixture_open_bufs(size_t len, struct fixture_buf *from, struct fixture_buf *to);
bool fixture_close_bufs(struct fixture_buf *from, struct fixture_buf *to);
/*
 * Repeated calls leave no memory behind. The first calls do not count: the allocator and libmlx5 keep
 * some of it for later.
 */
void fixture_assert_no_growth(void (*call)(void *context), void *context);

/* Import a started map of this device on the same device. */
struct doca_mmap *fixture_import_pci(struct doca_dev *dev, struct doca_mmap *from);

void fixture_fill(uint8_t *bytes, size_t len, uint32_t seed);

struct fixture_copy {
	struct doca_mmap *dst;
	void *dst_addr;
	struct doca_mmap *src;
	const void *src_addr;
	size_t len;
};

/* Wait for one completion; DOCA_ERROR_TIME_OUT if there is none in time. */
doca_error_t fixture_wait(struct dpumap_dma *dma, unsigned int timeout_ms,
			  struct dpumap_dma_completion *completion);

/* Post, wait, and reset the queue if the copy failed; returns the error of either. */
doca_error_t fixture_copy(const struct fixture *f, const struct fixture_copy *copy);
doca_error_t fixture_copy_within(const struct fixture *f, const struct fixture_copy *copy,
				 unsigned int timeout_ms);

#endif
