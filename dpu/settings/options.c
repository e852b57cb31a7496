/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/settings/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "channel/address.h"
#include "channel/tls.h"
#include "cli/live.h"
#include "common/size.h"
#include "dpu/base/privileges.h"

#define TIMEOUT_MAX_S 3600

static const char about[] =
	"Export memory of the DPU for access over PCI or RDMA, and serve the descriptors to "
	"clients. Without COMMAND, serve the exports of --config and --export; SIGHUP reloads the "
	"configuration.";

static const char more[] =
	"\n\n"
	"EXPORT is a list of name=NAME,kind=KIND,size=SIZE[,KEY=VALUE...]:\n"
	"  name   1 to 63 of A-Z a-z 0-9 . _ -, beginning with a letter or digit\n"
	"  kind   dm (device memory of the card), dram (main memory of the DPU), file\n"
	"         or dmabuf\n"
	"  size   bytes, with an optional K, M, G or T; max is the whole file or\n"
	"         dma-buf, or the largest possible piece of device memory\n"
	"  perm   access of clients: rw (default) or ro\n"
	"  via    pci (default) for the host of this card, or rdma for other machines\n"
	"  align  alignment of dm, a power of two (default: chosen by the card,\n"
	"         at least 64)\n"
	"  pages  pages of dram: usual (default), huge, or the size of huge pages\n"
	"  node   NUMA node of dram (default: chosen by the kernel)\n"
	"  path   path of the file, or of the heap that allocates the dmabuf\n"
	"  allow  client that may import it, in addition to this user and root:\n"
	"         cert:NAME, psk:NAME, uid:NUMBER, or * for all; may be repeated\n"
	"  label  KEY=VALUE that the registry publishes; may be repeated\n"
	"\n"
	"The exports last until SIGTERM or SIGINT (without --config also SIGHUP); after that, "
	"copies by clients fail.\n"
	"\n"
	"Exit codes: 0 stopped by a signal, 1 failed, 2 usage error, 13 not found or busy (socket, "
	"device), 14 refused (invalid export, path that is not a socket, invalid configuration), "
	"15 not supported by the device, or memory is exhausted.\n"
	"\n"
	"Example:\n"
	"  dpumapd --export name=fast,kind=dm,size=64K \\\n"
	"          --export name=bulk,kind=dram,size=16M";

static void *grow(const struct argp_state *state, void *list, size_t count, size_t item)
{
	void *bigger = reallocarray(list, count + 1, item);

	if (!bigger) {
		cli_usage_error(state, "no memory for the options");
	}
	return bigger;
}

static void check(const struct argp_state *state, doca_error_t result,
		  const struct dpumap_error *error)
{
	if (result != DOCA_SUCCESS)
		cli_usage_error(state, "%s", error->text);
}

static void add_export(const struct argp_state *state, struct options *o, const char *text)
{
	struct dpumap_error error = {0};
	struct export_spec spec;

	check(state, export_spec_parse(text, &spec, &error), &error);
	if (spec.fd >= 0)
		cli_usage_error(state, "export %s: fd is valid only with dpumapd ctl add",
				spec.name);
	check(state, export_list_add(&o->given.exports, &spec, &error), &error);
}

static void add_listen(const struct argp_state *state, struct options *o, const char *text)
{
	struct dpumap_error error = {0};

	check(state, settings_add_listen(&o->given, text, &error), &error);
}

static void set(const struct argp_state *state, char **setting, const char *text)
{
	struct dpumap_error error = {0};

	check(state, settings_set(setting, text, &error), &error);
}

static uint64_t number(const struct argp_state *state, const char *what, const char *text,
		       uint64_t max)
{
	uint64_t value = 0;

	if (!dpumap_number_parse(text, max, &value))
		cli_usage_error(state, "%s must be a number up to %llu, not \"%s\"", what,
				(unsigned long long)max, text);
	return value;
}

static void add_uid(const struct argp_state *state, struct options *o, const char *text)
{
	o->uids = grow(state, o->uids, o->num_uids, sizeof(*o->uids));
	o->uids[o->num_uids++] = (uid_t)number(state, "--allow-uid", text, (uid_t)-1 - UINT64_C(1));
}

static unsigned int limit(const struct argp_state *state, const char *what, const char *text)
{
	uint64_t value = number(state, what, text, SETTINGS_MAX_CLIENTS_LIMIT);

	if (value == 0)
		cli_usage_error(state, "%s cannot be 0", what);
	return (unsigned int)value;
}

static void set_max_clients(const struct argp_state *state, struct options *o, const char *text)
{
	o->given.max_clients = limit(state, "--max-clients", text);
}

static void set_max_per_identity(const struct argp_state *state, struct options *o,
				 const char *text)
{
	o->given.max_clients_per_identity = limit(state, "--max-clients-per-identity", text);
}

static void set_ready_fd(const struct argp_state *state, struct options *o, const char *text)
{
	o->ready_fd = (int)number(state, "--ready-fd", text, INT_MAX);
}

