/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap: the host's tool. Lists the exports of dpumapd and copies to, from and through them. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "common/crypto_heap.h"
#include "host/base/interrupt.h"
#include "host/base/json.h"
#include "host/commands/commands.h"
#include "host/fleet/resolve.h"
#include "host/pki/pki.h"
#include "host/settings/config.h"
#include "host/settings/options.h"

#define INSPECTS  (OPTION_CONNECTION | OPTION_DEVICE | OPTION_JSON | OPTION_VERBOSE)
#define FINDS	  (INSPECTS | OPTION_FLEET)
#define SHOWS	  (FINDS | OPTION_CACHED)
#define COPIES	  (SHOWS | OPTION_OFFSET)
#define READS	  (COPIES | OPTION_LENGTH | OPTION_SHA256 | OPTION_NO_VERIFY)
#define WRITES	  (READS | OPTION_FILE_OFFSET)
#define AUTHORITY (OPTION_DIR | OPTION_JSON)
#define ISSUES	  (AUTHORITY | OPTION_NAMES | OPTION_DAYS | OPTION_KEY_TYPE)
#define VERIFIED  " Digests of host and DPU verify the copy, unless --no-verify is given."

static const struct command commands[] = {
	{{"list", "[PATTERN]", 0, 1, SHOWS | OPTION_PATTERN | OPTION_LABEL,
	  "List the exports of dpumapd, or of a fleet. PATTERN chooses by name, for example 'b*', "
	  "or "
	  "in a fleet 'dpu*:bulk'. Only those that this client may import are shown; of a fleet, "
	  "all, "
	  "and with all labels.",
	  NULL},
	 inspect_list,
	 NULL},
	{{"info", "[NAME]", 0, 1, SHOWS | OPTION_DPU | OPTION_DESCRIPTOR,
	  "Show an export and its descriptor. The access key is not shown. Without NAME, show the "
	  "device of the DPU and how much of its device memory dpumapd exports.",
	  NULL},
	 inspect_info,
	 NULL},
	{{"get", "NAME [FILE]", 1, 2, SHOWS,
	  "Save a descriptor. FILE (default NAME.desc) has mode 0600, because it contains the "
	  "access key.",
	  NULL},
	 inspect_get,
	 NULL},
	{{"import", "NAME", 0, 1, SHOWS | OPTION_DESCRIPTOR | OPTION_HOLD,
	  "Import an export. Check that it can be imported. With --hold, keep the import until "
	  "interrupted, or exit with 14 when the export is revoked.",
	  NULL},
	 import_command,
	 import_check},
	{{"read", "NAME [FILE]", 1, 2, READS | OPTION_SPARSE,
	  "Copy an export into a file. Without FILE, copy to standard output. The file appears "
	  "only "
	  "when "
	  "it is complete and verified." VERIFIED,
	  NULL},
	 transfer_read,
	 transfer_check_read},
	{{"write", "NAME [FILE]", 1, 2, WRITES,
	  "Copy a file into an export. Without FILE, copy standard input." VERIFIED, NULL},
	 transfer_write,
	 NULL},
	{{"cp", "FILE :NAME\n:NAME FILE\nFILE NAME OUTFILE", 2, 3, WRITES | OPTION_SPARSE,
	  "Copy to, from or through an export. The last form sends a file through an export, in "
	  "windows of its size, and back into another file." VERIFIED,
	  NULL},
	 transfer_cp,
	 transfer_check_cp},
	{{"fill", "NAME [HEX]", 1, 2, READS,
	  "Fill an export with bytes. HEX (default 00) is repeated." VERIFIED, NULL},
	 transfer_fill,
	 transfer_check_fill},
	{{"dump", "NAME", 1, 1, READS,
	  "Print an export in hexadecimal. Repeated lines are printed as one *.", NULL},
	 transfer_dump,
	 NULL},
	{{"watch", "[NAME]", 0, 1, FINDS | OPTION_PATTERN | OPTION_LABEL | OPTION_COUNT,
	  "Print changes of exports. Run until interrupted, and reconnect after lost connections. "
	  "In a fleet, NAME may be a pattern. With --json, print one object per line.",
	  NULL},
	 watch_exports,
	 NULL},
	{{"bench", "NAME", 1, 1, COPIES | OPTION_SIZE | OPTION_COUNT | OPTION_WRITE,
	  "Measure latency and bandwidth of an export. Latency is measured with one copy "
	  "at a time, bandwidth with a full queue.",
	  NULL},
	 bench_export,
	 bench_check},
	{{"fleet status", "[PATTERN]", 0, 1, FINDS | OPTION_PATTERN,
	  "Show the DPUs and the registry of a fleet. This includes the remaining time of the "
	  "leases and the members of etcd. The exit code is 13 if etcd cannot be "
	  "reached. PATTERN is for the names of DPUs.",
	  NULL},
	 fleet_status,
	 NULL},
	{{"desc show", "FILE", 1, 1, OPTION_JSON | OPTION_SHOW_SECRET,
	  "Print a saved descriptor. FILE - is standard input.", NULL},
	 desc_show,
	 NULL},
	{{"desc check", "FILE", 1, 1, OPTION_JSON,
	  "Check a saved descriptor. Report the first wrong byte.", NULL},
	 desc_check,
	 NULL},
	{{"pki init", "", 0, 0, AUTHORITY | OPTION_DAYS | OPTION_KEY_TYPE,
	  "Create a certificate authority (CA). The CA is valid for 10 years, and its empty "
	  "revocation list for 1 year.",
	  NULL},
	 pki_init,
	 pki_check_init},
	{{"pki issue", "", 0, 0, ISSUES,
	  "Create a key and a certificate. They are stored in the CA directory; the certificate is "
	  "valid for 1 year.",
	  NULL},
	 pki_issue,
	 pki_check_issue},
	{{"pki revoke", "NAME", 1, 1, AUTHORITY,
	  "Revoke a certificate. This also renews the revocation list; copy it to all peers.",
	  NULL},
	 pki_revoke,
	 NULL},
	{{"pki renew", "[NAME]", 0, 1, AUTHORITY | OPTION_DAYS | OPTION_KEY_TYPE | OPTION_NEW_KEY,
	  "Renew a certificate, or the revocation list. The certificate of NAME gets a new period "
	  "of "
	  "1 year; the old one stays valid. Without NAME, renew the list before it expires, and "
	  "copy "
	  "it to all peers.",
	  NULL},
	 pki_renew,
	 pki_check_renew},
	{{"pki list", "", 0, 0, AUTHORITY,
	  "List the certificates. Show the role, the expiry date and the state of each.", NULL},
	 pki_list,
	 NULL},
	{{"doctor", "", 0, 0, INSPECTS | OPTION_ANY_CONFIG,
	  "Check machine, device and connection. Report what works, what does not work, and what "
	  "to "
	  "do "
	  "about it. The checks have no side effects. The exit code is that of the first failed "
	  "check, or 0 if no check failed.",
	  NULL},
	 doctor_command,
	 NULL},
	{{"doca-pkgconfig-dir", "", 0, 0, 0,
	  "Print the directory of DOCA's pkg-config modules. To build a program for DOCA, use "
	  "PKG_CONFIG_PATH=$(dpumap doca-pkgconfig-dir).",
	  NULL},
	 doca_pkgconfig_dir_print,
	 NULL},
	{{0}, NULL, NULL},
};

