/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap-emu: run programs on an emulated BlueField. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/sock.h"
#include "fail.h"

#define DEFAULT_PROFILE	    "bluefield-3"
#define SHIM		    "libdpumap-emu.so"
#define EXIT_USAGE	    2
#define EXIT_EMU	    125 /* as env(1) and timeout(1): the tool itself failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127
#define CONNECT_TRIES	    500 /* of 10 ms: another starter may be at work */

struct options {
	char dir[PATH_MAX];
	const char *role;
	const char *profile;
	unsigned int cards;
	int ready_fd, hold_fd;
	struct emu_fail_request fail;
	bool clear;
};

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: dpumap-emu run --as FUNCTION [OPTION]... [--] COMMAND [ARG]...\n"
		"       dpumap-emu start [OPTION]...\n"
		"       dpumap-emu status|stop [--dir DIR]\n"
		"       dpumap-emu fail [--dir DIR] [--as FUNCTION] [--method PATTERN] [--nth N]\n"
		"                       [--count M] [--errno NAME]\n"
		"       dpumap-emu fail [--dir DIR] --clear\n"
		"\n"
		"Runs unmodified RDMA programs on an emulated BlueField, below libibverbs and "
		"libmlx5.\n"
		"\n"
		"  run      run COMMAND as if it were on the DPU or on its host; uses the emulator "
		"of DIR,\n"
		"           or starts one that ends with the last command that uses it\n"
		"  start    start an emulator that stays until it is stopped\n"
		"  status   print the emulated device's live objects, one `name count' a line\n"
		"  stop     end it; programs that still use it see a dead device\n"
		"  fail     let commands to the device fail, from the Nth that matches on\n"
		"\n"
		"  --as FUNCTION     dpu (the DPU's function; dpu1, ... of further cards) or host\n"
		"                    (the host's functions of all cards: mlx5_0, mlx5_1, ...)\n"
		"  --dir DIR         where the emulator lives (default: $" EMU_ENV_DIR ", else a\n"
		"                    directory of yours below $XDG_RUNTIME_DIR or /tmp)\n"
		"  --profile NAME    the device to play (default: " DEFAULT_PROFILE "): ");
	emu_profile_names(out);
	fprintf(out,
		"\n"
		"  --cards N         number of cards, 1 to %d (default: 1)\n"
		"  --method PATTERN  which commands fail, as a shell pattern for the names below: "
		"*,\n"
		"                    *.create, !(*.destroy), ... (default: *)\n"
		"  --nth N           the first to fail, counted from now (default: 1, the next)\n"
		"  --count M         how many fail, then the device is well again (default: 1)\n"
		"  --errno NAME      what they fail with, before they are executed (default: "
		"ENOMEM)\n"
		"  --clear           nothing fails any more; prints how many commands matched and "
		"how "
		"many\n"
		"                    of them failed since the rule was made\n"
		"  --help, --version\n"
		"\n"
		"run ends with COMMAND's status, or %d if the emulator could not be had, %d or %d "
		"if COMMAND\n"
		"could not be executed. --profile and --cards count only where an emulator is "
		"started.\n",
		EMU_MAX_CARDS, EXIT_EMU, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND);
	fprintf(out, "\nThe commands that can fail:\n");
	emu_fail_names(out);
}

static void default_dir(char *dir, size_t len)
{
	const char *env = getenv(EMU_ENV_DIR), *base = getenv("XDG_RUNTIME_DIR");

	if (env && *env)
		snprintf(dir, len, "%s", env);
	else
		snprintf(dir, len, "%s/dpumap-emu-%u", base && *base ? base : "/tmp",
			 (unsigned int)getuid());
}

/* --- the emulator of a directory -----------------------------------------------------------------
 */

