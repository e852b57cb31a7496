/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/fleet.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/clock.h"
#include "fleet/view/cache.h"
#include "fleet/view/fleet_priv.h"

DOCA_LOG_REGISTER(DPUMAP_FLEET);

#define TIMEOUT_MS     5000u
#define TIMEOUT_MIN_MS 100u
#define TIMEOUT_MAX_MS 600000u
#define CACHE_EVERY    (10 * NSEC_PER_SEC)

doca_error_t dpumap_fleet_wrong(struct dpumap_fleet *fleet, doca_error_t code, const char *why)
{
	return dpumap_error_set(&fleet->error, code, "%s", why);
}

doca_error_t dpumap_fleet_check_started(struct dpumap_fleet *fleet)
{
	if (!fleet->is_started)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_BAD_STATE,
					  "the fleet is not started: call dpumap_fleet_start()");
	return DOCA_SUCCESS;
}

/* --- life and settings ------------------------------------------------------------------------ */

doca_error_t dpumap_fleet_create(const char *name, struct dpumap_fleet **fleet)
{
	struct dpumap_fleet *f;

	if (!name || !fleet || !dpumap_fleet_name_valid(name))
		return DOCA_ERROR_INVALID_VALUE;
	f = calloc(1, sizeof(*f));
	if (!f)
		return DOCA_ERROR_NO_MEMORY;
	dpumap_fleet_copy(f->name, sizeof(f->name), name);
	f->timeout_ms = TIMEOUT_MS;
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll < 0) {
		free(f);
		return DOCA_ERROR_NO_MEMORY;
	}
	*fleet = f;
	return DOCA_SUCCESS;
}

static void stop(struct dpumap_fleet *f)
{
	dpumap_follow_destroy(f->follow);
	dpumap_etcd_destroy(f->etcd);
	dpumap_view_destroy(f->view);
	f->follow = NULL;
	f->etcd = NULL;
	f->view = NULL;
	f->is_started = false;
	f->from_cache = false;
}

static void write_cache(struct dpumap_fleet *f);

doca_error_t dpumap_fleet_destroy(struct dpumap_fleet *fleet)
{
	if (!fleet)
		return DOCA_ERROR_INVALID_VALUE;
	if (fleet->is_started)
		write_cache(fleet);
	stop(fleet);
	close(fleet->epoll);
	for (size_t i = 0; i < fleet->num_endpoints; i++)
		free(fleet->endpoints[i]);
	free(fleet->ca);
	free(fleet->cert);
	free(fleet->key);
	free(fleet->user);
	free(fleet->password_file);
	free(fleet->cache);
	free(fleet->dpu);
	free(fleet);
	return DOCA_SUCCESS;
}

static doca_error_t check_settable(struct dpumap_fleet *f)
{
	if (f->is_started)
		return dpumap_fleet_wrong(f, DOCA_ERROR_BAD_STATE, "the fleet is already started");
	return DOCA_SUCCESS;
}

static doca_error_t set(struct dpumap_fleet *f, char **setting, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return dpumap_fleet_wrong(f, DOCA_ERROR_NO_MEMORY, "no memory for a setting");
	free(*setting);
	*setting = copy;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_fleet_add_endpoint(struct dpumap_fleet *fleet, const char *url)
{
	doca_error_t result;

	if (!fleet || !url)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		result = dpumap_fleet_url_check(url, &fleet->error);
	if (result == DOCA_SUCCESS && fleet->num_endpoints == DPUMAP_ETCD_ENDPOINTS_MAX)
		result = dpumap_fleet_wrong(fleet, DOCA_ERROR_FULL, "there are too many endpoints");
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->endpoints[fleet->num_endpoints], url);
	if (result == DOCA_SUCCESS)
		fleet->num_endpoints++;
	return result;
}

doca_error_t dpumap_fleet_set_tls(struct dpumap_fleet *fleet, const char *ca, const char *cert,
				  const char *key)
{
	doca_error_t result;

	if (!fleet || !ca || !cert != !key)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->ca, ca);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->cert, cert);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->key, key);
	return result;
}

doca_error_t dpumap_fleet_set_user(struct dpumap_fleet *fleet, const char *user,
				   const char *password_file)
{
	doca_error_t result;

	if (!fleet || !user || !password_file)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->user, user);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->password_file, password_file);
	return result;
}

doca_error_t dpumap_fleet_set_cache(struct dpumap_fleet *fleet, const char *file)
{
	doca_error_t result;

	if (!fleet || !file)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->cache, file);
	return result;
}

