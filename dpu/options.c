/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/size.h"
#include "common/usage.h"
#include "options.h"

#define MAX_CLIENTS_DEFAULT 64
#define MAX_NODE	    65535u
#define MAX_CLIENTS_LIMIT   900 /* below the usual 1024 open files */

enum {
	KEY_ALLOW_UID = 0x100,
	KEY_MAX_CLIENTS,
	KEY_READY_FD,
};

static const char doc[] =
	"Own memory on the DPU's side, export it for PCI access and hand the descriptors to the "
	"host."
	"\v"
	"EXPORT is a list of name=NAME,kind=KIND,size=SIZE[,perm=PERM][,align=SIZE][,pages=huge]"
	"[,node=N]:\n"
	"  NAME  1 to 63 of A-Z a-z 0-9 . _ -\n"
	"  KIND  dm (memory on the card itself) or dram (the DPU's main memory)\n"
	"  SIZE  bytes, with K, M or G if wanted; for dm also max, which is all that one export "
	"can have\n"
	"  PERM  rw (default) or ro, what the host may do\n"
	"  align where dm begins on the card: a power of two (default 64 or more, as the card "
	"likes)\n"
	"  pages what dram is made of: usual (default) or huge pages\n"
	"  node  the NUMA node that dram is on (default: the kernel's choice)\n"
	"\n"
	"The exports last until SIGTERM, SIGINT or SIGHUP; from then on the host's copies fail. "
	"The "
	"process' "
	"own user and root may import, others with --allow-uid.\n"
	"\n"
	"Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage, 3 not found or busy (socket, "
	"device), 4 refused (an export that cannot be, a path that is no socket), 5 the device "
	"cannot do it.\n"
	"\n"
	"Example:\n"
	"  dpumapd --export name=fast,kind=dm,size=64K --export name=bulk,kind=dram,size=16M";

static const struct argp_option option_table[] = {
	{"listen", 'l', "PATH", 0,
	 "Unix socket to serve (default $XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock)", 0},
	{"export", 'e', "EXPORT", 0, "Memory to export, see below; may be repeated", 0},
	{"device", 'd', "DEVICE", 0,
	 "IB device name or PCI address (default: the first that can export)", 0},
	{"allow-uid", KEY_ALLOW_UID, "UID", 0, "Let this user import too; may be repeated", 0},
	{"max-clients", KEY_MAX_CLIENTS, "N", 0, "Serve at most N clients at once (default 64)", 0},
	{"ready-fd", KEY_READY_FD, "FD", 0,
	 "When ready, write a line to this descriptor and close it, instead of to stdout", 0},
	{0},
};

static const char *const kind_names[EXPORT_KINDS] = {
	[EXPORT_DEVICE_MEMORY] = "dm",
	[EXPORT_DRAM] = "dram",
};

const char *options_kind_name(enum export_kind kind)
{
	return kind_names[kind];
}

static void set_kind(struct argp_state *state, struct export_spec *spec, const char *value)
{
	for (enum export_kind kind = 0; kind < EXPORT_KINDS; kind++) {
		if (strcmp(value, kind_names[kind]) == 0) {
			spec->kind = kind;
			return;
		}
	}
	dpumap_usage_error(state, "export %s: kind is dm or dram, not \"%s\"", spec->name, value);
}

static void set_size(struct argp_state *state, struct export_spec *spec, const char *value)
{
	if (strcmp(value, "max") == 0)
		spec->size = EXPORT_SIZE_MAX;
	else if (!dpumap_size_parse(value, &spec->size) || spec->size == 0 ||
		 spec->size == EXPORT_SIZE_MAX)
		dpumap_usage_error(state, "export %s: size is a number of bytes, not \"%s\"",
				   spec->name, value);
}

static void set_name(struct argp_state *state, struct export_spec *spec, const char *value)
{
	if (!dpumap_export_name_valid(value))
		dpumap_usage_error(state, "\"%s\" is no name for an export", value);
	memcpy(spec->name, value, strlen(value) + 1);
}

static void set_perm(struct argp_state *state, struct export_spec *spec, const char *value)
{
	if (strcmp(value, "rw") != 0 && strcmp(value, "ro") != 0)
		dpumap_usage_error(state, "export %s: perm is rw or ro, not \"%s\"", spec->name,
				   value);
	spec->writable = strcmp(value, "rw") == 0;
}

static void set_align(struct argp_state *state, struct export_spec *spec, const char *value)
{
	uint64_t align = 0;

	if (!dpumap_size_parse(value, &align) || !align || (align & (align - 1)))
		dpumap_usage_error(state, "export %s: align is a power of two, not \"%s\"",
				   spec->name, value);
	if (spec->kind != EXPORT_DEVICE_MEMORY)
		dpumap_usage_error(state, "export %s: only kind dm has an align", spec->name);
	spec->log_align = (uint32_t)__builtin_ctzll(align);
}

static void set_pages(struct argp_state *state, struct export_spec *spec, const char *value)
{
	if (strcmp(value, "usual") != 0 && strcmp(value, "huge") != 0)
		dpumap_usage_error(state, "export %s: pages is usual or huge, not \"%s\"",
				   spec->name, value);
	spec->huge_pages = strcmp(value, "huge") == 0;
}

static void set_node(struct argp_state *state, struct export_spec *spec, const char *value)
{
	uint64_t node = 0;

	if (!dpumap_number_parse(value, MAX_NODE, &node))
		dpumap_usage_error(state, "export %s: node is a number up to %u, not \"%s\"",
				   spec->name, MAX_NODE, value);
	spec->on_node = true;
	spec->node = (unsigned int)node;
}

