/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The host compresses a file on its CPU and offers the result in its memory. The engine of the DPU decompresses it
 * from there into the host's memory; no byte goes through the DPU's memory. Then the host compares. This source is
 * the DPU's program if it is compiled with DOCA_ARCH_DPU, and the host's program if it is compiled with
 * DOCA_ARCH_HOST.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "channel.h"
#include "common.h"

#define BLOCK	   ((size_t)1 << 20) /* uncompressed bytes of a task */
#define MAX_BLOCKS 256u		     /* their lengths fit into one message */

DOCA_LOG_REGISTER(EXAMPLE::DECOMPRESS);

/*
 * The host's message, little endian: the memory begins with the room for the file, in which each block has its place,
 * and goes on with the compressed blocks, one after another. The descriptor of the memory follows.
 */
struct offer {
	uint64_t addr;
	uint64_t len;		      /* of the file */
	uint32_t lengths[MAX_BLOCKS]; /* of the compressed blocks */
};

static unsigned int num_blocks(uint64_t len)
{
	return (unsigned int)((len + BLOCK - 1) / BLOCK);
}

static size_t block_len(uint64_t len, unsigned int block)
{
	return block + 1 < num_blocks(len) ? BLOCK : len - block * BLOCK;
}

#ifdef DOCA_ARCH_DPU

#include <doca_buf.h>
#include <doca_compress.h>
#include <doca_ctx.h>

#define NUM_TASKS 4

struct decompressor {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_buf_inventory *inventory;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	struct doca_mmap *remote; /* the host's memory */
	struct offer offer;
	unsigned int next; /* block to submit */
	size_t next_at;	   /* where it is, from the beginning of the memory */
	unsigned int num_running;
	doca_error_t result; /* the first error */
};

static char *at(const struct decompressor *d, size_t offset)
{
	return (char *)(uintptr_t)d->offer.addr + offset;
}

/* The source and the destination of the next block. */
static doca_error_t next_bufs(struct decompressor *d, struct doca_buf **src, struct doca_buf **dst)
{
	size_t packed = d->offer.lengths[d->next], plain = block_len(d->offer.len, d->next);
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(d->inventory, d->remote, at(d, d->next_at),
						    packed, src);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_buf_inventory_buf_get_by_addr(d->inventory, d->remote, at(d, d->next * BLOCK),
						    plain, dst);
	if (result != DOCA_SUCCESS)
		doca_buf_dec_refcount(*src, NULL);
	return result;
}

static void drop_bufs(struct doca_compress_task_decompress_deflate *task)
{
	doca_buf_dec_refcount(
		(struct doca_buf *)doca_compress_task_decompress_deflate_get_src(task), NULL);
	doca_buf_dec_refcount(doca_compress_task_decompress_deflate_get_dst(task), NULL);
}

/* Submit the next block with a task that is not in use, or free it. */
static void submit_next(struct decompressor *d, struct doca_compress_task_decompress_deflate *task)
{
	struct doca_task *base = doca_compress_task_decompress_deflate_as_task(task);
	struct doca_buf *src, *dst;

	if (d->result == DOCA_SUCCESS && d->next < num_blocks(d->offer.len)) {
		d->result = next_bufs(d, &src, &dst);
		if (d->result == DOCA_SUCCESS) {
			doca_compress_task_decompress_deflate_set_src(task, src);
			doca_compress_task_decompress_deflate_set_dst(task, dst);
			d->result = doca_task_submit(base);
			if (d->result == DOCA_SUCCESS) {
				d->num_running++;
				d->next_at += d->offer.lengths[d->next++];
				return;
			}
			drop_bufs(task);
		}
	}
	doca_task_free(base);
}

static void on_end(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	struct decompressor *d = ctx_data.ptr;
	doca_error_t result =
		doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task));

	(void)task_data;
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("A block cannot be decompressed: %s", doca_error_get_descr(result));
	d->result = keep_first(d->result, result);
	d->num_running--;
	drop_bufs(task);
	submit_next(d, task);
}

