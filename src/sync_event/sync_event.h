/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_sync_event: event.c has the object, its settings and its states; export.c exports and imports
 * it; blob.c is the format in between; access.c reads, changes and waits without tasks; task.c has the
 * functions of users on tasks, run.c executes them; caps.c has the capabilities, remote_net.c the
 * sync events of RDMA peers, and accelerator.c what GPUs and DPAs would do.
 *
 * The counter is memory of the process that created the event. This process reads the counter and waits
 * for it by the CPU. While the event is exported, the process adds to the counter by the device, as
 * importers do, since additions of a CPU and of a device need not be atomic among each other.
 */
#ifndef DPUMAP_SYNC_EVENT_SYNC_EVENT_H
#define DPUMAP_SYNC_EVENT_SYNC_EVENT_H

#include <doca_sync_event.h>

#include "core/pe/task_pool.h"
#include "device/queue/counter.h"

enum sync_location {
	SYNC_NOWHERE,
	SYNC_CPU,
	SYNC_REMOTE_PCI,
	SYNC_REMOTE_NET,
};

enum sync_kind {
	SYNC_GET,
	SYNC_NOTIFY_SET,
	SYNC_NOTIFY_ADD,
	SYNC_WAIT_EQ,
	SYNC_WAIT_NEQ,
	SYNC_NUM_KINDS,
};

struct sync_task {
	struct doca_task base;
	enum sync_kind kind;
	uint64_t value;		     /* to set, to add or to wait for */
	uint64_t mask;		     /* of a wait */
	uint64_t *out;		     /* for the value that was read */
	struct dpumap_counter_op op; /* of the value that was read as well */
};

/* A callback of any type; it is called as its own type. */
typedef void sync_callback(void);

struct sync_pool {
	struct task_pool pool;
	sync_callback *success, *error;
};

/* An export, to other functions by a device or to RDMA peers. */
struct sync_export {
	struct doca_dev *dev;
	bool to_net;
	struct doca_mmap *map; /* of the counter alone */
	uint8_t *blob;	       /* secret */
	size_t len;
	struct sync_export *next;
};

struct doca_sync_event {
	struct doca_ctx ctx;
	bool is_ctx;	 /* doca_sync_event_as_ctx() was called */
	bool is_started; /* by doca_sync_event_start() */
	enum sync_location publisher, subscriber;
	struct doca_dev *publisher_dev, *subscriber_dev; /* of those on the CPU */

	uint64_t *cell;	      /* NULL if the event was imported */
	uint64_t *own;	      /* the cell, unless the user provides it */
	struct doca_buf *buf; /* of the user, with the cell */
	struct doca_mmap *import;
	uint64_t addr; /* of the counter in the exporter */

	struct sync_export *exports; /* this and the following while the event is started */
	/* For an import, and for an event that is exported. */
	struct dpumap_counter *counter;
	struct dpumap_events *events; /* of its device; NULL without a context */

	struct sync_pool pools[SYNC_NUM_KINDS];
	struct task_list unposted; /* for the device, whose queue is full */
	struct task_list posted;   /* in the order in which they complete */
	struct task_list done;
	struct task_list waits;
	struct task_list read_waits; /* waits that began before `read` */
	struct dpumap_counter_op read;
	int timer; /* for waits, in a program that sleeps; -1 without waits */
	bool timer_is_set;
};

static inline struct doca_sync_event *dpumap_sync_of(const struct doca_ctx *ctx)
{
	return (struct doca_sync_event *)ctx;
}

static inline uint64_t dpumap_sync_load(const struct doca_sync_event *event)
{
	return __atomic_load_n(event->cell, __ATOMIC_SEQ_CST);
}

/* NULL for NULL. */
static inline struct sync_task *dpumap_sync_task_of(struct doca_task *task)
{
	return (struct sync_task *)task;
}

/* An event without a counter yet. */
doca_error_t dpumap_sync_create(struct doca_sync_event **event);

/* Log and return BAD_STATE unless the event is started. */
doca_error_t dpumap_sync_check_started(const struct doca_sync_event *event, const char *function);
/* Create the queue for the counter in a map's memory. */
doca_error_t dpumap_sync_open_counter(struct doca_sync_event *event, const struct doca_mmap *map,
				      struct doca_dev *dev, uint64_t addr);

/* Exports and imports of sync events. */

/* Import the map of a counter, over PCI or from an RDMA peer. */
doca_error_t dpumap_sync_import(struct doca_dev *dev, const uint8_t *data, size_t sz, bool to_net,
				struct doca_mmap **map);
doca_error_t dpumap_sync_destroy_map(struct doca_mmap *map);
/* End all exports. On failure call again. */
doca_error_t dpumap_sync_end_exports(struct doca_sync_event *event);

/* Execution of the tasks of sync events. */

/* Operations of the context. */
doca_error_t dpumap_sync_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_sync_check(const struct doca_task *task);
struct doca_task *dpumap_sync_poll(struct doca_ctx *ctx);
doca_error_t dpumap_sync_arm(struct doca_ctx *ctx);
bool dpumap_sync_is_ready(struct doca_ctx *ctx);
void dpumap_sync_begin_stop(struct doca_ctx *ctx);

/* The tasks of sync events. */

/* Operations of the context. */
void dpumap_sync_complete(struct doca_task *task);
void dpumap_sync_enter_graph(struct doca_ctx *ctx);

#endif
