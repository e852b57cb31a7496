/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One table of all options. A command accepts the options that it takes, before and after its name.
 */
#include "host/settings/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/address.h"
#include "channel/message.h"
#include "common/size.h"
#include "host/settings/fleet_name.h"

#define TIMEOUT_MAX_S 3600
#define DAYS_MAX      36500
#define COUNT_MAX     1000000000

enum option_type {
	TYPE_TEXT,
	TYPE_SAN,
	TYPE_LABEL,
	TYPE_ADDRESS,
	TYPE_SIZE,
	TYPE_NUMBER, /* 1 to max */
	TYPE_FLAG,
};

struct entry {
	struct cli_option cli;
	enum option_type type;
	size_t at;
	uint64_t max;
};

#define AT(member) offsetof(struct options, member)

static const struct entry entries[] = {
	{{"offset", 'o', "SIZE", "First byte of the export to copy", OPTION_OFFSET},
	 TYPE_SIZE,
	 AT(offset),
	 0},
	{{"length", 'n', "SIZE", "Number of bytes to copy (default: to the end)", OPTION_LENGTH},
	 TYPE_SIZE,
	 AT(length),
	 0},
	{{"file-offset", 0, "SIZE", "First byte of the input file to copy", OPTION_FILE_OFFSET},
	 TYPE_SIZE,
	 AT(file_offset),
	 0},
	{{"sparse", 0, NULL, "Write blocks of zeros as holes", OPTION_SPARSE}, TYPE_FLAG, 0, 0},
	{{"sha256", 0, NULL, "Verify the copy by SHA-256 instead of XXH128", OPTION_SHA256},
	 TYPE_FLAG,
	 0,
	 0},
	{{"no-verify", 0, NULL, "Do not compute and compare digests of the copy", OPTION_NO_VERIFY},
	 TYPE_FLAG,
	 0,
	 0},
	{{"descriptor", 0, "FILE", "Use a saved descriptor in place of NAME", OPTION_DESCRIPTOR},
	 TYPE_TEXT,
	 AT(descriptor),
	 0},
	{{"hold", 0, NULL, "Keep the import until interrupted or revoked", OPTION_HOLD},
	 TYPE_FLAG,
	 0,
	 0},
	{{"show-secret", 0, NULL, "Print the access key as well", OPTION_SHOW_SECRET},
	 TYPE_FLAG,
	 0,
	 0},
	{{"count", 0, "NUMBER", "Stop after this many events or copies", OPTION_COUNT},
	 TYPE_NUMBER,
	 AT(count),
	 COUNT_MAX},
	{{"size", 's', "SIZE", "Measure copies of this size only", OPTION_SIZE},
	 TYPE_SIZE,
	 AT(size),
	 0},
	{{"write", 'w', NULL, "Measure writes too; this overwrites the export", OPTION_WRITE},
	 TYPE_FLAG,
	 0,
	 0},
	{{"dir", 0, "DIRECTORY",
	  "CA directory (default ~/.config/dpumap/pki, or below $XDG_CONFIG_HOME)", OPTION_DIR},
	 TYPE_TEXT,
	 AT(dir),
	 0},
	{{"dpu", 0, "NAME", "Issue a server certificate for the dpumapd of this DPU", OPTION_NAMES},
	 TYPE_TEXT,
	 AT(dpu),
	 0},
	{{"host", 0, "NAME", "Issue a client certificate for this host; exports allow cert:NAME",
	  OPTION_NAMES},
	 TYPE_TEXT,
	 AT(host),
	 0},
	{{"san", 0, "NAME", "Another DNS name or IP address of the DPU; may be repeated",
	  OPTION_NAMES},
	 TYPE_SAN,
	 0,
	 0},
	{{"days", 0, "NUMBER", "Validity in days", OPTION_DAYS}, TYPE_NUMBER, AT(days), DAYS_MAX},
	{{"key-type", 0, "TYPE", "Key type: p256 (default) or ed25519", OPTION_KEY_TYPE},
	 TYPE_TEXT,
	 AT(key_type),
	 0},
	{{"cached", 0, NULL, "Use what was known of the fleet, without asking the registry",
	  OPTION_CACHED},
	 TYPE_FLAG,
	 0,
	 0},
	{{"new-key", 0, NULL, "Create a new key for the renewed certificate", OPTION_NEW_KEY},
	 TYPE_FLAG,
	 0,
	 0},
	{{"fleet", 0, "FLEET",
	  "Find exports by name, DPU:EXPORT, in the registry of this fleet (default: the fleet of "
	  "the configuration, if a name has the form DPU:EXPORT)",
	  OPTION_FLEET},
	 TYPE_TEXT,
	 AT(fleet),
	 0},
	{{"label", 0, "KEY=VALUE",
	  "Only exports with this label; VALUE may be a pattern; may be repeated", OPTION_LABEL},
	 TYPE_LABEL,
	 0,
	 0},
	{{"json", 0, NULL, "Print JSON", OPTION_JSON}, TYPE_FLAG, 0, 0},
	{{"device", 'd', "DEVICE",
	  "IB device name or PCI address (default: the first suitable device)", OPTION_DEVICE},
	 TYPE_TEXT,
	 AT(device),
	 0},
	{{"connect", 'c', "ADDRESS", "Address of dpumapd: unix:PATH or tls:HOST:PORT",
	  OPTION_CONNECTION},
	 TYPE_ADDRESS,
	 AT(connect),
	 0},
	{{"cert", 0, "FILE", "Certificate of this host for TLS", OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.cert),
	 0},
	{{"key", 0, "FILE", "Private key of --cert, mode 0600", OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.key),
	 0},
	{{"ca", 0, "FILE", "CA certificates that verify the certificate of dpumapd",
	  OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.ca),
	 0},
	{{"crl", 0, "FILE", "Certificate revocation lists of --ca", OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.crl),
	 0},
	{{"psk", 0, "FILE", "Pre-shared keys in place of certificates: lines NAME:HEX, mode 0600",
	  OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.psk),
	 0},
	{{"psk-name", 0, "NAME", "Name of the pre-shared key to use (default: the first of --psk)",
	  OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(tls.psk_name),
	 0},
	{{"server", 0, "NAME",
	  "Name that the certificate of dpumapd must contain (default: the host)",
	  OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(server),
	 0},
	{{"timeout", 't', "SECONDS", "Give up after this time without progress (default 10)",
	  OPTION_CONNECTION},
	 TYPE_NUMBER,
	 AT(timeout_s),
	 TIMEOUT_MAX_S},
	{{"config", 0, "FILE", "Configuration file (default ~/.config/dpumap/dpumap.conf)",
	  OPTION_CONNECTION},
	 TYPE_TEXT,
	 AT(config),
	 0},
	{{"verbose", 'v', NULL, "Print the log of the library as well", OPTION_VERBOSE},
	 TYPE_FLAG,
	 0,
	 0},
	{.cli = {0}},
};

static const char about[] = "Import and copy memory that dpumapd exports on the DPU.";

static const char more[] =
	" $DPUMAP_CONNECT is the default of --connect. Other defaults come from "
	"~/.config/dpumap/dpumap.conf or "
	"/etc/dpumap/dpumap.conf; see dpumap(1). With --fleet, commands find exports by "
	"name, DPU:EXPORT, in a registry. Sizes are bytes, with an optional K, M, G or T.\n"
	"\n"
	"Exit codes: 0 success, 1 the transfer or its verification failed, 2 usage error, 13 not "
	"found (file, export, device) or cannot connect, 14 refused (permission, does not fit, "
	"invalid descriptor, wrong card, revoked), 15 not supported by the device, or memory is "
	"exhausted.";

static uint64_t parse_number(const struct argp_state *state, const struct entry *entry,
			     const char *text)
{
	uint64_t value = 0;

	if (entry->type == TYPE_SIZE) {
		if (!dpumap_size_parse(text, &value))
			cli_usage_error(state, "--%s must be a number of bytes, not \"%s\"",
					entry->cli.name, text);
	} else if (!dpumap_number_parse(text, entry->max, &value) || value == 0) {
		cli_usage_error(state, "--%s must be 1 to %llu%s, not \"%s\"", entry->cli.name,
				(unsigned long long)entry->max,
				entry->at == AT(timeout_s) ? " seconds" : "", text);
	}
	return value;
}

/* Options that may be repeated. */
static void add_text(const struct argp_state *state, const struct entry *entry, const char **list,
		     size_t *num, size_t max, const char *text)
{
	if (*num == max)
		cli_usage_error(state, "--%s may be given at most %zu times", entry->cli.name, max);
	list[(*num)++] = text;
}

static void check_address(const struct argp_state *state, const char *text)
{
	struct dpumap_address address;
	struct dpumap_error error = {0};

	if (dpumap_address_parse(text, &address, &error) != DOCA_SUCCESS)
		cli_usage_error(state, "--connect: %s", error.text);
}

static void take_entry(const struct argp_state *state, struct options *o, const struct entry *entry,
		       const char *text)
{
	char *to = (char *)o + entry->at;
	uint64_t number;

	o->given |= entry->cli.bit;
	switch (entry->type) {
	case TYPE_ADDRESS:
		check_address(state, text);
		memcpy(to, &text, sizeof(text));
		return;
	case TYPE_TEXT:
		memcpy(to, &text, sizeof(text));
		return;
	case TYPE_SAN:
		add_text(state, entry, o->sans, &o->num_sans, OPTIONS_SANS_MAX, text);
		return;
	case TYPE_LABEL:
		add_text(state, entry, o->labels, &o->num_labels, OPTIONS_LABELS_MAX, text);
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

static void take(const struct argp_state *state, void *input, const struct cli_option *option,
		 const char *arg)
{
	take_entry(state, input, (const struct entry *)option, arg);
}

static void check(const struct argp_state *state, void *input, const struct cli_line *line)
{
	const struct command *command = (const struct command *)line->command;
	struct options *o = input;
	const char *wrong;

	o->command = command;
	memcpy(o->args, line->args, sizeof(o->args));
	o->num_args = line->num_args;
	if (o->given & OPTION_DESCRIPTOR && o->num_args > 0)
		cli_usage_error(state, "%s takes no arguments with --descriptor",
				command->cli.name);
	if (o->given & OPTION_SHA256 && o->given & OPTION_NO_VERIFY)
		cli_usage_error(state, "--sha256 and --no-verify exclude each other");
	wrong = fleet_name_check(o);
	if (!wrong && command->check)
		wrong = command->check(o);
	if (wrong)
		cli_usage_error(state, "%s", wrong);
}

void options_usage_error(const struct options *options, const char *text)
{
	const char *name = options->command->cli.name;

	fprintf(stderr,
		"dpumap %s: %s\n"
		"Try `dpumap %s --help' or `dpumap %s --usage' for more information.\n",
		name, text, name, name);
	exit(CLI_EXIT_USAGE);
}

void options_parse(int argc, char **argv, const struct command *commands, struct options *options)
{
	const struct cli_program program = {
		.name = "dpumap",
		.version = DPUMAP_VERSION,
		.about = about,
		.more = more,
		CLI_COMMANDS(commands),
		CLI_OPTIONS(entries),
		.everywhere = OPTION_CONNECTION | OPTION_DEVICE | OPTION_VERBOSE,
		.take = take,
		.check = check,
	};
	struct cli_line line;

	*options = (struct options){0};
	cli_parse(&program, argc, argv, options, &line);
}
