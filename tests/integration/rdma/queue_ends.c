/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "queue_ends.h"

#include <string.h>

#include "core/mmap/resolve.h"
#include "device/memory/region_priv.h"
#include "device/queue/rdma_fast.h"

#define ACCESS                                                                            \
	(LOCAL_RW | (uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
			       DOCA_ACCESS_FLAG_RDMA_ATOMIC))

struct end a, b;
struct queue_test test;
static bool in_memory;

/* --- two ends --------------------------------------------------------------------------------- */

int queue_use_memory(void **state)
{
	in_memory = true;
	return 0;
}

int queue_use_verbs(void **state)
{
	in_memory = false;
	return 0;
}

int queue_setup(void **state)
{
	struct fixture f = {0};

	memset(&test, 0, sizeof(test));
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	if (fixture_count(state) || fixture_open_device(&f.dev) != DOCA_SUCCESS)
		return -1;
	test.dev = f.dev;
	test.device = f.dev->device;
	if (fixture_buf_create(&f, (size_t)2 * QUEUE_SLOTS * QUEUE_SLOT, ACCESS, &test.memory) !=
		    DOCA_SUCCESS ||
	    dpumap_mmap_resolve(test.memory.mmap, test.dev, &test.region) != DOCA_SUCCESS ||
	    !test.device->caps.is_mlx5)
		return -1;
	test.device->caps.is_mlx5 = in_memory;
	fixture_fill(test.memory.bytes, (size_t)QUEUE_SLOTS * QUEUE_SLOT, 1);
	return 0;
}

static doca_error_t close_end(struct end *end)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < QUEUE_QPS; i++)
		if (end->qps[i])
			DOCA_ERROR_PROPAGATE(result, dpumap_rdma_qp_destroy(end->qps[i]));
	if (end->queue)
		DOCA_ERROR_PROPAGATE(result, dpumap_rdma_queue_destroy(end->queue));
	return result;
}

int queue_teardown(void **state)
{
	doca_error_t result = close_end(&a);

	DOCA_ERROR_PROPAGATE(result, close_end(&b));
	if (test.events)
		dpumap_events_destroy(test.events);
	test.device->caps.is_mlx5 = true;
	DOCA_ERROR_PROPAGATE(result, fixture_buf_destroy(&test.memory));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(test.dev));
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

void queue_open(struct end *end, uint32_t num_sends, uint32_t num_recvs)
{
	struct dpumap_rdma_queue_attr attr = {
		.num_sends = num_sends,
		.num_recvs = num_recvs,
		.max_recv_pieces = QUEUE_PIECES,
		.max_qps = QUEUE_QPS,
		.events = test.events,
	};

	assert_ok(dpumap_rdma_queue_create(test.device, &attr, &end->queue));
	assert_int_equal(end->queue->is_mapped, test.device->caps.is_mlx5);
}

void *queue_name(uint32_t number)
{
	return (void *)(uintptr_t)(number + 1);
}

doca_error_t queue_create(struct end *end, uint32_t i, uint32_t depth)
{
	struct dpumap_rdma_qp_attr attr = {
		.depth = depth,
		.max_pieces = QUEUE_PIECES,
		.access = ACCESS,
		.gid_index = DPUMAP_GID_ANY,
		.rnr_retry = DPUMAP_RNR_ENDLESS,
		.owner = queue_name(i),
	};

	return dpumap_rdma_qp_create(end->queue, &attr, &end->qps[i]);
}

/* Connect index i of both ends. */
void queue_connect(uint32_t i, uint32_t depth)
{
	struct dpumap_qp_info of_a, of_b;

	assert_ok(queue_create(&a, i, depth));
	assert_ok(queue_create(&b, i, depth));
	dpumap_rdma_qp_describe(a.qps[i], &of_a);
	dpumap_rdma_qp_describe(b.qps[i], &of_b);
	assert_ok(dpumap_rdma_qp_connect(a.qps[i], &of_b));
	assert_ok(dpumap_rdma_qp_connect(b.qps[i], &of_a));
}

void queue_disconnect(struct end *end, uint32_t i)
{
	assert_ok(dpumap_rdma_qp_destroy(end->qps[i]));
	end->qps[i] = NULL;
}

/* --- work ------------------------------------------------------------------------------------- */

size_t queue_source(uint32_t number)
{
	return (size_t)(number % QUEUE_SLOTS) * QUEUE_SLOT;
}

size_t queue_room(uint32_t number)
{
	return (size_t)(QUEUE_SLOTS + number % QUEUE_SLOTS) * QUEUE_SLOT;
}

static uint32_t part(uint32_t len, uint32_t n, uint32_t i)
{
	return i + 1 < n ? len / n : len - len / n * (n - 1);
}

/* So many neighbouring pieces. */
static void split(struct dpumap_rdma_piece pieces[QUEUE_PIECES], size_t at, uint32_t len,
		  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, at += len / n)
		pieces[i] = dpumap_rdma_piece(test.region, (uintptr_t)test.memory.bytes + at,
					      part(len, n, i));
}

