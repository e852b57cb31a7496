/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/commands/ctl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>

#include "channel/address.h"
#include "cli/json.h"
#include "cli/table.h"
#include "common/export_text.h"
#include "dpu/settings/options.h"
#include "dpu/spec/export_spec.h"
#include "local/passed_fd.h"

/* --- requests --------------------------------------------------------------------------------- */

/* limit_s is for each step; 0: none. */
static doca_error_t connect_to(const char *path, unsigned int limit_s, int *fd,
			       struct dpumap_error *error)
{
	const struct timeval limit = {.tv_sec = limit_s};
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(path, &address, error);
	int f;

	if (result != DOCA_SUCCESS)
		return result;
	if (address.kind != DPUMAP_ADDRESS_UNIX)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"--admin must be the path of a Unix socket, not %s", path);
	f = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f < 0)
		return dpumap_error_errno(error, errno, "cannot open a socket");
	setsockopt(f, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(f, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(f, (const struct sockaddr *)&address.path, sizeof(address.path)) != 0) {
		dpumap_error_errno(error, errno,
				   "cannot connect to the admin socket %s of dpumapd (see --admin)",
				   path);
		close(f);
		return error->code;
	}
	*fd = f;
	return DOCA_SUCCESS;
}

/* As dpumapd calls the command, without "ctl ". */
static const char *command_of(const struct options *o)
{
	return o->command->cli.name + strlen("ctl ");
}

/* The file descriptor to pass along; -1: none. */
static int descriptor_of(const struct options *o)
{
	struct dpumap_error ignored;
	struct export_spec spec;
	int fd;

	if (strcmp(command_of(o), "add") != 0 ||
	    export_spec_parse(o->argument, &spec, &ignored) != DOCA_SUCCESS)
		return -1;
	fd = spec.fd;
	spec.fd = -1; /* not owned: must not be closed */
	export_spec_free(&spec);
	return fd;
}

static doca_error_t send_line(int fd, const char *line, int fd_to_pass, struct dpumap_error *error)
{
	const size_t len = strlen(line);

	if (dpumap_send_fd(fd, line, len, MSG_NOSIGNAL, fd_to_pass) != (ssize_t)len)
		return dpumap_error_errno(error, errno, "cannot send the command to dpumapd");
	return DOCA_SUCCESS;
}

static doca_error_t read_reply(int fd, struct json_object **reply, struct dpumap_error *error)
{
	errno = 0;
	*reply = json_object_from_fd(fd);
	if (!*reply && (errno == EAGAIN || errno == EWOULDBLOCK))
		return dpumap_error_set(error, DOCA_ERROR_TIME_OUT,
					"dpumapd did not answer in time: is it stopped?");
	if (!*reply || !json_object_is_type(*reply, json_type_object))
		return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
					"dpumapd closed the connection without a reply: run as "
					"root or as the user of dpumapd");
	return DOCA_SUCCESS;
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *text_of(struct json_object *from, const char *key)
{
	return json_object_get_string(json_object_object_get(from, key));
}

static doca_error_t code_of(struct json_object *reply)
{
	const char *name = text_of(reply, "status");

	for (int code = DOCA_SUCCESS; name && code <= DOCA_ERROR_SKIPPED; code++)
		if (strcmp(name, doca_error_get_name((doca_error_t)code)) == 0)
			return (doca_error_t)code;
	return DOCA_ERROR_UNKNOWN;
}

static void print_list(struct json_object *list, const struct cli_column *columns)
{
	cli_table_head(stdout, columns);
	for (size_t i = 0; i < json_object_array_length(list); i++)
		cli_table_row(stdout, columns, json_object_array_get_idx(list, i));
}

static void print_registering(struct json_object *exports)
{
	for (size_t i = 0; i < json_object_array_length(exports); i++) {
		struct json_object *one = json_object_array_get_idx(exports, i);

		if (strcmp(text_of(one, "state"), "registering") == 0)
			printf("registering: %s\n", text_of(one, "name"));
	}
}

static void print_failed(struct json_object *reply)
{
	struct json_object *list = json_object_object_get(reply, "failed");

	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		printf("failed: %s\n", text_of(json_object_array_get_idx(list, i), "reason"));
}