static void set_timeout(const struct argp_state *state, struct options *o, const char *text)
{
	if (!dpumap_number_parse(text, TIMEOUT_MAX_S, &o->timeout_s) || !o->timeout_s)
		cli_usage_error(state, "--timeout must be 1 to %d seconds, not \"%s\"",
				TIMEOUT_MAX_S, text);
}

static void set_interval(const struct argp_state *state, struct options *o, const char *text)
{
	if (!cli_live_interval(text, &o->interval_ms))
		cli_usage_error(state, "--interval must be 0.1 to 3600 seconds, not \"%s\"", text);
}

/* How an option is stored: by a function, or as the text or the flag at an offset. */
struct entry {
	struct cli_option cli;
	void (*set)(const struct argp_state *state, struct options *o, const char *text);
	size_t text, setting, flag;
};

#define AT(member) offsetof(struct options, member)

static const struct entry entries[] = {
	{{"config", 'c', "FILE", "Configuration file, see dpumapd.conf(5)",
	  OPTION_SERVE | OPTION_DOCTOR},
	 .text = AT(file)},
	{{"check", 0, NULL, "Check the configuration and exit", OPTION_SERVE},
	 .flag = AT(check_only)},
	{{"listen", 'l', "ADDRESS",
	  "Address to listen on: unix:PATH or tls:HOST:PORT; may be repeated (default "
	  "$XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock)",
	  OPTION_SERVE},
	 .set = add_listen},
	{{"export", 'e', "EXPORT", "Memory to export, see below; may be repeated", OPTION_SERVE},
	 .set = add_export},
	{{"device", 'd', "DEVICE",
	  "IB device name or PCI address (default: the first device that can export)",
	  OPTION_SERVE | OPTION_DOCTOR},
	 .setting = AT(given.device)},
	{{"allow-uid", 0, "UID",
	  "Local user that may also import the exports of --export; may be repeated", OPTION_SERVE},
	 .set = add_uid},
	{{"cert", 0, "FILE", "Certificate of dpumapd for TLS", OPTION_SERVE},
	 .setting = AT(given.cert)},
	{{"key", 0, "FILE", "Private key of --cert, mode 0600", OPTION_SERVE},
	 .setting = AT(given.key)},
	{{"ca", 0, "FILE", "CA certificates that verify the certificates of clients", OPTION_SERVE},
	 .setting = AT(given.ca)},
	{{"crl", 0, "FILE", "Certificate revocation lists of --ca", OPTION_SERVE},
	 .setting = AT(given.crl)},
	{{"psk", 0, "FILE", "Pre-shared keys in place of certificates: lines NAME:HEX, mode 0600",
	  OPTION_SERVE},
	 .setting = AT(given.psk)},
	{{"admin", 'a', "PATH",
	  "Socket for dpumapd ctl (default of ctl: " OPTIONS_ADMIN_DEFAULT "; of dpumapd: none)",
	  OPTION_SERVE | OPTION_CTL},
	 .setting = AT(given.admin)},
	{{"max-clients", 0, "N", "Serve at most N clients at once (default 256)", OPTION_SERVE},
	 .set = set_max_clients},
	{{"max-clients-per-identity", 0, "N",
	  "Serve at most N clients of the same certificate, key or user at once (default: a "
	  "quarter of "
	  "--max-clients)",
	  OPTION_SERVE},
	 .set = set_max_per_identity},
	{{"ready-fd", 0, "FD",
	  "Write the ready line to this file descriptor and close it, in place of standard output",
	  OPTION_SERVE},
	 .set = set_ready_fd},
	{{"connect", 'C', "ADDRESS",
	  "Address of dpumapd (default: the first address of the configuration)", OPTION_DOCTOR},
	 .text = AT(connect)},
	{{"timeout", 't', "SECONDS", "Time limit of each check (default 10)", OPTION_DOCTOR},
	 .set = set_timeout},
	{{"json", 0, NULL, "Print JSON", OPTION_CTL | OPTION_DOCTOR}, .flag = AT(json)},
	{{"quiet", 'q', NULL, "Do not print an error that dpumapd has logged", OPTION_CTL},
	 .flag = AT(quiet)},
	{{"once", 0, NULL, "Show one view, after an interval, and exit", OPTION_TOP},
	 .flag = AT(once)},
	{{"interval", 0, "SECONDS", "Time between two views (default 1)", OPTION_TOP},
	 .set = set_interval},
	{{"verbose", 'v', NULL, "Show the log of the library, and skipped checks", OPTION_DOCTOR},
	 .flag = AT(verbose)},
	{.cli = {0}},
};

static void take(const struct argp_state *state, void *input, const struct cli_option *option,
		 const char *arg)
{
	const struct entry *entry = (const struct entry *)option;
	char *o = input;

	if (entry->set)
		entry->set(state, input, arg);
	else if (entry->setting)
		set(state, (char **)(o + entry->setting), arg);
	else if (entry->text)
		memcpy(o + entry->text, &arg, sizeof(arg));
	else
		memcpy(o + entry->flag, &(bool){true}, sizeof(bool));
}

