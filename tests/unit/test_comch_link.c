/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a client of doca_comch finds its server on one machine, and who is refused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_log.h>

#include "base/array.h"
#include "comch/link/dial.h"
#include "comch/link/listener.h"

#define PATIENCE_MS	30000
#define NOBODY		65534u
#define CONNECTS	10000

#define assert_ok(call) assert_error(call, DOCA_SUCCESS)
#define assert_error(call, wanted) \
	assert_string_equal(doca_error_get_name(call), doca_error_get_name(wanted))

static char directory[64];
static char logged[65536];
static time_t clock_ahead_s;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int status = __real_clock_gettime(clock, now);

	now->tv_sec += clock_ahead_s;
	return status;
}

static void keep(char *text)
{
	size_t used = strlen(logged);

	snprintf(logged + used, sizeof(logged) - used, "%s", text);
}

static int set_up_log(void **state)
{
	static char line[2048];
	struct doca_log_backend *backend;

	return doca_log_backend_create_with_buf_sdk(line, sizeof(line), keep, &backend) !=
	       DOCA_SUCCESS;
}

static int set_up(void **state)
{
	snprintf(directory, sizeof(directory), "/tmp/dpumap-test-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	logged[0] = '\0';
	return setenv("DPUMAP_COMCH_DIR", directory, 1);
}

/* rmdir fails, and the test with it, if any file remains. */
static int tear_down(void **state)
{
	return rmdir(directory);
}

static struct dpumap_comch_place place_of(const char *name)
{
	struct dpumap_comch_place place = {.card = 0x0102030405060708, .function = 7};

	snprintf(place.name, sizeof(place.name), "%s", name);
	return place;
}

static struct dpumap_comch_listener *start_server(const char *name)
{
	const struct dpumap_comch_place place = place_of(name);
	struct dpumap_comch_listener *listener;

	assert_ok(dpumap_comch_listener_create(&place, &listener));
	return listener;
}

static void await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static doca_error_t dial(const struct dpumap_comch_place *place, unsigned int wait_ms,
			 struct dpumap_comch_link **link)
{
	struct dpumap_comch_dial *dial;
	doca_error_t result;

	assert_ok(dpumap_comch_dial_create(place, wait_ms, &dial));
	while ((result = dpumap_comch_dial_poll(dial, link)) == DOCA_ERROR_IN_PROGRESS)
		await(dpumap_comch_dial_fd(dial));
	dpumap_comch_dial_destroy(dial);
	return result;
}

static struct dpumap_comch_link *dial_name(const char *name)
{
	const struct dpumap_comch_place place = place_of(name);
	struct dpumap_comch_link *link;

	assert_ok(dial(&place, PATIENCE_MS, &link));
	return link;
}

static struct dpumap_comch_link *accept_client(struct dpumap_comch_listener *listener)
{
	struct dpumap_comch_link *link;
	doca_error_t result;

	while ((result = dpumap_comch_listener_next(listener, &link)) == DOCA_ERROR_AGAIN)
		await(dpumap_comch_listener_fd(listener));
	assert_ok(result);
	return link;
}

static void send_text(struct dpumap_comch_link *link, const char *text)
{
	size_t done;

	assert_ok(dpumap_comch_link_write(link, text, strlen(text), &done));
	assert_int_equal(done, strlen(text));
}

static doca_error_t receive(struct dpumap_comch_link *link, char *text, size_t size)
{
	doca_error_t result;
	size_t done = 0;

	while ((result = dpumap_comch_link_read(link, text, size - 1, &done)) == DOCA_ERROR_AGAIN)
		await(dpumap_comch_link_fd(link));
	text[done] = '\0';
	return result;
}

static void expect_text(struct dpumap_comch_link *link, const char *text)
{
	char got[256];

	assert_ok(receive(link, got, sizeof(got)));
	assert_string_equal(got, text);
}

static void expect_end(struct dpumap_comch_link *link)
{
	char got[256];

	assert_error(receive(link, got, sizeof(got)), DOCA_ERROR_CONNECTION_RESET);
}

static unsigned int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* The one socket in the directory. */
static struct sockaddr_un socket_in_directory(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	DIR *dir = opendir(directory);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			snprintf(address.sun_path, sizeof(address.sun_path), "%.32s/%.60s",
				 directory, entry->d_name);
	closedir(dir);
	assert_true(address.sun_path[0]);
	return address;
}

static int connect_raw(void)
{
	const struct sockaddr_un address = socket_in_directory();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* --- finding each other ----------------------------------------------------------------------- */

static void link_carries_bytes_both_ways(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *client = dial_name("a"), *server = accept_client(listener);
	char uid[32];

	send_text(client, "ping");
	expect_text(server, "ping");
	send_text(server, "pong");
	expect_text(client, "pong");
	snprintf(uid, sizeof(uid), "uid:%u", geteuid());
	assert_string_equal(dpumap_comch_link_peer(client), uid);
	assert_string_equal(dpumap_comch_link_peer(server), uid);
	dpumap_comch_link_close(client);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
}

static void descriptors_are_readable_only_with_something_to_do(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *client, *server;
	char text[16];
	size_t done;

	assert_false(is_readable(dpumap_comch_listener_fd(listener)));
	client = dial_name("a");
	assert_true(is_readable(dpumap_comch_listener_fd(listener)));
	server = accept_client(listener);
	assert_false(is_readable(dpumap_comch_listener_fd(listener)));
	assert_false(is_readable(dpumap_comch_link_fd(server)));
	assert_error(dpumap_comch_link_read(server, text, sizeof(text), &done), DOCA_ERROR_AGAIN);
	dpumap_comch_link_want_write(server, true);
	assert_true(is_readable(dpumap_comch_link_fd(server)));
	dpumap_comch_link_want_write(server, false);
	assert_false(is_readable(dpumap_comch_link_fd(server)));
	send_text(client, "x");
	assert_true(is_readable(dpumap_comch_link_fd(server)));
	expect_text(server, "x");
	assert_false(is_readable(dpumap_comch_link_fd(server)));
	dpumap_comch_link_close(client);
	assert_true(is_readable(dpumap_comch_link_fd(server)));
	expect_end(server);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
}

static void client_waits_for_its_server(void **state)
{
	const struct dpumap_comch_place place = place_of("late");
	struct dpumap_comch_listener *listener;
	struct dpumap_comch_dial *dial;
	struct dpumap_comch_link *link;
	doca_error_t result;

	assert_ok(dpumap_comch_dial_create(&place, PATIENCE_MS, &dial));
	for (int i = 0; i < 3; i++) {
		assert_error(dpumap_comch_dial_poll(dial, &link), DOCA_ERROR_IN_PROGRESS);
		await(dpumap_comch_dial_fd(dial));
	}
	listener = start_server("late");
	while ((result = dpumap_comch_dial_poll(dial, &link)) == DOCA_ERROR_IN_PROGRESS)
		await(dpumap_comch_dial_fd(dial));
	assert_ok(result);
	dpumap_comch_dial_destroy(dial);
	dpumap_comch_link_close(link);
	dpumap_comch_listener_destroy(listener);
}

static void client_without_server_is_told_where_it_looked(void **state)
{
	const struct dpumap_comch_place place = place_of("none");
	struct dpumap_comch_link *link;

	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(logged, "no server of doca_comch called \"none\" for function 7 of "
				       "card 0102030405060708"));
	assert_non_null(strstr(logged, directory));
	logged[0] = '\0';
	assert_error(dial(&place, 60, &link), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(logged, "\"none\""));
}

static void client_finds_the_server_of_its_card_and_function_only(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_place place = place_of("a");
	struct dpumap_comch_link *link;

	place.function++;
	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_FOUND);
	place = place_of("a");
	place.card++;
	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_FOUND);
	dpumap_comch_listener_destroy(listener);
}

