/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "channel/address.h"
#include "common/config_file.h"
#include "dpu/rdma/cm_listener.h"
#include "dpu/spec/export_file.h"

/* In seconds. A client on a busy machine may need some for its handshake. */
#define CLIENT_TIMEOUT	   30
#define CLIENT_TIMEOUT_MAX 3600

void settings_init(struct settings *settings)
{
	*settings = (struct settings){
		.max_clients = SETTINGS_MAX_CLIENTS,
		.client_timeout = CLIENT_TIMEOUT,
	};
}

void settings_free(struct settings *settings)
{
	char **const texts[] = {
		&settings->device,     &settings->cert,	       &settings->key,
		&settings->ca,	       &settings->crl,	       &settings->psk,
		&settings->admin,      &settings->metrics,     &settings->user,
		&settings->group,      &settings->comch_serve, &settings->rdma_listen,
		&settings->exports_dir};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(*texts[i]);
	for (size_t i = 0; i < settings->num_listen; i++)
		free(settings->listen[i]);
	free(settings->listen);
	export_list_free(&settings->exports);
	export_dir_free(&settings->dir);
	introduction_rules_free(&settings->introduce);
	registry_settings_free(&settings->registry);
	settings_init(settings);
}

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the configuration");
}

doca_error_t settings_set(char **setting, const char *text, struct dpumap_error *error)
{
	char *copy = strdup(text);

	if (!copy)
		return no_memory(error);
	free(*setting);
	*setting = copy;
	return DOCA_SUCCESS;
}

doca_error_t settings_add_listen(struct settings *settings, const char *text,
				 struct dpumap_error *error)
{
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(text, &address, error);
	char **list;

	if (result != DOCA_SUCCESS)
		return result;
	list = reallocarray(settings->listen, settings->num_listen + 1, sizeof(*list));
	if (!list)
		return no_memory(error);
	settings->listen = list;
	list[settings->num_listen] = NULL;
	result = settings_set(&list[settings->num_listen], text, error);
	if (result == DOCA_SUCCESS)
		settings->num_listen++;
	return result;
}

/* Rounded up, so that it is not 0. */
unsigned int settings_max_clients_per_identity(const struct settings *settings)
{
	if (settings->max_clients_per_identity)
		return settings->max_clients_per_identity;
	return (settings->max_clients + 3) / 4;
}

bool settings_has_tls(const struct settings *settings)
{
	for (size_t i = 0; i < settings->num_listen; i++)
		if (strncmp(settings->listen[i], "tls:", 4) == 0)
			return true;
	return false;
}

bool settings_allow_others(const struct settings *settings)
{
	for (size_t i = 0; i < settings->exports.num; i++)
		if (export_spec_allows_others(&settings->exports.specs[i]))
			return true;
	return settings->user || export_dir_allows_others(&settings->dir);
}

/* Clients of the admin socket do not authenticate: only the owner of its path can connect. */
static doca_error_t check_admin(const char *text, struct dpumap_error *error)
{
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(text, &address, error);

	if (result == DOCA_SUCCESS && address.kind != DPUMAP_ADDRESS_UNIX)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"the admin socket must be the path of a Unix socket, "
					"not %s",
					text);
	return result;
}

bool settings_has_keys(const struct settings *settings)
{
	return settings->psk || (settings->cert && settings->key && settings->ca);
}

doca_error_t settings_check(const struct settings *settings, struct dpumap_error *error)
{
	if (!settings->num_listen)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"no address to listen on: set listen, or use --listen");
	if (settings_has_tls(settings) && !settings_has_keys(settings))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"TLS needs cert, key and ca, or psk");
	if (settings->group && !settings->user)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "group is set without user");
	return settings->admin ? check_admin(settings->admin, error) : DOCA_SUCCESS;
}

/* --- the file --------------------------------------------------------------------------------- */

struct loader {
	struct settings *settings;
	const char *path;
	struct dpumap_error *error;
};

typedef doca_error_t load_fn(struct loader *l, const config_setting_t *setting);

static doca_error_t wrong(const struct loader *l, const config_setting_t *setting, const char *what)
{
	return dpumap_config_file_invalid(l->path, setting, what, l->error);
}

/* Another function's error, with the place in the file. */
static doca_error_t wrong_value(const struct loader *l, const config_setting_t *setting,
				const struct dpumap_error *why)
{
	return dpumap_config_file_fault(l->path, setting, why, l->error);
}

static doca_error_t load_string(const struct loader *l, const config_setting_t *setting,
				bool is_path, char **text)
{
	const char *value;
	doca_error_t result;

	result = dpumap_config_file_text(l->path, setting, is_path, &value, l->error);
	return result == DOCA_SUCCESS ? settings_set(text, value, l->error) : result;
}

static doca_error_t load_text(const struct loader *l, const config_setting_t *setting, char **text)
{
	return load_string(l, setting, false, text);
}

static doca_error_t load_path(const struct loader *l, const config_setting_t *setting, char **path)
{
	return load_string(l, setting, true, path);
}

static doca_error_t load_device(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, &l->settings->device);
}

