/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu top': what the processes copy each second. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json_pointer.h>

#include "base/array.h"
#include "cli/figures.h"
#include "cli/json.h"
#include "cli/live.h"
#include "emu/ipc/sock.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define ANSWER_S     5
#define COMMAND_SIZE 16 /* of comm in proc(5) */

struct top {
	const struct options *o;
	int fd;
	bool sees_processes; /* their numbers are those of our /proc */
	struct cli_figures figures;
	int err; /* of the last request */
};

static const struct cli_figures_list processes = {
	"processes", "pid", {"bytes", "copies", "errors"}};

/* --- figures ---------------------------------------------------------------------------------- */

/* The name of a process may be any bytes. */
static void read_command(uint64_t pid, char command[static COMMAND_SIZE])
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
	in = fopen(path, "re");
	if (!in)
		return;
	command[fread(command, 1, COMMAND_SIZE - 1, in)] = '\0';
	fclose(in);
	command[strcspn(command, "\n")] = '\0';
	for (char *c = command; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static void add_commands(const struct top *t, struct json_object *status)
{
	struct json_object *list = json_object_object_get(status, processes.list), *one;
	size_t i, n = list ? json_object_array_length(list) : 0;

	for (i = 0; i < n; i++) {
		char command[COMMAND_SIZE] = "-";

		one = json_object_array_get_idx(list, i);
		if (t->sees_processes)
			read_command(cli_figures_number(one, processes.id), command);
		json_object_object_add(one, "command", json_object_new_string(command));
	}
}

static bool sample(void *arg)
{
	struct json_object *status;
	struct top *t = arg;

	t->err = tool_ask_status(t->fd, &status);
	if (t->err)
		return false;
	add_commands(t, status);
	cli_figures_add(&t->figures, status);
	return true;
}

/* --- views ------------------------------------------------------------------------------------ */

static void draw_head(const struct top *t, FILE *out)
{
	static const char *const names[] = {"copies",	"bytes",  "errors",
					    "commands", "errors", NULL};
	static const char *const counters[] = {"copies", "bytes", "errors", "commands",
					       "command_errors"};
	struct json_object *now = t->figures.after.object, *profile = NULL;
	double rates[ARRAY_SIZE(counters)], sums[ARRAY_SIZE(counters)];

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		rates[i] = cli_figures_rate(&t->figures, counters[i]);
		sums[i] = (double)cli_figures_number(now, counters[i]);
	}
	json_pointer_get(now, "/functions/0/profile", &profile);
	fputs("dpumap-emu top  ", out);
	cli_live_time(out);
	fprintf(out, "  %s  %s\nnodes %s  cards %s  clients %s  contexts %s\n\n",
		json_object_get_string(profile), t->o->dir, cli_figures_text(now, "nodes"),
		cli_figures_text(now, "cards"), cli_figures_text(now, "clients"),
		cli_figures_text(now, "contexts"));
	cli_live_head(out, "", names);
	cli_live_row(out, "a second", rates, ARRAY_SIZE(rates));
	cli_live_row(out, "since the start", sums, ARRAY_SIZE(sums));
}

static void draw_processes(const struct top *t, FILE *out)
{
	static const char *const names[] = {"copies/s", "bytes/s", "errors/s", NULL};
	char head[COMMAND_SIZE + 16];
	size_t count;
	struct cli_figures_row *rows = cli_figures_rows(&t->figures, &processes, &count);

	fputc('\n', out);
	cli_live_head(out, "    PID COMMAND", names);
	for (size_t i = 0; i < count; i++) {
		const struct cli_figures_row *row = &rows[i];

		snprintf(head, sizeof(head), "%7s %s", cli_figures_text(row->object, "pid"),
			 cli_figures_text(row->object, "command"));
		cli_live_row(out, head, (double[]){row->rate[1], row->rate[0], row->rate[2]}, 3);
	}
	free(rows);
}

/* An object in a line. */
static void write_json(const struct top *t, FILE *out)
{
	static const char *const now[] = {"clients", "contexts", NULL};
	static const char *const rates[] = {"commands", "command_errors", "copies",
					    "bytes",	"errors",	  NULL};
	static const char *const of_process[] = {"pid", "command", NULL};
	struct json_object *all = json_object_new_object();

	json_object_object_add(all, "schema", json_object_new_string("dpumap-emu-top-1"));
	cli_figures_put_seconds(all, &t->figures);
	cli_figures_copy(all, t->figures.after.object, now);
	cli_figures_put_rates(all, &t->figures, rates);
	json_object_object_add(all, "processes",
			       cli_figures_describe(&t->figures, &processes, of_process));
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
	draw_processes(t, out);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Is a number of a process the same for the server and for us? Its namespace of processes is ours. */
static bool sees_processes(int fd)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	struct stat ours, theirs;
	char path[64];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)peer.pid);
	return !stat(path, &theirs) && !stat("/proc/self/ns/pid", &ours) &&
	       ours.st_ino == theirs.st_ino;
}

static int failed(const struct top *t)
{
	const char *why = "it has ended";
	int err = -ECONNRESET;

	if (t->err == -EAGAIN) {
		why = "it did not answer in time: is it stopped?";
		err = -ETIMEDOUT;
	} else if (!t->figures.after.ns) {
		why = tool_error(t->err);
		err = t->err;
	}
	tool_fail(t->o, err, "cannot ask the emulator in", why);
	return 1;
}

int tool_top(struct options *o)
{
	const struct timeval limit = {.tv_sec = ANSWER_S};
	const struct cli_live live = {.interval_ms = o->interval_ms,
				      .once = o->once,
				      .plain = o->json,
				      .sample = sample,
				      .draw = draw};
	struct top t = {.o = o, .fd = tool_connect_running(o)};
	int err;

	if (t.fd < 0)
		return 1;
	t.sees_processes = sees_processes(t.fd);
	setsockopt(t.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(t.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	err = cli_live_run(&live, &t);
	if (err)
		emu_log("cannot show the figures: %s", strerror(err));
	else if (t.err)
		err = failed(&t);
	cli_figures_free(&t.figures);
	close(t.fd);
	return err ? 1 : 0;
}