/* Two names of 119 bytes that contain every byte except NUL, and differ in the last. */
static void names_may_have_every_byte(void **state)
{
	for (unsigned int from = 1; from < 256; from += 118) {
		struct dpumap_comch_place places[2] = {place_of(""), place_of("")};
		struct dpumap_comch_listener *listeners[2];

		for (unsigned int i = 0; i < 2; i++) {
			for (unsigned int at = 0; at < 118; at++)
				places[i].name[at] =
					(char)(from + at < 256 ? from + at : from + at - 255);
			places[i].name[118] = (char)('a' + i);
			assert_ok(dpumap_comch_listener_create(&places[i], &listeners[i]));
		}
		for (unsigned int i = 0; i < 2; i++) {
			struct dpumap_comch_link *client, *server;

			assert_ok(dial(&places[i], PATIENCE_MS, &client));
			server = accept_client(listeners[i]);
			assert_false(is_readable(dpumap_comch_listener_fd(listeners[1 - i])));
			dpumap_comch_link_close(client);
			dpumap_comch_link_close(server);
		}
		for (unsigned int i = 0; i < 2; i++)
			dpumap_comch_listener_destroy(listeners[i]);
	}
}

static void unprintable_names_are_escaped_in_lines(void **state)
{
	const struct dpumap_comch_place place = place_of("a\n\\\xff");
	struct dpumap_comch_link *link;

	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(logged, "\"a\\x0a\\x5c\\xff\""));
}

