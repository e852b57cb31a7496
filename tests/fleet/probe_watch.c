/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A watching host. Commands: list [PATTERN [LABEL...]], dpus, status, members, leases, resolve NAME,
 * resolve-dpu NAME, set-up, connect NAME CERT KEY CA, connect-psk NAME FILE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/channel.h>
#include <dpumap/fleet.h>

#include "base/array.h"
#include "probe.h"

static const char *const events[] = {
	[DPUMAP_FLEET_ADDED] = "added",	    [DPUMAP_FLEET_CHANGED] = "changed",
	[DPUMAP_FLEET_REMOVED] = "removed", [DPUMAP_FLEET_RESYNCED] = "resynced",
	[DPUMAP_FLEET_STALE] = "stale",	    [DPUMAP_FLEET_LIVE] = "live",
};

static struct json_object *describe_dpu(const struct dpumap_fleet_dpu *dpu)
{
	struct json_object *json = json_object_new_object();
	struct json_object *addresses = json_object_new_array();

	probe_add(json, "dpu", dpu->name);
	for (size_t i = 0; i < dpu->num_addresses; i++)
		json_object_array_add(addresses, json_object_new_string(dpu->addresses[i]));
	json_object_object_add(json, "addresses", addresses);
	probe_add(json, "certificate", dpu->certificate_name);
	probe_add(json, "version", dpu->version);
	probe_add_number(json, "exports", (long long)dpu->num_exports);
	probe_add_number(json, "generation", (long long)dpu->generation);
	probe_add_number(json, "newer", dpu->needs_newer);
	return json;
}

static struct json_object *describe_export(const struct dpumap_fleet_export *e)
{
	struct json_object *json = json_object_new_object();
	struct json_object *labels = json_object_new_array();

	probe_add(json, "dpu", e->dpu);
	probe_add(json, "export", e->name);
	probe_add(json, "kind", e->kind);
	probe_add(json, "via", e->via);
	probe_add_number(json, "size", (long long)e->size);
	probe_add_number(json, "access", e->access);
	probe_add_number(json, "generation", (long long)e->generation);
	for (size_t i = 0; i < e->num_labels; i++)
		json_object_array_add(labels, json_object_new_string(e->labels[i]));
	json_object_object_add(json, "labels", labels);
	probe_add_number(json, "newer", e->needs_newer);
	return json;
}

static void heard(union doca_data user_data, enum dpumap_fleet_event event,
		  const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *e)
{
	(void)user_data;
	probe_print(events[event], dpu ? describe_dpu(dpu)
				   : e ? describe_export(e)
				       : json_object_new_object());
}

static void logged(union doca_data user_data, const char *line)
{
	struct json_object *json = json_object_new_object();

	(void)user_data;
	probe_add(json, "line", line);
	probe_print("log", json);
}

static void result_of(struct dpumap_fleet *fleet, const char *event, doca_error_t result)
{
	struct json_object *json = json_object_new_object();

	probe_add(json, "result", doca_error_get_name(result));
	probe_add(json, "error", result == DOCA_SUCCESS ? "" : dpumap_fleet_get_error(fleet));
	probe_print(event, json);
}

/* --- lists: one line with an array ------------------------------------------------------------ */

static void add_export(union doca_data list, const struct dpumap_fleet_export *e)
{
	json_object_array_add(list.ptr, describe_export(e));
}

static void add_dpu(union doca_data list, const struct dpumap_fleet_dpu *dpu)
{
	json_object_array_add(list.ptr, describe_dpu(dpu));
}

static void add_member(union doca_data list, const struct dpumap_fleet_member *m)
{
	struct json_object *json = json_object_new_object();

	probe_add(json, "name", m->name);
	probe_add(json, "endpoint", m->endpoint);
	probe_add(json, "version", m->version);
	probe_add(json, "problem", m->problem);
	probe_add_number(json, "healthy", m->is_healthy);
	probe_add_number(json, "leader", m->is_leader);
	json_object_array_add(list.ptr, json);
}

