/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/commands/commands.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/array.h"
#include "channel/address.h"
#include "doctor/doctor.h"
#include "dpu/base/log.h"
#include "dpu/base/privileges.h"
#include "dpu/commands/ctl.h"
#include "dpu/settings/options.h"
#include "dpu/settings/settings.h"
#include "local/trusted.h"

static volatile int stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* The first address of the configuration that can be connected to from here. */
static const char *choose_address(const struct settings *settings, char *room, size_t size)
{
	struct dpumap_address address;
	struct dpumap_error ignored = {0};

	if (!settings->num_listen) {
		dpumap_address_find_default(room, size);
		return room;
	}
	if (dpumap_address_parse(settings->listen[0], &address, &ignored) == DOCA_SUCCESS &&
	    address.kind == DPUMAP_ADDRESS_TLS && strcmp(address.host, "*") == 0) {
		snprintf(room, size, "tls:localhost:%s", address.port);
		return room;
	}
	return settings->listen[0];
}

/* NULL with no reply: no dpumapd that could be asked runs, or it serves all exports. */
static const char *find_failed(const struct options *options, const struct settings *settings,
			       struct json_object **reply)
{
	struct dpumap_error ignored = {0};
	struct json_object *list = NULL;
	struct options ctl = {.given = {.admin = settings->admin}};

	*reply = NULL;
	if (!settings->admin || ctl_ask(&ctl, "list", (unsigned int)options->timeout_s, reply,
					&ignored) != DOCA_SUCCESS)
		return NULL;
	list = json_object_object_get(*reply, "failed");
	if (!list || !json_object_array_length(list))
		return NULL;
	return json_object_get_string(
		json_object_object_get(json_object_array_get_idx(list, 0), "reason"));
}

/* In a process of its own, as the user that dpumapd runs as. */
static void open_files(const struct settings *settings, const char *file,
		       struct dpumap_error *error)
{
	const struct {
		const char *path;
		bool is_secret;
	} files[] = {{file, false},	    {settings->cert, false}, {settings->key, true},
		     {settings->ca, false}, {settings->crl, false},  {settings->psk, true}};
	const char *user = settings->user ? settings->user : PRIVILEGES_SERVICE_USER;
	struct dpumap_error why = {0};
	int fd;

	if (settings->user ? privileges_become(user, settings->group, error)
			   : privileges_become_service(error))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!files[i].path)
			continue;
		if (dpumap_trusted_open(files[i].path, files[i].is_secret, &fd, &why)) {
			dpumap_error_set(error, why.code, "%.240s (dpumapd runs as user %s)",
					 why.text, user);
			return;
		}
		close(fd);
	}
}

/* Root can read what dpumapd cannot. */
static void check_readable(const struct settings *settings, const char *file,
			   struct dpumap_error *error)
{
	struct dpumap_error found = {0};
	int fds[2], status;
	pid_t child;

	if (geteuid() != 0 || (!settings->user && !privileges_has_service_user()) ||
	    pipe2(fds, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0) {
		open_files(settings, file, &found);
		_exit(write(fds[1], &found, sizeof(found)) != sizeof(found));
	}
	close(fds[1]);
	if (read(fds[0], &found, sizeof(found)) == sizeof(found))
		*error = found;
	close(fds[0]);
	if (child > 0)
		waitpid(child, &status, 0);
}

static doca_error_t run_checks(const struct options *options, struct dpumap_error *error)
{
	char room[DPUMAP_HOST_MAX + DPUMAP_PORT_MAX];
	const char *file = options->file;
	struct dpumap_error wrong = {0};
	struct json_object *reply;
	struct settings settings;
	doca_error_t result;

	if (!file && access(DOCTOR_FILE_DEFAULT, F_OK) == 0)
		file = DOCTOR_FILE_DEFAULT;
	settings_init(&settings);
	if (file && settings_load(&settings, file, NULL, &wrong) == DOCA_SUCCESS &&
	    settings_check(&settings, &wrong) == DOCA_SUCCESS)
		check_readable(&settings, file, &wrong);
	privileges_trust_service(settings.user);
	result = dpumap_doctor_run(
		&(struct dpumap_doctor_options){
			.side = DPUMAP_DOCTOR_DPU,
			.version = DPUMAP_VERSION,
			.device = options->given.device ? options->given.device : settings.device,
			.connect = options->connect ? options->connect
						    : choose_address(&settings, room, sizeof(room)),
			.connect_is_default = !options->connect,
			.tls = {.cert = settings.cert,
				.key = settings.key,
				.ca = settings.ca,
				.crl = settings.crl,
				.psk = settings.psk},
			.tls_is_server = settings_has_tls(&settings),
			.registry_tls = {.cert = settings.registry.cert,
					 .key = settings.registry.key,
					 .ca = settings.registry.ca},
			.config = file,
			.config_fault = &wrong,
			.failed_export = find_failed(options, &settings, &reply),
			.timeout_s = (unsigned int)options->timeout_s,
			.stop = &stop_signal,
			.json = options->json,
			.all = options->verbose,
		},
		stdout, error);
	json_object_put(reply);
	settings_free(&settings);
	return result;
}

int doctor_main(const struct options *options)
{
	struct dpumap_error error = {0};
	doca_error_t result;

	setenv("DPUMAP_LOG_LEVEL", options->verbose ? "info" : "off", options->verbose);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	result = run_checks(options, &error);
	if (result == DOCA_SUCCESS && fflush(stdout) != 0)
		result = dpumap_error_set(&error, DOCA_ERROR_IO_FAILED,
					  "cannot write to standard output");
	if (result != DOCA_SUCCESS)
		log_error("%s", error.text);
	return (int)dpumap_error_exit(result);
}