static void print_reply(struct json_object *reply)
{
	static const struct cli_column of_export[] = {{"NAME", "name", -24, NULL},
						      DPUMAP_EXPORT_COLUMNS,
						      {"IMPORTS", "imports", 8, NULL},
						      {"OUTSTANDING", "outstanding", 12, NULL},
						      {" ALLOW", "allow", 0, cli_table_list},
						      {0}};
	static const struct cli_column of_session[] = {{"WHO", "who", -24, NULL},
						       {"FROM", "from", -24, NULL},
						       {"SECONDS", "seconds", 8, NULL},
						       {"IMPORTS", "imports", 8, NULL},
						       {"CONNECTIONS", "connections", 12, NULL},
						       {" WATCHES", "watches", 0, NULL},
						       {0}};
	struct json_object *list;

	if (json_object_object_get_ex(reply, "exports", &list) &&
	    json_object_is_type(list, json_type_array)) {
		print_list(list, of_export);
		print_registering(list);
		print_failed(reply);
	} else if (json_object_object_get_ex(reply, "sessions", &list)) {
		print_list(list, of_session);
	} else {
		json_object_object_foreach(reply, key, value)
		{
			if (strcmp(key, "status") != 0)
				printf("%-20s %s\n", key, json_object_get_string(value));
		}
	}
}

static doca_error_t check_reply(struct json_object *reply, struct dpumap_error *error)
{
	doca_error_t result = code_of(reply);

	if (result != DOCA_SUCCESS)
		return dpumap_error_set(error, result, "%s", text_of(reply, "error"));
	return DOCA_SUCCESS;
}

/* The name of the published schema (docs/schema). The answer to a change is its status alone. */
static void add_schema(struct json_object *reply, const char *command)
{
	char schema[64];

	if (json_object_object_length(reply) == 1)
		command = "change";
	snprintf(schema, sizeof(schema), "dpumapd-ctl-%s-1", command);
	json_object_object_add(reply, "schema", json_object_new_string(schema));
}

static void print_result(const struct options *o, struct json_object *reply)
{
	if (!o->json) {
		print_reply(reply);
		return;
	}
	add_schema(reply, command_of(o));
	cli_json_print(stdout, reply);
}

static doca_error_t ask(const struct options *o, char *line, int fd_to_pass, unsigned int limit_s,
			struct json_object **reply, struct dpumap_error *error)
{
	const char *admin = o->given.admin ? o->given.admin : OPTIONS_ADMIN_DEFAULT;
	doca_error_t result;
	int fd = -1;

	*reply = NULL;
	result = connect_to(admin, limit_s, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = send_line(fd, line, fd_to_pass, error);
	if (result == DOCA_SUCCESS)
		result = read_reply(fd, reply, error);
	close(fd);
	return result;
}

doca_error_t ctl_ask(const struct options *o, const char *command, unsigned int limit_s,
		     struct json_object **reply, struct dpumap_error *error)
{
	doca_error_t result;
	char line[64];

	snprintf(line, sizeof(line), "%s\n", command);
	result = ask(o, line, -1, limit_s, reply, error);
	if (result == DOCA_SUCCESS)
		result = check_reply(*reply, error);
	return result;
}

/* is_logged: dpumapd itself has failed, and logged it. */
static doca_error_t run(const struct options *o, bool *is_logged, struct dpumap_error *error)
{
	struct json_object *reply = NULL;
	doca_error_t result;
	char line[8192];
	int len = snprintf(line, sizeof(line), "%s%s%s\n", command_of(o), o->argument ? " " : "",
			   o->argument ? o->argument : "");

	if (len < 0 || (size_t)len >= sizeof(line))
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"the command is longer than 8191 bytes");
	result = ask(o, line, descriptor_of(o), 0, &reply, error);
	*is_logged = result == DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = check_reply(reply, error);
	if (result == DOCA_SUCCESS)
		print_result(o, reply);
	json_object_put(reply);
	return result;
}

static int report(const struct options *options, bool is_logged_only,
		  const struct dpumap_error *error)
{
	int status = (int)dpumap_error_exit(error->code);

	if (error->code == DOCA_SUCCESS)
		return status;
	if (!is_logged_only)
		fprintf(stderr, "dpumapd ctl: %s\n", error->text);
	if (options->json)
		cli_json_error(stdout, doca_error_get_name(error->code), error->text, status);
	return status;
}

int ctl_report(const struct options *options, const struct dpumap_error *error)
{
	return report(options, false, error);
}

int ctl_main(const struct options *options)
{
	struct dpumap_error error = {0};
	bool is_logged = false;

	error.code = run(options, &is_logged, &error);
	return report(options, options->quiet && is_logged, &error);
}
