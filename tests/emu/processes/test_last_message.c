/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The last message that a program rings for before it ends its queue pair or itself. A card has sent it by then, so the
 * peer receives it, although the peer's engine gets no processor until later: its process is stopped meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "children.h"
#include "fixture.h"
#include "rc.h"

#define LEN	   1024u
#define SEED	   7u
#define STOPPED_MS 100

enum ending {
	NONE,
	TO_ERR,
	TO_RESET,
	DESTROY,
	CLOSE_FILE,
	CALL_CLOSE,
	CLOSE_RANGE,
	CALL_CLOSE_RANGE,
	CLOSE_FROM,
	DUP2,
	DUP3,
	CALL_DUP3,
	FCLOSE,
	FREOPEN,
	EXIT,
	EXIT_NOW,
	QUICK_EXIT,
	AT_QUICK_EXIT,
	EXIT_GROUP,
	DAEMON,
	EXECL,
	EXECLE,
	EXECLP,
	EXECV,
	EXECVE,
	EXECVP,
	EXECVPE,
	FEXECVE,
	CALL_EXECVE,
	EXECVEAT,
	CALL_EXECVEAT,
	SIGNAL
};

#define PROGRAM "/bin/true"

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rc rc;
	int socket;
} own;

/* --- the two peers; exit codes tell where it went wrong --------------------------------------- */

static bool connect_to_peer(int socket)
{
	struct rc_address remote;

	own.context = fixture_open_context();
	own.pd = own.context ? ibv_alloc_pd(own.context) : NULL;
	return own.pd && rc_open(&own.rc, own.pd) &&
	       child_tell(socket, &own.rc.address, sizeof(own.rc.address)) &&
	       child_hear(socket, &remote, sizeof(remote)) && rc_connect(&own.rc, &remote);
}

static int receive(int socket)
{
	uint8_t wanted[LEN];
	int status;

	fixture_fill(wanted, sizeof(wanted), SEED);
	if (!connect_to_peer(socket) || !rc_receive(&own.rc, LEN) || !child_signal(socket))
		return 10;
	status = rc_wait(&own.rc, FIXTURE_TIMEOUT_MS);
	if (status != IBV_WC_SUCCESS)
		return 20 + status;
	return memcmp(own.rc.bytes, wanted, LEN) == 0 ? 0 : 11;
}

