/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulator ends, killed or stopped, under programs in every state: each program receives an
 * error soon, and none hangs.
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

#include "base/array.h"
#include "emulator.h"
#include "fixture.h"
#include "rc.h"
#include "threads.h"

#define PATIENCE_MS 60000
#define SOON_MS	    (PATIENCE_MS / 2) /* after this time, a program is examined */
#define MANY	    4000	      /* bytes that a queue can hold: its memory is a mapping */

/*
 * --- programs: 0 if they ended as they should, else the place that failed ----------------------
 */

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct rc rc;

static bool report(void)
{
	return write(STDOUT_FILENO, "r", 1) == 1;
}

/*
 * Wait until all programs are ready. Half of them poll without end: on a busy machine they would
 * delay the start of the others by more than the time that they wait themselves.
 */
static bool ready(void)
{
	char c;

	return report() && read(STDIN_FILENO, &c, 1) == 1;
}

static int after_the_end(void)
{
	struct ibv_alloc_dm_attr dm = {.length = 64};
	struct ibv_device_attr attr;

	errno = 0;
	if (ibv_alloc_pd(context) || errno != EIO)
		return 40;
	if (ibv_reg_mr(pd, rc.bytes, 64, 0) || errno != EIO)
		return 41;
	if (ibv_alloc_dm(context, &dm) || errno != EIO)
		return 42;
	if (!ibv_query_device(context, &attr) || rc_reconnect(&rc))
		return 43;
	if (ibv_create_comp_channel(context) || ibv_create_cq(context, 4, NULL, NULL, 0))
		return 44;
	/*
	 * As with a removed device on a real kernel: destroying succeeds whatever the call returns.
	 */
	rc_close(&rc);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	return fixture_open_context() ? 45 : 0;
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
		other = fixture_open_context();
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

static int flushed(void)
{
	uint64_t before = monotonic_ms();
	int status = rc_wait(&rc, PATIENCE_MS);

	if (status == IBV_WC_WR_FLUSH_ERR)
		return 0;
	print_error("status %d after %u ms\n", status, (unsigned int)(monotonic_ms() - before));
	return 11;
}

/* A receive that nothing will ever match. */
static int polling(void)
{
	if (!rc_receive(&rc, 64) || !ready())
		return 10;
	return flushed();
}

/* A send without a receive, which is retried for ever. */
static int sending(void)
{
	struct ibv_sge sge = {(uintptr_t)rc.bytes, 64, rc.mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (!rc_post(&rc, &wr) || !ready())
		return 10;
	return flushed();
}

static int copying(void)
{
	int status;

	if (!ready())
		return 10;
	do {
		status = rc_write(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + 4096, 4096);
	} while (status == IBV_WC_SUCCESS);
	return status == IBV_WC_WR_FLUSH_ERR ? 0 : 11;
}

static int completion_event(void)
{
	struct ibv_cq *cq;
	void *arg;

	if (ibv_req_notify_cq(rc.cq, 0) || !ready())
		return 10;
	return ibv_get_cq_event(rc.channel, &cq, &arg) ? 0 : 11;
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
	struct pollfd fds[] = {{rc.channel->fd, POLLIN, 0}, {context->async_fd, POLLIN, 0}};

	if (!ready())
		return 10;
	if (poll(fds, 2, PATIENCE_MS) < 1)
		return 11;
	return poll(&fds[1], 1, PATIENCE_MS) == 1 ? 0 : 12;
}

/* Outstanding work requests, and the memory of a destroyed queue put to another use. */
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
	struct ibv_sge sge = {(uintptr_t)rc.bytes, 64, rc.mr->lkey};
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
	/* Queues that are not destroyed are flushed too. */
	if (!again || !rc_receive(&rc, 64) || rc_wait(&rc, PATIENCE_MS) != IBV_WC_WR_FLUSH_ERR)
		return 16;
	for (i = 0; i < len && !again[i]; i++)
		;
	free(again);
	return i == len ? 0 : 17;
}

/* No SIGPIPE: a program does not expect it from a netlink socket. */
static int asking(void)
{
	struct nlmsghdr request = {.nlmsg_len = sizeof(request), .nlmsg_flags = NLM_F_REQUEST};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct iovec iov = {&request, sizeof(request)};
	struct msghdr msg = {&kernel, sizeof(kernel), &iov, 1, NULL, 0, 0};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	struct pollfd closed = {.fd = s};

	signal(SIGPIPE, SIG_DFL); /* whatever disposition was inherited */
	if (s < 0 || !ready() || poll(&closed, 1, PATIENCE_MS) != 1)
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

#define NPROGRAMS ARRAY_SIZE(programs)

static int run_program(const char *name)
{
	int code;

	/* Needed to unmap the memory. */
	if (!strcmp(name, "destroying"))
		setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
	context = fixture_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd || !rc_open_loopback(&rc, pd))
		return 3;
	for (size_t i = 0; i < NPROGRAMS; i++) {
		if (strcmp(programs[i].name, name) != 0)
			continue;
		code = programs[i].run();
		return code ? code : after_the_end();
	}
	return 2;
}

/* --- tests ------------------------------------------------------------------------------------ */

struct client {
	pid_t pid;
	int to, from;
};

static void start_all(const struct emulator *emulator, struct client *clients)
{
	char c = 0;

	for (size_t i = 0; i < NPROGRAMS; i++) {
		clients[i].pid = emulator_spawn(emulator, i % 2 ? "host" : "dpu", programs[i].name,
						&clients[i].to, &clients[i].from);
		assert_true(clients[i].pid > 0);
	}
	for (size_t i = 0; i < NPROGRAMS; i++) {
		if (read(clients[i].from, &c, 1) == 1 && c == 'r')
			continue;
		for (size_t j = 0; j < NPROGRAMS; j++)
			kill(clients[j].pid, SIGKILL);
		fail_msg("%s: %d before the end", programs[i].name,
			 process_exit_code(clients[i].pid));
	}
	for (size_t i = 0; i < NPROGRAMS; i++)
		assert_int_equal(write(clients[i].to, "g", 1), 1);
	usleep(100000); /* let the programs get into the middle of their work */
}

static bool has_ended(const struct client *client, uint64_t deadline)
{
	struct pollfd end = {.fd = client->from};
	uint64_t now = monotonic_ms();

	return poll(&end, 1, now < deadline ? (int)(deadline - now) : 0) == 1;
}

/* Returns the exit code; minus SIGKILL if it hung, minus the signal if another one ended it. */
static int wait_for(const struct client *client)
{
	int status;

	if (!has_ended(client, monotonic_ms() + 2 * PATIENCE_MS))
		kill(client->pid, SIGKILL);
	status = process_exit_code(client->pid);
	close(client->to);
	close(client->from);
	return status;
}

static void assert_all_end(const struct client *clients)
{
	uint64_t soon = monotonic_ms() + SOON_MS;
	unsigned int failed = 0;

	close(clients[NPROGRAMS - 1].to); /* the idle program waits that long */
	for (size_t i = 0; i < NPROGRAMS; i++)
		if (!has_ended(&clients[i], soon))
			threads_print(clients[i].pid, programs[i].name);
	for (size_t i = 0; i < NPROGRAMS; i++) {
		int code = wait_for(&clients[i]);

		if (code)
			print_error("%s: %d\n", programs[i].name, code);
		failed += code != 0;
	}
	assert_int_equal(failed, 0);
}

static void killed_server_ends_every_program(void **state)
{
	struct client clients[NPROGRAMS];
	struct emulator emulator;

	assert_true(emulator_start(&emulator));
	start_all(&emulator, clients);
	assert_int_equal(kill(emulator.server, SIGKILL), 0);
	assert_all_end(clients);
	/* What it left behind does not prevent a new start. */
	assert_int_equal(emulator_server_of(emulator.dir), -1);
}

static void a_killed_server_is_started_again(void **state)
{
	const char *const argv[] = {test_options.emu, "start", "--dir", NULL, NULL};
	const char *again[ARRAY_SIZE(argv)];
	struct emulator emulator;

	assert_true(emulator_start(&emulator));
	assert_int_equal(kill(emulator.server, SIGKILL), 0);
	while (emulator_server_of(emulator.dir) > 0)
		usleep(1000);
	memcpy(again, argv, sizeof(argv));
	again[3] = emulator.dir;
	assert_int_equal(process_run(again), 0);
	assert_true(emulator_server_of(emulator.dir) > 0);
	assert_true(emulator_stop(&emulator));
}

static void stopped_server_ends_every_program(void **state)
{
	struct client clients[NPROGRAMS];
	struct emulator emulator;

	assert_true(emulator_start(&emulator));
	start_all(&emulator, clients);
	assert_true(emulator_stop(&emulator));
	assert_all_end(clients);
}

/* A program that outlives its emulator works with the next one in the same directory. */
static void next_server_serves_the_same_process(void **state)
{
	struct emulator emulator;
	int to, from;
	pid_t pid;
	char c;

	assert_true(emulator_start(&emulator));
	pid = emulator_spawn(&emulator, "dpu", "survive", &to, &from);
	assert_true(pid > 0);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(read(from, &c, 1), 1);
		assert_int_equal(kill(emulator.server, SIGKILL), 0);
		assert_int_equal(read(from, &c, 1), 1);
		while (emulator_server_of(emulator.dir) > 0)
			usleep(1000);
		assert_int_equal(process_run((const char *const[]){test_options.emu, "start",
								   "--dir", emulator.dir, NULL}),
				 0);
		emulator.server = emulator_server_of(emulator.dir);
		assert_int_equal(write(to, "n", 1), 1);
	}
	assert_int_equal(read(from, &c, 1), 1);
	close(to);
	assert_int_equal(process_exit_code(pid), 0);
	close(from);
	assert_true(emulator_stop(&emulator));
}