doca_error_t dpumap_fleet_set_dpu(struct dpumap_fleet *fleet, const char *name)
{
	struct dpumap_fleet_key key;
	doca_error_t result;

	if (!fleet || !name)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		result = dpumap_fleet_target_parse(name, &key, &fleet->error);
	if (result == DOCA_SUCCESS)
		result = set(fleet, &fleet->dpu, key.dpu);
	return result;
}

doca_error_t dpumap_fleet_set_timeout(struct dpumap_fleet *fleet, uint32_t milliseconds)
{
	doca_error_t result;

	if (!fleet || milliseconds < TIMEOUT_MIN_MS || milliseconds > TIMEOUT_MAX_MS)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS)
		fleet->timeout_ms = milliseconds;
	return result;
}

doca_error_t dpumap_fleet_set_log(struct dpumap_fleet *fleet, dpumap_fleet_log_cb_t log,
				  union doca_data user_data)
{
	if (!fleet)
		return DOCA_ERROR_INVALID_VALUE;
	fleet->log = log;
	fleet->log_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_fleet_watch(struct dpumap_fleet *fleet, dpumap_fleet_watch_cb_t heard,
				union doca_data user_data)
{
	if (!fleet)
		return DOCA_ERROR_INVALID_VALUE;
	fleet->heard = heard;
	fleet->heard_data = user_data;
	return DOCA_SUCCESS;
}

/* --- what the parts report -------------------------------------------------------------------- */

static void log_line(void *context, const char *line)
{
	struct dpumap_fleet *f = context;

	if (f->log)
		f->log(f->log_data, line);
	else
		DOCA_LOG_WARN("%s", line);
}

static void view_changed(void *context, enum dpumap_fleet_event event,
			 const struct dpumap_fleet_dpu *dpu,
			 const struct dpumap_fleet_export *export_info)
{
	struct dpumap_fleet *f = context;

	f->changed = true;
	if (f->heard && !f->in_start)
		f->heard(f->heard_data, event, dpu, export_info);
}

static void happened(void *context, enum dpumap_fleet_event event)
{
	struct dpumap_fleet *f = context;

	if (event == DPUMAP_FLEET_LIVE)
		f->from_cache = false;
	if (f->heard && !f->in_start)
		f->heard(f->heard_data, event, NULL, NULL);
}

/* --- the cache -------------------------------------------------------------------------------- */

static uint64_t real_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / NSEC_PER_MSEC;
}

static uint64_t age_ms(const struct dpumap_fleet *f)
{
	const struct dpumap_follow_state *state = dpumap_follow_state(f->follow);
	uint64_t now = real_ms();

	if (state->confirmed_ns)
		return (monotonic_ns() - state->confirmed_ns) / NSEC_PER_MSEC;
	return now > f->cached_ms ? now - f->cached_ms : 0;
}

/* The records of one DPU have a file of their own, beside that of all records. */
static bool own_cache(const struct dpumap_fleet *f, char path[PATH_MAX])
{
	return f->cache && snprintf(path, PATH_MAX, "%s%s%s", f->cache, f->dpu ? "." : "",
				    f->dpu ? f->dpu : "") < PATH_MAX;
}

static void write_cache(struct dpumap_fleet *f)
{
	const struct dpumap_follow_state *state = dpumap_follow_state(f->follow);
	struct dpumap_cache_about about = {.confirmed_ms = real_ms() - age_ms(f),
					   .revision = state->revision,
					   .cluster_id = dpumap_etcd_cluster(f->etcd)};
	struct dpumap_error error;
	char path[PATH_MAX];

	if (!state->is_live || !own_cache(f, path))
		return;
	f->cache_written = monotonic_ns();
	f->changed = false;
	if (f->dpu && !dpumap_view_num_dpus(f->view))
		unlink(path); /* no file for each name that somebody types */
	else if (dpumap_cache_write(path, f->name, f->view, &about, &error) != DOCA_SUCCESS)
		log_line(f, error.text);
}

/* That of the DPU, or that of all if it is newer. */
static bool newest_cache(const struct dpumap_fleet *f, char path[PATH_MAX])
{
	struct dpumap_cache_about own = {0}, all = {0};
	struct dpumap_error ignored;

	if (!own_cache(f, path))
		return false;
	if (!f->dpu)
		return true;
	(void)dpumap_cache_read(path, f->name, f->dpu, NULL, &own, &ignored);
	(void)dpumap_cache_read(f->cache, f->name, f->dpu, NULL, &all, &ignored);
	if (all.confirmed_ms > own.confirmed_ms)
		dpumap_fleet_copy(path, PATH_MAX, f->cache);
	return true;
}

