/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "fleet/table.h"
#include "host/base/interrupt.h"
#include "host/commands/fleet_report.h"
#include "host/fleet/fleet.h"

struct fleet_watch {
	const struct options *options;
	const struct fleet *fleet;
	uint64_t num_events;
};

static const char *event_name(enum dpumap_fleet_event event)
{
	static const char *const names[] = {
		[DPUMAP_FLEET_ADDED] = "added",	    [DPUMAP_FLEET_CHANGED] = "changed",
		[DPUMAP_FLEET_REMOVED] = "removed", [DPUMAP_FLEET_RESYNCED] = "resynced",
		[DPUMAP_FLEET_STALE] = "stale",	    [DPUMAP_FLEET_LIVE] = "live",
	};

	return names[event];
}

/* --- which records ---------------------------------------------------------------------------- */

/* Pattern and labels as in dpumap_fleet_list(). A pattern without a colon is for DPUs. */
static bool matches_name(const char *pattern, const struct dpumap_fleet_dpu *dpu,
			 const struct dpumap_fleet_export *export)
{
	char name[FLEET_NAME_TEXT_MAX];

	if (!pattern)
		return true;
	if (!strchr(pattern, ':'))
		return fnmatch(pattern, export ? export->dpu : dpu->name, 0) == 0;
	fleet_report_name(dpu, export, name);
	return export && fnmatch(pattern, name, 0) == 0;
}

static bool matches_label(const char *wanted, const char *label)
{
	const char *equals = strchr(wanted, '=');
	size_t len = equals ? (size_t)(equals - wanted) : strlen(wanted);

	if (strncmp(label, wanted, len) != 0 || label[len] != '=')
		return false;
	return !equals || fnmatch(equals + 1, label + len + 1, 0) == 0;
}

static bool has_label(const struct dpumap_fleet_export *export, const char *wanted)
{
	for (size_t i = 0; i < export->num_labels; i++)
		if (matches_label(wanted, export->labels[i]))
			return true;
	return false;
}

/* DPUs have no labels. */
static bool is_wanted(const struct options *o, const struct dpumap_fleet_dpu *dpu,
		      const struct dpumap_fleet_export *export)
{
	if (!matches_name(o->args[0], dpu, export) || (o->num_labels && !export))
		return false;
	for (size_t i = 0; i < o->num_labels; i++)
		if (!has_label(export, o->labels[i]))
			return false;
	return true;
}

/* --- events ----------------------------------------------------------------------------------- */

static struct json_object *new_event(const char *event)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "schema", "dpumap-fleet-watch-1");
	json_add_text(object, "event", event);
	return object;
}

static void print_record(const struct fleet_watch *w, const char *event,
			 const struct dpumap_fleet_dpu *dpu,
			 const struct dpumap_fleet_export *export)
{
	char name[FLEET_NAME_TEXT_MAX];
	struct json_object *object;

	fleet_report_name(dpu, export, name);
	if (!(w->options->given & OPTION_JSON)) {
		printf("%-8s %s\n", event, name);
		fflush(stdout);
		return;
	}
	object = new_event(event);
	json_add_text(object, "name", name);
	if (export)
		json_object_object_add(object, "export", fleet_json_export(export));
	else
		json_object_object_add(object, "dpu", fleet_json_dpu(dpu));
	json_print_line(object);
}

/* An event of the view as a whole. */
static void print_view(const struct fleet_watch *w, const char *event)
{
	const struct dpumap_fleet_status *status;
	char age[FLEET_AGE_MAX];
	struct json_object *object;

	if (w->fleet->table->get_status(w->fleet->view, &status) != DOCA_SUCCESS)
		return;
	fleet_format_age(status->age_ms, age);
	if (!(w->options->given & OPTION_JSON)) {
		printf("%-8s %s", event, w->options->fleet);
		if (!status->is_live)
			printf(", known %s ago: %s", age, status->problem);
		putchar('\n');
		fflush(stdout);
		return;
	}
	object = new_event(event);
	fleet_json_add_view(object, w->options->fleet, status);
	json_print_line(object);
}

static void on_event(union doca_data user_data, enum dpumap_fleet_event event,
		     const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *export)
{
	struct fleet_watch *w = user_data.ptr;

	if (w->options->count && w->num_events == w->options->count)
		return;
	if (!dpu && !export) {
		print_view(w, event_name(event));
	} else if (is_wanted(w->options, dpu, export)) {
		w->num_events++;
		print_record(w, event_name(event), dpu, export);
	}
}

static doca_error_t wait_for_more(const struct fleet *f, struct dpumap_error *error)
{
	struct pollfd p = {.events = POLLIN};
	int wait_ms = 0;

	f->table->get_notification_handle(f->view, &p.fd);
	f->table->get_next_time(f->view, &wait_ms);
	if (poll(&p, 1, wait_ms) < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for the registry");
	return DOCA_SUCCESS;
}

static doca_error_t listen_on(const struct fleet_watch *w, struct dpumap_error *error)
{
	const struct fleet *f = w->fleet;
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS &&
	       (!w->options->count || w->num_events < w->options->count)) {
		result = wait_for_more(f, error);
		if (result != DOCA_SUCCESS)
			return result;
		result = f->table->process(f->view);
		if (result != DOCA_SUCCESS)
			return fleet_fault(f, result, error);
		if (ferror(stdout))
			result = dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
						  "cannot write to standard output");
	}
	return result;
}

/* A name that is not exported yet may be misspelt. */
static void print_start(const struct fleet_watch *w)
{
	const struct dpumap_fleet_export *export;
	const char *name = w->options->args[0];
	struct json_object *object;

	print_view(w, "watching");
	if (!name || !strchr(name, ':') ||
	    w->fleet->table->resolve(w->fleet->view, name, &export) != DOCA_ERROR_NOT_FOUND)
		return; /* a pattern is not a valid name */
	if (!(w->options->given & OPTION_JSON)) {
		printf("%-8s %s\n", "absent", name);
		fflush(stdout);
		return;
	}
	object = new_event("absent");
	json_add_text(object, "name", name);
	json_print_line(object);
}

doca_error_t fleet_watch(const struct options *options, struct dpumap_error *error)
{
	struct fleet f;
	struct fleet_watch w = {.options = options, .fleet = &f};
	doca_error_t result;

	result = fleet_open(options, options->args[0], &f, error);
	if (result == DOCA_SUCCESS) {
		f.table->watch(f.view, on_event, (union doca_data){.ptr = &w});
		print_start(&w);
		interrupt_release();
		result = listen_on(&w, error);
	}
	fleet_close(&f);
	return result;
}
