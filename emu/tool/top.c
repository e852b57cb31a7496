/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu top': what the processes copy each second. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/json.h"
#include "cli/live.h"
#include "emu/ipc/sock.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define ANSWER_S     5
#define COMMAND_SIZE 16 /* of comm in proc(5) */

struct process {
	int pid;
	char command[COMMAND_SIZE];
	uint64_t copies, bytes, errors;
};

struct figures {
	uint64_t ns; /* when they were read */
	char profile[32];
	unsigned int nodes, cards, clients, contexts;
	uint64_t commands, command_errors, copies, bytes, errors;
	struct process *process;
	size_t count;
};

struct top {
	const struct options *o;
	int fd;
	bool sees_processes; /* their numbers are those of our /proc */
	struct figures before, after;
	bool failed;
	int err; /* of the last request */
};

/* --- figures ---------------------------------------------------------------------------------- */

/* The name of a process may be any bytes. */
static void read_command(struct process *p)
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/comm", p->pid);
	in = fopen(path, "re");
	if (!in)
		return;
	p->command[fread(p->command, 1, COMMAND_SIZE - 1, in)] = '\0';
	fclose(in);
	p->command[strcspn(p->command, "\n")] = '\0';
	for (char *c = p->command; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static void read_process(const struct top *t, struct figures *f, const char *line)
{
	struct process p = {.command = "-"}, *more;

	// NOLINTNEXTLINE(cert-err34-c): our own text
	if (sscanf(line, "process %d work copies %" SCNu64 " bytes %" SCNu64 " errors %" SCNu64,
		   &p.pid, &p.copies, &p.bytes, &p.errors) != 4)
		return;
	more = realloc(f->process, (f->count + 1) * sizeof(*more));
	if (!more)
		return;
	if (t->sees_processes)
		read_command(&p);
	f->process = more;
	f->process[f->count++] = p;
}

static void read_line(const struct top *t, struct figures *f, const char *line)
{
	sscanf(line, "profile %31s", f->profile);		     // NOLINT(cert-err34-c)
	sscanf(line, "nodes %u", &f->nodes);			     // NOLINT(cert-err34-c)
	sscanf(line, "cards %u", &f->cards);			     // NOLINT(cert-err34-c)
	sscanf(line, "clients %u", &f->clients);		     // NOLINT(cert-err34-c)
	sscanf(line, "contexts %u", &f->contexts);		     // NOLINT(cert-err34-c)
	sscanf(line, "commands %" SCNu64, &f->commands);	     // NOLINT(cert-err34-c)
	sscanf(line, "command_errors %" SCNu64, &f->command_errors); // NOLINT(cert-err34-c)
	sscanf(line, "copies %" SCNu64, &f->copies);		     // NOLINT(cert-err34-c)
	sscanf(line, "bytes %" SCNu64, &f->bytes);		     // NOLINT(cert-err34-c)
	sscanf(line, "errors %" SCNu64, &f->errors);		     // NOLINT(cert-err34-c)
	read_process(t, f, line);
}

static bool sample(void *arg)
{
	struct top *t = arg;
	struct emu_reply reply;
	char *text = NULL, *line, *rest;

	t->err = tool_ask(t->fd, EMU_OP_STATUS, 0, &reply);
	if (!t->err)
		text = tool_receive_text(t->fd);
	t->failed = !text;
	if (!text)
		return false;
	free(t->before.process);
	t->before = t->after;
	t->after = (struct figures){.ns = monotonic_ns()};
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(t, &t->after, line);
	free(text);
	return true;
}

/* --- rates ------------------------------------------------------------------------------------ */

struct rates {
	double copies, bytes, errors;
};

static double rate(const struct top *t, uint64_t before, uint64_t after)
{
	return t->before.ns ? cli_live_rate(before, after, t->after.ns - t->before.ns) : 0;
}

/* A process that is new has begun at 0. */
static struct rates rates_of(const struct top *t, const struct process *p)
{
	const struct process zero = {0}, *b = &zero;
	size_t i;

	for (i = 0; i < t->before.count; i++)
		if (t->before.process[i].pid == p->pid)
			b = &t->before.process[i];
	return (struct rates){rate(t, b->copies, p->copies), rate(t, b->bytes, p->bytes),
			      rate(t, b->errors, p->errors)};
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct process *p = a, *q = b;
	struct rates r = rates_of(arg, p), s = rates_of(arg, q);

	if (r.bytes != s.bytes)
		return r.bytes < s.bytes ? 1 : -1;
	if (r.copies != s.copies)
		return r.copies < s.copies ? 1 : -1;
	return (p->pid > q->pid) - (p->pid < q->pid);
}

/* --- views ------------------------------------------------------------------------------------ */

static void draw_head(const struct top *t, FILE *out)
{
	static const char *const names[] = {"copies",	"bytes",  "errors",
					    "commands", "errors", NULL};
	const struct figures *a = &t->after, *b = &t->before;
	const double rates[] = {rate(t, b->copies, a->copies), rate(t, b->bytes, a->bytes),
				rate(t, b->errors, a->errors), rate(t, b->commands, a->commands),
				rate(t, b->command_errors, a->command_errors)};
	const double sums[] = {(double)a->copies, (double)a->bytes, (double)a->errors,
			       (double)a->commands, (double)a->command_errors};

	fputs("dpumap-emu top  ", out);
	cli_live_time(out);
	fprintf(out, "  %s  %s\nnodes %u  cards %u  clients %u  contexts %u\n\n", a->profile,
		t->o->dir, a->nodes, a->cards, a->clients, a->contexts);
	cli_live_head(out, "", names);
	cli_live_row(out, "a second", rates, ARRAY_SIZE(rates));
	cli_live_row(out, "since the start", sums, ARRAY_SIZE(sums));
}

static void draw_processes(const struct top *t, FILE *out)
{
	static const char *const names[] = {"copies/s", "bytes/s", "errors/s", NULL};
	char head[COMMAND_SIZE + 16];
	size_t i;

	fputc('\n', out);
	cli_live_head(out, "    PID COMMAND", names);
	for (i = 0; i < t->after.count; i++) {
		const struct process *p = &t->after.process[i];
		struct rates r = rates_of(t, p);

		snprintf(head, sizeof(head), "%7d %s", p->pid, p->command);
		cli_live_row(out, head, (double[]){r.copies, r.bytes, r.errors}, 3);
	}
}

static void write_rates(FILE *out, struct rates r)
{
	fprintf(out,
		"\"copies_per_second\": %.3f, \"bytes_per_second\": %.3f, "
		"\"errors_per_second\": %.3f",
		r.copies, r.bytes, r.errors);
}

/* An object in a line. */
static void write_json(const struct top *t, FILE *out)
{
	const struct figures *a = &t->after, *b = &t->before;
	const char *sep = "";
	size_t i;

	fprintf(out,
		"{\"schema\": \"dpumap-emu-top-1\", \"seconds\": %.3f, \"clients\": %u, "
		"\"contexts\": %u, \"commands_per_second\": %.3f, "
		"\"command_errors_per_second\": %.3f, ",
		(double)(a->ns - b->ns) / 1e9, a->clients, a->contexts,
		rate(t, b->commands, a->commands), rate(t, b->command_errors, a->command_errors));
	write_rates(out, (struct rates){rate(t, b->copies, a->copies), rate(t, b->bytes, a->bytes),
					rate(t, b->errors, a->errors)});
	fputs(", \"processes\": [", out);
	for (i = 0; i < a->count; i++) {
		fprintf(out, "%s{\"pid\": %d, \"command\": ", sep, a->process[i].pid);
		cli_json_text(out, a->process[i].command);
		fputs(", ", out);
		write_rates(out, rates_of(t, &a->process[i]));
		fputc('}', out);
		sep = ", ";
	}
	fputs("]}\n", out);
}

static void draw(void *arg, FILE *out)
{
	struct top *t = arg;

	if (t->after.count)
		qsort_r(t->after.process, t->after.count, sizeof(*t->after.process), compare, t);
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
	bool silent = t->err == -EAGAIN;
	const char *why = silent ? "it did not answer in time: is it stopped?" : "it has ended";
	char text[PATH_MAX + 128];

	snprintf(text, sizeof(text), "cannot ask the emulator in %s: %s", t->o->dir, why);
	emu_log("%s", text);
	if (t->o->json)
		cli_json_error(stdout, silent ? "ETIMEDOUT" : "ECONNRESET", text, 1);
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
	else if (t.failed)
		err = failed(&t);
	free(t.before.process);
	free(t.after.process);
	close(t.fd);
	return err ? 1 : 0;
}