static bool read_cache(struct dpumap_fleet *f)
{
	struct dpumap_cache_about about = {0};
	struct dpumap_error error;
	char path[PATH_MAX];

	if (!newest_cache(f, path))
		return false;
	if (dpumap_cache_read(path, f->name, f->dpu, f->view, &about, &error) != DOCA_SUCCESS) {
		if (error.code != DOCA_ERROR_NOT_FOUND)
			log_line(f, error.text);
		return false;
	}
	f->cached_ms = about.confirmed_ms;
	f->from_cache = true;
	dpumap_follow_resume(f->follow, about.cluster_id);
	return true;
}

/* --- progress --------------------------------------------------------------------------------- */

static int next_ms(const struct dpumap_fleet *f)
{
	uint64_t next = dpumap_etcd_next(f->etcd), now = monotonic_ns();

	if (dpumap_follow_next(f->follow) < next)
		next = dpumap_follow_next(f->follow);
	if (next <= now)
		return 0;
	next = (next - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return next < INT_MAX ? (int)next : INT_MAX;
}

static void process(struct dpumap_fleet *f)
{
	dpumap_view_forget_found(f->view);
	dpumap_follow_process(f->follow);
	dpumap_etcd_process(f->etcd);
	dpumap_follow_process(f->follow);
	if (f->cache && f->changed && monotonic_ns() - f->cache_written > CACHE_EVERY)
		write_cache(f);
}

void dpumap_fleet_on_wait(struct dpumap_fleet *fleet, dpumap_fleet_waits_fn *waits, void *context)
{
	fleet->waits = waits;
	fleet->waits_context = context;
}

static void say_wait(struct dpumap_fleet *f)
{
	const char *why = dpumap_follow_state(f->follow)->error.text;

	f->waits(f->waits_context, dpumap_etcd_url(f->etcd, dpumap_etcd_current(f->etcd)), why);
	f->waits = NULL;
}

void dpumap_fleet_wait(struct dpumap_fleet *fleet, bool (*is_done)(void *context), void *context)
{
	uint64_t end = monotonic_ns() + fleet->timeout_ms * NSEC_PER_MSEC, now;
	uint64_t say = monotonic_ns() + NSEC_PER_SEC;
	struct pollfd fd = {.fd = dpumap_etcd_fd(fleet->etcd), .events = POLLIN};
	int wait, left;

	process(fleet);
	while (!is_done(context) && (now = monotonic_ns()) < end) {
		wait = next_ms(fleet);
		if (fleet->waits && now >= say)
			say_wait(fleet);
		left = (int)(((fleet->waits && say < end ? say : end) - now) / NSEC_PER_MSEC) + 1;
		if (poll(&fd, 1, wait < left ? wait : left) < 0 && errno != EINTR)
			break;
		process(fleet);
	}
}

doca_error_t dpumap_fleet_process(struct dpumap_fleet *fleet)
{
	doca_error_t result;

	if (!fleet)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result == DOCA_SUCCESS)
		process(fleet);
	return result;
}

doca_error_t dpumap_fleet_get_notification_handle(const struct dpumap_fleet *fleet,
						  doca_notification_handle_t *handle)
{
	if (!fleet || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = fleet->epoll;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_fleet_get_next_time(const struct dpumap_fleet *fleet, int *milliseconds)
{
	if (!fleet || !milliseconds)
		return DOCA_ERROR_INVALID_VALUE;
	*milliseconds = fleet->is_started ? next_ms(fleet) : -1;
	return DOCA_SUCCESS;
}

/* --- the start -------------------------------------------------------------------------------- */

static bool is_decided(void *context)
{
	const struct dpumap_fleet *f = context;
	const struct dpumap_follow_state *state = dpumap_follow_state(f->follow);

	/* Without a quorum there may be one soon. */
	return state->is_live || (state->has_failed && state->error.code != DOCA_ERROR_TIME_OUT);
}

static doca_error_t open_etcd(struct dpumap_fleet *f)
{
	struct dpumap_etcd_config config = {.endpoints = (const char *const *)f->endpoints,
					    .num_endpoints = f->num_endpoints,
					    .ca = f->ca,
					    .cert = f->cert,
					    .key = f->key,
					    .user = f->user,
					    .password_file = f->password_file,
					    .timeout_ms = f->timeout_ms,
					    .log = log_line,
					    .context = f};
	struct epoll_event event = {.events = EPOLLIN};
	doca_error_t result;

	result = dpumap_etcd_create(&config, &f->etcd, &f->error);
	if (result != DOCA_SUCCESS)
		return result;
	if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, dpumap_etcd_fd(f->etcd), &event) != 0)
		return dpumap_fleet_wrong(f, DOCA_ERROR_NO_MEMORY, "cannot poll etcd");
	return DOCA_SUCCESS;
}

