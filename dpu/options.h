/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command line of dpumapd. */
#ifndef DPUMAPD_OPTIONS_H
#define DPUMAPD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "settings.h"

struct options {
	const char *file;      /* the configuration; NULL: none */
	struct settings given; /* from the command line */
	uid_t *uids;	       /* that may import, besides root and the current user */
	size_t num_uids;
	bool check_only;
	int ready_fd; /* -1: standard output */
};

/* Exits with the code for wrong usage on invalid arguments. */
void options_parse(int argc, char **argv, struct options *options);
void options_free(struct options *options);

/* Reads the configuration and adds the command line. The caller calls settings_free(). */
doca_error_t options_settings(const struct options *options, struct settings *settings,
			      struct dpumap_fault *fault);

#endif
