/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Batches of tasks, with completions for some of them only: order, failures, wrapping indices. */
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

#include "tasks.h"

#define SLOT 64u
#define MANY 200000u /* more than indices of 16 bits, and many rounds through the queues */

static struct doca_buf *src[TASKS_NUM], *dst[TASKS_NUM];
static uint64_t expected; /* data of the task that must complete next */

static void get_bufs(void)
{
	for (size_t i = 0; i < TASKS_NUM; i++) {
		src[i] = tasks_source(i * SLOT, SLOT);
		dst[i] = tasks_room(i * SLOT, SLOT);
	}
}

static void drop_bufs(void)
{
	for (size_t i = 0; i < TASKS_NUM; i++) {
		tasks_drop(src[i]);
		tasks_drop(dst[i]);
	}
}

static void submit(struct doca_buf *from, struct doca_buf *to, uint64_t data, uint32_t flags)
{
	struct doca_dma_task_memcpy *task = tasks_alloc(from, to, data);

	tasks.inside = true;
	assert_ok(doca_task_submit_ex(doca_dma_task_memcpy_as_task(task), flags));
	tasks.inside = false;
}

static void check_turn(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	assert_int_equal(t->last_data, expected);
	expected++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

/* A batch of n with one doorbell, each task into another slot in every round. */
static void run_batch(uint64_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_ok(doca_buf_reset_data_len(dst[i]));
		submit(src[(first + i) % TASKS_NUM], dst[i], first + i,
		       i + 1 < n ? DOCA_TASK_SUBMIT_FLAG_NONE : DOCA_TASK_SUBMIT_FLAG_FLUSH);
	}
	tasks_wait((unsigned int)(first + n));
}

static void batches_end_in_order_however_many(void **state)
{
	uint64_t done = 0;
	uint32_t n = 1;

	tasks.on_task = check_turn;
	expected = 0;
	tasks_start();
	get_bufs();
	for (; done < MANY; done += n) {
		n = n % TASKS_NUM + 1;
		run_batch(done, n);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_memory_equal(tasks.bytes + TASKS_LEN + i * SLOT,
				    tasks.bytes + (done - n + i) % TASKS_NUM * SLOT, SLOT);
	assert_int_equal(tasks.num_done, done);
	drop_bufs();
	tasks_stop();
}

static struct doca_mmap *make_read_only(uint8_t *bytes, size_t len, struct doca_buf **buf)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, len));
	assert_ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	assert_ok(doca_mmap_add_dev(mmap, tasks.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, mmap, bytes, len, buf));
	return mmap;
}

/* The task at `bad` of a batch may not write; those before it succeed, those after it fail. */
static void fail_in_batch(uint32_t bad, uint32_t last_flags)
{
	static uint8_t bytes[SLOT];
	struct doca_buf *wrong;
	struct doca_mmap *mmap = make_read_only(bytes, sizeof(bytes), &wrong);

	tasks.num_done = tasks.num_failed = 0;
	tasks_start();
	get_bufs();
	for (uint32_t i = 0; i < TASKS_NUM; i++)
		submit(src[i], i == bad ? wrong : dst[i], i,
		       i + 1 < TASKS_NUM ? DOCA_TASK_SUBMIT_FLAG_NONE : last_flags);
	if (last_flags == DOCA_TASK_SUBMIT_FLAG_NONE)
		doca_ctx_flush_tasks(tasks.ctx);
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_done, bad);
	assert_int_equal(tasks.num_failed, TASKS_NUM - bad);
	assert_int_equal(tasks.last_error,
			 bad + 1 < TASKS_NUM ? DOCA_ERROR_SHUTDOWN : DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(tasks.last_data, TASKS_NUM - 1);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	drop_bufs();
	tasks_drop(wrong);
	assert_ok(doca_mmap_destroy(mmap));
}

