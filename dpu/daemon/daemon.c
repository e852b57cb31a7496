/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/daemon.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <systemd/sd-daemon.h>

#include "base/array.h"
#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/base/loop.h"
#include "dpu/base/privileges.h"
#include "dpu/base/workers.h"
#include "dpu/clients/comch_service.h"
#include "dpu/daemon/admin.h"
#include "dpu/daemon/credentials.h"
#include "dpu/daemon/listeners.h"
#include "dpu/daemon/metrics.h"
#include "dpu/daemon/prepare.h"
#include "dpu/daemon/service_status.h"
#include "dpu/daemon/signals.h"
#include "dpu/daemon/text_service.h"
#include "dpu/exports/device_watch.h"
#include "dpu/exports/job.h"
#include "dpu/registry/registry.h"
#include "local/comch_place.h"

#define TICK_MS 500
/* For systemd: registering much memory, or writing files to their disk, takes longer than usual. */
#define MORE_TIME "EXTEND_TIMEOUT_USEC=600000000"

struct daemon {
	const struct options *options;
	struct settings settings;
	struct loop *loop;
	struct workers *workers;
	struct listeners listeners;
	struct export_table *exports;
	struct device_watch device;
	struct server *server;
	struct text_service *admin;   /* NULL: none */
	struct text_service *metrics; /* NULL: none */
	struct comch_service *comch;  /* NULL: none */
	struct registry *registry;    /* NULL: none */
	struct job *job;	      /* changes the exports */
	uint64_t ticket;	      /* of the change that began last */
	doca_error_t outcome;	      /* of the change that ended last */
	struct dpumap_error why;
	struct settings next;		/* of a reload that is running */
	const struct export_dir *known; /* what it need not load again; NULL: load all */
	struct dpumap_tls *next_tls;
	struct opened opened; /* by it */
	struct credentials_warned warned;
	struct registry_renewal *renewal;
	bool next_is_for_others;
	bool is_for_others;   /* may other users import? */
	uint64_t watchdog_ns; /* interval of notifications; 0: none */
	uint64_t notified;    /* time of the last notification */
	int turn_ms;	      /* to wait for events */
	struct service_status status;
};

size_t daemon_describe(const struct daemon *daemon, FILE *out)
{
	return listeners_describe(&daemon->listeners, &daemon->settings, out);
}

void daemon_get_turns(const struct daemon *daemon, struct loop_stats *turns)
{
	loop_get_stats(daemon->loop, turns);
}

struct export_table *daemon_exports(struct daemon *daemon)
{
	return daemon->exports;
}

const struct registry *daemon_registry(const struct daemon *daemon)
{
	return daemon->registry;
}

const struct server *daemon_server(const struct daemon *daemon)
{
	return daemon->server;
}

const struct dpumap_tls *daemon_registry_tls(const struct daemon *daemon)
{
	return daemon->settings.registry.tls;
}

doca_error_t daemon_disconnect(struct daemon *daemon, const char *identity,
			       struct dpumap_error *error)
{
	return server_disconnect(daemon->server, identity, error);
}

bool daemon_ends_clients(const struct daemon *daemon)
{
	return server_ends_clients(daemon->server);
}

/* --- listening -------------------------------------------------------------------------------- */

static doca_error_t open_text_service(struct daemon *d, const struct dpumap_address *address,
				      const char *end, text_service_fn *answer,
				      struct text_service **service, struct dpumap_error *error)
{
	struct dpumap_listener *listener;
	doca_error_t result = listeners_create_one(&d->listeners, address, false, &listener, error);

	if (result != DOCA_SUCCESS)
		return result;
	return text_service_create(d->loop, listener, end, answer, d, service, error);
}

static doca_error_t open_admin(struct daemon *d, struct dpumap_error *error)
{
	struct dpumap_address address;
	doca_error_t result;

	if (!d->settings.admin)
		return DOCA_SUCCESS;
	result = dpumap_address_parse(d->settings.admin, &address, error);
	if (result != DOCA_SUCCESS)
		return result;
	return open_text_service(d, &address, "\n", admin_answer, &d->admin, error);
}

