/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two ends of connections, `a` and `b`, below the tasks of RDMA contexts (src/device/queue/rdma_queue.h):
 * on queues in memory, with the quick path and the general one, or on queues that verbs alone use, as those
 * of devices without mlx5. Work has numbers, which choose the bytes that it moves.
 */
#ifndef DPUMAP_TESTS_RDMA_QUEUE_ENDS_H
#define DPUMAP_TESTS_RDMA_QUEUE_ENDS_H

#include "device/queue/events.h"
#include "device/queue/rdma_qp.h"
#include "fixture.h"

#define QUEUE_SLOT   4096u
#define QUEUE_SLOTS  64u /* to send from, and as many to receive into */
#define QUEUE_PIECES 6u
#define QUEUE_QPS    4u

/* The queue of a context, and its connections by their index. */
struct end {
	struct dpumap_rdma_queue *queue;
	struct dpumap_rdma_qp *qps[QUEUE_QPS];
};
extern struct end a, b;

extern struct queue_test {
	struct doca_dev *dev;
	struct dpumap_device *device;
	struct dpumap_events *events; /* NULL, or for queues that are opened later */
	struct fixture_buf memory;
	const struct dpumap_region *region;
	bool is_quick; /* use the quick path where it is possible */
} test;

/* Setup of a group: the kind of the queues of its tests. */
int queue_use_memory(void **state);
int queue_use_verbs(void **state);
int queue_setup(void **state);
int queue_teardown(void **state);
#define queue_test(function) cmocka_unit_test_setup_teardown(function, queue_setup, queue_teardown)

void queue_open(struct end *end, uint32_t num_sends, uint32_t num_recvs);
doca_error_t queue_create(struct end *end, uint32_t i, uint32_t depth);
/* Create and connect this index of both ends. */
void queue_connect(uint32_t i, uint32_t depth);
void queue_disconnect(struct end *end, uint32_t i);

/* The owner of a connection, or the cookie of a receive. */
void *queue_name(uint32_t number);
/* Offsets in the memory. */
size_t queue_source(uint32_t number);
size_t queue_room(uint32_t number);
void queue_forget_received(void);

/* In n pieces. */
doca_error_t queue_receive(struct end *end, uint32_t number, uint32_t len, uint32_t n);
/* From the source to the room with that number of either end; reads and atomics the other way. */
doca_error_t queue_post(struct end *end, uint32_t i, enum dpumap_rdma_op op, uint32_t number,
			uint32_t len, uint32_t n);
void queue_flush(struct end *end);

uint32_t queue_poll(struct end *end, struct dpumap_rdma_done *done, uint32_t max);
/* Wait for a completion. */
struct dpumap_rdma_done queue_next(struct end *end);
void queue_expect_nothing(struct end *end);
/* All work requests of that connection up to this one succeed. */
void queue_expect_posted(struct end *end, uint32_t i, uint32_t number);
void queue_expect_failed(struct end *end, uint32_t i, uint32_t number, doca_error_t status);
void queue_expect_received(struct end *end, uint32_t i, uint32_t number, uint32_t len);
void queue_expect_receive_ended(struct end *end, void *owner, uint32_t number, doca_error_t status);

#endif
