/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/size.h"
#include "fleet/table.h"
#include "host/commands/fleet_report.h"
#include "host/fleet/fleet.h"

struct output {
	const struct fleet *fleet;
	bool json;
	struct json_object *dpus, *members;
};

static const char *dash(const char *text)
{
	return text[0] ? text : "-";
}

/* --- DPUs ------------------------------------------------------------------------------------- */

static void print_dpu(const struct dpumap_fleet_dpu *dpu, const char *lease)
{
	const char *address = dpu->num_addresses ? dpu->addresses[0] : "-";

	if (dpu->needs_newer)
		printf("%-24s %7zu  %-14s needs a newer dpumap\n", dpu->name, dpu->num_exports,
		       lease);
	else
		printf("%-24s %7zu  %-14s %-10s %s\n", dpu->name, dpu->num_exports, lease,
		       dash(dpu->version), address);
}

static void on_lease(union doca_data user_data, const struct dpumap_fleet_dpu *dpu,
		     int64_t remaining_s, int64_t granted_s)
{
	struct output *out = user_data.ptr;
	struct json_object *object;
	char text[64];

	if (!out->json) {
		if (remaining_s < 0)
			snprintf(text, sizeof(text), "expired");
		else
			snprintf(text, sizeof(text), "%" PRId64 " of %" PRId64 " s", remaining_s,
				 granted_s);
		print_dpu(dpu, text);
		return;
	}
	object = fleet_json_dpu(dpu);
	json_object_object_add(object, "lease_remaining", json_object_new_int64(remaining_s));
	json_object_object_add(object, "lease_granted", json_object_new_int64(granted_s));
	json_object_array_add(out->dpus, object);
}

static void on_dpu(union doca_data user_data, const struct dpumap_fleet_dpu *dpu)
{
	struct output *out = user_data.ptr;

	if (out->json)
		json_object_array_add(out->dpus, fleet_json_dpu(dpu));
	else
		print_dpu(dpu, "unknown");
}

/* Without etcd nobody knows the leases. */
static doca_error_t show_dpus(struct output *out, const char *pattern, bool is_live)
{
	const struct dpumap_fleet_table *table = out->fleet->table;
	union doca_data context = {.ptr = out};

	if (!out->json)
		printf("\n%-24s %7s  %-14s %-10s %s\n", "DPU", "EXPORTS", "LEASE", "VERSION",
		       "ADDRESS");
	if (is_live)
		return table->list_leases(out->fleet->view, pattern, on_lease, context);
	return table->list_dpus(out->fleet->view, pattern, on_dpu, context);
}

/* --- members of etcd -------------------------------------------------------------------------- */

static void print_member(const struct dpumap_fleet_member *member)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(member->db_bytes, size);
	printf("%-16s %-9s %-8s %10s  %s%s%s\n", dash(member->name),
	       member->is_leader    ? "leader"
	       : member->is_healthy ? "healthy"
				    : "FAILED",
	       dash(member->version), size, member->endpoint, member->problem[0] ? ": " : "",
	       member->problem);
}

static struct json_object *json_member(const struct dpumap_fleet_member *member)
{
	struct json_object *object = json_object_new_object();
	char text[2 + 16 + 1];

	json_add_text(object, "name", member->name);
	json_add_text(object, "endpoint", member->endpoint);
	json_object_object_add(object, "healthy", json_object_new_boolean(member->is_healthy));
	json_object_object_add(object, "leader", json_object_new_boolean(member->is_leader));
	json_add_text(object, "version", member->version);
	snprintf(text, sizeof(text), "0x%016" PRIx64, member->cluster_id);
	json_add_text(object, "cluster", text);
	json_add_number(object, "database_bytes", member->db_bytes);
	json_add_text(object, "problem", member->problem);
	return object;
}

static void on_member(union doca_data user_data, const struct dpumap_fleet_member *member)
{
	struct output *out = user_data.ptr;

	if (out->json)
		json_object_array_add(out->members, json_member(member));
	else
		print_member(member);
}

static doca_error_t show_members(struct output *out)
{
	if (!out->json)
		printf("\n%-16s %-9s %-8s %10s  %s\n", "MEMBER", "STATE", "ETCD", "DATABASE",
		       "ENDPOINT");
	return out->fleet->table->list_members(out->fleet->view, on_member,
					       (union doca_data){.ptr = out});
}

/* --- the view --------------------------------------------------------------------------------- */

static void print_view(const struct fleet *f, const struct dpumap_fleet_status *status)
{
	char age[FLEET_AGE_MAX];

	fleet_format_age(status->age_ms, age);
	printf("fleet        %s\n", f->name);
	if (status->is_live)
		printf("registry     live at revision %" PRId64 ", by %s\n", status->revision,
		       status->endpoint);
	else
		printf("registry     cannot be reached (%s); known %s ago\n", status->problem, age);
	printf("DPUs         %zu\n", status->num_dpus);
	printf("exports      %zu\n", status->num_exports);
	if (status->num_newer)
		printf("newer        %zu records need a newer dpumap\n", status->num_newer);
	if (status->num_skipped)
		printf("skipped      %zu records are not valid\n", status->num_skipped);
}

static struct json_object *json_view(const struct fleet *f,
				     const struct dpumap_fleet_status *status)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "schema", "dpumap-fleet-status-1");
	fleet_json_add_view(object, f->name, status);
	json_object_object_add(object, "revision", json_object_new_int64(status->revision));
	json_add_number(object, "num_dpus", status->num_dpus);
	json_add_number(object, "num_exports", status->num_exports);
	json_add_number(object, "num_newer", status->num_newer);
	json_add_number(object, "num_skipped", status->num_skipped);
	return object;
}

/* unreachable: why the registry is. */
static doca_error_t show(const struct fleet *f, const struct options *o,
			 struct dpumap_error *unreachable)
{
	struct output out = {.fleet = f, .json = o->given & OPTION_JSON};
	const struct dpumap_fleet_status *status;
	struct json_object *object = NULL;
	doca_error_t result = f->table->get_status(f->view, &status);

	if (result != DOCA_SUCCESS)
		return result;
	if (!status->is_live)
		dpumap_error_set(unreachable, DOCA_ERROR_NOT_CONNECTED,
				 "the registry of fleet %s cannot be reached: %.200s", f->name,
				 status->problem);
	if (out.json) {
		object = json_view(f, status);
		out.dpus = json_object_new_array();
		out.members = json_object_new_array();
		json_object_object_add(object, "dpus", out.dpus);
		json_object_object_add(object, "members", out.members);
	} else {
		print_view(f, status);
	}
	result = show_dpus(&out, o->args[0], unreachable->code == DOCA_SUCCESS);
	if (result == DOCA_SUCCESS)
		result = show_members(&out);
	if (object && result == DOCA_SUCCESS)
		json_print(object);
	else
		json_object_put(object);
	return result;
}

doca_error_t fleet_status(const struct options *options, struct dpumap_error *error)
{
	struct dpumap_error unreachable = {0};
	struct fleet f;
	doca_error_t result;

	result = fleet_open(options, NULL, &f, error);
	if (result == DOCA_SUCCESS) {
		result = show(&f, options, &unreachable);
		if (result != DOCA_SUCCESS)
			fleet_fault(&f, result, error);
		else if (unreachable.code != DOCA_SUCCESS)
			result = dpumap_error_set(error, unreachable.code, "%s", unreachable.text);
	}
	fleet_close(&f);
	return result;
}
