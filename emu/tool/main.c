/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap-emu: run programs on an emulated BlueField. The commands and the options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "emu/ipc/cpus.h"
#include "emu/tool/tool.h"

enum verb_bit {
	V_RUN = 1 << 0,
	V_START = 1 << 1,
	V_SERVE = 1 << 2,
	V_STATUS = 1 << 3,
	V_STOP = 1 << 4,
	V_TRACE = 1 << 5,
	V_CAPS = 1 << 6,
	V_FAULT = 1 << 7,
	V_LIST = 1 << 8,
	V_GID = 1 << 9,
	V_PORT = 1 << 10,
	V_CHAOS = 1 << 11,
	V_CAPTURE = 1 << 12,
	V_TOP = 1 << 13,
	V_PCI = 1 << 14,
	V_OFFER = 1 << 15,
	V_STARTS = V_RUN | V_START,
	V_ALL = V_RUN | V_START | V_SERVE | V_STATUS | V_STOP | V_TRACE | V_FAULT | V_LIST | V_GID |
		V_PORT | V_CHAOS | V_CAPTURE | V_TOP | V_PCI,
};

struct verb {
	struct cli_command cli;
	int (*act)(struct options *o);
};

static int tool_caps(struct options *o)
{
	(void)o;
	emu_caps_print(stdout);
	return fflush(stdout) ? EXIT_EMU : 0;
}

