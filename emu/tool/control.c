/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Requests to the server's control socket: stop, trace. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/json.h"
#include "emu/ipc/access.h"
#include "emu/ipc/sock.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define ANSWER_TIMEOUT_MS 2000
#define KILL_MS		  3000 /* more */

int tool_connect(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	const char *why;
	int fd, err;

	err = emu_access_check_dir(dir, false, &why);
	if (err) {
		if (err != -ENOENT)
			emu_log("refusing to use %s: %s", dir, why);
		return err;
	}
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
	if (!emu_access_check_peer(fd)) {
		emu_log("refusing to use %s: the server belongs to another user", dir);
		close(fd);
		return -EPERM;
	}
	return fd;
}

void tool_fail(const struct options *o, int err, const char *what, const char *why)
{
	char text[PATH_MAX + 128];

	snprintf(text, sizeof(text), "%s %s%s%s", what, o->dir, why ? ": " : "", why ? why : "");
	emu_log("%s", text);
	if (o->json)
		cli_json_error(stdout, strerrorname_np(-err), text, 1);
}

int tool_connect_running(const struct options *o)
{
	int fd = tool_connect(o->dir);

	if (fd < 0)
		tool_fail(o, fd, "no emulator is running in", strerror(-fd));
	return fd;
}

static int receive_reply(int fd, struct emu_reply *rep)
{
	unsigned int nfds;
	ssize_t n;

	n = emu_sock_recv(fd, rep, sizeof(*rep), NULL, 0, &nfds, NULL);
	if (n == -EAGAIN)
		return -EAGAIN;
	if (emu_sock_is_of_other_build(rep, n))
		return -EPROTONOSUPPORT;
	return n == sizeof(*rep) && rep->magic == EMU_MAGIC ? -rep->error : -EPROTO;
}

int tool_exchange(int fd, const void *req, size_t len, struct emu_reply *rep)
{
	int err = emu_sock_send(fd, req, len, NULL, 0);

	return err ? -err : receive_reply(fd, rep);
}

int tool_ask(int fd, uint32_t op, uint64_t arg, struct emu_reply *rep)
{
	struct emu_request req = {.magic = EMU_MAGIC, .op = op, .arg = {arg}};

	return tool_exchange(fd, &req, sizeof(req), rep);
}

static char *read_file(int fd)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return NULL;
	n = pread(fd, text, (size_t)st.st_size, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

char *tool_receive_text(int fd)
{
	int file = -1;
	unsigned int nfds = 0;
	char *text, byte;

	if (emu_sock_recv(fd, &byte, sizeof(byte), &file, 1, &nfds, NULL) < 1 || nfds != 1)
		return NULL;
	text = read_file(file);
	close(file);
	return text;
}

/* Copy received text to stdout until the connection ends. */
static int copy_text(int fd)
{
	static char text[EMU_STATUS_MAX];
	unsigned int nfds;
	ssize_t n;

	do {
		n = emu_sock_recv(fd, text, sizeof(text), NULL, 0, &nfds, NULL);
		if (n > 0 && fwrite(text, 1, (size_t)n, stdout) != (size_t)n)
			return 1;
		if (fflush(stdout))
			return 1;
	} while (n > 0);
	return n < 0;
}

/* A server that is ending hangs up or does not answer. */
const char *tool_error(int err)
{
	if (err == -EPROTO || err == -EBUSY)
		return "the running emulator is ending; repeat the command";
	if (err == -EPROTONOSUPPORT)
		return "the running emulator is of another build of dpumap-emu; stop it by the "
		       "dpumap-emu that started it, or end its process ('dpumap-emu list' shows "
		       "the number), and start it again";
	if (err == -ECHILD)
		return "its process ended early";
	return strerror(-err);
}

static pid_t peer_of(int fd)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
}

static bool answers(int fd, int ms)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	return poll(&answer, 1, ms) != 0;
}

/* An emulator that hangs, for example in a debugger, is waited for, but to be stopped it is killed. */
static int await_reply(int fd, uint32_t op, struct emu_reply *rep)
{
	pid_t server = peer_of(fd);

	if (!answers(fd, ANSWER_TIMEOUT_MS))
		emu_log("waiting for the emulator, process %d, which does not answer%s",
			(int)server,
			op == EMU_OP_STOP ? "" : "; 'dpumap-emu stop' ends one that hangs");
	if (op == EMU_OP_STOP && !answers(fd, KILL_MS)) {
		emu_log("killing process %d, which still does not answer", (int)server);
		if (kill(server, SIGKILL))
			return -errno;
		return 0;
	}
	return receive_reply(fd, rep);
}

int tool_request(const struct options *o, const struct emu_request *req, size_t len)
{
	struct emu_reply rep;
	int fd, err;

	fd = tool_connect_running(o);
	if (fd < 0)
		return fd;
	err = -emu_sock_send(fd, req, len, NULL, 0);
	if (!err)
		err = await_reply(fd, req->op, &rep);
	if (!err)
		return fd;
	tool_fail(o, err, "cannot ask the emulator in", tool_error(err));
	close(fd);
	return err;
}

/* When the connection ends, so has the emulator. */
int tool_stop(struct options *o)
{
	const struct emu_request req = {EMU_MAGIC, EMU_OP_STOP, {0}};
	int fd = tool_request(o, &req, sizeof(req));

	if (fd < 0)
		return 1;
	copy_text(fd);
	return 0;
}

int tool_trace(struct options *o)
{
	struct emu_trace_request req = {
		.req = {EMU_MAGIC, EMU_OP_TRACE, {0}},
		.flags = o->trace_flags,
	};
	int fd;

	snprintf(req.role, sizeof(req.role), "%s", o->role ? o->role : "");
	fd = tool_request(o, &req.req, sizeof(req));
	if (fd < 0 || (o->role && !tool_has_function(o->dir, o->role)))
		return 1;
	return copy_text(fd);
}
