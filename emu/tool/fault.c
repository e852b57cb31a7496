/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu fault': parse the options and send the rule. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/codes.h"
#include "emu/server/commands.h"
#include "emu/tool/tool.h"

struct named {
	const char *name;
	uint32_t value;
};

static const struct named kinds[] = {
	{"command", EMU_RULE_COMMAND},	   {"completion", EMU_RULE_COMPLETION},
	{"memory", EMU_RULE_MEMORY},	   {"device", EMU_RULE_DEVICE},
	{"port", EMU_RULE_PORT},	   {"partition", EMU_RULE_PARTITION},
	{"queue", EMU_RULE_QUEUE},	   {"gid", EMU_RULE_GID},
	{"neighbour", EMU_RULE_NEIGHBOUR}, {"data", EMU_RULE_DATA},
	{"clear", EMU_RULE_NONE},
};

/* The options of each kind of fault; others are refused. */
static const unsigned int words[] = {
	[EMU_RULE_NONE] = 0,
	[EMU_RULE_COMMAND] =
		W_METHOD | W_ERRNO | W_STATUS | W_SYNDROME | W_NTH | W_COUNT | W_AS | W_OFF,
	[EMU_RULE_COMPLETION] =
		W_LOSE | W_DELAY | W_DUPLICATE | W_SYNDROME | W_NTH | W_COUNT | W_AS | W_OFF,
	[EMU_RULE_MEMORY] = W_LEFT | W_AS | W_OFF,
	[EMU_RULE_DEVICE] = W_AS | W_OFF,
	[EMU_RULE_PORT] = W_AS | W_OFF,
	[EMU_RULE_PARTITION] = W_AS | W_PEER | W_OFF,
	[EMU_RULE_GID] = W_AS | W_OFF,
	[EMU_RULE_NEIGHBOUR] = W_AS | W_OFF,
	[EMU_RULE_DATA] = W_NTH | W_COUNT | W_AS | W_OFF,
	[EMU_RULE_QUEUE] = W_SILENT | W_RNR | W_DELAY | W_QPN | W_NTH | W_AS | W_OFF,
};

#define W_WHERE (W_AS | W_PEER | W_QPN) /* what --off needs to find the fault */

/* Statuses that the firmware answers commands with. */
#define NAMED_STATUS(name, number, errnum, meaning) {#name, number},

static const struct named statuses[] = {EMU_STATUSES(NAMED_STATUS)};

/* Syndromes of completions. */
#define NAMED_SYNDROME(name, number, vendor, word, meaning) {word, number},

static const struct named syndromes[] = {EMU_CQE_SYNDROMES(NAMED_SYNDROME)};

static const struct named *find(const struct named *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
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
	const struct named *k = find(kinds, ARRAY_SIZE(kinds), word);

	if (!k)
		return "unknown kind of fault; use command, completion, data, memory, device, "
		       "port, gid, neighbour, partition, queue or clear";
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
	o->fault_words |= W_NTH;
	return parse_number(arg, UINT64_MAX, &o->fault.nth) && o->fault.nth
		       ? NULL
		       : "not a number of 1 or more";
}

const char *tool_fault_count(struct options *o, const char *arg)
{
	o->fault_words |= W_COUNT;
	if (!strcmp(arg, "all"))
		o->fault.count = UINT64_MAX;
	else if (!parse_number(arg, UINT64_MAX, &o->fault.count) || !o->fault.count)
		return "neither `all' nor a number of 1 or more";
	return NULL;
}

