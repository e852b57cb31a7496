/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening on a path, and a client of an arbitrary server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "channel/client.h"
#include "channel/conn.h"
#include "channel/listener.h"
#include "channel/message.h"
#include "temporary.h"

#define CLIENT_TIMEOUT_MS 300u

static struct dpumap_error error;

static doca_error_t listen_on(const char *text, bool open_to_all, struct dpumap_listener **listener,
			      struct dpumap_error *why)
{
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(text, &address, why);

	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_listener_create(&address, open_to_all, listener, why);
}

static doca_error_t connect_to(const char *text, unsigned int timeout_ms, const volatile int *stop,
			       struct dpumap_client **client, struct dpumap_error *why)
{
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(text, &address, why);

	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_client_create(&address, NULL, NULL, timeout_ms, stop, client, why);
}

static struct dpumap_listener *listen_ok(bool open_to_all)
{
	struct dpumap_listener *listener = NULL;

	assert_int_equal(listen_on(temporary_path, open_to_all, &listener, &error), DOCA_SUCCESS);
	return listener;
}

static void leave_stale_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, temporary_path, strlen(temporary_path) + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static void listener_removes_its_socket(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	struct stat st;

	assert_int_equal(stat(temporary_path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	dpumap_listener_destroy(listener);
	assert_int_not_equal(stat(temporary_path, &st), 0);
}

static void listener_for_all_lets_everyone_connect(void **state)
{
	struct dpumap_listener *listener = listen_ok(true);
	struct stat st;

	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	dpumap_listener_destroy(listener);
}

static void listener_replaces_a_stale_socket(void **state)
{
	leave_stale_socket();
	dpumap_listener_destroy(listen_ok(false));
}

static void listener_refuses_a_busy_socket(void **state)
{
	struct dpumap_listener *first = listen_ok(false);
	struct dpumap_listener *second = NULL;
	struct stat st;

	assert_int_equal(listen_on(temporary_path, false, &second, &error), DOCA_ERROR_IN_USE);
	assert_non_null(strstr(error.text, temporary_path));
	assert_non_null(strstr(error.text, "another server"));
	assert_null(second);
	assert_int_equal(stat(temporary_path, &st), 0);
	dpumap_listener_destroy(first);
}

static void listener_refuses_a_file(void **state)
{
	struct dpumap_listener *listener = NULL;
	FILE *file = fopen(temporary_path, "w");
	struct stat st;

	assert_non_null(file);
	fclose(file);
	assert_int_equal(listen_on(temporary_path, false, &listener, &error),
			 DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(unlink(temporary_path), 0);
}

static void listener_needs_an_existing_directory(void **state)
{
	struct dpumap_listener *listener = NULL;
	char nowhere[128], longer[200];

	snprintf(nowhere, sizeof(nowhere), "%s/none/socket", temporary_directory);
	assert_int_equal(listen_on(nowhere, false, &listener, &error), DOCA_ERROR_NOT_FOUND);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(listen_on(longer, false, &listener, &error), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(listen_on("", false, &listener, &error), DOCA_ERROR_INVALID_VALUE);
}

/* The socket was replaced by another one, which the listener must not remove. */
static void listener_leaves_a_foreign_socket_alone(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	struct stat st;

	assert_int_equal(unlink(temporary_path), 0);
	leave_stale_socket();
	dpumap_listener_destroy(listener);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(unlink(temporary_path), 0);
}

static void accept_knows_the_peer(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	struct dpumap_client *client = NULL;
	struct dpumap_peer peer;
	int fd;

	assert_int_equal(dpumap_listener_accept(listener, &fd, &peer, &error), DOCA_ERROR_AGAIN);
	/* The server does not answer, but the pending connection has its credentials. */
	assert_int_equal(connect_to(temporary_path, CLIENT_TIMEOUT_MS, NULL, &client, &error),
			 DOCA_ERROR_TIME_OUT);
	assert_non_null(strstr(error.text, temporary_path));
	assert_int_equal(dpumap_listener_accept(listener, &fd, &peer, &error), DOCA_SUCCESS);
	assert_int_equal(peer.uid, geteuid());
	assert_int_equal(peer.pid, getpid());
	close(fd);
	dpumap_listener_destroy(listener);
}

static void connect_without_a_listener_fails(void **state)
{
	struct dpumap_client *client = NULL;

	assert_int_equal(connect_to(temporary_path, CLIENT_TIMEOUT_MS, NULL, &client, &error),
			 DOCA_ERROR_NOT_FOUND);
	leave_stale_socket();
	assert_int_equal(connect_to(temporary_path, CLIENT_TIMEOUT_MS, NULL, &client, &error),
			 DOCA_ERROR_NOT_CONNECTED);
	assert_non_null(strstr(error.text, temporary_path));
	assert_int_equal(unlink(temporary_path), 0);
}

/* connect() fails at once, and poll() reports nothing. */
static void client_waits_while_the_queue_of_the_server_is_full(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct dpumap_client *client = NULL;

	memcpy(address.sun_path, temporary_path, strlen(temporary_path) + 1);
	assert_int_equal(bind(server, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server, 0), 0);
	assert_int_equal(connect(other, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(connect_to(temporary_path, CLIENT_TIMEOUT_MS / 10, NULL, &client, &error),
			 DOCA_ERROR_TIME_OUT);
	close(other);
	close(server);
	assert_int_equal(unlink(temporary_path), 0);
}

static void stop_ends_a_client_that_waits(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	struct dpumap_client *client = NULL;
	volatile int stop = 1;

	assert_int_equal(connect_to(temporary_path, 60000, &stop, &client, &error),
			 DOCA_ERROR_SHUTDOWN);
	dpumap_listener_destroy(listener);
}

/* The bytes that a server answers to hello, and how the client interprets them. */
struct answer {
	const char *title;
	const char *data;
	size_t len;
	doca_error_t expected;
	const char *why;
};

#define ANSWER(title, literal, expected, why)                      \
	{                                                          \
		title, literal, sizeof(literal) - 1, expected, why \
	}

static const struct answer answers[] = {
	ANSWER("nothing", "", DOCA_ERROR_CONNECTION_RESET, "closed the connection"),
	ANSWER("half a header", "\x05\x00", DOCA_ERROR_CONNECTION_RESET, "closed the connection"),
	ANSWER("half a frame", "\x05\x00\x00\x00\xa1", DOCA_ERROR_CONNECTION_RESET, "closed"),
	ANSWER("a frame of nothing", "\x00\x00\x00\x00", DOCA_ERROR_INVALID_VALUE, "malformed"),
	ANSWER("a frame of 4 GiB", "\xff\xff\xff\xff", DOCA_ERROR_INVALID_VALUE, "malformed"),
	ANSWER("no CBOR", "\x01\x00\x00\x00\xff", DOCA_ERROR_INVALID_VALUE, "malformed"),
	ANSWER("a reply without status", "\x05\x00\x00\x00\xa1\x62id\x01", DOCA_ERROR_UNEXPECTED,
	       "no status"),
	ANSWER("the reply to another request", "\x0d\x00\x00\x00\xa2\x62id\x07\x66status\x00",
	       DOCA_ERROR_UNEXPECTED, "another request"),
	ANSWER("a reply without version", "\x0d\x00\x00\x00\xa2\x62id\x01\x66status\x00",
	       DOCA_ERROR_UNSUPPORTED_VERSION, "version"),
	ANSWER("a refusal",
	       "\x16\x00\x00\x00\xa3\x62id\x00\x66status\x02\x65"
	       "error\x62no",
	       DOCA_ERROR_NOT_PERMITTED, "no"),
	ANSWER("a refusal with a status that is none",
	       "\x11\x00\x00\x00\xa2\x62id\x00\x66status\x1a\xff\xff\xff\xff", DOCA_ERROR_UNKNOWN,
	       "no reason"),
};

static pid_t fork_server(const struct dpumap_listener *listener, const struct answer *answer)
{
	pid_t pid = fork();
	int fd;

	if (pid != 0)
		return pid;
	do
		fd = accept(dpumap_listener_fd(listener), NULL, NULL);
	while (fd < 0);
	if (answer->len > 0 && send(fd, answer->data, answer->len, MSG_NOSIGNAL) < 0)
		_exit(1);
	_exit(0);
}

static void each_answer_to_hello_has_its_result(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	struct dpumap_client *client = NULL;
	doca_error_t result;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		pid = fork_server(listener, &answers[i]);
		assert_true(pid > 0);
		result = connect_to(temporary_path, 10000, NULL, &client, &error);
		if (result != answers[i].expected || !strstr(error.text, answers[i].why))
			fail_msg("%s: %d %s", answers[i].title, result, error.text);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	dpumap_listener_destroy(listener);
}

static struct answer welcome(uint8_t bytes[DPUMAP_FRAME_HEADER + 64])
{
	struct dpumap_msg msg = {0};
	size_t len = 0;

	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, 1);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_STATUS, DOCA_SUCCESS);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_VERSION, DPUMAP_CHANNEL_VERSION);
	assert_int_equal(dpumap_msg_encode(&msg, bytes + DPUMAP_FRAME_HEADER, 64, &len, &error),
			 DOCA_SUCCESS);
	memset(bytes, 0, DPUMAP_FRAME_HEADER);
	bytes[0] = (uint8_t)len;
	return (struct answer){.data = (const char *)bytes, .len = DPUMAP_FRAME_HEADER + len};
}

/* The request that could not be sent is not what the next one fails for. */
static void each_request_after_the_end_says_that_it_ended(void **state)
{
	struct dpumap_listener *listener = listen_ok(false);
	uint8_t bytes[DPUMAP_FRAME_HEADER + 64];
	struct answer answer = welcome(bytes);
	struct dpumap_msg request = {0}, reply;
	struct dpumap_client *client = NULL;
	pid_t pid = fork_server(listener, &answer);

	assert_true(pid > 0);
	assert_int_equal(connect_to(temporary_path, 10000, NULL, &client, &error), DOCA_SUCCESS);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_LIST));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dpumap_client_call(client, &request, &reply, &error),
				 DOCA_ERROR_CONNECTION_RESET);
		assert_non_null(strstr(error.text, "closed the connection"));
	}
	dpumap_client_destroy(client);
	dpumap_listener_destroy(listener);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temporary_set_up, temporary_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(listener_removes_its_socket),
		TEST(listener_for_all_lets_everyone_connect),
		TEST(listener_replaces_a_stale_socket),
		TEST(listener_refuses_a_busy_socket),
		TEST(listener_refuses_a_file),
		TEST(listener_needs_an_existing_directory),
		TEST(listener_leaves_a_foreign_socket_alone),
		TEST(accept_knows_the_peer),
		TEST(connect_without_a_listener_fails),
		TEST(client_waits_while_the_queue_of_the_server_is_full),
		TEST(stop_ends_a_client_that_waits),
		TEST(each_answer_to_hello_has_its_result),
		TEST(each_request_after_the_end_says_that_it_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
