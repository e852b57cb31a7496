/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All copying commands: bytes may come from a source, are in the export, and may go to a sink. Source,
 * DPU and sink hash them, and the hashes are compared.
 */
#include "host/commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/base/json.h"
#include "host/copy/progress.h"
#include "host/copy/pump.h"
#include "host/copy/sink.h"
#include "host/copy/source.h"
#include "host/import/import.h"
#include "host/remote/remote.h"
#include "host/remote/report.h"
#include "host/settings/fleet_name.h"

struct transfer {
	const struct options *options;
	const char *export_name;
	const char *source_path; /* NULL: no file */
	const char *pattern;	 /* NULL: none */
	const char *target_path; /* NULL: no file */
	enum sink_form form;	 /* of standard output */
	bool has_source;	 /* otherwise the export's bytes are read */
	bool has_sink;		 /* otherwise the bytes stay in the export */
	bool same_window;	 /* the bytes go through the same bytes of the export */
	bool verify;
	uint64_t total; /* UINT64_MAX until an endless source has ended */
	struct source source;
	struct sink sink;
	struct dpumap_client *client;
	struct remote_export export;
	struct import import;
	enum dpumap_hash hash;
	uint64_t digest;
	struct progress progress;
	struct report report;
};

static doca_error_t move_all(struct transfer *t, struct dpumap_error *error)
{
	struct pump pump = {.import = &t->import,
			    .client = t->client,
			    .source = t->has_source ? &t->source : NULL,
			    .sink = t->has_sink ? &t->sink : NULL,
			    .offset = t->options->offset,
			    .room = t->export.info.size - t->options->offset,
			    .is_loop = t->same_window,
			    .verify = t->verify,
			    .digest = t->digest,
			    .total = t->total,
			    .progress = &t->progress};
	uint64_t began = monotonic_ns();
	doca_error_t result;

	progress_begin(&t->progress, t->total);
	result = pump_run(&pump, error);
	progress_end(&t->progress);
	t->total = pump.total;
	t->report.dma_bytes = pump.dma_bytes;
	t->report.total_ns = monotonic_ns() - began;
	t->report.dma_ns = t->import.queue.busy_ns;
	return result;
}

/* The pump compares the target with the source, if there is one: an equal target has the same digest. */
static doca_error_t gather_target(struct transfer *t, const struct dpumap_digest *source,
				  struct dpumap_error *error)
{
	t->report.differs = t->sink.differs;
	if (t->sink.differs)
		return DOCA_SUCCESS;
	if (!source)
		return sink_digest(&t->sink, report_digest(&t->report, t->sink.name), error);
	*report_digest(&t->report, t->sink.name) = *source;
	return DOCA_SUCCESS;
}

static doca_error_t gather_digests(struct transfer *t, struct dpumap_error *error)
{
	struct dpumap_digest *seen, *source = NULL;
	doca_error_t result;

	if (!t->verify)
		return DOCA_SUCCESS;
	seen = report_digest(&t->report, "seen by the DPU");
	seen->hash = t->hash;
	result = remote_digest_final(t->client, t->digest, seen, error);
	if (result == DOCA_SUCCESS && t->has_source) {
		source = report_digest(&t->report, t->source.name);
		result = source_digest(&t->source, source, error);
	}
	if (result == DOCA_SUCCESS && t->has_sink)
		result = gather_target(t, source, error);
	return result;
}

static doca_error_t check_fit(struct transfer *t, struct dpumap_error *error)
{
	const struct dpumap_export_info *info = &t->export.info;
	const char *what = t->has_source ? t->source.name : "the range";
	uint64_t offset = t->options->offset;

	if (offset > info->size || (t->same_window && offset == info->size))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"offset %" PRIu64 " is outside export %s, which has "
					"%" PRIu64 " bytes",
					offset, info->name, info->size);
	if (!t->same_window && !t->source.is_endless && t->total > info->size - offset)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"%s has %" PRIu64
					" bytes and does not fit into export %s, which has %" PRIu64
					" bytes from offset %" PRIu64,
					what, t->total, info->name, info->size - offset, offset);
	if (t->has_source && !remote_is_writable(info))
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"export %s is read-only: %s cannot be copied into it",
					info->name, what);
	return DOCA_SUCCESS;
}

/* The bytes of the export that the copy uses, once or again and again. */
static void count_windows(struct transfer *t)
{
	uint64_t room = t->export.info.size - t->options->offset;
	uint64_t window = room < t->total ? room : t->total;

	t->report.window = window;
	t->report.windows = window > 0 ? (t->total - 1) / window + 1 : 0;
}

