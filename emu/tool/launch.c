/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starting servers, and programs on them: start, run, serve. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/access.h"
#include "emu/ipc/program.h"
#include "emu/pci/serve.h"
#include "emu/server/base/log.h"
#include "emu/server/serve.h"
#include "emu/tool/tool.h"

#define SHIM	      "libdpumap-emu.so"
#define CONNECT_TRIES 500 /* of 10 ms each: another process may be starting a server */
#define ENV_PROGRAM   "DPUMAP_EMU"

/* A daemon must not keep the caller's descriptors open, such as the other end of `hold'. */
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
 * The server is this program again, so ps shows its own name and nothing is preloaded. It has its own
 * session: Ctrl-C, which is meant for the command, does not reach it.
 */
static void exec_server(const struct options *o, int ready, int hold)
{
	char ready_text[16], hold_text[16], node[EMU_MAX_NODES][EMU_NODE_TEXT];
	const char *argv[9 + 2 * EMU_MAX_NODES + 2 * EMU_MAX_GID_LINES + 2 * EMU_MAX_ENDPOINTS] = {
		"dpumap-emu", "serve",	  "--dir",     o->dir,
		"--ready-fd", ready_text, "--hold-fd", hold_text};
	unsigned int i, n = 8;

	snprintf(ready_text, sizeof(ready_text), "%d", ready);
	snprintf(hold_text, sizeof(hold_text), "%d", hold);
	for (i = 0; i < o->topology.nnodes; i++) {
		emu_node_format(&o->topology.node[i], node[i]);
		argv[n++] = "--node";
		argv[n++] = node[i];
	}
	for (i = 0; i < o->topology.ngids; i++) {
		argv[n++] = "--gid";
		argv[n++] = o->topology.gid[i];
	}
	for (i = 0; i < o->topology.nwires; i++) {
		argv[n++] = "--wire";
		argv[n++] = o->topology.wire[i];
	}
	close_all_but(ready, hold);
	fcntl(ready, F_SETFD, 0);
	if (hold >= 0)
		fcntl(hold, F_SETFD, 0);
	unsetenv("LD_PRELOAD");
	setsid();
	execv("/proc/self/exe", (char *const *)argv);
	_exit(EXIT_EMU);
}

/* The server is executed by this name, and reaches the files of its clients by others there. */
static bool has_proc(void)
{
	if (!access("/proc/self/exe", F_OK))
		return true;
	emu_log("cannot read /proc/self/exe: %s; the emulator needs /proc", strerror(errno));
	return false;
}

/* Fork twice: the command that is executed next must not inherit a zombie. */
static int spawn_server(const struct options *o, int hold)
{
	int ready[2], status, result;
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
		n = read(ready[0], &result, sizeof(result));
	while (n < 0 && errno == EINTR);
	close(ready[0]);
	return n == sizeof(result) ? -result : -ECHILD;
}

