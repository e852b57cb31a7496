/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulator ends, killed or stopped, below programs in every state that a program can be in:
 * each of them gets an error soon, none hangs.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "fixture.h"
#include "inner.h"
#include "loop.h"
#include "threads.h"

#define PATIENCE_MS 20000
#define SOON_MS	    (PATIENCE_MS / 2) /* who lives for longer is looked at */
#define MANY	    4000	      /* of what a queue can hold: its memory is a mapping */

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

/* Work requests that are not completed, and a destroyed queue's memory used for something else. */
static int destroying(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1,
			.max_recv_wr = MANY,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_sge sge = {(uintptr_t)loop.bytes, 64, loop.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_cq *cq = ibv_create_cq(context, MANY, NULL, NULL, 0);
	const size_t len = MANY * 64;
	struct ibv_qp *qp;
	uint8_t *again;
	size_t i;

	attr.send_cq = attr.recv_cq = cq;
	qp = cq ? ibv_create_qp(pd, &attr) : NULL;
	if (!qp ||
	    ibv_modify_qp(qp, &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return 13;
	for (i = 0; i < MANY; i++)
		if (ibv_post_recv(qp, &wr, &bad))
			return 14;
	if (commands() || ibv_destroy_qp(qp) || ibv_destroy_cq(cq))
		return 15;
	again = calloc(1, len);
	/* What is not destroyed is flushed all the same. */
	if (!again || !loop_receive(&loop, 64) ||
	    loop_wait(&loop, PATIENCE_MS) != IBV_WC_WR_FLUSH_ERR)
		return 16;
	for (i = 0; i < len && !again[i]; i++)
		;
	free(again);
	return i == len ? 0 : 17;
}

/* No SIGPIPE: whoever sends on a netlink socket never expects one. */
static int asking(void)
{
	struct nlmsghdr request = {.nlmsg_len = sizeof(request), .nlmsg_flags = NLM_F_REQUEST};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct iovec iov = {&request, sizeof(request)};
	struct msghdr msg = {&kernel, sizeof(kernel), &iov, 1, NULL, 0, 0};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	struct pollfd gone = {.fd = s};

	signal(SIGPIPE, SIG_DFL); /* whatever we were started with */
	if (s < 0 || !ready() || poll(&gone, 1, PATIENCE_MS) != 1)
		return 10;
	if (sendto(s, &request, sizeof(request), 0, (struct sockaddr *)&kernel, sizeof(kernel)) >=
	    0)
		return 11;
	if (sendmsg(s, &msg, 0) >= 0)
		return 12;
	return recv(s, &request, sizeof(request), 0) <= 0 && !close(s) ? 0 : 13;
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
	{"destroying", destroying},
	{"asking", asking},
	{"idle", idle},
};

#define NPROGRAMS (sizeof(programs) / sizeof(programs[0]))

static int run_program(const char *name)
{
	size_t i;
	int code;

	/* Without it memory is not given back. */
	if (!strcmp(name, "destroying"))
		setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
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
		if (read(clients[i].from, &c, 1) == 1 && c == 'r')
			continue;
		kill(inner->server, SIGKILL); /* which the others end with */
		fail_msg("%s: %d before the end", programs[i].name,
			 WEXITSTATUS(rig_reap(clients[i].pid)));
	}
	usleep(100000); /* into the middle of what they do */
}

static bool has_ended(const struct client *client, uint64_t deadline)
{
	struct pollfd end = {.fd = client->from};
	uint64_t now = rig_now_ms();

	return poll(&end, 1, now < deadline ? (int)(deadline - now) : 0) == 1;
}

/* Returns the exit status; if a signal ended it, ours if it hung, that one's number below 0. */
static int wait_for(const struct client *client)
{
	int status;

	if (!has_ended(client, rig_now_ms() + 2 * PATIENCE_MS))
		kill(client->pid, SIGKILL);
	status = rig_reap(client->pid);
	close(client->to);
	close(client->from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void assert_all_end(const struct client *clients)
{
	uint64_t soon = rig_now_ms() + SOON_MS;
	unsigned int failed = 0;
	size_t i;

	close(clients[NPROGRAMS - 1].to); /* the idle one waits for that */
	for (i = 0; i < NPROGRAMS; i++)
		if (!has_ended(&clients[i], soon))
			threads_print(clients[i].pid, programs[i].name);
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
