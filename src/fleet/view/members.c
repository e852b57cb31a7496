/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The members of the etcd cluster and the leases of the DPUs, for people who look. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/etcd/answer.h"
#include "fleet/etcd/body.h"
#include "fleet/view/fleet.h"
#include "fleet/view/fleet_priv.h"

#define MEMBERS_MAX 64
#define AT_ONCE	    16 /* requests for leases */
#define TEXT_SIZE   128

struct member {
	char name[TEXT_SIZE], url[DPUMAP_FLEET_URL_MAX], version[TEXT_SIZE], problem[256];
	struct dpumap_fleet_member info;
};

struct members {
	struct dpumap_fleet *fleet;
	struct dpumap_etcd_call *calls[DPUMAP_ETCD_ENDPOINTS_MAX];
	struct dpumap_etcd_call *list_call;
	struct member asked[DPUMAP_ETCD_ENDPOINTS_MAX]; /* one for each endpoint */
	struct member listed[MEMBERS_MAX];
	size_t num_listed;
	size_t waiting;
};

/* --- the state of an endpoint ----------------------------------------------------------------- */

struct ask {
	struct members *members;
	size_t endpoint;
};

static void copy_shown(char *to, size_t size, const char *text)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE];

	snprintf(to, size, "%.*s", (int)size - 1, dpumap_fleet_shown(text, strlen(text), shown));
}

static void set_problem(struct member *m, const char *text)
{
	snprintf(m->problem, sizeof(m->problem), "%.*s", (int)sizeof(m->problem) - 1, text);
}

static void answered(void *context, const struct dpumap_etcd_reply *reply)
{
	struct ask *ask = context;
	struct members *all = ask->members;
	struct member *m = &all->asked[ask->endpoint];
	uint64_t leader;

	all->calls[ask->endpoint] = NULL;
	all->waiting--;
	if (reply->error.code != DOCA_SUCCESS) {
		set_problem(m, reply->error.text);
		return;
	}
	m->info.id =
		dpumap_answer_uint64(json_object_object_get(reply->json, "header"), "member_id");
	m->info.cluster_id = reply->cluster_id;
	m->info.db_bytes = dpumap_answer_uint64(reply->json, "dbSize");
	copy_shown(m->version, sizeof(m->version), dpumap_answer_text(reply->json, "version"));
	leader = dpumap_answer_uint64(reply->json, "leader");
	m->info.is_healthy = leader != 0;
	m->info.is_leader = leader && leader == m->info.id;
	if (!leader)
		set_problem(m, "it has no leader: too few members are running");
}

static void ask_endpoints(struct members *all, struct ask asks[])
{
	struct dpumap_etcd *etcd = all->fleet->etcd;
	struct dpumap_error error;

	for (size_t i = 0; i < dpumap_etcd_num_endpoints(etcd); i++) {
		asks[i] = (struct ask){.members = all, .endpoint = i};
		dpumap_fleet_copy(all->asked[i].url, sizeof(all->asked[i].url),
				  dpumap_etcd_url(etcd, i));
		if (dpumap_etcd_begin_at(etcd, i, "/v3/maintenance/status",
					 json_object_new_object(), answered, &asks[i],
					 &all->calls[i], &error) == DOCA_SUCCESS)
			all->waiting++;
		else
			set_problem(&all->asked[i], error.text);
	}
}

/* --- the list of members ---------------------------------------------------------------------- */

static void take_member(struct members *all, struct json_object *json)
{
	struct json_object *urls = json_object_object_get(json, "clientURLs");
	struct member *m = &all->listed[all->num_listed];
	struct json_object *url = NULL;

	if (json_object_is_type(urls, json_type_array))
		url = json_object_array_get_idx(urls, 0);
	m->info.id = dpumap_answer_uint64(json, "ID");
	copy_shown(m->name, sizeof(m->name), dpumap_answer_text(json, "name"));
	copy_shown(m->url, sizeof(m->url), url ? json_object_get_string(url) : "");
	all->num_listed++;
}

