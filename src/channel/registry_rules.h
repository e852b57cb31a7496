/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rules of the group registry, which dpumapd.conf and dpumap.conf share. Each function returns NULL, or what is
 * wrong: the rest of a sentence that begins with the setting.
 */
#ifndef DPUMAP_CHANNEL_REGISTRY_RULES_H
#define DPUMAP_CHANNEL_REGISTRY_RULES_H

#include <stddef.h>

/* NULL: not set. */
struct dpumap_registry_access {
	const char *const *endpoints;
	size_t num_endpoints;
	const char *ca, *cert, *key;
	const char *user, *password_file;
};

#define DPUMAP_REGISTRY_ENDPOINTS "must be an array of 1 to 16 URLs, [ \"https://host:2379\", ... ]"

/* The URL of a member of etcd. */
const char *dpumap_registry_check_endpoint(const char *url);
/* The name of a fleet or of a DPU. */
const char *dpumap_registry_check_name(const char *name);
/* Do the settings go together? */
const char *dpumap_registry_check_access(const struct dpumap_registry_access *access);

#endif
