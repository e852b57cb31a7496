/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap.conf: how programs on this machine reach dpumapd, for the tool dpumap and for doca_comch. */
#ifndef DPUMAP_CHANNEL_HOST_CONFIG_H
#define DPUMAP_CHANNEL_HOST_CONFIG_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "channel/tls.h"
#include "local/comch_tls.h"

#define DPUMAP_HOST_TIMEOUT_S	  10 /* without a setting */

#define DPUMAP_COMCH_USERS_MAX	  64
#define DPUMAP_HOST_ENDPOINTS_MAX 16
#define DPUMAP_HOST_TEXTS_MAX	  (16 + 2 * DPUMAP_COMCH_USERS_MAX + DPUMAP_HOST_ENDPOINTS_MAX)

/* The registry in which exports are found by name. */
struct dpumap_host_registry {
	const char *endpoints[DPUMAP_HOST_ENDPOINTS_MAX]; /* URLs of the members of etcd */
	size_t num_endpoints;
	const char *fleet;
	const char *ca, *cert, *key; /* of the connections to etcd */
	const char *user, *password_file;
	unsigned int line; /* of the group in the file; 0: it is not there */
};

/* Names or numbers of users. */
struct dpumap_host_users {
	const char *list[DPUMAP_COMCH_USERS_MAX];
	size_t num;
	bool is_set;
};

/* NULL or 0: not set. The strings belong to the configuration. */
struct dpumap_host_config {
	const char *connect, *server, *device;
	struct dpumap_tls_config tls;
	uint64_t timeout_s;
	struct dpumap_host_users users;	      /* that may connect to servers of doca_comch */
	struct dpumap_host_users introducers; /* that may introduce clients to them */
	struct dpumap_host_registry registry;
	char path[PATH_MAX]; /* of the file; empty: none */
	struct stat file;    /* before it was read */
	struct timespec read_at;
	char *texts[DPUMAP_HOST_TEXTS_MAX];
	size_t num_texts;
};

/*
 * Reads path; NULL: the user's file, or else the system's, if one exists. BAD_CONFIG with file, line
 * and reason. To be freed also on failure.
 */
doca_error_t dpumap_host_config_load(const char *path, struct dpumap_host_config *config,
				     struct dpumap_error *error);
void dpumap_host_config_free(struct dpumap_host_config *config);
/* Whether reading the user's or the system's file again would give the same. */
bool dpumap_host_config_is_current(const struct dpumap_host_config *config);
/* $DPUMAP_CONNECT, NULL if it is not set. INVALID_VALUE if it is not an address. */
doca_error_t dpumap_host_config_environment(const char **connect, struct dpumap_error *error);

/* $VARIABLE, or in_home ("/.config") below the home directory; false as for the next one. */
bool dpumap_host_user_directory(const char *variable, const char *in_home, char *path, size_t size);
/* The directory of the user's configuration; false if HOME is not set or the path is too long. */
bool dpumap_host_config_directory(char *path, size_t size);

/* Without a list of introducers, the user "dpumap" is one, as which the packaged dpumapd runs. */
void dpumap_host_config_rights(const struct dpumap_host_config *config, uid_t uid,
			       struct dpumap_comch_rights *rights);

#endif