static int connect_control(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd, err;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/control", dir) > EMU_PATH_MAX)
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int exchange(int fd, const void *req, size_t len, struct emu_reply *rep)
{
	unsigned int nfds;
	ssize_t n;
	int err;

	err = emu_sock_send(fd, req, len, NULL, 0);
	if (err)
		return -err;
	n = emu_sock_recv(fd, rep, sizeof(*rep), NULL, 0, &nfds, NULL);
	return n == sizeof(*rep) && rep->magic == EMU_MAGIC ? -rep->error : -EPROTO;
}

static int ask(int fd, uint32_t op)
{
	struct emu_request req = {.magic = EMU_MAGIC, .op = op};
	struct emu_reply rep;

	return exchange(fd, &req, sizeof(req), &rep);
}

/* Nothing of the caller's may stay open in a daemon: not the other end of `hold', not a pipe of a
 * test. */
static void close_all_but(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b), high = (unsigned int)(a < b ? b : a);

	if (b < 0)
		low = high = (unsigned int)a;
	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

/*
 * The server is this program again, so that it carries its own name in ps and nothing preloaded. It
 * is a daemon of its own session: a Ctrl-C meant for the command spares it.
 */
static void exec_server(const struct options *o, int ready, int hold)
{
	char cards[16], ready_text[16], hold_text[16];

	snprintf(cards, sizeof(cards), "%u", o->cards);
	snprintf(ready_text, sizeof(ready_text), "%d", ready);
	snprintf(hold_text, sizeof(hold_text), "%d", hold);
	close_all_but(ready, hold);
	fcntl(ready, F_SETFD, 0);
	if (hold >= 0)
		fcntl(hold, F_SETFD, 0);
	unsetenv("LD_PRELOAD");
	setsid();
	execl("/proc/self/exe", "dpumap-emu", "serve", "--dir", o->dir, "--profile", o->profile,
	      "--cards", cards, "--ready-fd", ready_text, "--hold-fd", hold_text, (char *)NULL);
	_exit(EXIT_EMU);
}

/* Fork a server; twice, so that no zombie of it stays with a command that execs next. */
static int spawn_server(const struct options *o, int hold)
{
	int ready[2], status, said;
	ssize_t n;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		pid = fork();
		if (!pid)
			exec_server(o, ready[1], hold);
		_exit(pid < 0);
	}
	close(ready[1]);
	waitpid(pid, &status, 0);
	do
		n = read(ready[0], &said, sizeof(said));
	while (n < 0 && errno == EINTR);
	close(ready[0]);
	return n == sizeof(said) ? -said : -ECHILD;
}

static int hold_running(const char *dir)
{
	int fd = connect_control(dir), err;

	if (fd < 0)
		return fd;
	err = ask(fd, EMU_OP_HOLD);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int start_held(const struct options *o)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -errno;
	fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	err = spawn_server(o, pair[1]);
	close(pair[1]);
	if (!err) {
		fcntl(pair[0], F_SETFD, 0);
		return pair[0];
	}
	close(pair[0]);
	return err;
}

/* A connection that keeps the emulator of a directory alive, starting one if there is none. */
static int hold(const struct options *o)
{
	int i, fd = -EAGAIN;

	for (i = 0; i < CONNECT_TRIES; i++) {
		fd = hold_running(o->dir);
		if (fd >= 0 || fd == -ENAMETOOLONG || fd == -EACCES)
			return fd;
		fd = start_held(o);
		if (fd != -EBUSY)
			return fd;
		usleep(10000);
	}
	return fd;
}

/* --- run -----------------------------------------------------------------------------------------
 */

/* The interposing library, relative to this program: in the build tree or installed. */
static int find_shim(char path[static PATH_MAX])
{
	static const char *const places[] = {"../lib/" SHIM, "../" DPUMAP_LIBDIR "/" SHIM};
	char exe[PATH_MAX], candidate[2 * PATH_MAX];
	ssize_t n;
	size_t i;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s", exe, places[i]);
		if (realpath(candidate, path))
			return 0;
	}
	return -ENOENT;
}

static int preload(const char *shim)
{
	const char *old = getenv("LD_PRELOAD");
	char *value;
	int err;

	if (old && strstr(old, shim))
		return 0;
	if (asprintf(&value, "%s%s%s", shim, old && *old ? ":" : "", old ? old : "") < 0)
		return -ENOMEM;
	err = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return err;
}

static int set_environment(const struct options *o)
{
	char shim[PATH_MAX], sysfs[PATH_MAX + 64];
	int err;

	err = find_shim(shim);
	if (err) {
		emu_log("cannot find " SHIM " beside the program");
		return err;
	}
	snprintf(sysfs, sizeof(sysfs), "%s/%s/sysfs", o->dir, o->role);
	if (access(sysfs, F_OK)) {
		emu_log("the emulator in %s has no function '%s'", o->dir, o->role);
		return -ENOENT;
	}
	if (setenv(EMU_ENV_DIR, o->dir, 1) || setenv(EMU_ENV_ROLE, o->role, 1) ||
	    setenv("SYSFS_PATH", sysfs, 1))
		return -errno;
	return preload(shim);
}

