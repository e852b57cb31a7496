/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulator serves its own user only, and keeps serving whatever arrives at its sockets. What
 * requires another user is tested by root only.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emulator.h"
#include "footprint.h"
#include "uverbs.h"

#define NOBODY	 65534
#define ROUNDS	 3000
#define MAX_PATH 100

static struct emulator emulator;

static int start_inner(void **state)
{
	return emulator_start(&emulator) ? 0 : -1;
}

static int stop_inner(void **state)
{
	return emulator_stop(&emulator) ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[MAX_PATH];

	snprintf(path, sizeof(path), "%s/%s", emulator.dir, name);
	return path;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(path_of(name), &st), 0);
	return st.st_mode & 07777;
}

/* Run a command of the emulator's tool; returns its exit code. */
static int tool(const char *verb, const char *dir)
{
	const char *const argv[] = {test_options.emu, verb, "--dir", dir, NULL};

	return process_run(argv);
}

static int connect_to(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(s >= 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path_of(name));
	if (!connect(s, (struct sockaddr *)&sa, sizeof(sa)))
		return s;
	close(s);
	return -1;
}

static void assert_serves(void)
{
	assert_int_equal(emulator_server_of(emulator.dir), emulator.server);
	assert_int_equal(tool("status", emulator.dir), 0);
}

/* --- whose it is ------------------------------------------------------------------------------ */

static void modes_allow_only_the_owner(void **state)
{
	assert_int_equal(mode_of("."), 0700);
	assert_int_equal(mode_of("control"), 0600);
	assert_int_equal(mode_of("dpu/uverbs0"), 0600);
	assert_int_equal(mode_of("host/uverbs0"), 0600);
	assert_int_equal(mode_of("lock") & 077, 0);
}

static void make_dir(char *dir, size_t len, mode_t mode)
{
	static unsigned int count;

	snprintf(dir, len, "%s.d%u", getenv("DPUMAP_EMU_DIR"), count++);
	assert_int_equal(mkdir(dir, mode), 0);
	assert_int_equal(chmod(dir, mode), 0);
}

static void open_directory_is_refused(void **state)
{
	static const mode_t modes[] = {0755, 0770, 0777, 01777};
	char dir[MAX_PATH];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		make_dir(dir, sizeof(dir), modes[i]);
		assert_int_not_equal(tool("start", dir), 0);
		assert_int_equal(rmdir(dir), 0); /* and nothing was written there */
	}
	make_dir(dir, sizeof(dir), 0700);
	assert_int_equal(tool("start", dir), 0);
	assert_int_equal(tool("stop", dir), 0);
}

static void symbolic_link_is_refused(void **state)
{
	char dir[MAX_PATH], link[MAX_PATH + 8], slash[MAX_PATH + 16];

	make_dir(dir, sizeof(dir), 0700);
	snprintf(link, sizeof(link), "%s.link", dir);
	snprintf(slash, sizeof(slash), "%s//", link);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_not_equal(tool("start", link), 0);
	assert_int_not_equal(tool("start", slash), 0);
	assert_int_equal(tool("start", dir), 0);
	assert_int_not_equal(tool("status", link), 0);
	assert_int_equal(tool("stop", dir), 0);
	unlink(link);
}

static void start_on_a_file_is_refused(void **state)
{
	char file[] = "/tmp/dpumap-test-XXXXXX";
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_not_equal(tool("start", file), 0);
	close(fd);
	unlink(file);
}

/* --- another user: tried by the superuser alone ----------------------------------------------- */

static void need_superuser(void)
{
	if (geteuid())
		skip();
}

static void directory_of_another_is_refused(void **state)
{
	char dir[MAX_PATH];

	need_superuser();
	make_dir(dir, sizeof(dir), 0700);
	assert_int_equal(chown(dir, NOBODY, NOBODY), 0);
	assert_int_not_equal(tool("start", dir), 0);
	assert_int_not_equal(tool("status", dir), 0);
	rmdir(dir);
}

static bool become_nobody(void)
{
	return !setgid(NOBODY) && !setuid(NOBODY);
}

