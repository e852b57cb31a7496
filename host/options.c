/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One table of all options; each command has an argp of its own, made of those that it takes. Those
 * of the connection may also stand before the command.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/channel.h"
#include "common/size.h"
#include "common/usage.h"
#include "options.h"

#define TIMEOUT_MAX_S 3600
#define DAYS_MAX      36500
#define COUNT_MAX     1000000000
#define FIRST_KEY     0x100

enum option_type {
	TYPE_TEXT,
	TYPE_TEXTS, /* of the alternative names */
	TYPE_ADDRESS,
	TYPE_SIZE,
	TYPE_NUMBER, /* 1 to max */
	TYPE_FLAG,
};

struct entry {
	const char *name;
	int letter; /* 0: none */
	const char *arg;
	const char *doc;
	unsigned int bit;
	enum option_type type;
	size_t at;
	uint64_t max;
};

#define AT(member) offsetof(struct options, member)

static const struct entry entries[] = {
	{"offset", 'o', "SIZE", "Begin at this byte of the export", OPTION_OFFSET, TYPE_SIZE,
	 AT(offset), 0},
	{"length", 'n', "SIZE", "So many bytes (default: to the end)", OPTION_LENGTH, TYPE_SIZE,
	 AT(length), 0},
	{"file-offset", 0, "SIZE", "Begin at this byte of the file that is read",
	 OPTION_FILE_OFFSET, TYPE_SIZE, AT(file_offset), 0},
	{"sparse", 0, NULL, "Leave holes in the file for blocks of zeros", OPTION_SPARSE, TYPE_FLAG,
	 0, 0},
	{"descriptor", 0, "FILE", "A saved descriptor instead of a name", OPTION_DESCRIPTOR,
	 TYPE_TEXT, AT(descriptor), 0},
	{"hold", 0, NULL, "Keep it until interrupted or revoked", OPTION_HOLD, TYPE_FLAG, 0, 0},
	{"show-secret", 0, NULL, "Print the access key as well", OPTION_SHOW_SECRET, TYPE_FLAG, 0,
	 0},
	{"count", 0, "NUMBER", "So many of them, then end", OPTION_COUNT, TYPE_NUMBER, AT(count),
	 COUNT_MAX},
	{"size", 's', "SIZE", "Copies of this size only", OPTION_SIZE, TYPE_SIZE, AT(size), 0},
	{"write", 'w', NULL, "Measure writing too: the export's bytes are lost", OPTION_WRITE,
	 TYPE_FLAG, 0, 0},
	{"dir", 0, "DIRECTORY",
	 "Where the authority is (default ~/.config/dpumap/pki, or below $XDG_CONFIG_HOME)",
	 OPTION_DIR, TYPE_TEXT, AT(dir), 0},
	{"dpu", 0, "NAME", "For the DPU of this name: its dpumapd is a server", OPTION_NAMES,
	 TYPE_TEXT, AT(dpu), 0},
	{"host", 0, "NAME", "For the host of this name: a client, to exports cert:NAME",
	 OPTION_NAMES, TYPE_TEXT, AT(host), 0},
	{"san", 0, "NAME", "Another DNS name or address of the DPU; may be repeated", OPTION_NAMES,
	 TYPE_TEXTS, 0, 0},
	{"days", 0, "NUMBER", "Valid for so long", OPTION_DAYS, TYPE_NUMBER, AT(days), DAYS_MAX},
	{"key-type", 0, "TYPE", "p256 (default) or ed25519", OPTION_KEY_TYPE, TYPE_TEXT,
	 AT(key_type), 0},
	{"json", 0, NULL, "Print JSON", OPTION_JSON, TYPE_FLAG, 0, 0},
	{"device", 'd', "DEVICE", "IB device name or PCI address (default: the first that can)",
	 OPTION_DEVICE, TYPE_TEXT, AT(device), 0},
	{"connect", 'c', "ADDRESS", "dpumapd: unix:PATH or tls:HOST:PORT", OPTION_CONNECTION,
	 TYPE_ADDRESS, AT(connect), 0},
	{"cert", 0, "FILE", "Our certificate for TLS", OPTION_CONNECTION, TYPE_TEXT, AT(tls.cert),
	 0},
	{"key", 0, "FILE", "Its key, of mode 0600", OPTION_CONNECTION, TYPE_TEXT, AT(tls.key), 0},
	{"ca", 0, "FILE", "Authorities that dpumapd's certificate comes from", OPTION_CONNECTION,
	 TYPE_TEXT, AT(tls.ca), 0},
	{"crl", 0, "FILE", "What they have revoked", OPTION_CONNECTION, TYPE_TEXT, AT(tls.crl), 0},
	{"psk", 0, "FILE", "A shared key instead: lines NAME:HEX, mode 0600", OPTION_CONNECTION,
	 TYPE_TEXT, AT(tls.psk), 0},
	{"psk-name", 0, "NAME", "Which of them (default: the first)", OPTION_CONNECTION, TYPE_TEXT,
	 AT(tls.psk_name), 0},
	{"server", 0, "NAME", "Whom dpumapd's certificate must name (default: the host)",
	 OPTION_CONNECTION, TYPE_TEXT, AT(server), 0},
	{"timeout", 't', "SECONDS", "Give up when nothing happens for so long (default 10)",
	 OPTION_CONNECTION, TYPE_NUMBER, AT(timeout_s), TIMEOUT_MAX_S},
	{"config", 0, "FILE", "Instead of ~/.config/dpumap/dpumap.conf", OPTION_CONNECTION,
	 TYPE_TEXT, AT(config), 0},
	{"verbose", 'v', NULL, "Show the library's own log as well", OPTION_VERBOSE, TYPE_FLAG, 0,
	 0},
};

