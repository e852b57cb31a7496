/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu status', and the commands that show parts of it: `gid list' and `fault'. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/table.h"
#include "emu/ipc/limits.h"
#include "emu/tool/lines.h"
#include "emu/tool/tool.h"

#define IPV4_PREFIX "::ffff:"

/* What follows the answer; NULL: nothing. */
static struct json_object *receive_status(int fd)
{
	char *text = tool_receive_text(fd);
	struct json_object *status = text ? json_tokener_parse(text) : NULL;

	free(text);
	if (json_object_is_type(status, json_type_object))
		return status;
	json_object_put(status);
	return NULL;
}

int tool_ask_status(int fd, struct json_object **status)
{
	struct emu_reply reply;
	int err = tool_ask(fd, EMU_OP_STATUS, 0, &reply);

	*status = err ? NULL : receive_status(fd);
	return err || *status ? err : -EPROTO;
}

/* For those who are waited for: says so. Prints errors. */
static struct json_object *get_status(const struct options *o)
{
	const struct emu_request request = {.magic = EMU_MAGIC, .op = EMU_OP_STATUS};
	int fd = tool_request(o, &request, sizeof(request));
	struct json_object *status;

	if (fd < 0)
		return NULL;
	status = receive_status(fd);
	close(fd);
	if (!status)
		tool_fail(o, -EPROTO, "cannot ask the emulator in", tool_error(-EPROTO));
	return status;
}

/* --- status ----------------------------------------------------------------------------------- */

static const struct tool_lines gids[] = {
	{"gids", "gid {name} {device} {index} {gid} {type+5} {netdev}[ vlan {vlan}]", NULL, false},
	{0}};
static const struct tool_lines counters[] = {
	{"counters", "counter {name} {device} {key} {value}", NULL, true}, {0}};
static const struct tool_lines dropped[] = {
	{"dropped", "endpoint_dropped {function} {device} {address} {value} {key}", NULL, false},
	{0}};

static const struct tool_lines lines[] = {
	{NULL,
	 "profile {functions/0/profile}\nguid {functions/0/guid}\nnodes {nodes}\ncards {cards}\n"
	 "functions {functions}\nclients {clients}\ncontexts {contexts}",
	 NULL, false},
	{"objects", "{key} {value}", NULL, false},
	{NULL,
	 "cm_ids {cm_ids}\ncm_connections {cm_connections}\ndm_bytes {dm_bytes}\n"
	 "channels {channels}\ncommands {commands}\ncommand_errors {command_errors}\n"
	 "copies {copies}\nbytes {bytes}\nerrors {errors}",
	 NULL, false},
	{"functions", NULL, gids, false},
	{"endpoints",
	 "endpoint {function} {device} {address} {netdev} sockets {sockets} engines {engines} "
	 "received {received} dropped {dropped}",
	 dropped, false},
	{"functions", NULL, counters, false},
	{"processes",
	 "process {pid} doorbells {doorbells}\n"
	 "process {pid} work copies {copies} bytes {bytes} errors {errors}",
	 NULL, false},
	{"faults", "fault {fault}[ (matched {matched}, failed {failed})]", NULL, false},
	{0}};

/* Adds sums that only the text shows. */
static void add_ids(struct json_object *status)
{
	struct json_object *machines = json_object_object_get(status, "connection_managers");
	size_t i, j, n, num_ids = 0, num_connections = 0;

	for (i = 0; i < json_object_array_length(machines); i++) {
		struct json_object *ids =
			json_object_object_get(json_object_array_get_idx(machines, i), "ids");

		n = json_object_array_length(ids);
		num_ids += n;
		for (j = 0; j < n; j++)
			num_connections += json_object_object_get_ex(
				json_object_array_get_idx(ids, j), "connection", NULL);
	}
	json_object_object_add(status, "cm_ids", json_object_new_uint64(num_ids));
	json_object_object_add(status, "cm_connections", json_object_new_uint64(num_connections));
}

int tool_status(struct options *o)
{
	struct json_object *status = get_status(o);

	if (!status)
		return 1;
	if (o->json) {
		cli_json_print(stdout, status);
	} else {
		add_ids(status);
		tool_lines_print(stdout, lines, status);
	}
	json_object_put(status);
	return fflush(stdout) ? 1 : 0;
}

/* --- faults ----------------------------------------------------------------------------------- */

int tool_list_faults(struct options *o)
{
	static const struct tool_lines faults[] = {
		{"faults", "{fault}[ (matched {matched}, failed {failed})]", NULL, false}, {0}};
	struct json_object *status = get_status(o);

	if (!status)
		return 1;
	if (!json_object_array_length(json_object_object_get(status, "faults")))
		puts("no fault is active");
	tool_lines_print(stdout, faults, status);
	json_object_put(status);
	return fflush(stdout) ? 1 : 0;
}

/* --- gid list --------------------------------------------------------------------------------- */

static const char *text_of(struct json_object *from, const char *key)
{
	return json_object_get_string(json_object_object_get(from, key));
}

static bool is_listed(const struct options *o, struct json_object *function)
{
	return (!*o->port.role || !strcmp(o->port.role, text_of(function, "name"))) &&
	       (o->port.dev == EMU_ANY_DEV ||
		strtoul(text_of(function, "device") + strlen("mlx5_"), NULL, 10) == o->port.dev);
}

static void copy(struct json_object *to, const char *key, struct json_object *from,
		 const char *from_key)
{
	json_object_object_add(to, key, json_object_get(json_object_object_get(from, from_key)));
}

/* An IPv4 address as such. */
static const char *address_of(const char *gid)
{
	return !strncmp(gid, IPV4_PREFIX, strlen(IPV4_PREFIX)) && strchr(gid, '.')
		       ? gid + strlen(IPV4_PREFIX)
		       : gid;
}

static struct json_object *describe_gid(struct json_object *function, struct json_object *gid)
{
	struct json_object *about = json_object_new_object();

	copy(about, "function", function, "name");
	copy(about, "device", function, "device");
	copy(about, "index", gid, "index");
	json_object_object_add(about, "type",
			       json_object_new_string(text_of(gid, "type") + strlen("RoCE ")));
	copy(about, "vlan", gid, "vlan");
	json_object_object_add(about, "gid",
			       json_object_new_string(address_of(text_of(gid, "gid"))));
	copy(about, "netdev", gid, "netdev");
	return about;
}

static void add_gids(struct json_object *list, struct json_object *function)
{
	struct json_object *of_port = json_object_object_get(function, "gids");

	for (size_t i = 0; i < json_object_array_length(of_port); i++)
		json_object_array_add(
			list, describe_gid(function, json_object_array_get_idx(of_port, i)));
}

static void write_vlan(FILE *out, struct json_object *gid)
{
	const char *vlan = text_of(gid, "vlan");

	fputs(vlan ? vlan : "-", out);
}

static void print_gids(struct json_object *list)
{
	static const struct cli_column columns[] = {
		{"FUNCTION", "function", -14, NULL}, {"DEVICE", "device", -7, NULL},
		{"INDEX", "index", 5, NULL},	     {"TYPE", "type", -4, NULL},
		{"VLAN", NULL, 4, write_vlan},	     {"GID", "gid", -39, NULL},
		{"NETDEV", "netdev", 0, NULL},	     {0}};
	size_t i, n = json_object_array_length(list);

	if (n)
		cli_table_head(stdout, columns);
	for (i = 0; i < n; i++)
		cli_table_row(stdout, columns, json_object_array_get_idx(list, i));
}

static int list_gids(struct options *o, int fd)
{
	struct json_object *status, *functions, *function, *list, *all;
	int err = tool_ask_status(fd, &status);

	if (err)
		return err;
	list = json_object_new_array();
	functions = json_object_object_get(status, "functions");
	for (size_t i = 0; i < json_object_array_length(functions); i++) {
		function = json_object_array_get_idx(functions, i);
		if (is_listed(o, function))
			add_gids(list, function);
	}
	all = json_object_new_object();
	json_object_object_add(all, "schema", json_object_new_string("dpumap-emu-gid-list-1"));
	json_object_object_add(all, "gids", list);
	if (o->json)
		cli_json_print(stdout, all);
	else
		print_gids(list);
	json_object_put(all);
	json_object_put(status);
	return 0;
}

int tool_list_gids(struct options *o)
{
	int fd = tool_connect_running(o), err;

	if (fd < 0)
		return 1;
	if (o->role && !tool_has_function(o->dir, o->role)) {
		close(fd);
		return 1;
	}
	err = list_gids(o, fd);
	close(fd);
	if (err)
		tool_fail(o, err, "cannot ask the emulator in", tool_error(err));
	return err || fflush(stdout) ? 1 : 0;
}
