/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/settings/config.h"

#include "channel/address.h"
#include "host/settings/fleet_name.h"

static bool has_tls(const struct dpumap_tls_config *tls)
{
	return tls->cert || tls->key || tls->ca || tls->crl || tls->psk || tls->psk_name;
}

/* The fleet of the file is for what makes sense only in a fleet, as the name DPU:EXPORT does. */
static doca_error_t merge_fleet(struct options *o, const struct dpumap_host_config *file,
				struct dpumap_error *error)
{
	o->registry = &file->registry;
	if (!o->fleet && !o->connect && fleet_name_is_likely(o))
		o->fleet = file->registry.fleet;
	if (!o->fleet && fleet_name_is_required(o))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"no fleet is configured: use --fleet, or set registry = { "
					"fleet = \"...\"; ... } in dpumap.conf, see dpumap(1)");
	return DOCA_SUCCESS;
}

static void merge(struct options *o, const struct dpumap_host_config *file)
{
	if (!o->connect && file->connect) {
		o->connect = file->connect;
		if (!o->server)
			o->server = file->server;
	}
	if (!has_tls(&o->tls))
		o->tls = file->tls;
	if (!o->device)
		o->device = file->device;
	if (!o->timeout_s)
		o->timeout_s = file->timeout_s;
}

doca_error_t config_load(struct options *options, struct config *config, struct dpumap_error *error)
{
	doca_error_t result;

	result = dpumap_host_config_load(options->config, &config->file, error);
	if (result == DOCA_SUCCESS)
		result = merge_fleet(options, &config->file, error);
	if (result == DOCA_SUCCESS && !options->connect)
		result = dpumap_host_config_environment(&options->connect, error);
	if (result != DOCA_SUCCESS)
		return result;
	merge(options, &config->file);
	if (!options->timeout_s)
		options->timeout_s = DPUMAP_HOST_TIMEOUT_S;
	if (!options->connect) {
		dpumap_address_find_default(config->default_connect,
					    sizeof(config->default_connect));
		options->connect = config->default_connect;
		options->connect_is_default = true;
	}
	return DOCA_SUCCESS;
}

void config_free(struct config *config)
{
	dpumap_host_config_free(&config->file);
}
