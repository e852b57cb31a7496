/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/registry/registry_settings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/x509v3.h>

#include "base/array.h"
#include "channel/address.h"
#include "channel/registry_rules.h"
#include "common/config_file.h"
#include "common/pem.h"
#include "common/size.h"
#include "local/trusted.h"

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the configuration");
}

static void free_texts(struct registry_texts *texts)
{
	for (size_t i = 0; i < texts->num; i++)
		free(texts->list[i]);
	free(texts->list);
}

static doca_error_t add_text(struct registry_texts *texts, const char *text,
			     struct dpumap_error *error)
{
	char **list = reallocarray(texts->list, texts->num + 1, sizeof(*list));

	if (!list)
		return no_memory(error);
	texts->list = list;
	list[texts->num] = strdup(text);
	if (!list[texts->num])
		return no_memory(error);
	texts->num++;
	return DOCA_SUCCESS;
}

void registry_settings_free(struct registry_settings *registry)
{
	char *const texts[] = {registry->file, registry->fleet,	       registry->name,
			       registry->ca,   registry->cert,	       registry->key,
			       registry->user, registry->password_file};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	free_texts(&registry->endpoints);
	free_texts(&registry->addresses);
	dpumap_tls_destroy(registry->tls);
	*registry = (struct registry_settings){0};
}

/* --- the file --------------------------------------------------------------------------------- */

struct loader {
	struct registry_settings *registry;
	const char *path;
	struct dpumap_error *error;
};

static doca_error_t wrong(const struct loader *l, const config_setting_t *setting, const char *what)
{
	return dpumap_config_file_invalid(l->path, setting, what, l->error);
}

static doca_error_t load_text(const struct loader *l, const config_setting_t *setting, bool is_path,
			      char **text)
{
	const char *value;
	doca_error_t result;

	result = dpumap_config_file_text(l->path, setting, is_path, &value, l->error);
	if (result != DOCA_SUCCESS)
		return result;
	*text = strdup(value);
	return *text ? DOCA_SUCCESS : no_memory(l->error);
}

typedef const char *check_fn(const char *text);

static doca_error_t load_texts(const struct loader *l, const config_setting_t *setting,
			       struct registry_texts *texts, size_t max, check_fn *check,
			       const char *form)
{
	doca_error_t result = DOCA_SUCCESS;
	int num = config_setting_length(setting);

	if (!config_setting_is_array(setting) || num < 1 || (size_t)num > max)
		return wrong(l, setting, form);
	for (int i = 0; i < num && result == DOCA_SUCCESS; i++) {
		const char *text = config_setting_get_string_elem(setting, i);
		const char *why = text ? check(text) : form;

		result = why ? wrong(l, setting, why) : add_text(texts, text, l->error);
	}
	return result;
}

static bool is_port(const char *text)
{
	uint64_t port;

	return dpumap_number_parse(text, UINT16_MAX, &port) && port > 0;
}

static doca_error_t load_endpoints(struct loader *l, const config_setting_t *setting)
{
	return load_texts(l, setting, &l->registry->endpoints, REGISTRY_ENDPOINTS_MAX,
			  dpumap_registry_check_endpoint, DPUMAP_REGISTRY_ENDPOINTS);
}

#define ADDRESS_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:[]%"

static bool is_reachable(const struct dpumap_address *address)
{
	return address->kind == DPUMAP_ADDRESS_TLS && strcmp(address->host, "*") != 0 &&
	       is_port(address->port);
}

static const char *check_address(const char *text)
{
	struct dpumap_address address;
	struct dpumap_error ignored;

	if (text[strspn(text, ADDRESS_CHARS)] ||
	    dpumap_address_parse(text, &address, &ignored) != DOCA_SUCCESS ||
	    !is_reachable(&address))
		return "must contain addresses that other machines can reach, tls:HOST:PORT";
	return NULL;
}

static doca_error_t load_addresses(struct loader *l, const config_setting_t *setting)
{
	return load_texts(l, setting, &l->registry->addresses, REGISTRY_ADDRESSES_MAX,
			  check_address,
			  "must be an array of 1 to 8 addresses, [ \"tls:host:7470\", ... ]");
}

