/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All copying commands walk over windows: each window may come from a source, is in the export, and
 * may go to a sink. Source, DPU and sink hash the bytes, and the hashes are compared.
 */
#include "transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "import_copy.h"
#include "interrupt.h"
#include "json.h"
#include "local/clock.h"
#include "progress.h"
#include "remote.h"
#include "report.h"
#include "sink.h"
#include "source.h"

/* Exports may be larger than the memory that should be pinned. */
#define WINDOW_MAX ((uint64_t)64 << 20)

enum {
	BUFFER_PUT,
	BUFFER_GET,
};

struct transfer {
	const struct options *options;
	const char *export_name;
	const char *source_path; /* NULL: no file */
	const char *pattern;	 /* NULL: none */
	const char *target_path; /* NULL: no file */
	enum sink_form form;	 /* of standard output */
	bool has_source;	 /* otherwise the export's bytes are read */
	bool has_sink;		 /* otherwise the bytes stay in the export */
	bool same_window;	 /* every window goes through the same bytes of the export */
	uint64_t total;		 /* UINT64_MAX until an endless source has ended */
	uint64_t window;
	struct source source;
	struct sink sink;
	struct dpumap_client *client;
	struct remote_export export;
	struct import import;
	uint64_t digest;
	struct progress progress;
	struct report report;
};

static doca_error_t put_window(struct transfer *t, uint64_t offset, size_t len,
			       struct dpumap_fault *fault)
{
	doca_error_t result;

	result = import_copy(&t->import, IMPORT_PUT, BUFFER_PUT, offset, len, fault);
	if (result == DOCA_SUCCESS)
		t->report.dma_bytes += len;
	return result;
}

static doca_error_t get_window(struct transfer *t, uint64_t offset, size_t len,
			       struct dpumap_fault *fault)
{
	doca_error_t result;

	result = import_copy(&t->import, IMPORT_GET, BUFFER_GET, offset, len, fault);
	if (result == DOCA_SUCCESS)
		result = sink_write(&t->sink, t->import.buffers[BUFFER_GET].memory, len, fault);
	if (result == DOCA_SUCCESS)
		t->report.dma_bytes += len;
	return result;
}

/* *len is the size of the window, and then the number of bytes read. */
static doca_error_t fill_window(struct transfer *t, size_t *len, struct dpumap_fault *fault)
{
	char more;

	if (*len > 0)
		return source_read(&t->source, t->import.buffers[BUFFER_PUT].memory, *len, len,
				   fault);
	/* The export is full: the stream must end here, or it does not fit. */
	if (source_read(&t->source, &more, 1, len, fault) != DOCA_SUCCESS)
		return fault->code;
	if (*len > 0)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"%s does not fit into export %s, which has %" PRIu64
					" bytes from offset %" PRIu64,
					t->source.name, t->export.info.name,
					t->export.info.size - t->options->offset,
					t->options->offset);
	return DOCA_SUCCESS;
}

static doca_error_t move_window(struct transfer *t, uint64_t at, size_t *len,
				struct dpumap_fault *fault)
{
	uint64_t offset = t->options->offset + (t->same_window ? 0 : at);
	doca_error_t result = DOCA_SUCCESS;

	if (t->has_source) {
		result = fill_window(t, len, fault);
		if (result != DOCA_SUCCESS || *len == 0)
			return result;
		result = put_window(t, offset, *len, fault);
	}
	if (result == DOCA_SUCCESS)
		result = remote_digest_update(t->client, t->digest, offset, *len, fault);
	if (result == DOCA_SUCCESS && t->has_sink)
		result = get_window(t, offset, *len, fault);
	return result;
}

static size_t room_for(const struct transfer *t, uint64_t at)
{
	uint64_t room = t->window;

	if (!t->same_window && room > t->export.info.size - t->options->offset - at)
		room = t->export.info.size - t->options->offset - at;
	if (room > t->total - at)
		room = t->total - at;
	return (size_t)room;
}

static doca_error_t walk(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t at = 0;
	size_t len;

	while (at < t->total && result == DOCA_SUCCESS) {
		len = room_for(t, at);
		result = move_window(t, at, &len, fault);
		if (result == DOCA_SUCCESS && len == 0)
			t->total = at;
		at += len;
		t->report.windows += len > 0;
		progress_update(&t->progress, at);
		if (result == DOCA_SUCCESS && interrupt_signal)
			result = dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	}
	return result;
}

