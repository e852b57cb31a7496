/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma with sync events, and the copy library, during the faults of test_chaos_*.plan: whatever
 * fails, no call hangs, no successful copy has a wrong byte, no addition is lost or counted twice, and no
 * object is left. All work again when the faults have ended. $DPUMAP_CHAOS_SECONDS is the length of each
 * test, $DPUMAP_CHAOS_SEED replays one run.
 */
#include <dpumap-emu.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_sync_event.h>

#include "endpoint.h"
#include "fixture.h"

#define PLAN_SECONDS 3
#define PATIENCE_MS  2000 /* for a completion that a fault may lose */
#define PIECE	     4096u
#define GUARD	     64u /* bytes on each side that no copy may change */
#define ROUNDS	     32u

/* What the load saw. All errors are expected; wrong bytes and calls without an end are not. */
static struct tally {
	unsigned int opened, refused, done, failed, lost;
	doca_error_t last;
} tally;

static pid_t chaos;
static unsigned int patience_ms;

static bool chaos_lasts(void)
{
	int status;
	pid_t ended = chaos > 0 ? waitpid(chaos, &status, WNOHANG) : chaos;

	if (ended == 0)
		return true;
	if (ended > 0)
		assert_int_equal(status, 0);
	chaos = 0;
	return false;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void assert_all(const uint8_t *bytes, size_t len, uint8_t value)
{
	for (size_t i = 0; i < len; i++)
		assert_int_equal(bytes[i], value);
}

/* A copy to the middle of `to` changes nothing beside it. */
static void prepare(uint8_t *to, uint8_t *from, uint32_t seed)
{
	memset(to, 0xa5, PIECE + 2 * GUARD);
	fixture_fill(from, PIECE, seed);
}

static void check(const uint8_t *to, const uint8_t *from, bool done)
{
	assert_all(to, GUARD, 0xa5);
	assert_all(to + GUARD + PIECE, GUARD, 0xa5);
	if (done)
		assert_memory_equal(to + GUARD, from, PIECE);
}

/* --- doca_rdma: two endpoints ----------------------------------------------------------------- */

/* False: the connection has failed, or a completion was lost. */
static bool transfer(struct endpoint *a, struct endpoint *b, bool is_read)
{
	unsigned int before = a->num_done + a->num_failed;
	size_t far = ENDPOINT_LEN / 2;
	uint8_t *to = is_read ? a->bytes : b->bytes + far;
	uint8_t *from = is_read ? b->bytes + far : a->bytes;
	uint64_t limit = monotonic_ms() + patience_ms;
	struct doca_buf *src, *dst;
	doca_error_t result;

	prepare(to, from + (is_read ? 0 : GUARD), (uint32_t)limit);
	src = is_read ? endpoint_source(a, a->peer, a->peer_addr + far, PIECE)
		      : endpoint_source(a, a->mmap, a->bytes + GUARD, PIECE);
	dst = is_read ? endpoint_room(a, a->mmap, a->bytes + GUARD, PIECE)
		      : endpoint_room(a, a->peer, a->peer_addr + far + GUARD, PIECE);
	assert_true(src && dst);
	result = endpoint_submit(a, is_read, src, dst, 0);
	while (result == DOCA_SUCCESS && a->num_done + a->num_failed == before) {
		doca_pe_progress(a->pe);
		doca_pe_progress(b->pe);
		if (monotonic_ms() > limit)
			result = DOCA_ERROR_TIME_OUT;
	}
	tally.lost += result == DOCA_ERROR_TIME_OUT;
	if (result == DOCA_SUCCESS)
		result = a->last_error;
	tally.last = result;
	tally.done += result == DOCA_SUCCESS;
	tally.failed += result != DOCA_SUCCESS;
	check(to, from + (is_read ? 0 : GUARD), result == DOCA_SUCCESS);
	doca_buf_dec_refcount(src, NULL);
	doca_buf_dec_refcount(dst, NULL);
	return result == DOCA_SUCCESS;
}

/* One that cannot end within its patience hangs. */
static void close_endpoint(struct endpoint *end)
{
	doca_error_t result = endpoint_close(end);

	if (result == DOCA_ERROR_TIME_OUT)
		fail_msg("doca_ctx_stop() does not end");
}

static unsigned int use_rdma(struct doca_dev *dev, unsigned int rounds)
{
	struct endpoint a = {0}, b = {0};
	unsigned int i = 0;
	doca_error_t result;

	result = endpoint_open(&a, dev, RDMA_R | RDMA_W | LOCAL_RW, RDMA_R | RDMA_W);
	if (result == DOCA_SUCCESS)
		result = endpoint_open(&b, dev, RDMA_R | RDMA_W | LOCAL_RW, RDMA_R | RDMA_W);
	if (result == DOCA_SUCCESS)
		result = endpoint_pair(&a, &b);
	tally.last = result;
	tally.opened += result == DOCA_SUCCESS;
	tally.refused += result != DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && i < rounds && transfer(&a, &b, i % 2))
		i++;
	close_endpoint(&a);
	close_endpoint(&b);
	return i;
}

