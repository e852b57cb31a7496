/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/pci/session.h"
#include "emu/server/base/log.h"

enum { LISTENER, EVENTS, SIGNALS, PEER, NFDS };

static struct emu_function function;

static int refuse_path(const char *path, const char *why)
{
	emu_log("cannot listen on %s: %s", path, why);
	return -1;
}

/* A socket that a killed process has left behind is replaced; one that is served is not, nor any other file. */
static bool is_stale(const struct sockaddr_un *sa)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(sa->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) && errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int listen_on(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(sa.sun_path))
		return refuse_path(path, "the path is too long for a socket");
	strcpy(sa.sun_path, path); // NOLINT(clang-analyzer-security.insecureAPI.strcpy)
	if (is_stale(&sa))
		unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return refuse_path(path, strerror(errno));
	if (!bind(fd, (struct sockaddr *)&sa, sizeof(sa)) && !listen(fd, SOMAXCONN))
		return fd;
	refuse_path(path, errno == EADDRINUSE ? "the file exists; name another path, or end the "
						"program that serves it"
					      : strerror(errno));
	close(fd);
	return -1;
}

static void end_session(struct emu_session *session)
{
	emu_session_end(session);
	emu_function_leave(&function);
}

/* It may have ended with messages that were not read yet. */
static bool has_gone(const struct emu_session *session)
{
	struct pollfd peer = {.fd = session->fd, .events = POLLRDHUP};

	return poll(&peer, 1, 0) == 1;
}

/*
 * A second virtual machine is told at once. False: there is no descriptor for it, as the first one has passed so many;
 * they are free when it ends.
 */
static bool accept_peer(int listener, struct emu_session *session)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		emu_log("cannot accept a virtual machine: %s", strerror(errno));
		return false;
	}
	if (session->fd >= 0 && has_gone(session))
		end_session(session);
	if (session->fd >= 0) {
		emu_log("a second virtual machine wants the function that another one uses; it is "
			"refused");
		close(fd);
		return true;
	}
	*session = (struct emu_session){.fd = fd, .function = &function, .message.out_fd = -1};
	return true;
}

static int serve(int listener, int signals)
{
	struct emu_session session = {.fd = -1};
	struct pollfd fds[NFDS] = {
		[LISTENER] = {.fd = listener, .events = POLLIN},
		[EVENTS] = {.fd = function.firmware.events, .events = POLLIN},
		[SIGNALS] = {.fd = signals, .events = POLLIN},
	};

	for (;;) {
		fds[PEER] = (struct pollfd){.fd = session.fd, .events = POLLIN};
		if (poll(fds, NFDS, -1) < 0)
			continue;
		if (fds[EVENTS].revents && !emu_function_events(&function)) {
			emu_log("the emulator has ended; the function is gone");
			return 1;
		}
		if (fds[SIGNALS].revents)
			return 0;
		if (fds[PEER].revents && emu_session_serve(&session)) {
			end_session(&session);
			fds[LISTENER].fd = listener;
		}
		if (fds[LISTENER].revents && !accept_peer(listener, &session))
			fds[LISTENER].fd = session.fd < 0 ? listener : -1;
	}
}

/* SIGINT and SIGTERM end the function: its socket must not outlive it. Threads that are started later block them. */
static int take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int emu_pci_serve(const char *path)
{
	const int signals = take_signals();
	int listener, status;

	signal(SIGPIPE, SIG_IGN);
	if (signals < 0) {
		emu_log("cannot receive signals: %s", strerror(errno));
		return 1;
	}
	if (emu_function_open(&function))
		return 1;
	listener = listen_on(path);
	if (listener < 0)
		return 1;
	if (printf("%s\n", path) < 0 || fflush(stdout)) {
		emu_log("cannot print that a virtual machine may connect: %s", strerror(errno));
		status = 1;
	} else {
		status = serve(listener, signals);
	}
	unlink(path);
	return status;
}
