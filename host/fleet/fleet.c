/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/fleet/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "channel/host_config.h"
#include "common/fleet_library.h"
#include "fleet/table.h"
#include "host/base/interrupt.h"
#include "local/line.h"
#include "local/quota.h"

#define LINES_AT_ONCE  20
#define MSEC_PER_SEC   1000
#define TIMEOUT_MAX_MS 600000

void fleet_format_age(uint64_t age_ms, char text[static FLEET_AGE_MAX])
{
	uint64_t seconds = age_ms / MSEC_PER_SEC;
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (seconds >= 2 * units[i].seconds) {
			snprintf(text, FLEET_AGE_MAX, "%" PRIu64 " %s", seconds / units[i].seconds,
				 units[i].name);
			return;
		}
	}
	snprintf(text, FLEET_AGE_MAX, "%" PRIu64 " s", seconds);
}

doca_error_t fleet_fault(const struct fleet *fleet, doca_error_t result, struct dpumap_error *error)
{
	return dpumap_error_set(error, result, "%s", fleet->table->get_error(fleet->view));
}

static void print_line(const char *text)
{
	dpumap_line_write(DPUMAP_LINE_WARNING, "dpumap", text);
}

/* Anybody who writes to the registry can cause any number of lines. */
static void print_log(union doca_data user_data, const char *line)
{
	char source[DPUMAP_QUOTA_SOURCE_MAX], text[96];
	unsigned int counted;

	(void)user_data;
	while (dpumap_quota_report(source, &counted)) {
		snprintf(text, sizeof(text), "%u more lines about the registry are not printed",
			 counted);
		print_line(text);
	}
	if (dpumap_quota_take("registry", LINES_AT_ONCE))
		print_line(line);
}

static bool make(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* The user's directory of caches; it is created. False if there is none. */
static bool cache_directory(char *path, size_t size)
{
	static const char name[] = "/dpumap";

	if (!dpumap_host_user_directory("XDG_CACHE_HOME", "/.cache", path, size - sizeof(name)) ||
	    !make(path))
		return false;
	memcpy(path + strlen(path), name, sizeof(name));
	return make(path);
}

/* Without a file for it, this works only while etcd can be reached. */
static doca_error_t set_cache(struct fleet *f)
{
	char directory[PATH_MAX], path[PATH_MAX + 80];

	if (!cache_directory(directory, sizeof(directory)))
		return DOCA_SUCCESS;
	snprintf(path, sizeof(path), "%s/fleet-%s.json", directory, f->name);
	return f->table->set_cache(f->view, path);
}

static doca_error_t set_dpu(struct fleet *f, const char *target)
{
	size_t len = target ? strcspn(target, ":") : 0;
	char dpu[DPUMAP_FLEET_NAME_MAX + 2];

	if (!target || strcspn(target, "*?[\\") < len)
		return DOCA_SUCCESS;
	/* A name that is too long stays one. */
	snprintf(dpu, sizeof(dpu), "%.*s", (int)len, target);
	return f->table->set_dpu(f->view, dpu);
}

static doca_error_t configure(struct fleet *f, const struct options *o, const char *target)
{
	const struct dpumap_host_registry *r = o->registry;
	uint64_t timeout_ms = o->timeout_s * MSEC_PER_SEC;
	doca_error_t result = DOCA_SUCCESS;

	f->table->set_log(f->view, print_log, (union doca_data){.ptr = f});
	for (size_t i = 0; i < r->num_endpoints && result == DOCA_SUCCESS; i++)
		result = f->table->add_endpoint(f->view, r->endpoints[i]);
	if (result == DOCA_SUCCESS && r->ca)
		result = f->table->set_tls(f->view, r->ca, r->cert, r->key);
	if (result == DOCA_SUCCESS && r->user)
		result = f->table->set_user(f->view, r->user, r->password_file);
	if (result == DOCA_SUCCESS)
		result = f->table->set_timeout(
			f->view,
			(uint32_t)(timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS));
	if (result == DOCA_SUCCESS)
		result = set_cache(f);
	if (result == DOCA_SUCCESS)
		result = set_dpu(f, target);
	return result;
}

static doca_error_t create(struct fleet *f, const struct options *o, struct dpumap_error *error)
{
	doca_error_t result;

	if (!o->registry->num_endpoints)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"no registry is configured: set registry = { endpoints = "
					"[ \"https://...\" ]; ... } in dpumap.conf, see dpumap(1)");
	result = dpumap_fleet_library_load(&f->table, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = f->table->create(o->fleet, &f->view);
	if (result == DOCA_ERROR_INVALID_VALUE)
		return dpumap_error_set(error, result,
					"a fleet cannot have the name \"%.80s\": use 1 to 63 "
					"letters, digits, -, _ and ., beginning with a letter or a "
					"digit",
					o->fleet);
	return result == DOCA_SUCCESS ? result
				      : dpumap_error_doca(error, result, "cannot create a fleet");
}

static void say_wait(void *context, const char *endpoint, const char *why)
{
	const struct fleet *f = context;
	char text[640];

	snprintf(
		text, sizeof(text),
		"waiting for the registry of fleet %s at %s%s%.320s (--cached uses what was known)",
		f->name, endpoint, why[0] ? ": " : "", why);
	print_line(text);
}

static void say_age(const struct fleet *f, bool is_asked)
{
	const struct dpumap_fleet_status *status;
	char age[FLEET_AGE_MAX], text[512];

	if (f->table->get_status(f->view, &status) != DOCA_SUCCESS || status->is_live)
		return;
	fleet_format_age(status->age_ms, age);
	if (!is_asked)
		snprintf(text, sizeof(text), "this is what was known of fleet %s %s ago", f->name,
			 age);
	else
		snprintf(text, sizeof(text),
			 "the registry of fleet %s cannot be reached (%s): this is what was known "
			 "%s ago",
			 f->name, status->problem, age);
	print_line(text);
}

doca_error_t fleet_open(const struct options *options, const char *target, struct fleet *fleet,
			struct dpumap_error *error)
{
	bool is_cached = options->given & OPTION_CACHED;
	doca_error_t result;

	*fleet = (struct fleet){.name = options->fleet};
	result = create(fleet, options, error);
	if (result != DOCA_SUCCESS)
		return result;
	/* There is nothing to clean up yet: a signal ends a start that waits. */
	interrupt_release();
	result = configure(fleet, options, target);
	fleet->table->on_wait(fleet->view, say_wait, fleet);
	if (result == DOCA_SUCCESS)
		result = is_cached ? fleet->table->start_cached(fleet->view)
				   : fleet->table->start(fleet->view);
	interrupt_catch();
	if (result == DOCA_ERROR_NOT_FOUND && is_cached)
		return dpumap_error_set(error, result, "%s: omit --cached",
					fleet->table->get_error(fleet->view));
	if (result != DOCA_SUCCESS)
		return fleet_fault(fleet, result, error);
	say_age(fleet, !is_cached);
	return DOCA_SUCCESS;
}

void fleet_close(struct fleet *fleet)
{
	if (fleet->view)
		fleet->table->destroy(fleet->view);
	fleet->view = NULL;
}