/* --- sync events ------------------------------------------------------------------------------ */

/* An event whose owner updates it through the device, since peers may do so too. */
static doca_error_t open_event(struct doca_sync_event *event, struct doca_dev *dev)
{
	doca_error_t result = doca_sync_event_add_publisher_location_remote_net(event);
	const uint8_t *blob;
	size_t len;

	DOCA_ERROR_PROPAGATE(result, doca_sync_event_add_subscriber_location_cpu(event, dev));
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_start(event);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_export_to_remote_net(event, &blob, &len);
	return result;
}

/* An addition that failed may have been executed. */
static bool add(struct doca_sync_event *event, uint64_t *least, uint64_t *most)
{
	uint64_t before = 0, value = 0;
	doca_error_t result = doca_sync_event_update_add(event, 1, &before);

	++*most;
	if (result == DOCA_SUCCESS) {
		assert_in_range(before, *least, *most - 1);
		*least = before + 1;
	}
	tally.last = result;
	tally.done += result == DOCA_SUCCESS;
	tally.failed += result != DOCA_SUCCESS;
	assert_ok(doca_sync_event_get(event, &value));
	assert_in_range(value, *least, *most);
	return result == DOCA_SUCCESS;
}

/* The device may refuse to destroy objects as long as the faults last. */
static void close_event(struct doca_sync_event *event)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (doca_sync_event_destroy(event) != DOCA_SUCCESS) {
		(void)doca_sync_event_stop(event);
		assert_true(monotonic_ms() < limit);
	}
}

static unsigned int use_events(struct doca_dev *dev, unsigned int rounds)
{
	uint64_t least = 0, most = 0;
	struct doca_sync_event *event;
	unsigned int good = 0;
	doca_error_t result;

	assert_ok(doca_sync_event_create(&event));
	result = open_event(event, dev);
	tally.last = result;
	tally.opened += result == DOCA_SUCCESS;
	tally.refused += result != DOCA_SUCCESS;
	for (unsigned int i = 0; result == DOCA_SUCCESS && i < rounds; i++)
		good += add(event, &least, &most);
	close_event(event);
	return good;
}

/* --- the copy library ------------------------------------------------------------------------- */

static bool copy_once(const struct fixture *f, const struct fixture_buf *dst,
		      const struct fixture_buf *src)
{
	const struct fixture_copy copy = {dst->mmap, dst->bytes + GUARD, src->mmap, src->bytes,
					  PIECE};
	doca_error_t result;

	prepare(dst->bytes, src->bytes, tally.done);
	result = fixture_copy_within(f, &copy, patience_ms);
	tally.last = result;
	tally.lost += result == DOCA_ERROR_TIME_OUT;
	tally.done += result == DOCA_SUCCESS;
	tally.failed += result != DOCA_SUCCESS;
	check(dst->bytes, src->bytes, result == DOCA_SUCCESS);
	return result == DOCA_SUCCESS;
}

/* Without a map on failure. */
static doca_error_t create_buf(const struct fixture *f, size_t len, struct fixture_buf *buf)
{
	doca_error_t result = fixture_buf_create(f, len, LOCAL_RW, buf);

	if (result != DOCA_SUCCESS)
		buf->mmap = NULL;
	return result;
}