static doca_error_t open_metrics(struct daemon *d, struct dpumap_error *error)
{
	struct dpumap_address address;
	doca_error_t result;

	if (!d->settings.metrics)
		return DOCA_SUCCESS;
	result = metrics_parse(d->settings.metrics, &address, error);
	if (result != DOCA_SUCCESS)
		return result;
	return open_text_service(d, &address, "\r\n\r\n", metrics_answer, &d->metrics, error);
}

/* --- reconfiguration -------------------------------------------------------------------------- */

static void limit_clients(struct daemon *d, const struct settings *settings)
{
	server_set_max_clients(d->server, settings->max_clients,
			       settings_max_clients_per_identity(settings));
	server_set_timeout(d->server, settings->client_timeout);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Settings that only a start can apply: most of them need privileges that dpumapd has dropped. */
static doca_error_t check_unchanged(const struct settings *now, const struct settings *wanted,
				    struct dpumap_error *error)
{
	const struct {
		const char *name, *now, *wanted;
	} texts[] = {{"device", now->device, wanted->device},
		     {"comch.serve", now->comch_serve, wanted->comch_serve},
		     {"admin", now->admin, wanted->admin},
		     {"metrics", now->metrics, wanted->metrics},
		     {"user", now->user, wanted->user},
		     {"group", now->group, wanted->group}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!is_same(texts[i].now, texts[i].wanted))
			return dpumap_error_set(
				error, DOCA_ERROR_BAD_CONFIG,
				"%s has changed from \"%s\" to \"%s\", which a reload cannot "
				"apply: restart dpumapd, or restore the setting",
				texts[i].name, texts[i].now ? texts[i].now : "",
				texts[i].wanted ? texts[i].wanted : "");
	return registry_settings_check_unchanged(&now->registry, &wanted->registry, error);
}

/* The exports of the reload have been made: nothing can fail from now on. */
static void on_made(void *context)
{
	struct daemon *d = context;
	struct settings before = d->settings;

	limit_clients(d, &d->next);
	credentials_warn(&(struct credentials){d->next_tls, d->next.registry.tls}, &d->warned);
	server_set_tls(d->server, d->next_tls);
	listeners_use(&d->listeners, &d->next, d->next_is_for_others);
	cm_listener_use(server_cm_listener(d->server));
	d->is_for_others = d->next_is_for_others;
	export_list_free(&d->next.exports);
	d->settings = d->next;
	d->next = before;
	d->next_tls = NULL;
	registry_renew(d->registry, d->renewal);
	d->renewal = NULL;
	server_set_introductions(d->server, &d->settings.introduce);
}

/* Clients that are no longer accepted lose their access before ctl reports success. */
static bool must_wait(const void *context)
{
	return daemon_ends_clients(context);
}

/* The other requests of ctl see the outcome, or begin their own changes. */
static void on_change_end(void *context, doca_error_t result, const struct dpumap_error *why)
{
	struct daemon *d = context;

	d->outcome = result;
	d->why = *why;
	if (d->admin)
		text_service_retry(d->admin);
}

static void end_reload(struct daemon *d, doca_error_t result, const struct dpumap_error *why)
{
	listeners_close(&d->opened);
	if (result != DOCA_SUCCESS) {
		dpumap_tls_destroy(d->next_tls);
		d->next_tls = NULL;
		registry_renewal_cancel(d->renewal);
		d->renewal = NULL;
		listeners_use(&d->listeners, &d->settings, d->is_for_others);
		cm_listener_cancel(server_cm_listener(d->server));
		log_error("cannot reload the configuration, nothing has changed: %s", why->text);
	} else {
		log_line("configuration reloaded");
	}
	settings_free(&d->next);
	malloc_trim(0); /* a large configuration leaves much behind */
	service_status_ready(&d->status, d);
}

static void on_reload_end(void *context, doca_error_t result, const struct dpumap_error *why)
{
	end_reload(context, result, why);
	on_change_end(context, result, why);
}

/* Takes the change over. */
static doca_error_t begin(struct daemon *d, struct export_change *change,
			  const struct job_events *events, uint64_t *ticket,
			  struct dpumap_error *error)
{
	doca_error_t result = job_start(d->job, change, events, error);

	if (result != DOCA_SUCCESS)
		return result;
	*ticket = ++d->ticket;
	return DOCA_ERROR_AGAIN;
}

/* The address for RDMA connections. */
static doca_error_t prepare_rdma(const struct daemon *d, const struct settings *settings,
				 struct dpumap_error *error)
{
	return cm_listener_prepare(server_cm_listener(d->server), settings->rdma_listen,
				   export_table_device_name(d->exports), error);
}

static doca_error_t check_next(struct daemon *d, struct dpumap_error *error)
{
	doca_error_t result = check_unchanged(&d->settings, &d->next, error);

	d->next_is_for_others = settings_allow_others(&d->next);
	if (result == DOCA_SUCCESS)
		result = credentials_check_reload(
			&(struct credentials){server_tls(d->server), d->settings.registry.tls},
			&(struct credentials){d->next_tls, d->next.registry.tls}, error);
	return result;
}

/* In a worker: waits for files and for the resolver. Nothing but a change alters the listeners. */
static doca_error_t load_next(void *context, struct dpumap_error *error)
{
	struct daemon *d = context;
	doca_error_t result = prepare_reload(d->options, d->known, d->listeners.has_adopted_tcp,
					     &d->next, &d->next_tls, error);

	if (result == DOCA_SUCCESS)
		result = check_next(d, error);
	if (result == DOCA_SUCCESS)
		result = listeners_open(&d->listeners, &d->next, &d->opened, error);
	if (result == DOCA_SUCCESS)
		result = registry_renewal_prepare(d->registry, &d->next.registry, &d->renewal,
						  error);
	return result;
}

static doca_error_t plan_next(void *context, struct export_change **change,
			      struct dpumap_error *error)
{
	struct daemon *d = context;
	doca_error_t result = listeners_add(&d->listeners, &d->opened, error);

	if (result == DOCA_SUCCESS)
		result = prepare_rdma(d, &d->next, error);
	if (result == DOCA_SUCCESS)
		result = export_change_set(d->exports, &d->next.exports, &d->next.dir, change,
					   error);
	return result;
}

doca_error_t daemon_reload(struct daemon *daemon, uint64_t *ticket, struct dpumap_error *error)
{
	const struct job_events events = {.load = load_next,
					  .plan = plan_next,
					  .made = on_made,
					  .must_wait = must_wait,
					  .ended = on_reload_end,
					  .context = daemon};
	doca_error_t result;

	if (job_is_active(daemon->job))
		return DOCA_ERROR_AGAIN;
	daemon->known = export_table_is_complete(daemon->exports) ? &daemon->settings.dir : NULL;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_ns() / 1000);
	result = begin(daemon, NULL, &events, ticket, error);
	if (result != DOCA_ERROR_AGAIN)
		end_reload(daemon, result, error);
	return result;
}