static doca_error_t move_all(struct transfer *t, struct dpumap_fault *fault)
{
	uint64_t began = dpumap_clock_ns();
	doca_error_t result;

	progress_begin(&t->progress, t->total);
	result = walk(t, fault);
	progress_end(&t->progress);
	t->report.total_ns = dpumap_clock_ns() - began;
	t->report.dma_ns = t->import.copy_ns;
	return result;
}

static doca_error_t gather_digests(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = remote_digest_final(t->client, t->digest,
				     report_digest(&t->report, "seen by the DPU"), fault);
	if (result == DOCA_SUCCESS && t->has_source)
		result =
			source_digest(&t->source, report_digest(&t->report, t->source.name), fault);
	if (result == DOCA_SUCCESS && t->has_sink)
		result = sink_digest(&t->sink, report_digest(&t->report, t->sink.name), fault);
	return result;
}

static doca_error_t check_fit(struct transfer *t, struct dpumap_fault *fault)
{
	const struct dpumap_export_info *info = &t->export.info;
	const char *what = t->has_source ? t->source.name : "the range";
	uint64_t offset = t->options->offset;

	if (offset > info->size || (t->same_window && offset == info->size))
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"offset %" PRIu64 " is outside export %s, which has "
					"%" PRIu64 " bytes",
					offset, info->name, info->size);
	if (!t->same_window && !t->source.is_endless && t->total > info->size - offset)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"%s has %" PRIu64
					" bytes and does not fit into export %s, which has %" PRIu64
					" bytes from offset %" PRIu64,
					what, t->total, info->name, info->size - offset, offset);
	if (t->has_source && !remote_is_writable(info))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"export %s is read-only: %s cannot be copied into it",
					info->name, what);
	return DOCA_SUCCESS;
}

static void choose_window(struct transfer *t)
{
	t->window = t->export.info.size - t->options->offset;
	if (t->window > WINDOW_MAX)
		t->window = WINDOW_MAX;
	if (t->window > t->total)
		t->window = t->total;
	/* A buffer cannot be empty, even if nothing is copied. */
	if (t->window == 0)
		t->window = 1;
}

static doca_error_t open_ends(struct transfer *t, struct dpumap_fault *fault)
{
	const struct options *o = t->options;
	doca_error_t result = DOCA_SUCCESS;

	if (t->source_path)
		result = source_open_file(&t->source, t->source_path, o->file_offset,
					  o->given & OPTION_LENGTH ? &o->length : NULL, fault);
	if (result != DOCA_SUCCESS || !t->has_sink)
		return result;
	if (t->target_path)
		return sink_open_file(&t->sink, t->target_path, o->given & OPTION_SPARSE, fault);
	return sink_open_stdout(&t->sink, t->form, o->offset, fault);
}

static uint64_t wanted_length(const struct transfer *t)
{
	uint64_t size = t->export.info.size;

	if (t->options->given & OPTION_LENGTH)
		return t->options->length;
	return t->options->offset < size ? size - t->options->offset : 0;
}

/* The length of a file, or that of the requested range. */
static doca_error_t choose_total(struct transfer *t, struct dpumap_fault *fault)
{
	t->total = t->source_path ? t->source.left : wanted_length(t);
	if (!t->pattern)
		return DOCA_SUCCESS;
	return source_open_pattern(&t->source, t->pattern, t->total, fault);
}

static doca_error_t open_remote(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = remote_connect(t->options, &t->client, fault);
	if (result == DOCA_SUCCESS)
		result = remote_get(t->client, t->export_name, &t->export, fault);
	if (result == DOCA_SUCCESS)
		result = choose_total(t, fault);
	if (result == DOCA_SUCCESS)
		result = check_fit(t, fault);
	if (result == DOCA_SUCCESS)
		result = remote_digest_start(t->client, t->export_name, &t->digest, fault);
	return result;
}

static doca_error_t open_import(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result = import_open(t->options, t->client, &t->export, &t->import, fault);

	choose_window(t);
	if (result == DOCA_SUCCESS && t->has_source)
		result = import_add_buffer(&t->import, BUFFER_PUT, (size_t)t->window, fault);
	if (result == DOCA_SUCCESS && t->has_sink)
		result = import_add_buffer(&t->import, BUFFER_GET, (size_t)t->window, fault);
	t->report.device = t->import.device;
	t->report.engine = t->import.engine;
	return result;
}