static doca_error_t open_ends(struct transfer *t, struct dpumap_error *error)
{
	const struct options *o = t->options;
	doca_error_t result = DOCA_SUCCESS;

	if (t->source_path)
		result = source_open_file(&t->source, t->source_path, o->file_offset,
					  o->given & OPTION_LENGTH ? &o->length : NULL, error);
	if (result != DOCA_SUCCESS || !t->has_sink)
		return result;
	if (t->target_path)
		return sink_open_file(&t->sink, t->target_path, o->given & OPTION_SPARSE, error);
	sink_open_stdout(&t->sink, t->form, o->offset);
	return DOCA_SUCCESS;
}

static uint64_t wanted_length(const struct transfer *t)
{
	uint64_t size = t->export.info.size;

	if (t->options->given & OPTION_LENGTH)
		return t->options->length;
	return t->options->offset < size ? size - t->options->offset : 0;
}

/* The length of a file, or that of the requested range. */
static doca_error_t choose_total(struct transfer *t, struct dpumap_error *error)
{
	t->total = t->source_path ? t->source.left : wanted_length(t);
	if (!t->pattern)
		return DOCA_SUCCESS;
	return source_open_pattern(&t->source, t->pattern, t->total, error);
}

/* Of source, DPU and sink. */
static doca_error_t begin_digests(struct transfer *t, struct dpumap_error *error)
{
	doca_error_t result;

	if (!t->verify)
		return DOCA_SUCCESS;
	t->hash = t->options->given & OPTION_SHA256 ? DPUMAP_SHA256 : DPUMAP_XXH128;
	result = remote_digest_start(t->client, t->export_name, &t->hash, &t->digest, error);
	if (result == DOCA_SUCCESS && t->has_source)
		result = source_choose_hash(&t->source, t->hash, error);
	if (result == DOCA_SUCCESS && t->has_sink)
		result = sink_choose_hash(&t->sink, t->hash, error);
	return result;
}

static doca_error_t open_remote(struct transfer *t, struct dpumap_error *error)
{
	doca_error_t result;

	result = remote_connect(t->options, &t->client, error);
	if (result == DOCA_SUCCESS)
		result = remote_get(t->client, t->export_name, &t->export, error);
	if (result == DOCA_SUCCESS)
		result = choose_total(t, error);
	if (result == DOCA_SUCCESS)
		result = check_fit(t, error);
	return result;
}

static doca_error_t open_import(struct transfer *t, struct dpumap_error *error)
{
	doca_error_t result = import_open(t->options, t->client, &t->export, &t->import, error);

	t->report.device = t->import.device;
	t->report.engine = t->import.engine;
	return result;
}

static void print_report(struct transfer *t)
{
	t->report.offset = t->options->offset;
	t->report.bytes = t->total;
	count_windows(t);
	t->report.source = t->has_source ? t->source.name : NULL;
	t->report.target = t->has_sink ? t->sink.name : NULL;
	if (t->has_sink && !t->target_path)
		return; /* standard output has the bytes */
	if (t->options->given & OPTION_JSON)
		report_print_json(&t->report, &t->export.info);
	else
		report_print(&t->report, &t->export.info, t->export.desc_len);
}

#define CORRUPT                                                                             \
	": the copy is corrupt; copy again while nothing else writes to the export; if it " \
	"differs again, check memory and card (dmesg, dpumap doctor)"

/* The digest of the DPU is the first one, that of the source the second one. */
static doca_error_t check_copy(const struct transfer *t, struct dpumap_error *error)
{
	const struct report *r = &t->report;
	bool has_arrived;

	if (report_is_intact(r))
		return DOCA_SUCCESS;
	has_arrived = !t->has_source ||
		      dpumap_digest_is_equal(&r->digests[0].digest, &r->digests[1].digest);
	if (r->differs)
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"%s differs from %s at byte %" PRIu64
					", and export %s does%s" CORRUPT,
					t->sink.name, t->source.name, t->sink.differs_at,
					t->export.info.name, has_arrived ? " not" : ", too");
	if (has_arrived)
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"%s differs from export %s" CORRUPT, t->sink.name,
					t->export.info.name);
	return dpumap_error_set(error, DOCA_ERROR_IO_FAILED, "export %s differs from %s" CORRUPT,
				t->export.info.name, t->source.name);
}

/* Closes the import before it releases the export. */
static doca_error_t finish(struct transfer *t, struct dpumap_error *error)
{
	doca_error_t result;

	import_close(&t->import);
	result = remote_release(t->client, t->export_name, error);
	if (result != DOCA_SUCCESS)
		return result;
	print_report(t);
	result = check_copy(t, error);
	return result == DOCA_SUCCESS ? sink_commit(&t->sink, error) : result;
}

