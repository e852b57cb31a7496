/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/host_config.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "channel/address.h"
#include "channel/registry_rules.h"
#include "common/config_file.h"

#define FILE_SIZE_MAX 65536
#define TIMEOUT_MAX_S 3600

static const char system_path[] = "/etc/dpumap/dpumap.conf";

struct loader {
	struct dpumap_host_config *config;
	const char *path;
	struct dpumap_error *error;
};

static doca_error_t wrong(const struct loader *l, const config_setting_t *setting, const char *what)
{
	return dpumap_config_file_invalid(l->path, setting, what, l->error);
}

/* Copies the string, since the parser frees it. */
static doca_error_t load_text(const struct loader *l, const config_setting_t *setting, bool is_path,
			      const char **text)
{
	struct dpumap_host_config *config = l->config;
	doca_error_t result;
	const char *value;
	char *copy;

	result = dpumap_config_file_text(l->path, setting, is_path, &value, l->error);
	if (result != DOCA_SUCCESS)
		return result;
	copy = config->num_texts < DPUMAP_HOST_TEXTS_MAX ? strdup(value) : NULL;
	if (!copy)
		return dpumap_error_set(l->error, DOCA_ERROR_NO_MEMORY,
					"no memory for the configuration");
	config->texts[config->num_texts++] = copy;
	*text = copy;
	return DOCA_SUCCESS;
}

static doca_error_t load_connect(const struct loader *l, const config_setting_t *setting)
{
	struct dpumap_address address;
	struct dpumap_error why;
	doca_error_t result = load_text(l, setting, false, &l->config->connect);

	if (result == DOCA_SUCCESS &&
	    dpumap_address_parse(l->config->connect, &address, &why) != DOCA_SUCCESS)
		return dpumap_config_file_fault(l->path, setting, &why, l->error);
	return result;
}

static doca_error_t load_timeout(const struct loader *l, const config_setting_t *setting)
{
	int value = config_setting_get_int(setting);

	if (config_setting_type(setting) != CONFIG_TYPE_INT || value < 1 || value > TIMEOUT_MAX_S)
		return wrong(l, setting, "must be a number of seconds from 1 to 3600");
	l->config->timeout_s = (uint64_t)value;
	return DOCA_SUCCESS;
}

/* A text that a group may contain. */
struct text {
	const char *name;
	bool is_path;
	const char **to;
};

static doca_error_t load_known(const struct loader *l, const config_setting_t *part,
			       const struct text *known, size_t num, const char *otherwise)
{
	for (size_t k = 0; k < num; k++)
		if (strcmp(config_setting_name(part), known[k].name) == 0)
			return load_text(l, part, known[k].is_path, known[k].to);
	return wrong(l, part, otherwise);
}

static doca_error_t load_tls(const struct loader *l, const config_setting_t *setting)
{
	struct dpumap_host_config *o = l->config;
	const struct text known[] = {
		{"cert", true, &o->tls.cert}, {"key", true, &o->tls.key},
		{"ca", true, &o->tls.ca},     {"crl", true, &o->tls.crl},
		{"psk", true, &o->tls.psk},   {"psk_name", false, &o->tls.psk_name},
		{"server", false, &o->server}};
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { cert = \"/path\"; ... }");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load_known(l, config_setting_get_elem(setting, (unsigned int)i), known,
				    ARRAY_SIZE(known),
				    "is not one of cert, key, ca, crl, psk, psk_name and server");
	return result;
}

static doca_error_t load_endpoint(const struct loader *l, const config_setting_t *setting, int i)
{
	struct dpumap_host_registry *r = &l->config->registry;
	const char *url = config_setting_get_string_elem(setting, i);
	const char *why = url ? dpumap_registry_check_endpoint(url) : DPUMAP_REGISTRY_ENDPOINTS;

	if (why)
		return wrong(l, setting, why);
	return load_text(l, config_setting_get_elem(setting, (unsigned int)i), false,
			 &r->endpoints[r->num_endpoints++]);
}

static doca_error_t load_endpoints(const struct loader *l, const config_setting_t *setting)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_array(setting) || config_setting_length(setting) < 1 ||
	    config_setting_length(setting) > DPUMAP_HOST_ENDPOINTS_MAX)
		return wrong(l, setting, DPUMAP_REGISTRY_ENDPOINTS);
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load_endpoint(l, setting, i);
	return result;
}