static int hold_running(const char *dir)
{
	int fd = tool_connect(dir), err;
	struct emu_reply rep;

	if (fd < 0)
		return fd;
	err = tool_ask(fd, EMU_OP_HOLD, 0, &rep);
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

/* Does the error exclude that starting a server helps? */
static bool refused(int err)
{
	return err == -ENAMETOOLONG || err == -EACCES || err == -EPERM || err == -ELOOP ||
	       err == -ENOTDIR || err == -EPROTONOSUPPORT;
}

/* Return a connection that keeps the emulator alive; start one if none is running. */
static int hold(const struct options *o)
{
	int i, fd = -EAGAIN;

	for (i = 0; i < CONNECT_TRIES; i++) {
		fd = hold_running(o->dir);
		if (fd >= 0 || refused(fd))
			return fd;
		fd = start_held(o);
		if (fd >= 0)
			tool_report_others(o);
		if (fd != -EBUSY)
			return fd;
		usleep(10000);
	}
	return fd;
}

/* Messages of a failure to start, whichever process has noticed it. */
static int cannot(const struct options *o, const char *what, int err)
{
	bool suggest_directory = err == -EROFS || err == -EACCES || err == -ENOENT;
	const char *why;

	if (refused(err) && emu_access_check_dir(o->dir, true, &why) == err)
		emu_log("cannot %s an emulator in %s: %s; %s", what, o->dir, why,
			err == -EACCES
				? "use chmod 700, or name a directory that does not exist yet"
				: "name a directory that does not exist yet (--dir, "
				  "DPUMAP_EMU_DIR)");
	else
		emu_log("cannot %s an emulator in %s: %s%s", what, o->dir, tool_error(err),
			suggest_directory ? "; choose a directory that can be written: --dir, "
					    "DPUMAP_EMU_DIR, or podman, docker: --tmpfs /tmp"
					  : "");
	return EXIT_EMU;
}

/* --- run -------------------------------------------------------------------------------------- */

/* The loader would look for the parts of such a path, warn, and run the command without the emulator. */
static int check_shim_path(const char *path)
{
	if (!strpbrk(path, " :"))
		return 0;
	emu_log("cannot preload %s: LD_PRELOAD does not support a path with a space or a colon; "
		"install dpumap in another directory",
		path);
	return -EINVAL;
}

/* Find the interposing library relative to this program, in the build tree or installed. */
static int find_shim(char path[static PATH_MAX])
{
	static const char *const directories[] = {"../lib/" SHIM, "../" DPUMAP_LIBDIR "/" SHIM};
	char exe[PATH_MAX], candidate[2 * PATH_MAX];
	ssize_t n;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n < 0)
		return -errno;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s", exe, directories[i]);
		if (realpath(candidate, path))
			return check_shim_path(path);
	}
	emu_log("cannot find " SHIM " below the directory of dpumap-emu; reinstall it");
	return -ENOENT;
}

/* Behind the user's own libraries: some of them must be the first. */
static int preload(const char *shim)
{
	const char *old = getenv("LD_PRELOAD");
	char *value;
	int err;

	if (old && strstr(old, shim))
		return 0;
	if (asprintf(&value, "%s%s%s", old ? old : "", old && *old ? ":" : "", shim) < 0)
		return -ENOMEM;
	err = setenv("LD_PRELOAD", value, 1) ? -errno : 0;
	free(value);
	return err;
}

static int set_environment(const struct options *o, const char *shim)
{
	char program[PATH_MAX], sysfs[PATH_MAX + 64], pci[PATH_MAX + 96];

	if (!realpath("/proc/self/exe", program))
		return -errno;
	snprintf(sysfs, sizeof(sysfs), "%s/%s/sysfs", o->dir, o->role);
	if (!tool_has_function(o->dir, o->role))
		return -ENOENT;
	snprintf(pci, sizeof(pci), "%s/bus/pci/devices", sysfs); /* for DPDK */
	if (setenv(EMU_ENV_DIR, o->dir, 1) || setenv(EMU_ENV_ROLE, o->role, 1) ||
	    setenv("SYSFS_PATH", sysfs, 1) || setenv("SYSFS_PCI_DEVICES", pci, 1) ||
	    setenv(ENV_PROGRAM, program, 1) || (o->cpus && setenv(EMU_ENV_CPUS, o->cpus, 1)))
		return -errno;
	return preload(shim);
}

