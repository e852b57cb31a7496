/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Checks of the machine, the device and the connection, with advice; for both agents. The ids of
 * checks do not change (dpumap(1) lists them). Checks run in child processes with a time limit, so
 * that a crash or hang is a finding too.
 */
#ifndef DPUMAP_DOCTOR_DOCTOR_H
#define DPUMAP_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "channel/tls.h"
#include "local/error.h"

#define DPUMAP_DOCTOR_TIMEOUT_S 10

enum dpumap_doctor_side {
	DPUMAP_DOCTOR_HOST, /* imports */
	DPUMAP_DOCTOR_DPU,  /* exports */
};

/* Strings are borrowed; absent ones are NULL. */
struct dpumap_doctor_options {
	enum dpumap_doctor_side side;
	const char *version;
	const char *device;
	/* The connection to dpumapd. */
	const char *connect;
	bool connect_is_default; /* dpumapd is optional: connect is the default address */
	struct dpumap_tls_config tls;
	bool tls_is_server;		       /* the files are those of dpumapd: check them only */
	struct dpumap_tls_config registry_tls; /* of the connections to etcd */
	const char *server;
	/* The configuration file, and the error in it. */
	const char *config;
	const struct dpumap_error *config_fault;
	const char *failed_export; /* why the running dpumapd lacks one of the configuration */
	unsigned int timeout_s;	   /* of one check; 0: the default */
	const volatile int *stop;
	bool json;
	bool all; /* prints skipped checks too */
};

/*
 * Runs all checks and prints the findings to out. SUCCESS if none failed, otherwise an error that
 * leads to the exit status of the first failure; SHUTDOWN when interrupted.
 */
doca_error_t dpumap_doctor_run(const struct dpumap_doctor_options *options, FILE *out,
			       struct dpumap_error *error);

#endif
