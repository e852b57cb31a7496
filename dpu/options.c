/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "options.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/size.h"
#include "common/usage.h"

enum {
	KEY_ALLOW_UID = 0x100,
	KEY_MAX_CLIENTS,
	KEY_READY_FD,
	KEY_CHECK,
	KEY_CERT,
	KEY_KEY,
	KEY_CA,
	KEY_CRL,
	KEY_PSK,
	KEY_ADMIN,
};

static const char doc[] =
	"Own memory on the DPU's side, export it for access over PCI or RDMA and hand the "
	"descriptors to the host.\n"
	"\n"
	"  dpumapd --config FILE       as dpumapd.conf(5) says; SIGHUP reads it again\n"
	"  dpumapd --export EXPORT...  as the command line says\n"
	"  dpumapd ctl COMMAND         ask or change one that runs; see dpumapd ctl --help\n"
	"  dpumapd doctor              say what works here, what does not, and what to do"
	"\v"
	"EXPORT is a list of name=NAME,kind=KIND,size=SIZE[,KEY=VALUE...]:\n"
	"  NAME  1 to 63 of A-Z a-z 0-9 . _ -\n"
	"  KIND  dm (memory on the card itself), dram (the DPU's main memory), file or dmabuf\n"
	"  SIZE  bytes, with K, M or G if wanted; max is all of a file, and of dm all that one "
	"export can have\n"
	"  perm  rw (default) or ro, what the host may do\n"
	"  via   pci (default), for the host of this card, or rdma, for other machines\n"
	"  align where dm begins on the card: a power of two (default 64 or more, as the card "
	"likes)\n"
	"  pages what dram is made of: usual (default), huge, or the size of huge pages\n"
	"  node  the NUMA node that dram is on (default: the kernel's choice)\n"
	"  path  of the file, or of the heap that a dmabuf comes from\n"
	"  allow who may import besides this user and root: cert:NAME, psk:NAME, uid:NUMBER, or "
	"* for all; may be repeated\n"
	"\n"
	"The exports last until SIGTERM or SIGINT (without --config also SIGHUP); from then on "
	"the host's copies fail.\n"
	"\n"
	"Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage, 3 not found or busy (socket, "
	"device), 4 refused (an export that cannot be, a path that is no socket, a configuration "
	"that is wrong), 5 the device cannot do it.\n"
	"\n"
	"Example:\n"
	"  dpumapd --export name=fast,kind=dm,size=64K --export name=bulk,kind=dram,size=16M";

static const struct argp_option option_table[] = {
	{"config", 'c', "FILE", 0, "Read this configuration", 0},
	{"check", KEY_CHECK, NULL, 0, "Say whether the configuration is right, and end", 0},
	{"listen", 'l', "ADDRESS", 0,
	 "Where to serve: unix:PATH or tls:HOST:PORT; may be repeated (default "
	 "$XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock)",
	 0},
	{"export", 'e', "EXPORT", 0, "Memory to export, see below; may be repeated", 0},
	{"device", 'd', "DEVICE", 0,
	 "IB device name or PCI address (default: the first that can export)", 0},
	{"allow-uid", KEY_ALLOW_UID, "UID", 0,
	 "Let this user import what --export says too; may be repeated", 0},
	{"cert", KEY_CERT, "FILE", 0, "Certificate for TLS", 0},
	{"key", KEY_KEY, "FILE", 0, "Its key, of mode 0600", 0},
	{"ca", KEY_CA, "FILE", 0, "Authorities that clients' certificates come from", 0},
	{"crl", KEY_CRL, "FILE", 0, "What they have revoked", 0},
	{"psk", KEY_PSK, "FILE", 0, "Shared keys instead, of mode 0600: lines NAME:HEX", 0},
	{"admin", KEY_ADMIN, "PATH", 0, "Socket for dpumapd ctl (default: none)", 0},
	{"max-clients", KEY_MAX_CLIENTS, "N", 0, "Serve at most N clients at once (default 64)", 0},
	{"ready-fd", KEY_READY_FD, "FD", 0,
	 "When ready, write a line to this descriptor and close it, instead of to stdout", 0},
	{0},
};

static void *grow(struct argp_state *state, void *list, size_t count, size_t item)
{
	void *bigger = reallocarray(list, count + 1, item);

	if (!bigger) {
		argp_failure(state, DPUMAP_EXIT_DEVICE, 0, "no memory for the options");
		exit(DPUMAP_EXIT_DEVICE);
	}
	return bigger;
}

static void check(struct argp_state *state, doca_error_t result, const struct dpumap_fault *fault)
{
	if (result != DOCA_SUCCESS)
		dpumap_usage_error(state, "%s", fault->text);
}

static void add_export(struct argp_state *state, struct options *o, const char *text)
{
	struct dpumap_fault fault = {0};
	struct export_spec spec;

	check(state, spec_parse(text, &spec, &fault), &fault);
	if (spec.fd >= 0)
		dpumap_usage_error(state, "export %s: an fd is for dpumapd ctl", spec.name);
	check(state, settings_add_export(&o->given, &spec, &fault), &fault);
}

static void add_listen(struct argp_state *state, struct options *o, const char *text)
{
	struct dpumap_fault fault = {0};

	check(state, settings_add_listen(&o->given, text, &fault), &fault);
}

