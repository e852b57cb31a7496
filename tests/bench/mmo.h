/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tasks of an engine of the device, compared (batches.h) with a program that writes the same work requests (MMO) into
 * the send queue's memory and reads the completions in the completion queue's. raw.h creates both. The library uses the
 * same protection domain.
 */
#ifndef DPUMAP_BENCH_MMO_H
#define DPUMAP_BENCH_MMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#define MMO_DEPTH 64u
#define MMO_SMALL 64u	      /* bytes of text of each operation in batches */
#define MMO_BIG	  (64u << 10) /* bytes of text of the operation that is timed */

/* What the programs differ in. */
struct mmo_ops {
	const char *many, *title, *ratio; /* as in batches.h */
	uint32_t opcode;		  /* of a work request, with its modifier */
	uint32_t control;		  /* the last word of its control segment */
	/* Make a source from that many bytes of text, and set mmo.in and mmo.out. */
	bool (*fill)(uint8_t *source, const uint8_t *text, size_t len);
	/* Create the context, on mmo.dev, and configure its tasks. NULL after printing an error. */
	struct doca_ctx *(*create)(void);
	doca_error_t (*alloc)(const struct doca_buf *src, struct doca_buf *dst,
			      struct doca_task **task);
	void (*destroy)(void);
	/* Parameters of each operation: as the engine reads them, and those of the task. NULL: there are none. */
	void (*write_parameters)(uint8_t *scratch);
	void (*set_parameters)(struct doca_task *task);
	const char *cpu;
	/* Do the work of one operation on the CPU. */
	bool (*on_cpu)(const uint8_t *source, uint8_t *destination);
};

struct mmo {
	size_t in, out; /* bytes of a source, and of its result */
	uint32_t key;	/* of an encryption, in each work request; otherwise 0 */
	struct doca_dev *dev;
	size_t done; /* tasks of this batch */
	bool failed;
};

extern struct mmo mmo;

/* For the callback of a task. */
static inline void mmo_count(const struct doca_task *task)
{
	mmo.done++;
	mmo.failed |= doca_task_get_status(task) != DOCA_SUCCESS;
}

/* Memory of the work request i, below MMO_DEPTH, in which the engine finds parameters, or writes its result. */
uint8_t *mmo_scratch(size_t i);

/* Return the exit status. */
int mmo_main(const struct mmo_ops *ops, int argc, char **argv);

#endif
