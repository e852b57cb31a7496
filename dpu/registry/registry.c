/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/registry/registry.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include <dpumap/dev.h>

#include "base/clock.h"
#include "common/fleet_library.h"
#include "dpu/base/log.h"
#include "fleet/table.h"
#include "local/trusted.h"

/* How long the end of dpumapd waits for etcd. */
#define CLOSE_MS 1000
/* After a lack of memory. */
#define RETRY_NS (5 * NSEC_PER_SEC)

struct registry {
	struct watch watch; /* of the publisher */
	struct loop *loop;
	const struct export_table *exports;
	const struct registry_settings *settings;
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher;
	uint64_t card_guid;
	uint64_t generation; /* of this start */
	uint64_t version;    /* of the exports that were passed to the publisher */
	uint64_t retry_at;
	uint64_t due;	  /* when the publisher has something to do at the latest */
	bool is_outdated; /* what was passed to the publisher */
	bool is_ready;	  /* the publisher has something to do */
};

struct registry_renewal {
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher;
};

/* -- the publisher -- */

static void on_log(void *context, const char *line)
{
	(void)context;
	log_from(DPUMAP_LINE_WARNING, "registry", "registry: %s", line);
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct registry *registry =
		(struct registry *)((char *)watch - offsetof(struct registry, watch));

	(void)events;
	registry->is_ready = true;
}

static doca_error_t poll_publisher(struct registry *r, struct dpumap_fault *fault)
{
	return loop_add(r->loop, &r->watch, r->fleet->publisher_fd(r->publisher), EPOLLIN, on_ready,
			fault);
}

static doca_error_t create_publisher(const struct registry_settings *settings,
				     const struct dpumap_fleet_table *fleet, void *context,
				     struct dpumap_publisher **publisher,
				     struct dpumap_fault *fault)
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
		.context = context,
	};
	struct dpumap_fault why = {0};
	doca_error_t result = fleet->publisher_create(&config, publisher, &why);

	if (result != DOCA_SUCCESS)
		return dpumap_fault_set(fault, result, "%s:%u: registry: %.240s", settings->file,
					settings->line, why.text);
	return DOCA_SUCCESS;
}

static doca_error_t load(const struct registry_settings *settings,
			 const struct dpumap_fleet_table **fleet, struct dpumap_fault *fault)
{
	struct dpumap_fault why = {0};
	doca_error_t result = dpumap_fleet_library_load(fleet, &why);

	if (result != DOCA_SUCCESS)
		return dpumap_fault_set(fault, result, "%s:%u: registry: %.240s", settings->file,
					settings->line, why.text);
	/* Its secrets may belong to the same user as those of dpumapd. */
	(*fleet)->trusted_secret_owner(dpumap_trusted_get_secret_owner());
	return DOCA_SUCCESS;
}

doca_error_t registry_check(const struct registry_settings *settings, struct dpumap_fault *fault)
{
	const struct dpumap_fleet_table *fleet;
	struct dpumap_publisher *publisher;
	doca_error_t result;

	if (!settings->is_set)
		return DOCA_SUCCESS;
	result = load(settings, &fleet, fault);
	if (result == DOCA_SUCCESS)
		result = create_publisher(settings, fleet, NULL, &publisher, fault);
	if (result == DOCA_SUCCESS)
		fleet->publisher_close(publisher, 0);
	return result;
}

/* -- creation -- */

/* Larger after each start, unless the clock was set back: clients compare it for equality. */
static uint64_t generation_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return timespec_ns(&now) / 1000;
}

doca_error_t registry_create(struct loop *loop, const struct export_table *exports,
			     const struct registry_settings *settings, struct registry **registry,
			     struct dpumap_fault *fault)
{
	struct registry *r = calloc(1, sizeof(*r));
	doca_error_t result;

	if (!r)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	r->loop = loop;
	r->exports = exports;
	r->settings = settings;
	r->generation = generation_now();
	r->is_outdated = true;
	result = dpumap_dev_get_card_guid(export_table_dev(exports), &r->card_guid);
	if (result == DOCA_SUCCESS)
		result = load(settings, &r->fleet, fault);
	if (result == DOCA_SUCCESS)
		result = create_publisher(settings, r->fleet, r, &r->publisher, fault);
	if (result == DOCA_SUCCESS)
		result = poll_publisher(r, fault);
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
	loop_remove(registry->loop, &registry->watch);
	if (registry->publisher)
		registry->fleet->publisher_close(registry->publisher, CLOSE_MS);
	free(registry);
}

/* -- a reload -- */

