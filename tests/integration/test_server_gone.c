/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulator ends, killed or stopped, below programs in every state that a program can be in:
 * each of them gets an error soon, none hangs.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "fixture.h"
#include "inner.h"
#include "loop.h"

#define PATIENCE_MS 20000

/* --- programs: 0 if they ended as they should, else where they did not
 * --------------------------- */

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct loop loop;

static bool ready(void)
{
	return write(STDOUT_FILENO, "r", 1) == 1;
}

static int after_the_end(void)
{
	struct ibv_alloc_dm_attr dm = {.length = 64};
	struct ibv_device_attr attr;

	errno = 0;
	if (ibv_alloc_pd(context) || errno != EIO)
		return 40;
	if (ibv_reg_mr(pd, loop.bytes, 64, 0) || errno != EIO)
		return 41;
	if (ibv_alloc_dm(context, &dm) || errno != EIO)
		return 42;
	if (!ibv_query_device(context, &attr) || loop_revive(&loop))
		return 43;
	if (ibv_create_comp_channel(context) || ibv_create_cq(context, 4, NULL, NULL, 0))
		return 44;
	/* As a kernel does when a device was pulled: what is destroyed is gone, whatever it says.
	 */
	loop_close(&loop);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return rig_open_context() ? 45 : 0;
}

static int commands(void)
{
	struct ibv_pd *other;

	if (!ready())
		return 10;
	do {
		errno = 0;
		other = ibv_alloc_pd(context);
		if (!other)
			return errno == EIO ? 0 : 11;
	} while (!ibv_dealloc_pd(other));
	return errno == EIO || !errno ? 0 : 12;
}

static int opening(void)
{
	struct ibv_context *other;

	if (!ready())
		return 10;
	do {
		other = rig_open_context();
	} while (other && !ibv_close_device(other));
	return other ? 11 : 0;
}

static int mapping(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	struct ibv_dm *dm;

	if (!ready())
		return 10;
	do {
		dm = ibv_alloc_dm(context, &attr);
	} while (dm && !ibv_free_dm(dm));
	return 0;
}

/* A receive that nothing will ever match. */
static int polling(void)
{
	if (!loop_receive(&loop, 64) || !ready())
		return 10;
	return loop_wait(&loop, PATIENCE_MS) == IBV_WC_WR_FLUSH_ERR ? 0 : 11;
}

/* A send for which there is no receive, tried again for ever. */
static int sending(void)
{
	struct ibv_sge sge = {(uintptr_t)loop.bytes, 64, loop.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (!loop_post(&loop, &wr) || !ready())
		return 10;
	return loop_wait(&loop, PATIENCE_MS) == IBV_WC_WR_FLUSH_ERR ? 0 : 11;
}

static int copying(void)
{
	int status;

	if (!ready())
		return 10;
	do {
		status = loop_write(&loop, loop.mr->rkey, (uintptr_t)loop.bytes + 4096, 4096);
	} while (status == IBV_WC_SUCCESS);
	return status == IBV_WC_WR_FLUSH_ERR ? 0 : 11;
}

static int completion_event(void)
{
	struct ibv_cq *cq;
	void *arg;

	if (ibv_req_notify_cq(loop.cq, 0) || !ready())
		return 10;
	return ibv_get_cq_event(loop.channel, &cq, &arg) ? 0 : 11;
}

static int async_event(void)
{
	struct ibv_async_event event;

	if (!ready())
		return 10;
	return ibv_get_async_event(context, &event) ? 0 : 11;
}

static int poll_events(void)
{
	struct pollfd fds[] = {{loop.channel->fd, POLLIN, 0}, {context->async_fd, POLLIN, 0}};

	if (!ready())
		return 10;
	if (poll(fds, 2, PATIENCE_MS) < 1)
		return 11;
	return poll(&fds[1], 1, PATIENCE_MS) == 1 ? 0 : 12;
}

static int idle(void)
{
	struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};

	return ready() && poll(&wait, 1, PATIENCE_MS) >= 0 ? 0 : 10;
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{"commands", commands},
	{"opening", opening},
	{"mapping", mapping},
	{"polling", polling},
	{"sending", sending},
	{"copying", copying},
	{"completion-event", completion_event},
	{"async-event", async_event},
	{"poll-events", poll_events},
	{"idle", idle},
};

#define NPROGRAMS (sizeof(programs) / sizeof(programs[0]))

static int run_program(const char *name)
{
	size_t i;
	int code;

	context = rig_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || !loop_open(&loop, pd))
		return 3;
	for (i = 0; i < NPROGRAMS; i++) {
		if (strcmp(programs[i].name, name) != 0)
			continue;
		code = programs[i].run();
		return code ? code : after_the_end();
	}
	return 2;
}

/* --- tests ---------------------------------------------------------------------------------------
 */

struct client {
	pid_t pid;
	int to, from;
};

