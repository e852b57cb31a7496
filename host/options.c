/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One table of all options. Each command has an argp of the options that it takes; options of the
 * connection may also precede the command.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/address.h"
#include "channel/message.h"
#include "common/size.h"
#include "common/usage.h"
#include "options.h"

#define TIMEOUT_MAX_S 3600
#define DAYS_MAX      36500
#define COUNT_MAX     1000000000
#define FIRST_KEY     0x100

enum option_type {
	TYPE_TEXT,
	TYPE_TEXTS, /* of --san */
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
	{"offset", 'o', "SIZE", "First byte of the export to copy", OPTION_OFFSET, TYPE_SIZE,
	 AT(offset), 0},
	{"length", 'n', "SIZE", "Number of bytes to copy (default: to the end)", OPTION_LENGTH,
	 TYPE_SIZE, AT(length), 0},
	{"file-offset", 0, "SIZE", "First byte of the input file to copy", OPTION_FILE_OFFSET,
	 TYPE_SIZE, AT(file_offset), 0},
	{"sparse", 0, NULL, "Write blocks of zeros as holes", OPTION_SPARSE, TYPE_FLAG, 0, 0},
	{"descriptor", 0, "FILE", "Use a saved descriptor in place of NAME", OPTION_DESCRIPTOR,
	 TYPE_TEXT, AT(descriptor), 0},
	{"hold", 0, NULL, "Keep the import until interrupted or revoked", OPTION_HOLD, TYPE_FLAG, 0,
	 0},
	{"show-secret", 0, NULL, "Print the access key as well", OPTION_SHOW_SECRET, TYPE_FLAG, 0,
	 0},
	{"count", 0, "NUMBER", "Stop after this many events or copies", OPTION_COUNT, TYPE_NUMBER,
	 AT(count), COUNT_MAX},
	{"size", 's', "SIZE", "Measure copies of this size only", OPTION_SIZE, TYPE_SIZE, AT(size),
	 0},
	{"write", 'w', NULL, "Measure writes too; this overwrites the export", OPTION_WRITE,
	 TYPE_FLAG, 0, 0},
	{"dir", 0, "DIRECTORY",
	 "CA directory (default ~/.config/dpumap/pki, or below $XDG_CONFIG_HOME)", OPTION_DIR,
	 TYPE_TEXT, AT(dir), 0},
	{"dpu", 0, "NAME", "Issue a server certificate for the dpumapd of this DPU", OPTION_NAMES,
	 TYPE_TEXT, AT(dpu), 0},
	{"host", 0, "NAME", "Issue a client certificate for this host; exports allow cert:NAME",
	 OPTION_NAMES, TYPE_TEXT, AT(host), 0},
	{"san", 0, "NAME", "Another DNS name or IP address of the DPU; may be repeated",
	 OPTION_NAMES, TYPE_TEXTS, 0, 0},
	{"days", 0, "NUMBER", "Validity in days", OPTION_DAYS, TYPE_NUMBER, AT(days), DAYS_MAX},
	{"key-type", 0, "TYPE", "Key type: p256 (default) or ed25519", OPTION_KEY_TYPE, TYPE_TEXT,
	 AT(key_type), 0},
	{"json", 0, NULL, "Print JSON", OPTION_JSON, TYPE_FLAG, 0, 0},
	{"device", 'd', "DEVICE",
	 "IB device name or PCI address (default: the first suitable device)", OPTION_DEVICE,
	 TYPE_TEXT, AT(device), 0},
	{"connect", 'c', "ADDRESS", "Address of dpumapd: unix:PATH or tls:HOST:PORT",
	 OPTION_CONNECTION, TYPE_ADDRESS, AT(connect), 0},
	{"cert", 0, "FILE", "Certificate of this host for TLS", OPTION_CONNECTION, TYPE_TEXT,
	 AT(tls.cert), 0},
	{"key", 0, "FILE", "Private key of --cert, mode 0600", OPTION_CONNECTION, TYPE_TEXT,
	 AT(tls.key), 0},
	{"ca", 0, "FILE", "CA certificates that verify the certificate of dpumapd",
	 OPTION_CONNECTION, TYPE_TEXT, AT(tls.ca), 0},
	{"crl", 0, "FILE", "Certificate revocation lists of --ca", OPTION_CONNECTION, TYPE_TEXT,
	 AT(tls.crl), 0},
	{"psk", 0, "FILE", "Pre-shared keys in place of certificates: lines NAME:HEX, mode 0600",
	 OPTION_CONNECTION, TYPE_TEXT, AT(tls.psk), 0},
	{"psk-name", 0, "NAME", "Name of the pre-shared key to use (default: the first of --psk)",
	 OPTION_CONNECTION, TYPE_TEXT, AT(tls.psk_name), 0},
	{"server", 0, "NAME",
	 "Name that the certificate of dpumapd must contain (default: the host)", OPTION_CONNECTION,
	 TYPE_TEXT, AT(server), 0},
	{"timeout", 't', "SECONDS", "Give up after this time without progress (default 10)",
	 OPTION_CONNECTION, TYPE_NUMBER, AT(timeout_s), TIMEOUT_MAX_S},
	{"config", 0, "FILE", "Configuration file (default ~/.config/dpumap/dpumap.conf)",
	 OPTION_CONNECTION, TYPE_TEXT, AT(config), 0},
	{"verbose", 'v', NULL, "Print the log of the library as well", OPTION_VERBOSE, TYPE_FLAG, 0,
	 0},
};