static const struct verb verbs[] = {
	{{"run", "--as FUNCTION COMMAND...", 1, CLI_REST, V_RUN,
	  "Run a command on the emulated device. Use the emulator in --dir, or start one that ends "
	  "with its last command. All options but --as and --dir apply only if an emulator is "
	  "started. The exit status is that of COMMAND; 125 if the emulator cannot be used or "
	  "started, 126 if COMMAND cannot be executed, 127 if it is not found.",
	  tool_more_machines},
	 tool_run},
	{{"start", "", 0, 0, V_START,
	  "Start an emulator. It runs until `dpumap-emu stop', SIGTERM or SIGINT.",
	  tool_more_machines},
	 tool_start},
	{{"pci", "--as FUNCTION --socket PATH", 0, 0, V_PCI,
	  "Offer a function to a virtual machine. QEMU attaches it by its device vfio-user-pci to "
	  "the "
	  "socket, and the guest drives it by its own mlx5 driver. Use the emulator in --dir, or "
	  "start one that ends with the command.",
	  NULL},
	 tool_pci},
	{{"offer", "", 0, 0, V_OFFER, NULL, NULL}, tool_offer},
	{{"serve", "", 0, 0, V_SERVE, NULL, NULL}, tool_serve},
	{{"status", "", 0, 0, V_STATUS,
	  "Print counts of objects and work. Each line is a name and a count, or an active fault.",
	  NULL},
	 tool_status},
	{{"top", "", 0, 0, V_TOP,
	  "Show what the processes copy each second. The view is drawn again after each interval "
	  "until q or Ctrl-C. If the output is not a terminal, each view follows the one before "
	  "it; with --json, each is an object in a line.",
	  NULL},
	 tool_top},
	{{"list", "", 0, 0, V_LIST,
	  "List the emulators of this user. Their directory does not matter; an asterisk marks the "
	  "one that the other commands use.",
	  NULL},
	 tool_list},
	{{"stop", "", 0, 0, V_STOP,
	  "Stop the emulator. Programs that still use it see an unplugged device.", NULL},
	 tool_stop},
	{{"trace", "", 0, 0, V_TRACE,
	  "Print commands and work requests. Each is printed when it is executed.", NULL},
	 tool_trace},
	{{"capture", "FILE", 1, 1, V_CAPTURE,
	  "Write packets to a file for Wireshark. FILE is new, in the format pcapng; - is the "
	  "standard output. A transfer within the emulator is shown as the packets that it would "
	  "have been. "
	  "The capture ends with the emulator, with --count, or with SIGINT or SIGTERM.",
	  NULL},
	 tool_capture},
	{{"caps", "", 0, 0, V_CAPS,
	  "Print the capabilities of each profile. --cap of run and start changes them.", NULL},
	 tool_caps},
	{{"fault", "[KIND]", 0, 1, V_FAULT,
	  "Inject faults, or list the active ones. Without KIND and options they are listed. "
	  "KIND is one of command (the default; a command fails), completion (a "
	  "completion is lost, late, duplicated or an error), data (bytes change while they are "
	  "moved), memory (device memory is exhausted), "
	  "device (the device dies), port (the port goes down), gid (the port loses its IP "
	  "addresses), neighbour (no neighbour answers its resolution of addresses), partition "
	  "(functions do not reach "
	  "each other), queue (a queue pair is silent, slow or not ready) and clear. A fault "
	  "replaces the previous one of its kind. clear removes all faults, and prints how many "
	  "commands and completions matched and how many failed.",
	  tool_more_faults},
	 tool_fault},
	{{"gid", "list\nadd ADDRESS\ndel [ADDRESS]", 1, 2, V_GID,
	  "List and change the GID tables. ADDRESS is an IPv4 or IPv6 address. add without --type "
	  "adds "
	  "two entries, for RoCE v1 and v2. del removes all entries that match the address and the "
	  "options. Programs get IBV_EVENT_GID_CHANGE.",
	  NULL},
	 tool_gid},
	{{"port", "down\nup\nlid LID\nsm LID\npkey P_KEY\nreregister\nspeed GBPS", 1, 2, V_PORT,
	  "Change ports. down and up move the link, lid and sm change the LIDs of the port and of "
	  "the subnet manager, pkey changes an entry of the P_Key table, reregister asks "
	  "clients to register again, and speed changes the Gb/s of each lane. Programs get the "
	  "asynchronous event of the change.",
	  NULL},
	 tool_port},
	{{"chaos", "", 0, 0, V_CHAOS,
	  "Inject the faults of a plan. A seed determines the times of the faults. Each fault is "
	  "printed "
	  "when it is injected; the output is a plan that repeats it. All faults end with the "
	  "command.",
	  tool_more_chaos},
	 tool_chaos},
	{{0}, NULL},
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

static const char *set_cpus(struct options *o, const char *arg)
{
	struct emu_cpus own, cpus;
	int err;

	o->cpus = arg;
	if (!emu_cpus_parse(arg, &cpus))
		return "not a list of processors such as 0-3,8";
	err = emu_cpus_get(&own);
	if (!err)
		err = emu_cpus_set(&cpus);
	if (!err)
		err = emu_cpus_set(&own);
	return err ? "this process may use none of these processors; see Cpus_allowed_list in "
		     "/proc/self/status"
		   : NULL;
}

static const char *set_dir(struct options *o, const char *arg)
{
	o->dir_is_default = false;
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
	return emu_profile_find(arg) ? NULL : "unknown profile; see `dpumap-emu caps'";
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

static const char *set_gid(struct options *o, const char *arg)
{
	struct emu_port_request r;

	if (o->ngids == EMU_MAX_GID_LINES)
		return "too many";
	o->gid[o->ngids++] = arg;
	return tool_port_parse_gid(arg, &r);
}

static const char *set_wire(struct options *o, const char *arg)
{
	struct emu_port_request r;

	if (o->nwires == EMU_MAX_ENDPOINTS)
		return "too many";
	o->wire[o->nwires++] = arg;
	return tool_port_parse_wire(arg, &r);
}

static const char *set_index(struct options *o, const char *arg)
{
	o->port_words |= W_INDEX;
	return tool_port_index(&o->port, arg);
}

static const char *set_type(struct options *o, const char *arg)
{
	o->port_words |= W_TYPE;
	return tool_port_type(&o->port, arg);
}

static const char *set_vlan(struct options *o, const char *arg)
{
	o->port_words |= W_VLAN;
	return tool_port_vlan(&o->port, arg);
}

static const char *set_device(struct options *o, const char *arg)
{
	o->port_words |= W_DEVICE;
	return tool_port_device(&o->port, arg);
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

static const char *set_plan(struct options *o, const char *arg)
{
	o->plan = arg;
	return NULL;
}

static const char *parse_count(const char *arg, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(arg, &end, 0);
	return errno || *end || *arg < '0' || *arg > '9' ? "not a number" : NULL;
}

static const char *set_seed(struct options *o, const char *arg)
{
	o->seed_given = true;
	return parse_count(arg, &o->seed);
}

static const char *set_speed(struct options *o, const char *arg)
{
	const char *wrong = parse_count(arg, &o->speed);

	return wrong || (o->speed && o->speed <= 1000) ? wrong : "not a number from 1 to 1000";
}

static const char *set_dry_run(struct options *o, const char *arg)
{
	(void)arg;
	o->dry_run = true;
	return NULL;
}

static const char *set_json(struct options *o, const char *arg)
{
	(void)arg;
	o->json = true;
	o->port_words |= W_JSON;
	return NULL;
}

static const char *set_foreground(struct options *o, const char *arg)
{
	(void)arg;
	o->foreground = true;
	return NULL;
}

static const char *set_addresses(struct options *o, const char *arg)
{
	(void)arg;
	o->trace_flags |= EMU_TRACE_ADDRESSES;
	return NULL;
}

static const char *set_errors(struct options *o, const char *arg)
{
	(void)arg;
	o->trace_flags |= EMU_TRACE_ERRORS;
	return NULL;
}

static const char *set_time(struct options *o, const char *arg)
{
	(void)arg;
	o->trace_flags |= EMU_TRACE_TIME;
	return NULL;
}

static const char *set_peer(struct options *o, const char *arg)
{
	const char *wrong = tool_fault_peer(o, arg);

	return tool_capture_peer(o, arg) ? NULL : wrong;
}

static const char *set_wire_only(struct options *o, const char *arg)
{
	(void)arg;
	o->wire_only = true;
	return NULL;
}

static const char *set_local_only(struct options *o, const char *arg)
{
	(void)arg;
	o->local_only = true;
	return NULL;
}

static const char *set_socket(struct options *o, const char *arg)
{
	o->socket = arg;
	return NULL;
}

static const char *set_once(struct options *o, const char *arg)
{
	(void)arg;
	o->once = true;
	return NULL;
}

static const char *set_interval(struct options *o, const char *arg)
{
	return cli_live_interval(arg, &o->interval_ms) ? NULL
						       : "not a number of seconds from 0.1 to 3600";
}

/* Returns NULL or the error. */
typedef const char *set_fn(struct options *o, const char *arg);

struct option_spec {
	struct cli_option cli;
	set_fn *set;
};

static const struct option_spec specs[] = {
	{{"as", 0, "FUNCTION",
	  "dpu (of further cards dpu1, ...), host, or node1.dpu, node1.host, ... on further "
	  "machines; fault, port, capture and trace without it are for all functions, and a "
	  "partition "
	  "accepts node0, node1, ... as well",
	  V_RUN | V_FAULT | V_GID | V_PORT | V_CAPTURE | V_TRACE | V_PCI},
	 set_role},
	{{"socket", 0, "PATH", "Unix socket on which the function is offered", V_PCI | V_OFFER},
	 set_socket},
	{{"dir", 0, "DIR",
	  "Directory of the emulator (default: $" EMU_ENV_DIR
	  ", or else a directory of this user in "
	  "$XDG_RUNTIME_DIR, /tmp, or /dev/shm if /tmp cannot be written)",
	  V_ALL},
	 set_dir},
	{{"cpus", 0, "LIST",
	  "Processors of the emulated device's threads in the command, for example 0-3,8 "
	  "(default: $" EMU_ENV_CPUS ", or else all)",
	  V_RUN},
	 set_cpus},
	{{"config", 0, "FILE",
	  "Read the machines from FILE: lines of NAME = VALUE (profile, cards, numa-nodes, "
	  "cards-per-switch, or a capability), and [node] before each machine; see dpumap-emu(1)",
	  V_STARTS},
	 set_config},
	{{"profile", 0, "NAME", "Device to emulate (default: " EMU_DEFAULT_PROFILE ")", V_STARTS},
	 set_profile},
	{{"nodes", 0, "N", "Machines with equal cards, on one network (default: 1)", V_STARTS},
	 set_nodes},
	{{"cards", 0, "N", "Cards per machine (default: 1); at most 8 in total", V_STARTS},
	 set_cards},
	{{"cap", 0, "NAME=VALUE", "Change a capability; see `dpumap-emu caps'", V_STARTS}, set_cap},
	{{"gid", 0, "TEXT",
	  "Add a GID: `FUNCTION ADDRESS', then index=N, type=v1 or v2, vlan=N, device=NAME; "
	  "`FUNCTION none' removes its GIDs first",
	  V_STARTS | V_SERVE},
	 set_gid},
	{{"wire", 0, "[FUNCTION=]ADDRESS",
	  "Give the port of FUNCTION (default: dpu) an address of this machine, by which it "
	  "exchanges "
	  "RoCEv2 packets with other machines; `loopback': give all ports addresses, and let "
	  "packets "
	  "between them be RoCEv2 too",
	  V_STARTS | V_SERVE},
	 set_wire},
	{{"node", 0, "TEXT", NULL, V_SERVE}, add_node},
	{{"ready-fd", 0, "FD", NULL, V_SERVE}, set_ready},
	{{"hold-fd", 0, "FD", NULL, V_SERVE}, set_hold},
	{{"foreground", 0, NULL,
	  "Do not return before the emulator ends, as the first process of a container or a "
	  "service must not",
	  V_START},
	 set_foreground},
	{{"json", 0, NULL, "Print JSON", V_STATUS | V_LIST | V_GID | V_TOP}, set_json},
	{{"once", 0, NULL, "Show one view, after an interval, and exit", V_TOP}, set_once},
	{{"interval", 0, "SECONDS", "Time between two views (default: 1)", V_TOP}, set_interval},
	{{"addresses", 0, NULL,
	  "Print addresses; by default only offsets, which do not change from run to run", V_TRACE},
	 set_addresses},
	{{"errors", 0, NULL, "Print only commands and work requests that failed", V_TRACE},
	 set_errors},
	{{"time", 't', NULL, "Begin each line with the time of day", V_TRACE}, set_time},
	{{"device", 0, "NAME",
	  "Device of the function (default: mlx5_0 for gid add and del, otherwise all)",
	  V_GID | V_PORT},
	 set_device},
	{{"index", 0, "N",
	  "Index of the GID or P_Key (default: the lowest free one for gid add, 0 for pkey)",
	  V_GID | V_PORT},
	 set_index},
	{{"type", 0, "v1|v2", "Version of RoCE (default: both)", V_GID}, set_type},
	{{"vlan", 0, "N", "VLAN of the GID (default: none for gid add, any for gid del)", V_GID},
	 set_vlan},
	{{"method", 0, "PATTERN",
	  "Commands to fail: a shell pattern for the names below, for example *.create or "
	  "!(*.destroy) (default: *)",
	  V_FAULT},
	 tool_fault_method},
	{{"nth", 0, "N",
	  "First command or completion to fail, or first byte to change, counted from now "
	  "(default: 1); of `fault queue': "
	  "the N-th queue pair in existence; after the last one, counting starts again",
	  V_FAULT},
	 tool_fault_nth},
	{{"count", 0, "M",
	  "Number of failures, or of bytes, or `all' (default: 1); of `capture': number of "
	  "packets (default: all)",
	  V_FAULT | V_CAPTURE},
	 tool_fault_count},
	{{"errno", 0, "NAME",
	  "Fail the command with this errno, before it is executed (default: ENOMEM)", V_FAULT},
	 tool_fault_errno},
	{{"status", 0, "NAME",
	  "Fail the command with this firmware status instead, in the mailbox if the command has "
	  "one",
	  V_FAULT},
	 tool_fault_status},
	{{"syndrome", 0, "N", "Syndrome of --status, or of a completion (see below)", V_FAULT},
	 tool_fault_syndrome},
	{{"lose", 0, NULL, "Do not write the completion", V_FAULT}, tool_fault_lose},
	{{"delay", 0, "MS",
	  "Delay the completion, and all later ones of its send queue; of `fault queue': delay "
	  "each "
	  "work request",
	  V_FAULT},
	 tool_fault_delay},
	{{"duplicate", 0, NULL, "Write the completion of a send queue twice", V_FAULT},
	 tool_fault_duplicate},
	{{"silent", 0, NULL, "Lose all packets from and to the queue pair", V_FAULT},
	 tool_fault_silent},
	{{"rnr", 0, NULL, "Let the queue pair answer as if it had no receive buffer", V_FAULT},
	 tool_fault_rnr},
	{{"qpn", 0, "N", "Number of the queue pair", V_FAULT | V_CAPTURE}, tool_fault_qpn},
	{{"peer", 0, "FUNCTION|ADDRESS",
	  "Other side of the partition: a function or node0, node1, ... (default: all others); of "
	  "`capture': only packets from and to this IP address",
	  V_FAULT | V_CAPTURE},
	 set_peer},
	{{"wire-only", 0, NULL, "Only packets of networks", V_CAPTURE}, set_wire_only},
	{{"local-only", 0, NULL, "Only what transfers within the emulator would be on a network",
	  V_CAPTURE},
	 set_local_only},
	{{"off", 0, NULL, "End this fault", V_FAULT}, tool_fault_off},
	{{"left", 0, "BYTES", "Device memory left to allocate (default: 0)", V_FAULT},
	 tool_fault_left},
	{{"plan", 0, "FILE", "Plan of the faults; - is the standard input", V_CHAOS}, set_plan},
	{{"seed", 0, "N", "Seed of all choices in the plan (default: a random one)", V_CHAOS},
	 set_seed},
	{{"speed", 0, "N", "Divide all times of the plan by N (default: 1)", V_CHAOS}, set_speed},
	{{"dry-run", 0, NULL, "Only print the faults; no emulator is needed", V_CHAOS},
	 set_dry_run},
	{{0}, NULL},
};

/* Words of a fault, for the trace. A text that is too long is truncated. */
static void add_text(struct emu_fault_request *f, const char *a, const char *b)
{
	size_t len = strlen(f->words);

	snprintf(f->words + len, sizeof(f->words) - len, "%s%s", a, b);
}

static void note_word(struct options *o, const struct cli_option *option, const char *arg)
{
	add_text(&o->fault, " --", option->name);
	if (arg)
		add_text(&o->fault, " ", arg);
}

static void prepend_kind(struct options *o, const char *kind)
{
	char words[EMU_FAULT_WORDS];

	memcpy(words, o->fault.words, sizeof(words));
	o->fault.words[0] = '\0';
	add_text(&o->fault, kind, words);
}

static void reset_fault(struct options *o)
{
	o->role = NULL;
	o->fault_words = 0;
	o->fault = (struct emu_fault_request){
		.kind = EMU_RULE_COMMAND, .nth = 1, .count = 1, .method = "*"};
}

static const struct option_spec *find_fault_option(const char *word)
{
	for (const struct option_spec *s = specs; s->cli.name && !strncmp(word, "--", 2); s++)
		if (s->cli.bit & V_FAULT && s->cli.bit != V_ALL && !strcmp(s->cli.name, word + 2))
			return s;
	return NULL;
}

/* Parse one option of a fault and its value; returns what is wrong with `*word`. */
static const char *take_fault_option(struct options *o, const char **word, char **rest)
{
	const struct option_spec *s = find_fault_option(*word);

	if (!s)
		return "unknown option of a fault";
	if (s->cli.arg)
		*word = strtok_r(NULL, " \t", rest);
	return *word ? s->set(o, *word) : "the last option needs a value";
}

static const char *take_fault_words(struct options *o, char *words, const char **word)
{
	const char *wrong = NULL;
	char *rest;

	*word = strtok_r(words, " \t", &rest);
	if (*word && **word != '-') {
		wrong = tool_fault_kind(o, *word);
		if (!wrong)
			*word = strtok_r(NULL, " \t", &rest);
	}
	while (*word && !wrong) {
		wrong = take_fault_option(o, word, &rest);
		if (!wrong)
			*word = strtok_r(NULL, " \t", &rest);
	}
	return wrong ? wrong : tool_fault_check(o);
}

bool tool_fault_parse(const char *words, struct emu_fault_request *r, char *wrong, size_t size)
{
	char copy[EMU_FAULT_WORDS];
	struct options o;
	const char *why, *word;

	memset(&o, 0, sizeof(o));
	reset_fault(&o);
	snprintf(copy, sizeof(copy), "%s", words);
	why = take_fault_words(&o, copy, &word);
	if (why) {
		snprintf(wrong, size, "%s%s%s%s", why, word ? ": '" : "", word ? word : "",
			 word ? "'" : "");
		return false;
	}
	add_text(&o.fault, words, "");
	tool_fault_complete(&o);
	*r = o.fault;
	return true;
}

static void take(const struct argp_state *state, void *input, const struct cli_option *option,
		 const char *arg)
{
	const struct option_spec *spec = (const struct option_spec *)option;
	const char *wrong = spec->set(input, arg);

	if (option->bit & V_FAULT && option->bit != V_ALL)
		note_word(input, option, arg);
	if (wrong)
		cli_usage_error(state, "--%s: %s%s%s%s", option->name, wrong, arg ? ": '" : "",
				arg ? arg : "", arg ? "'" : "");
}

static void check(const struct argp_state *state, void *input, const struct cli_line *line)
{
	const char *kind = line->args[0], *wrong = NULL;
	struct options *o = input;

	o->argv = line->rest;
	if (line->command->takes & V_RUN && !o->role)
		cli_usage_error(state, "run needs --as FUNCTION");
	if (line->command->takes & V_PCI && (!o->role || !o->socket))
		cli_usage_error(state, "pci needs --as FUNCTION and --socket PATH");
	if (line->command->takes & (V_GID | V_PORT)) {
		wrong = tool_port_check(o, line->command->name, kind,
					line->num_args > 1 ? line->args[1] : NULL);
		if (wrong)
			cli_usage_error(state, "%s", wrong);
	}
	if (line->command->takes & V_CHAOS && !o->plan)
		cli_usage_error(state, "chaos needs --plan FILE");
	if (line->command->takes & V_CAPTURE) {
		wrong = tool_capture_check(o, kind);
		if (wrong)
			cli_usage_error(state, "%s", wrong);
	}
	if (!(line->command->takes & V_FAULT))
		return;
	o->list_faults = !kind && !o->fault_words && !o->role;
	prepend_kind(o, kind ? kind : "command");
	if (kind)
		wrong = tool_fault_kind(o, kind);
	if (wrong)
		cli_usage_error(state, "%s: '%s'", wrong, kind);
	wrong = tool_fault_check(o);
	if (wrong)
		cli_usage_error(state, "%s", wrong);
}

static const struct cli_program program = {
	.name = "dpumap-emu",
	.version = DPUMAP_VERSION,
	.about =
		"Run unmodified programs that use libibverbs and libmlx5 on an emulated BlueField.",
	.more = "\n\nExit codes: that of the command of run, 0 success, 1 no emulator is running "
		"or "
		"it refused the request, 2 usage error, 125 cannot use or start an emulator.",
	CLI_COMMANDS(verbs),
	CLI_OPTIONS(specs),
	.take = take,
	.check = check,
};

/* After the command line was parsed. */
static int complain(const char *what, const char *about)
{
	fprintf(stderr, "dpumap-emu: %s: '%s'\n", what, about);
	return EXIT_USAGE;
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

	for (unsigned int i = 0; i < o->topology.nnodes && value && !wrong; i++)
		wrong = emu_node_set(&o->topology.node[i], name, value);
	return wrong ? complain(wrong, word) : 0;
}

static int set_caps(struct options *o)
{
	int err = 0;

	for (unsigned int i = 0; i < o->ncaps && !err; i++) {
		char *name = strdup(o->cap[i]);

		if (!name)
			return EXIT_EMU;
		name[strcspn(name, "=")] = '\0';
		err = set_all(o, name, o->cap[i] + strlen(name) + 1, o->cap[i]);
		free(name);
	}
	return err;
}

/* After those of the file. */
static int add_gids(struct options *o)
{
	struct emu_port_request r;
	const char *wrong;

	for (unsigned int i = 0; i < o->ngids; i++) {
		wrong = emu_topology_add_gid(&o->topology, o->gid[i]);
		if (wrong)
			return complain(wrong, o->gid[i]);
	}
	for (unsigned int i = 0; i < o->topology.ngids; i++) {
		wrong = tool_port_parse_gid(o->topology.gid[i], &r);
		if (wrong)
			return complain(wrong, o->topology.gid[i]);
	}
	return 0;
}

/* After those of the file. */
static int add_wires(struct options *o)
{
	const char *wrong, *env = getenv(EMU_ENV_WIRE);
	struct emu_port_request r;

	if (!o->nwires && !o->topology.nwires && env && *env)
		o->wire[o->nwires++] = env;
	for (unsigned int i = 0; i < o->nwires; i++) {
		wrong = emu_topology_add_wire(&o->topology, o->wire[i]);
		if (wrong)
			return complain(wrong, o->wire[i]);
	}
	for (unsigned int i = 0; i < o->topology.nwires; i++) {
		wrong = tool_port_parse_wire(o->topology.wire[i], &r);
		if (wrong)
			return complain(wrong, o->topology.wire[i]);
	}
	return 0;
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
	if (wrong)
		return complain(wrong, o->nodes ? o->nodes : "--cards");
	err = add_gids(o);
	return err ? err : add_wires(o);
}

/* --- where ------------------------------------------------------------------------------------ */

static void default_dir(struct options *o)
{
	const char *env = getenv(EMU_ENV_DIR), *base = getenv("XDG_RUNTIME_DIR");

	/* A container with a read-only root may have no other place. */
	if (!base || !*base)
		base = access("/tmp", W_OK) ? "/dev/shm" : "/tmp";
	o->dir_is_default = !env || !*env;
	if (o->dir_is_default)
		snprintf(o->dir, sizeof(o->dir), "%s/dpumap-emu-%u", base, (unsigned int)getuid());
	else
		snprintf(o->dir, sizeof(o->dir), "%s", env);
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

int main(int argc, char **argv)
{
	struct options o = {
		.ready_fd = -1,
		.hold_fd = -1,
		.speed = 1,
		.interval_ms = CLI_LIVE_INTERVAL_DEFAULT_MS,
	};
	const struct verb *verb;
	struct cli_line line;
	int err;

	if (cli_open_standard_files())
		return EXIT_EMU; /* and nowhere to say it */
	reset_fault(&o);
	default_dir(&o);
	tool_port_default(&o.port);
	emu_topology_default(&o.topology);
	cli_parse(&program, argc, argv, &o, &line);
	verb = (const struct verb *)line.command;
	err = verb->cli.takes & V_STARTS ? build_topology(&o) : 0;
	if (err)
		return err;
	return make_absolute(&o) ? EXIT_EMU : verb->act(&o);
}