/* dpumap prints one line about an error; --verbose adds the library's log. */
static void set_library_log(const struct options *options)
{
	bool verbose = options->given & OPTION_VERBOSE;

	setenv("DPUMAP_LOG_LEVEL", verbose ? "info" : "off", verbose);
}

static doca_error_t run(struct options *options, struct dpumap_error *error)
{
	struct config config = {0};
	struct resolved_export resolved = {0};
	doca_error_t result = DOCA_SUCCESS;

	if (options->command->cli.takes & OPTION_CONNECTION &&
	    !(options->command->cli.takes & OPTION_ANY_CONFIG))
		result = config_load(options, &config, error);
	if (result == DOCA_SUCCESS)
		result = resolve_export(options, &resolved, error);
	if (result == DOCA_SUCCESS)
		result = options->command->run(options, error);
	resolved_free(&resolved);
	config_free(&config);
	return result;
}

int main(int argc, char **argv)
{
	struct dpumap_error error = {0};
	struct options options;
	doca_error_t result;

	if (cli_open_standard_files() != 0)
		return DPUMAP_EXIT_FAILED; /* and nowhere to say it */
	dpumap_crypto_heap_protect();
	options_parse(argc, argv, commands, &options);
	json_set_command(options.command->cli.name);
	set_library_log(&options);
	interrupt_catch();
	result = run(&options, &error);
	if (result == DOCA_SUCCESS && (fflush(stdout) != 0 || ferror(stdout)))
		result = dpumap_error_set(&error, DOCA_ERROR_IO_FAILED,
					  "cannot write to standard output");
	if (result != DOCA_SUCCESS) {
		fprintf(stderr, "dpumap: %s\n", error.text);
		interrupt_die();
		if (options.given & OPTION_JSON)
			json_print_error(&error);
	}
	return (int)dpumap_error_exit(result);
}