static doca_error_t load_fleet(const struct loader *l, const config_setting_t *setting)
{
	const char *value = config_setting_get_string(setting);
	const char *why = dpumap_registry_check_name(value ? value : "");

	if (why)
		return wrong(l, setting, why);
	return load_text(l, setting, false, &l->config->registry.fleet);
}

/* Do the settings go together? */
static doca_error_t check_registry(const struct loader *l, const config_setting_t *setting)
{
	const struct dpumap_host_registry *r = &l->config->registry;
	const struct dpumap_registry_access access = {.endpoints = r->endpoints,
						      .num_endpoints = r->num_endpoints,
						      .ca = r->ca,
						      .cert = r->cert,
						      .key = r->key,
						      .user = r->user,
						      .password_file = r->password_file};
	const char *why = dpumap_registry_check_access(&access);

	return why ? wrong(l, setting, why) : DOCA_SUCCESS;
}

static doca_error_t load_registry_tls(const struct loader *l, const config_setting_t *setting)
{
	struct dpumap_host_registry *r = &l->config->registry;
	const struct text known[] = {
		{"ca", true, &r->ca}, {"cert", true, &r->cert}, {"key", true, &r->key}};
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { ca = \"/path\"; ... }");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load_known(l, config_setting_get_elem(setting, (unsigned int)i), known,
				    ARRAY_SIZE(known), "is not one of ca, cert and key");
	return result;
}

static doca_error_t load_registry_part(const struct loader *l, const config_setting_t *part)
{
	struct dpumap_host_registry *r = &l->config->registry;
	const struct text known[] = {{"user", false, &r->user},
				     {"password_file", true, &r->password_file}};

	if (strcmp(config_setting_name(part), "endpoints") == 0)
		return load_endpoints(l, part);
	if (strcmp(config_setting_name(part), "fleet") == 0)
		return load_fleet(l, part);
	if (strcmp(config_setting_name(part), "tls") == 0)
		return load_registry_tls(l, part);
	return load_known(l, part, known, ARRAY_SIZE(known),
			  "is not one of endpoints, fleet, tls, user and password_file");
}

static doca_error_t load_registry(const struct loader *l, const config_setting_t *setting)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting,
			     "must be a group, { endpoints = [ \"https://...\" ]; ... }");
	l->config->registry.line = (unsigned int)config_setting_source_line(setting);
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load_registry_part(l, config_setting_get_elem(setting, (unsigned int)i));
	return result == DOCA_SUCCESS ? check_registry(l, setting) : result;
}

static doca_error_t load_users(const struct loader *l, const config_setting_t *setting,
			       struct dpumap_host_users *users)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_array(setting) ||
	    config_setting_length(setting) > DPUMAP_COMCH_USERS_MAX)
		return wrong(l, setting, "must be an array of at most 64 users, [ \"name\", ... ]");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++)
		result = load_text(l, config_setting_get_elem(setting, (unsigned int)i), false,
				   &users->list[users->num++]);
	users->is_set = true;
	return result;
}

static doca_error_t load_comch(const struct loader *l, const config_setting_t *setting)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_group(setting))
		return wrong(l, setting, "must be a group, { users = [ \"name\", ... ]; }");
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++) {
		const config_setting_t *part = config_setting_get_elem(setting, (unsigned int)i);

		if (strcmp(config_setting_name(part), "users") == 0)
			result = load_users(l, part, &l->config->users);
		else if (strcmp(config_setting_name(part), "introducers") == 0)
			result = load_users(l, part, &l->config->introducers);
		else
			result = wrong(l, part, "is not users or introducers");
	}
	return result;
}

static doca_error_t load_setting(const struct loader *l, const config_setting_t *setting)
{
	const char *name = config_setting_name(setting);

	if (strcmp(name, "connect") == 0)
		return load_connect(l, setting);
	if (strcmp(name, "device") == 0)
		return load_text(l, setting, false, &l->config->device);
	if (strcmp(name, "timeout") == 0)
		return load_timeout(l, setting);
	if (strcmp(name, "tls") == 0)
		return load_tls(l, setting);
	if (strcmp(name, "comch") == 0)
		return load_comch(l, setting);
	if (strcmp(name, "registry") == 0)
		return load_registry(l, setting);
	return wrong(l, setting, "is not a setting of dpumap; see dpumap(1)");
}