#define NUM_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const char about[] = "Use memory that dpumapd on the DPU exports.\v";

static const char about_connection[] = "\vOptions of the connection and the device: dpumap --help.";

static const char more[] =
	"\n"
	"dpumap COMMAND --help says more. What is not said comes from $DPUMAP_CONNECT and from "
	"~/.config/dpumap/dpumap.conf or /etc/dpumap/dpumap.conf; see dpumap(1). Sizes may have K, "
	"M, G or T.\n"
	"\n"
	"Exit codes: 0 done, 1 the transfer or its verification failed, 2 wrong usage, 3 not found "
	"(file, export, device) or cannot connect, 4 refused (permission, does not fit, bad "
	"descriptor, another card, revoked), 5 the device cannot do it.";

struct parse {
	const struct command *commands;
	struct options *options;
};

static int key_of(const struct entry *entry)
{
	return entry->letter ? entry->letter : FIRST_KEY + (int)(entry - entries);
}

/*
 * The table for argp of the options in takes; ends with an empty entry. Those of the connection are
 * the same everywhere: a command's help leaves them to dpumap --help.
 */
static void select_options(unsigned int takes, unsigned int hidden,
			   struct argp_option table[static NUM_ENTRIES + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < NUM_ENTRIES; i++) {
		const struct entry *entry = &entries[i];

		if (!(entry->bit & takes))
			continue;
		table[n++] = (struct argp_option){.name = entry->name,
						  .key = key_of(entry),
						  .arg = entry->arg,
						  .doc = entry->doc,
						  .flags = entry->bit & hidden ? OPTION_HIDDEN : 0};
	}
	table[n] = (struct argp_option){0};
}

static uint64_t parse_number(const struct argp_state *state, const struct entry *entry,
			     const char *text)
{
	uint64_t value = 0;

	if (entry->type == TYPE_SIZE) {
		if (!dpumap_size_parse(text, &value))
			dpumap_usage_error(state, "--%s is a number of bytes, not \"%s\"",
					   entry->name, text);
	} else if (!dpumap_number_parse(text, entry->max, &value) || value == 0) {
		dpumap_usage_error(state, "--%s is 1 to %llu%s, not \"%s\"", entry->name,
				   (unsigned long long)entry->max,
				   entry->at == AT(timeout_s) ? " seconds" : "", text);
	}
	return value;
}

