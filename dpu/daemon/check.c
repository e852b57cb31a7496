/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dpu/base/privileges.h"
#include "dpu/daemon/credentials.h"
#include "dpu/daemon/prepare.h"
#include "dpu/exports/memory.h"
#include "dpu/registry/registry.h"

/* Of the setting user, or of the service. */
struct reader {
	char *user; /* NULL: the current user reads the files */
	char *group;
	bool is_of_service;
};

static doca_error_t check_start(const struct options *options, struct dpumap_error *error)
{
	struct settings settings;
	struct dpumap_tls *tls;
	doca_error_t result = prepare_start(options, false, &settings, &tls, error);

	if (result != DOCA_SUCCESS)
		return result;
	credentials_warn(&(struct credentials){tls, settings.registry.tls}, NULL);
	dpumap_tls_destroy(tls);
	for (size_t i = 0; i < settings.exports.num && result == DOCA_SUCCESS; i++)
		result = memory_check_spec(&settings.exports.specs[i], error);
	if (result == DOCA_SUCCESS)
		result = registry_check(&settings.registry, error);
	settings_free(&settings);
	return result;
}

/* What the user that dpumapd switches to reads again, after it has started as root. */
static doca_error_t check_reload(const struct options *options, struct dpumap_error *error)
{
	struct settings settings;
	struct dpumap_tls *tls;
	doca_error_t result = prepare_reload(options, NULL, false, &settings, &tls, error);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_tls_destroy(tls);
	result = registry_check(&settings.registry, error);
	settings_free(&settings);
	return result;
}

/* Only root can read files for another user. */
static doca_error_t find_reader(const struct options *options, struct reader *reader,
				struct dpumap_error *error)
{
	struct settings settings;
	doca_error_t result;

	if (geteuid() != 0)
		return DOCA_SUCCESS;
	result = options_settings(options, NULL, &settings, error);
	if (result != DOCA_SUCCESS)
		return result;
	reader->is_of_service = !settings.user && privileges_has_service_user();
	if (reader->is_of_service)
		reader->user = strdup(PRIVILEGES_SERVICE_USER);
	else if (settings.user)
		reader->user = strdup(settings.user);
	reader->group = settings.group ? strdup(settings.group) : NULL;
	settings_free(&settings);
	return DOCA_SUCCESS;
}

static doca_error_t check_as(const struct options *options, const struct reader *reader,
			     struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	doca_error_t result = reader->is_of_service
				      ? privileges_become_service(error)
				      : privileges_become(reader->user, reader->group, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = reader->is_of_service ? check_start(options, &why) : check_reload(options, &why);
	if (result == DOCA_SUCCESS)
		return result;
	return dpumap_error_set(
		error, result, "%.250s (checked for user %s, %s)", why.text, reader->user,
		reader->is_of_service ? "the user of dpumapd.service" : "setting user");
}

static void print_reader(const struct reader *reader)
{
	if (reader->is_of_service)
		printf("dpumapd: valid for user %s, the user of dpumapd.service\n", reader->user);
	else if (reader->user)
		printf("dpumapd: valid for user %s (setting user)\n", reader->user);
	else if (geteuid() == 0)
		printf("dpumapd: valid for root; there is no user " PRIVILEGES_SERVICE_USER
		       ", the user of dpumapd.service\n");
	else
		printf("dpumapd: valid for user %u\n", geteuid());
}

doca_error_t check_configuration(const struct options *options, struct dpumap_error *error)
{
	struct reader reader = {0};
	doca_error_t result = find_reader(options, &reader, error);

	if (result == DOCA_SUCCESS && !reader.is_of_service)
		result = check_start(options, error);
	if (result == DOCA_SUCCESS && reader.user)
		result = check_as(options, &reader, error);
	if (result == DOCA_SUCCESS)
		print_reader(&reader);
	free(reader.user);
	free(reader.group);
	return result;
}
