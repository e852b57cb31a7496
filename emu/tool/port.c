/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu gid' and `dpumap-emu port': parse the words and send requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/gid.h"
#include "emu/ipc/tables.h"
#include "emu/tool/tool.h"

#define ANY_VLAN      0xfffeu
#define MAX_VLAN      4094
#define LIST	      0u /* an action of this tool only */
#define WIRE_LOOPBACK "loopback"
#define WIRE_ROLE     "dpu" /* without the name of a function */

/* --- values ----------------------------------------------------------------------------------- */

static bool parse_number(const char *text, unsigned long max, uint32_t *v)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 0);
	*v = (uint32_t)n;
	return !errno && !*end && n <= max;
}

const char *tool_port_index(struct emu_port_request *r, const char *arg)
{
	uint32_t v;

	if (!parse_number(arg, EMU_MAX_GIDS - 1, &v))
		return "not an index of 0 to 255";
	r->index = (int32_t)v;
	return NULL;
}

const char *tool_port_type(struct emu_port_request *r, const char *arg)
{
	if (strcmp(arg, "v1") != 0 && strcmp(arg, "v2") != 0)
		return "neither `v1' nor `v2'";
	r->type = (uint32_t)(arg[1] - '0');
	return NULL;
}

const char *tool_port_vlan(struct emu_port_request *r, const char *arg)
{
	return parse_number(arg, MAX_VLAN, &r->vlan) ? NULL : "not a VLAN of 0 to 4094";
}

const char *tool_port_device(struct emu_port_request *r, const char *arg)
{
	return !strncmp(arg, "mlx5_", 5) && parse_number(arg + 5, EMU_MAX_CARDS - 1, &r->dev)
		       ? NULL
		       : "not the name of a device, such as mlx5_0";
}

static const char *parse_address(struct emu_port_request *r, const char *arg)
{
	return emu_gid_parse(arg, r->raw) ? NULL : "not an IP address";
}

/* Why no port can have this address on a network; NULL: it can. */
static const char *check_unicast(const uint8_t raw[16])
{
	static const uint8_t zero[16];
	bool ipv4 = emu_gid_is_ipv4(raw);
	const uint8_t *bytes = ipv4 ? raw + EMU_GID_IPV4 : raw;

	if (!memcmp(bytes, zero, ipv4 ? 4 : sizeof(zero)))
		return "zero does not name a port";
	if (ipv4 ? bytes[0] >= 224 : bytes[0] == 0xff)
		return "the address of a group";
	return !ipv4 && raw[0] == 0xfe && (raw[1] & 0xc0) == 0x80
		       ? "a link-local address, which does not name its interface"
		       : NULL;
}

void tool_port_default(struct emu_port_request *r)
{
	*r = (struct emu_port_request){.index = -1, .dev = EMU_ANY_DEV, .vlan = ANY_VLAN};
	r->req.magic = EMU_MAGIC;
	r->req.op = EMU_OP_PORT;
}

static void set_role(struct emu_port_request *r, const char *role)
{
	snprintf(r->role, sizeof(r->role), "%s", strncmp(role, "node0.", 6) != 0 ? role : role + 6);
}

/* --- one line of text: "FUNCTION ADDRESS [NAME=VALUE]..." ------------------------------------- */

static const char *set_word(struct emu_port_request *r, char *word)
{
	static const struct {
		const char *name;
		const char *(*set)(struct emu_port_request *r, const char *arg);
	} names[] = {
		{"index", tool_port_index},
		{"type", tool_port_type},
		{"vlan", tool_port_vlan},
		{"device", tool_port_device},
	};
	char *value = strchr(word, '=');

	if (!value)
		return "not NAME=VALUE after the address";
	*value++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, word))
			return names[i].set(r, value);
	return "unknown name; use index, type, vlan or device";
}

const char *tool_port_parse_gid(const char *text, struct emu_port_request *r)
{
	char copy[EMU_GID_TEXT], *save = NULL, *role, *word;
	const char *wrong;

	tool_port_default(r);
	r->action = EMU_PORT_GID_ADD;
	r->vlan = EMU_NO_VLAN;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return "too long";
	role = strtok_r(copy, " \t", &save);
	word = strtok_r(NULL, " \t", &save);
	if (!role || !word)
		return "not `FUNCTION ADDRESS'";
	if (strlen(role) > sizeof(r->role) - 1)
		return "not the name of a function";
	set_role(r, role);
	if (!strcmp(word, "none"))
		r->action = EMU_PORT_GID_DEL;
	wrong = r->action == EMU_PORT_GID_ADD ? parse_address(r, word) : NULL;
	if (r->action == EMU_PORT_GID_DEL)
		r->vlan = ANY_VLAN;
	while (!wrong && (word = strtok_r(NULL, " \t", &save)))
		wrong = set_word(r, word);
	return wrong;
}

