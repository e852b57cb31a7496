/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/registry/registry.h"

#include <stdlib.h>
#include <time.h>

#include <dpumap/dev.h>

#include "base/clock.h"
#include "common/fleet_library.h"
#include "dpu/base/log.h"
#include "dpu/registry/publishing.h"
#include "fleet/table.h"
#include "local/trusted.h"

/* After a lack of memory. */
#define RETRY_NS (5 * NSEC_PER_SEC)

struct registry {
	const struct export_table *exports;
	const struct registry_settings *settings;
	const struct dpumap_fleet_table *fleet;
	struct publishing *publishing;
	struct snapshot *snapshot; /* being made; NULL: none */
	uint64_t card_guid;
	uint64_t generation; /* of this start */
	uint64_t version;    /* of the exports when the last snapshot began */
	uint64_t retry_at;
	bool is_outdated; /* what was passed on */
};

struct registry_renewal {
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher;
};

/* --- the publisher ---------------------------------------------------------------------------- */

static void on_log(void *context, const char *line)
{
	(void)context;
	log_from(DPUMAP_LINE_WARNING, "registry", "registry: %s", line);
}

static doca_error_t create_publisher(const struct registry_settings *settings,
				     const struct dpumap_fleet_table *fleet,
				     struct dpumap_publisher **publisher,
				     struct dpumap_error *error)
{
	const struct dpumap_publisher_config config = {
		.endpoints = (const char *const *)settings->endpoints.list,
		.num_endpoints = settings->endpoints.num,
		.fleet = settings->fleet,
		.ca = settings->ca,
		.cert = settings->cert,
		.key = settings->key,
		.user = settings->user,
		.password_file = settings->password_file,
		.ttl_s = settings->ttl_s,
		.log = on_log,
	};
	struct dpumap_error why = {0};
	doca_error_t result = fleet->publisher_create(&config, publisher, &why);

	if (result != DOCA_SUCCESS)
		return dpumap_error_set(error, result, "%s:%u: registry: %.240s", settings->file,
					settings->line, why.text);
	return DOCA_SUCCESS;
}

static doca_error_t load(const struct registry_settings *settings,
			 const struct dpumap_fleet_table **fleet, struct dpumap_error *error)
{
	struct dpumap_error why = {0};
	doca_error_t result = dpumap_fleet_library_load(fleet, &why);

	if (result != DOCA_SUCCESS)
		return dpumap_error_set(error, result, "%s:%u: registry: %.240s", settings->file,
					settings->line, why.text);
	/* Its secrets may belong to the same user as those of dpumapd. */
	(*fleet)->trusted_secret_owner(dpumap_trusted_get_secret_owner());
	return DOCA_SUCCESS;
}

doca_error_t registry_check(const struct registry_settings *settings, struct dpumap_error *error)
{
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher;
	doca_error_t result;

	if (!settings->is_set)
		return DOCA_SUCCESS;
	result = load(settings, &fleet, error);
	if (result == DOCA_SUCCESS)
		result = create_publisher(settings, fleet, &publisher, error);
	if (result == DOCA_SUCCESS)
		fleet->publisher_close(publisher, 0);
	return result;
}

/* --- creation --------------------------------------------------------------------------------- */

/* Larger after each start, unless the clock was set back: clients compare it for equality. */
static uint64_t generation_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return timespec_ns(&now) / 1000;
}

doca_error_t registry_create(const struct export_table *exports,
			     const struct registry_settings *settings, struct registry **registry,
			     struct dpumap_error *error)
{
	struct registry *r = calloc(1, sizeof(*r));
	struct dpumap_publisher *publisher;
	doca_error_t result;

	if (!r)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	r->exports = exports;
	r->settings = settings;
	r->generation = generation_now();
	r->is_outdated = true;
	result = dpumap_dev_get_card_guid(export_table_dev(exports), &r->card_guid);
	if (result == DOCA_SUCCESS)
		result = load(settings, &r->fleet, error);
	if (result == DOCA_SUCCESS)
		result = create_publisher(settings, r->fleet, &publisher, error);
	if (result == DOCA_SUCCESS)
		result = publishing_create(r->fleet, publisher, &r->publishing, error);
	if (result != DOCA_SUCCESS) {
		registry_destroy(r);
		return result;
	}
	*registry = r;
	return DOCA_SUCCESS;
}

