/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What works here, what does not, and what to do about it: one table of checks for both agents.
 * Each check has an id that stays what it is (dpumap(1) lists them). Checks run in processes of
 * their own with a time limit, so that what crashes or hangs is a finding like any other.
 */
#ifndef DPUMAP_DOCTOR_DOCTOR_H
#define DPUMAP_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "channel/tls.h"
#include "common/fault.h"

#define DPUMAP_DOCTOR_TIMEOUT_S 10

enum dpumap_doctor_side {
	DPUMAP_DOCTOR_HOST, /* imports */
	DPUMAP_DOCTOR_DPU,  /* exports */
};

/* Texts are borrowed; what is not given is NULL. */
struct dpumap_doctor_options {
	enum dpumap_doctor_side side;
	const char *version;
	const char *device;
	/* Where dpumapd is. */
	const char *connect;
	bool connect_is_default; /* nobody said it: that nobody is there may be meant */
	struct dpumap_tls_config tls;
	bool tls_is_server; /* the files are dpumapd's own: they are looked at, not used */
	const char *server;
	/* The configuration that was read, and what is wrong with it. */
	const char *config;
	const struct dpumap_fault *config_fault;
	unsigned int timeout_s; /* of one check; 0: the default */
	const volatile int *stop;
	bool json;
	bool all; /* prints also what follows from other findings */
};

/*
 * Runs all checks and prints the findings to out. SUCCESS if none failed, else an error that leads
 * to the exit status of the first that did; SHUTDOWN when it is told to stop.
 */
doca_error_t dpumap_doctor_run(const struct dpumap_doctor_options *options, FILE *out,
			       struct dpumap_fault *fault);

#endif
