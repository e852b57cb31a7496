/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_HOST_OPTIONS_H
#define DPUMAP_HOST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/fault.h"

#define OPTIONS_ARGS_MAX 3

struct options;

typedef doca_error_t command_fn(const struct options *options, struct dpumap_fault *fault);

/* What a command takes; the options that it does not name are refused. */
enum option_bit {
	OPTION_OFFSET = 1 << 0,
	OPTION_LENGTH = 1 << 1,
	OPTION_DESCRIPTOR = 1 << 2, /* instead of its arguments */
	OPTION_NO_ARGS = 1 << 3,    /* or nothing instead of them */
	OPTION_JSON = 1 << 4,
	OPTION_SHOW_SECRET = 1 << 5,
};

struct command {
	const char *name;
	const char *args;
	unsigned int num_args;
	unsigned int takes;
	command_fn *run;
};

struct options {
	const struct command *command;
	const char *args[OPTIONS_ARGS_MAX];
	unsigned int num_args;
	unsigned int given; /* enum option_bit */
	char connect[128];
	const char *device; /* NULL: the first that can import */
	const char *descriptor;
	uint64_t offset;
	uint64_t length;
	unsigned int timeout_s;
	bool verbose;
};

/* commands ends with an entry without a name. Ends the process if the arguments are wrong. */
void options_parse(int argc, char **argv, const struct command *commands, struct options *options);

#endif