static void add_lease(union doca_data list, const struct dpumap_fleet_dpu *dpu, int64_t remaining_s,
		      int64_t granted_s)
{
	struct json_object *json = json_object_new_object();

	probe_add(json, "dpu", dpu->name);
	probe_add_number(json, "remaining", remaining_s);
	probe_add_number(json, "granted", granted_s);
	json_object_array_add(list.ptr, json);
}

static void print_list(struct dpumap_fleet *fleet, char *words[], size_t num)
{
	struct json_object *list = json_object_new_array(), *json = json_object_new_object();
	union doca_data data = {.ptr = list};
	doca_error_t result;

	if (strcmp(words[0], "list") == 0)
		result = dpumap_fleet_list(fleet, num > 1 ? words[1] : NULL,
					   (const char *const *)words + 2, num > 2 ? num - 2 : 0,
					   add_export, data);
	else if (strcmp(words[0], "dpus") == 0)
		result = dpumap_fleet_list_dpus(fleet, num > 1 ? words[1] : NULL, add_dpu, data);
	else if (strcmp(words[0], "members") == 0)
		result = dpumap_fleet_list_members(fleet, add_member, data);
	else
		result = dpumap_fleet_list_leases(fleet, NULL, add_lease, data);
	json_object_object_add(json, "list", list);
	probe_add(json, "result", doca_error_get_name(result));
	probe_print(words[0], json);
}

static void print_status(struct dpumap_fleet *fleet)
{
	struct json_object *json = json_object_new_object();
	const struct dpumap_fleet_status *s;

	if (dpumap_fleet_get_status(fleet, &s) != DOCA_SUCCESS)
		exit(1);
	probe_add_number(json, "live", s->is_live);
	probe_add_number(json, "cached", s->from_cache);
	probe_add_number(json, "age_ms", (long long)s->age_ms);
	probe_add_number(json, "dpus", (long long)s->num_dpus);
	probe_add_number(json, "exports", (long long)s->num_exports);
	probe_add_number(json, "skipped", (long long)s->num_skipped);
	probe_add_number(json, "newer", (long long)s->num_newer);
	probe_add_number(json, "revision", s->revision);
	probe_add_number(json, "resyncs", (long long)s->num_resyncs);
	probe_add_number(json, "requests", (long long)s->num_requests);
	probe_add(json, "endpoint", s->endpoint);
	probe_add(json, "problem", s->problem);
	probe_print("status", json);
}

/* --- connecting: the sizes are those that the DPU says ---------------------------------------- */

static void add_size(union doca_data list, const struct dpumap_channel_export *e)
{
	struct json_object *json = json_object_new_object();

	probe_add(json, "export", e->name);
	probe_add_number(json, "size", (long long)e->size);
	probe_add_number(json, "access", e->access);
	json_object_array_add(list.ptr, json);
}

static void connect_to(struct dpumap_fleet *fleet, char *words[], size_t num)
{
	struct json_object *list = json_object_new_array(), *json = json_object_new_object();
	struct dpumap_channel *channel;
	doca_error_t result;

	if (dpumap_channel_create(&channel) != DOCA_SUCCESS)
		exit(1);
	dpumap_channel_set_timeout(channel, 5000);
	if (num == 5)
		dpumap_channel_set_certificate(channel, words[2], words[3], words[4], NULL);
	else
		dpumap_channel_set_psk(channel, words[2], NULL);
	result = dpumap_fleet_connect(fleet, words[1], channel);
	if (result == DOCA_SUCCESS)
		dpumap_channel_list(channel, add_size, (union doca_data){.ptr = list});
	json_object_object_add(json, "list", list);
	probe_add(json, "result", doca_error_get_name(result));
	probe_add(json, "error", result == DOCA_SUCCESS ? "" : dpumap_fleet_get_error(fleet));
	probe_print("connect", json);
	dpumap_channel_destroy(channel);
}

static void resolve(struct dpumap_fleet *fleet, const char *name, bool is_dpu)
{
	const struct dpumap_fleet_export *e = NULL;
	const struct dpumap_fleet_dpu *dpu = NULL;
	struct json_object *json;
	doca_error_t result = is_dpu ? dpumap_fleet_resolve_dpu(fleet, name, &dpu)
				     : dpumap_fleet_resolve(fleet, name, &e);

	json = dpu ? describe_dpu(dpu) : e ? describe_export(e) : json_object_new_object();
	probe_add(json, "result", doca_error_get_name(result));
	probe_add(json, "error", result == DOCA_SUCCESS ? "" : dpumap_fleet_get_error(fleet));
	probe_print(is_dpu ? "resolve-dpu" : "resolve", json);
}