static void add_san(const struct argp_state *state, struct options *o, const char *name)
{
	if (o->num_sans == OPTIONS_SANS_MAX)
		dpumap_usage_error(state, "at most %d --san", OPTIONS_SANS_MAX);
	o->sans[o->num_sans++] = name;
}

static void check_address(const struct argp_state *state, const char *text)
{
	struct dpumap_address address;
	struct dpumap_fault fault = {0};

	if (dpumap_address_parse(text, &address, &fault) != DOCA_SUCCESS)
		dpumap_usage_error(state, "--connect: %s", fault.text);
}

static void take(const struct argp_state *state, struct options *o, const struct entry *entry,
		 const char *text)
{
	char *to = (char *)o + entry->at;
	uint64_t number;

	o->given |= entry->bit;
	switch (entry->type) {
	case TYPE_ADDRESS:
		check_address(state, text);
		memcpy(to, &text, sizeof(text));
		return;
	case TYPE_TEXT:
		memcpy(to, &text, sizeof(text));
		return;
	case TYPE_TEXTS:
		add_san(state, o, text);
		return;
	case TYPE_SIZE:
	case TYPE_NUMBER:
		number = parse_number(state, entry, text);
		memcpy(to, &number, sizeof(number));
		return;
	case TYPE_FLAG:
		return;
	}
}

