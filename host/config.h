/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What need not be typed: the environment and the client's configuration file. */
#ifndef DPUMAP_HOST_CONFIG_H
#define DPUMAP_HOST_CONFIG_H

#include <limits.h>

#include "channel/channel.h"
#include "options.h"

#define CONFIG_TEXTS_MAX 10

/* Owns the texts that came from the file. */
struct config {
	char *texts[CONFIG_TEXTS_MAX];
	size_t num_texts;
	char path[PATH_MAX]; /* of the file; empty: none */
	char default_connect[PATH_MAX];
};

/*
 * Completes options: what the command line says counts first, then $DPUMAP_CONNECT, then the file,
 * then what is usual. The TLS files are one thing: with any on the command line, none of the file's
 * are used; a server's name goes with the address that it was given with.
 */
doca_error_t config_load(struct options *options, struct config *config,
			 struct dpumap_fault *fault);
void config_free(struct config *config);

/* The directory of the user's own configuration; false if there is none or it is too long. */
bool config_directory(char *path, size_t size);

#endif