static void listed(void *context, const struct dpumap_etcd_reply *reply)
{
	struct json_object *members = json_object_object_get(reply->json, "members");
	struct members *all = context;

	all->list_call = NULL;
	all->waiting--;
	if (!json_object_is_type(members, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(members) && all->num_listed < MEMBERS_MAX;
	     i++)
		take_member(all, json_object_array_get_idx(members, i));
}

static void ask_list(struct members *all)
{
	struct dpumap_error error;

	if (dpumap_etcd_begin(all->fleet->etcd, "/v3/cluster/member/list", json_object_new_object(),
			      listed, all, &all->list_call, &error) == DOCA_SUCCESS)
		all->waiting++;
}

/* --- the report ------------------------------------------------------------------------------- */

static void report(struct member *m, dpumap_fleet_member_cb_t each, union doca_data user_data)
{
	m->info.name = m->name;
	m->info.endpoint = m->url;
	m->info.version = m->version;
	m->info.problem = m->problem;
	each(user_data, &m->info);
}

static bool was_asked(const struct members *all, uint64_t id)
{
	for (size_t i = 0; i < dpumap_etcd_num_endpoints(all->fleet->etcd); i++)
		if (all->asked[i].info.id == id)
			return true;
	return false;
}

/* An endpoint that does not answer may be that of a listed member. */
static bool is_endpoint(const struct members *all, const char *url)
{
	for (size_t i = 0; i < dpumap_etcd_num_endpoints(all->fleet->etcd); i++)
		if (strcmp(all->asked[i].url, url) == 0)
			return true;
	return false;
}

/* A member that has never been up has no URL yet: is it the one that does not answer? */
static bool may_be_endpoint(const struct members *all, const struct member *m)
{
	return m->url[0] ? is_endpoint(all, m->url) : was_asked(all, 0);
}

static void name_members(struct members *all)
{
	for (size_t i = 0; i < dpumap_etcd_num_endpoints(all->fleet->etcd); i++)
		for (size_t k = 0; k < all->num_listed; k++)
			if ((all->asked[i].info.id &&
			     all->asked[i].info.id == all->listed[k].info.id) ||
			    (!all->asked[i].info.id &&
			     strcmp(all->asked[i].url, all->listed[k].url) == 0))
				dpumap_fleet_copy(all->asked[i].name, sizeof(all->asked[i].name),
						  all->listed[k].name);
}

static void report_all(struct members *all, dpumap_fleet_member_cb_t each,
		       union doca_data user_data)
{
	name_members(all);
	for (size_t i = 0; i < dpumap_etcd_num_endpoints(all->fleet->etcd); i++) {
		if (!all->asked[i].info.id && !all->asked[i].problem[0])
			set_problem(&all->asked[i], "it does not answer in time");
		report(&all->asked[i], each, user_data);
	}
	for (size_t i = 0; i < all->num_listed; i++) {
		if (was_asked(all, all->listed[i].info.id) || may_be_endpoint(all, &all->listed[i]))
			continue;
		set_problem(&all->listed[i], "it is not among the endpoints of the configuration");
		report(&all->listed[i], each, user_data);
	}
}

static bool all_answered(void *context)
{
	return ((struct members *)context)->waiting == 0;
}

doca_error_t dpumap_fleet_list_members(struct dpumap_fleet *fleet, dpumap_fleet_member_cb_t each,
				       union doca_data user_data)
{
	struct ask asks[DPUMAP_ETCD_ENDPOINTS_MAX];
	struct members *all;
	doca_error_t result;

	if (!fleet || !each)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result != DOCA_SUCCESS)
		return result;
	all = calloc(1, sizeof(*all));
	if (!all)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_NO_MEMORY, "no memory for the list");
	all->fleet = fleet;
	ask_endpoints(all, asks);
	ask_list(all);
	dpumap_fleet_wait(fleet, all_answered, all);
	for (size_t i = 0; i < DPUMAP_ETCD_ENDPOINTS_MAX; i++)
		dpumap_etcd_cancel(all->calls[i]);
	dpumap_etcd_cancel(all->list_call);
	report_all(all, each, user_data);
	free(all);
	return DOCA_SUCCESS;
}

/* --- leases ----------------------------------------------------------------------------------- */

struct lease {
	struct leases *leases;
	struct dpumap_etcd_call *call;
	char dpu[DPUMAP_FLEET_NAME_SIZE];
	int64_t id, remaining_s, granted_s;
	bool is_known;
};

