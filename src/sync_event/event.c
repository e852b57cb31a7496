/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/buf/buf.h"
#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "log/log.h"

#define CELL_BYTES sizeof(uint64_t)
#define CELL_ALIGN 4096 /* a page, which holds nothing else that devices could reach */

#define BUF_ACCESS                                                                   \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))

/* --- states ----------------------------------------------------------------------------------- */

static bool is_idle(const struct doca_sync_event *event)
{
	return !event->is_started && event->ctx.state == DOCA_CTX_STATE_IDLE;
}

static doca_error_t refuse(const struct doca_sync_event *event, const char *function,
			   const char *why)
{
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: sync event %p %s", function,
			   (const void *)event, why);
}

doca_error_t dpumap_sync_check_started(const struct doca_sync_event *event, const char *function)
{
	if (event->is_started || event->ctx.state == DOCA_CTX_STATE_RUNNING ||
	    event->ctx.state == DOCA_CTX_STATE_STOPPING)
		return DOCA_SUCCESS;
	return refuse(event, function,
		      "is not started: call doca_sync_event_start() or doca_ctx_start()");
}

static doca_error_t check_settable(const struct doca_sync_event *event, const char *function)
{
	if (!is_idle(event))
		return refuse(event, function, "is started: stop it first");
	if (event->import)
		return refuse(event, function, "is imported: its exporter has the settings");
	return DOCA_SUCCESS;
}

static doca_error_t check_startable(const struct doca_sync_event *event, const char *function)
{
	if (event->is_started)
		return refuse(event, function, "is started already");
	if (!event->import && event->publisher == SYNC_NOWHERE)
		return refuse(
			event, function,
			"has no publisher: call a doca_sync_event_add_publisher_location_*()");
	if (!event->import && event->subscriber == SYNC_NOWHERE)
		return refuse(
			event, function,
			"has no subscriber: call a doca_sync_event_add_subscriber_location_*()");
	return DOCA_SUCCESS;
}

static doca_error_t create_counter(struct doca_sync_event *event, const struct doca_mmap *map,
				   struct doca_dev *dev, uint64_t addr)
{
	struct dpumap_counter_attr attr = {
		.addr = addr,
		.events = event->events,
		.vector = dev == event->ctx.dev ? event->ctx.vector : 0,
	};
	doca_error_t result = dpumap_mmap_resolve(map, dev, &attr.region);

	if (result == DOCA_SUCCESS)
		result = dpumap_counter_create(dev->device, &attr, &event->counter);
	return result;
}

doca_error_t dpumap_sync_open_counter(struct doca_sync_event *event, const struct doca_mmap *map,
				      struct doca_dev *dev, uint64_t addr)
{
	doca_error_t result = DOCA_SUCCESS;

	if (event->is_ctx)
		result = dpumap_pe_get_events(event->ctx.pe, dev, &event->events);
	if (result == DOCA_SUCCESS)
		result = create_counter(event, map, dev, addr);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	if (event->events)
		dpumap_pe_put_events(event->ctx.pe, event->events);
	event->events = NULL;
	return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_DRIVER;
}

static doca_error_t close_counter(struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;

	if (event->counter)
		result = dpumap_counter_destroy(event->counter);
	if (result != DOCA_SUCCESS)
		return result;
	event->counter = NULL;
	event->read.is_posted = false;
	if (event->events)
		dpumap_pe_put_events(event->ctx.pe, event->events);
	event->events = NULL;
	return DOCA_SUCCESS;
}

/* The user's memory keeps its value. */
static doca_error_t start_counter(struct doca_sync_event *event)
{
	if (event->import)
		return dpumap_sync_open_counter(event, event->import, event->ctx.dev, event->addr);
	if (event->cell == event->own)
		__atomic_store_n(event->own, 0, __ATOMIC_SEQ_CST);
	return DOCA_SUCCESS;
}

/* On failure the event stays started, without what could be ended; call again. */
static doca_error_t stop_counter(struct doca_sync_event *event)
{
	doca_error_t result = close_counter(event);

	return result == DOCA_SUCCESS ? dpumap_sync_end_exports(event) : result;
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	if (event->is_ctx)
		return refuse(event, __func__, "is used as a context: call doca_ctx_start()");
	result = check_startable(event, __func__);
	if (result == DOCA_SUCCESS)
		result = start_counter(event);
	event->is_started = event->is_started || result == DOCA_SUCCESS;
	return result;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	if (event->is_ctx)
		return refuse(event, __func__, "is used as a context: call doca_ctx_stop()");
	if (!event->is_started)
		return refuse(event, __func__, "is not started");
	result = stop_counter(event);
	event->is_started = result != DOCA_SUCCESS;
	return result;
}