/* With all permissions open, the server still checks the peer's credentials. */
static void open_doors(void)
{
	char outer[MAX_PATH];

	snprintf(outer, sizeof(outer), "%s", emulator.dir);
	*strrchr(outer, '/') = '\0';
	assert_int_equal(chmod(outer, 0755), 0);
	assert_int_equal(chmod(emulator.dir, 0755), 0);
	assert_int_equal(chmod(path_of("dpu"), 0755), 0);
	assert_int_equal(chmod(path_of("control"), 0666), 0);
	assert_int_equal(chmod(path_of("dpu/uverbs0"), 0666), 0);
}

/* 0: rejected */
static int try_as_another(const char *name)
{
	struct emu_request req = {.magic = EMU_MAGIC, .op = EMU_OP_STOP};
	int s;

	if (!become_nobody())
		return 10;
	s = connect_to(name);
	if (s < 0)
		return 11;
	send(s, &req, sizeof(req), MSG_NOSIGNAL);
	return recv(s, &req, sizeof(req), 0) > 0 ? 12 : 0;
}

static void another_user_is_turned_away(void **state)
{
	static const char *const names[] = {"control", "dpu/uverbs0"};

	need_superuser();
	open_doors();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(try_as_another(names[i]));
		assert_int_equal(process_exit_code(pid), 0);
	}
	assert_serves();
}

/* If another user owns the directory, no program is led to sockets there. */
static void serve_as_another(const char *dir, int ready)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/control", dir);
	if (!become_nobody() || bind(s, (struct sockaddr *)&sa, sizeof(sa)) || listen(s, 4))
		_exit(10);
	chmod(sa.sun_path, 0666);
	if (write(ready, "r", 1) != 1)
		_exit(11);
	for (;;)
		pause();
}

