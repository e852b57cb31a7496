/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap: the host's tool. Looks at what dpumapd exports and copies files to, from and through it.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "desc.h"
#include "doca_dir.h"
#include "interrupt.h"
#include "look.h"
#include "options.h"
#include "transfer.h"

/* libc looks for it: the hidden visibility of everything else would keep it from being found. */
__attribute__((visibility("default"))) const char *argp_program_version = "dpumap " DPUMAP_VERSION;

static const struct command commands[] = {
	{"list", "no arguments", 0, 0, look_list},
	{"info", "NAME or --descriptor=FILE or nothing", 1, OPTION_DESCRIPTOR | OPTION_NO_ARGS,
	 look_info},
	{"put", "FILE NAME", 2, OPTION_OFFSET, transfer_put},
	{"get", "NAME FILE", 2, OPTION_OFFSET | OPTION_LENGTH, transfer_get},
	{"cp", "FILE NAME OUTFILE", 3, OPTION_OFFSET, transfer_cp},
	{"get-descriptor", "NAME FILE", 2, 0, look_get_descriptor},
	{"desc", "show or check, and FILE", 2, OPTION_JSON | OPTION_SHOW_SECRET, desc_look},
	{"doca-pkgconfig-dir", "no arguments", 0, 0, doca_dir_print},
	{0},
};

/* The tool's own line says what happened; the library's log is for those who ask for more. */
static void set_library_log(const struct options *options)
{
	setenv("DPUMAP_LOG_LEVEL", options->verbose ? "info" : "off", options->verbose);
}

int main(int argc, char **argv)
{
	struct dpumap_fault fault = {0};
	struct options options;
	doca_error_t result;

	options_parse(argc, argv, commands, &options);
	set_library_log(&options);
	interrupt_catch();
	result = options.command->run(&options, &fault);
	if (result == DOCA_SUCCESS && (fflush(stdout) != 0 || ferror(stdout)))
		result = dpumap_fault_set(&fault, DOCA_ERROR_IO_FAILED, "cannot write to stdout");
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "dpumap: %s\n", fault.text);
	if (result != DOCA_SUCCESS)
		interrupt_die();
	return (int)dpumap_fault_exit(result);
}
