/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/commands/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "base/array.h"
#include "cli/figures.h"
#include "cli/json.h"
#include "cli/live.h"
#include "dpu/commands/ctl.h"
#include "dpu/settings/options.h"

/* A dpumapd that was stopped must not stop the view. */
#define ANSWER_S 5

struct top {
	const struct options *o;
	struct cli_figures figures;
	struct dpumap_error error;
};

static const struct cli_figures_list sessions = {
	"sessions", "id", {"requests", "errors", "hashed_bytes"}};

static bool sample(void *arg)
{
	struct json_object *answer = NULL;
	struct top *t = arg;
	doca_error_t result = ctl_ask(t->o, "top", ANSWER_S, &answer, &t->error);

	if (result != DOCA_SUCCESS) {
		t->error.code = result;
		json_object_put(answer);
		return false;
	}
	cli_figures_add(&t->figures, answer);
	return true;
}

static double total_rate(const struct top *t, const char *counter)
{
	return cli_figures_rate(&t->figures, counter);
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

/* --- views ------------------------------------------------------------------------------------ */

static void draw_head(const struct top *t, FILE *out)
{
	static const char *const of_clients[] = {"requests", "errors",	"hashed",
						 "accepted", "refused", NULL};
	static const char *const of_device[] = {"copies", "bytes", "errors", NULL};
	struct json_object *now = t->figures.after.object;
	const double clients[] = {total_rate(t, "requests"), total_rate(t, "errors"),
				  total_rate(t, "hashed_bytes"), total_rate(t, "connections"),
				  total_rate(t, "refused")};
	const double device[] = {copy_rate(t), byte_rate(t), total_rate(t, "device_access_errors")};

	fputs("dpumapd ctl top  ", out);
	cli_live_time(out);
	fprintf(out, "  %s\nclients %s  imports %s  outstanding %s  exports %s\n\n",
		cli_figures_text(now, "device"), cli_figures_text(now, "clients"),
		cli_figures_text(now, "imports"), cli_figures_text(now, "outstanding"),
		cli_figures_text(now, "exports"));
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
	struct cli_figures_row *rows = cli_figures_rows(&t->figures, &sessions, &count);

	fputc('\n', out);
	cli_live_head(out, "CLIENT", names);
	for (size_t i = 0; i < count; i++) {
		const struct cli_figures_row *row = &rows[i];

		cli_live_row(out, cli_figures_text(row->object, "who"),
			     (double[]){row->rate[0], row->rate[1], row->rate[2],
					(double)cli_figures_number(row->object, "imports")},
			     4);
	}
	free(rows);
}

/* An object in a line. */
static void write_json(const struct top *t, FILE *out)
{
	static const char *const now[] = {"device",	 "clients", "imports",
					  "outstanding", "exports", NULL};
	static const char *const rates[] = {"requests",	   "errors",  "gets", "hashed_bytes",
					    "connections", "refused", NULL};
	static const char *const of_session[] = {"who", "from", "imports", NULL};
	struct json_object *all = json_object_new_object(), *after = t->figures.after.object;

	json_object_object_add(all, "schema", json_object_new_string("dpumapd-ctl-top-1"));
	cli_figures_put_seconds(all, &t->figures);
	cli_figures_copy(all, after, now);
	cli_figures_put_rates(all, &t->figures, rates);
	if (json_object_object_get(after, "device_reads")) {
		cli_figures_put_rate(all, "device_copies", copy_rate(t));
		cli_figures_put_rate(all, "device_bytes", byte_rate(t));
		cli_figures_put_rate(all, "device_errors", total_rate(t, "device_access_errors"));
	}
	json_object_object_add(all, "sessions",
			       cli_figures_describe(&t->figures, &sessions, of_session));
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
		dpumap_error_errno(&t.error, err, "cannot show the figures");
	cli_figures_free(&t.figures);
	return ctl_report(options, &t.error);
}