static void server_of_another_is_not_used(void **state)
{
	char dir[MAX_PATH], path[MAX_PATH + 16], c;
	int ready[2];
	pid_t pid;

	need_superuser();
	make_dir(dir, sizeof(dir), 0777);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		serve_as_another(dir, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(chmod(dir, 0700), 0); /* too late */
	assert_int_not_equal(tool("status", dir), 0);
	assert_int_not_equal(tool("stop", dir), 0);
	kill(pid, SIGKILL);
	process_reap(pid);
	snprintf(path, sizeof(path), "%s/control", dir);
	unlink(path);
	rmdir(dir);
	close(ready[0]);
}

/* --- whatever arrives ------------------------------------------------------------------------- */

static uint64_t random_state = 4711;

static uint32_t draw(uint32_t below)
{
	return test_draw(&random_state, below);
}

/* A packet that is almost valid, with descriptors that are almost what is required. */
static void send_random(int s)
{
	uint8_t packet[300];
	struct emu_request req = {.magic = EMU_MAGIC, .op = draw(14)};
	int pair[2], fds[EMU_MAX_FDS];
	unsigned int nfds = draw(8) ? 0 : 1 + draw(EMU_MAX_FDS), i;
	size_t len = draw(3) ? sizeof(req) : draw(sizeof(packet));

	fixture_fill(packet, sizeof(packet), draw(1000));
	if (req.op == EMU_OP_STOP || req.op == EMU_OP_HOLD)
		req.op = EMU_OP_ATTACH;
	if (!draw(10))
		req.magic++;
	for (i = 0; i < 3; i++)
		req.arg[i] = draw(2) ? (uintptr_t)packet + draw(64) : draw(1u << 20);
	memcpy(packet, &req, sizeof(req));
	assert_int_equal(socketpair(AF_UNIX, draw(2) ? SOCK_SEQPACKET : SOCK_STREAM, 0, pair), 0);
	for (i = 0; i < nfds; i++)
		fds[i] = draw(3) ? pair[draw(2)] : s;
	emu_sock_send_now(s, packet, len, fds, nfds);
	close(pair[0]);
	close(pair[1]);
}

static void random_packets_do_not_stop_the_server(void **state)
{
	static const char *const names[] = {"control", "dpu/uverbs0", "host/uverbs0"};

	for (int i = 0; i < ROUNDS / 10; i++) {
		int s = connect_to(names[draw(3)]);

		assert_true(s >= 0);
		for (int j = 0; j < 10; j++)
			send_random(s);
		close(s);
	}
	assert_serves();
}

/*
 * Attach to a device by hand; returns our end of the channel, `*servers` is a duplicate of the
 * server's.
 */
static int attach(int device, int *servers)
{
	uint64_t cookie = (uint32_t)getpid();
	struct emu_request req = {
		.magic = EMU_MAGIC,
		.op = EMU_OP_ATTACH,
		.arg = {(uintptr_t)&cookie, cookie},
	};
	struct emu_reply rep;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(emu_sock_send(device, &req, sizeof(req), &pair[1], 1), 0);
	assert_int_equal(recv(pair[0], &rep, sizeof(rep), 0), sizeof(rep));
	assert_int_equal(rep.error, 0);
	*servers = pair[1];
	return pair[0];
}

static void random_packets_on_a_channel_do_not_stop_the_server(void **state)
{
	for (int i = 0; i < ROUNDS / 10; i++) {
		int device = connect_to("dpu/uverbs0"), servers, channel;

		channel = attach(device, &servers);
		close(servers);
		for (int j = 0; j < 10; j++)
			send_random(channel);
		close(channel);
		close(device);
	}
	assert_serves();
}

/* A program that keeps the server's end can write there after the server has closed it. */
static void a_kept_end_of_a_channel_does_not_stop_the_server(void **state)
{
	struct emu_request req = {.magic = EMU_MAGIC, .op = 99};

	for (int i = 0; i < ROUNDS / 10; i++) {
		int device = connect_to("dpu/uverbs0"), servers, channel;

		channel = attach(device, &servers);
		send(channel, &req, sizeof(req),
		     MSG_NOSIGNAL); /* an unknown request: the server closes the channel */
		send(channel, &req, sizeof(req), MSG_NOSIGNAL);
		if (i % 2)
			close(device);
		send(channel, &req, sizeof(req), MSG_NOSIGNAL);
		close(channel);
		if (!(i % 2))
			close(device);
		close(servers);
	}
	assert_serves();
}

/* An endless stream of requests from a client that reads no answer: others are still served. */
static void a_client_that_reads_nothing_does_not_stop_the_server(void **state)
{
	struct emu_request req = {.magic = EMU_MAGIC, .op = EMU_OP_STATUS};
	int control = connect_to("control"), device = connect_to("dpu/uverbs0"), servers, i;
	int channel = attach(device, &servers);

	close(servers);
	for (i = 0; i < ROUNDS; i++) {
		req.op = EMU_OP_STATUS;
		emu_sock_send_now(control, &req, sizeof(req), NULL, 0);
		req.op = EMU_OP_IOCTL;
		emu_sock_send_now(channel, &req, sizeof(req), NULL, 0);
		if (i % 256 == 0)
			usleep(1000);
	}
	assert_serves();
	close(control);
	close(channel);
	close(device);
	assert_serves();
}

/* Descriptors may arrive with an empty packet: the server must close them. */
static void descriptors_without_a_packet_are_closed(void **state)
{
	int device = connect_to("dpu/uverbs0"), servers, channel = attach(device, &servers), i;
	int other = connect_to("dpu/uverbs0");
	long now, before = footprint_descriptors(emulator.server);

	close(servers);
	for (i = 0; i < ROUNDS / 10; i++)
		emu_sock_send(other, "", 0, &channel, 1);
	emu_sock_send(channel, "", 0, &other, 1);
	assert_serves();
	for (i = 0; i < FIXTURE_TIMEOUT_MS && footprint_descriptors(emulator.server) > before; i++)
		usleep(1000);
	now = footprint_descriptors(emulator.server);
	assert_true(now > 0 && now <= before);
	close(channel);
	close(other);
	close(device);
}

#define INNER(function) cmocka_unit_test_setup_teardown(function, start_inner, stop_inner)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		INNER(modes_allow_only_the_owner),
		cmocka_unit_test(open_directory_is_refused),
		cmocka_unit_test(symbolic_link_is_refused),
		cmocka_unit_test(start_on_a_file_is_refused),
		cmocka_unit_test(directory_of_another_is_refused),
		INNER(another_user_is_turned_away),
		cmocka_unit_test(server_of_another_is_not_used),
		INNER(random_packets_do_not_stop_the_server),
		INNER(random_packets_on_a_channel_do_not_stop_the_server),
		INNER(a_kept_end_of_a_channel_does_not_stop_the_server),
		INNER(a_client_that_reads_nothing_does_not_stop_the_server),
		INNER(descriptors_without_a_packet_are_closed),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