static void start_all(const struct inner *inner, struct client *clients)
{
	char c = 0;
	size_t i;

	for (i = 0; i < NPROGRAMS; i++) {
		clients[i].pid = inner_spawn(inner, i % 2 ? "host" : "dpu", programs[i].name,
					     &clients[i].to, &clients[i].from);
		assert_true(clients[i].pid > 0);
	}
	for (i = 0; i < NPROGRAMS; i++) {
		assert_int_equal(read(clients[i].from, &c, 1), 1);
		assert_int_equal(c, 'r');
	}
	usleep(100000); /* into the middle of what they do */
}

/* Returns the exit status; -1 if it hangs, or was killed. */
static int wait_for(const struct client *client)
{
	struct pollfd end = {.fd = client->from};
	int status;

	if (poll(&end, 1, 2 * PATIENCE_MS) != 1)
		kill(client->pid, SIGKILL);
	status = rig_reap(client->pid);
	close(client->to);
	close(client->from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_all_end(const struct client *clients)
{
	unsigned int failed = 0;
	size_t i;

	close(clients[NPROGRAMS - 1].to); /* the idle one waits for that */
	for (i = 0; i < NPROGRAMS; i++) {
		int code = wait_for(&clients[i]);

		if (code)
			print_error("%s: %d\n", programs[i].name, code);
		failed += code != 0;
	}
	assert_int_equal(failed, 0);
}

static void test_killed(void **state)
{
	struct client clients[NPROGRAMS];
	struct inner inner;

	(void)state;
	assert_true(inner_start(&inner));
	start_all(&inner, clients);
	assert_int_equal(kill(inner.server, SIGKILL), 0);
	assert_all_end(clients);
	/* What it left behind is in nobody's way. */
	assert_int_equal(inner_server_of(inner.dir), -1);
}

static void test_killed_and_started_again(void **state)
{
	const char *const argv[] = {rig_options.emu, "start", "--dir", NULL, NULL};
	const char *again[sizeof(argv) / sizeof(argv[0])];
	struct inner inner;

	(void)state;
	assert_true(inner_start(&inner));
	assert_int_equal(kill(inner.server, SIGKILL), 0);
	while (inner_server_of(inner.dir) > 0)
		usleep(1000);
	memcpy(again, argv, sizeof(argv));
	again[3] = inner.dir;
	assert_int_equal(rig_reap(rig_spawn(again, NULL, NULL)), 0);
	assert_true(inner_server_of(inner.dir) > 0);
	assert_true(inner_stop(&inner));
}

static void test_stopped(void **state)
{
	struct client clients[NPROGRAMS];
	struct inner inner;

	(void)state;
	assert_true(inner_start(&inner));
	start_all(&inner, clients);
	assert_true(inner_stop(&inner));
	assert_all_end(clients);
}

/* A program that outlives its emulator works with the next one of the same directory. */
static void test_next_server_serves_the_same_process(void **state)
{
	struct inner inner;
	int round, to, from;
	pid_t pid;
	char c;

	(void)state;
	assert_true(inner_start(&inner));
	pid = inner_spawn(&inner, "dpu", "survive", &to, &from);
	assert_true(pid > 0);
	for (round = 0; round < 3; round++) {
		assert_int_equal(read(from, &c, 1), 1);
		assert_int_equal(kill(inner.server, SIGKILL), 0);
		assert_int_equal(read(from, &c, 1), 1);
		while (inner_server_of(inner.dir) > 0)
			usleep(1000);
		assert_int_equal(rig_reap(rig_spawn((const char *const[]){rig_options.emu, "start",
									  "--dir", inner.dir, NULL},
						    NULL, NULL)),
				 0);
		inner.server = inner_server_of(inner.dir);
		assert_int_equal(write(to, "n", 1), 1);
	}
	assert_int_equal(read(from, &c, 1), 1);
	close(to);
	assert_int_equal(WEXITSTATUS(rig_reap(pid)), 0);
	close(from);
	assert_true(inner_stop(&inner));
}

static int survive(void)
{
	int round;
	char c;

	for (round = 0; round < 4; round++) {
		context = rig_open_context();
		pd = context ? ibv_alloc_pd(context) : NULL;
		if (!pd || !loop_open(&loop, pd))
			return 10 + round;
		if (loop_write(&loop, loop.mr->rkey, (uintptr_t)loop.bytes + 4096, 4096))
			return 20 + round;
		if (!loop_receive(&loop, 64) || !ready())
			return 30 + round;
		if (round == 3)
			break;
		if (loop_wait(&loop, PATIENCE_MS) != IBV_WC_WR_FLUSH_ERR || !ready() ||
		    read(STDIN_FILENO, &c, 1) != 1)
			return 40 + round;
		loop_close(&loop);
		ibv_close_device(context);
	}
	return read(STDIN_FILENO, &c, 1) ? 50 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_killed_and_started_again),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_next_server_serves_the_same_process),
	};
	const char *role = getenv(INNER_ROLE_ENV);

	rig_parse(argc, argv);
	/* At once: libibverbs keeps what it could not destroy on the device. */
	if (role)
		_exit(strcmp(role, "survive") != 0 ? run_program(role) : survive());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
