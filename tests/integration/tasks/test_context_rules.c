/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What published programs rely on with every kind of context: each test runs with a DMA context, with an RDMA context
 * and, where the device has the engines, with a compress context and an AES-GCM context.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_graph.h>

#include "endpoint.h"
#include "tasks.h"

#define NUM_TASKS   8u
#define LEN	    64u
#define ROOM	    4096u
#define PATIENCE_MS 30000
#define IDLE	    DOCA_CTX_STATE_IDLE
#define RUNNING	    DOCA_CTX_STATE_RUNNING
#define STOPPING    DOCA_CTX_STATE_STOPPING

/* A kind of context. */
struct kind {
	doca_error_t (*start)(void);
	doca_error_t (*set_conf)(void);
	doca_error_t (*alloc)(const struct doca_buf *src, struct doca_task **task);
	bool (*address_is_that_of)(struct doca_task *task);
	const struct doca_buf *(*get_src)(const struct doca_task *task);
	struct doca_buf *(*get_dst)(const struct doca_task *task);
	doca_error_t (*destroy)(void);
	doca_error_t not_idle;
	bool refuses; /* bad tasks, when they are submitted; and it goes on after a failed one */
};

static struct side {
	const struct kind *kind;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	struct doca_mmap *mmap; /* of dst */
	uint8_t *bytes;		/* of it, not used otherwise */
	unsigned int num_done, num_failed, num_changes;
	doca_error_t last_error;
	enum doca_ctx_states last_state;
	void (*on_task)(struct doca_task *task); /* NULL: free it */
} side;

static const union doca_data no_data;

static void on_end(struct doca_task *task)
{
	side.last_error = doca_task_get_status(task);
	if (side.last_error == DOCA_SUCCESS)
		side.num_done++;
	else
		side.num_failed++;
	if (side.on_task)
		side.on_task(task);
	else
		doca_task_free(task);
}

static void on_state(const union doca_data user_data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	side.num_changes++;
	side.last_state = next;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(ctx, &now));
	return now;
}

/* --- DMA -------------------------------------------------------------------------------------- */

