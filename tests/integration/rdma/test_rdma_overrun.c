/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A completion queue of a context that is overrun. The library sizes it for all tasks, so no program
 * overruns it through the interface: here a queue pair of the test writes completions to it too.
 */
#include <poll.h>

#include <dpumap/dev.h>

#include "device/device_priv.h"
#include "device/queue/rdma_queue_priv.h"
#include "rdma/rdma.h"
#include "side.h"
#include "verbs.h"

static struct ibv_qp *connected_qp(struct verbs *n)
{
	struct ibv_qp *qp = verbs_make_qp(n, IBV_QPT_RC, NULL);

	verbs_connect_qp(n, qp, qp->qp_num);
	return qp;
}

/* Completions of the test's own queue pairs, until the device reports that the queue failed. */
static void overrun(struct ibv_cq *cq)
{
	enum dpumap_dev_event event = DPUMAP_DEV_EVENT_FATAL;
	struct pollfd fd = {.events = POLLIN};
	struct verbs n = {
		.ctx = cq->context, .pd = here.dev->device->pd, .cq = cq, .buf = here.bytes};
	struct ibv_qp *qps[2];

	n.mr = ibv_reg_mr(n.pd, n.buf, VERBS_BUF, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(n.mr);
	assert_int_equal(ibv_query_gid(n.ctx, 1, 0, &n.gid), 0);
	for (unsigned int i = 0; i < 2; i++)
		qps[i] = connected_qp(&n);
	for (unsigned int i = 0; i < 16; i++) {
		verbs_recv_into(&n, qps[i % 2], VERBS_BUF / 2, 64);
		verbs_send_from(&n, qps[i % 2], 0, 64);
	}
	assert_ok(dpumap_dev_get_event_handle(here.dev, &fd.fd));
	assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_ok(dpumap_dev_next_event(here.dev, &event));
	assert_int_equal(event, DPUMAP_DEV_EVENT_QUEUE_FAILED);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(ibv_destroy_qp(qps[i]), 0);
	assert_int_equal(ibv_dereg_mr(n.mr), 0);
}

/* rule: RD-10e */
static void a_context_whose_queue_was_overrun_stops_and_starts_again(void **state)
{
	const struct doca_rdma *rdma = here.rdma;

	/* A short queue. */
	for (enum side_kind kind = 0; kind < SIDE_KINDS; kind++)
		assert_ok(side_set_conf(&here, kind, kind == SIDE_WRITE ? 3 : 1));
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(side_connect());
	overrun(rdma->queue->cq);
	for (unsigned int i = 0; i < 3; i++)
		side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, 64),
			  .dst = side_peer_room(&here, 0, 64), .data = i);
	assert_ok(side_stop(&here));
	assert_int_equal(here.n_done, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_not_equal(here.done[i].status, DOCA_SUCCESS);
		assert_int_equal(here.done[i].data, i);
	}
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
	here.n_connections = there.n_connections = 0;
	assert_ok(side_start(&here));
	assert_ok(side_connect());
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, 64),
		.dst = side_peer_room(&here, 0, 64));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		idle_test(a_context_whose_queue_was_overrun_stops_and_starts_again),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
