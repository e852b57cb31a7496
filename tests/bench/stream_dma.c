/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The copy engine in place of messages: the receiver pulls from memory that the sender exported. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>

#include "device.h"
#include "stream.h"

#define DESC_MAX 512

struct offer {
	uint64_t addr;
	size_t len;
	uint8_t desc[DESC_MAX];
};

struct pull {
	struct doca_dev *dev;
	struct doca_mmap *map, *remote;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf *from[STREAM_MAX_SLOTS], *to[STREAM_MAX_SLOTS];
	struct doca_task *tasks[STREAM_MAX_SLOTS];
	uint32_t posted;
	int done; /* since the last call of reap() */
	bool failed;
};

static void on_copied(struct doca_dma_task_memcpy *task, union doca_data task_data,
		      union doca_data ctx_data)
{
	(void)task_data;
	doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task));
	((struct pull *)ctx_data.ptr)->done++;
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	((struct pull *)ctx_data.ptr)->failed = true;
}

static bool offer_memory(const struct pull *p, const struct stream *stream)
{
	struct offer offer = {.addr = (uintptr_t)stream->memory};
	const void *desc;

	if (!bench_is_ok(doca_mmap_export_pci(p->map, p->dev, &desc, &offer.len), "an export") ||
	    offer.len > DESC_MAX)
		return false;
	for (size_t i = 0; i < offer.len; i++)
		offer.desc[i] = ((const uint8_t *)desc)[i];
	return duo_send(stream->duo, &offer, sizeof(offer));
}

static bool start_dma(struct pull *p, const struct stream *stream)
{
	struct doca_ctx *ctx;

	if (!bench_is_ok(doca_pe_create(&p->pe), "an engine") ||
	    !bench_is_ok(doca_dma_create(p->dev, &p->dma), "a DMA context"))
		return false;
	ctx = doca_dma_as_ctx(p->dma);
	return bench_is_ok(doca_dma_task_memcpy_set_conf(p->dma, on_copied, on_error,
							 (uint32_t)stream->slots),
			   "tasks") &&
	       bench_is_ok(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = p}), "data") &&
	       bench_is_ok(doca_pe_connect_ctx(p->pe, ctx), "an engine") &&
	       bench_is_ok(doca_ctx_start(ctx), "a DMA context") &&
	       bench_is_ok(doca_buf_inventory_create(2 * stream->slots, &p->inventory), "bufs") &&
	       bench_is_ok(doca_buf_inventory_start(p->inventory), "bufs");
}

static bool make_task(struct pull *p, const struct stream *stream, uint8_t *source, size_t i)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t result = doca_buf_inventory_buf_get_by_data(
		p->inventory, p->remote, source + i * stream->stride, stream->len, &p->from[i]);

	DOCA_ERROR_PROPAGATE(result,
			     doca_buf_inventory_buf_get_by_addr(p->inventory, p->map,
								stream->memory + i * stream->stride,
								stream->len, &p->to[i]));
	DOCA_ERROR_PROPAGATE(result, doca_dma_task_memcpy_alloc_init(p->dma, p->from[i], p->to[i],
								     (union doca_data){0}, &task));
	if (result == DOCA_SUCCESS)
		p->tasks[i] = doca_dma_task_memcpy_as_task(task);
	return bench_is_ok(result, "a copy");
}

static bool open_receiver(struct pull *p, const struct stream *stream)
{
	struct offer offer;

	if (!duo_receive(stream->duo, &offer, sizeof(offer)) ||
	    !bench_is_ok(
		    doca_mmap_create_from_export(NULL, offer.desc, offer.len, p->dev, &p->remote),
		    "an import") ||
	    !start_dma(p, stream))
		return false;
	for (size_t i = 0; i < stream->slots; i++)
		if (!make_task(p, stream, (uint8_t *)(uintptr_t)offer.addr, i))
			return false;
	return true;
}

static bool open_pull(struct stream *stream)
{
	struct pull *p = calloc(1, sizeof(*p));

	stream->own = p;
	if (!p)
		return false;
	p->dev = bench_open_device(NULL);
	if (!p->dev)
		return false;
	p->map = bench_map(p->dev, stream->memory, STREAM_MEMORY,
			   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	return p->map && (stream->is_sender ? offer_memory(p, stream) : open_receiver(p, stream)) &&
	       duo_meet(stream->duo);
}

static void close_pull(struct stream *stream)
{
	struct pull *p = stream->own;

	if (!p)
		return;
	duo_meet(stream->duo); /* the export must last as long as the import */
	for (size_t i = 0; i < STREAM_MAX_SLOTS; i++) {
		if (p->tasks[i])
			doca_task_free(p->tasks[i]);
		if (p->from[i])
			doca_buf_dec_refcount(p->from[i], NULL);
		if (p->to[i])
			doca_buf_dec_refcount(p->to[i], NULL);
	}
	if (p->dma) {
		doca_ctx_stop(doca_dma_as_ctx(p->dma));
		bench_is_ok(doca_dma_destroy(p->dma), "destroying the context");
	}
	if (p->pe)
		bench_is_ok(doca_pe_destroy(p->pe), "destroying the engine");
	if (p->inventory)
		bench_is_ok(doca_buf_inventory_destroy(p->inventory), "destroying the bufs");
	if (p->remote)
		bench_is_ok(doca_mmap_destroy(p->remote), "destroying the import");
	if (p->map)
		bench_is_ok(doca_mmap_destroy(p->map), "destroying the map");
	if (p->dev)
		bench_is_ok(doca_dev_close(p->dev), "closing the device");
	free(p);
}

/* The sender has nothing to do: its messages are done when they are posted. */
static bool post(struct stream *stream, size_t n)
{
	struct pull *p = stream->own;

	if (stream->is_sender) {
		p->done += (int)n;
		return true;
	}
	for (; n; n--)
		if (doca_task_submit_ex(p->tasks[p->posted++ & (stream->slots - 1)],
					n > 1 ? DOCA_TASK_SUBMIT_FLAG_NONE
					      : DOCA_TASK_SUBMIT_FLAG_FLUSH) != DOCA_SUCCESS)
			return false;
	return true;
}

static int reap(struct stream *stream, size_t max)
{
	struct pull *p = stream->own;
	int done;

	while (!stream->is_sender && (size_t)p->done < max && doca_pe_progress(p->pe))
		;
	done = p->done;
	p->done = 0;
	return p->failed ? -1 : done;
}

const struct stream_kind stream_dma = {"copy engine", open_pull, close_pull, post, reap};