static doca_error_t open_context(struct decompressor *d)
{
	doca_error_t result = doca_pe_create(&d->pe);

	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(2 * NUM_TASKS, &d->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(d->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_compress_create(d->dev, &d->compress));
	if (result != DOCA_SUCCESS)
		return result;
	d->ctx = doca_compress_as_ctx(d->compress);
	result = doca_compress_task_decompress_deflate_set_conf(d->compress, on_end, on_end,
								NUM_TASKS);
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(d->pe, d->ctx));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(d->ctx, (union doca_data){.ptr = d}));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(d->ctx));
	return result;
}

static void close_context(struct decompressor *d)
{
	if (d->ctx) {
		enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

		(void)doca_ctx_stop(d->ctx);
		while (doca_ctx_get_state(d->ctx, &state) == DOCA_SUCCESS &&
		       state != DOCA_CTX_STATE_IDLE)
			doca_pe_progress(d->pe);
	}
	if (d->compress)
		doca_compress_destroy(d->compress);
	if (d->inventory)
		doca_buf_inventory_destroy(d->inventory);
	if (d->pe)
		doca_pe_destroy(d->pe);
}

/* All blocks, as many at the same time as there are tasks. */
static doca_error_t decompress(struct decompressor *d)
{
	struct doca_compress_task_decompress_deflate *task;
	doca_error_t result = open_context(d);

	for (int i = 0; i < NUM_TASKS && result == DOCA_SUCCESS; i++) {
		result = doca_compress_task_decompress_deflate_alloc_init(
			d->compress, NULL, NULL, (union doca_data){0}, &task);
		if (result == DOCA_SUCCESS)
			submit_next(d, task);
	}
	while (d->num_running)
		doca_pe_progress(d->pe);
	close_context(d);
	return keep_first(result, d->result);
}

/* Check the host's message, and import its memory. */
static doca_error_t take_offer(struct decompressor *d, const struct message *message)
{
	if (message->len <= sizeof(d->offer))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(&d->offer, message->bytes, sizeof(d->offer));
	d->offer.addr = le64toh(d->offer.addr);
	d->offer.len = le64toh(d->offer.len);
	if (!d->offer.len || d->offer.len > MAX_BLOCKS * BLOCK)
		return DOCA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < MAX_BLOCKS; i++)
		d->offer.lengths[i] = le32toh(d->offer.lengths[i]);
	d->next_at = d->offer.len;
	return doca_mmap_create_from_export(NULL, message->bytes + sizeof(d->offer),
					    message->len - sizeof(d->offer), d->dev, &d->remote);
}

static doca_error_t serve(struct doca_dev *dev, struct channel *channel)
{
	struct decompressor d = {.dev = dev};
	struct message *message;
	uint32_t answer;
	doca_error_t result = receive_message(channel, &message);

	if (result != DOCA_SUCCESS)
		return result;
	result = take_offer(&d, message);
	free(message);
	if (result == DOCA_SUCCESS) {
		result = decompress(&d);
		result = keep_first(result, doca_mmap_destroy(d.remote));
	}
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("Decompressed %u blocks in the host's memory", d.next);
	answer = htole32((uint32_t)result);
	return keep_first(result, send_message(channel, &answer, sizeof(answer)));
}

static doca_error_t can_take_part(const struct doca_devinfo *devinfo)
{
	doca_error_t result = can_serve(devinfo);

	DOCA_ERROR_PROPAGATE(result,
			     doca_compress_cap_task_decompress_deflate_is_supported(devinfo));
	return result;
}

static doca_error_t take_part(const struct config *config, struct doca_dev *dev)
{
	struct doca_dev_rep *rep;
	struct channel channel;
	doca_error_t result = open_representor(dev, config->rep_pci_addr, &rep);

	if (result != DOCA_SUCCESS)
		return result;
	result = accept_client(dev, rep, config->name, &channel);
	if (result == DOCA_SUCCESS) {
		result = serve(dev, &channel);
		close_channel(&channel);
	}
	return keep_first(result, doca_dev_rep_close(rep));
}

#define FLAGS "prn"

#else

#include <zlib.h>

/* A raw stream, as DOCA has them. Returns 0 if it does not fit. */
static size_t compress_block(const char *in, size_t in_len, char *out, size_t out_len)
{
	z_stream z = {.next_in = (Bytef *)in,
		      .avail_in = (uInt)in_len,
		      .next_out = (Bytef *)out,
		      .avail_out = (uInt)out_len};
	size_t len = 0;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END)
		len = z.total_out;
	deflateEnd(&z);
	return len;
}