doca_error_t registry_renewal_prepare(const struct registry *registry,
				      const struct registry_settings *settings,
				      struct registry_renewal **renewal, struct dpumap_fault *fault)
{
	struct registry_renewal *fresh;
	doca_error_t result;

	if (!registry)
		return DOCA_SUCCESS;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the registry");
	fresh->fleet = registry->fleet;
	result = create_publisher(settings, registry->fleet, NULL, &fresh->publisher, fault);
	if (result != DOCA_SUCCESS) {
		free(fresh);
		return result;
	}
	*renewal = fresh;
	return DOCA_SUCCESS;
}

void registry_renew(struct registry *registry, struct registry_renewal *renewal)
{
	struct dpumap_fault why;

	if (!renewal)
		return;
	loop_remove(registry->loop, &registry->watch);
	registry->fleet->publisher_renew(registry->publisher, renewal->publisher);
	free(renewal);
	poll_publisher(registry, &why);
	registry->is_outdated = true; /* the addresses may have changed */
}

void registry_renewal_cancel(struct registry_renewal *renewal)
{
	if (!renewal)
		return;
	renewal->fleet->publisher_close(renewal->publisher, 0);
	free(renewal);
}

/* -- publishing -- */

/* Ids are never used again in one start. */
static void describe(const struct registry *r, const struct named_export *export,
		     struct dpumap_export_info *info, struct dpumap_fleet_export *record)
{
	const struct export_spec *spec = export_get_spec(export);

	export_describe(export, info);
	*record = (struct dpumap_fleet_export){
		.name = spec->name,
		.kind = export_kind_name(spec->kind),
		.via = export_via_name(spec->via),
		.size = info->size,
		.access = info->access & ~(uint32_t)DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
		.generation = r->generation + export_id(export),
		.labels = (const char *const *)spec->labels.list,
		.num_labels = spec->labels.num,
	};
}

static doca_error_t pass(const struct registry *r, struct dpumap_fault *fault)
{
	const struct dpumap_fleet_dpu self = {
		.name = r->settings->name,
		.addresses = (const char *const *)r->settings->addresses.list,
		.num_addresses = r->settings->addresses.num,
		.certificate_name = r->settings->name,
		.version = DPUMAP_VERSION,
		.card_guid = r->card_guid,
		.generation = r->generation,
	};
	size_t num = export_table_count(r->exports);
	struct dpumap_fleet_export *records = calloc(num + 1, sizeof(*records));
	struct dpumap_export_info info;
	doca_error_t result;

	if (!records)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the records");
	for (size_t i = 0; i < num; i++)
		describe(r, export_table_at(r->exports, i), &info, &records[i]);
	result = r->fleet->publisher_set(r->publisher, &self, records, num, fault);
	free(records);
	return result;
}

static void publish(struct registry *r)
{
	uint64_t version = export_table_version(r->exports), now = monotonic_ns();
	struct dpumap_fault fault = {0};

	if ((!r->is_outdated && version == r->version) || now < r->retry_at)
		return;
	r->is_outdated = pass(r, &fault) != DOCA_SUCCESS;
	r->version = version;
	r->is_ready = true;
	if (!r->is_outdated)
		return;
	r->retry_at = now + RETRY_NS;
	log_from(DPUMAP_LINE_WARNING, "registry",
		 "registry: cannot publish the exports, trying again: %s", fault.text);
}

/* Not in each turn of the loop: the publisher compares all records to know. */
static void process(struct registry *r)
{
	int next_ms;

	r->is_ready = false;
	r->fleet->publisher_process(r->publisher);
	next_ms = r->fleet->publisher_next_ms(r->publisher);
	r->due = next_ms < 0 ? UINT64_MAX : monotonic_ns() + (uint64_t)next_ms * NSEC_PER_MSEC;
}

int registry_timeout(const struct registry *registry, int timeout_ms)
{
	uint64_t now = monotonic_ns(), left_ms;

	if (!registry)
		return timeout_ms;
	if (registry->due <= now)
		return 0;
	left_ms = (registry->due - now) / NSEC_PER_MSEC + 1;
	return left_ms < (uint64_t)timeout_ms ? (int)left_ms : timeout_ms;
}

void registry_work(struct registry *registry, bool is_changing)
{
	if (!registry)
		return;
	if (!is_changing)
		publish(registry);
	/* A descriptor that cannot be polled after a reload. */
	if (!registry->watch.ready)
		registry->is_ready = true;
	if (registry->is_ready || monotonic_ns() >= registry->due)
		process(registry);
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
	registry->fleet->publisher_get_state(registry->publisher, state);
	return true;
}