/* An export of "ctl add" is wrong usage for the same reasons as one of --export. */
static void check_added(const struct argp_state *state, const struct options *o)
{
	struct dpumap_error error = {0};
	struct export_spec spec;

	if (strcmp(o->command->cli.name, "ctl add") != 0)
		return;
	check(state, export_spec_parse(o->argument, &spec, &error), &error);
	spec.fd = -1; /* not owned: must not be closed */
	export_spec_free(&spec);
}

static void check_all(const struct argp_state *state, void *input, const struct cli_line *line)
{
	struct options *o = input;

	o->command = (const struct command *)line->command;
	o->argument = line->args[0];
	if (o->command)
		check_added(state, o);
	else if (!o->file && o->given.exports.num == 0)
		cli_usage_error(state, "nothing to export: use --config or --export");
}

void options_parse(int argc, char **argv, const struct command *commands, struct options *options)
{
	const struct cli_program program = {
		.name = "dpumapd",
		.version = DPUMAP_VERSION,
		.about = about,
		.more = more,
		CLI_COMMANDS(commands),
		CLI_OPTIONS(entries),
		.alone = OPTION_SERVE,
		.take = take,
		.check = check_all,
	};
	struct cli_line line;

	*options = (struct options){.ready_fd = -1, .interval_ms = CLI_LIVE_INTERVAL_DEFAULT_MS};
	settings_init(&options->given);
	options->given.max_clients = 0;
	cli_parse(&program, argc, argv, options, &line);
}

void options_free(struct options *options)
{
	settings_free(&options->given);
	free(options->uids);
}

/* --- merging file and command line ------------------------------------------------------------ */

static doca_error_t allow_uid(struct export_spec *spec, uid_t uid, struct dpumap_error *error)
{
	char peer[DPUMAP_PEER_NAME_MAX];

	snprintf(peer, sizeof(peer), "uid:%u", uid);
	return export_spec_set(spec, "allow", peer, error);
}

/* Exports of the command line may be imported by root and by the user that starts dpumapd. */
static doca_error_t add_given_export(const struct options *o, const struct export_spec *given,
				     struct settings *settings, struct dpumap_error *error)
{
	struct export_spec spec;
	doca_error_t result = export_spec_copy(&spec, given, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = allow_uid(&spec, 0, error);
	if (result == DOCA_SUCCESS && geteuid())
		result = allow_uid(&spec, geteuid(), error);
	for (size_t i = 0; i < o->num_uids && result == DOCA_SUCCESS; i++)
		result = allow_uid(&spec, o->uids[i], error);
	if (result == DOCA_SUCCESS)
		result = export_list_add(&settings->exports, &spec, error);
	export_spec_free(&spec);
	return result;
}

static doca_error_t add_given(const struct options *o, struct settings *settings,
			      struct dpumap_error *error)
{
	const struct settings *given = &o->given;
	const struct {
		char **to;
		const char *from;
	} texts[] = {{&settings->device, given->device}, {&settings->cert, given->cert},
		     {&settings->key, given->key},	 {&settings->ca, given->ca},
		     {&settings->crl, given->crl},	 {&settings->psk, given->psk},
		     {&settings->admin, given->admin}};
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < ARRAY_SIZE(texts) && result == DOCA_SUCCESS; i++)
		if (texts[i].from)
			result = settings_set(texts[i].to, texts[i].from, error);
	for (size_t i = 0; i < given->num_listen && result == DOCA_SUCCESS; i++)
		result = settings_add_listen(settings, given->listen[i], error);
	for (size_t i = 0; i < given->exports.num && result == DOCA_SUCCESS; i++)
		result = add_given_export(o, &given->exports.specs[i], settings, error);
	if (given->max_clients)
		settings->max_clients = given->max_clients;
	if (given->max_clients_per_identity)
		settings->max_clients_per_identity = given->max_clients_per_identity;
	return result;
}

static doca_error_t add_default_listen(struct settings *settings, struct dpumap_error *error)
{
	char path[128];

	dpumap_address_default_path(path, sizeof(path));
	return settings_add_listen(settings, path, error);
}

doca_error_t options_settings(const struct options *options, const struct export_dir *known,
			      struct settings *settings, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	settings_init(settings);
	if (options->file)
		result = settings_load(settings, options->file, known, error);
	if (result == DOCA_SUCCESS)
		result = add_given(options, settings, error);
	if (result == DOCA_SUCCESS && !settings->num_listen)
		result = add_default_listen(settings, error);
	if (result == DOCA_SUCCESS)
		result = settings_check(settings, error);
	if (result == DOCA_SUCCESS)
		privileges_trust_service(settings->user);
	if (result != DOCA_SUCCESS)
		settings_free(settings);
	return result;
}
