/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command line of a program: options, then a command with options and arguments. argp parses
 * it. Every program, command and group has --help and -h; "help COMMAND" is the same.
 */
#ifndef DPUMAP_CLI_CLI_H
#define DPUMAP_CLI_CLI_H

#include <stddef.h>
#include <stdio.h>

#define CLI_EXIT_USAGE	2
#define CLI_ARGS_MAX	3
#define CLI_OPTIONS_MAX 64
#define CLI_REST	(~0u) /* as max_args: the first argument ends the options */

struct argp_state;

struct cli_option {
	const char *name;
	int letter;	  /* 0: none */
	const char *arg;  /* NULL: the option has no value */
	const char *doc;  /* NULL: the help omits the option */
	unsigned int bit; /* a command accepts the option if it takes one of these bits */
};

struct cli_command {
	const char *name; /* "list", or of a group "pki init" */
	const char *args; /* as help and errors print them, one form a line */
	unsigned int min_args, max_args;
	unsigned int takes;	 /* bits of options */
	const char *doc;	 /* the first sentence is the summary; NULL: the help omits it */
	void (*more)(FILE *out); /* prints what follows the options in the help; or NULL */
};

/* What was parsed. */
struct cli_line {
	const struct cli_command *command; /* NULL: none */
	const char *args[CLI_ARGS_MAX];
	unsigned int num_args;
	char **rest; /* with CLI_REST: all arguments, ended by NULL */
};

struct cli_program {
	const char *name, *version;
	const char *about, *more; /* before and after the options and the commands in the help */
	/* Arrays of structs that begin with these structs; the last entry has no name. */
	const void *commands;
	size_t command_size;
	const void *options;
	size_t option_size;
	/* Options that may precede every command, and that only the help of the program explains.
	 */
	unsigned int everywhere;
	unsigned int alone; /* options of a call without a command; 0: a command is needed */
	void (*take)(const struct argp_state *state, void *input, const struct cli_option *option,
		     const char *arg);
	/* Checks options and arguments together; NULL: nothing to check. */
	void (*check)(const struct argp_state *state, void *input, const struct cli_line *line);
};

/* Initialise the tables of a cli_program. */
#define CLI_COMMANDS(table) .commands = (table), .command_size = sizeof((table)[0])
#define CLI_OPTIONS(table)  .options = (table), .option_size = sizeof((table)[0])

/* Exits after --help and --version, and with CLI_EXIT_USAGE on errors. */
void cli_parse(const struct cli_program *program, int argc, char **argv, void *input,
	       struct cli_line *line);

/* Prints two lines, the error and a hint, and exits with CLI_EXIT_USAGE. */
_Noreturn void cli_usage_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Opens /dev/null in place of each of the descriptors 0 to 2 that is closed, so that no other file gets its number, and
 * what the program prints. Writing to such a standard output still fails. To be called first. Returns 0 or an errno.
 */
int cli_open_standard_files(void);

#endif
