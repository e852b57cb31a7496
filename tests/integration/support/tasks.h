/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fixture for the tests of contexts and tasks: a DMA context on a progress engine, memory with
 * bufs, and a record of every callback.
 */
#ifndef DPUMAP_TEST_TASKS_H
#define DPUMAP_TEST_TASKS_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>

#include "fixture.h"

#define TASKS_LEN   (1u << 20)
#define TASKS_NUM   32u
#define MAX_CHANGES 64

struct change {
	enum doca_ctx_states prev, next;
};

struct tasks {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *bytes; /* TASKS_LEN to read, TASKS_LEN to write */

	struct change changes[MAX_CHANGES];
	unsigned int num_changes;
	unsigned int num_done, num_failed;
	doca_error_t last_error;
	uint64_t last_data; /* of the last task */
	bool inside;	    /* inside a call that must not invoke callbacks */

	/* What callbacks do in addition; if on_task is NULL, the task is freed. */
	void (*on_task)(struct tasks *t, struct doca_dma_task_memcpy *task);
	void (*on_state)(struct tasks *t, const struct change *change);
};

extern struct tasks tasks;

/* A context that is configured and IDLE. */
int tasks_open(void **state);
int tasks_close(void **state);
#define task_test(function) cmocka_unit_test_setup_teardown(function, tasks_open, tasks_close)

void tasks_start(void);
/* Stop and progress until IDLE. */
void tasks_stop(void);

/*
 * A buf over part of the memory to read, filled with data; or over part of the memory to write,
 * empty.
 */
struct doca_buf *tasks_source(size_t offset, size_t len);
struct doca_buf *tasks_room(size_t offset, size_t len);
void tasks_drop(struct doca_buf *buf);

struct doca_dma_task_memcpy *tasks_alloc(struct doca_buf *src, struct doca_buf *dst, uint64_t data);
void tasks_submit(struct doca_dma_task_memcpy *task);

/* Progress until num tasks have completed; fail the test if they do not. */
void tasks_wait(unsigned int num);
enum doca_ctx_states tasks_state(void);
void assert_change(unsigned int at, enum doca_ctx_states prev, enum doca_ctx_states next);

#endif
