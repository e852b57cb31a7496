/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <argp.h>
#include <string.h>

#include "channel/channel.h"
#include "common/size.h"
#include "common/usage.h"
#include "options.h"

#define TIMEOUT_DEFAULT_S 10
#define TIMEOUT_MAX_S	  3600

enum {
	KEY_DESCRIPTOR = 0x100,
	KEY_JSON,
	KEY_SHOW_SECRET,
};

static const char doc[] =
	"Use memory that dpumapd on the DPU exports: look at it, fill it, fetch it, or send a file "
	"through it."
	"\v"
	"Commands:\n"
	"  list                       what dpumapd exports\n"
	"  info                       the DPU's device, and its memory that is free\n"
	"  info NAME                  one export and its descriptor, without the key\n"
	"  info --descriptor FILE     the same from a descriptor file\n"
	"  put FILE NAME              copy a file into an export\n"
	"  get NAME FILE              copy an export, or a part of it, into a file\n"
	"  cp FILE NAME OUTFILE       send a file through an export, in windows of\n"
	"                             its size, and back into another file\n"
	"  get-descriptor NAME FILE   save a descriptor (mode 0600: it holds a key)\n"
	"  desc show FILE             everything in a saved descriptor but the key;\n"
	"                             - is standard input\n"
	"  desc check FILE            is it one? Says what is wrong and at which byte\n"
	"  doca-pkgconfig-dir         where pkg-config finds the names that DOCA\n"
	"                             programs ask for\n"
	"\n"
	"Copies are done by the NIC's DMA engine. put, get and cp compare SHA-256 at both ends; a "
	"result file appears under its name only when it is complete and verified. Sizes may have "
	"K, M or G.\n"
	"\n"
	"Exit codes: 0 done, 1 the transfer or its verification failed, 2 wrong usage, 3 not found "
	"(file, export, device) or cannot connect, 4 refused (permission, does not fit, bad "
	"descriptor, another card), 5 the device cannot do it.\n"
	"\n"
	"Examples:\n"
	"  dpumap list\n"
	"  dpumap cp /boot/vmlinuz fast /tmp/copy\n"
	"  PKG_CONFIG_PATH=$(dpumap doca-pkgconfig-dir) meson setup build";

static const char args_doc[] = "list\ninfo [NAME]\ninfo --descriptor=FILE\nput FILE NAME\n"
			       "get NAME FILE\ncp FILE NAME OUTFILE\nget-descriptor NAME FILE\n"
			       "desc show FILE\ndesc check FILE\ndoca-pkgconfig-dir";

static const struct argp_option option_table[] = {
	{"connect", 'c', "PATH", 0,
	 "dpumapd's socket (default $XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock)", 0},
	{"device", 'd', "DEVICE", 0,
	 "IB device name or PCI address (default: the first that can import)", 0},
	{"offset", 'o', "SIZE", 0, "Begin at this byte of the export (put, get, cp)", 0},
	{"length", 'n', "SIZE", 0, "Copy so many bytes (get; default: to the end)", 0},
	{"descriptor", KEY_DESCRIPTOR, "FILE", 0, "A saved descriptor (info)", 0},
	{"json", KEY_JSON, NULL, 0, "Print JSON (desc)", 0},
	{"show-secret", KEY_SHOW_SECRET, NULL, 0, "Print the access key as well (desc show)", 0},
	{"timeout", 't', "SECONDS", 0, "Give up when nothing has happened for so long (default 10)",
	 0},
	{"verbose", 'v', NULL, 0, "Show the library's own log as well", 0},
	{0},
};

struct parse {
	const struct command *commands;
	struct options *options;
};

static uint64_t size(struct argp_state *state, const char *what, const char *text)
{
	uint64_t bytes = 0;

	if (!dpumap_size_parse(text, &bytes))
		dpumap_usage_error(state, "%s is a number of bytes, not \"%s\"", what, text);
	return bytes;
}

static unsigned int seconds(struct argp_state *state, const char *text)
{
	uint64_t value = 0;

	if (!dpumap_number_parse(text, TIMEOUT_MAX_S, &value) || value == 0)
		dpumap_usage_error(state, "--timeout is 1 to %d seconds, not \"%s\"", TIMEOUT_MAX_S,
				   text);
	return (unsigned int)value;
}

static void set_connect(struct argp_state *state, struct options *o, const char *path)
{
	if (strlen(path) >= sizeof(o->connect))
		dpumap_usage_error(state, "the path of a socket is shorter than %s", path);
	memcpy(o->connect, path, strlen(path) + 1);
}

static void take_argument(struct argp_state *state, struct parse *p, const char *arg)
{
	struct options *o = p->options;

	if (o->command) {
		if (o->num_args == OPTIONS_ARGS_MAX)
			dpumap_usage_error(state, "too many arguments for %s", o->command->name);
		o->args[o->num_args++] = arg;
		return;
	}
	for (const struct command *c = p->commands; c->name; c++) {
		if (strcmp(c->name, arg) == 0)
			o->command = c;
	}
	if (!o->command)
		dpumap_usage_error(state, "\"%s\" is no command", arg);
}

static void check(struct argp_state *state, const struct options *o)
{
	static const struct {
		enum option_bit bit;
		const char *name;
	} names[] = {{OPTION_OFFSET, "--offset"},
		     {OPTION_LENGTH, "--length"},
		     {OPTION_DESCRIPTOR, "--descriptor"},
		     {OPTION_JSON, "--json"},
		     {OPTION_SHOW_SECRET, "--show-secret"}};
	unsigned int wanted;

	if (!o->command) {
		dpumap_usage_error(state, "a command is missing");
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (o->given & names[i].bit & ~o->command->takes)
			dpumap_usage_error(state, "%s takes no %s", o->command->name,
					   names[i].name);
	}
	wanted = o->given & OPTION_DESCRIPTOR ? 0 : o->command->num_args;
	if (!o->num_args && o->command->takes & OPTION_NO_ARGS)
		return;
	if (o->num_args != wanted)
		dpumap_usage_error(state, "%s wants %s", o->command->name,
				   wanted ? o->command->args : "no arguments");
	if (strcmp(o->command->name, "desc") == 0 && strcmp(o->args[0], "show") != 0 &&
	    strcmp(o->args[0], "check") != 0)
		dpumap_usage_error(state, "desc wants %s, not \"%s\"", o->command->args,
				   o->args[0]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	struct options *o = p->options;

	switch (key) {
	case 'c':
		set_connect(state, o, arg);
		return 0;
	case 'd':
		o->device = arg;
		return 0;
	case 'o':
		o->offset = size(state, "--offset", arg);
		o->given |= OPTION_OFFSET;
		return 0;
	case 'n':
		o->length = size(state, "--length", arg);
		o->given |= OPTION_LENGTH;
		return 0;
	case KEY_DESCRIPTOR:
		o->descriptor = arg;
		o->given |= OPTION_DESCRIPTOR;
		return 0;
	case KEY_JSON:
		o->given |= OPTION_JSON;
		return 0;
	case KEY_SHOW_SECRET:
		o->given |= OPTION_SHOW_SECRET;
		return 0;
	case 't':
		o->timeout_s = seconds(state, arg);
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		take_argument(state, p, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(int argc, char **argv, const struct command *commands, struct options *options)
{
	static const struct argp argp = {
		.options = option_table, .parser = parse_option, .args_doc = args_doc, .doc = doc};
	struct parse p = {.commands = commands, .options = options};

	*options = (struct options){.timeout_s = TIMEOUT_DEFAULT_S};
	dpumap_channel_default_path(options->connect, sizeof(options->connect));
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &p);
}