/* As with RDMA below: one function for both callbacks. */
static void on_dma(struct doca_dma_task_memcpy *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	on_end(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t dma_set_conf(void)
{
	return doca_dma_task_memcpy_set_conf(tasks.dma, on_dma, on_dma, NUM_TASKS);
}

static doca_error_t dma_start(void)
{
	return doca_ctx_start(tasks.ctx);
}

static doca_error_t dma_alloc(const struct doca_buf *src, struct doca_task **task)
{
	struct doca_dma_task_memcpy *allocated;
	doca_error_t result =
		doca_dma_task_memcpy_alloc_init(tasks.dma, src, side.dst, no_data, &allocated);

	if (result == DOCA_SUCCESS)
		*task = doca_dma_task_memcpy_as_task(allocated);
	return result;
}

static bool dma_address_is_that_of(struct doca_task *task)
{
	return (void *)task ==
	       (void *)doca_dma_task_memcpy_as_task((struct doca_dma_task_memcpy *)task);
}

static const struct doca_buf *dma_get_src(const struct doca_task *task)
{
	return doca_dma_task_memcpy_get_src((const struct doca_dma_task_memcpy *)task);
}

static struct doca_buf *dma_get_dst(const struct doca_task *task)
{
	return doca_dma_task_memcpy_get_dst((const struct doca_dma_task_memcpy *)task);
}

static doca_error_t dma_destroy(void)
{
	return doca_dma_destroy(tasks.dma);
}

static const struct kind dma = {
	.start = dma_start,
	.set_conf = dma_set_conf,
	.alloc = dma_alloc,
	.address_is_that_of = dma_address_is_that_of,
	.get_src = dma_get_src,
	.get_dst = dma_get_dst,
	.destroy = dma_destroy,
	.not_idle = DOCA_ERROR_IN_USE,
};

static int open_dma(void **state)
{
	if (tasks_open(state))
		return -1;
	side = (struct side){
		.kind = &dma,
		.dev = tasks.dev,
		.pe = tasks.pe,
		.ctx = tasks.ctx,
		.inventory = tasks.inventory,
		.src = tasks_source(0, LEN),
		.dst = tasks_room(0, ROOM),
		.mmap = tasks.mmap,
		.bytes = tasks.bytes + TASKS_LEN,
	};
	return dma_set_conf() || doca_ctx_set_state_changed_cb(side.ctx, on_state) ? -1 : 0;
}

static doca_error_t stop_side(void)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	(void)doca_ctx_stop(side.ctx);
	while (state_of(side.ctx) != IDLE && monotonic_ms() < end)
		doca_pe_progress(side.pe);
	return state_of(side.ctx) == IDLE ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
}

static doca_error_t drop_bufs(void)
{
	doca_error_t result = doca_buf_dec_refcount(side.src, NULL);

	DOCA_ERROR_PROPAGATE(result, doca_buf_dec_refcount(side.dst, NULL));
	return result;
}

static int close_dma(void **state)
{
	return stop_side() || drop_bufs() || tasks_close(state) ? -1 : 0;
}

/* --- RDMA ------------------------------------------------------------------------------------- */

static struct doca_dev *rdma_dev;
static struct endpoint local, remote;

static void on_read(struct doca_rdma_task_read *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	on_end(doca_rdma_task_read_as_task(task));
}

static doca_error_t rdma_set_conf(void)
{
	return doca_rdma_task_read_set_conf(local.rdma, on_read, on_read, NUM_TASKS);
}

/* With the remote endpoint, which needs no progress. */
static doca_error_t rdma_start(void)
{
	doca_error_t result;

	if (side.src)
		assert_ok(doca_buf_dec_refcount(side.src, NULL));
	side.src = NULL;
	assert_ok(endpoint_stop(&remote));
	result = endpoint_pair(&local, &remote);
	if (result == DOCA_SUCCESS)
		side.src = endpoint_source(&local, local.peer, local.peer_addr, LEN);
	return result;
}

static doca_error_t rdma_alloc(const struct doca_buf *src, struct doca_task **task)
{
	struct doca_rdma_task_read *allocated;
	doca_error_t result = doca_rdma_task_read_allocate_init(local.rdma, local.connection, src,
								side.dst, no_data, &allocated);

	if (result == DOCA_SUCCESS)
		*task = doca_rdma_task_read_as_task(allocated);
	return result;
}

static bool rdma_address_is_that_of(struct doca_task *task)
{
	return (void *)task ==
	       (void *)doca_rdma_task_read_as_task((struct doca_rdma_task_read *)task);
}

static const struct doca_buf *rdma_get_src(const struct doca_task *task)
{
	return doca_rdma_task_read_get_src_buf((const struct doca_rdma_task_read *)task);
}

static struct doca_buf *rdma_get_dst(const struct doca_task *task)
{
	return doca_rdma_task_read_get_dst_buf((const struct doca_rdma_task_read *)task);
}

static doca_error_t rdma_destroy(void)
{
	return doca_rdma_destroy(local.rdma);
}

static const struct kind rdma = {
	.start = rdma_start,
	.set_conf = rdma_set_conf,
	.alloc = rdma_alloc,
	.address_is_that_of = rdma_address_is_that_of,
	.get_src = rdma_get_src,
	.get_dst = rdma_get_dst,
	.destroy = rdma_destroy,
	.not_idle = DOCA_ERROR_BAD_STATE,
};

static int open_rdma(void **state)
{
	if (fixture_count(state) || fixture_open_device(&rdma_dev) ||
	    endpoint_open(&local, rdma_dev, LOCAL_RW | RDMA_R, RDMA_R) ||
	    endpoint_open(&remote, rdma_dev, LOCAL_RW | RDMA_R, RDMA_R))
		return -1;
	fixture_fill(remote.bytes, ENDPOINT_LEN, 2);
	side = (struct side){
		.kind = &rdma,
		.dev = rdma_dev,
		.pe = local.pe,
		.ctx = local.ctx,
		.inventory = local.inventory,
		.dst = endpoint_room(&local, local.mmap, local.bytes, ROOM),
		.mmap = local.mmap,
		.bytes = local.bytes,
	};
	return rdma_set_conf() || doca_ctx_set_state_changed_cb(side.ctx, on_state) ? -1 : 0;
}

static int close_rdma(void **state)
{
	doca_error_t result = stop_side();

	if (side.src)
		DOCA_ERROR_PROPAGATE(result, doca_buf_dec_refcount(side.src, NULL));
	DOCA_ERROR_PROPAGATE(result, doca_buf_dec_refcount(side.dst, NULL));
	DOCA_ERROR_PROPAGATE(result, endpoint_close(&local));
	DOCA_ERROR_PROPAGATE(result, endpoint_close(&remote));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(rdma_dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

/* --- compress --------------------------------------------------------------------------------- */

static struct doca_compress *compress;

static void on_stream(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
		      union doca_data ctx_data)
{
	on_end(doca_compress_task_decompress_deflate_as_task(task));
}

static doca_error_t compress_set_conf(void)
{
	return doca_compress_task_decompress_deflate_set_conf(compress, on_stream, on_stream,
							      NUM_TASKS);
}

static doca_error_t compress_start(void)
{
	return doca_ctx_start(side.ctx);
}

static doca_error_t compress_alloc(const struct doca_buf *src, struct doca_task **task)
{
	struct doca_compress_task_decompress_deflate *allocated;
	doca_error_t result = doca_compress_task_decompress_deflate_alloc_init(
		compress, src, side.dst, no_data, &allocated);

	if (result == DOCA_SUCCESS)
		*task = doca_compress_task_decompress_deflate_as_task(allocated);
	return result;
}

static bool compress_address_is_that_of(struct doca_task *task)
{
	return (void *)task == (void *)doca_compress_task_decompress_deflate_as_task(
				       (struct doca_compress_task_decompress_deflate *)task);
}

static const struct doca_buf *compress_get_src(const struct doca_task *task)
{
	return doca_compress_task_decompress_deflate_get_src(
		(const struct doca_compress_task_decompress_deflate *)task);
}

static struct doca_buf *compress_get_dst(const struct doca_task *task)
{
	return doca_compress_task_decompress_deflate_get_dst(
		(const struct doca_compress_task_decompress_deflate *)task);
}

static doca_error_t compress_destroy(void)
{
	return doca_compress_destroy(compress);
}

static const struct kind compression = {
	.start = compress_start,
	.set_conf = compress_set_conf,
	.alloc = compress_alloc,
	.address_is_that_of = compress_address_is_that_of,
	.get_src = compress_get_src,
	.get_dst = compress_get_dst,
	.destroy = compress_destroy,
	.not_idle = DOCA_ERROR_IN_USE,
	.refuses = true,
};

/* A stream of LEN bytes in a stored block: RFC 1951, 3.2.4. */
static struct doca_buf *stored_source(void)
{
	static const uint8_t header[] = {1, LEN, 0, (uint8_t)~LEN, 0xff};

	memcpy(tasks.bytes, header, sizeof(header));
	return tasks_source(0, LEN + sizeof(header));
}

static int open_compress(void **state)
{
	if (tasks_open(state) || doca_compress_create(tasks.dev, &compress))
		return -1;
	side = (struct side){
		.kind = &compression,
		.dev = tasks.dev,
		.pe = tasks.pe,
		.ctx = doca_compress_as_ctx(compress),
		.inventory = tasks.inventory,
		.src = stored_source(),
		.dst = tasks_room(0, ROOM),
		.mmap = tasks.mmap,
		.bytes = tasks.bytes + TASKS_LEN,
	};
	return doca_pe_connect_ctx(side.pe, side.ctx) || compress_set_conf() ||
			       doca_ctx_set_state_changed_cb(side.ctx, on_state)
		       ? -1
		       : 0;
}

static int close_compress(void **state)
{
	return stop_side() || drop_bufs() || doca_compress_destroy(compress) || tasks_close(state)
		       ? -1
		       : 0;
}

static bool has(doca_error_t (*is_supported)(const struct doca_devinfo *devinfo))
{
	struct doca_dev *dev;
	bool supported;

	if (fixture_open_device(&dev))
		return false;
	supported = !is_supported(doca_dev_as_devinfo(dev));
	return !doca_dev_close(dev) && supported;
}

/* --- AES-GCM ---------------------------------------------------------------------------------- */

#define AES_GCM_TAG 16

static struct doca_aes_gcm *aes_gcm;
static struct doca_aes_gcm_key *aes_gcm_key;

static void on_encryption(struct doca_aes_gcm_task_encrypt *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	on_end(doca_aes_gcm_task_encrypt_as_task(task));
}

static doca_error_t aes_gcm_set_conf(void)
{
	return doca_aes_gcm_task_encrypt_set_conf(aes_gcm, on_encryption, on_encryption, NUM_TASKS);
}

static doca_error_t aes_gcm_start(void)
{
	return doca_ctx_start(side.ctx);
}

static doca_error_t aes_gcm_alloc(const struct doca_buf *src, struct doca_task **task)
{
	static const uint8_t iv[12];
	struct doca_aes_gcm_task_encrypt *allocated;
	doca_error_t result = doca_aes_gcm_task_encrypt_alloc_init(
		aes_gcm, src, side.dst, aes_gcm_key, iv, sizeof(iv), AES_GCM_TAG, 0, no_data,
		&allocated);

	if (result == DOCA_SUCCESS)
		*task = doca_aes_gcm_task_encrypt_as_task(allocated);
	return result;
}

static bool aes_gcm_address_is_that_of(struct doca_task *task)
{
	return (void *)task ==
	       (void *)doca_aes_gcm_task_encrypt_as_task((struct doca_aes_gcm_task_encrypt *)task);
}

static const struct doca_buf *aes_gcm_get_src(const struct doca_task *task)
{
	return doca_aes_gcm_task_encrypt_get_src((const struct doca_aes_gcm_task_encrypt *)task);
}

static struct doca_buf *aes_gcm_get_dst(const struct doca_task *task)
{
	return doca_aes_gcm_task_encrypt_get_dst((const struct doca_aes_gcm_task_encrypt *)task);
}

static doca_error_t aes_gcm_destroy(void)
{
	return doca_aes_gcm_destroy(aes_gcm);
}

static const struct kind encryption = {
	.start = aes_gcm_start,
	.set_conf = aes_gcm_set_conf,
	.alloc = aes_gcm_alloc,
	.address_is_that_of = aes_gcm_address_is_that_of,
	.get_src = aes_gcm_get_src,
	.get_dst = aes_gcm_get_dst,
	.destroy = aes_gcm_destroy,
	.not_idle = DOCA_ERROR_IN_USE,
	.refuses = true,
};

static int open_aes_gcm(void **state)
{
	static const uint8_t raw[16];

	if (tasks_open(state) || doca_aes_gcm_create(tasks.dev, &aes_gcm) ||
	    doca_aes_gcm_key_create(aes_gcm, raw, DOCA_AES_GCM_KEY_128, &aes_gcm_key))
		return -1;
	side = (struct side){
		.kind = &encryption,
		.dev = tasks.dev,
		.pe = tasks.pe,
		.ctx = doca_aes_gcm_as_ctx(aes_gcm),
		.inventory = tasks.inventory,
		.src = tasks_source(0, LEN - AES_GCM_TAG), /* the result has LEN bytes */
		.dst = tasks_room(0, ROOM),
		.mmap = tasks.mmap,
		.bytes = tasks.bytes + TASKS_LEN,
	};
	return doca_pe_connect_ctx(side.pe, side.ctx) || aes_gcm_set_conf() ||
			       doca_ctx_set_state_changed_cb(side.ctx, on_state)
		       ? -1
		       : 0;
}

static int close_aes_gcm(void **state)
{
	return stop_side() || drop_bufs() || doca_aes_gcm_key_destroy(aes_gcm_key) ||
			       doca_aes_gcm_destroy(aes_gcm) || tasks_close(state)
		       ? -1
		       : 0;
}

/* --- what tests do with any ------------------------------------------------------------------- */

static void start(void)
{
	assert_ok(side.kind->start());
}

static struct doca_task *new_task(void)
{
	struct doca_task *task = NULL;

	assert_ok(side.kind->alloc(side.src, &task));
	return task;
}

static struct doca_task *submit(void)
{
	struct doca_task *task = new_task();

	assert_ok(doca_task_submit(task));
	return task;
}

static void wait_for(unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	while (side.num_done + side.num_failed < num) {
		doca_pe_progress(side.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(side.num_done + side.num_failed, num);
}

static void assert_readable(const struct doca_task *task)
{
	assert_ptr_equal(side.kind->get_src(task), side.src);
	assert_ptr_equal(side.kind->get_dst(task), side.dst);
	assert_ptr_equal(doca_task_get_ctx(task), side.ctx);
	assert_ok(doca_task_get_status(task));
	assert_int_equal(doca_task_get_user_data(task).u64, 0);
}

/* --- the rules -------------------------------------------------------------------------------- */

static void set_conf_of_an_active_context_is_bad_state(void **state)
{
	struct doca_task *task;

	start();
	assert_error(side.kind->set_conf(), DOCA_ERROR_BAD_STATE);
	task = new_task();
	assert_error(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(side.ctx), STOPPING);
	assert_error(side.kind->set_conf(), DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	assert_ok(side.kind->set_conf());
}

static void task_beyond_the_number_configured_is_no_memory(void **state)
{
	struct doca_task *all[NUM_TASKS], *more = NULL;

	start();
	for (unsigned int i = 0; i < NUM_TASKS; i++)
		all[i] = new_task();
	assert_error(side.kind->alloc(side.src, &more), DOCA_ERROR_NO_MEMORY);
	doca_task_free(all[0]);
	all[0] = new_task();
	for (unsigned int i = 0; i < NUM_TASKS; i++)
		doca_task_free(all[i]);
}

static void task_of_a_stopped_context_is_bad_state(void **state)
{
	struct doca_task *task = NULL;

	start();
	assert_ok(doca_ctx_stop(side.ctx));
	assert_error(side.kind->alloc(side.src, &task), DOCA_ERROR_BAD_STATE);
}

static void task_and_its_base_have_one_address(void **state)
{
	struct doca_task *task;

	start();
	task = new_task();
	assert_true(side.kind->address_is_that_of(task));
	doca_task_free(task);
	assert_null(doca_dma_task_memcpy_as_task(NULL));
	assert_null(doca_rdma_task_read_as_task(NULL));
	assert_null(doca_rdma_task_write_as_task(NULL));
}

static void free_and_read(struct doca_task *task)
{
	doca_task_free(task);
	assert_readable(task);
}

static void freed_task_can_be_read(void **state)
{
	struct doca_task *task;

	start();
	task = new_task();
	doca_task_free(task);
	assert_readable(task);
	side.on_task = free_and_read;
	submit();
	wait_for(1);
}

static void task_whose_free_made_the_context_idle_can_be_read(void **state)
{
	struct doca_task *task;

	side.on_task = free_and_read;
	start();
	submit();
	assert_error(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	wait_for(1);
	assert_int_equal(state_of(side.ctx), IDLE);

	start();
	task = new_task();
	assert_error(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(task);
	assert_int_equal(state_of(side.ctx), IDLE);
	assert_readable(task);
	doca_task_free(task); /* logged only */
}

static void resubmit(struct doca_task *task)
{
	if (side.num_done == 3)
		doca_task_free(task);
	else
		assert_ok(doca_task_submit(task));
}

static void callback_submits_its_task_again(void **state)
{
	size_t len = 0;

	side.on_task = resubmit;
	start();
	submit();
	wait_for(3);
	assert_ok(doca_buf_get_data_len(side.dst, &len));
	assert_int_equal(len, 3 * LEN);
}

static void submit_another(struct doca_task *task)
{
	side.on_task = NULL;
	submit();
	doca_task_free(task);
}

static void callback_submits_another_task(void **state)
{
	side.on_task = submit_another;
	start();
	submit();
	wait_for(2);
}

static void free_and_stop(struct doca_task *task)
{
	doca_task_free(task);
	(void)doca_ctx_stop(side.ctx);
}

static void callback_stops_the_context(void **state)
{
	side.on_task = free_and_stop;
	start();
	for (unsigned int i = 0; i < 3; i++)
		submit();
	wait_for(3);
	assert_int_equal(state_of(side.ctx), IDLE);
	assert_int_equal(side.num_done, 3);
	assert_int_equal(side.num_changes, 3);
	assert_int_equal(side.last_state, IDLE);
}

/* Allocate all tasks but those that are taken, and free them. */
static void assert_taken(unsigned int taken)
{
	struct doca_task *all[NUM_TASKS], *more = NULL;
	unsigned int num = NUM_TASKS - taken;

	for (unsigned int i = 0; i < num; i++)
		all[i] = new_task();
	assert_error(side.kind->alloc(side.src, &more), DOCA_ERROR_NO_MEMORY);
	for (unsigned int i = 0; i < num; i++)
		doca_task_free(all[i]);
}

static void keep(struct doca_task *task)
{
	(void)task;
}

static void task_freed_in_flight_is_freed_after_its_callback(void **state)
{
	side.on_task = keep;
	start();
	for (unsigned int i = 1; i <= 2; i++) {
		struct doca_task *task = submit();

		doca_task_free(task);
		doca_task_free(task);
		assert_taken(1);
		wait_for(i);
		assert_taken(0);
		side.on_task = NULL; /* the callback frees it as well */
	}
	assert_ok(doca_ctx_stop(side.ctx));
}

/* --- steps in every order --------------------------------------------------------------------- */

enum step {
	STOP,
	STOP_AGAIN,
	FREE_OWN,   /* the task that completed first */
	FREE_OTHER, /* submitted after it */
	FREE_SPARE, /* not submitted */
	NUM_STEPS
};

/* When the steps are taken. */
enum moment {
	IN_CALLBACK, /* of the first task, with the other in flight */
	IN_FLIGHT,   /* after it */
	AT_REST,     /* after the callbacks of both */
	NUM_MOMENTS
};

static struct {
	enum step order[NUM_STEPS];
	enum moment moment;
	struct doca_task *tasks[NUM_STEPS];
	unsigned int left; /* tasks that are not freed */
} steps;

static void take_step(enum step step)
{
	if (step == STOP || step == STOP_AGAIN) {
		assert_error(doca_ctx_stop(side.ctx), steps.moment == AT_REST && !steps.left
							      ? DOCA_SUCCESS
							      : DOCA_ERROR_IN_PROGRESS);
		return;
	}
	doca_task_free(steps.tasks[step]);
	steps.left--;
}

static void take_steps(void)
{
	for (unsigned int i = 0; i < NUM_STEPS; i++)
		take_step(steps.order[i]);
}

static void take_steps_in_callback(struct doca_task *task)
{
	if (task == steps.tasks[FREE_OWN] && steps.moment == IN_CALLBACK) {
		take_steps();
		assert_int_equal(state_of(side.ctx), STOPPING);
	}
}

static void take_steps_at(enum moment moment)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	steps.moment = moment;
	steps.left = 3;
	side.num_done = side.num_failed = side.num_changes = 0;
	assert_ok(doca_buf_reset_data_len(side.dst));
	start();
	steps.tasks[FREE_SPARE] = new_task();
	steps.tasks[FREE_OWN] = submit();
	steps.tasks[FREE_OTHER] = submit();
	if (moment != IN_CALLBACK) {
		wait_for(1);
		if (moment == AT_REST)
			wait_for(2);
		take_steps();
	}
	while (state_of(side.ctx) != IDLE) {
		doca_pe_progress(side.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(side.num_done + side.num_failed, 2);
	assert_int_equal(side.last_state, IDLE);
	assert_in_range(side.num_changes, moment == AT_REST ? 2 : 3, 3);
}

static void swap_steps(unsigned int i, unsigned int j)
{
	enum step step = steps.order[i];

	steps.order[i] = steps.order[j];
	steps.order[j] = step;
}

/* Whether the second stop is already in its place. The stops are alike: one order of them suffices. */
static bool has_stopped_again(unsigned int n)
{
	while (n && steps.order[n - 1] != STOP_AGAIN)
		n--;
	return n;
}

/* Each order of the steps from the n-th on. */
static void for_each_order(unsigned int n, enum moment moment)
{
	if (n == NUM_STEPS) {
		take_steps_at(moment);
		return;
	}
	for (unsigned int i = n; i < NUM_STEPS; i++) {
		if (steps.order[i] == STOP && has_stopped_again(n))
			continue;
		swap_steps(n, i);
		for_each_order(n + 1, moment);
		swap_steps(n, i);
	}
}

static void stop_and_frees_may_come_in_any_order(void **state)
{
	side.on_task = take_steps_in_callback;
	for (unsigned int i = 0; i < NUM_STEPS; i++)
		steps.order[i] = (enum step)i;
	for (unsigned int moment = 0; moment < NUM_MOMENTS; moment++)
		for_each_order(0, (enum moment)moment);
}

static void block(struct doca_task *task)
{
	usleep(100000);
	doca_task_free(task);
}

static void callback_may_block(void **state)
{
	side.on_task = block;
	start();
	for (unsigned int i = 0; i < 3; i++)
		submit();
	wait_for(3);
	assert_int_equal(side.num_done, 3);
}

/* Another context on another engine. */
static struct other {
	struct doca_pe *pe;
	struct doca_dma *dma;
	unsigned int num_done;
} other;

static void on_other(struct doca_dma_task_memcpy *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	other.num_done++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void drive_the_other(struct doca_task *task)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;
	unsigned int before = other.num_done;
	struct doca_dma_task_memcpy *copy;
	struct doca_buf *src, *dst;

	assert_ok(doca_buf_inventory_buf_get_by_data(side.inventory, side.mmap, side.bytes, LEN,
						     &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(side.inventory, side.mmap,
						     side.bytes + 2 * ROOM, LEN, &dst));
	assert_ok(doca_dma_task_memcpy_alloc_init(other.dma, src, dst, no_data, &copy));
	assert_ok(doca_task_submit(doca_dma_task_memcpy_as_task(copy)));
	while (other.num_done == before) {
		doca_pe_progress(other.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	doca_task_free(task);
}

static void callback_drives_another_engine(void **state)
{
	other = (struct other){0};
	assert_ok(doca_pe_create(&other.pe));
	assert_ok(doca_dma_create(side.dev, &other.dma));
	assert_ok(doca_dma_task_memcpy_set_conf(other.dma, on_other, on_other, 1));
	assert_ok(doca_pe_connect_ctx(other.pe, doca_dma_as_ctx(other.dma)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(other.dma)));
	side.on_task = drive_the_other;
	start();
	for (unsigned int i = 0; i < 3; i++)
		submit();
	wait_for(3);
	assert_int_equal(other.num_done, 3);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(other.dma)));
	assert_ok(doca_dma_destroy(other.dma));
	assert_ok(doca_pe_destroy(other.pe));
}

static unsigned int num_events(void)
{
	return side.num_done + side.num_failed + side.num_changes;
}

static void progress_is_zero_unless_something_happened(void **state)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;
	unsigned int before;
	uint8_t result;

	side.on_task = free_and_stop;
	start();
	assert_int_equal(doca_pe_progress(side.pe), 0);
	for (unsigned int i = 0; i < NUM_TASKS; i++)
		submit();
	while (state_of(side.ctx) != IDLE) {
		before = num_events();
		result = doca_pe_progress(side.pe);
		assert_int_equal(result, num_events() != before);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(side.num_done, NUM_TASKS);
	assert_int_equal(doca_pe_progress(side.pe), 0);
}

static void cleaning_up_nothing_is_refused(void **state)
{
	enum doca_ctx_states now;
	size_t num;

	assert_null(doca_dma_as_ctx(NULL));
	assert_null(doca_rdma_as_ctx(NULL));
	assert_null(doca_compress_as_ctx(NULL));
	assert_null(doca_aes_gcm_as_ctx(NULL));
	assert_error(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_state(NULL, &now), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_num_inflight_tasks(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_compress_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_aes_gcm_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_pe_progress(NULL), 0);
	doca_task_free(NULL);
	doca_ctx_flush_tasks(NULL);
}

/* A program that calls progress once a second tries 30 times. */
static void stop_needs_few_calls_of_progress(void **state)
{
	unsigned int calls = 0;

	start();
	for (unsigned int i = 0; i < 3; i++)
		submit();
	(void)doca_ctx_stop(side.ctx);
	while (state_of(side.ctx) != IDLE) {
		usleep(100000);
		doca_pe_progress(side.pe);
		assert_true(++calls <= 30);
	}
}

static void active_object_is_not_destroyed(void **state)
{
	struct doca_task *task;

	start();
	assert_error(side.kind->destroy(), side.kind->not_idle);
	task = new_task();
	assert_error(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(side.kind->destroy(), side.kind->not_idle);
	doca_task_free(task);
}

static void device_opened_again_is_the_same(void **state)
{
	static uint8_t bytes[ROOM];
	struct doca_dev *again = NULL;
	struct doca_buf *before = side.dst;
	struct doca_mmap *mmap;

	assert_ok(doca_dev_open(doca_dev_as_devinfo(side.dev), &again));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_add_dev(mmap, again));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_buf_inventory_buf_get_by_addr(side.inventory, mmap, bytes, sizeof(bytes),
						     &side.dst));
	start();
	submit();
	wait_for(1);
	assert_ok(side.last_error);
	assert_ok(doca_buf_dec_refcount(side.dst, NULL));
	side.dst = before;
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(again));
}

/* One call of progress for each event, until the context is IDLE. */
static void handle_fires_for_all_that_progress_reports(void **state)
{
	struct pollfd handle = {.events = POLLIN};

	start();
	assert_ok(doca_pe_get_notification_handle(side.pe, &handle.fd));
	for (unsigned int i = 0; i < NUM_TASKS; i++)
		submit();
	assert_error(doca_ctx_stop(side.ctx), DOCA_ERROR_IN_PROGRESS);
	while (state_of(side.ctx) != IDLE) {
		assert_ok(doca_pe_request_notification(side.pe));
		assert_int_equal(poll(&handle, 1, PATIENCE_MS), 1);
		assert_ok(doca_pe_clear_notification(side.pe, 0));
		(void)doca_pe_progress(side.pe);
	}
	assert_int_equal(side.num_done, NUM_TASKS);
	assert_ok(doca_pe_request_notification(side.pe));
	assert_int_equal(poll(&handle, 1, 0), 0);
	assert_ok(doca_pe_clear_notification(side.pe, 0));
}

/* The tutorial says so. Tasks behind an error of the device are flushed: see the tests of both. */
static void task_that_never_reached_the_device_holds_up_none(void **state)
{
	struct doca_buf *nothing;
	struct doca_task *bad = NULL;

	start();
	assert_ok(doca_buf_inventory_buf_get_by_addr(side.inventory, side.mmap, side.bytes, LEN,
						     &nothing));
	submit();
	assert_ok(side.kind->alloc(nothing, &bad));
	if (side.kind->refuses) {
		assert_error(doca_task_submit(bad), DOCA_ERROR_INVALID_VALUE);
		doca_task_free(bad);
	} else {
		assert_ok(doca_task_submit(bad));
	}
	for (unsigned int i = 0; i < 3; i++)
		submit();
	wait_for(side.kind->refuses ? 4 : 5);
	assert_int_equal(side.num_failed, side.kind->refuses ? 0 : 1);
	assert_int_equal(side.num_done, 4);
	assert_int_equal(state_of(side.ctx), side.kind->refuses ? RUNNING : IDLE);
	assert_ok(doca_buf_dec_refcount(nothing, NULL));
}

static void on_instance(struct doca_graph_instance *instance, union doca_data instance_data,
			union doca_data graph_data)
{
	(*(unsigned int *)graph_data.ptr)++;
}

static void on_failed_instance(struct doca_graph_instance *instance, union doca_data instance_data,
			       union doca_data graph_data)
{
	*(unsigned int *)graph_data.ptr += 100;
}

/* Submit the instance and wait for its end; a failed one counts as 100. */
static void run_instance(struct doca_graph_instance *instance, const unsigned int *ended,
			 unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;
	unsigned int before = *ended;

	assert_ok(doca_graph_instance_submit(instance));
	while (*ended == before) {
		doca_pe_progress(side.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(*ended, num);
}

static void task_in_a_graph_has_no_callback(void **state)
{
	struct doca_graph_instance *instance;
	struct doca_graph_node *node;
	struct doca_graph *graph;
	struct doca_task *task;
	unsigned int ended = 0;
	size_t len = 0;

	start();
	assert_ok(doca_graph_create(side.pe, &graph));
	assert_ok(doca_graph_node_create_from_ctx(graph, side.ctx, &node));
	assert_ok(doca_graph_set_conf(graph, on_instance, on_failed_instance, 1));
	assert_ok(doca_graph_set_user_data(graph, (union doca_data){.ptr = &ended}));
	assert_ok(doca_graph_start(graph));
	assert_ok(doca_graph_instance_create(graph, &instance));
	task = new_task();
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, node, task));
	run_instance(instance, &ended, 1);
	assert_ok(doca_buf_get_data_len(side.dst, &len));
	assert_int_equal(len, LEN);
	assert_ok(doca_buf_set_data_len(side.dst, ROOM)); /* no room */
	run_instance(instance, &ended, 101);
	assert_error(doca_task_get_status(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(side.num_done + side.num_failed, 0);
	assert_int_equal(state_of(side.ctx), side.kind->refuses ? RUNNING : STOPPING);
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(task);
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_destroy(graph));
	assert_int_equal(state_of(side.ctx), side.kind->refuses ? RUNNING : IDLE);
}

#define RULES(RULE)                                             \
	RULE(set_conf_of_an_active_context_is_bad_state)        \
	RULE(task_beyond_the_number_configured_is_no_memory)    \
	RULE(task_of_a_stopped_context_is_bad_state)            \
	RULE(task_and_its_base_have_one_address)                \
	RULE(freed_task_can_be_read)                            \
	RULE(task_whose_free_made_the_context_idle_can_be_read) \
	RULE(callback_submits_its_task_again)                   \
	RULE(callback_submits_another_task)                     \
	RULE(callback_stops_the_context)                        \
	RULE(task_freed_in_flight_is_freed_after_its_callback)  \
	RULE(stop_and_frees_may_come_in_any_order)              \
	RULE(callback_may_block)                                \
	RULE(callback_drives_another_engine)                    \
	RULE(progress_is_zero_unless_something_happened)        \
	RULE(cleaning_up_nothing_is_refused)                    \
	RULE(stop_needs_few_calls_of_progress)                  \
	RULE(active_object_is_not_destroyed)                    \
	RULE(device_opened_again_is_the_same)                   \
	RULE(handle_fires_for_all_that_progress_reports)        \
	RULE(task_that_never_reached_the_device_holds_up_none)  \
	RULE(task_in_a_graph_has_no_callback)

#define RULE_OF(kind, function)        \
	{.name = #kind ": " #function, \
	 .test_func = (function),      \
	 .setup_func = open_##kind,    \
	 .teardown_func = close_##kind},
#define DMA(function)	   RULE_OF(dma, function)
#define RDMA(function)	   RULE_OF(rdma, function)
#define COMPRESS(function) RULE_OF(compress, function)
#define AES_GCM(function)  RULE_OF(aes_gcm, function)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {RULES(DMA) RULES(RDMA)};
	static const struct CMUnitTest compress_tests[] = {RULES(COMPRESS)};
	static const struct CMUnitTest aes_gcm_tests[] = {RULES(AES_GCM)};
	int failed;

	test_parse_options(argc, argv);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (has(doca_compress_cap_task_decompress_deflate_is_supported))
		failed += cmocka_run_group_tests(compress_tests, NULL, NULL);
	if (has(doca_aes_gcm_cap_task_encrypt_is_supported))
		failed += cmocka_run_group_tests(aes_gcm_tests, NULL, NULL);
	return failed;
}