#define NUM_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const char about[] = "Import and copy memory that dpumapd exports on the DPU.\v";

static const char about_connection[] =
	"\vFor options of the connection and the device, see dpumap --help.";

static const char more[] =
	"\n"
	"For the options of a command, see dpumap COMMAND --help. $DPUMAP_CONNECT is the "
	"default of --connect. Other defaults come from ~/.config/dpumap/dpumap.conf or "
	"/etc/dpumap/dpumap.conf; see dpumap(1). Sizes are bytes, with an optional K, M, G or T.\n"
	"\n"
	"Exit codes: 0 success, 1 the transfer or its verification failed, 2 usage error, 3 not "
	"found (file, export, device) or cannot connect, 4 refused (permission, does not fit, "
	"invalid descriptor, wrong card, revoked), 5 not supported by the device.";

struct parse {
	const struct command *commands;
	struct options *options;
};

static int key_of(const struct entry *entry)
{
	return entry->letter ? entry->letter : FIRST_KEY + (int)(entry - entries);
}

/*
 * Fills the argp table with the options in takes, and an empty entry. The help of a command omits
 * the hidden ones, which dpumap --help describes.
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
			dpumap_usage_error(state, "--%s must be a number of bytes, not \"%s\"",
					   entry->name, text);
	} else if (!dpumap_number_parse(text, entry->max, &value) || value == 0) {
		dpumap_usage_error(state, "--%s must be 1 to %llu%s, not \"%s\"", entry->name,
				   (unsigned long long)entry->max,
				   entry->at == AT(timeout_s) ? " seconds" : "", text);
	}
	return value;
}

static void add_san(const struct argp_state *state, struct options *o, const char *name)
{
	if (o->num_sans == OPTIONS_SANS_MAX)
		dpumap_usage_error(state, "--san may be given at most %d times", OPTIONS_SANS_MAX);
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

/* The usage forms, which are lines of args, in one line. */
static void wrong_arguments(const struct argp_state *state, const struct command *command)
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
	dpumap_usage_error(state, "%s needs %s", command->name, forms);
}

static void check(const struct argp_state *state, const struct options *o)
{
	const struct command *c = o->command;
	const char *wrong;

	if (o->given & OPTION_DESCRIPTOR && o->num_args > 0)
		dpumap_usage_error(state, "%s takes no arguments with --descriptor", c->name);
	if (!(o->given & OPTION_DESCRIPTOR) && o->num_args < c->min_args)
		wrong_arguments(state, c);
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
						       : "%s takes no arguments",
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

/* The names of the group's commands; NULL when there is no such group. */
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

/* A command of a group has two words. */
static const struct command *find_in_group(const struct argp_state *state,
					   const struct command *commands, const char *group)
{
	const char *word = state->next < state->argc ? state->argv[state->next] : NULL;
	char *names = name_group(commands, group);
	const struct command *command = NULL;
	char name[64];

	if (!names)
		dpumap_usage_error(state, "unknown command \"%s\"; see dpumap --help", group);
	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0))
		help_group(commands, group);
	if (word) {
		snprintf(name, sizeof(name), "%s %s", group, word);
		command = find(commands, name);
	}
	if (!command)
		dpumap_usage_error(state, "%s needs one of %s%s%s%s", group, names,
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
		dpumap_usage_error(state, "missing command; see dpumap --help");
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
	for (const struct command *c = commands; c->name; c++)
		print_command(to, c);
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
	/* Omit the note that short options take the arguments of long ones. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p);
	free(doc);
}