doca_error_t daemon_add_export(struct daemon *daemon, struct export_spec *spec, uint64_t *ticket,
			       struct dpumap_error *error)
{
	const struct job_events events = {.ended = on_change_end, .context = daemon};
	struct export_change *change = NULL;
	doca_error_t result;

	if (job_is_active(daemon->job))
		return DOCA_ERROR_AGAIN;
	result = export_change_add(daemon->exports, spec, &change, error);
	return result == DOCA_SUCCESS ? begin(daemon, change, &events, ticket, error) : result;
}

doca_error_t daemon_remove_export(struct daemon *daemon, const char *name, uint64_t *ticket,
				  struct dpumap_error *error)
{
	const struct job_events events = {.ended = on_change_end, .context = daemon};
	struct export_change *change = NULL;
	doca_error_t result;

	if (job_is_active(daemon->job))
		return DOCA_ERROR_AGAIN;
	result = export_change_remove(daemon->exports, name, &change, error);
	return result == DOCA_SUCCESS ? begin(daemon, change, &events, ticket, error) : result;
}

doca_error_t daemon_outcome(const struct daemon *daemon, uint64_t ticket,
			    struct dpumap_error *error)
{
	if (ticket == daemon->ticket && job_is_active(daemon->job))
		return DOCA_ERROR_AGAIN;
	*error = daemon->why;
	return daemon->outcome;
}

unsigned int daemon_num_waiting(const struct daemon *daemon)
{
	return daemon->admin ? text_service_num_waiting(daemon->admin) : 0;
}

/* --- creation and main loop ------------------------------------------------------------------- */