const char *tool_port_parse_wire(const char *text, struct emu_port_request *r)
{
	char copy[EMU_WIRE_TEXT], *save = NULL, *word, *address;
	const char *wrong;

	tool_port_default(r);
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return "too long";
	if (!strcmp(text, WIRE_LOOPBACK))
		return NULL;
	word = strtok_r(copy, " \t", &save);
	if (!word)
		return "not `[FUNCTION=]ADDRESS'";
	address = strchr(word, '=');
	if (address)
		*address++ = '\0';
	if (address && (!*word || strlen(word) > sizeof(r->role) - 1))
		return "not the name of a function";
	set_role(r, address ? word : WIRE_ROLE);
	wrong = parse_address(r, address ? address : word);
	if (!wrong)
		wrong = check_unicast(r->raw);
	while (!wrong && (word = strtok_r(NULL, " \t", &save)))
		wrong = strncmp(word, "device=", 7) != 0 ? "not device=NAME after the address"
							 : tool_port_device(r, word + 7);
	return wrong;
}

/* --- words of the commands -------------------------------------------------------------------- */

static const struct action {
	const char *group, *name;
	uint32_t action;
	unsigned int args; /* after the name */
	unsigned int words;
} actions[] = {
	{"gid", "list", LIST, 0, W_DEVICE | W_JSON},
	{"gid", "add", EMU_PORT_GID_ADD, 1, W_INDEX | W_TYPE | W_VLAN | W_DEVICE},
	{"gid", "del", EMU_PORT_GID_DEL, 1, W_INDEX | W_TYPE | W_VLAN | W_DEVICE},
	{"port", "down", EMU_PORT_DOWN, 0, W_DEVICE},
	{"port", "up", EMU_PORT_UP, 0, W_DEVICE},
	{"port", "lid", EMU_PORT_LID, 1, W_DEVICE},
	{"port", "sm", EMU_PORT_SM, 1, W_DEVICE},
	{"port", "pkey", EMU_PORT_PKEY, 1, W_INDEX | W_DEVICE},
	{"port", "reregister", EMU_PORT_REREGISTER, 0, W_DEVICE},
	{"port", "speed", EMU_PORT_SPEED, 1, W_DEVICE},
};

static const struct action *find_action(const char *group, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strcmp(actions[i].group, group) && !strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

/* `gid del' needs an address or an index. */
static const char *check_args(struct options *o, const struct action *a, const char *arg)
{
	struct emu_port_request *r = &o->port;

	if (a->action == EMU_PORT_GID_DEL && !arg)
		return r->index >= 0 ? NULL : "gid del needs an address or --index";
	if (!arg != !a->args)
		return arg ? "too many arguments" : "an argument is missing";
	if (!arg)
		return NULL;
	if (a->action == EMU_PORT_GID_ADD || a->action == EMU_PORT_GID_DEL)
		return parse_address(r, arg);
	return parse_number(arg, UINT16_MAX, &r->value) ? NULL : "not a number of 0 to 65535";
}

const char *tool_port_check(struct options *o, const char *group, const char *name, const char *arg)
{
	const struct action *a = find_action(group, name);

	if (!a)
		return !strcmp(group, "gid")
			       ? "unknown action; use list, add or del"
			       : "unknown action; use down, up, lid, sm, pkey, reregister or speed";
	if (o->port_words & ~a->words)
		return "this action does not support one of the options";
	if ((a->action == EMU_PORT_GID_ADD || a->action == EMU_PORT_GID_DEL) && !o->role)
		return "--as FUNCTION is missing";
	o->port.action = a->action;
	if (a->action == EMU_PORT_GID_ADD && !(o->port_words & W_VLAN))
		o->port.vlan = EMU_NO_VLAN;
	if (o->role)
		set_role(&o->port, o->role);
	return check_args(o, a, arg);
}

/* --- requests --------------------------------------------------------------------------------- */

static const char *why_invalid(uint32_t action)
{
	switch (action) {
	case EMU_PORT_GID_ADD:
		return "a GID of all zeros or of a group, or an index beyond the table";
	case EMU_PORT_SPEED:
		return "no lane has this speed; see port-speed of `dpumap-emu caps'";
	default:
		return "the LID is above 0xbfff, or the index is beyond the table";
	}
}

static const char *reason(uint32_t action, int err)
{
	switch (err) {
	case -ENODEV:
		return "no function has that name and device";
	case -EEXIST:
		return "the port has this GID with this version and VLAN";
	case -EBUSY:
		return "the index is in use, or an object still refers to the entry that had it";
	case -EADDRINUSE:
		return "another port has this GID in this VLAN";
	case -ENOSPC:
		return "the GID table is full; see max-gid of `dpumap-emu caps'";
	case -ENOENT:
		return "the port has no such GID";
	case -EINVAL:
		return why_invalid(action);
	default:
		return tool_error(err);
	}
}

static int send_request(struct options *o)
{
	struct emu_reply rep = {0};
	int fd, err;

	fd = tool_connect_running(o);
	if (fd < 0)
		return 1;
	err = tool_exchange(fd, &o->port, sizeof(o->port), &rep);
	close(fd);
	if (!err)
		return 0;
	if (err == -ENODEV && o->role && !tool_has_function(o->dir, o->role))
		return 1;
	fprintf(stderr, "dpumap-emu: the emulator in %s refused the change: %s\n", o->dir,
		reason(o->port.action, err));
	return 1;
}

int tool_gid(struct options *o)
{
	return o->port.action == LIST ? tool_list_gids(o) : send_request(o);
}

int tool_port(struct options *o)
{
	return send_request(o);
}