static bool ring(void)
{
	struct ibv_sge sge = {(uintptr_t)own.rc.bytes, LEN, own.rc.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	fixture_fill(own.rc.bytes, LEN, SEED);
	return rc_post(&own.rc, &wr);
}

static int modify(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return ibv_modify_qp(own.rc.qp, &attr, IBV_QP_STATE) ? 13 : 0;
}

/* Beside the device only the socket stays open. */
static int close_by(enum ending how)
{
	const int fd = own.context->cmd_fd;
	FILE *file;

	switch (how) {
	case CLOSE_FILE:
		return close(fd);
	case CALL_CLOSE:
		return (int)syscall(SYS_close, fd);
	case CLOSE_RANGE:
		return close_range((unsigned int)fd, (unsigned int)fd, 0);
	case CALL_CLOSE_RANGE:
		return (int)syscall(SYS_close_range, fd, fd, 0);
	case CLOSE_FROM:
		if (dup2(own.socket, 3) != 3)
			return -1;
		own.socket = 3;
		closefrom(4);
		return 0;
	case DUP2:
		return dup2(STDIN_FILENO, fd) == fd ? 0 : -1;
	case DUP3:
		return dup3(STDIN_FILENO, fd, O_CLOEXEC) == fd ? 0 : -1;
	case CALL_DUP3:
		return syscall(SYS_dup3, STDIN_FILENO, fd, O_CLOEXEC) == fd ? 0 : -1;
	default:
		file = fdopen(fd, "r");
		if (how == FCLOSE)
			return file ? fclose(file) : -1;
		return file && freopen("/dev/null", "r", file) ? 0 : -1;
	}
}

/* Returns if it fails. */
static int execute_by(enum ending how)
{
	char *argv[] = {(char *)"true", NULL};
	const int fd = open(PROGRAM, O_RDONLY | O_CLOEXEC);

	switch (how) {
	case EXECL:
		return execl(PROGRAM, "true", "1", "2", NULL);
	case EXECLE:
		return execle(PROGRAM, "true", "1", NULL, environ);
	case EXECLP:
		return execlp("true", "true", NULL);
	case EXECV:
		return execv(PROGRAM, argv);
	case EXECVE:
		return execve(PROGRAM, argv, environ);
	case EXECVP:
		return execvp("true", argv);
	case EXECVPE:
		return execvpe("true", argv, environ);
	case FEXECVE:
		return fexecve(fd, argv, environ);
	case CALL_EXECVE:
		return (int)syscall(SYS_execve, PROGRAM, argv, environ);
	case EXECVEAT:
		return execveat(AT_FDCWD, PROGRAM, argv, environ, 0);
	default:
		return (int)syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	}
}

static void ring_late(void)
{
	ring();
}

static int end(enum ending how)
{
	if (how >= CLOSE_FILE && how < EXIT)
		return close_by(how) ? 15 : 0;
	if (how >= EXECL && how < SIGNAL)
		return execute_by(how) ? 17 : 18;
	switch (how) {
	case TO_ERR:
		return modify(IBV_QPS_ERR);
	case TO_RESET:
		return modify(IBV_QPS_RESET);
	case DESTROY:
		return ibv_destroy_qp(own.rc.qp) ? 14 : 0;
	case EXIT_NOW:
		_exit(0);
	case QUICK_EXIT:
	case AT_QUICK_EXIT:
		quick_exit(0);
	case DAEMON:
		_exit(daemon(1, 1) ? 19 : 0);
	case EXIT_GROUP:
		return (int)syscall(SYS_exit_group, 0);
	default:
		return how > SIGNAL ? kill(getpid(), (int)(how - SIGNAL)) : 0;
	}
}

static int send_last(int socket, enum ending how)
{
	const bool late = how == AT_QUICK_EXIT;
	int code;

	own.socket = socket;
	if (!connect_to_peer(socket) || !child_signal(socket) || !child_await(socket) ||
	    !(late ? !at_quick_exit(ring_late) : ring()))
		return 12;
	code = end(how);
	if (how < EXIT) /* only what ends the queue pair counts, and not what follows */
		_Exit(child_await(own.socket) ? code : 16);
	return code;
}

static int serve(int socket)
{
	int how;

	if (!child_hear(socket, &how, sizeof(how)))
		return 9;
	return how == NONE ? receive(socket) : send_last(socket, (enum ending)how);
}

/* --- the tests -------------------------------------------------------------------------------- */

static void exchange_addresses(const struct child *a, const struct child *b)
{
	struct rc_address of_a, of_b;

	assert_true(child_hear(a->socket, &of_a, sizeof(of_a)) &&
		    child_hear(b->socket, &of_b, sizeof(of_b)));
	assert_true(child_tell(a->socket, &of_b, sizeof(of_b)) &&
		    child_tell(b->socket, &of_a, sizeof(of_a)));
	assert_true(child_await(a->socket) && child_await(b->socket));
}

static void lose_nothing(struct child *sender, int how)
{
	const struct timespec pause = {.tv_nsec = STOPPED_MS * 1000000};
	struct child receiver;

	child_start(&receiver, "dpu", NONE);
	child_start(sender, test_options.peer_as, how);
	exchange_addresses(&receiver, sender);
	child_stop(&receiver);
	assert_true(child_signal(sender->socket)); /* go */
	nanosleep(&pause, NULL);
	child_continue(&receiver);
	child_finish(&receiver);
	(void)child_signal(sender->socket);
}

/* Longer than a stopped process is waited for. This one has only an engine that gets no processor. */
static void a_message_to_a_peer_that_is_late_arrives(void **state)
{
	const struct timespec pause = {.tv_sec = 2, .tv_nsec = 2 * STOPPED_MS * 1000000};
	struct child receiver, sender;
	bool stopped;
	pid_t engine;

	child_start(&receiver, "dpu", NONE);
	child_start(&sender, test_options.peer_as, EXIT_NOW);
	exchange_addresses(&receiver, &sender);
	engine = child_engine(&receiver);
	stopped = engine && child_stop_thread(engine);
	assert_true(child_signal(sender.socket)); /* go */
	if (stopped) {
		nanosleep(&pause, NULL);
		assert_true(child_continue_thread(engine));
	}
	child_finish(&receiver);
	child_finish(&sender);
	if (!stopped)
		test_lacks("ptrace() of a thread");
}

static void end_with(enum ending how)
{
	struct child sender;

	lose_nothing(&sender, (int)how);
	child_finish(&sender);
}

static void end_with_each(enum ending first, enum ending last)
{
	for (int how = (int)first; how <= (int)last; how++) {
		print_message("ending %d\n", how);
		end_with((enum ending)how);
	}
}

static void end_by(int number)
{
	struct child sender;

	lose_nothing(&sender, SIGNAL + number);
	child_finish_by(&sender, number);
}

static void a_message_before_the_error_state_arrives(void **state)
{
	end_with(TO_ERR);
}

static void a_message_before_a_reset_arrives(void **state)
{
	end_with(TO_RESET);
}

static void a_message_before_its_queue_pair_is_destroyed_arrives(void **state)
{
	end_with(DESTROY);
}

static void a_message_before_its_device_is_closed_arrives(void **state)
{
	end_with_each(CLOSE_FILE, FREOPEN);
}

static void a_message_before_the_end_of_main_arrives(void **state)
{
	end_with(EXIT);
}

static void a_message_before_an_immediate_exit_arrives(void **state)
{
	end_with(EXIT_NOW);
}

static void a_message_before_a_quick_exit_arrives(void **state)
{
	end_with_each(QUICK_EXIT, AT_QUICK_EXIT);
}

static void a_message_before_a_system_call_that_exits_arrives(void **state)
{
	end_with(EXIT_GROUP);
}

static void a_message_before_a_daemon_leaves_its_parent_arrives(void **state)
{
	end_with(DAEMON);
}

static void a_message_before_another_program_is_executed_arrives(void **state)
{
	end_with_each(EXECL, CALL_EXECVE);
}

static void a_message_before_execveat_arrives(void **state)
{
	/* qemu-user of Debian 12 */
	if (syscall(SYS_execveat, -1, "", NULL, NULL, AT_EMPTY_PATH) && errno == ENOSYS)
		test_lacks("execveat()");
	end_with_each(EXECVEAT, CALL_EXECVEAT);
}

static void a_message_before_a_signal_that_ends_the_program_arrives(void **state)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGUSR1, SIGPIPE, SIGALRM, SIGTERM, SIGABRT};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		end_by(numbers[i]);
}

