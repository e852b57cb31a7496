/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap-emu: run programs on an emulated BlueField. Words of the command line, and what they mean.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/tool/tool.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum verb_bit {
	V_RUN = 1 << 0,
	V_START = 1 << 1,
	V_SERVE = 1 << 2,
	V_STATUS = 1 << 3,
	V_STOP = 1 << 4,
	V_TRACE = 1 << 5,
	V_CAPS = 1 << 6,
	V_FAULT = 1 << 7,
	V_STARTS = V_RUN | V_START,
	V_ALL = V_RUN | V_START | V_SERVE | V_STATUS | V_STOP | V_TRACE | V_FAULT,
};

static const struct verb {
	const char *name;
	unsigned int bit;
	int (*act)(struct options *o);
} verbs[] = {
	{"run", V_RUN, tool_run},	{"start", V_START, tool_start},
	{"serve", V_SERVE, tool_serve}, {"status", V_STATUS, tool_status},
	{"stop", V_STOP, tool_stop},	{"trace", V_TRACE, tool_trace},
	{"caps", V_CAPS, tool_caps},	{"fault", V_FAULT, tool_fault},
};

/* --- values of options: NULL or what is wrong ------------------------------------------------- */

/* The first machine's functions have short names; it is node 0, too. */
static const char *set_role(struct options *o, const char *arg)
{
	o->role = strncmp(arg, "node0.", 6) != 0 ? arg : arg + 6;
	return !*o->role || strchr(o->role, '/') || strlen(o->role) > 15
		       ? "not the name of a function"
		       : NULL;
}

static const char *set_dir(struct options *o, const char *arg)
{
	return snprintf(o->dir, sizeof(o->dir), "%s", arg) < (int)sizeof(o->dir) ? NULL
										 : "too long";
}

static const char *set_config(struct options *o, const char *arg)
{
	o->config = arg;
	return NULL;
}

static const char *set_profile(struct options *o, const char *arg)
{
	o->profile = arg;
	return emu_profile_find(arg) ? NULL : "unknown profile";
}

static const char *set_nodes(struct options *o, const char *arg)
{
	o->nodes = arg;
	return NULL;
}

static const char *set_cards(struct options *o, const char *arg)
{
	o->cards = arg;
	return NULL;
}

static const char *set_cap(struct options *o, const char *arg)
{
	if (!strchr(arg, '='))
		return "not NAME=VALUE";
	if (o->ncaps == TOOL_MAX_CAPS)
		return "too many";
	o->cap[o->ncaps++] = arg;
	return NULL;
}

static const char *add_node(struct options *o, const char *arg)
{
	if (!o->topology_given)
		o->topology.nnodes = 0;
	o->topology_given = true;
	if (o->topology.nnodes == EMU_MAX_NODES)
		return "too many";
	return emu_node_parse(arg, &o->topology.node[o->topology.nnodes++]);
}

static const char *set_ready(struct options *o, const char *arg)
{
	o->ready_fd = (int)strtol(arg, NULL, 10);
	return NULL;
}

static const char *set_hold(struct options *o, const char *arg)
{
	o->hold_fd = (int)strtol(arg, NULL, 10);
	return NULL;
}

static const char *set_json(struct options *o, const char *arg)
{
	(void)arg;
	o->json = true;
	return NULL;
}

static const char *set_addresses(struct options *o, const char *arg)
{
	(void)arg;
	o->addresses = true;
	return NULL;
}

static const struct option_spec {
	const char *name;
	unsigned int verbs; /* that know it */
	bool value;
	const char *(*set)(struct options *o, const char *arg);
} specs[] = {
	{"as", V_RUN | V_FAULT, true, set_role},
	{"dir", V_ALL, true, set_dir},
	{"config", V_STARTS, true, set_config},
	{"profile", V_STARTS, true, set_profile},
	{"nodes", V_STARTS, true, set_nodes},
	{"cards", V_STARTS, true, set_cards},
	{"cap", V_STARTS, true, set_cap},
	{"node", V_SERVE, true, add_node},
	{"ready-fd", V_SERVE, true, set_ready},
	{"hold-fd", V_SERVE, true, set_hold},
	{"json", V_STATUS, false, set_json},
	{"addresses", V_TRACE, false, set_addresses},
	{"method", V_FAULT, true, tool_fault_method},
	{"nth", V_FAULT, true, tool_fault_nth},
	{"count", V_FAULT, true, tool_fault_count},
	{"errno", V_FAULT, true, tool_fault_errno},
	{"status", V_FAULT, true, tool_fault_status},
	{"syndrome", V_FAULT, true, tool_fault_syndrome},
	{"lose", V_FAULT, false, tool_fault_lose},
	{"delay", V_FAULT, true, tool_fault_delay},
	{"left", V_FAULT, true, tool_fault_left},
};

#define OPT_FIRST 256

static int complain(const char *what, const char *about)
{
	fprintf(stderr, "dpumap-emu: %s: '%s'; see --help\n", what, about);
	return EXIT_USAGE;
}

static void list_options(const struct verb *v, struct option *longs)
{
	size_t i, n = 0;

	for (i = 0; i < COUNT(specs); i++)
		if (specs[i].verbs & v->bit)
			longs[n++] = (struct option){specs[i].name, specs[i].value, NULL,
						     (int)(OPT_FIRST + i)};
	longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
	longs[n++] = (struct option){"version", no_argument, NULL, 'V'};
	longs[n] = (struct option){0};
}

static int help(int c)
{
	if (c == 'h')
		tool_usage(stdout);
	else
		puts("dpumap-emu " DPUMAP_VERSION);
	return fflush(stdout) ? EXIT_EMU : 0;
}

