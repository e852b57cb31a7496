/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu fault': parse the options and send the rule. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/ipc/codes.h"
#include "emu/server/commands.h"
#include "emu/tool/tool.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct named {
	const char *name;
	uint32_t value;
};

static const struct named kinds[] = {
	{"command", EMU_RULE_COMMAND}, {"completion", EMU_RULE_COMPLETION},
	{"memory", EMU_RULE_MEMORY},   {"device", EMU_RULE_DEVICE},
	{"port", EMU_RULE_PORT},       {"clear", EMU_RULE_NONE},
};

/* The options of each kind of fault; others are refused. */
static const unsigned int words[] = {
	[EMU_RULE_NONE] = 0,
	[EMU_RULE_COMMAND] = W_METHOD | W_ERRNO | W_STATUS | W_SYNDROME | W_WHICH | W_AS,
	[EMU_RULE_COMPLETION] = W_LOSE | W_DELAY | W_SYNDROME | W_WHICH | W_AS,
	[EMU_RULE_MEMORY] = W_LEFT | W_AS,
	[EMU_RULE_DEVICE] = W_AS,
	[EMU_RULE_PORT] = W_AS,
};

/* Statuses that the firmware answers commands with. */
#define NAMED_STATUS(name, number, errnum, meaning) {#name, number},

static const struct named statuses[] = {EMU_STATUSES(NAMED_STATUS)};

/* Syndromes of completions. */
#define NAMED_SYNDROME(name, number, word, meaning) {word, number},

static const struct named syndromes[] = {EMU_CQE_SYNDROMES(NAMED_SYNDROME)};

static const struct named *find(const struct named *table, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Parse a whole text as a number in any base. */
static bool parse_number(const char *text, uint64_t max, uint64_t *v)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*v = strtoull(text, &end, 0);
	return !errno && !*end && *v <= max;
}

const char *tool_fault_kind(struct options *o, const char *word)
{
	const struct named *k = find(kinds, COUNT(kinds), word);

	if (!k)
		return "unknown kind of fault; use command, completion, memory, device, port or "
		       "clear";
	o->fault.kind = k->value;
	return NULL;
}

const char *tool_fault_method(struct options *o, const char *arg)
{
	if (strlen(arg) >= sizeof(o->fault.method) || !emu_command_known(arg))
		return "matches no command";
	memcpy(o->fault.method, arg, strlen(arg) + 1);
	o->fault_words |= W_METHOD;
	return NULL;
}

const char *tool_fault_nth(struct options *o, const char *arg)
{
	o->fault_words |= W_WHICH;
	return parse_number(arg, UINT64_MAX, &o->fault.nth) && o->fault.nth
		       ? NULL
		       : "not a number of 1 or more";
}

const char *tool_fault_count(struct options *o, const char *arg)
{
	o->fault_words |= W_WHICH;
	if (!strcmp(arg, "all"))
		o->fault.count = UINT64_MAX;
	else if (!parse_number(arg, UINT64_MAX, &o->fault.count) || !o->fault.count)
		return "neither `all' nor a number of 1 or more";
	return NULL;
}

const char *tool_fault_errno(struct options *o, const char *arg)
{
	uint32_t e;

	for (e = 1; e < 256; e++) {
		const char *known = strerrorname_np((int)e);

		if (!known || strcmp(known, arg) != 0)
			continue;
		o->fault.errnum = e;
		o->fault_words |= W_ERRNO;
		return NULL;
	}
	return "unknown errno";
}

const char *tool_fault_status(struct options *o, const char *arg)
{
	const struct named *s = find(statuses, COUNT(statuses), arg);

	if (!s)
		return "unknown firmware status";
	o->fault.status = s->value;
	o->fault_words |= W_STATUS;
	return NULL;
}

/* A name for completions; any number for commands, as the firmware's syndromes are not public. */
const char *tool_fault_syndrome(struct options *o, const char *arg)
{
	const struct named *s = find(syndromes, COUNT(syndromes), arg);
	uint64_t v;

	if (s)
		v = s->value;
	else if (!parse_number(arg, UINT32_MAX, &v) || !v)
		return "unknown syndrome";
	o->fault.syndrome = (uint32_t)v;
	o->fault_words |= W_SYNDROME;
	return NULL;
}

