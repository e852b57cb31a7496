/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "options.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "channel/address.h"
#include "channel/tls.h"
#include "common/size.h"
#include "common/usage.h"
#include "privileges.h"

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
	"Export memory of the DPU for access over PCI or RDMA, and serve the descriptors to "
	"clients.\n"
	"\n"
	"  dpumapd --config FILE       serve a configuration; SIGHUP reloads it\n"
	"  dpumapd --export EXPORT...  serve the exports of the command line\n"
	"  dpumapd ctl COMMAND         control a running dpumapd\n"
	"  dpumapd doctor              report what works on this DPU and what does not"
	"\v"
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
	"\n"
	"The exports last until SIGTERM or SIGINT (without --config also SIGHUP); after that, "
	"copies by clients fail.\n"
	"\n"
	"Exit codes: 0 stopped by a signal, 1 failed, 2 usage error, 3 not found or busy (socket, "
	"device), 4 refused (invalid export, path that is not a socket, invalid configuration), 5 "
	"not supported by the device.\n"
	"\n"
	"Example:\n"
	"  dpumapd --export name=fast,kind=dm,size=64K \\\n"
	"          --export name=bulk,kind=dram,size=16M";

static const struct argp_option option_table[] = {
	{"config", 'c', "FILE", 0, "Configuration file, see dpumapd.conf(5)", 0},
	{"check", KEY_CHECK, NULL, 0, "Check the configuration and exit", 0},
	{"listen", 'l', "ADDRESS", 0,
	 "Address to listen on: unix:PATH or tls:HOST:PORT; may be repeated (default "
	 "$XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock)",
	 0},
	{"export", 'e', "EXPORT", 0, "Memory to export, see below; may be repeated", 0},
	{"device", 'd', "DEVICE", 0,
	 "IB device name or PCI address (default: the first device that can export)", 0},
	{"allow-uid", KEY_ALLOW_UID, "UID", 0,
	 "Local user that may also import the exports of --export; may be repeated", 0},
	{"cert", KEY_CERT, "FILE", 0, "Certificate of dpumapd for TLS", 0},
	{"key", KEY_KEY, "FILE", 0, "Private key of --cert, mode 0600", 0},
	{"ca", KEY_CA, "FILE", 0, "CA certificates that verify the certificates of clients", 0},
	{"crl", KEY_CRL, "FILE", 0, "Certificate revocation lists of --ca", 0},
	{"psk", KEY_PSK, "FILE", 0,
	 "Pre-shared keys in place of certificates: lines NAME:HEX, mode 0600", 0},
	{"admin", KEY_ADMIN, "PATH", 0, "Socket for dpumapd ctl (default: none)", 0},
	{"max-clients", KEY_MAX_CLIENTS, "N", 0, "Serve at most N clients at once (default 64)", 0},
	{"ready-fd", KEY_READY_FD, "FD", 0,
	 "Write the ready line to this file descriptor and close it, in place of standard output",
	 0},
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

	check(state, export_spec_parse(text, &spec, &fault), &fault);
	if (spec.fd >= 0)
		dpumap_usage_error(state, "export %s: fd is valid only with dpumapd ctl add",
				   spec.name);
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
		dpumap_usage_error(state, "%s must be a number up to %llu, not \"%s\"", what,
				   (unsigned long long)max, text);
	return value;
}

static void add_uid(struct argp_state *state, struct options *o, const char *text)
{
	o->uids = grow(state, o->uids, o->num_uids, sizeof(*o->uids));
	o->uids[o->num_uids++] = (uid_t)number(state, "--allow-uid", text, (uid_t)-1 - UINT64_C(1));
}

static void set_max_clients(struct argp_state *state, struct options *o, const char *text)
{
	o->given.max_clients =
		(unsigned int)number(state, "--max-clients", text, SETTINGS_MAX_CLIENTS_LIMIT);
	if (o->given.max_clients == 0)
		dpumap_usage_error(state, "--max-clients cannot be 0");
}

/* The setting of an option whose argument is stored as it is; NULL for other options. */
static char **find_text(struct settings *settings, int key)
{
	switch (key) {
	case 'd':
		return &settings->device;
	case KEY_CERT:
		return &settings->cert;
	case KEY_KEY:
		return &settings->key;
	case KEY_CA:
		return &settings->ca;
	case KEY_CRL:
		return &settings->crl;
	case KEY_PSK:
		return &settings->psk;
	case KEY_ADMIN:
		return &settings->admin;
	default:
		return NULL;
	}
}

static void check_all(struct argp_state *state, const struct options *o)
{
	if (!o->file && o->given.num_exports == 0)
		dpumap_usage_error(state, "nothing to export: use --config or --export");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char **text = find_text(&o->given, key);

	if (text) {
		set(state, text, arg);
		return 0;
	}
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
	case KEY_ALLOW_UID:
		add_uid(state, o, arg);
		return 0;
	case KEY_MAX_CLIENTS:
		set_max_clients(state, o, arg);
		return 0;
	case KEY_READY_FD:
		o->ready_fd = (int)number(state, "--ready-fd", arg, INT_MAX);
		return 0;
	case KEY_CHECK:
		o->check_only = true;
		return 0;
	case ARGP_KEY_ARG:
		dpumap_usage_error(state, "unexpected argument \"%s\"", arg);
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

/* -- merging file and command line -- */

static doca_error_t allow_uid(struct export_spec *spec, uid_t uid, struct dpumap_fault *fault)
{
	char peer[DPUMAP_PEER_NAME_MAX];

	snprintf(peer, sizeof(peer), "uid:%u", uid);
	return export_spec_set(spec, "allow", peer, fault);
}

/* Exports of the command line may be imported by root and by the user that starts dpumapd. */
static doca_error_t add_given_export(const struct options *o, const struct export_spec *given,
				     struct settings *settings, struct dpumap_fault *fault)
{
	struct export_spec spec;
	doca_error_t result = export_spec_copy(&spec, given, fault);

	if (result != DOCA_SUCCESS)
		return result;
	result = allow_uid(&spec, 0, fault);
	if (result == DOCA_SUCCESS && geteuid())
		result = allow_uid(&spec, geteuid(), fault);
	for (size_t i = 0; i < o->num_uids && result == DOCA_SUCCESS; i++)
		result = allow_uid(&spec, o->uids[i], fault);
	if (result == DOCA_SUCCESS)
		result = settings_add_export(settings, &spec, fault);
	export_spec_free(&spec);
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

	dpumap_address_default_path(path, sizeof(path));
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
	if (result == DOCA_SUCCESS)
		privileges_trust_service(settings->user);
	if (result != DOCA_SUCCESS)
		settings_free(settings);
	return result;
}
