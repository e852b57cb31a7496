/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap: the host's tool. Looks at what dpumapd exports and copies to, from and through it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "config.h"
#include "desc.h"
#include "doca_dir.h"
#include "doctor.h"
#include "hold.h"
#include "interrupt.h"
#include "look.h"
#include "options.h"
#include "pki.h"
#include "transfer.h"
#include "watch.h"

/* libc looks for it: the hidden visibility of everything else would keep it from being found. */
__attribute__((visibility("default"))) const char *argp_program_version = "dpumap " DPUMAP_VERSION;

#define LOOKS	  (OPTION_CONNECTION | OPTION_DEVICE | OPTION_JSON | OPTION_VERBOSE)
#define COPIES	  (LOOKS | OPTION_OFFSET)
#define READS	  (COPIES | OPTION_LENGTH)
#define WRITES	  (COPIES | OPTION_LENGTH | OPTION_FILE_OFFSET)
#define AUTHORITY (OPTION_DIR | OPTION_JSON)
#define ISSUES	  (AUTHORITY | OPTION_NAMES | OPTION_DAYS | OPTION_KEY_TYPE)
#define BY_DMA	  " The device's DMA engine copies, and SHA-256 is compared at all ends."

static const struct command commands[] = {
	{"list", "", 0, 0, LOOKS, false, look_list,
	 "List what dpumapd exports. Only what we may import is told.", NULL},
	{"info", "[NAME]", 0, 1, LOOKS | OPTION_DESCRIPTOR, false, look_info,
	 "Show an export and its descriptor. Without NAME, the DPU's device and its memory that is "
	 "free. The key is not shown.",
	 NULL},
	{"get", "NAME [FILE]", 1, 2, LOOKS, false, look_get,
	 "Save a descriptor. The file, NAME.desc if not said, has mode 0600: it holds a key.",
	 NULL},
	{"import", "NAME", 1, 1, LOOKS | OPTION_DESCRIPTOR | OPTION_HOLD, false, hold_import,
	 "Import an export. To see that it can be done; with --hold, to have it until interrupted, "
	 "and to be told when it is revoked (exit code 4).",
	 NULL},
	{"read", "NAME [FILE]", 1, 2, READS | OPTION_SPARSE, false, transfer_read,
	 "Copy an export into a file. Without FILE, to standard output. A file appears under its "
	 "name only when it is complete and verified." BY_DMA,
	 transfer_check_read},
	{"write", "NAME [FILE]", 1, 2, WRITES, false, transfer_write,
	 "Copy a file into an export. Without FILE, standard input." BY_DMA, NULL},
	{"cp", "FILE :NAME\n:NAME FILE\nFILE NAME OUTFILE", 2, 3, WRITES | OPTION_SPARSE, false,
	 transfer_cp,
	 "Copy to, from or through an export. The last form sends a file through an export, in "
	 "windows of its size, and back into another file." BY_DMA,
	 transfer_check_cp},
	{"fill", "NAME [HEX]", 1, 2, READS, false, transfer_fill,
	 "Fill an export with bytes. HEX, 00 if not said, is repeated." BY_DMA,
	 transfer_check_fill},
	{"dump", "NAME", 1, 1, READS, false, transfer_dump,
	 "Print an export in hexadecimal. Repeated lines are one *.", NULL},
	{"watch", "[NAME]", 0, 1, LOOKS | OPTION_COUNT, false, watch_exports,
	 "Print what becomes of exports. Runs until it is interrupted, also over lost connections; "
	 "with --json, one object a line.",
	 NULL},
	{"bench", "NAME", 1, 1, COPIES | OPTION_SIZE | OPTION_COUNT | OPTION_WRITE, false,
	 bench_export,
	 "Measure latency and bandwidth of an export. Latency is of one copy at a time, bandwidth "
	 "of as many as the queue holds.",
	 bench_check},
	{"desc show", "FILE", 1, 1, OPTION_JSON | OPTION_SHOW_SECRET, false, desc_show,
	 "Print a saved descriptor. FILE - is standard input.", NULL},
	{"desc check", "FILE", 1, 1, OPTION_JSON, false, desc_check,
	 "Check a saved descriptor. Says what is wrong with it and at which byte.", NULL},
	{"pki init", "", 0, 0, AUTHORITY | OPTION_DAYS | OPTION_KEY_TYPE, false, pki_init,
	 "Make a certificate authority. It lasts 10 years, its empty revocation list one.",
	 pki_check_init},
	{"pki issue", "", 0, 0, ISSUES, false, pki_issue,
	 "Make a key and a certificate. They last a year, and lie in the authority's directory.",
	 pki_check_issue},
	{"pki revoke", "NAME", 1, 1, AUTHORITY, false, pki_revoke,
	 "Revoke a certificate. The revocation list is made anew: give it to all who have the old "
	 "one.",
	 NULL},
	{"pki renew", "", 0, 0, AUTHORITY, false, pki_renew,
	 "Make the revocation list anew. To be done before it expires.", NULL},
	{"pki list", "", 0, 0, AUTHORITY, false, pki_list,
	 "List the certificates. With their roles, ends and states.", NULL},
	{"doctor", "", 0, 0, LOOKS | OPTION_ANY_CONFIG, false, doctor_see,
	 "Say what works here, what does not, and what to do. Tries the device and the way to "
	 "dpumapd, harmlessly. The exit status is that of the first failure.",
	 NULL},
	{"doca-pkgconfig-dir", "", 0, 0, 0, false, doca_dir_print,
	 "Print where pkg-config finds DOCA's names. PKG_CONFIG_PATH=$(dpumap doca-pkgconfig-dir) "
	 "is "
	 "all that a project for DOCA needs.",
	 NULL},
	{"put", "FILE NAME", 2, 2, WRITES, true, transfer_put,
	 "Copy a file into an export. The old form of write.", NULL},
	{"get-descriptor", "NAME FILE", 2, 2, LOOKS, true, look_get,
	 "Save a descriptor. The old name of get.", NULL},
	{0},
};

/* The tool's own line says what happened; the library's log is for those who ask for more. */
static void set_library_log(const struct options *options)
{
	bool verbose = options->given & OPTION_VERBOSE;

	setenv("DPUMAP_LOG_LEVEL", verbose ? "info" : "off", verbose);
}

static doca_error_t run(struct options *options, struct dpumap_fault *fault)
{
	struct config config = {0};
	doca_error_t result = DOCA_SUCCESS;

	if (options->command->takes & OPTION_CONNECTION &&
	    !(options->command->takes & OPTION_ANY_CONFIG))
		result = config_load(options, &config, fault);
	if (result == DOCA_SUCCESS)
		result = options->command->run(options, fault);
	config_free(&config);
	return result;
}

int main(int argc, char **argv)
{
	struct dpumap_fault fault = {0};
	struct options options;
	doca_error_t result;

	options_parse(argc, argv, commands, &options);
	set_library_log(&options);
	interrupt_catch();
	result = run(&options, &fault);
	if (result == DOCA_SUCCESS && (fflush(stdout) != 0 || ferror(stdout)))
		result = dpumap_fault_set(&fault, DOCA_ERROR_IO_FAILED, "cannot write to stdout");
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "dpumap: %s\n", fault.text);
	if (result != DOCA_SUCCESS)
		interrupt_die();
	return (int)dpumap_fault_exit(result);
}