/* --- the context ------------------------------------------------------------------------------ */

static doca_error_t create_pools(struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int kind = 0; kind < SYNC_NUM_KINDS && result == DOCA_SUCCESS; kind++)
		result = dpumap_task_pool_create(&event->pools[kind].pool, &event->ctx,
						 sizeof(struct sync_task));
	return result;
}

static doca_error_t open_timer(struct doca_sync_event *event)
{
	doca_error_t result;

	if (!event->pools[SYNC_WAIT_EQ].pool.num_tasks &&
	    !event->pools[SYNC_WAIT_NEQ].pool.num_tasks)
		return DOCA_SUCCESS;
	event->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (event->timer < 0)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "sync event %p: creating a timer failed: %s", (void *)event,
				   strerror(errno));
	result = dpumap_pe_watch(event->ctx.pe, event->timer);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	close(event->timer);
	event->timer = -1;
	return result;
}

static void close_timer(struct doca_sync_event *event)
{
	if (event->timer < 0)
		return;
	dpumap_pe_unwatch(event->ctx.pe, event->timer);
	close(event->timer);
	event->timer = -1;
	event->timer_is_set = false;
}

static doca_error_t start_ctx(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);
	doca_error_t result = check_startable(event, "doca_ctx_start");

	if (result == DOCA_SUCCESS)
		result = create_pools(event);
	if (result == DOCA_SUCCESS)
		result = open_timer(event);
	if (result != DOCA_SUCCESS)
		return result;
	result = start_counter(event);
	if (result != DOCA_SUCCESS)
		close_timer(event);
	return result;
}

static doca_error_t stop_ctx(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);
	doca_error_t result = stop_counter(event);

	if (result == DOCA_SUCCESS)
		close_timer(event);
	return result;
}

static void free_event(struct doca_ctx *ctx)
{
	struct doca_sync_event *event = dpumap_sync_of(ctx);

	for (int kind = 0; kind < SYNC_NUM_KINDS; kind++)
		dpumap_task_pool_destroy(&event->pools[kind].pool);
	free(event->own);
	free(event);
}

static const struct ctx_ops sync_ops = {
	.name = "sync event",
	.survives_failure = true,
	.start = start_ctx,
	.begin_stop = dpumap_sync_begin_stop,
	.stop = stop_ctx,
	.free = free_event,
	.submit = dpumap_sync_submit,
	.check = dpumap_sync_check,
	.progress = dpumap_ctx_progress,
	.poll = dpumap_sync_poll,
	.complete = dpumap_sync_complete,
	.enter_graph = dpumap_sync_enter_graph,
	.arm = dpumap_sync_arm,
	.is_ready = dpumap_sync_is_ready,
};

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (!event)
		return NULL;
	event->is_ctx = event->is_ctx || !event->is_started;
	return &event->ctx;
}

/* --- the object ------------------------------------------------------------------------------- */

doca_error_t dpumap_sync_create(struct doca_sync_event **event)
{
	struct doca_sync_event *created = calloc(1, sizeof(*created));

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a sync event");
	dpumap_ctx_init(&created->ctx, &sync_ops, NULL);
	created->timer = -1;
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *created;
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	result = dpumap_sync_create(&created);
	if (result != DOCA_SUCCESS)
		return result;
	created->own = aligned_alloc(CELL_ALIGN, CELL_ALIGN);
	if (!created->own) {
		dpumap_ctx_release(&created->ctx);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a sync event");
	}
	memset(created->own, 0, CELL_ALIGN);
	created->cell = created->own;
	*event = created;
	return DOCA_SUCCESS;
}

static void put_dev(struct doca_dev **dev)
{
	if (*dev)
		dpumap_dev_remove_user(*dev);
	*dev = NULL;
}