static doca_error_t open_parts(struct dpumap_fleet *f)
{
	struct dpumap_follow_config config = {.fleet = f->name,
					      .dpu = f->dpu,
					      .happened = happened,
					      .log = log_line,
					      .context = f};
	doca_error_t result = open_etcd(f);

	if (result != DOCA_SUCCESS)
		return result;
	f->view = dpumap_view_create(view_changed, f);
	config.etcd = f->etcd;
	config.view = f->view;
	if (f->view)
		f->follow = dpumap_follow_create(&config);
	if (!f->follow)
		return dpumap_fleet_wrong(f, DOCA_ERROR_NO_MEMORY, "no memory for a fleet");
	return DOCA_SUCCESS;
}

static doca_error_t open_view(struct dpumap_fleet *f)
{
	const struct dpumap_follow_state *state = dpumap_follow_state(f->follow);

	dpumap_fleet_wait(f, is_decided, f);
	if (state->is_live)
		return DOCA_SUCCESS;
	/* After a definite answer of etcd, what was known earlier may no longer be for this user. */
	if (state->error.code != DOCA_ERROR_NOT_PERMITTED &&
	    state->error.code != DOCA_ERROR_AUTHENTICATION && read_cache(f))
		return DOCA_SUCCESS;
	if (!state->has_failed)
		return dpumap_fleet_wrong(f, DOCA_ERROR_TIME_OUT, "etcd does not answer in time");
	f->error = state->error;
	return f->error.code;
}

static doca_error_t open_cached_view(struct dpumap_fleet *f)
{
	if (read_cache(f))
		return DOCA_SUCCESS;
	return dpumap_fleet_wrong(f, DOCA_ERROR_NOT_FOUND,
				  "nothing valid is stored about the fleet yet");
}

static doca_error_t start(struct dpumap_fleet *fleet,
			  doca_error_t (*open)(struct dpumap_fleet *fleet))
{
	doca_error_t result;

	if (!fleet)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(fleet);
	if (result == DOCA_SUCCESS && !fleet->num_endpoints)
		result = dpumap_fleet_wrong(fleet, DOCA_ERROR_BAD_STATE,
					    "the fleet has no endpoint: call "
					    "dpumap_fleet_add_endpoint()");
	if (result != DOCA_SUCCESS)
		return result;
	fleet->in_start = true;
	result = open_parts(fleet);
	if (result == DOCA_SUCCESS)
		result = open(fleet);
	fleet->in_start = false;
	fleet->is_started = result == DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		stop(fleet);
	return result;
}

doca_error_t dpumap_fleet_start(struct dpumap_fleet *fleet)
{
	return start(fleet, open_view);
}

doca_error_t dpumap_fleet_start_cached(struct dpumap_fleet *fleet)
{
	return start(fleet, open_cached_view);
}

/* --- the state -------------------------------------------------------------------------------- */

static const char *problem_of(const struct dpumap_follow_state *state)
{
	if (state->is_live)
		return "";
	return state->error.text[0] ? state->error.text : "etcd has not answered";
}

doca_error_t dpumap_fleet_get_status(struct dpumap_fleet *fleet,
				     const struct dpumap_fleet_status **status)
{
	const struct dpumap_follow_state *state;
	struct dpumap_etcd_counts counts;
	doca_error_t result;

	if (!fleet || !status)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result != DOCA_SUCCESS)
		return result;
	state = dpumap_follow_state(fleet->follow);
	counts = dpumap_etcd_counts(fleet->etcd);
	fleet->status = (struct dpumap_fleet_status){
		.is_live = state->is_live,
		.from_cache = fleet->from_cache,
		.age_ms = age_ms(fleet),
		.num_dpus = dpumap_view_num_dpus(fleet->view),
		.num_exports = dpumap_view_num_exports(fleet->view),
		.num_skipped = state->skipped,
		.num_newer = dpumap_view_num_newer(fleet->view),
		.revision = state->revision,
		.cluster_id = dpumap_etcd_cluster(fleet->etcd),
		.endpoint = dpumap_etcd_url(fleet->etcd, dpumap_etcd_current(fleet->etcd)),
		.num_resyncs = state->resyncs,
		.num_requests = counts.requests,
		.num_failures = counts.failures,
		.problem = problem_of(state)};
	*status = &fleet->status;
	return DOCA_SUCCESS;
}

const char *dpumap_fleet_get_error(const struct dpumap_fleet *fleet)
{
	return fleet ? fleet->error.text : "";
}