static void a_failure_is_that_of_its_task_and_of_those_behind(void **state)
{
	fail_in_batch(0, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	fail_in_batch(7, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	fail_in_batch(TASKS_NUM - 2, DOCA_TASK_SUBMIT_FLAG_NONE);
	fail_in_batch(TASKS_NUM - 1, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

static void a_failure_flushes_what_was_submitted_without_flush(void **state)
{
	static uint8_t bytes[SLOT];
	struct doca_buf *wrong;
	struct doca_mmap *mmap = make_read_only(bytes, sizeof(bytes), &wrong);

	tasks_start();
	get_bufs();
	submit(src[0], wrong, 0, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	submit(src[1], dst[1], 1, DOCA_TASK_SUBMIT_FLAG_NONE);
	submit(src[2], dst[2], 2, DOCA_TASK_SUBMIT_FLAG_NONE);
	tasks_wait(3);
	assert_int_equal(tasks.num_failed, 3);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	drop_bufs();
	tasks_drop(wrong);
	assert_ok(doca_mmap_destroy(mmap));
}

/* A task that cannot be posted, after tasks that the device was not notified of. */
static void a_task_that_cannot_be_posted_ends_in_its_turn(void **state)
{
	struct doca_buf *empty = tasks_source(0, SLOT);

	tasks.on_task = check_turn;
	expected = 0;
	assert_ok(doca_buf_set_data_len(empty, 0));
	tasks_start();
	get_bufs();
	submit(src[0], dst[0], 0, DOCA_TASK_SUBMIT_FLAG_NONE);
	submit(empty, dst[1], 1, DOCA_TASK_SUBMIT_FLAG_NONE);
	submit(src[2], dst[2], 2, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	tasks_wait(3);
	assert_int_equal(tasks.num_done, 2);
	assert_int_equal(tasks.num_failed, 1);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	drop_bufs();
	tasks_drop(empty);
}

/* The engine executes the copies of a queue in order, as far as a program can observe. */
static void copies_read_what_those_before_them_wrote(void **state)
{
	struct doca_buf *from[TASKS_NUM], *to[TASKS_NUM];

	tasks_start();
	for (uint32_t i = 0; i < TASKS_NUM; i++) {
		from[i] = tasks_source(i ? TASKS_LEN + (i - 1) * SLOT : 0, SLOT);
		to[i] = tasks_room(i * SLOT, SLOT);
		submit(from[i], to[i], i,
		       i + 1 < TASKS_NUM ? DOCA_TASK_SUBMIT_FLAG_NONE
					 : DOCA_TASK_SUBMIT_FLAG_FLUSH);
	}
	tasks_wait(TASKS_NUM);
	for (uint32_t i = 0; i < TASKS_NUM; i++) {
		assert_memory_equal(tasks.bytes + TASKS_LEN + i * SLOT, tasks.bytes, SLOT);
		tasks_drop(from[i]);
		tasks_drop(to[i]);
	}
	tasks_stop();
}

static void copies_overwrite_what_those_before_them_read(void **state)
{
	struct doca_buf *from[3], *to[3];
	uint8_t *out = tasks.bytes + TASKS_LEN;

	memcpy(out, tasks.bytes, SLOT);
	tasks_start();
	/* Slot 0 to slot 1; other data to slot 0; slot 1 to slot 2. */
	from[0] = tasks_source(TASKS_LEN, SLOT);
	from[1] = tasks_source(SLOT, SLOT);
	from[2] = tasks_source(TASKS_LEN, SLOT);
	to[0] = tasks_room(SLOT, SLOT);
	to[1] = tasks_room(0, SLOT);
	to[2] = tasks_room(2 * SLOT, SLOT);
	submit(from[0], to[0], 0, DOCA_TASK_SUBMIT_FLAG_NONE);
	submit(from[1], to[1], 1, DOCA_TASK_SUBMIT_FLAG_NONE);
	submit(from[2], to[2], 2, DOCA_TASK_SUBMIT_FLAG_FLUSH);
	tasks_wait(3);
	assert_memory_equal(out + SLOT, tasks.bytes, SLOT);
	assert_memory_equal(out, tasks.bytes + SLOT, SLOT);
	assert_memory_equal(out + 2 * SLOT, tasks.bytes + SLOT, SLOT);
	for (uint32_t i = 0; i < 3; i++) {
		tasks_drop(from[i]);
		tasks_drop(to[i]);
	}
	tasks_stop();
}

/* Memory that was unmapped too early fails the task that accesses it, and no other. A real kernel pins it. */
static void unmapped_memory_fails_its_task_only(void **state)
{
	const size_t page = 4096;
	uint8_t *bytes =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_buf *unmapped;
	struct doca_mmap *map;

	test_needs_emulator();
	assert_ptr_not_equal(bytes, MAP_FAILED);
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, bytes, page));
	assert_ok(doca_mmap_add_dev(map, tasks.dev));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, map, bytes, page, &unmapped));
	/* If it were unmapped, another mapping could take its place at once. */
	assert_int_equal(mprotect(bytes, page, PROT_NONE), 0);
	tasks_start();
	get_bufs();
	for (uint32_t i = 0; i < TASKS_NUM; i++)
		submit(src[i], i == 20 ? unmapped : dst[i], i,
		       i + 1 < TASKS_NUM ? DOCA_TASK_SUBMIT_FLAG_NONE
					 : DOCA_TASK_SUBMIT_FLAG_FLUSH);
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_done, 20);
	assert_memory_equal(tasks.bytes + TASKS_LEN, tasks.bytes, 20 * SLOT);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	drop_bufs();
	tasks_drop(unmapped);
	assert_ok(doca_mmap_destroy(map));
	assert_int_equal(munmap(bytes, page), 0);
}

static void wait_for_event(void)
{
	struct pollfd fd = {.events = POLLIN};

	assert_ok(doca_pe_get_notification_handle(tasks.pe, &fd.fd));
	assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_ok(doca_pe_clear_notification(tasks.pe, 0));
}

/* One completion for many tasks: progressing one of them reports the rest. */
static void events_come_while_tasks_of_a_report_are_left(void **state)
{
	tasks_start();
	get_bufs();
	for (unsigned int round = 0; round < 10; round++) {
		unsigned int before = tasks.num_done;

		for (uint32_t i = 0; i < 4; i++) {
			assert_ok(doca_buf_reset_data_len(dst[i]));
			submit(src[i], dst[i], i,
			       i < 3 ? DOCA_TASK_SUBMIT_FLAG_NONE : DOCA_TASK_SUBMIT_FLAG_FLUSH);
		}
		while (tasks.num_done < before + 4) {
			assert_ok(doca_pe_request_notification(tasks.pe));
			wait_for_event();
			doca_pe_progress(tasks.pe);
		}
	}
	drop_bufs();
	tasks_stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		task_test(batches_end_in_order_however_many),
		task_test(a_failure_is_that_of_its_task_and_of_those_behind),
		task_test(a_failure_flushes_what_was_submitted_without_flush),
		task_test(a_task_that_cannot_be_posted_ends_in_its_turn),
		task_test(copies_read_what_those_before_them_wrote),
		task_test(copies_overwrite_what_those_before_them_read),
		task_test(unmapped_memory_fails_its_task_only),
		task_test(events_come_while_tasks_of_a_report_are_left),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests_name("DMA batches", tests, NULL, NULL);
}