doca_error_t queue_receive(struct end *end, uint32_t number, uint32_t len, uint32_t n)
{
	struct dpumap_rdma_piece pieces[QUEUE_PIECES];

	split(pieces, queue_room(number), len, n);
	if (test.is_quick && n == 1 && dpumap_rdma_fast_has_receive(end->queue)) {
		dpumap_rdma_fast_receive(end->queue, pieces[0], queue_name(number));
		return DOCA_SUCCESS;
	}
	return dpumap_rdma_queue_receive(end->queue, pieces, n, queue_name(number));
}

/* From the source to the room with that number, or for a read the other way. */
doca_error_t queue_post(struct end *end, uint32_t i, enum dpumap_rdma_op op, uint32_t number,
			uint32_t len, uint32_t n)
{
	struct dpumap_rdma_piece pieces[QUEUE_PIECES];
	bool is_read = op >= DPUMAP_RDMA_READ;
	uint64_t peer = test.region->iova + (is_read ? queue_source(number) : queue_room(number));
	struct dpumap_rdma_request request = {
		.op = op,
		.pieces = pieces,
		.num_pieces = n,
		.imm = number,
		.peer_key = test.region->rkey,
		.peer_addr = peer,
		.operand = number,
	};

	split(pieces, is_read ? queue_room(number) : queue_source(number), len, n);
	if (test.is_quick && n == 1 && dpumap_rdma_fast_has_room(end->qps[i]) &&
	    (op == DPUMAP_RDMA_SEND || op == DPUMAP_RDMA_WRITE || op == DPUMAP_RDMA_READ)) {
		dpumap_rdma_fast_post(end->qps[i], op, pieces[0], request.peer_key, peer);
		return DOCA_SUCCESS;
	}
	return dpumap_rdma_qp_post(end->qps[i], &request);
}

void queue_flush(struct end *end)
{
	dpumap_rdma_queue_flush(end->queue);
}

static uint32_t poll_quickly(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done)
{
	const struct mlx5_cqe64 *cqe = dpumap_rdma_fast_next(queue);

	if (!cqe)
		return 0;
	return dpumap_rdma_fast_is_receive(cqe) ? dpumap_rdma_fast_take_receive(queue, cqe, done)
						: dpumap_rdma_fast_take_send(queue, cqe, done);
}

uint32_t queue_poll(struct end *end, struct dpumap_rdma_done *done, uint32_t max)
{
	uint32_t n = UINT32_MAX;

	if (test.is_quick && dpumap_rdma_fast_is_possible(end->queue))
		return poll_quickly(end->queue, done);
	assert_ok(dpumap_rdma_queue_poll(end->queue, done, max, &n));
	assert_true(n <= max);
	return n;
}

struct dpumap_rdma_done queue_next(struct end *end)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct dpumap_rdma_done done;

	while (!queue_poll(end, &done, 1))
		assert_true(monotonic_ms() < limit);
	return done;
}

void queue_expect_nothing(struct end *end)
{
	struct dpumap_rdma_done done[2];

	assert_int_equal(queue_poll(end, done, 2), 0);
}

/* All work requests of that connection up to this number have succeeded. */
void queue_expect_posted(struct end *end, uint32_t i, uint32_t number)
{
	struct dpumap_rdma_done done;

	do {
		done = queue_next(end);
		assert_false(done.is_receive);
		assert_ptr_equal(done.owner, queue_name(i));
		assert_ok(done.status);
		assert_ok(done.before);
	} while ((int32_t)(number - done.number) > 0);
	assert_int_equal(done.number, number);
}

void queue_expect_failed(struct end *end, uint32_t i, uint32_t number, doca_error_t status)
{
	struct dpumap_rdma_done done = queue_next(end);

	assert_false(done.is_receive);
	assert_ptr_equal(done.owner, queue_name(i));
	assert_int_equal(done.number, number);
	assert_error(done.status, status);
}

void queue_expect_received(struct end *end, uint32_t i, uint32_t number, uint32_t len)
{
	struct dpumap_rdma_done done = queue_next(end);

	assert_true(done.is_receive);
	assert_ok(done.status);
	assert_ptr_equal(done.owner, queue_name(i));
	assert_ptr_equal(done.cookie, queue_name(number));
	assert_int_equal(done.len, len);
	assert_memory_equal(test.memory.bytes + queue_room(number),
			    test.memory.bytes + queue_source(number), len);
}

/* Nothing else of the queue remembers the receive. */
void queue_expect_receive_ended(struct end *end, void *owner, uint32_t number, doca_error_t status)
{
	struct dpumap_rdma_done done = queue_next(end);

	assert_true(done.is_receive);
	assert_error(done.status, status);
	assert_ptr_equal(done.owner, owner);
	assert_ptr_equal(done.cookie, queue_name(number));
}

void queue_forget_received(void)
{
	memset(test.memory.bytes + queue_room(0), 0, (size_t)QUEUE_SLOTS * QUEUE_SLOT);
}
