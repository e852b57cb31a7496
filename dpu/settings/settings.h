/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The settings of dpumapd: the configuration file and the additions of the command line. */
#ifndef DPUMAPD_SETTINGS_H
#define DPUMAPD_SETTINGS_H

#include <stddef.h>

#include "channel/message.h"
#include "dpu/clients/introduction.h"
#include "dpu/registry/registry_settings.h"
#include "dpu/spec/export_dir.h"
#include "dpu/spec/export_list.h"
#include "local/error.h"

#define SETTINGS_MAX_CLIENTS	   256
#define SETTINGS_MAX_CLIENTS_LIMIT 4096
#define SETTINGS_COMCH_NAME_MAX	   119

struct settings {
	char *device; /* NULL: the first device that can export */
	char **listen;
	size_t num_listen;
	char *cert, *key, *ca, *crl, *psk;
	char *rdma_listen; /* address for RDMA connections; NULL: none */
	char *comch_serve; /* name of the server on the control channel; NULL: none */
	char *admin;	   /* path of a socket; NULL: none */
	char *metrics;	   /* path of a socket, or HOST:PORT; NULL: none */
	char *user;	   /* to switch to after the start; NULL: keep the user */
	char *group;	   /* NULL: the user's */
	unsigned int max_clients;
	unsigned int max_clients_per_identity; /* 0: a quarter of max_clients */
	unsigned int client_timeout;	       /* in seconds */
	struct introduction_rules introduce;   /* clients to servers of doca_comch */
	struct registry_settings registry;
	char *exports_dir;	    /* NULL: none */
	struct export_dir dir;	    /* what it contained */
	struct export_list exports; /* without those of files that have not changed */
};

void settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/*
 * The file must be a trusted one. Files of exports_dir that are as in known are not loaded again; NULL: load
 * all. BAD_CONFIG with file, line and reason.
 */
doca_error_t settings_load(struct settings *settings, const char *path,
			   const struct export_dir *known, struct dpumap_error *error);

/* Copies the string. */
doca_error_t settings_set(char **setting, const char *text, struct dpumap_error *error);
doca_error_t settings_add_listen(struct settings *settings, const char *text,
				 struct dpumap_error *error);
/* The limit of one identity, also if it is not set. */
unsigned int settings_max_clients_per_identity(const struct settings *settings);
/* Are the settings complete and consistent? */
doca_error_t settings_check(const struct settings *settings, struct dpumap_error *error);
/* Are there files for TLS? */
bool settings_has_keys(const struct settings *settings);
/* Is there a TLS address to listen on? */
bool settings_has_tls(const struct settings *settings);
/* May other users of this machine import? */
bool settings_allow_others(const struct settings *settings);

#endif