const char *tool_fault_errno(struct options *o, const char *arg)
{
	for (uint32_t e = 1; e < 256; e++) {
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
	const struct named *s = find(statuses, ARRAY_SIZE(statuses), arg);

	if (!s)
		return "unknown firmware status";
	o->fault.status = s->value;
	o->fault_words |= W_STATUS;
	return NULL;
}

/* A name for completions; any number for commands, as the firmware's syndromes are not public. */
const char *tool_fault_syndrome(struct options *o, const char *arg)
{
	const struct named *s = find(syndromes, ARRAY_SIZE(syndromes), arg);
	uint64_t v;

	if (s)
		v = s->value;
	else if (!parse_number(arg, UINT32_MAX, &v) || !v)
		return "unknown syndrome";
	o->fault.syndrome = (uint32_t)v;
	o->fault_words |= W_SYNDROME;
	return NULL;
}

/* What happens to completions or to a queue pair: one of the options. */
static const char *set_action(struct options *o, uint32_t action, unsigned int word)
{
	if (o->fault.action)
		return "use only one of --lose, --delay, --duplicate, --silent and --rnr";
	o->fault.action = action;
	o->fault_words |= word;
	return NULL;
}

const char *tool_fault_lose(struct options *o, const char *arg)
{
	(void)arg;
	return set_action(o, EMU_CQE_LOSE, W_LOSE);
}

const char *tool_fault_duplicate(struct options *o, const char *arg)
{
	(void)arg;
	return set_action(o, EMU_CQE_TWICE, W_DUPLICATE);
}

const char *tool_fault_silent(struct options *o, const char *arg)
{
	(void)arg;
	return set_action(o, EMU_QP_SILENT, W_SILENT);
}

const char *tool_fault_rnr(struct options *o, const char *arg)
{
	(void)arg;
	return set_action(o, EMU_QP_UNREADY, W_RNR);
}

const char *tool_fault_delay(struct options *o, const char *arg)
{
	uint64_t ms;

	if (!parse_number(arg, 3600000, &ms))
		return "not a number of milliseconds";
	o->fault.amount = ms * 1000;
	return set_action(o, EMU_CQE_DELAY, W_DELAY);
}

const char *tool_fault_qpn(struct options *o, const char *arg)
{
	uint64_t v;

	o->fault_words |= W_QPN;
	if (!parse_number(arg, 0xffffff, &v) || !v)
		return "not the number of a queue pair";
	o->fault.qpn = (uint32_t)v;
	return NULL;
}

const char *tool_fault_peer(struct options *o, const char *arg)
{
	if (!strncmp(arg, "node0.", 6))
		arg += 6;
	o->fault_words |= W_PEER;
	return snprintf(o->fault.peer, sizeof(o->fault.peer), "%s", arg) >=
				       (int)sizeof(o->fault.peer) ||
			       !*arg
		       ? "not the name of a function or of a machine"
		       : NULL;
}

const char *tool_fault_off(struct options *o, const char *arg)
{
	(void)arg;
	o->fault.off = 1;
	o->fault_words |= W_OFF;
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
		return "use one of --lose, --delay, --duplicate and --syndrome";
	return f->syndrome > UINT8_MAX ? "the syndrome of a completion is at most 255" : NULL;
}

static const char *check_queue(const struct emu_fault_request *f, unsigned int given)
{
	if (!f->action)
		return "use one of --silent, --rnr and --delay";
	return (given & (W_QPN | W_NTH)) == (W_QPN | W_NTH) ? "use either --qpn or --nth" : NULL;
}

static const char *check_command(const struct emu_fault_request *f)
{
	if (f->errnum && f->status)
		return "use either --errno or --status";
	return f->syndrome && !f->status ? "--syndrome needs --status, or `fault completion'"
					 : NULL;
}

const char *tool_fault_check(const struct options *o)
{
	const struct emu_fault_request *f = &o->fault;
	unsigned int given = o->fault_words | (o->role ? W_AS : 0u);

	if (given & (W_LOSE | W_DELAY | W_DUPLICATE) && f->kind != EMU_RULE_COMPLETION &&
	    f->kind != EMU_RULE_QUEUE)
		return "--lose, --delay and --duplicate need `fault completion'";
	if (given & ~words[f->kind])
		return "this kind of fault does not support one of the options";
	if (given & W_OFF)
		return given & ~(W_OFF | W_WHERE) ? "--off supports only --as, --peer and --qpn"
						  : NULL;
	if (given & W_PEER && !o->role)
		return "--peer needs --as";
	if (f->kind == EMU_RULE_COMPLETION)
		return check_completion(f);
	if (f->kind == EMU_RULE_QUEUE)
		return check_queue(f, given);
	return f->kind == EMU_RULE_COMMAND ? check_command(f) : NULL;
}

void tool_fault_complete(struct options *o)
{
	struct emu_fault_request *f = &o->fault;

	f->req.magic = EMU_MAGIC;
	f->req.op = EMU_OP_FAULT;
	if (f->kind == EMU_RULE_COMMAND && !f->errnum && !f->status)
		f->errnum = ENOMEM;
	if (f->kind == EMU_RULE_COMPLETION && f->syndrome)
		f->action = EMU_CQE_ERROR;
	if (f->kind == EMU_RULE_QUEUE && o->fault_words & W_DELAY)
		f->action = EMU_QP_SLOW;
	if (o->role)
		snprintf(f->role, sizeof(f->role), "%s", o->role);
}

bool tool_fault_replaces(const struct emu_fault_request *a, const struct emu_fault_request *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == EMU_RULE_COMMAND || a->kind == EMU_RULE_COMPLETION ||
	    a->kind == EMU_RULE_DATA)
		return true;
	return !strcmp(a->role, b->role) && !strcmp(a->peer, b->peer) && a->qpn == b->qpn;
}

void tool_fault_end(const struct emu_fault_request *f, struct emu_fault_request *end)
{
	char qpn[24] = "";
	size_t i = 0;

	while (kinds[i].value != f->kind)
		i++;
	*end = (struct emu_fault_request){.req = f->req, .kind = f->kind, .off = 1};
	end->nth = 1;
	end->count = 1;
	end->qpn = f->qpn;
	memcpy(end->role, f->role, sizeof(end->role));
	memcpy(end->peer, f->peer, sizeof(end->peer));
	if (f->qpn)
		snprintf(qpn, sizeof(qpn), " --qpn %#x", f->qpn);
	snprintf(end->words, sizeof(end->words), "%s%s%s%s%s%s --off", kinds[i].name,
		 *f->role ? " --as " : "", f->role, *f->peer ? " --peer " : "", f->peer, qpn);
}

const char *tool_fault_error(int err)
{
	if (err == -ENODEV)
		return "there is no such function; see `dpumap-emu status --json'";
	if (err == -ENOENT)
		return "there is no such queue pair";
	if (err == -EINVAL)
		return "not valid: a partition needs different functions, and a delay has at most "
		       "32 "
		       "bits of microseconds";
	return tool_error(err);
}

int tool_fault(struct options *o)
{
	struct emu_reply rep = {0};
	int fd, err;

	if (o->list_faults)
		return tool_list_faults(o);
	fd = tool_connect_running(o);
	if (fd < 0)
		return 1;
	tool_fault_complete(o);
	err = tool_exchange(fd, &o->fault, sizeof(o->fault), &rep);
	close(fd);
	if (err == -ENODEV && o->role && o->fault.kind != EMU_RULE_PARTITION &&
	    !tool_has_function(o->dir, o->role))
		return 1;
	if (err) {
		fprintf(stderr, "dpumap-emu: the emulator in %s refused the fault: %s\n", o->dir,
			tool_fault_error(err));
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
	print_names(out, "Firmware statuses, for --status:", statuses, ARRAY_SIZE(statuses));
	print_names(out, "Syndromes of completions, for --syndrome:", syndromes,
		    ARRAY_SIZE(syndromes));
}