static error_t parse_entry(int key, const char *arg, const struct argp_state *state)
{
	const struct parse *p = state->input;

	for (size_t i = 0; i < NUM_ENTRIES; i++) {
		if (key_of(&entries[i]) == key) {
			take(state, p->options, &entries[i], arg);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- a command -- */

/* The forms, which are lines, in one. */
static void complain_of_args(const struct argp_state *state, const struct command *command)
{
	char forms[160] = "", *at = forms;

	for (const char *c = command->args; *c && at < forms + sizeof(forms) - 5; c++) {
		if (*c == '\n') {
			memcpy(at, " or ", 4);
			at += 4;
		} else {
			*at++ = *c;
		}
	}
	*at = '\0';
	dpumap_usage_error(state, "%s wants %s", command->name, forms);
}

static void check(const struct argp_state *state, const struct options *o)
{
	const struct command *c = o->command;
	const char *wrong;

	if (o->given & OPTION_DESCRIPTOR && o->num_args > 0)
		dpumap_usage_error(state, "%s wants no arguments with --descriptor", c->name);
	if (!(o->given & OPTION_DESCRIPTOR) && o->num_args < c->min_args)
		complain_of_args(state, c);
	wrong = c->check ? c->check(o) : NULL;
	if (wrong)
		dpumap_usage_error(state, "%s", wrong);
}

static error_t parse_of_command(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	struct options *o = p->options;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->num_args == o->command->max_args)
			dpumap_usage_error(state,
					   o->num_args ? "too many arguments for %s"
						       : "%s wants no arguments",
					   o->command->name);
		o->args[o->num_args++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(state, o);
		return 0;
	default:
		return parse_entry(key, arg, state);
	}
}

static void parse_command(int argc, char **argv, struct parse *p)
{
	const struct command *command = p->options->command;
	struct argp_option table[NUM_ENTRIES + 1];
	char name[64], doc[512];
	const struct argp argp = {.options = table,
				  .parser = parse_of_command,
				  .args_doc = command->args,
				  .doc = doc};

	snprintf(doc, sizeof(doc), "%s%s", command->doc,
		 command->takes & OPTION_CONNECTION ? about_connection : "");
	select_options(command->takes, OPTION_CONNECTION | OPTION_DEVICE | OPTION_VERBOSE, table);
	snprintf(name, sizeof(name), "dpumap %s", command->name);
	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, p);
}

/* -- which command -- */

static const struct command *find(const struct command *commands, const char *name)
{
	for (const struct command *c = commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static bool is_in_group(const struct command *command, const char *group)
{
	size_t len = strlen(group);

	return strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}

static void print_command(FILE *to, const struct command *command)
{
	const char *end = strpbrk(command->doc, ".\v");
	char call[64];

	snprintf(call, sizeof(call), "%s%s%s", command->name, command->args[0] ? " " : "",
		 strchr(command->args, '\n') ? "..." : command->args);
	fprintf(to, "  %-27s %.*s\n", call, end ? (int)(end - command->doc) : 80, command->doc);
}

/* NULL when there is no such group; otherwise the names of its commands. */
static char *name_group(const struct command *commands, const char *group)
{
	char *names = NULL;
	size_t len;
	FILE *to = open_memstream(&names, &len);
	bool any = false;

	if (!to)
		return NULL;
	for (const struct command *c = commands; c->name; c++) {
		if (!is_in_group(c, group))
			continue;
		fprintf(to, "%s%s", any ? ", " : "", c->name + strlen(group) + 1);
		any = true;
	}
	fclose(to);
	if (any)
		return names;
	free(names);
	return NULL;
}

_Noreturn static void help_group(const struct command *commands, const char *group)
{
	printf("Usage: dpumap %s COMMAND [OPTION...]\n\n", group);
	for (const struct command *c = commands; c->name; c++) {
		if (is_in_group(c, group))
			print_command(stdout, c);
	}
	exit(DPUMAP_EXIT_OK);
}

/* A command of a group is two words. */
static const struct command *find_in_group(const struct argp_state *state,
					   const struct command *commands, const char *group)
{
	const char *word = state->next < state->argc ? state->argv[state->next] : NULL;
	char *names = name_group(commands, group);
	const struct command *command = NULL;
	char name[64];

	if (!names)
		dpumap_usage_error(state, "\"%s\" is no command", group);
	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0))
		help_group(commands, group);
	if (word) {
		snprintf(name, sizeof(name), "%s %s", group, word);
		command = find(commands, name);
	}
	if (!command)
		dpumap_usage_error(state, "%s wants one of %s%s%s%s", group, names,
				   word ? ", not \"" : "", word ? word : "", word ? "\"" : "");
	free(names);
	return command;
}

static error_t parse_first(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	int at;

	switch (key) {
	case ARGP_KEY_ARG:
		at = state->next - 1;
		p->options->command = find(p->commands, arg);
		if (!p->options->command) {
			p->options->command = find_in_group(state, p->commands, arg);
			at++;
		}
		parse_command(state->argc - at, state->argv + at, p);
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		dpumap_usage_error(state, "a command is missing");
	default:
		return parse_entry(key, arg, state);
	}
}

static char *make_doc(const struct command *commands)
{
	char *doc = NULL;
	size_t len;
	FILE *to = open_memstream(&doc, &len);

	if (!to)
		return NULL;
	fprintf(to, "%sCommands:\n", about);
	for (const struct command *c = commands; c->name; c++) {
		if (!c->is_old_name)
			print_command(to, c);
	}
	fputs(more, to);
	return fclose(to) == 0 ? doc : NULL;
}

void options_parse(int argc, char **argv, const struct command *commands, struct options *options)
{
	struct argp_option table[NUM_ENTRIES + 1];
	struct argp argp = {
		.options = table, .parser = parse_first, .args_doc = "COMMAND [ARGUMENT...]"};
	struct parse p = {.commands = commands, .options = options};
	char *doc = make_doc(commands);

	*options = (struct options){0};
	argp.doc = doc;
	select_options(OPTION_CONNECTION | OPTION_DEVICE | OPTION_VERBOSE, 0, table);
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	/* No word of what everybody knows about long and short options. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p);
	free(doc);
}