static void print_report(struct transfer *t)
{
	t->report.offset = t->options->offset;
	t->report.bytes = t->total;
	t->report.window = t->window;
	t->report.source = t->has_source ? t->source.name : NULL;
	t->report.target = t->has_sink ? t->sink.name : NULL;
	if (t->has_sink && !t->target_path)
		return; /* standard output has the bytes */
	if (t->options->given & OPTION_JSON)
		report_print_json(&t->report, &t->export.info);
	else
		report_print(&t->report, &t->export.info, t->export.desc_len);
}

/* Closes the import before it releases the export. */
static doca_error_t finish(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result;

	import_close(&t->import);
	result = remote_release(t->client, t->export_name, fault);
	if (result != DOCA_SUCCESS)
		return result;
	print_report(t);
	if (!report_digests_equal(&t->report))
		return dpumap_fault_set(fault, DOCA_ERROR_IO_FAILED,
					"the SHA-256 digests differ: the copy is corrupt");
	return sink_commit(&t->sink, fault);
}

static doca_error_t transfer(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result;

	t->has_source = t->source_path || t->pattern;
	result = open_ends(t, fault);
	if (result == DOCA_SUCCESS)
		result = open_remote(t, fault);
	if (result == DOCA_SUCCESS)
		result = open_import(t, fault);
	if (result == DOCA_SUCCESS)
		result = move_all(t, fault);
	if (result == DOCA_SUCCESS)
		result = gather_digests(t, fault);
	if (result == DOCA_SUCCESS)
		result = finish(t, fault);
	import_close(&t->import);
	dpumap_client_destroy(t->client);
	remote_export_wipe(&t->export);
	sink_close(&t->sink);
	source_close(&t->source);
	return result;
}

/* -- the commands -- */

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

doca_error_t transfer_read(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options, .export_name = options->args[0], .has_sink = true};

	if (!is_dash(options->args[1]))
		t.target_path = options->args[1];
	return transfer(&t, fault);
}

doca_error_t transfer_write(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .source_path = options->args[1] ? options->args[1] : "-"};

	return transfer(&t, fault);
}

doca_error_t transfer_fill(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .pattern = options->args[1] ? options->args[1] : "00"};

	return transfer(&t, fault);
}

const char *transfer_check_fill(const struct options *options)
{
	if (options->args[1] && !source_is_pattern(options->args[1]))
		return "HEX must be 1 to 64 pairs of hexadecimal digits";
	return NULL;
}

doca_error_t transfer_dump(const struct options *options, struct dpumap_fault *fault)
{
	bool json = options->given & OPTION_JSON;
	struct transfer t = {.options = options,
			     .export_name = options->args[0],
			     .has_sink = true,
			     .form = json ? SINK_HEX : SINK_HEXDUMP};
	doca_error_t result;

	if (json)
		printf("{\n  \"offset\": %" PRIu64 ",\n  \"data\": \"", options->offset);
	result = transfer(&t, fault);
	if (json) {
		printf("\",\n  \"verified\": %s\n}\n", result == DOCA_SUCCESS ? "true" : "false");
		json_set_printed();
	}
	return result;
}

/* -- cp: three forms -- */

static bool is_export(const char *arg)
{
	return arg && arg[0] == ':';
}

const char *transfer_check_cp(const struct options *options)
{
	const char *const *args = options->args;
	bool to_file = options->num_args == 3 || is_export(args[0]);

	if (options->num_args == 2 && is_export(args[0]) == is_export(args[1]))
		return "cp needs one export, written :NAME, and one file (write ./:FILE if its "
		       "name begins with a colon)";
	if (options->given & OPTION_SPARSE && !to_file)
		return "--sparse is valid only when a file is written";
	if (options->given & OPTION_FILE_OFFSET && options->num_args == 2 && is_export(args[0]))
		return "--file-offset is valid only when a file is read";
	return NULL;
}

doca_error_t transfer_cp(const struct options *options, struct dpumap_fault *fault)
{
	const char *const *args = options->args;
	struct transfer t = {.options = options};

	if (options->num_args == 3) {
		t.source_path = args[0];
		t.export_name = args[1];
		t.target_path = args[2];
		t.same_window = true;
	} else if (is_export(args[0])) {
		t.export_name = args[0] + 1;
		t.target_path = args[1];
	} else {
		t.source_path = args[0];
		t.export_name = args[1] + 1;
	}
	t.has_sink = t.target_path != NULL;
	if (t.has_sink && is_dash(t.target_path))
		t.target_path = NULL;
	return transfer(&t, fault);
}