void registry_destroy(struct registry *registry)
{
	if (!registry)
		return;
	publishing_destroy(registry->publishing);
	snapshot_free(registry->snapshot);
	free(registry);
}

/* --- a reload --------------------------------------------------------------------------------- */

doca_error_t registry_renewal_prepare(const struct registry *registry,
				      const struct registry_settings *settings,
				      struct registry_renewal **renewal, struct dpumap_error *error)
{
	struct registry_renewal *fresh;
	doca_error_t result;

	if (!registry)
		return DOCA_SUCCESS;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	fresh->fleet = registry->fleet;
	result = create_publisher(settings, registry->fleet, &fresh->publisher, error);
	if (result != DOCA_SUCCESS) {
		free(fresh);
		return result;
	}
	*renewal = fresh;
	return DOCA_SUCCESS;
}

void registry_renew(struct registry *registry, struct registry_renewal *renewal)
{
	if (!renewal)
		return;
	publishing_renew(registry->publishing, renewal->publisher);
	free(renewal);
	registry->is_outdated = true; /* the addresses may have changed */
}

void registry_renewal_cancel(struct registry_renewal *renewal)
{
	if (!renewal)
		return;
	renewal->fleet->publisher_close(renewal->publisher, 0);
	free(renewal);
}

/* --- publishing ------------------------------------------------------------------------------- */

/* Exports that change while their snapshot is made are in the next one. */
static doca_error_t begin(struct registry *r, struct dpumap_error *error)
{
	uint64_t version = export_table_version(r->exports);
	doca_error_t result =
		snapshot_create(r->settings, r->card_guid, r->generation, &r->snapshot, error);

	if (result != DOCA_SUCCESS)
		return result;
	r->version = version;
	r->is_outdated = false;
	return DOCA_SUCCESS;
}

static bool has_changed(const struct registry *r)
{
	return r->is_outdated || r->version != export_table_version(r->exports);
}

/* AGAIN: the snapshot has become larger. */
static doca_error_t go_on(struct registry *r, struct dpumap_error *error)
{
	doca_error_t result = r->snapshot ? DOCA_SUCCESS : begin(r, error);

	if (result == DOCA_SUCCESS)
		result = snapshot_add_some(r->snapshot, r->exports, error);
	if (result == DOCA_SUCCESS)
		result = publishing_pass(r->publishing, r->snapshot, error);
	if (result == DOCA_SUCCESS)
		r->snapshot = NULL;
	return result;
}

bool registry_has_work(const struct registry *registry)
{
	return registry && registry->snapshot;
}

void registry_work(struct registry *registry, bool is_changing)
{
	struct registry *r = registry;
	uint64_t now = monotonic_ns();
	struct dpumap_error error = {0};
	doca_error_t result;

	if (!r || now < r->retry_at || (!r->snapshot && (is_changing || !has_changed(r))))
		return;
	result = go_on(r, &error);
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		return;
	snapshot_free(r->snapshot);
	r->snapshot = NULL;
	r->is_outdated = true;
	r->retry_at = now + RETRY_NS;
	log_from(DPUMAP_LINE_WARNING, "registry",
		 "registry: cannot publish the exports, trying again: %s", error.text);
}

void registry_describe(const struct registry *registry, FILE *out)
{
	const struct registry_settings *settings = registry->settings;
	struct dpumap_publisher_state state;

	registry_get_state(registry, &state);
	if (state.phase == DPUMAP_PUBLISHER_PUBLISHED)
		fprintf(out, "published as %s in fleet %s", settings->name, settings->fleet);
	else if (!state.problem[0])
		fprintf(out, "publishing as %s in fleet %s", settings->name, settings->fleet);
	else
		fprintf(out, "not published in fleet %s (%s): %s", settings->fleet,
			state.phase_name, state.problem);
}

bool registry_get_state(const struct registry *registry, struct dpumap_publisher_state *state)
{
	if (!registry)
		return false;
	publishing_get_state(registry->publishing, state);
	return true;
}