static void set(struct argp_state *state, char **setting, const char *text)
{
	struct dpumap_fault fault = {0};

	check(state, settings_set(setting, text, &fault), &fault);
}

static uint64_t number(struct argp_state *state, const char *what, const char *text, uint64_t max)
{
	uint64_t value = 0;

	if (!dpumap_number_parse(text, max, &value))
		dpumap_usage_error(state, "%s is a number up to %llu, not \"%s\"", what,
				   (unsigned long long)max, text);
	return value;
}

static void check_all(struct argp_state *state, const struct options *o)
{
	if (!o->file && o->given.num_exports == 0)
		dpumap_usage_error(state, "nothing to export: --config or --export says what");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'c':
		o->file = arg;
		return 0;
	case 'l':
		add_listen(state, o, arg);
		return 0;
	case 'e':
		add_export(state, o, arg);
		return 0;
	case 'd':
		set(state, &o->given.device, arg);
		return 0;
	case KEY_ALLOW_UID:
		o->uids = grow(state, o->uids, o->num_uids, sizeof(*o->uids));
		o->uids[o->num_uids++] =
			(uid_t)number(state, "--allow-uid", arg, (uid_t)-1 - UINT64_C(1));
		return 0;
	case KEY_MAX_CLIENTS:
		o->given.max_clients = (unsigned int)number(state, "--max-clients", arg,
							    SETTINGS_MAX_CLIENTS_LIMIT);
		if (o->given.max_clients == 0)
			dpumap_usage_error(state, "--max-clients cannot be 0");
		return 0;
	case KEY_READY_FD:
		o->ready_fd = (int)number(state, "--ready-fd", arg, INT_MAX);
		return 0;
	case KEY_CHECK:
		o->check_only = true;
		return 0;
	case KEY_CERT:
		set(state, &o->given.cert, arg);
		return 0;
	case KEY_KEY:
		set(state, &o->given.key, arg);
		return 0;
	case KEY_CA:
		set(state, &o->given.ca, arg);
		return 0;
	case KEY_CRL:
		set(state, &o->given.crl, arg);
		return 0;
	case KEY_PSK:
		set(state, &o->given.psk, arg);
		return 0;
	case KEY_ADMIN:
		set(state, &o->given.admin, arg);
		return 0;
	case ARGP_KEY_ARG:
		dpumap_usage_error(state, "no argument \"%s\" is known", arg);
	case ARGP_KEY_END:
		check_all(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = option_table, .parser = parse_option, .doc = doc};

	*options = (struct options){.ready_fd = -1};
	settings_init(&options->given);
	options->given.max_clients = 0;
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void options_free(struct options *options)
{
	settings_free(&options->given);
	free(options->uids);
}

/* -- file and command line together -- */

static doca_error_t allow_uid(struct export_spec *spec, uid_t uid, struct dpumap_fault *fault)
{
	char peer[DPUMAP_PEER_NAME_MAX];

	snprintf(peer, sizeof(peer), "uid:%u", uid);
	return spec_set(spec, "allow", peer, fault);
}

/* Whoever starts us by hand means what they export for themselves. */
static doca_error_t add_given_export(const struct options *o, const struct export_spec *given,
				     struct settings *settings, struct dpumap_fault *fault)
{
	struct export_spec spec;
	doca_error_t result = spec_copy(&spec, given, fault);

	if (result != DOCA_SUCCESS)
		return result;
	result = allow_uid(&spec, 0, fault);
	if (result == DOCA_SUCCESS && geteuid())
		result = allow_uid(&spec, geteuid(), fault);
	for (size_t i = 0; i < o->num_uids && result == DOCA_SUCCESS; i++)
		result = allow_uid(&spec, o->uids[i], fault);
	if (result == DOCA_SUCCESS)
		result = settings_add_export(settings, &spec, fault);
	spec_free(&spec);
	return result;
}

static doca_error_t add_given(const struct options *o, struct settings *settings,
			      struct dpumap_fault *fault)
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

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && result == DOCA_SUCCESS; i++)
		if (texts[i].from)
			result = settings_set(texts[i].to, texts[i].from, fault);
	for (size_t i = 0; i < given->num_listen && result == DOCA_SUCCESS; i++)
		result = settings_add_listen(settings, given->listen[i], fault);
	for (size_t i = 0; i < given->num_exports && result == DOCA_SUCCESS; i++)
		result = add_given_export(o, &given->exports[i], settings, fault);
	if (given->max_clients)
		settings->max_clients = given->max_clients;
	return result;
}

static doca_error_t add_default_listen(struct settings *settings, struct dpumap_fault *fault)
{
	char path[128];

	dpumap_channel_default_path(path, sizeof(path));
	return settings_add_listen(settings, path, fault);
}

doca_error_t options_settings(const struct options *options, struct settings *settings,
			      struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	settings_init(settings);
	if (options->file)
		result = settings_load(settings, options->file, fault);
	if (result == DOCA_SUCCESS)
		result = add_given(options, settings, fault);
	if (result == DOCA_SUCCESS && !settings->num_listen)
		result = add_default_listen(settings, fault);
	if (result == DOCA_SUCCESS)
		result = settings_check(settings, fault);
	if (result != DOCA_SUCCESS)
		settings_free(settings);
	return result;
}