struct leases {
	struct dpumap_fleet *fleet;
	struct lease *list;
	size_t num, begun, ended;
	doca_error_t result;
};

static void begin_leases(struct leases *all);

static void lease_answered(void *context, const struct dpumap_etcd_reply *reply)
{
	struct lease *l = context;

	l->call = NULL;
	l->leases->ended++;
	if (reply->error.code == DOCA_SUCCESS) {
		l->remaining_s = dpumap_answer_int64(reply->json, "TTL");
		l->granted_s = dpumap_answer_int64(reply->json, "grantedTTL");
		l->is_known = true;
	} else if (l->leases->result == DOCA_SUCCESS) {
		l->leases->fleet->error = reply->error;
		l->leases->result = reply->error.code;
	}
	begin_leases(l->leases);
}

static void begin_lease(struct leases *all, struct lease *l)
{
	struct json_object *body = json_object_new_object();
	doca_error_t result;

	dpumap_body_number(body, "ID", l->id);
	result = dpumap_etcd_begin(all->fleet->etcd, "/v3/lease/timetolive", body, lease_answered,
				   l, &l->call, &all->fleet->error);
	if (result == DOCA_SUCCESS)
		return;
	all->ended++;
	all->result = result;
}

static void begin_leases(struct leases *all)
{
	while (all->result == DOCA_SUCCESS && all->begun < all->num &&
	       all->begun - all->ended < AT_ONCE)
		begin_lease(all, &all->list[all->begun++]);
}

static bool leases_ended(void *context)
{
	const struct leases *all = context;

	return all->ended == all->begun && (all->result != DOCA_SUCCESS || all->begun == all->num);
}

static doca_error_t collect_leases(struct dpumap_fleet *fleet, const char *pattern,
				   struct leases *all)
{
	const struct dpumap_fleet_dpu **dpus;
	size_t num;

	if (dpumap_view_sort_dpus(fleet->view, &dpus, &num) != DOCA_SUCCESS)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_NO_MEMORY, "no memory for the list");
	all->list = calloc(num + 1, sizeof(*all->list));
	for (size_t i = 0; all->list && i < num; i++) {
		if (pattern && fnmatch(pattern, dpus[i]->name, 0) != 0)
			continue;
		all->list[all->num].leases = all;
		all->list[all->num].id = dpus[i]->lease;
		dpumap_fleet_copy(all->list[all->num++].dpu, DPUMAP_FLEET_NAME_SIZE, dpus[i]->name);
	}
	free(dpus);
	if (!all->list)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_NO_MEMORY, "no memory for the list");
	return DOCA_SUCCESS;
}

static void report_leases(struct leases *all, dpumap_fleet_lease_cb_t each,
			  union doca_data user_data)
{
	const struct dpumap_fleet_dpu *dpu;

	for (size_t i = 0; i < all->num; i++) {
		/* The view may have changed meanwhile. */
		dpu = dpumap_view_find_dpu(all->fleet->view, all->list[i].dpu);
		if (dpu && all->list[i].is_known)
			each(user_data, dpu, all->list[i].remaining_s, all->list[i].granted_s);
	}
}

doca_error_t dpumap_fleet_list_leases(struct dpumap_fleet *fleet, const char *pattern,
				      dpumap_fleet_lease_cb_t each, union doca_data user_data)
{
	struct leases all = {.fleet = fleet};
	doca_error_t result;

	if (!fleet || !each)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result == DOCA_SUCCESS)
		result = collect_leases(fleet, pattern, &all);
	if (result != DOCA_SUCCESS)
		return result;
	begin_leases(&all);
	dpumap_fleet_wait(fleet, leases_ended, &all);
	if (all.result == DOCA_SUCCESS && !leases_ended(&all))
		all.result = dpumap_fleet_wrong(fleet, DOCA_ERROR_TIME_OUT,
						"etcd does not answer in time");
	for (size_t i = 0; i < all.num; i++)
		dpumap_etcd_cancel(all.list[i].call);
	if (all.result == DOCA_SUCCESS)
		report_leases(&all, each, user_data);
	free(all.list);
	return all.result;
}
