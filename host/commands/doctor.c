/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <stdio.h>

#include "doctor/doctor.h"
#include "host/base/interrupt.h"
#include "host/base/json.h"
#include "host/settings/config.h"

doca_error_t doctor_command(const struct options *given, struct dpumap_error *error)
{
	struct options options = *given;
	struct dpumap_error wrong = {0};
	struct config config = {0};
	doca_error_t result;

	/* An invalid configuration is a finding; the other checks run without it. */
	if (config_load(&options, &config, &wrong) != DOCA_SUCCESS)
		options.connect = given->connect;
	result = dpumap_doctor_run(
		&(struct dpumap_doctor_options){
			.side = DPUMAP_DOCTOR_HOST,
			.version = DPUMAP_VERSION,
			.device = options.device,
			.connect = options.connect,
			.connect_is_default = options.connect == config.default_connect,
			.tls = options.tls,
			.registry_tls = {.cert = config.file.registry.cert,
					 .key = config.file.registry.key,
					 .ca = config.file.registry.ca},
			.server = options.server,
			.config = config.file.path[0] ? config.file.path : NULL,
			.config_fault = &wrong,
			.timeout_s = (unsigned int)options.timeout_s,
			.stop = &interrupt_signal,
			.json = options.given & OPTION_JSON,
			.all = options.given & OPTION_VERBOSE,
		},
		stdout, error);
	/* A failed check is a part of the report. */
	json_set_printed();
	config_free(&config);
	return result;
}