/* --- one server for a place ------------------------------------------------------------------- */

static void second_server_of_a_place_is_refused(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a"), *second;
	const struct dpumap_comch_place place = place_of("a");
	struct dpumap_comch_link *client, *server;

	assert_error(dpumap_comch_listener_create(&place, &second), DOCA_ERROR_IN_USE);
	assert_non_null(strstr(logged, "another server listens there"));
	client = dial_name("a");
	server = accept_client(listener);
	dpumap_comch_link_close(client);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
	listener = start_server("a");
	dpumap_comch_listener_destroy(listener);
}

static void socket_of_a_killed_server_is_replaced(void **state)
{
	struct dpumap_comch_listener *listener;
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		start_server("a");
		assert_int_equal(write(ready[1], "x", 1), 1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	listener = start_server("a");
	dpumap_comch_link_close(dial_name("a"));
	dpumap_comch_listener_destroy(listener);
	close(ready[0]);
	close(ready[1]);
}

static void death_of_the_peer_is_an_event(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *server;
	pid_t pid = fork();

	if (pid == 0) {
		send_text(dial_name("a"), "last words");
		pause();
	}
	server = accept_client(listener);
	expect_text(server, "last words");
	assert_false(is_readable(dpumap_comch_link_fd(server)));
	assert_int_equal(kill(pid, SIGKILL), 0);
	await(dpumap_comch_link_fd(server));
	expect_end(server);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
}

static void shutdown_ends_what_the_peer_reads(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *client = dial_name("a"), *server = accept_client(listener);

	send_text(client, "all");
	dpumap_comch_link_shutdown(client);
	expect_text(server, "all");
	expect_end(server);
	send_text(server, "answer");
	expect_text(client, "answer");
	dpumap_comch_link_close(client);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
}

/* --- who is refused --------------------------------------------------------------------------- */

static void strangers_are_closed(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_preamble preamble;
	struct dpumap_comch_place other = place_of("b");
	struct dpumap_comch_link *link;
	int fd[2] = {connect_raw(), connect_raw()};
	char byte;

	/* A name with the same hash would lead to this socket too. */
	dpumap_comch_preamble_fill(&other, DPUMAP_COMCH_CLIENT, &preamble);
	assert_int_equal(write(fd[0], &preamble, sizeof(preamble)), sizeof(preamble));
	memset(&preamble, 'x', sizeof(preamble));
	assert_int_equal(write(fd[1], &preamble, sizeof(preamble)), sizeof(preamble));
	assert_error(dpumap_comch_listener_next(listener, &link), DOCA_ERROR_AGAIN);
	for (int i = 0; i < 2; i++) {
		assert_true(read(fd[i], &byte, 1) <= 0);
		close(fd[i]);
	}
	assert_non_null(strstr(logged, "it looks for a server with another name"));
	assert_non_null(strstr(logged, "it is not a client of doca_comch of this release"));
	dpumap_comch_listener_destroy(listener);
}

/* A sponsor: the client's connection, or -1, and its identity. */
static void introduce(int client, const char *identity)
{
	const struct dpumap_comch_place place = place_of("a");
	struct {
		struct dpumap_comch_preamble preamble;
		struct dpumap_comch_introduction introduction;
	} said = {0};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {&said, sizeof(said)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int fd = connect_raw();

	dpumap_comch_preamble_fill(&place, DPUMAP_COMCH_INTRODUCER, &said.preamble);
	memcpy(said.introduction.identity, identity, strlen(identity));
	if (client >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		memcpy(CMSG_DATA(&control.head), &client, sizeof(client));
	}
	assert_int_equal(sendmsg(fd, &msg, 0), sizeof(said));
	close(fd);
}

static void malformed_introductions_are_refused(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *link;
	unsigned int before = count_descriptors();
	char endless[DPUMAP_COMCH_IDENTITY_SIZE + 1] = "cert:";
	const struct {
		int client;
		const char *identity;
	} cases[] = {{-1, "cert:host"}, {0, ""}, {0, "uid:0"}, {0, endless}};

	memset(endless + 5, 'x', DPUMAP_COMCH_IDENTITY_SIZE - 5);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		introduce(cases[i].client, cases[i].identity);
		logged[0] = '\0';
		assert_error(dpumap_comch_listener_next(listener, &link), DOCA_ERROR_AGAIN);
		assert_non_null(strstr(logged, "without connection or identity"));
	}
	assert_int_equal(count_descriptors(), before);
	dpumap_comch_listener_destroy(listener);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

static pid_t fork_as_nobody(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
		_exit(99);
	return pid;
}

static void expect_exit(pid_t pid, int code)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static void client_of_another_user_is_refused(void **state)
{
	struct dpumap_comch_listener *listener;
	struct dpumap_comch_link *link;
	pid_t pid;

	need_root();
	assert_int_equal(chmod(directory, 0755), 0);
	listener = start_server("a");
	pid = fork_as_nobody();
	if (pid == 0) {
		const struct dpumap_comch_place place = place_of("a");
		char text[8];

		if (dial(&place, 0, &link) != DOCA_SUCCESS)
			_exit(1);
		_exit(receive(link, text, sizeof(text)) == DOCA_ERROR_CONNECTION_RESET ? 0 : 2);
	}
	await(dpumap_comch_listener_fd(listener));
	assert_error(dpumap_comch_listener_next(listener, &link), DOCA_ERROR_AGAIN);
	expect_exit(pid, 0);
	assert_non_null(strstr(logged, "refused a peer of user 65534"));
	dpumap_comch_listener_destroy(listener);
}

/* The kernel reports the user that called listen(). */
static void server_of_another_user_is_refused(void **state)
{
	const struct dpumap_comch_place place = place_of("a");
	struct dpumap_error error = {0};
	struct dpumap_comch_link *link;
	struct sockaddr_un address;
	pid_t pid;
	int fd;

	need_root();
	assert_ok(dpumap_comch_place_address(&place, directory, &address, &error));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	pid = fork_as_nobody();
	if (pid == 0)
		_exit(listen(fd, 1));
	expect_exit(pid, 0);
	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_PERMITTED);
	assert_non_null(strstr(logged, "runs as user 65534"));
	assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_PERMITTED);
	assert_non_null(strstr(logged, "belongs to user 65534"));
	assert_int_equal(unlink(address.sun_path), 0);
	close(fd);
}

