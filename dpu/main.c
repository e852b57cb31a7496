/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd: the DPU's agent. Owns memory, exports it and hands out the descriptors. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "exports.h"
#include "options.h"
#include "say.h"
#include "server.h"

/* libc looks for it: the hidden visibility of everything else would keep it from being found. */
__attribute__((visibility("default"))) const char *argp_program_version = "dpumapd " DPUMAP_VERSION;

static int stop_fd = -1;

/* An event, not a flag: a flag set just before epoll_wait() would be noticed late. */
static void on_signal(int number)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t n = write(stop_fd, &one, sizeof(one));

	(void)number;
	(void)n;
	errno = saved;
}

static doca_error_t catch_signals(struct dpumap_fault *fault)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction hangup;

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return dpumap_fault_errno(fault, errno, "cannot prepare for signals");
	sigemptyset(&action.sa_mask);
	/* Whoever reads the log may go away before us. */
	signal(SIGPIPE, SIG_IGN);
	/* Under nohup a hangup stays without effect. */
	if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0 ||
	    sigaction(SIGHUP, NULL, &hangup) != 0 ||
	    (hangup.sa_handler != SIG_IGN && sigaction(SIGHUP, &action, NULL) != 0))
		return dpumap_fault_errno(fault, errno, "cannot prepare for signals");
	return DOCA_SUCCESS;
}

static doca_error_t tell_ready(const struct options *options, struct dpumap_fault *fault)
{
	char line[sizeof(options->listen) + 64];
	int fd = options->ready_fd >= 0 ? options->ready_fd : STDOUT_FILENO;
	int len = snprintf(line, sizeof(line), "dpumapd: ready on %s\n", options->listen);

	if (write(fd, line, (size_t)len) != len)
		return dpumap_fault_errno(fault, errno, "cannot say that the exports are ready");
	if (options->ready_fd >= 0)
		close(options->ready_fd);
	return DOCA_SUCCESS;
}

static doca_error_t serve(const struct options *options, struct dpumap_listener *listener,
			  struct exports *exports, struct dpumap_fault *fault)
{
	struct server *server;
	doca_error_t result;

	result = server_create(options, listener, stop_fd, exports, &server, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = tell_ready(options, fault);
	if (result == DOCA_SUCCESS)
		result = server_run(server, fault);
	server_destroy(server);
	return result;
}

/* The socket before the device: a busy one is found before anything is allocated. */
static doca_error_t run(const struct options *options, struct dpumap_fault *fault)
{
	struct dpumap_listener *listener;
	struct exports *exports;
	doca_error_t result;

	result = dpumap_listener_create(options->listen, options->num_uids > 0, &listener, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = exports_create(options, &exports, fault);
	if (result != DOCA_SUCCESS)
		goto destroy_listener;
	result = serve(options, listener, exports, fault);
	exports_destroy(exports);
destroy_listener:
	dpumap_listener_destroy(listener);
	return result;
}

int main(int argc, char **argv)
{
	struct dpumap_fault fault = {0};
	struct options options;
	doca_error_t result;

	options_parse(argc, argv, &options);
	result = catch_signals(&fault);
	if (result == DOCA_SUCCESS)
		result = run(&options, &fault);
	if (result == DOCA_SUCCESS)
		say("stopped");
	else
		say("%s", fault.text);
	options_free(&options);
	return (int)dpumap_fault_exit(result);
}