static doca_error_t load_key_part(const struct loader *l, const config_setting_t *setting,
				  char **text)
{
	const char *value = config_setting_get_string(setting);
	const char *why = dpumap_registry_check_name(value ? value : "");

	return why ? wrong(l, setting, why) : load_text(l, setting, false, text);
}

static doca_error_t load_fleet(struct loader *l, const config_setting_t *setting)
{
	return load_key_part(l, setting, &l->registry->fleet);
}

static doca_error_t load_name(struct loader *l, const config_setting_t *setting)
{
	return load_key_part(l, setting, &l->registry->name);
}

static doca_error_t load_ttl(struct loader *l, const config_setting_t *setting)
{
	int value = config_setting_get_int(setting);

	if (config_setting_type(setting) != CONFIG_TYPE_INT || value < REGISTRY_TTL_MIN_S ||
	    value > REGISTRY_TTL_MAX_S)
		return wrong(l, setting, "must be a number of seconds from 2 to 3600");
	l->registry->ttl_s = (unsigned int)value;
	return DOCA_SUCCESS;
}

static doca_error_t load_user(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, false, &l->registry->user);
}

static doca_error_t load_password_file(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, true, &l->registry->password_file);
}

static doca_error_t load_ca(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, true, &l->registry->ca);
}

static doca_error_t load_cert(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, true, &l->registry->cert);
}

static doca_error_t load_tls_key(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, true, &l->registry->key);
}

struct known {
	const char *name;
	doca_error_t (*load)(struct loader *l, const config_setting_t *setting);
};

static doca_error_t load_group(struct loader *l, const config_setting_t *setting,
			       const struct known *known, size_t num, const char *otherwise)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++) {
		const config_setting_t *part = config_setting_get_elem(setting, (unsigned int)i);
		size_t k = 0;

		while (k < num && strcmp(config_setting_name(part), known[k].name) != 0)
			k++;
		result = k < num ? known[k].load(l, part) : wrong(l, part, otherwise);
	}
	return result;
}

static doca_error_t load_tls(struct loader *l, const config_setting_t *setting)
{
	static const struct known files[] = {
		{"ca", load_ca},
		{"cert", load_cert},
		{"key", load_tls_key},
	};

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { ca = \"/path\"; ... }");
	return load_group(l, setting, files, ARRAY_SIZE(files), "is not one of ca, cert and key");
}

static const char *contradiction(const struct registry_settings *r)
{
	const struct dpumap_registry_access access = {
		.endpoints = (const char *const *)r->endpoints.list,
		.num_endpoints = r->endpoints.num,
		.ca = r->ca,
		.cert = r->cert,
		.key = r->key,
		.user = r->user,
		.password_file = r->password_file};

	if (!r->endpoints.num || !r->fleet || !r->name)
		return "must have endpoints, fleet and name";
	return dpumap_registry_check_access(&access);
}

doca_error_t registry_settings_load(struct registry_settings *registry, const char *path,
				    const config_setting_t *setting, struct dpumap_error *error)
{
	static const struct known known[] = {
		{"endpoints", load_endpoints},
		{"fleet", load_fleet},
		{"name", load_name},
		{"addresses", load_addresses},
		{"ttl", load_ttl},
		{"tls", load_tls},
		{"user", load_user},
		{"password_file", load_password_file},
	};
	struct loader l = {registry, path, error};
	doca_error_t result;
	const char *why;

	if (!config_setting_is_group(setting))
		return wrong(&l, setting, "must be a group, { endpoints = [ ... ]; ... }");
	registry->is_set = true;
	registry->ttl_s = REGISTRY_TTL_DEFAULT_S;
	registry->line = config_setting_source_line(setting);
	registry->file = strdup(path);
	if (!registry->file)
		return no_memory(error);
	result = load_group(&l, setting, known, ARRAY_SIZE(known),
			    "is not a setting of registry; see dpumapd.conf(5)");
	if (result != DOCA_SUCCESS)
		return result;
	why = contradiction(registry);
	return why ? wrong(&l, setting, why) : DOCA_SUCCESS;
}

/* --- with the other settings ------------------------------------------------------------------ */

static doca_error_t wrong_group(const struct registry_settings *r, const char *what,
				struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s:%u: registry %s", r->file,
				r->line, what);
}