static doca_error_t load_admin(struct loader *l, const config_setting_t *setting)
{
	return load_path(l, setting, &l->settings->admin);
}

static doca_error_t load_metrics(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, &l->settings->metrics);
}

static doca_error_t load_user(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, &l->settings->user);
}

static doca_error_t load_unix_group(struct loader *l, const config_setting_t *setting)
{
	return load_text(l, setting, &l->settings->group);
}

static doca_error_t load_limit(struct loader *l, const config_setting_t *setting,
			       unsigned int *limit, int max, const char *rule)
{
	int value = config_setting_get_int(setting);

	if (config_setting_type(setting) != CONFIG_TYPE_INT || value < 1 || value > max)
		return wrong(l, setting, rule);
	*limit = (unsigned int)value;
	return DOCA_SUCCESS;
}

static doca_error_t load_num_clients(struct loader *l, const config_setting_t *setting,
				     unsigned int *limit)
{
	return load_limit(l, setting, limit, SETTINGS_MAX_CLIENTS_LIMIT,
			  "must be a number from 1 to 4096");
}

static doca_error_t load_max_clients(struct loader *l, const config_setting_t *setting)
{
	return load_num_clients(l, setting, &l->settings->max_clients);
}

static doca_error_t load_max_clients_per_identity(struct loader *l, const config_setting_t *setting)
{
	return load_num_clients(l, setting, &l->settings->max_clients_per_identity);
}

static doca_error_t load_client_timeout(struct loader *l, const config_setting_t *setting)
{
	return load_limit(l, setting, &l->settings->client_timeout, CLIENT_TIMEOUT_MAX,
			  "must be a number of seconds from 1 to 3600");
}

static doca_error_t load_listen(struct loader *l, const config_setting_t *setting)
{
	struct dpumap_error why = {0};

	if (!config_setting_is_aggregate(setting) || config_setting_is_group(setting))
		return wrong(l, setting, "must be an array of strings, [ \"unix:/path\", ... ]");
	for (int i = 0; i < config_setting_length(setting); i++) {
		const char *text = config_setting_get_string_elem(setting, i);

		if (!text)
			return wrong(l, setting, "must be an array of strings");
		if (settings_add_listen(l->settings, text, &why) != DOCA_SUCCESS)
			return wrong_value(l, setting, &why);
	}
	return DOCA_SUCCESS;
}

static doca_error_t load_tls(struct loader *l, const config_setting_t *setting)
{
	const struct {
		const char *name;
		char **path;
	} files[] = {{"cert", &l->settings->cert},
		     {"key", &l->settings->key},
		     {"ca", &l->settings->ca},
		     {"crl", &l->settings->crl},
		     {"psk", &l->settings->psk}};
	const size_t num = ARRAY_SIZE(files);
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { cert = \"/path\"; ... }");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++) {
		const config_setting_t *file = config_setting_get_elem(setting, (unsigned int)i);
		size_t f = 0;

		while (f < num && strcmp(config_setting_name(file), files[f].name) != 0)
			f++;
		result = f < num ? load_path(l, file, files[f].path)
				 : wrong(l, file, "is not one of cert, key, ca, crl and psk");
	}
	return result;
}

static doca_error_t load_comch_serve(struct loader *l, const config_setting_t *setting)
{
	const char *name = config_setting_get_string(setting);

	if (name && (!name[0] || strlen(name) > SETTINGS_COMCH_NAME_MAX))
		return wrong(l, setting, "must have 1 to 119 bytes");
	return load_text(l, setting, &l->settings->comch_serve);
}

static doca_error_t load_list(struct loader *l, const config_setting_t *setting, load_fn *load)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_list(setting))
		return wrong(l, setting, "must be a list of groups, ( { ... }, ... )");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load(l, config_setting_get_elem(setting, (unsigned int)i));
	return result;
}

static doca_error_t load_introduced(struct loader *l, const config_setting_t *setting)
{
	doca_error_t result = DOCA_SUCCESS;
	struct dpumap_error why = {0};

	if (!config_setting_is_array(setting))
		return wrong(l, setting, "must be an array of clients, [ \"cert:name\", ... ]");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++) {
		const char *identity = config_setting_get_string_elem(setting, i);

		if (!identity || !export_spec_is_peer(identity))
			return wrong(l, setting,
				     "must contain cert:NAME, psk:NAME or \"*\" for all clients");
		result = introduction_rules_allow(&l->settings->introduce, identity, &why);
	}
	return result == DOCA_SUCCESS ? result : wrong_value(l, setting, &why);
}

static doca_error_t load_rule(struct loader *l, const config_setting_t *setting)
{
	const config_setting_t *server = NULL, *allow = NULL;
	struct dpumap_error why = {0};
	doca_error_t result;
	const char *pattern;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { server = \"...\"; allow = [ ... ]; }");
	for (int i = 0; i < config_setting_length(setting); i++) {
		const config_setting_t *part = config_setting_get_elem(setting, (unsigned int)i);

		if (strcmp(config_setting_name(part), "server") == 0)
			server = part;
		else if (strcmp(config_setting_name(part), "allow") == 0)
			allow = part;
		else
			return wrong(l, part, "is not server or allow");
	}
	if (!server || !allow)
		return wrong(l, setting, "must have server and allow");
	result = dpumap_config_file_text(l->path, server, false, &pattern, l->error);
	if (result != DOCA_SUCCESS)
		return result;
	if (introduction_rules_add(&l->settings->introduce, pattern, &why) != DOCA_SUCCESS)
		return wrong_value(l, setting, &why);
	return load_introduced(l, allow);
}

