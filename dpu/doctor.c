/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel/address.h"
#include "common/size.h"
#include "common/usage.h"
#include "doctor/doctor.h"
#include "log.h"
#include "privileges.h"
#include "settings.h"

#define FILE_DEFAULT  "/etc/dpumap/dpumapd.conf"
#define TIMEOUT_MAX_S 3600

enum { KEY_JSON = 0x100 };

struct arguments {
	const char *file; /* NULL: none is read */
	const char *device;
	const char *connect;
	uint64_t timeout_s;
	bool json;
	bool verbose;
};

static const char doc[] =
	"Report what works on this DPU, what does not work, and what to do about it. Test the "
	"device and a running dpumapd without side effects. dpumap(1) lists the checks.\v"
	"The exit code is that of the first failed check, or 0 if no check failed. The exit codes "
	"are those of dpumapd.";

static const struct argp_option option_table[] = {
	{"config", 'c', "FILE", 0, "Configuration to check (default " FILE_DEFAULT ")", 0},
	{"device", 'd', "DEVICE", 0,
	 "IB device name or PCI address (default: that of the configuration, or the first device "
	 "that can export)",
	 0},
	{"connect", 'C', "ADDRESS", 0,
	 "Address of dpumapd (default: the first address of the configuration)", 0},
	{"timeout", 't', "SECONDS", 0, "Time limit of each check (default 10)", 0},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 0},
	{"verbose", 'v', NULL, 0, "Show the log of the library, and skipped checks", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'c':
		a->file = arg;
		return 0;
	case 'd':
		a->device = arg;
		return 0;
	case 'C':
		a->connect = arg;
		return 0;
	case 't':
		if (!dpumap_number_parse(arg, TIMEOUT_MAX_S, &a->timeout_s) || !a->timeout_s)
			dpumap_usage_error(state, "--timeout must be 1 to %d seconds, not \"%s\"",
					   TIMEOUT_MAX_S, arg);
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		dpumap_usage_error(state, "unexpected argument \"%s\"", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static volatile int stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* The first address of the configuration that can be connected to from here. */
static const char *choose_address(const struct settings *settings, char *room, size_t size)
{
	struct dpumap_address address;
	struct dpumap_fault ignored = {0};

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

static doca_error_t run_checks(const struct arguments *arguments, struct dpumap_fault *fault)
{
	char room[DPUMAP_HOST_MAX + DPUMAP_PORT_MAX];
	struct dpumap_fault wrong = {0};
	struct settings settings;
	doca_error_t result;

	settings_init(&settings);
	if (arguments->file && settings_load(&settings, arguments->file, &wrong) == DOCA_SUCCESS)
		settings_check(&settings, &wrong);
	privileges_trust_service(settings.user);
	result = dpumap_doctor_run(
		&(struct dpumap_doctor_options){
			.side = DPUMAP_DOCTOR_DPU,
			.version = DPUMAP_VERSION,
			.device = arguments->device ? arguments->device : settings.device,
			.connect = arguments->connect
					   ? arguments->connect
					   : choose_address(&settings, room, sizeof(room)),
			.connect_is_default = !arguments->connect,
			.tls = {.cert = settings.cert,
				.key = settings.key,
				.ca = settings.ca,
				.crl = settings.crl,
				.psk = settings.psk},
			.tls_is_server = settings_has_tls(&settings),
			.config = arguments->file,
			.config_fault = &wrong,
			.timeout_s = (unsigned int)arguments->timeout_s,
			.stop = &stop_signal,
			.json = arguments->json,
			.all = arguments->verbose,
		},
		stdout, fault);
	settings_free(&settings);
	return result;
}

int doctor_main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table, .parser = parse_option, .doc = doc};
	static char name[] = "dpumapd doctor";
	struct arguments arguments = {.file = access(FILE_DEFAULT, F_OK) == 0 ? FILE_DEFAULT
									      : NULL};
	struct dpumap_fault fault = {0};
	doca_error_t result;

	argv[0] = name;
	argp_err_exit_status = DPUMAP_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	setenv("DPUMAP_LOG_LEVEL", arguments.verbose ? "info" : "off", arguments.verbose);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	result = run_checks(&arguments, &fault);
	if (result == DOCA_SUCCESS && fflush(stdout) != 0)
		result = dpumap_fault_set(&fault, DOCA_ERROR_IO_FAILED,
					  "cannot write to standard output");
	if (result != DOCA_SUCCESS)
		log_line("%s", fault.text);
	return (int)dpumap_fault_exit(result);
}