static unsigned int use_copies(unsigned int rounds)
{
	struct fixture_buf src = {0}, dst = {0};
	struct fixture f = {0};
	unsigned int i = 0;
	doca_error_t result;

	result = fixture_open(&f);
	if (result == DOCA_SUCCESS)
		result = create_buf(&f, PIECE, &src);
	if (result == DOCA_SUCCESS)
		result = create_buf(&f, PIECE + 2 * GUARD, &dst);
	tally.last = result;
	tally.opened += result == DOCA_SUCCESS;
	tally.refused += result != DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && i < rounds && copy_once(&f, &dst, &src))
		i++;
	if (src.mmap)
		fixture_buf_destroy(&src);
	if (dst.mmap)
		fixture_buf_destroy(&dst);
	fixture_close(&f);
	return i;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void work_on_rdma(void)
{
	struct doca_dev *dev;

	if (fixture_open_device(&dev) != DOCA_SUCCESS)
		return;
	use_rdma(dev, ROUNDS);
	use_events(dev, ROUNDS);
	doca_dev_close(dev);
}

static void work_on_copies(void)
{
	use_copies(ROUNDS);
}

static void expect_all_rounds(const char *what, unsigned int rounds)
{
	if (rounds != ROUNDS)
		fail_msg("%s without faults: %u of %u rounds (%u opened, %u done, %u failed, "
			 "%u lost): %s",
			 what, rounds, ROUNDS, tally.opened, tally.done, tally.failed, tally.lost,
			 doca_error_get_name(tally.last));
}

/* After the faults both work as if nothing had been. */
static void work_without_faults(void)
{
	struct doca_dev *dev;

	patience_ms = FIXTURE_TIMEOUT_MS;
	memset(&tally, 0, sizeof(tally));
	assert_ok(fixture_open_device(&dev));
	expect_all_rounds("doca_rdma", use_rdma(dev, ROUNDS));
	expect_all_rounds("sync events", use_events(dev, ROUNDS));
	assert_ok(doca_dev_close(dev));
	expect_all_rounds("copies", use_copies(ROUNDS));
}

static void run(const char *name, unsigned long long seed, void (*work)(void))
{
	struct objects before;
	char plan[512];

	memset(&tally, 0, sizeof(tally));
	patience_ms = PATIENCE_MS;
	snprintf(plan, sizeof(plan), CHAOS_PLANS "/test_chaos_%s.plan", name);
	assert_true(objects_read(&before));
	assert_int_equal(dpumap_emu_chaos(plan, seed, &chaos), 0);
	while (chaos_lasts())
		work();
	printf("%s, seed %llu: %u opened, %u refused, %u done, %u failed, %u lost\n", name, seed,
	       tally.opened, tally.refused, tally.done, tally.failed, tally.lost);
	fflush(stdout);
	assert_true(objects_wait(&before));
	work_without_faults();
	assert_true(objects_wait(&before));
}

static void run_for_some_time(const char *name, void (*work)(void))
{
	const char *seconds = getenv("DPUMAP_CHAOS_SECONDS"), *seed = getenv("DPUMAP_CHAOS_SEED");
	unsigned long runs = seconds ? strtoul(seconds, NULL, 10) / PLAN_SECONDS : 1, i;

	if (seed) {
		run(name, strtoull(seed, NULL, 10), work);
		return;
	}
	for (i = 0; i < runs || !i; i++)
		run(name, i + 1, work);
}

static void rdma_and_sync_events_neither_hang_nor_leak_nor_corrupt(void **state)
{
	run_for_some_time("rdma", work_on_rdma);
}

static void copies_neither_hang_nor_leak_nor_corrupt(void **state)
{
	run_for_some_time("copies", work_on_copies);
}

/* Each completion comes again: it must not complete the next request, whose bytes have not moved. */
static void completions_that_come_twice_complete_nothing_else(void **state)
{
	assert_int_equal(dpumap_emu_fault("completion --duplicate --count all"), 0);
	work_without_faults();
	assert_int_equal(dpumap_emu_fault("clear"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(completions_that_come_twice_complete_nothing_else),
		cmocka_unit_test(rdma_and_sync_events_neither_hang_nor_leak_nor_corrupt),
		cmocka_unit_test(copies_neither_hang_nor_leak_nor_corrupt),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