static doca_error_t load_introduce(struct loader *l, const config_setting_t *setting)
{
	return load_list(l, setting, load_rule);
}

struct known {
	const char *name;
	load_fn *load;
};

static doca_error_t load_known(struct loader *l, const config_setting_t *setting,
			       const struct known *known, size_t num, const char *otherwise)
{
	for (size_t i = 0; i < num; i++)
		if (strcmp(config_setting_name(setting), known[i].name) == 0)
			return known[i].load(l, setting);
	return wrong(l, setting, otherwise);
}

static doca_error_t load_comch_setting(struct loader *l, const config_setting_t *setting)
{
	static const struct known comch[] = {
		{"introduce", load_introduce},
		{"serve", load_comch_serve},
	};

	return load_known(l, setting, comch, ARRAY_SIZE(comch),
			  "is not a setting of comch; see dpumapd.conf(5)");
}

static doca_error_t load_group(struct loader *l, const config_setting_t *setting,
			       const char *otherwise, load_fn *load)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, otherwise);
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load(l, config_setting_get_elem(setting, (unsigned int)i));
	return result;
}

static doca_error_t load_comch(struct loader *l, const config_setting_t *setting)
{
	return load_group(l, setting, "must be a group, { serve = \"name\"; ... }",
			  load_comch_setting);
}

static doca_error_t load_rdma_listen(struct loader *l, const config_setting_t *setting)
{
	const char *text = config_setting_get_string(setting);
	struct sockaddr_storage ignored;
	struct dpumap_error why = {0};

	if (text && cm_listener_parse(text, &ignored, &why) != DOCA_SUCCESS)
		return wrong(l, setting, why.text);
	return load_text(l, setting, &l->settings->rdma_listen);
}

static doca_error_t load_rdma_setting(struct loader *l, const config_setting_t *setting)
{
	static const struct known rdma[] = {{"listen", load_rdma_listen}};

	return load_known(l, setting, rdma, ARRAY_SIZE(rdma),
			  "is not a setting of rdma; see dpumapd.conf(5)");
}

static doca_error_t load_rdma(struct loader *l, const config_setting_t *setting)
{
	return load_group(l, setting, "must be a group, { listen = \"192.0.2.1:18515\"; }",
			  load_rdma_setting);
}

static doca_error_t load_registry(struct loader *l, const config_setting_t *setting)
{
	return registry_settings_load(&l->settings->registry, l->path, setting, l->error);
}

static doca_error_t load_exports(struct loader *l, const config_setting_t *setting)
{
	return export_file_load(l->path, setting, &l->settings->exports, l->error);
}

static doca_error_t load_exports_dir(struct loader *l, const config_setting_t *setting)
{
	return load_path(l, setting, &l->settings->exports_dir);
}

static const struct known settings_known[] = {
	{"device", load_device},
	{"comch", load_comch},
	{"rdma", load_rdma},
	{"registry", load_registry},
	{"listen", load_listen},
	{"tls", load_tls},
	{"admin", load_admin},
	{"metrics", load_metrics},
	{"user", load_user},
	{"group", load_unix_group},
	{"exports", load_exports},
	{"exports_dir", load_exports_dir},
	{"client_timeout", load_client_timeout},
	{"max_clients", load_max_clients},
	{"max_clients_per_identity", load_max_clients_per_identity},
};

static doca_error_t load_setting(struct loader *l, const config_setting_t *setting)
{
	return load_known(l, setting, settings_known, ARRAY_SIZE(settings_known),
			  "is not a setting of dpumapd; see dpumapd.conf(5)");
}

static doca_error_t load_all(struct loader *l, const config_t *file)
{
	const config_setting_t *root = config_root_setting(file);
	doca_error_t result = DOCA_SUCCESS;

	for (int i = 0; i < config_setting_length(root) && result == DOCA_SUCCESS; i++)
		result = load_setting(l, config_setting_get_elem(root, (unsigned int)i));
	return result;
}

static doca_error_t load_file(struct settings *settings, const char *path,
			      struct dpumap_error *error)
{
	struct loader l = {.settings = settings, .path = path, .error = error};
	doca_error_t result;
	config_t file;

	result = dpumap_config_file_read(path, DPUMAP_CONFIG_FILE_MAX, &file, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = load_all(&l, &file);
	config_destroy(&file);
	return result;
}

doca_error_t settings_load(struct settings *settings, const char *path,
			   const struct export_dir *known, struct dpumap_error *error)
{
	doca_error_t result = load_file(settings, path, error);

	if (result == DOCA_SUCCESS && settings->exports_dir)
		result = export_dir_load(&settings->dir, settings->exports_dir, known,
					 &settings->exports, error);
	return result;
}