static int survive(void)
{
	char c;

	for (int round = 0; round < 4; round++) {
		context = fixture_open_context();
		pd = context ? ibv_alloc_pd(context) : NULL;
		if (!pd || !rc_open_loopback(&rc, pd))
			return 10 + round;
		if (rc_write(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + 4096, 4096))
			return 20 + round;
		if (!rc_receive(&rc, 64) || !report())
			return 30 + round;
		if (round == 3)
			break;
		if (rc_wait(&rc, PATIENCE_MS) != IBV_WC_WR_FLUSH_ERR || !report() ||
		    read(STDIN_FILENO, &c, 1) != 1)
			return 40 + round;
		rc_close(&rc);
		ibv_close_device(context);
	}
	return read(STDIN_FILENO, &c, 1) ? 50 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_server_ends_every_program),
		cmocka_unit_test(a_killed_server_is_started_again),
		cmocka_unit_test(stopped_server_ends_every_program),
		cmocka_unit_test(next_server_serves_the_same_process),
	};
	const char *role = getenv(EMULATOR_ROLE_ENV);

	test_parse_options(argc, argv);
	/* At once: libibverbs keeps objects that it could not destroy. */
	if (role)
		_exit(strcmp(role, "survive") != 0 ? run_program(role) : survive());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