static void directory_of_others_is_refused(void **state)
{
	const struct dpumap_comch_place place = place_of("a");
	struct dpumap_comch_listener *listener;
	struct dpumap_comch_link *link;

	assert_int_equal(chmod(directory, 0777), 0);
	assert_error(dpumap_comch_listener_create(&place, &listener), DOCA_ERROR_NOT_PERMITTED);
	assert_non_null(strstr(logged, "lets others replace files in it"));
	assert_int_equal(chmod(directory, 0700), 0);
	listener = start_server("a");
	assert_int_equal(chmod(directory, 0777), 0);
	assert_error(dial(&place, 0, &link), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(chmod(directory, 0700), 0);
	dpumap_comch_listener_destroy(listener);
}

static void directory_is_created_for_its_user(void **state)
{
	char below[96];
	struct stat st;

	snprintf(below, sizeof(below), "%s/new", directory);
	assert_int_equal(setenv("DPUMAP_COMCH_DIR", below, 1), 0);
	dpumap_comch_listener_destroy(start_server("a"));
	assert_int_equal(stat(below, &st), 0);
	assert_int_equal(st.st_mode & 07777, geteuid() == 0 ? 0755 : 0700);
	assert_int_equal(rmdir(below), 0);
}

/* --- limits ----------------------------------------------------------------------------------- */

static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
}