static int parse(const struct verb *v, int argc, char **argv, struct options *o)
{
	struct option longs[COUNT(specs) + 3];
	const char *wrong;
	int c;

	list_options(v, longs);
	while ((c = getopt_long(argc, argv, "+hV", longs, NULL)) != -1) {
		if (c == 'h' || c == 'V')
			exit(help(c));
		if (c < OPT_FIRST)
			return EXIT_USAGE;
		wrong = specs[c - OPT_FIRST].set(o, optarg);
		if (wrong)
			return complain(wrong, optarg ? optarg : specs[c - OPT_FIRST].name);
	}
	o->argv = argv + optind;
	return 0;
}

/* --- the machines: from a file, then what options say of all of them -------------------------- */

static int read_config(struct options *o)
{
	unsigned int line = 0;
	const char *wrong;
	FILE *in;

	in = fopen(o->config, "re");
	if (!in)
		return complain(strerror(errno), o->config);
	wrong = emu_topology_read(in, &o->topology, &line);
	fclose(in);
	if (!wrong)
		return 0;
	fprintf(stderr, line ? "dpumap-emu: %s:%u: %s\n" : "dpumap-emu: %s%.0u: %s\n", o->config,
		line, wrong);
	return EXIT_USAGE;
}

static int set_all(struct options *o, const char *name, const char *value, const char *word)
{
	const char *wrong = NULL;
	unsigned int i;

	for (i = 0; i < o->topology.nnodes && value && !wrong; i++)
		wrong = emu_node_set(&o->topology.node[i], name, value);
	return wrong ? complain(wrong, word) : 0;
}

static int set_caps(struct options *o)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < o->ncaps && !err; i++) {
		char *name = strdup(o->cap[i]);

		if (!name)
			return EXIT_EMU;
		name[strcspn(name, "=")] = '\0';
		err = set_all(o, name, o->cap[i] + strlen(name) + 1, o->cap[i]);
		free(name);
	}
	return err;
}

static int build_topology(struct options *o)
{
	const char *wrong = NULL;
	unsigned long n;
	char *end;
	int err = 0;

	if (o->config)
		err = read_config(o);
	if (!err)
		err = set_all(o, "profile", o->profile, o->profile);
	if (!err)
		err = set_all(o, "cards", o->cards, o->cards);
	if (!err)
		err = set_caps(o);
	if (err)
		return err;
	if (o->nodes) {
		n = strtoul(o->nodes, &end, 10);
		if (o->config)
			wrong = "use either --nodes or --config";
		else
			wrong = emu_topology_repeat(&o->topology,
						    *end || n > UINT8_MAX ? 0 : (unsigned int)n);
	}
	if (!wrong)
		wrong = emu_topology_check(&o->topology);
	return wrong ? complain(wrong, o->nodes ? o->nodes : "--cards") : 0;
}

/* --- where ------------------------------------------------------------------------------------ */

static void default_dir(char *dir, size_t len)
{
	const char *env = getenv(EMU_ENV_DIR), *base = getenv("XDG_RUNTIME_DIR");

	if (env && *env)
		snprintf(dir, len, "%s", env);
	else
		snprintf(dir, len, "%s/dpumap-emu-%u", base && *base ? base : "/tmp",
			 (unsigned int)getuid());
}

/* The directory's name ends up in socket addresses of processes with other working directories. */
static int make_absolute(struct options *o)
{
	char cwd[PATH_MAX], rel[PATH_MAX];

	if (o->dir[0] == '/')
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return -errno;
	snprintf(rel, sizeof(rel), "%s", o->dir);
	return snprintf(o->dir, sizeof(o->dir), "%s/%s", cwd, rel) >= (int)sizeof(o->dir)
		       ? -ENAMETOOLONG
		       : 0;
}

int tool_caps(struct options *o)
{
	(void)o;
	emu_caps_print(stdout);
	return fflush(stdout) ? EXIT_EMU : 0;
}

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* `fault' has a word of its own before its options: its kind, a command's if there is none. */
static int take_kind(struct options *o, int *argc, char ***argv)
{
	const char *word = *argc > 1 ? (*argv)[1] : "-", *wrong;

	if (*word == '-')
		return 0;
	wrong = tool_fault_kind(o, word);
	++*argv;
	--*argc;
	return wrong ? complain(wrong, word) : 0;
}

static int act(const struct verb *v, int argc, char **argv, struct options *o)
{
	const char *wrong;
	int err = 0;

	if (v->bit == V_FAULT)
		err = take_kind(o, &argc, &argv);
	if (!err)
		err = parse(v, argc, argv, o);
	if (!err && v->bit & V_STARTS)
		err = build_topology(o);
	if (err)
		return err;
	if (make_absolute(o))
		return EXIT_EMU;
	if (v->bit != V_RUN && *o->argv)
		return complain("unexpected argument", *o->argv);
	wrong = v->bit == V_FAULT ? tool_fault_check(o) : NULL;
	return wrong ? complain(wrong, "fault") : v->act(o);
}

int main(int argc, char **argv)
{
	struct options o = {
		.ready_fd = -1,
		.hold_fd = -1,
		.fault = {.kind = EMU_RULE_COMMAND, .nth = 1, .count = 1, .method = "*"},
	};
	const struct verb *v;

	default_dir(o.dir, sizeof(o.dir));
	emu_topology_default(&o.topology);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return help('h');
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
		return help('V');
	v = argc > 1 ? find_verb(argv[1]) : NULL;
	if (v)
		return act(v, argc - 1, argv + 1, &o);
	tool_usage(stderr);
	return EXIT_USAGE;
}