static doca_error_t add_listened(struct registry_settings *r, char *const *listen, size_t num,
				 struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (r->addresses.num)
		return result;
	for (size_t i = 0; i < num && r->addresses.num < REGISTRY_ADDRESSES_MAX; i++)
		if (!check_address(listen[i]) && result == DOCA_SUCCESS)
			result = add_text(&r->addresses, listen[i], error);
	if (result == DOCA_SUCCESS && !r->addresses.num)
		return wrong_group(r,
				   "needs addresses, how other machines reach this DPU: listen has "
				   "none with tls, a host and a port",
				   error);
	return result;
}

static bool is_name_of(X509 *cert, const char *name)
{
	int is_address = X509_check_ip_asc(cert, name, 0);

	if (is_address != -2)
		return is_address == 1;
	return X509_check_host(cert, name, 0,
			       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
			       NULL) == 1;
}

/* Clients require that the certificate has the name that they looked for. */
static doca_error_t check_certificate(const struct registry_settings *r, const char *path,
				      struct dpumap_error *error)
{
	doca_error_t result;
	bool is_valid;
	X509 *cert;

	if (!path)
		return wrong_group(r,
				   "needs tls with cert, key and ca: clients know a DPU by the "
				   "name in its certificate",
				   error);
	result = dpumap_pem_read_cert(path, &cert, error);
	if (result != DOCA_SUCCESS)
		return result;
	is_valid = is_name_of(cert, r->name);
	X509_free(cert);
	if (is_valid)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
				"%s:%u: registry has the name %s, which is not a DNS name of the "
				"certificate %.128s: issue one with dpumap pki issue --dpu %s",
				r->file, r->line, r->name, path, r->name);
}

static doca_error_t wrong_file(const struct registry_settings *r, const struct dpumap_error *why,
			       struct dpumap_error *error)
{
	return dpumap_error_set(error, why->code, "%s:%u: registry: %.240s", r->file, r->line,
				why->text);
}

static doca_error_t check_secret(const struct registry_settings *r, const char *path,
				 struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	int fd;

	if (!path)
		return DOCA_SUCCESS;
	if (dpumap_trusted_open(path, true, &fd, &why) != DOCA_SUCCESS)
		return wrong_file(r, &why, error);
	close(fd);
	return DOCA_SUCCESS;
}

static doca_error_t read_tls(struct registry_settings *r, struct dpumap_error *error)
{
	const struct dpumap_tls_config config = {
		.ca = r->ca, .cert = r->cert, .key = r->key, .is_for_etcd = true};
	struct dpumap_error why = {0};

	if (!r->ca && !r->cert)
		return DOCA_SUCCESS;
	if (dpumap_tls_create(&config, false, &r->tls, &why) != DOCA_SUCCESS)
		return wrong_file(r, &why, error);
	return DOCA_SUCCESS;
}

doca_error_t registry_settings_complete(struct registry_settings *registry, char *const *listen,
					size_t num_listen, const char *cert,
					struct dpumap_error *error)
{
	doca_error_t result;

	if (!registry->is_set)
		return DOCA_SUCCESS;
	result = add_listened(registry, listen, num_listen, error);
	if (result == DOCA_SUCCESS)
		result = check_certificate(registry, cert, error);
	if (result == DOCA_SUCCESS)
		result = read_tls(registry, error);
	if (result == DOCA_SUCCESS)
		result = check_secret(registry, registry->password_file, error);
	return result;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

doca_error_t registry_settings_check_unchanged(const struct registry_settings *now,
					       const struct registry_settings *wanted,
					       struct dpumap_error *error)
{
	const char *what = NULL;

	if (now->is_set && !wanted->is_set)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"the group registry was removed, which a reload cannot "
					"apply: restart dpumapd, or restore the group");
	if (now->is_set != wanted->is_set)
		what = "is new";
	else if (!is_same(now->fleet, wanted->fleet))
		what = "has another fleet";
	else if (!is_same(now->name, wanted->name))
		what = "has another name";
	else if (now->ttl_s != wanted->ttl_s)
		what = "has another ttl";
	if (!what)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
				"%s:%u: registry %s, which a reload cannot apply: restart dpumapd, "
				"or restore the setting",
				wanted->file, wanted->line, what);
}