static void on_signal(int number)
{
	(void)number;
}

static void assert_default(int number)
{
	struct sigaction action;

	assert_int_equal(sigaction(number, NULL, &action), 0);
	assert_ptr_equal(action.sa_handler, SIG_DFL);
	assert_ptr_equal(signal(number, SIG_DFL), SIG_DFL);
}

static void a_program_finds_its_own_signal_handlers(void **state)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

	own.context = fixture_open_context();
	own.pd = ibv_alloc_pd(own.context);
	assert_true(own.pd && rc_open(&own.rc, own.pd));
	assert_default(SIGTERM);
	assert_int_equal(sigaction(SIGTERM, &action, &before), 0);
	assert_ptr_equal(before.sa_handler, SIG_DFL);
	assert_ptr_equal(signal(SIGTERM, SIG_IGN), on_signal);
	assert_ptr_equal(signal(SIGTERM, SIG_DFL), SIG_IGN);
	assert_default(SIGTERM);
	rc_close(&own.rc);
	assert_int_equal(ibv_dealloc_pd(own.pd), 0);
	assert_int_equal(ibv_close_device(own.context), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(a_message_before_the_error_state_arrives),
		counted_test(a_message_before_a_reset_arrives),
		counted_test(a_message_before_its_queue_pair_is_destroyed_arrives),
		counted_test(a_message_before_its_device_is_closed_arrives),
		counted_test(a_message_before_the_end_of_main_arrives),
		counted_test(a_message_before_an_immediate_exit_arrives),
		counted_test(a_message_before_a_quick_exit_arrives),
		counted_test(a_message_before_a_system_call_that_exits_arrives),
		counted_test(a_message_before_a_daemon_leaves_its_parent_arrives),
		counted_test(a_message_before_another_program_is_executed_arrives),
		counted_test(a_message_before_execveat_arrives),
		counted_test(a_message_before_a_signal_that_ends_the_program_arrives),
		counted_test(a_message_to_a_peer_that_is_late_arrives),
		counted_test(a_program_finds_its_own_signal_handlers),
	};
	int socket = process_inherited(CHILD_ENV);

	test_parse_options(argc, argv);
	if (socket >= 0)
		return serve(socket);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
