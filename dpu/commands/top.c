/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/commands/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/json.h"
#include "cli/live.h"
#include "dpu/commands/ctl.h"
#include "dpu/settings/options.h"

/* A dpumapd that was stopped must not stop the view. */
#define ANSWER_S 5

/* What dpumapd answered, and when. */
struct figures {
	uint64_t ns;
	struct json_object *answer;
};

struct top {
	const struct options *o;
	struct figures before, after;
	struct dpumap_fault fault;
};

/* A session and its rates. */
struct row {
	struct json_object *session;
	double requests, errors, hashed;
};

/* --- figures ---------------------------------------------------------------------------------- */

static void drop(struct figures *f)
{
	json_object_put(f->answer);
	*f = (struct figures){0};
}

static bool sample(void *arg)
{
	struct top *t = arg;
	struct figures now = {.ns = monotonic_ns()};
	doca_error_t result;

	result = ctl_ask(t->o, "top", ANSWER_S, &now.answer, &t->fault);
	if (result != DOCA_SUCCESS) {
		t->fault.code = result;
		drop(&now);
		return false;
	}
	drop(&t->before);
	t->before = t->after;
	t->after = now;
	return true;
}

static uint64_t number(struct json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

static const char *text(struct json_object *from, const char *key)
{
	const char *value = json_object_get_string(json_object_object_get(from, key));

	return value ? value : "";
}

/* --- rates ------------------------------------------------------------------------------------ */

/* before is NULL for a session that is new: it has begun at 0. */
static double rate(const struct top *t, struct json_object *before, struct json_object *after,
		   const char *key)
{
	if (!t->before.ns)
		return 0;
	return cli_live_rate(number(before, key), number(after, key), t->after.ns - t->before.ns);
}

static double total_rate(const struct top *t, const char *key)
{
	return rate(t, t->before.answer, t->after.answer, key);
}

static double copy_rate(const struct top *t)
{
	return total_rate(t, "device_reads") + total_rate(t, "device_writes") +
	       total_rate(t, "device_atomics");
}

static double byte_rate(const struct top *t)
{
	return total_rate(t, "device_received_bytes") + total_rate(t, "device_sent_bytes");
}

static struct json_object *sessions_of(const struct figures *f)
{
	return json_object_object_get(f->answer, "sessions");
}

static struct json_object *find_session(const struct figures *f, uint64_t id)
{
	struct json_object *list = sessions_of(f), *one;

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		if (number(one, "id") == id)
			return one;
	}
	return NULL;
}

static struct row row_of(const struct top *t, struct json_object *session)
{
	struct json_object *before = find_session(&t->before, number(session, "id"));

	return (struct row){session, rate(t, before, session, "requests"),
			    rate(t, before, session, "errors"),
			    rate(t, before, session, "hashed_bytes")};
}

static int compare(const void *a, const void *b)
{
	const struct row *p = a, *q = b;
	uint64_t x = number(p->session, "id"), y = number(q->session, "id");

	if (p->requests != q->requests)
		return p->requests < q->requests ? 1 : -1;
	return (x > y) - (x < y);
}

/* The busiest first. NULL: there are none, or there is no memory. */
static struct row *make_rows(const struct top *t, size_t *count)
{
	struct json_object *list = sessions_of(&t->after);
	struct row *rows;

	*count = list ? json_object_array_length(list) : 0;
	rows = *count ? calloc(*count, sizeof(*rows)) : NULL;
	if (!rows) {
		*count = 0;
		return NULL;
	}
	for (size_t i = 0; i < *count; i++)
		rows[i] = row_of(t, json_object_array_get_idx(list, i));
	qsort(rows, *count, sizeof(*rows), compare);
	return rows;
}

/* --- views ------------------------------------------------------------------------------------ */

