/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAPD_OPTIONS_H
#define DPUMAPD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "settings.h"

struct options {
	const char *file;      /* the configuration; NULL: none */
	struct settings given; /* what the command line says */
	uid_t *uids;	       /* that may import what it exports, besides our own and root */
	size_t num_uids;
	bool check_only;
	int ready_fd; /* -1: say it on stdout */
};

/* Ends the process with the code for wrong usage if the arguments are wrong. */
void options_parse(int argc, char **argv, struct options *options);
void options_free(struct options *options);

/* The configuration as it is now, with what the command line says. settings_free() it. */
doca_error_t options_settings(const struct options *options, struct settings *settings,
			      struct dpumap_fault *fault);

#endif