static void oldest_silent_clients_make_room_for_others(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *client, *server;
	unsigned int before = count_descriptors();
	int fds[80];

	for (int i = 0; i < 80; i++)
		fds[i] = connect_raw();
	client = dial_name("a");
	server = accept_client(listener);
	assert_non_null(strstr(logged, "it did not say enough while 64 others connected"));
	for (int i = 0; i < 80; i++)
		assert_int_equal(is_closed(fds[i]), i < 80 - 63);
	dpumap_comch_link_close(client);
	dpumap_comch_link_close(server);
	for (int i = 0; i < 80; i++)
		close(fds[i]);
	dpumap_comch_listener_destroy(listener);
	assert_true(count_descriptors() <= before);
}

static void silent_client_is_refused_after_its_time(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *server;
	int fd = connect_raw();

	assert_error(dpumap_comch_listener_next(listener, &server), DOCA_ERROR_AGAIN);
	clock_ahead_s = 29;
	assert_error(dpumap_comch_listener_next(listener, &server), DOCA_ERROR_AGAIN);
	assert_false(is_closed(fd));
	clock_ahead_s = 31;
	assert_error(dpumap_comch_listener_next(listener, &server), DOCA_ERROR_AGAIN);
	assert_true(is_closed(fd));
	assert_non_null(strstr(logged, "it did not say enough in time"));
	clock_ahead_s = 0;
	close(fd);
	dpumap_comch_listener_destroy(listener);
}

static void lack_of_descriptors_delays_a_client(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	struct dpumap_comch_link *client = dial_name("a"), *server;
	struct rlimit limit, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_error(dpumap_comch_listener_next(listener, &server), DOCA_ERROR_OPERATING_SYSTEM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_non_null(strstr(logged, "see ulimit -n"));
	server = accept_client(listener);
	dpumap_comch_link_close(client);
	dpumap_comch_link_close(server);
	dpumap_comch_listener_destroy(listener);
}

static void connects_leave_nothing_behind(void **state)
{
	struct dpumap_comch_listener *listener = start_server("a");
	unsigned int before = count_descriptors();

	for (int i = 0; i < CONNECTS; i++) {
		struct dpumap_comch_link *client = dial_name("a"), *server;

		server = accept_client(listener);
		dpumap_comch_link_close(i % 2 ? client : server);
		dpumap_comch_link_close(i % 2 ? server : client);
	}
	assert_int_equal(count_descriptors(), before);
	dpumap_comch_listener_destroy(listener);
}

int main(void)
{
#define test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		test(link_carries_bytes_both_ways),
		test(descriptors_are_readable_only_with_something_to_do),
		test(client_waits_for_its_server),
		test(client_without_server_is_told_where_it_looked),
		test(client_finds_the_server_of_its_card_and_function_only),
		test(names_may_have_every_byte),
		test(unprintable_names_are_escaped_in_lines),
		test(second_server_of_a_place_is_refused),
		test(socket_of_a_killed_server_is_replaced),
		test(death_of_the_peer_is_an_event),
		test(shutdown_ends_what_the_peer_reads),
		test(strangers_are_closed),
		test(malformed_introductions_are_refused),
		test(client_of_another_user_is_refused),
		test(server_of_another_user_is_refused),
		test(directory_of_others_is_refused),
		test(directory_is_created_for_its_user),
		test(oldest_silent_clients_make_room_for_others),
		test(silent_client_is_refused_after_its_time),
		test(lack_of_descriptors_delays_a_client),
		test(connects_leave_nothing_behind),
	};

	return cmocka_run_group_tests(tests, set_up_log, NULL);
}
