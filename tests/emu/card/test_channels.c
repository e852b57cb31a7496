/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion channels: more than an engine holds itself (ENGINE_CHANNELS), so that the server has the rest. */
#include <poll.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"

#define CHANNELS 70
#define WAIT_MS	 10000

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct rc *rcs;

static int open_all(void **state)
{
	if (fixture_count(state))
		return -1;
	context = fixture_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	rcs = calloc(CHANNELS, sizeof(*rcs));
	if (!pd || !rcs)
		return -1;
	for (int i = 0; i < CHANNELS; i++) {
		if (!rc_open_loopback(&rcs[i], pd))
			return -1;
	}
	return 0;
}

static int close_all(void **state)
{
	for (int i = 0; i < CHANNELS; i++) {
		if (!rc_close(&rcs[i]))
			return -1;
	}
	free(rcs);
	if (ibv_dealloc_pd(pd) || ibv_close_device(context))
		return -1;
	return fixture_recount(state);
}

static void has_an_event(const struct rc *rc)
{
	struct pollfd p = {.fd = rc->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *own;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(ibv_get_cq_event(rc->channel, &cq, &own), 0);
	assert_ptr_equal(cq, rc->cq);
	ibv_ack_cq_events(cq, 1);
	assert_int_equal(poll(&p, 1, 0), 0);
}

/* The write is posted before any program polls, so that only its event can say that it is done. */
static void write_is_reported(struct rc *rc)
{
	struct ibv_sge sge = {.addr = (uintptr_t)rc->bytes, .length = 8, .lkey = rc->mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = sge.addr + 8, .rkey = rc->mr->rkey},
	};

	assert_int_equal(ibv_req_notify_cq(rc->cq, 0), 0);
	assert_true(rc_post(rc, &wr));
	has_an_event(rc);
	assert_int_equal(rc_wait(rc, WAIT_MS), IBV_WC_SUCCESS);
}

static void each_channel_gets_its_event(void **state)
{
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < CHANNELS; i++)
			write_is_reported(&rcs[i]);
	}
}

/* Channels end and others begin, in either half of the limit. */
static void new_channels_take_the_place_of_old_ones(void **state)
{
	static const int places[] = {0, 1, CHANNELS / 2, CHANNELS - 2, CHANNELS - 1};

	for (unsigned int n = 0; n < ARRAY_SIZE(places); n++) {
		struct rc *rc = &rcs[places[n]];

		assert_true(rc_close(rc));
		assert_true(rc_open_loopback(rc, pd));
		for (int i = 0; i < CHANNELS; i++)
			write_is_reported(&rcs[i]);
	}
}

#define channels_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		channels_test(each_channel_gets_its_event),
		channels_test(new_channels_take_the_place_of_old_ones),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