/* Each client needs a descriptor, and unauthenticated connections may be many. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void set_watchdog(struct daemon *d)
{
	uint64_t usec;

	d->turn_ms = TICK_MS;
	if (sd_watchdog_enabled(0, &usec) <= 0)
		return;
	d->watchdog_ns = usec * 1000 / 2;
	if (usec / 4000 < TICK_MS)
		d->turn_ms = (int)(usec / 4000);
}

/* Opens sockets before the device, to detect a busy one before anything is allocated. */
static doca_error_t set_up(struct daemon *d, struct dpumap_error *error)
{
	struct dpumap_tls *tls;
	doca_error_t result;

	d->listeners = (struct listeners){.server = d->server, .is_starting = true};
	result = listeners_adopt(&d->listeners, error);
	if (result == DOCA_SUCCESS)
		result = prepare_start(d->options, d->listeners.has_adopted_tcp, &d->settings, &tls,
				       error);
	if (result != DOCA_SUCCESS)
		return result;
	credentials_warn(&(struct credentials){tls, d->settings.registry.tls}, &d->warned);
	server_set_tls(d->server, tls);
	result = listeners_open(&d->listeners, &d->settings, &d->opened, error);
	if (result == DOCA_SUCCESS)
		result = listeners_add(&d->listeners, &d->opened, error);
	listeners_close(&d->opened);
	if (result != DOCA_SUCCESS)
		return result;
	d->is_for_others = settings_allow_others(&d->settings);
	listeners_use(&d->listeners, &d->settings, d->is_for_others);
	result = open_admin(d, error);
	if (result == DOCA_SUCCESS)
		result = open_metrics(d, error);
	d->listeners.is_starting = false;
	return result;
}

/* Servers that were killed leave their sockets, where dpumapd looks for the servers of its clients. */
static void sweep_comch(void)
{
	struct dpumap_comch_directories directories;

	dpumap_comch_directories_find(&directories);
	for (size_t i = 0; i < directories.num; i++)
		dpumap_comch_directory_sweep(directories.path[i]);
}

/* Clients are answered once the daemon runs. */
static doca_error_t open_comch(struct daemon *d, struct dpumap_error *error)
{
	if (!d->settings.comch_serve)
		return DOCA_SUCCESS;
	return comch_service_create(d->loop, d->server, export_table_dev(d->exports),
				    d->settings.comch_serve, &d->comch, error);
}

/* Publishes once the daemon runs. */
static doca_error_t open_registry(struct daemon *d, struct dpumap_error *error)
{
	if (!d->settings.registry.is_set)
		return DOCA_SUCCESS;
	return registry_create(d->exports, &d->settings.registry, &d->registry, error);
}

static doca_error_t start(struct daemon *d, struct dpumap_error *error)
{
	doca_error_t result;

	raise_limits();
	result = loop_create(&d->loop, error);
	if (result == DOCA_SUCCESS)
		result = signals_open(d->loop, error);
	if (result == DOCA_SUCCESS)
		result = server_create(d->loop, &d->server, error);
	if (result == DOCA_SUCCESS)
		result = workers_create(d->loop, &d->workers, error);
	if (result == DOCA_SUCCESS)
		result = job_create(d->workers, &d->job, error);
	return result;
}

static doca_error_t check_stop(struct daemon *d, struct dpumap_error *error)
{
	(void)d;
	if (!signals_stop_is_asked())
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "asked to stop during the start");
}

static doca_error_t open_device(struct daemon *d, struct dpumap_error *error)
{
	doca_error_t result =
		export_table_create(d->settings.device, d->workers, &d->exports, error);

	if (result != DOCA_SUCCESS)
		return result;
	server_set_exports(d->server, d->exports);
	limit_clients(d, &d->settings);
	server_set_introductions(d->server, &d->settings.introduce);
	return device_watch_start(&d->device, d->loop, d->exports, error);
}

static doca_error_t make_exports(struct daemon *d, struct dpumap_error *error)
{
	doca_error_t result;

	sd_notify(0, MORE_TIME);
	result = export_change_set_now(d->exports, &d->settings.exports, &d->settings.dir,
				       d->options->file, signals_stop_is_asked, error);
	export_list_free(&d->settings.exports); /* they may be very many */
	malloc_trim(0);
	return result;
}

static doca_error_t open_rdma(struct daemon *d, struct dpumap_error *error)
{
	return prepare_rdma(d, &d->settings, error);
}