static void check_spec(struct argp_state *state, const struct export_spec *spec)
{
	if (spec->kind != EXPORT_DRAM && (spec->huge_pages || spec->on_node))
		dpumap_usage_error(state, "export %s: only kind dram has pages and a node",
				   spec->name);
	if (spec->huge_pages && spec->on_node)
		dpumap_usage_error(state, "export %s: huge pages cannot be had on a chosen node",
				   spec->name);
	if (spec->kind == EXPORT_DRAM && spec->size == EXPORT_SIZE_MAX)
		dpumap_usage_error(state, "export %s: main memory has no size \"max\"", spec->name);
}

enum spec_part {
	PART_NAME,
	PART_KIND,
	PART_SIZE,
	PART_PERM,
	PART_ALIGN,
	PART_PAGES,
	PART_NODE,
	PARTS,
};

/* The name goes first whatever the order, so that errors can tell it. */
static void parse_spec(struct argp_state *state, char *text, struct export_spec *spec)
{
	static char name_key[] = "name", kind_key[] = "kind", size_key[] = "size",
		    perm_key[] = "perm", align_key[] = "align", pages_key[] = "pages",
		    node_key[] = "node";
	char *const keys[] = {name_key,	 kind_key,  size_key, perm_key,
			      align_key, pages_key, node_key, NULL};
	char *values[PARTS] = {NULL};
	char *value;
	int part;

	while (*text) {
		part = getsubopt(&text, keys, &value);
		if (part < 0)
			dpumap_usage_error(state, "an export has no \"%s\"", value);
		if (!value || values[part])
			dpumap_usage_error(state, "an export has %s=... once", keys[part]);
		values[part] = value;
	}
	for (int i = PART_NAME; i < PART_PERM; i++) {
		if (!values[i])
			dpumap_usage_error(state, "an export needs %s=...", keys[i]);
	}
	*spec = (struct export_spec){.writable = true};
	set_name(state, spec, values[PART_NAME]);
	set_kind(state, spec, values[PART_KIND]);
	set_size(state, spec, values[PART_SIZE]);
	if (values[PART_PERM])
		set_perm(state, spec, values[PART_PERM]);
	if (values[PART_ALIGN])
		set_align(state, spec, values[PART_ALIGN]);
	if (values[PART_PAGES])
		set_pages(state, spec, values[PART_PAGES]);
	if (values[PART_NODE])
		set_node(state, spec, values[PART_NODE]);
	check_spec(state, spec);
}

static void *grow(struct argp_state *state, void *list, size_t count, size_t item)
{
	void *bigger = reallocarray(list, count + 1, item);

	if (!bigger) {
		argp_failure(state, DPUMAP_EXIT_DEVICE, 0, "no memory for the options");
		exit(DPUMAP_EXIT_DEVICE);
	}
	return bigger;
}

static void add_export(struct argp_state *state, struct options *o, char *text)
{
	struct export_spec *spec;

	o->exports = grow(state, o->exports, o->num_exports, sizeof(*o->exports));
	spec = &o->exports[o->num_exports];
	parse_spec(state, text, spec);
	for (size_t i = 0; i < o->num_exports; i++) {
		if (strcmp(o->exports[i].name, spec->name) == 0)
			dpumap_usage_error(state, "there are two exports called %s", spec->name);
	}
	o->num_exports++;
}

static uint64_t number(struct argp_state *state, const char *what, const char *text, uint64_t max)
{
	uint64_t value = 0;

	if (!dpumap_number_parse(text, max, &value))
		dpumap_usage_error(state, "%s is a number up to %llu, not \"%s\"", what,
				   (unsigned long long)max, text);
	return value;
}

static void set_listen(struct argp_state *state, struct options *o, const char *path)
{
	if (strlen(path) >= sizeof(o->listen))
		dpumap_usage_error(state, "the path of a socket is shorter than %s", path);
	memcpy(o->listen, path, strlen(path) + 1);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'l':
		set_listen(state, o, arg);
		return 0;
	case 'e':
		add_export(state, o, arg);
		return 0;
	case 'd':
		o->device = arg;
		return 0;
	case KEY_ALLOW_UID:
		o->uids = grow(state, o->uids, o->num_uids, sizeof(*o->uids));
		o->uids[o->num_uids++] =
			(uid_t)number(state, "--allow-uid", arg, (uid_t)-1 - UINT64_C(1));
		return 0;
	case KEY_MAX_CLIENTS:
		o->max_clients =
			(unsigned int)number(state, "--max-clients", arg, MAX_CLIENTS_LIMIT);
		if (o->max_clients == 0)
			dpumap_usage_error(state, "--max-clients cannot be 0");
		return 0;
	case KEY_READY_FD:
		o->ready_fd = (int)number(state, "--ready-fd", arg, INT_MAX);
		return 0;
	case ARGP_KEY_ARG:
		dpumap_usage_error(state, "no argument \"%s\" is known", arg);
	case ARGP_KEY_END:
		if (o->num_exports == 0)
			dpumap_usage_error(state, "nothing to export: --export says what");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = option_table, .parser = parse_option, .doc = doc};

	*options = (struct options){.max_clients = MAX_CLIENTS_DEFAULT, .ready_fd = -1};
	dpumap_channel_default_path(options->listen, sizeof(options->listen));
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void options_free(struct options *options)
{
	free(options->exports);
	free(options->uids);
}
