/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The last message that a program rings for before it ends its queue pair or itself. A card has sent it by then, so the
 * peer receives it, although the peer's engine gets no processor until later: its process is stopped meanwhile.
 */
#include <signal.h>
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
	EXIT,
	EXIT_NOW,
	QUICK_EXIT,
	EXIT_GROUP,
	SIGNAL
};

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rc rc;
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

static int end(enum ending how)
{
	switch (how) {
	case TO_ERR:
		return modify(IBV_QPS_ERR);
	case TO_RESET:
		return modify(IBV_QPS_RESET);
	case DESTROY:
		return ibv_destroy_qp(own.rc.qp) ? 14 : 0;
	case CLOSE_FILE:
		return close(own.context->cmd_fd) ? 15 : 0;
	case EXIT_NOW:
		_exit(0);
	case QUICK_EXIT:
		quick_exit(0);
	case EXIT_GROUP:
		return (int)syscall(SYS_exit_group, 0);
	default:
		return how > SIGNAL ? kill(getpid(), (int)(how - SIGNAL)) : 0;
	}
}

static int send_last(int socket, enum ending how)
{
	int code;

	if (!connect_to_peer(socket) || !child_signal(socket) || !child_await(socket) || !ring())
		return 12;
	code = end(how);
	if (how < EXIT) /* only what ends the queue pair counts, and not what follows */
		_Exit(child_await(socket) ? code : 16);
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

static void end_with(enum ending how)
{
	struct child sender;

	lose_nothing(&sender, (int)how);
	child_finish(&sender);
}

static void end_by(int number)
{
	struct child sender;

	lose_nothing(&sender, SIGNAL + number);
	child_finish_by(&sender, number);
}

static void test_a_message_before_the_error_state_arrives(void **state)
{
	end_with(TO_ERR);
}

static void test_a_message_before_a_reset_arrives(void **state)
{
	end_with(TO_RESET);
}

static void test_a_message_before_its_queue_pair_is_destroyed_arrives(void **state)
{
	end_with(DESTROY);
}

static void test_a_message_before_its_device_is_closed_arrives(void **state)
{
	end_with(CLOSE_FILE);
}

static void test_a_message_before_the_end_of_main_arrives(void **state)
{
	end_with(EXIT);
}

static void test_a_message_before_an_immediate_exit_arrives(void **state)
{
	end_with(EXIT_NOW);
}

static void test_a_message_before_a_quick_exit_arrives(void **state)
{
	end_with(QUICK_EXIT);
}

static void test_a_message_before_a_system_call_that_exits_arrives(void **state)
{
	end_with(EXIT_GROUP);
}

static void test_a_message_before_a_signal_that_ends_the_program_arrives(void **state)
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

static void test_a_program_finds_its_own_signal_handlers(void **state)
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
		counted_test(test_a_message_before_the_error_state_arrives),
		counted_test(test_a_message_before_a_reset_arrives),
		counted_test(test_a_message_before_its_queue_pair_is_destroyed_arrives),
		counted_test(test_a_message_before_its_device_is_closed_arrives),
		counted_test(test_a_message_before_the_end_of_main_arrives),
		counted_test(test_a_message_before_an_immediate_exit_arrives),
		counted_test(test_a_message_before_a_quick_exit_arrives),
		counted_test(test_a_message_before_a_system_call_that_exits_arrives),
		counted_test(test_a_message_before_a_signal_that_ends_the_program_arrives),
		counted_test(test_a_program_finds_its_own_signal_handlers),
	};
	int socket = process_inherited(CHILD_ENV);

	test_parse_options(argc, argv);
	if (socket >= 0)
		return serve(socket);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
