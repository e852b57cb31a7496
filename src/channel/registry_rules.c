/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/registry_rules.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "channel/message.h"
#include "common/size.h"

static bool is_port(const char *text)
{
	uint64_t port;

	return dpumap_number_parse(text, UINT16_MAX, &port) && port > 0;
}

/* A password in the URL would be in the configuration, which other users may read. */
const char *dpumap_registry_check_endpoint(const char *url)
{
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : 7, host;

	if (scheme == 7 && strncmp(url, "http://", 7) != 0)
		return "must contain URLs that begin with https:// or http://";
	url += scheme;
	host = url[0] == '[' ? strcspn(url, "]") + 1 : strcspn(url, ":");
	if (host > strlen(url) || strcspn(url, "/?#@ \t\r\n\"\\") < strlen(url) ||
	    host == (url[0] == '[' ? 2 : 0) || url[host] != ':' || !is_port(url + host + 1))
		return "must contain URLs of the form https://HOST:PORT";
	return NULL;
}

const char *dpumap_registry_check_name(const char *name)
{
	if (dpumap_export_name_valid(name))
		return NULL;
	return "must be 1 to 63 of A-Z a-z 0-9 . _ -, beginning with a letter or digit";
}

static bool has_plain_endpoint(const struct dpumap_registry_access *a)
{
	for (size_t i = 0; i < a->num_endpoints; i++)
		if (strncmp(a->endpoints[i], "http://", 7) == 0)
			return true;
	return false;
}

const char *dpumap_registry_check_access(const struct dpumap_registry_access *access)
{
	const struct dpumap_registry_access *a = access;
	bool is_plain = has_plain_endpoint(a);

	if (!a->num_endpoints)
		return "must have endpoints";
	if (!a->cert != !a->key)
		return "must have both tls.cert and tls.key, or neither";
	if (!a->user != !a->password_file)
		return "must have both user and password_file, or neither";
	if (is_plain && (a->ca || a->cert))
		return "has tls, which needs https:// in each endpoint";
	if (is_plain && a->user)
		return "would send the password in clear: use https:// in each endpoint";
	if (!is_plain && !a->ca)
		return "needs tls.ca to verify the endpoints";
	return NULL;
}
