/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command line of dpumapd. */
#ifndef DPUMAPD_OPTIONS_H
#define DPUMAPD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "dpu/settings/settings.h"

#define OPTIONS_ADMIN_DEFAULT "/run/dpumapd/admin.sock"

/* Options that a command accepts. */
enum option_bit {
	OPTION_SERVE = 1 << 0, /* without a command */
	OPTION_CTL = 1 << 1,
	OPTION_DOCTOR = 1 << 2,
	OPTION_TOP = 1 << 3,
};

struct options;

struct command {
	struct cli_command cli;
	/* Returns the exit code. */
	int (*run)(const struct options *options);
};

struct options {
	const struct command *command; /* NULL: serve */
	const char *argument;	       /* of the command; NULL: none */
	const char *file;	       /* the configuration; NULL: none */
	struct settings given;	       /* from the command line */
	uid_t *uids;		       /* that may import, besides root and the current user */
	size_t num_uids;
	bool check_only;
	int ready_fd;	     /* -1: standard output */
	const char *connect; /* of doctor; NULL: the default */
	uint64_t timeout_s;  /* of doctor; 0: the default */
	bool json;
	bool quiet; /* of ctl */
	bool verbose;
	bool once;		  /* of top */
	unsigned int interval_ms; /* of top */
};

/*
 * commands ends with an entry without a name. Exits with the code for wrong usage on invalid
 * arguments.
 */
void options_parse(int argc, char **argv, const struct command *commands, struct options *options);
void options_free(struct options *options);

/*
 * Reads the configuration, see settings_load() for known, and adds the command line. The caller calls
 * settings_free().
 */
doca_error_t options_settings(const struct options *options, const struct export_dir *known,
			      struct settings *settings, struct dpumap_error *error);

#endif
