/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/prepare.h"

#include "dpu/base/privileges.h"
#include "dpu/daemon/metrics.h"

/* A socket on TCP exists only with TLS. */
static doca_error_t load_tls(const struct settings *settings, bool has_adopted_tcp,
			     struct dpumap_tls **tls, struct dpumap_error *error)
{
	const struct dpumap_tls_config config = {.cert = settings->cert,
						 .key = settings->key,
						 .ca = settings->ca,
						 .crl = settings->crl,
						 .psk = settings->psk};

	*tls = NULL;
	if (has_adopted_tcp && !settings_has_keys(settings))
		return dpumap_error_set(
			error, DOCA_ERROR_BAD_CONFIG,
			"systemd passed a TCP socket, which needs TLS: set cert, key "
			"and ca, or psk, or remove the socket from the socket unit");
	if (!has_adopted_tcp && !settings_has_tls(settings))
		return DOCA_SUCCESS;
	return dpumap_tls_create(&config, true, tls, error);
}

doca_error_t prepare_reload(const struct options *options, const struct export_dir *known,
			    bool has_adopted_tcp, struct settings *settings,
			    struct dpumap_tls **tls, struct dpumap_error *error)
{
	doca_error_t result = options_settings(options, known, settings, error);
	struct dpumap_address ignored;

	if (result != DOCA_SUCCESS)
		return result;
	if (settings->metrics)
		result = metrics_parse(settings->metrics, &ignored, error);
	if (result == DOCA_SUCCESS)
		result = registry_settings_complete(&settings->registry, settings->listen,
						    settings->num_listen, settings->cert, error);
	if (result == DOCA_SUCCESS)
		result = load_tls(settings, has_adopted_tcp, tls, error);
	if (result != DOCA_SUCCESS)
		settings_free(settings);
	return result;
}

doca_error_t prepare_start(const struct options *options, bool has_adopted_tcp,
			   struct settings *settings, struct dpumap_tls **tls,
			   struct dpumap_error *error)
{
	doca_error_t result = prepare_reload(options, NULL, has_adopted_tcp, settings, tls, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = privileges_check(settings->user, settings->group, error);
	if (result != DOCA_SUCCESS) {
		dpumap_tls_destroy(*tls);
		settings_free(settings);
	}
	return result;
}
