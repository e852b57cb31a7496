/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/admin.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/array.h"
#include "base/clock.h"
#include "common/export_text.h"
#include "dpu/base/log.h"
#include "dpu/base/loop.h"
#include "dpu/daemon/credentials.h"
#include "dpu/daemon/daemon.h"
#include "dpu/daemon/traffic.h"

#define FORMAT (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)
#define PART   64 /* objects of a list in a turn of the loop */
#define FAILED \
	'!' /* the list of failed exports goes on after what follows; no export begins with it */

struct request {
	struct daemon *daemon;
	char *argument; /* "" if there is none */
	int fd;
	struct text_progress *progress;
	FILE *out;
	bool has_more; /* of a list, or of a task that takes several turns */
	struct json_object *answer;
	struct dpumap_error error;
};

static void put(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static void put_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

/* Only if there is a registry. */
static void put_registry(struct json_object *to, const struct registry *registry)
{
	struct dpumap_publisher_state state;

	if (!registry_get_state(registry, &state))
		return;
	put_text(to, "registry", state.phase_name);
	put_text(to, "registry_problem", state.problem);
	put_text(to, "registry_endpoint", state.endpoint);
	put(to, "registry_records", state.num_wanted);
	put(to, "registry_published", state.num_published);
	put(to, "registry_lease_ms", (uint64_t)state.lease_remaining_ms);
	if (state.published_age_ms != UINT64_MAX)
		put(to, "registry_age_ms", state.published_age_ms);
	put(to, "registry_requests", state.num_requests);
	put(to, "registry_failures", state.num_failures);
	put(to, "registry_leases_lost", state.num_leases_lost);
	put(to, "registry_failovers", state.num_failovers);
}

/* Only if the device has counters. */
static void put_traffic(struct json_object *to, const char *device)
{
	struct traffic traffic;

	if (!traffic_read(device, &traffic))
		return;
	put(to, "device_reads", traffic.reads);
	put(to, "device_writes", traffic.writes);
	put(to, "device_atomics", traffic.atomics);
	put(to, "device_received_bytes", traffic.received_bytes);
	put(to, "device_sent_bytes", traffic.sent_bytes);
	put(to, "device_access_errors", traffic.access_errors);
}

/* Only if one of them rejects peers, or will soon. */
static void put_credentials(struct json_object *to, const char *key, const struct dpumap_tls *tls)
{
	char problem[400];

	credentials_describe(tls, problem, sizeof(problem));
	if (problem[0])
		put_text(to, key, problem);
}

static void put_counters(struct request *q)
{
	struct export_table *exports = daemon_exports(q->daemon);
	struct server_stats stats;
	struct loop_stats turns;

	server_get_stats(daemon_server(q->daemon), &stats);
	put_text(q->answer, "device", export_table_device_name(exports));
	put(q->answer, "exports", export_table_count(exports));
	put(q->answer, "failed_exports", export_table_failed(exports)->num);
	put(q->answer, "registering", export_table_num_registering(exports));
	put(q->answer, "clients", stats.clients);
	put(q->answer, "imports", stats.held);
	put(q->answer, "outstanding", export_table_totals(exports)->outstanding);
	put(q->answer, "waiting", daemon_num_waiting(q->daemon));
	put(q->answer, "connections", stats.accepted);
	put(q->answer, "refused", stats.refused);
	put(q->answer, "requests", stats.requests.answered);
	put(q->answer, "errors", stats.requests.errors);
	put(q->answer, "gets", stats.requests.gets);
	put(q->answer, "hashed_bytes", stats.requests.hashed_bytes);
	daemon_get_turns(q->daemon, &turns);
	put(q->answer, "turns", turns.turns);
	put(q->answer, "longest_turn_us", turns.longest_ns / 1000);
	put_traffic(q->answer, export_table_device_name(exports));
}

static doca_error_t get_status(struct request *q)
{
	struct export_table_dm_usage usage;
	doca_error_t result = export_table_dm_usage(daemon_exports(q->daemon), &usage, &q->error);

	if (result != DOCA_SUCCESS)
		return result;
	put_counters(q);
	put(q->answer, "device_memory", usage.total);
	put(q->answer, "device_memory_exported", usage.exported);
	put_credentials(q->answer, "credentials_problem", server_tls(daemon_server(q->daemon)));
	put_registry(q->answer, daemon_registry(q->daemon));
	put_credentials(q->answer, "registry_credentials_problem", daemon_registry_tls(q->daemon));
	return DOCA_SUCCESS;
}

static const char *state_of(const struct named_export *export)
{
	if (export_is_registering(export))
		return "registering";
	return export_is_registered(export) ? "registered" : "unregistered";
}

static struct json_object *describe_export(const struct named_export *export)
{
	const struct export_spec *spec = export_get_spec(export);
	struct json_object *about = json_object_new_object();
	struct json_object *allow = json_object_new_array();
	const char *peer = NULL;
	struct json_object *labels = json_object_new_array();

	put_text(about, "name", spec->name);
	dpumap_export_describe(about, export_kind_name(spec->kind), spec->size,
			       spec->writable ? "rw" : "ro", export_via_name(spec->via));
	put_text(about, "state", state_of(export));
	put(about, "imports", export_num_imports(export));
	put(about, "outstanding", export_num_outstanding(export));
	while ((peer = export_peers_next(spec->allow, peer)))
		json_object_array_add(allow, json_object_new_string(peer));
	for (size_t i = 0; i < spec->labels.num; i++)
		json_object_array_add(labels, json_object_new_string(spec->labels.list[i]));
	json_object_object_add(about, "allow", allow);
	json_object_object_add(about, "label", labels);
	json_object_object_add(about, "temporary", json_object_new_boolean(spec->is_temporary));
	return about;
}

/*
 * A list may be very long: it is written in parts, ahead of the other members of the answer. Objects that come or go
 * meanwhile may be missing.
 */
struct list_writer {
	struct request *request;
	size_t num;
	bool is_first;
};

static struct list_writer begin_part(struct request *q, const char *key)
{
	const struct list_writer writer = {.request = q, .is_first = !q->progress->after[0]};

	if (writer.is_first)
		fprintf(q->out, "{\n  \"%s\":[", key);
	return writer;
}

/* Takes the object over. False: the part is long enough. */
static bool write_object(struct list_writer *w, struct json_object *object)
{
	struct request *q = w->request;

	fprintf(q->out, "%s\n%s", w->is_first ? "" : ",",
		json_object_to_json_string_ext(object, FORMAT));
	json_object_put(object);
	w->is_first = false;
	q->has_more = ++w->num >= PART;
	return !q->has_more;
}

static struct json_object *describe_failed(const struct failed_export *failed)
{
	struct json_object *about = json_object_new_object();

	put_text(about, "name", failed->name);
	put_text(about, "reason", failed->why);
	return about;
}

static void write_failed(struct request *q)
{
	const struct failed_exports *failed = export_table_failed(daemon_exports(q->daemon));
	char *after = q->progress->after;
	struct list_writer writer = {.request = q, .is_first = !after[1]};
	bool goes_on = true;

	for (size_t i = 0; i < failed->num && goes_on; i++) {
		const struct failed_export *one = &failed->list[i];

		if (strcmp(one->name, after + 1) <= 0)
			continue;
		snprintf(after, sizeof(q->progress->after), "%c%s", FAILED, one->name);
		goes_on = write_object(&writer, describe_failed(one));
	}
}

static void write_exports(struct request *q)
{
	struct export_table *exports = daemon_exports(q->daemon);
	char *after = q->progress->after;
	size_t i = after[0] ? export_table_after(exports, after) : 0;
	struct list_writer writer = begin_part(q, "exports");
	bool goes_on = true;

	for (; i < export_table_count(exports) && goes_on; i++) {
		const struct named_export *export = export_table_at(exports, i);

		snprintf(after, sizeof(q->progress->after), "%s", export_get_spec(export)->name);
		goes_on = write_object(&writer, describe_export(export));
	}
}

static doca_error_t get_exports(struct request *q)
{
	char *after = q->progress->after;

	if (after[0] != FAILED) {
		write_exports(q);
		if (q->has_more)
			return DOCA_SUCCESS;
		fputs("\n  ],\n  \"failed\":[", q->out);
		snprintf(after, sizeof(q->progress->after), "%c", FAILED);
	}
	write_failed(q);
	return DOCA_SUCCESS;
}

static struct json_object *describe_session(const struct session *s)
{
	struct json_object *about = json_object_new_object();

	put(about, "id", s->id);
	put_text(about, "who", s->identity);
	put_text(about, "from", s->peer.text);
	put(about, "seconds", (monotonic_ns() - s->since) / NSEC_PER_SEC);
	put(about, "imports", s->held.total);
	put(about, "connections", s->num_rdma_conns);
	put(about, "requests", s->done.requests);
	put(about, "errors", s->done.errors);
	put(about, "hashed_bytes", s->done.hashed_bytes);
	json_object_object_add(about, "watches", json_object_new_boolean(s->watching));
	return about;
}

/* New sessions are at the beginning of the list, so their numbers fall. */
static doca_error_t get_sessions(struct request *q)
{
	char *after = q->progress->after;
	uint64_t below = after[0] ? strtoull(after, NULL, 10) : UINT64_MAX;
	struct list_writer writer = begin_part(q, "sessions");
	const struct session *s = server_first_session(daemon_server(q->daemon));
	bool goes_on = true;

	for (; s && goes_on; s = s->next) {
		if (s->id >= below)
			continue;
		snprintf(after, sizeof(q->progress->after), "%" PRIu64, s->id);
		goes_on = write_object(&writer, describe_session(s));
	}
	return DOCA_SUCCESS;
}

static doca_error_t get_top(struct request *q)
{
	put_counters(q);
	return get_sessions(q);
}

static doca_error_t reload(struct request *q)
{
	return daemon_reload(q->daemon, &q->progress->ticket, &q->error);
}

/* The number in the spec is that of ctl's descriptor; replace it by that of the one received. */
static doca_error_t take_descriptor(struct request *q, struct export_spec *spec)
{
	if (spec->fd < 0)
		return DOCA_SUCCESS;
	spec->fd = q->fd < 0 ? -1 : fcntl(q->fd, F_DUPFD_CLOEXEC, 0);
	if (spec->fd < 0)
		return dpumap_error_set(&q->error, DOCA_ERROR_INVALID_VALUE,
					"export %s: no file descriptor was passed with the command",
					spec->name);
	return DOCA_SUCCESS;
}

static doca_error_t add(struct request *q)
{
	struct export_spec spec;
	doca_error_t result = export_spec_parse(q->argument, &spec, &q->error);

	if (result != DOCA_SUCCESS)
		return result;
	spec.is_temporary = true;
	result = take_descriptor(q, &spec);
	if (result == DOCA_SUCCESS)
		result = daemon_add_export(q->daemon, &spec, &q->progress->ticket, &q->error);
	export_spec_free(&spec);
	return result;
}

static doca_error_t drop(struct request *q)
{
	return daemon_remove_export(q->daemon, q->argument, &q->progress->ticket, &q->error);
}

/* A turn of the loop ends some of the connections. */
static doca_error_t disconnect(struct request *q)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!q->progress->has_begun)
		result = daemon_disconnect(q->daemon, q->argument, &q->error);
	q->progress->has_begun = true;
	q->has_more = result == DOCA_SUCCESS && daemon_ends_clients(q->daemon);
	return result;
}