/* Compress the file into the part of the memory behind its room. Returns the length of all. */
static size_t compress_file(const char *bytes, size_t len, struct memory *memory,
			    struct offer *offer)
{
	size_t packed = len;

	for (unsigned int i = 0; i < num_blocks(len); i++) {
		size_t n = compress_block(bytes + i * BLOCK, block_len(len, i),
					  memory->bytes + packed, memory->len - packed);

		if (!n)
			return 0;
		offer->lengths[i] = htole32((uint32_t)n);
		packed += n;
	}
	return packed - len;
}

static doca_error_t send_offer(struct channel *channel, const struct memory *memory,
			       struct doca_dev *dev, struct offer *offer)
{
	const void *desc;
	size_t desc_len;
	char *bytes;
	doca_error_t result = doca_mmap_export_pci(memory->mmap, dev, &desc, &desc_len);

	if (result != DOCA_SUCCESS)
		return result;
	offer->addr = htole64((uint64_t)(uintptr_t)memory->bytes);
	bytes = malloc(sizeof(*offer) + desc_len);
	if (!bytes)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(bytes, offer, sizeof(*offer));
	memcpy(bytes + sizeof(*offer), desc, desc_len);
	result = send_message(channel, bytes, sizeof(*offer) + desc_len);
	free(bytes);
	return result;
}

/* What the DPU has to say about its tasks. */
static doca_error_t receive_answer(struct channel *channel)
{
	struct message *message;
	uint32_t answer = (uint32_t)DOCA_ERROR_UNEXPECTED;
	doca_error_t result = receive_message(channel, &message);

	if (result != DOCA_SUCCESS)
		return result;
	if (message->len == sizeof(answer))
		memcpy(&answer, message->bytes, sizeof(answer));
	free(message);
	return (doca_error_t)le32toh(answer);
}

static doca_error_t offer_file(const struct config *config, struct doca_dev *dev, const char *bytes,
			       size_t len, struct memory *memory)
{
	struct offer offer = {.len = htole64(len)};
	struct channel channel;
	size_t packed = compress_file(bytes, len, memory, &offer);
	doca_error_t result;

	if (!packed)
		return DOCA_ERROR_UNEXPECTED;
	result = connect_to_server(dev, config->name, &channel);
	if (result != DOCA_SUCCESS)
		return result;
	result = send_offer(&channel, memory, dev, &offer);
	DOCA_ERROR_PROPAGATE(result, receive_answer(&channel));
	close_channel(&channel);
	if (result == DOCA_SUCCESS && memcmp(memory->bytes, bytes, len) != 0) {
		DOCA_LOG_ERR("What the DPU has decompressed differs from the file");
		result = DOCA_ERROR_UNEXPECTED;
	}
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("The DPU has decompressed %zu bytes to the %zu of %s", packed, len,
			      config->file);
	return result;
}

static doca_error_t can_take_part(const struct doca_devinfo *devinfo)
{
	doca_error_t result = can_connect(devinfo);

	DOCA_ERROR_PROPAGATE(result, can_export(devinfo));
	return result;
}

static doca_error_t take_part(const struct config *config, struct doca_dev *dev)
{
	struct memory memory;
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(config->file, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	if (len > MAX_BLOCKS * BLOCK) {
		free(bytes);
		return DOCA_ERROR_TOO_BIG;
	}
	result = create_memory(dev, len + compressBound(len) + num_blocks(len) * (size_t)64,
			       DOCA_ACCESS_FLAG_PCI_READ_WRITE, &memory);
	if (result == DOCA_SUCCESS) {
		result = offer_file(config, dev, bytes, len, &memory);
		destroy_memory(&memory);
	}
	free(bytes);
	return result;
}

#define FLAGS "pfn"

#endif

static doca_error_t run(const struct config *config)
{
	struct doca_dev *dev;
	doca_error_t result = open_device(config->pci_addr, can_take_part, &dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = take_part(config, dev);
	return keep_first(result, doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	struct config config = {.name = "decompress"};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, FLAGS, &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
