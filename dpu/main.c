/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd: the DPU's agent. Owns memory, exports it and serves the descriptors. */
#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "daemon.h"
#include "doctor.h"
#include "log.h"
#include "options.h"

/* argp looks for this symbol, so it must be visible. */
__attribute__((visibility("default"))) const char *argp_program_version = "dpumapd " DPUMAP_VERSION;

static void on_signal(int number)
{
	if (number == SIGHUP)
		daemon_ask_reload();
	else
		daemon_stop();
}

/* Without a configuration there is nothing to reload: a hangup ends the process. */
static void on_hangup(int number)
{
	(void)number;
	daemon_stop();
}

static doca_error_t install_signal_handlers(bool has_file, struct dpumap_fault *fault)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction hangup = {.sa_handler = has_file ? on_signal : on_hangup,
				   .sa_flags = SA_RESTART};
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	sigemptyset(&hangup.sa_mask);
	/* The reader of the log may exit first. */
	signal(SIGPIPE, SIG_IGN);
	/* Under nohup, SIGHUP stays ignored. */
	if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0 ||
	    sigaction(SIGHUP, NULL, &before) != 0 ||
	    ((has_file || before.sa_handler != SIG_IGN) && sigaction(SIGHUP, &hangup, NULL) != 0))
		return dpumap_fault_errno(fault, errno, "cannot set up signal handling");
	return DOCA_SUCCESS;
}

static doca_error_t write_ready_line(const struct options *options, const struct daemon *daemon,
				     struct dpumap_fault *fault)
{
	int fd = options->ready_fd >= 0 ? options->ready_fd : STDOUT_FILENO;

	if (dprintf(fd, "dpumapd: ready on %s\n", daemon_address(daemon)) < 0)
		return dpumap_fault_errno(fault, errno, "cannot write the ready line");
	if (options->ready_fd >= 0)
		close(options->ready_fd);
	return DOCA_SUCCESS;
}

static doca_error_t serve(const struct options *options, struct dpumap_fault *fault)
{
	struct daemon *daemon;
	doca_error_t result;

	/*
	 * Buffers of connections must be mapped, so that pages which no frame needs cost nothing.
	 * Without a fixed threshold, libc takes them from its heap after the first one was freed.
	 */
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	result = install_signal_handlers(options->file, fault);
	if (result == DOCA_SUCCESS)
		result = daemon_create(options, &daemon, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = write_ready_line(options, daemon, fault);
	if (result == DOCA_SUCCESS)
		result = daemon_run(daemon, fault);
	daemon_destroy(daemon);
	if (result == DOCA_SUCCESS)
		log_line("stopped");
	return result;
}

static doca_error_t check(const struct options *options, struct dpumap_fault *fault)
{
	struct settings settings;
	doca_error_t result = options_settings(options, &settings, fault);

	if (result == DOCA_SUCCESS)
		settings_free(&settings);
	return result;
}

int main(int argc, char **argv)
{
	struct dpumap_fault fault = {0};
	struct options options;
	doca_error_t result;

	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return ctl_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "doctor") == 0)
		return doctor_main(argc - 1, argv + 1);
	options_parse(argc, argv, &options);
	result = options.check_only ? check(&options, &fault) : serve(&options, &fault);
	if (result != DOCA_SUCCESS)
		log_line("%s", fault.text);
	options_free(&options);
	return (int)dpumap_fault_exit(result);
}