typedef doca_error_t transfer_step(struct transfer *t, struct dpumap_error *error);

static doca_error_t transfer(struct transfer *t, struct dpumap_error *error)
{
	static transfer_step *const steps[] = {
		open_ends, open_remote,	   begin_digests, open_import,
		move_all,  gather_digests, finish,
	};
	doca_error_t result = DOCA_SUCCESS;

	t->has_source = t->source_path || t->pattern;
	t->verify = !(t->options->given & OPTION_NO_VERIFY);
	for (size_t i = 0; i < ARRAY_SIZE(steps) && result == DOCA_SUCCESS; i++)
		result = steps[i](t, error);
	import_close(&t->import);
	dpumap_client_destroy(t->client);
	remote_export_wipe(&t->export);
	sink_close(&t->sink);
	source_close(&t->source);
	return result;
}

/* --- the commands ----------------------------------------------------------------------------- */

static bool is_dash(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

const char *transfer_check_read(const struct options *options)
{
	if (!is_dash(options->args[1]))
		return NULL;
	if (options->given & OPTION_JSON)
		return "--json needs a FILE: the bytes go to standard output";
	if (options->given & OPTION_SPARSE)
		return "--sparse needs a FILE";
	return NULL;
}

doca_error_t transfer_read(const struct options *options, struct dpumap_error *error)
{
	struct transfer t = {.options = options, .export_name = options->args[0], .has_sink = true};

	if (!is_dash(options->args[1]))
		t.target_path = options->args[1];
	return transfer(&t, error);
}

doca_error_t transfer_write(const struct options *options, struct dpumap_error *error)
{
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .source_path = options->args[1] ? options->args[1] : "-"};

	return transfer(&t, error);
}

doca_error_t transfer_fill(const struct options *options, struct dpumap_error *error)
{
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .pattern = options->args[1] ? options->args[1] : "00"};

	return transfer(&t, error);
}

const char *transfer_check_fill(const struct options *options)
{
	if (options->args[1] && !source_is_pattern(options->args[1]))
		return "HEX must be 1 to 64 pairs of hexadecimal digits";
	return NULL;
}

doca_error_t transfer_dump(const struct options *options, struct dpumap_error *error)
{
	bool json = options->given & OPTION_JSON;
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .has_sink = true,
			     .form = json ? SINK_HEX : SINK_HEXDUMP};
	doca_error_t result;

	if (json)
		printf("{\n  \"schema\": \"%s\",\n  \"offset\": %" PRIu64 ",\n  \"data\": \"",
		       json_schema(), options->offset);
	result = transfer(&t, error);
	if (json) {
		printf("\",\n  \"verified\": %s\n}\n",
		       result == DOCA_SUCCESS && t.verify ? "true" : "false");
		json_set_printed();
	}
	return result;
}

/* --- cp: three forms -------------------------------------------------------------------------- */

static bool is_export(const struct options *o, int argument)
{
	return o->args[argument][0] == ':' || fleet_name_argument(o) == argument;
}

static const char wrong_cp[] =
	"cp needs one export, written :NAME (in a fleet, DPU:NAME), and one file (write ./FILE if "
	"its name has a colon)";

const char *transfer_check_cp(const struct options *options)
{
	bool to_file = options->num_args == 3 || is_export(options, 0);

	if (options->num_args == 2 && is_export(options, 0) == is_export(options, 1))
		return wrong_cp;
	if (options->given & OPTION_SPARSE && !to_file)
		return "--sparse is valid only when a file is written";
	if (options->given & OPTION_FILE_OFFSET && options->num_args == 2 && is_export(options, 0))
		return "--file-offset is valid only when a file is read";
	return NULL;
}

doca_error_t transfer_cp(const struct options *options, struct dpumap_error *error)
{
	const char *const *args = options->args;
	struct transfer t = {.options = options};

	/* DPU:NAME is an export only if there is a fleet. */
	if (options->num_args == 2 && args[0][0] != ':' && args[1][0] != ':')
		options_usage_error(options, wrong_cp);
	if (options->num_args == 3) {
		t.source_path = args[0];
		t.export_name = args[1];
		t.target_path = args[2];
		t.same_window = true;
	} else if (args[0][0] == ':') {
		t.export_name = args[0] + 1;
		t.target_path = args[1];
	} else {
		t.source_path = args[0];
		t.export_name = args[1] + 1;
	}
	t.has_sink = t.target_path != NULL;
	if (t.has_sink && is_dash(t.target_path))
		t.target_path = NULL;
	return transfer(&t, error);
}