static void draw_head(const struct top *t, FILE *out)
{
	static const char *const of_clients[] = {"requests", "errors",	"hashed",
						 "accepted", "refused", NULL};
	static const char *const of_device[] = {"copies", "bytes", "errors", NULL};
	struct json_object *now = t->after.answer;
	const double clients[] = {total_rate(t, "requests"), total_rate(t, "errors"),
				  total_rate(t, "hashed_bytes"), total_rate(t, "connections"),
				  total_rate(t, "refused")};
	const double device[] = {copy_rate(t), byte_rate(t), total_rate(t, "device_access_errors")};

	fputs("dpumapd ctl top  ", out);
	cli_live_time(out);
	fprintf(out, "  %s\nclients %s  imports %s  outstanding %s  exports %s\n\n",
		text(now, "device"), text(now, "clients"), text(now, "imports"),
		text(now, "outstanding"), text(now, "exports"));
	cli_live_head(out, "", of_clients);
	cli_live_row(out, "clients, a second", clients, ARRAY_SIZE(clients));
	if (!json_object_object_get(now, "device_reads"))
		return;
	fputc('\n', out);
	cli_live_head(out, "", of_device);
	cli_live_row(out, "device, a second", device, ARRAY_SIZE(device));
}

static void draw_sessions(const struct top *t, FILE *out)
{
	static const char *const names[] = {"requests/s", "errors/s", "hashed/s", "imports", NULL};
	size_t count;
	struct row *rows = make_rows(t, &count);

	fputc('\n', out);
	cli_live_head(out, "CLIENT", names);
	for (size_t i = 0; i < count; i++)
		cli_live_row(out, text(rows[i].session, "who"),
			     (double[]){rows[i].requests, rows[i].errors, rows[i].hashed,
					(double)number(rows[i].session, "imports")},
			     4);
	free(rows);
}

static void add(struct json_object *to, const char *key, double value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.3f", value);
	json_object_object_add(to, key, json_object_new_double_s(value, digits));
}

static void copy_number(struct json_object *to, struct json_object *from, const char *key)
{
	json_object_object_add(to, key, json_object_new_uint64(number(from, key)));
}

static void copy_text(struct json_object *to, struct json_object *from, const char *key)
{
	json_object_object_add(to, key, json_object_new_string(text(from, key)));
}

static struct json_object *describe_sessions(const struct top *t)
{
	struct json_object *list = json_object_new_array();
	size_t count;
	struct row *rows = make_rows(t, &count);

	for (size_t i = 0; i < count; i++) {
		struct json_object *one = json_object_new_object();

		copy_text(one, rows[i].session, "who");
		copy_text(one, rows[i].session, "from");
		copy_number(one, rows[i].session, "imports");
		add(one, "requests_per_second", rows[i].requests);
		add(one, "errors_per_second", rows[i].errors);
		add(one, "hashed_bytes_per_second", rows[i].hashed);
		json_object_array_add(list, one);
	}
	free(rows);
	return list;
}

/* An object in a line. */
static void write_json(const struct top *t, FILE *out)
{
	struct json_object *all = json_object_new_object(), *now = t->after.answer;

	json_object_object_add(all, "schema", json_object_new_string("dpumapd-ctl-top-1"));
	add(all, "seconds", (double)(t->after.ns - t->before.ns) / 1e9);
	copy_text(all, now, "device");
	copy_number(all, now, "clients");
	copy_number(all, now, "imports");
	copy_number(all, now, "outstanding");
	copy_number(all, now, "exports");
	add(all, "requests_per_second", total_rate(t, "requests"));
	add(all, "errors_per_second", total_rate(t, "errors"));
	add(all, "gets_per_second", total_rate(t, "gets"));
	add(all, "hashed_bytes_per_second", total_rate(t, "hashed_bytes"));
	add(all, "connections_per_second", total_rate(t, "connections"));
	add(all, "refused_per_second", total_rate(t, "refused"));
	if (json_object_object_get(now, "device_reads")) {
		add(all, "device_copies_per_second", copy_rate(t));
		add(all, "device_bytes_per_second", byte_rate(t));
		add(all, "device_errors_per_second", total_rate(t, "device_access_errors"));
	}
	json_object_object_add(all, "sessions", describe_sessions(t));
	cli_json_print_line(out, all);
	json_object_put(all);
}

static void draw(void *arg, FILE *out)
{
	const struct top *t = arg;

	if (t->o->json) {
		write_json(t, out);
		return;
	}
	draw_head(t, out);
	draw_sessions(t, out);
}

int top_main(const struct options *options)
{
	const struct cli_live live = {.interval_ms = options->interval_ms,
				      .once = options->once,
				      .plain = options->json,
				      .sample = sample,
				      .draw = draw};
	struct top t = {.o = options};
	int err = cli_live_run(&live, &t);

	if (err)
		dpumap_fault_errno(&t.fault, err, "cannot show the figures");
	drop(&t.before);
	drop(&t.after);
	return ctl_report(options, &t.fault);
}