/* The held connection is inherited by the command and everything that it starts. */
static int run(const struct options *o, char **argv)
{
	int fd, err;

	if (!o->role || !*argv) {
		fprintf(stderr, "dpumap-emu: run needs --as FUNCTION and a command; see --help\n");
		return EXIT_USAGE;
	}
	fd = hold(o);
	if (fd < 0) {
		emu_log("cannot use or start an emulator in %s: %s", o->dir, strerror(-fd));
		return EXIT_EMU;
	}
	if (set_environment(o))
		return EXIT_EMU;
	execvp(argv[0], argv);
	err = errno;
	emu_log("cannot execute %s: %s", argv[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* --- serve: what spawn_server() executes; not for people
 * -------------------------------------------- */

static int serve(const struct options *o)
{
	struct emu_server_options opt = {
		.dir = o->dir,
		.profile = o->profile,
		.cards = o->cards,
		.ready_fd = o->ready_fd,
		.hold_fd = o->hold_fd,
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (opt.ready_fd < 0 || null < 0 || chdir("/"))
		return EXIT_USAGE;
	fcntl(opt.ready_fd, F_SETFD, FD_CLOEXEC);
	fcntl(opt.hold_fd, F_SETFD, FD_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	return emu_serve(&opt);
}

/* --- start, status, stop, fail
 * -------------------------------------------------------------------------
 */

static int start(const struct options *o)
{
	int fd = connect_control(o->dir), err;

	if (fd >= 0) {
		emu_log("an emulator is already running in %s", o->dir);
		return 1;
	}
	err = spawn_server(o, -1);
	if (err) {
		emu_log("cannot start an emulator in %s: %s", o->dir, strerror(-err));
		return EXIT_EMU;
	}
	return 0;
}

static int connect_running(const char *dir)
{
	int fd = connect_control(dir);

	if (fd < 0)
		emu_log("no emulator in %s: %s", dir, strerror(-fd));
	return fd;
}

static int control(const struct options *o, uint32_t op)
{
	char text[EMU_STATUS_MAX + 1];
	unsigned int nfds;
	int fd, err;
	ssize_t n;

	fd = connect_running(o->dir);
	if (fd < 0)
		return 1;
	err = ask(fd, op);
	if (err) {
		emu_log("the emulator in %s gave no answer: %s", o->dir, strerror(-err));
		return 1;
	}
	/* The text, or for `stop' the end of the connection: the emulator is gone then. */
	n = emu_sock_recv(fd, text, sizeof(text) - 1, NULL, 0, &nfds, NULL);
	if (n > 0 && fwrite(text, 1, (size_t)n, stdout) != (size_t)n)
		return 1;
	return op == EMU_OP_STATUS && n <= 0;
}

static int fail(struct options *o)
{
	struct emu_reply rep = {0};
	int fd, err;

	fd = connect_running(o->dir);
	if (fd < 0)
		return 1;
	o->fail.req.magic = EMU_MAGIC;
	o->fail.req.op = EMU_OP_FAIL;
	if (o->clear)
		o->fail.nth = 0;
	if (o->role)
		snprintf(o->fail.role, sizeof(o->fail.role), "%s", o->role);
	err = exchange(fd, &o->fail, sizeof(o->fail), &rep);
	close(fd);
	if (err) {
		emu_log("the emulator in %s did not take the rule: %s", o->dir, strerror(-err));
		return 1;
	}
	if (o->clear)
		printf("seen %llu\nfailed %llu\n", (unsigned long long)rep.val[0],
		       (unsigned long long)rep.val[1]);
	return 0;
}

/* 0 if it is none: no errno, no number from 1 up. */
static uint32_t parse_errno(const char *name)
{
	int e;

	for (e = 1; e < 256; e++) {
		const char *known = strerrorname_np(e);

		if (known && !strcmp(known, name))
			return (uint32_t)e;
	}
	return 0;
}

static uint64_t parse_number(const char *text)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	return *end || *text < '0' || *text > '9' ? 0 : v;
}

/* False: it makes no sense. */
static bool parse_fail(int c, const char *arg, struct options *o)
{
	struct emu_fail_request *f = &o->fail;

	switch (c) {
	case 'm':
		snprintf(f->method, sizeof(f->method), "%s", arg);
		return strlen(arg) < sizeof(f->method) && emu_fail_matches_any(arg);
	case 'n':
		f->nth = parse_number(arg);
		return f->nth != 0;
	case 'C':
		f->count = parse_number(arg);
		return f->count != 0;
	case 'e':
		f->errnum = parse_errno(arg);
		return f->errnum != 0;
	default:
		o->clear = true;
		return true;
	}
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"as", required_argument, NULL, 'a'},
		{"dir", required_argument, NULL, 'd'},
		{"profile", required_argument, NULL, 'p'},
		{"cards", required_argument, NULL, 'c'},
		{"ready-fd", required_argument, NULL, 'r'},
		{"hold-fd", required_argument, NULL, 'H'},
		{"method", required_argument, NULL, 'm'},
		{"nth", required_argument, NULL, 'n'},
		{"count", required_argument, NULL, 'C'},
		{"errno", required_argument, NULL, 'e'},
		{"clear", no_argument, NULL, 'x'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "+hV", longs, NULL)) != -1) {
		switch (c) {
		case 'a':
			o->role = optarg;
			break;
		case 'd':
			snprintf(o->dir, sizeof(o->dir), "%s", optarg);
			break;
		case 'p':
			o->profile = optarg;
			break;
		case 'c':
			o->cards = (unsigned int)strtoul(optarg, &end, 10);
			if (*end)
				o->cards = 0;
			break;
		case 'r':
			o->ready_fd = (int)strtol(optarg, NULL, 10);
			break;
		case 'H':
			o->hold_fd = (int)strtol(optarg, NULL, 10);
			break;
		case 'm':
		case 'n':
		case 'C':
		case 'e':
		case 'x':
			if (parse_fail(c, optarg, o))
				break;
			fprintf(stderr,
				"dpumap-emu: no command, errno or number is '%s'; see --help\n",
				optarg);
			return EXIT_USAGE;
		case 'h':
			usage(stdout);
			exit(0);
		case 'V':
			puts("dpumap-emu " DPUMAP_VERSION);
			exit(0);
		default:
			return EXIT_USAGE;
		}
	}
	if (!emu_profile_exists(o->profile) || o->cards < 1 || o->cards > EMU_MAX_CARDS ||
	    (o->role && strchr(o->role, '/'))) {
		fprintf(stderr,
			"dpumap-emu: unknown profile, function or number of cards; see --help\n");
		return EXIT_USAGE;
	}
	return 0;
}

/* The directory's name ends up in socket addresses of processes with other working directories. */
static int make_absolute(struct options *o)
{
	char cwd[PATH_MAX], rel[PATH_MAX];

	if (o->dir[0] == '/')
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return -errno;
	snprintf(rel, sizeof(rel), "%s", o->dir);
	return snprintf(o->dir, sizeof(o->dir), "%s/%s", cwd, rel) >= (int)sizeof(o->dir)
		       ? -ENAMETOOLONG
		       : 0;
}

int main(int argc, char **argv)
{
	struct options o = {
		.profile = DEFAULT_PROFILE,
		.cards = 1,
		.ready_fd = -1,
		.hold_fd = -1,
		.fail = {.nth = 1, .count = 1, .errnum = ENOMEM, .method = "*"},
	};
	const char *verb = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
	int err;

	default_dir(o.dir, sizeof(o.dir));
	err = *verb ? parse(argc - 1, argv + 1, &o) : parse(argc, argv, &o);
	if (err)
		return err;
	if (make_absolute(&o))
		return EXIT_EMU;
	argv += optind + (*verb ? 1 : 0);
	if (!strcmp(verb, "run"))
		return run(&o, argv);
	if (*argv) {
		fprintf(stderr, "dpumap-emu: unexpected argument '%s'; see --help\n", *argv);
		return EXIT_USAGE;
	}
	if (!strcmp(verb, "serve"))
		return serve(&o);
	if (!strcmp(verb, "start"))
		return start(&o);
	if (!strcmp(verb, "status"))
		return control(&o, EMU_OP_STATUS);
	if (!strcmp(verb, "stop"))
		return control(&o, EMU_OP_STOP);
	if (!strcmp(verb, "fail"))
		return fail(&o);
	usage(stderr);
	return EXIT_USAGE;
}
