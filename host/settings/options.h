/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command line of dpumap: its commands, and their options. */
#ifndef DPUMAP_HOST_OPTIONS_H
#define DPUMAP_HOST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/tls.h"
#include "cli/cli.h"
#include "local/error.h"

#define OPTIONS_SANS_MAX   16
#define OPTIONS_LABELS_MAX 16

struct dpumap_host_registry;
struct options;
struct resolved_export;

typedef doca_error_t command_fn(const struct options *options, struct dpumap_error *error);
/* Returns the error in the command line, or NULL. */
typedef const char *command_check_fn(const struct options *options);

/* Options, or groups of options, that a command may accept. */
enum option_bit {
	OPTION_CONNECTION = 1 << 0, /* address of dpumapd, and TLS files */
	OPTION_DEVICE = 1 << 1,
	OPTION_JSON = 1 << 2,
	OPTION_OFFSET = 1 << 3,
	OPTION_LENGTH = 1 << 4,
	OPTION_FILE_OFFSET = 1 << 5,
	OPTION_SPARSE = 1 << 6,
	OPTION_DESCRIPTOR = 1 << 7, /* instead of the arguments */
	OPTION_SHOW_SECRET = 1 << 8,
	OPTION_HOLD = 1 << 9,
	OPTION_COUNT = 1 << 10,
	OPTION_SIZE = 1 << 11,
	OPTION_WRITE = 1 << 12,
	OPTION_DIR = 1 << 13,
	OPTION_NAMES = 1 << 14, /* of a certificate's owner */
	OPTION_DAYS = 1 << 15,
	OPTION_KEY_TYPE = 1 << 16,
	OPTION_VERBOSE = 1 << 17,
	OPTION_NO_VERIFY = 1 << 18,
	OPTION_ANY_CONFIG =
		1 << 19, /* not an option: the command runs even if the configuration is invalid */
	OPTION_FLEET = 1 << 20,
	OPTION_LABEL = 1 << 21,
	OPTION_PATTERN = 1 << 22, /* not an option: in a fleet, the argument is a pattern */
	OPTION_NEW_KEY = 1 << 24,
	OPTION_CACHED = 1 << 25,
	OPTION_SHA256 = 1 << 26,
	OPTION_DPU = 1 << 23, /* not an option: in a fleet, the argument may be a DPU */
};

struct command {
	struct cli_command cli;
	command_fn *run;
	command_check_fn *check; /* NULL: nothing to check */
};

/* Absent strings are NULL, absent numbers 0. Strings are borrowed from the command line or the
 * configuration. */
struct options {
	const struct command *command;
	const char *args[CLI_ARGS_MAX];
	unsigned int num_args;
	unsigned int given; /* enum option_bit; the bit of a group is set by any of its options */
	/* Completed by config_load() from the environment and the configuration. */
	const char *connect;
	bool connect_is_default; /* nobody has set it */
	struct dpumap_tls_config tls;
	const char *server; /* expected in dpumapd's certificate; NULL: the host connected to */
	const char *device; /* NULL: the first device that can import */
	uint64_t timeout_s;
	const char *config;
	const char *fleet; /* NULL: exports are those of the dpumapd at connect */
	const struct dpumap_host_registry *registry;
	const struct resolved_export
		*resolved; /* of the DPU that an argument names in a fleet; or NULL */

	const char *descriptor;
	uint64_t offset;
	uint64_t length;
	uint64_t file_offset;
	uint64_t count;
	uint64_t size;
	const char *dir;
	const char *dpu, *host;
	const char *sans[OPTIONS_SANS_MAX];
	size_t num_sans;
	const char *labels[OPTIONS_LABELS_MAX];
	size_t num_labels;
	uint64_t days;
	const char *key_type;
};

/* For an error that only the configuration shows: prints it as options_parse() does, and exits. */
_Noreturn void options_usage_error(const struct options *options, const char *text);

/* commands ends with an entry without a name. Exits on invalid arguments. */
void options_parse(int argc, char **argv, const struct command *commands, struct options *options);

#endif