const char *tool_fault_lose(struct options *o, const char *arg)
{
	(void)arg;
	if (o->fault.action)
		return "use either --lose or --delay";
	o->fault.action = EMU_CQE_LOSE;
	o->fault_words |= W_LOSE;
	return NULL;
}

const char *tool_fault_delay(struct options *o, const char *arg)
{
	uint64_t ms;

	if (o->fault.action)
		return "use either --lose or --delay";
	if (!parse_number(arg, 3600000, &ms))
		return "not a number of milliseconds";
	o->fault.action = EMU_CQE_DELAY;
	o->fault_words |= W_DELAY;
	o->fault.amount = ms * 1000;
	return NULL;
}

const char *tool_fault_left(struct options *o, const char *arg)
{
	o->fault_words |= W_LEFT;
	return parse_number(arg, UINT64_MAX, &o->fault.amount) ? NULL : "not a number of bytes";
}

static const char *check_completion(const struct emu_fault_request *f)
{
	if (!f->action == !f->syndrome)
		return "use one of --lose, --delay and --syndrome";
	return f->syndrome > UINT8_MAX ? "the syndrome of a completion is at most 255" : NULL;
}

const char *tool_fault_check(const struct options *o)
{
	const struct emu_fault_request *f = &o->fault;
	unsigned int given = o->fault_words | (o->role ? W_AS : 0u);

	if (given & (W_LOSE | W_DELAY) && f->kind != EMU_RULE_COMPLETION)
		return "--lose and --delay need `fault completion'";
	if (given & ~words[f->kind])
		return "this kind of fault does not support one of the options";
	if (f->kind == EMU_RULE_COMPLETION)
		return check_completion(f);
	if (f->kind == EMU_RULE_COMMAND && f->errnum && f->status)
		return "use either --errno or --status";
	if (f->syndrome && !f->status)
		return "--syndrome needs --status, or `fault completion'";
	return NULL;
}

static void complete(struct emu_fault_request *f, const struct options *o)
{
	f->req.magic = EMU_MAGIC;
	f->req.op = EMU_OP_FAULT;
	if (f->kind == EMU_RULE_COMMAND && !f->errnum && !f->status)
		f->errnum = ENOMEM;
	if (f->kind == EMU_RULE_COMPLETION && f->syndrome)
		f->action = EMU_CQE_ERROR;
	if (o->role)
		snprintf(f->role, sizeof(f->role), "%s", o->role);
}

int tool_fault(struct options *o)
{
	struct emu_reply rep = {0};
	int fd, err;

	fd = tool_connect_running(o);
	if (fd < 0)
		return 1;
	complete(&o->fault, o);
	err = tool_exchange(fd, &o->fault, sizeof(o->fault), &rep);
	close(fd);
	if (err) {
		fprintf(stderr, "dpumap-emu: the emulator in %s refused the fault: %s\n", o->dir,
			tool_error(err));
		return 1;
	}
	if (o->fault.kind == EMU_RULE_NONE)
		printf("seen %llu\nfailed %llu\ncompletions_seen %llu\ncompletions_failed %llu\n",
		       (unsigned long long)rep.val[0], (unsigned long long)rep.val[1],
		       (unsigned long long)rep.val[2], (unsigned long long)rep.val[3]);
	return 0;
}

static void print_names(FILE *out, const char *title, const struct named *table, size_t n)
{
	size_t column = 0, i;

	fprintf(out, "\n%s\n", title);
	for (i = 0; i < n; i++) {
		if (!column || column + 1 + strlen(table[i].name) > 78)
			column =
				(size_t)fprintf(out, column ? "\n    %s" : "    %s", table[i].name);
		else
			column += (size_t)fprintf(out, " %s", table[i].name);
	}
	fputc('\n', out);
}

void tool_fault_names(FILE *out)
{
	fprintf(out, "\nCommands, for --method:\n");
	emu_command_names(out);
	print_names(out, "Firmware statuses, for --status:", statuses, COUNT(statuses));
	print_names(out, "Syndromes of completions, for --syndrome:", syndromes, COUNT(syndromes));
}