static doca_error_t load_file(const struct loader *l)
{
	const config_setting_t *root;
	doca_error_t result;
	config_t file;

	result = dpumap_config_file_read(l->path, FILE_SIZE_MAX, &file, l->error);
	if (result != DOCA_SUCCESS)
		return result;
	root = config_root_setting(&file);
	for (int i = 0; i < config_setting_length(root) && result == DOCA_SUCCESS; i++)
		result = load_setting(l, config_setting_get_elem(root, (unsigned int)i));
	config_destroy(&file);
	return result;
}

bool dpumap_host_user_directory(const char *variable, const char *in_home, char *path, size_t size)
{
	const char *base = getenv(variable);
	const char *below = "";
	int n;

	if (!base || base[0] != '/') {
		base = getenv("HOME");
		below = in_home;
	}
	if (!base || base[0] != '/')
		return false;
	n = snprintf(path, size, "%s%s", base, below);
	return n > 0 && (size_t)n < size;
}

bool dpumap_host_config_directory(char *path, size_t size)
{
	static const char name[] = "/dpumap";

	if (size < sizeof(name) ||
	    !dpumap_host_user_directory("XDG_CONFIG_HOME", "/.config", path, size - sizeof(name)))
		return false;
	memcpy(path + strlen(path), name, sizeof(name));
	return true;
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The file to read; NULL: none. */
static const char *choose_file(char buf[static PATH_MAX])
{
	static const char name[] = "/dpumap.conf";

	if (dpumap_host_config_directory(buf, PATH_MAX - sizeof(name))) {
		memcpy(buf + strlen(buf), name, sizeof(name));
		if (exists(buf))
			return buf;
	}
	return exists(system_path) ? system_path : NULL;
}

doca_error_t dpumap_host_config_environment(const char **connect, struct dpumap_error *error)
{
	const char *text = getenv("DPUMAP_CONNECT");
	struct dpumap_address address;
	struct dpumap_error why;

	*connect = NULL;
	if (!text || !text[0])
		return DOCA_SUCCESS;
	if (dpumap_address_parse(text, &address, &why) != DOCA_SUCCESS)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "DPUMAP_CONNECT: %.280s",
					why.text);
	*connect = text;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_host_config_load(const char *path, struct dpumap_host_config *config,
				     struct dpumap_error *error)
{
	const struct loader l = {.config = config, .path = config->path, .error = error};
	char buf[PATH_MAX];

	*config = (struct dpumap_host_config){0};
	if (!path)
		path = choose_file(buf);
	if (!path)
		return DOCA_SUCCESS;
	snprintf(config->path, sizeof(config->path), "%s", path);
	stat(path, &config->file);
	clock_gettime(CLOCK_REALTIME, &config->read_at);
	return load_file(&l);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A file that was read right after a change may have changed again at the same time of its clock. */
bool dpumap_host_config_is_current(const struct dpumap_host_config *config)
{
	char buf[PATH_MAX];
	const char *path = choose_file(buf);
	struct stat now;

	if (!path || !config->path[0])
		return !path && !config->path[0];
	return !strcmp(path, config->path) && !stat(path, &now) && is_same(&now, &config->file) &&
	       config->read_at.tv_sec > now.st_ctim.tv_sec + 1;
}

void dpumap_host_config_free(struct dpumap_host_config *config)
{
	for (size_t i = 0; i < config->num_texts; i++)
		free(config->texts[i]);
	config->num_texts = 0;
}

/* A user by name or number. */
static bool is_user(const char *text, uid_t uid)
{
	char buf[4096], *end;
	struct passwd found, *entry = NULL;
	unsigned long number = strtoul(text, &end, 10);

	if (isdigit((unsigned char)text[0]) && !*end)
		return number == uid;
	return getpwnam_r(text, &found, buf, sizeof(buf), &entry) == 0 && entry &&
	       entry->pw_uid == uid;
}

static bool is_listed(const struct dpumap_host_users *users, uid_t uid)
{
	for (size_t i = 0; i < users->num; i++)
		if (is_user(users->list[i], uid))
			return true;
	return false;
}

void dpumap_host_config_rights(const struct dpumap_host_config *config, uid_t uid,
			       struct dpumap_comch_rights *rights)
{
	rights->connect = is_listed(&config->users, uid);
	rights->introduce = config->introducers.is_set ? is_listed(&config->introducers, uid)
						       : is_user("dpumap", uid);
}
