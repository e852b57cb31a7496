/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd: the DPU's agent. Owns memory, exports it and serves the descriptors. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/crypto_heap.h"
#include "dpu/base/log.h"
#include "dpu/base/privileges.h"
#include "dpu/commands/commands.h"
#include "dpu/commands/ctl.h"
#include "dpu/daemon/daemon.h"
#include "dpu/daemon/prepare.h"
#include "dpu/daemon/signals.h"
#include "dpu/settings/options.h"
#include "local/line.h"

static const struct command commands[] = {
	{{"ctl status", "", 0, 0, OPTION_CTL,
	  "Show the device and statistics. Show the device, the numbers of exports and clients, "
	  "and "
	  "counters.",
	  NULL},
	 ctl_main},
	{{"ctl list", "", 0, 0, OPTION_CTL,
	  "List the exports. Show the clients that may import each.", NULL},
	 ctl_main},
	{{"ctl sessions", "", 0, 0, OPTION_CTL, "List the connected clients.", NULL}, ctl_main},
	{{"ctl top", "", 0, 0, OPTION_CTL | OPTION_TOP,
	  "Show what clients do each second. The view is drawn again after each interval until q "
	  "or "
	  "Ctrl-C. If the output is not a terminal, each view follows the one before it; with "
	  "--json, each is an object in a line. The host's function does the copies over PCI, so "
	  "the counters of this device do not include them.",
	  NULL},
	 top_main},
	{{"ctl add", "EXPORT", 1, 1, OPTION_CTL,
	  "Add an export. It lasts until it is removed or dpumapd ends. EXPORT is as for dpumapd "
	  "--export; kind=dmabuf,fd=N is an open file descriptor of ctl.",
	  NULL},
	 ctl_main},
	{{"ctl remove", "NAME", 1, 1, OPTION_CTL,
	  "Remove an export. Its clients lose access at once.", NULL},
	 ctl_main},
	{{"ctl disconnect", "CLIENT", 1, 1, OPTION_CTL,
	  "Disconnect a client. CLIENT is cert:NAME, psk:NAME or uid:NUMBER; all its connections "
	  "end, and it may connect again.",
	  NULL},
	 ctl_main},
	{{"ctl rekey", "NAME", 1, 1, OPTION_CTL,
	  "Give an export a new key. Its clients lose access at once, and may import it again.",
	  NULL},
	 ctl_main},
	{{"ctl reload", "", 0, 0, OPTION_CTL,
	  "Read the configuration again. This does the same as SIGHUP, and reports errors.", NULL},
	 ctl_main},
	{{"doctor", "", 0, 0, OPTION_DOCTOR,
	  "Check this DPU, its device and dpumapd. Report what works, what does not work, and what "
	  "to do about it. The checks have no side effects. The default of --config "
	  "is " DOCTOR_FILE_DEFAULT " if it exists; the default of --device is the device of the "
	  "configuration. dpumap(1) lists the checks. The exit code is that of the first failed "
	  "check, or 0 if no check failed.",
	  NULL},
	 doctor_main},
	{{0}, NULL},
};

static void on_signal(int number)
{
	if (number == SIGHUP)
		signals_ask_reload();
	else
		signals_ask_stop();
}

/* Without a configuration there is nothing to reload: a hangup ends the process. */
static void on_hangup(int number)
{
	(void)number;
	signals_ask_stop();
}

static doca_error_t install_signal_handlers(bool has_file, struct dpumap_error *error)
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
		return dpumap_error_errno(error, errno, "cannot set up signal handling");
	return DOCA_SUCCESS;
}

/* Nobody needs to read standard output, and it may be closed. */
static doca_error_t write_ready_line(const struct options *options, const struct daemon *daemon,
				     struct dpumap_error *error)
{
	int fd = options->ready_fd >= 0 ? options->ready_fd : STDOUT_FILENO;
	char *line = NULL;
	size_t len = 0;
	FILE *out;
	bool is_written;

	if (options->ready_fd < 0 && !dpumap_line_has_room(fd))
		return DOCA_SUCCESS;
	out = open_memstream(&line, &len);
	if (!out)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for the ready line");
	fputs("dpumapd: ready on ", out);
	daemon_describe(daemon, out);
	fputs("\n", out);
	is_written = fclose(out) == 0 && write(fd, line, len) == (ssize_t)len;
	free(line);
	if (!is_written && (errno != EBADF || options->ready_fd >= 0))
		return dpumap_error_errno(error, errno, "cannot write the ready line");
	if (options->ready_fd >= 0)
		close(options->ready_fd);
	return DOCA_SUCCESS;
}

static doca_error_t serve(const struct options *options, struct dpumap_error *error)
{
	struct daemon *daemon;
	doca_error_t result;

	log_begin();
	result = install_signal_handlers(options->file, error);
	if (result == DOCA_SUCCESS)
		result = daemon_create(options, &daemon, error);
	if (result == DOCA_ERROR_SHUTDOWN && signals_stop_is_asked()) {
		log_line("stopped during the start");
		return DOCA_SUCCESS;
	}
	if (result != DOCA_SUCCESS)
		return result;
	result = write_ready_line(options, daemon, error);
	if (result == DOCA_SUCCESS)
		result = daemon_run(daemon, error);
	daemon_destroy(daemon);
	if (result == DOCA_SUCCESS)
		log_line("stopped");
	return result;
}

int main(int argc, char **argv)
{
	struct dpumap_error error = {0};
	struct options options;
	doca_error_t result;
	int status;

	if (cli_open_standard_files() != 0)
		return DPUMAP_EXIT_FAILED; /* and nowhere to say it */
	dpumap_crypto_heap_protect();
	if (privileges_forbid_dumps(&error) != DOCA_SUCCESS) {
		log_error("%s", error.text);
		return (int)dpumap_error_exit(error.code);
	}
	options_parse(argc, argv, commands, &options);
	if (options.command) {
		status = options.command->run(&options);
	} else {
		result = options.check_only ? check_configuration(&options, &error)
					    : serve(&options, &error);
		if (result != DOCA_SUCCESS)
			log_error("%s", error.text);
		status = (int)dpumap_error_exit(result);
	}
	options_free(&options);
	return status;
}