/* What only a fleet that is not started allows. */
static void set_up_again(struct dpumap_fleet *fleet)
{
	const struct {
		const char *call;
		doca_error_t result;
	} calls[] = {
		{"add_endpoint", dpumap_fleet_add_endpoint(fleet, "http://127.0.0.1:1")},
		{"set_tls", dpumap_fleet_set_tls(fleet, "/ca", NULL, NULL)},
		{"set_user", dpumap_fleet_set_user(fleet, "user", "/file")},
		{"set_cache", dpumap_fleet_set_cache(fleet, "/file")},
		{"set_dpu", dpumap_fleet_set_dpu(fleet, "dpu1")},
		{"set_timeout", dpumap_fleet_set_timeout(fleet, 1000)},
		{"start", dpumap_fleet_start(fleet)},
	};
	struct json_object *json = json_object_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		probe_add(json, calls[i].call, doca_error_get_name(calls[i].result));
	probe_print("set-up", json);
}

static void command(void *context, char *words[], size_t num)
{
	if (strcmp(words[0], "status") == 0)
		print_status(context);
	else if (strcmp(words[0], "set-up") == 0)
		set_up_again(context);
	else if (strcmp(words[0], "resolve") == 0 && num == 2)
		resolve(context, words[1], false);
	else if (strcmp(words[0], "resolve-dpu") == 0 && num == 2)
		resolve(context, words[1], true);
	else if (strncmp(words[0], "connect", strlen("connect")) == 0 && num >= 3)
		connect_to(context, words, num);
	else
		print_list(context, words, num);
}

static int next_ms(void *context)
{
	int ms = -1;

	(void)dpumap_fleet_get_next_time(context, &ms);
	return ms;
}

static void process(void *context)
{
	(void)dpumap_fleet_process(context);
}

static doca_error_t set_up(struct dpumap_fleet *fleet, const struct probe_options *o)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; result == DOCA_SUCCESS && i < o->num_endpoints; i++)
		result = dpumap_fleet_add_endpoint(fleet, o->endpoints[i]);
	if (result == DOCA_SUCCESS && o->ca)
		result = dpumap_fleet_set_tls(fleet, o->ca, o->cert, o->key);
	if (result == DOCA_SUCCESS && o->user)
		result = dpumap_fleet_set_user(fleet, o->user, o->password_file);
	if (result == DOCA_SUCCESS && o->cache)
		result = dpumap_fleet_set_cache(fleet, o->cache);
	if (result == DOCA_SUCCESS && o->dpu)
		result = dpumap_fleet_set_dpu(fleet, o->dpu);
	if (result == DOCA_SUCCESS && o->timeout_ms)
		result = dpumap_fleet_set_timeout(fleet, o->timeout_ms);
	return result;
}

int probe_watch(const struct probe_options *options)
{
	struct dpumap_fleet *fleet;
	struct probe_loop loop = {.next_ms = next_ms, .process = process, .command = command};
	union doca_data none = {0};
	doca_error_t result;

	result = dpumap_fleet_create(options->fleet, &fleet);
	if (result != DOCA_SUCCESS) {
		result_of(NULL, "started", result);
		return 1;
	}
	dpumap_fleet_set_log(fleet, logged, none);
	dpumap_fleet_watch(fleet, heard, none);
	result = set_up(fleet, options);
	if (result == DOCA_SUCCESS)
		result = dpumap_fleet_start(fleet);
	result_of(fleet, "started", result);
	if (result == DOCA_SUCCESS &&
	    dpumap_fleet_get_notification_handle(fleet, &loop.fd) == DOCA_SUCCESS) {
		loop.context = fleet;
		probe_run(&loop);
	}
	dpumap_fleet_destroy(fleet);
	return result == DOCA_SUCCESS ? 0 : 1;
}
