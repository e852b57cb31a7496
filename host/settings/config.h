/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Defaults from the environment and from the configuration file of dpumap. */
#ifndef DPUMAP_HOST_CONFIG_H
#define DPUMAP_HOST_CONFIG_H

#include <limits.h>

#include "channel/host_config.h"
#include "host/settings/options.h"

struct config {
	struct dpumap_host_config file;
	char default_connect[PATH_MAX];
};

/*
 * Completes options. The command line takes precedence over $DPUMAP_CONNECT, that over the file,
 * and that over defaults. TLS files are a unit: with any of them on the command line, none of the
 * file is used. The server name is used only with the address of the same source.
 */
doca_error_t config_load(struct options *options, struct config *config,
			 struct dpumap_error *error);
void config_free(struct config *config);

#endif