static doca_error_t rekey(struct request *q)
{
	return export_table_rekey(daemon_exports(q->daemon), q->argument, &q->error);
}

static const struct {
	const char *name;
	bool has_argument;
	doca_error_t (*answer)(struct request *q);
} commands[] = {
	{"status", false, get_status},
	{"list", false, get_exports},
	{"sessions", false, get_sessions},
	{"top", false, get_top},
	{"reload", false, reload},
	{"add", true, add},
	{"remove", true, drop},
	{"disconnect", true, disconnect},
	{"rekey", true, rekey},
};

/* AGAIN: a change of the exports takes its time. */
static doca_error_t answer(struct request *q, const char *command)
{
	if (q->progress->ticket)
		return daemon_outcome(q->daemon, q->progress->ticket, &q->error);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(command, commands[i].name) != 0)
			continue;
		if (commands[i].has_argument != !!q->argument[0])
			return dpumap_error_set(&q->error, DOCA_ERROR_INVALID_VALUE,
						"%s takes %s argument", command,
						commands[i].has_argument ? "an" : "no");
		return commands[i].answer(q);
	}
	return dpumap_error_set(&q->error, DOCA_ERROR_NOT_SUPPORTED, "unknown command \"%.32s\"",
				command);
}

static void put_result(const struct request *q, doca_error_t result)
{
	const char *text;

	put_text(q->answer, "status", doca_error_get_name(result));
	if (result != DOCA_SUCCESS)
		put_text(q->answer, "error", q->error.text);
	text = json_object_to_json_string_ext(q->answer, FORMAT);
	if (ftell(q->out) > 0 || q->progress->after[0])
		fprintf(q->out, "\n  ],%s\n",
			text + 1); /* without its brace: a list is before it */
	else
		fprintf(q->out, "%s\n", text);
}

enum text_outcome admin_answer(void *daemon, const char *request, int fd,
			       struct text_progress *progress, FILE *out)
{
	struct request q = {.daemon = daemon, .fd = fd, .progress = progress, .out = out};
	char *line = strndup(request, strcspn(request, "\n"));
	doca_error_t result = DOCA_ERROR_NO_MEMORY;
	char *space;

	q.answer = json_object_new_object();
	if (!line || !q.answer)
		goto free_line;
	space = strchr(line, ' ');
	q.argument = space ? space + 1 : line + strlen(line);
	if (space)
		*space = '\0';
	result = answer(&q, line);
	if (result == DOCA_ERROR_AGAIN || q.has_more)
		goto free_line;
	/* The daemon has logged why a reload failed. */
	if (result != DOCA_SUCCESS && strcmp(line, "reload") != 0)
		log_from(DPUMAP_LINE_WARNING, "ctl", "ctl %s failed: %s", line, q.error.text);
	put_result(&q, result);
free_line:
	json_object_put(q.answer);
	free(line);
	if (result == DOCA_ERROR_AGAIN)
		return TEXT_LATER;
	return q.has_more ? TEXT_MORE : TEXT_DONE;
}