static void put_cell_buf(struct doca_sync_event *event)
{
	if (event->buf)
		(void)doca_buf_dec_refcount(event->buf, NULL);
	event->buf = NULL;
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(__func__);
	if (event->ctx.state != DOCA_CTX_STATE_IDLE)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "sync event %p: its context is not IDLE: stop it first",
				   (void *)event);
	result = stop_counter(event);
	if (result == DOCA_SUCCESS && event->import)
		result = dpumap_sync_destroy_map(event->import);
	if (result != DOCA_SUCCESS)
		return result;
	put_cell_buf(event);
	put_dev(&event->publisher_dev);
	put_dev(&event->subscriber_dev);
	dpumap_ctx_release(&event->ctx);
	return DOCA_SUCCESS;
}

/* --- settings --------------------------------------------------------------------------------- */

static doca_error_t locate(struct doca_sync_event *event, enum sync_location *place,
			   enum sync_location location, const char *function)
{
	doca_error_t result;

	if (!event)
		return dpumap_fail_null(function);
	result = check_settable(event, function);
	if (result != DOCA_SUCCESS)
		return result;
	if (*place != SYNC_NOWHERE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: sync event %p has that location already", function,
				   (void *)event);
	*place = location;
	return DOCA_SUCCESS;
}

static void keep_dev(struct doca_sync_event *event, struct doca_dev **place, struct doca_dev *dev)
{
	dpumap_dev_add_user(dev);
	*place = dev;
	if (event->ctx.dev)
		return;
	dpumap_dev_add_user(dev);
	event->ctx.dev = dev;
}

doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
							struct doca_dev *dev)
{
	doca_error_t result;

	if (!event || !dev)
		return dpumap_fail_null(__func__);
	result = locate(event, &event->publisher, SYNC_CPU, __func__);
	if (result == DOCA_SUCCESS)
		keep_dev(event, &event->publisher_dev, dev);
	return result;
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
							 struct doca_dev *dev)
{
	doca_error_t result;

	if (!event || !dev)
		return dpumap_fail_null(__func__);
	result = locate(event, &event->subscriber, SYNC_CPU, __func__);
	if (result == DOCA_SUCCESS)
		keep_dev(event, &event->subscriber_dev, dev);
	return result;
}

doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	if (!event)
		return dpumap_fail_null(__func__);
	return locate(event, &event->publisher, SYNC_REMOTE_PCI, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	if (!event)
		return dpumap_fail_null(__func__);
	return locate(event, &event->subscriber, SYNC_REMOTE_PCI, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	if (!event)
		return dpumap_fail_null(__func__);
	return locate(event, &event->publisher, SYNC_REMOTE_NET, __func__);
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	doca_error_t result;

	if (!event || !addr)
		return dpumap_fail_null(__func__);
	result = check_settable(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if ((uintptr_t)addr % CELL_BYTES)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "sync event %p: address %p is not a multiple of 8",
				   (void *)event, (void *)addr);
	put_cell_buf(event);
	event->cell = addr;
	return DOCA_SUCCESS;
}

static const char *find_fault(const struct doca_buf *buf)
{
	const struct doca_mmap *map = buf->mmap;

	if (buf->next || buf->is_inner)
		return "it is in a list";
	if (buf->data_len != CELL_BYTES || (uintptr_t)buf->data % CELL_BYTES)
		return "its data must be 8 bytes at a multiple of 8";
	if (!dpumap_mmap_is_usable(map) || dpumap_mmap_is_imported(map))
		return "its map is not a started one of this process";
	if (map->dm || map->dmabuf >= 0 ||
	    (map->umem && map->umem->source != DPUMAP_DESC_SOURCE_MEMORY))
		return "its map is not memory of this process";
	if ((map->access & BUF_ACCESS) != BUF_ACCESS)
		return "its map must permit local access and RDMA read, write and atomic";
	return NULL;
}

static doca_error_t hold_cell_buf(struct doca_buf *buf)
{
	uint16_t references;

	return doca_buf_inc_refcount(buf, &references) == DOCA_SUCCESS ? DOCA_SUCCESS
								       : DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf)
{
	const char *fault;
	doca_error_t result;

	if (!event || !buf)
		return dpumap_fail_null(__func__);
	result = check_settable(event, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	fault = find_fault(buf);
	if (fault)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "sync event %p: buf %p refused: %s",
				   (void *)event, (void *)buf, fault);
	result = hold_cell_buf(buf);
	if (result != DOCA_SUCCESS)
		return result;
	put_cell_buf(event);
	event->buf = buf;
	event->cell = (uint64_t *)(void *)buf->data;
	return DOCA_SUCCESS;
}