static doca_error_t drop_privileges(struct daemon *d, struct dpumap_error *error)
{
	cm_listener_use(server_cm_listener(d->server));
	return privileges_drop(d->settings.user, d->settings.group, error);
}

typedef doca_error_t daemon_step(struct daemon *d, struct dpumap_error *error);

doca_error_t daemon_create(const struct options *options, struct daemon **daemon,
			   struct dpumap_error *error)
{
	static daemon_step *const steps[] = {
		start,	    set_up,    check_stop,    open_device,     make_exports,
		open_comch, open_rdma, open_registry, drop_privileges,
	};
	struct daemon *d = calloc(1, sizeof(*d));
	doca_error_t result = DOCA_SUCCESS;

	if (!d)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	d->options = options;
	settings_init(&d->settings);
	settings_init(&d->next);
	sweep_comch();
	for (size_t i = 0; i < ARRAY_SIZE(steps) && result == DOCA_SUCCESS; i++)
		result = steps[i](d, error);
	if (result != DOCA_SUCCESS) {
		daemon_destroy(d);
		return result;
	}
	set_watchdog(d);
	*daemon = d;
	return DOCA_SUCCESS;
}

void daemon_destroy(struct daemon *daemon)
{
	if (!daemon)
		return;
	job_destroy(daemon->job);
	registry_destroy(daemon->registry);
	registry_renewal_cancel(daemon->renewal);
	text_service_destroy(daemon->metrics);
	text_service_destroy(daemon->admin);
	comch_service_destroy(daemon->comch);
	listeners_close(&daemon->opened);
	server_destroy(daemon->server);
	workers_destroy(daemon->workers);
	if (daemon->loop)
		loop_remove(daemon->loop, &daemon->device.watch);
	export_table_destroy(daemon->exports);
	signals_close(daemon->loop);
	loop_destroy(daemon->loop);
	settings_free(&daemon->settings);
	settings_free(&daemon->next);
	dpumap_tls_destroy(daemon->next_tls);
	service_status_free(&daemon->status);
	free(daemon);
}

static void tick(struct daemon *d)
{
	credentials_follow(&(struct credentials){server_tls(d->server), d->settings.registry.tls},
			   &d->warned);
	log_tick();
	export_table_check(d->exports);
	server_tick(d->server);
	comch_service_tick(d->comch);
	if (d->admin)
		text_service_tick(d->admin);
	if (d->metrics)
		text_service_tick(d->metrics);
	service_status_update(&d->status, d);
}

static void feed_watchdog(struct daemon *d, uint64_t now)
{
	if (!d->watchdog_ns || now - d->notified < d->watchdog_ns)
		return;
	sd_notify(0, "WATCHDOG=1");
	d->notified = now;
}

static bool has_work(const struct daemon *d)
{
	return server_has_work(d->server) || job_has_work(d->job) ||
	       comch_service_has_work(d->comch) || registry_has_work(d->registry);
}

static int wait_ms(const struct daemon *d)
{
	return has_work(d) ? 0 : d->turn_ms;
}

static void reload_by_signal(struct daemon *d)
{
	struct dpumap_error logged = {0};
	uint64_t ticket = 0;

	signals_take_reload();
	daemon_reload(d, &ticket, &logged);
}

doca_error_t daemon_run(struct daemon *daemon, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t last = 0, now;

	service_status_ready(&daemon->status, daemon);
	while (result == DOCA_SUCCESS && !signals_stop_is_asked()) {
		result = loop_turn(daemon->loop, wait_ms(daemon), error);
		if (daemon->device.has_failed)
			break;
		server_work(daemon->server);
		comch_service_work(daemon->comch);
		if (!server_announces(daemon->server))
			job_work(daemon->job);
		registry_work(daemon->registry, job_is_active(daemon->job));
		if (signals_reload_is_asked() && !job_is_active(daemon->job))
			reload_by_signal(daemon);
		now = monotonic_ns();
		if (now - last >= TICK_MS * NSEC_PER_MSEC) {
			last = now;
			tick(daemon);
		}
		feed_watchdog(daemon, now);
	}
	while (server_announces(daemon->server))
		server_work(daemon->server);
	sd_notify(0, "STOPPING=1\n" MORE_TIME);
	if (result == DOCA_SUCCESS && daemon->device.has_failed)
		result = dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					  "ended because device %s failed",
					  export_table_device_name(daemon->exports));
	return result;
}
