/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The group "registry" of the configuration: where and as what dpumapd publishes its exports. */
#ifndef DPUMAPD_REGISTRY_SETTINGS_H
#define DPUMAPD_REGISTRY_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include <libconfig.h>

#include "channel/tls.h"
#include "local/error.h"

#define REGISTRY_ENDPOINTS_MAX 16
#define REGISTRY_ADDRESSES_MAX 8
#define REGISTRY_TTL_DEFAULT_S 10
#define REGISTRY_TTL_MIN_S     2
#define REGISTRY_TTL_MAX_S     3600

struct registry_texts {
	char **list;
	size_t num;
};

struct registry_settings {
	bool is_set;
	char *file;			 /* where the group is, for errors */
	unsigned int line;		 /* of the group */
	struct registry_texts endpoints; /* URLs of the members of etcd */
	char *fleet;
	char *name;			 /* of this DPU in the fleet and in its certificate */
	struct registry_texts addresses; /* where clients reach this DPU */
	unsigned int ttl_s;
	char *ca, *cert, *key;	    /* of the connections to etcd; NULL: none */
	struct dpumap_tls *tls;	    /* these files, to be assessed; NULL: none */
	char *user, *password_file; /* of etcd; NULL: none */
};

void registry_settings_free(struct registry_settings *registry);
/* Reads the group. BAD_CONFIG with file, line and reason; NO_MEMORY. */
doca_error_t registry_settings_load(struct registry_settings *registry, const char *path,
				    const config_setting_t *setting, struct dpumap_error *error);
/*
 * Completes the settings, if they are set, with the addresses that dpumapd listens on and with the certificates for
 * etcd, and checks them against the certificate of dpumapd (NULL: none). BAD_CONFIG with file, line and reason.
 */
doca_error_t registry_settings_complete(struct registry_settings *registry, char *const *listen,
					size_t num_listen, const char *cert,
					struct dpumap_error *error);

/* BAD_CONFIG: the difference is one that only a start can apply. */
doca_error_t registry_settings_check_unchanged(const struct registry_settings *now,
					       const struct registry_settings *wanted,
					       struct dpumap_error *error);

#endif