/* The command and all processes that it starts inherit the connection. */
int tool_run(struct options *o)
{
	char **argv = o->argv, shim[PATH_MAX], program[PATH_MAX];
	int fd, err;

	if (!has_proc() || find_shim(shim))
		return EXIT_EMU;
	fd = hold(o);
	if (fd < 0)
		return cannot(o, "use or start", fd);
	if (set_environment(o, shim))
		return EXIT_EMU;
	emu_program_warn(emu_program_find(argv[0], program));
	execvp(argv[0], argv);
	err = errno;
	emu_log("cannot execute %s: %s", argv[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* --- pci -------------------------------------------------------------------------------------- */

/* It is this program again, with the emulated device preloaded. */
int tool_pci(struct options *o)
{
	static char self[] = "/proc/self/exe", offer[] = "offer", option[] = "--socket";
	static char *argv[] = {self, offer, option, NULL, NULL};

	argv[3] = (char *)(uintptr_t)o->socket;
	o->argv = argv;
	return tool_run(o);
}

int tool_offer(struct options *o)
{
	return emu_pci_serve(o->socket);
}

/* --- serve: the internal command that spawn_server() executes --------------------------------- */

static int open_null(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		emu_log("cannot open /dev/null: %s; the emulator needs it", strerror(errno));
	return null;
}

/* The GIDs and addresses of the topology are valid. */
static int serve(const struct options *o, int null)
{
	static struct emu_port_request gids[EMU_MAX_GID_LINES], wires[EMU_MAX_ENDPOINTS];
	const struct emu_topology_spec *t = &o->topology;
	struct emu_server_options opt = {
		.dir = o->dir,
		.topology = t,
		.gids = gids,
		.ngids = t->ngids,
		.wires = wires,
		.nwires = t->nwires,
		.ready_fd = o->ready_fd,
		.hold_fd = o->hold_fd,
		.foreground = o->foreground,
	};

	for (unsigned int i = 0; i < t->ngids; i++)
		tool_port_parse_gid(t->gid[i], &gids[i]);
	for (unsigned int i = 0; i < t->nwires; i++)
		tool_port_parse_wire(t->wire[i], &wires[i]);
	if (opt.ready_fd < 0 || chdir("/"))
		return EXIT_USAGE;
	fcntl(opt.ready_fd, F_SETFD, FD_CLOEXEC);
	fcntl(opt.hold_fd, F_SETFD, FD_CLOEXEC);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	return emu_serve(&opt);
}

int tool_serve(struct options *o)
{
	int null = open_null();

	if (null < 0)
		return EXIT_EMU;
	for (unsigned int i = 0; i < o->ngids; i++)
		emu_topology_add_gid(&o->topology, o->gid[i]);
	for (unsigned int i = 0; i < o->nwires; i++)
		emu_topology_add_wire(&o->topology, o->wire[i]);
	return serve(o, null);
}

/* 0 if an emulator is running, or a negative errno. */
static int ping(const char *dir)
{
	struct emu_reply rep;
	int fd = tool_connect(dir), err;

	if (fd < 0)
		return fd;
	err = tool_ask(fd, EMU_OP_PING, 0, &rep);
	close(fd);
	return err;
}

/* As the first process of a container it also inherits processes that must not stay zombies. */
static int start_in_foreground(struct options *o)
{
	int ready[2], null = open_null(), result = 0, status;

	if (null < 0)
		return EXIT_EMU;
	if (pipe2(ready, O_CLOEXEC | O_NONBLOCK))
		return cannot(o, "start", -errno);
	signal(SIGCHLD, SIG_IGN);
	o->ready_fd = ready[1];
	status = serve(o, null);
	/* After a success, everything is closed. */
	if (read(ready[0], &result, sizeof(result)) == sizeof(result) && result)
		return cannot(o, "start", -result);
	return status;
}

int tool_start(struct options *o)
{
	int i, err = -EBUSY;

	if (!has_proc())
		return EXIT_EMU;
	/* A server that is ending still holds the directory, but does not answer. */
	for (i = 0; i < CONNECT_TRIES && err == -EBUSY; i++) {
		err = ping(o->dir);
		if (!err) {
			emu_log("an emulator is already running in %s", o->dir);
			return 1;
		}
		if (err == -EPROTONOSUPPORT)
			break;
		if (o->foreground)
			return start_in_foreground(o);
		err = spawn_server(o, -1);
		if (err == -EBUSY)
			usleep(10000);
	}
	if (err)
		return cannot(o, "start", err);
	tool_report_others(o);
	return 0;
}
