/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All three commands are one walk over windows of bytes: each window may come from a file, is seen
 * by the DPU, and may go to a file. What every station saw is hashed, and the hashes are compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_types.h>

#include "common/clock.h"
#include "common/file.h"
#include "import.h"
#include "interrupt.h"
#include "progress.h"
#include "remote.h"
#include "report.h"
#include "transfer.h"

/* Exports may be larger than what we want to pin. */
#define WINDOW_MAX ((uint64_t)64 << 20)

enum {
	BUFFER_PUT,
	BUFFER_GET,
};

struct transfer {
	const struct options *options;
	const char *source; /* NULL: the export's own bytes are fetched */
	const char *target; /* NULL: they stay there */
	uint64_t total;
	uint64_t window;
	bool same_window; /* every window goes through the same bytes of the export */
	int source_fd;
	struct dpumap_sha256 *source_sha;
	struct dpumap_outfile *out;
	struct dpumap_client *client;
	struct remote_export export;
	struct import import;
	uint64_t digest;
	struct progress progress;
	struct report report;
};

static doca_error_t put_window(struct transfer *t, uint64_t at, uint64_t offset, size_t len,
			       struct dpumap_fault *fault)
{
	void *buffer = t->import.buffers[BUFFER_PUT].memory;
	doca_error_t result;

	result = dpumap_file_read(t->source_fd, t->source, at, buffer, len, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_sha256_update(t->source_sha, buffer, len, fault);
	if (result == DOCA_SUCCESS)
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
		result = dpumap_outfile_write(t->out, t->import.buffers[BUFFER_GET].memory, len,
					      fault);
	if (result == DOCA_SUCCESS)
		t->report.dma_bytes += len;
	return result;
}

static doca_error_t move_window(struct transfer *t, uint64_t at, size_t len,
				struct dpumap_fault *fault)
{
	uint64_t offset = t->options->offset + (t->same_window ? 0 : at);
	doca_error_t result = DOCA_SUCCESS;

	if (t->source)
		result = put_window(t, at, offset, len, fault);
	if (result == DOCA_SUCCESS)
		result = remote_digest_update(t->client, t->digest, offset, len, fault);
	if (result == DOCA_SUCCESS && t->target)
		result = get_window(t, offset, len, fault);
	return result;
}

static doca_error_t move_all(struct transfer *t, struct dpumap_fault *fault)
{
	uint64_t began = dpumap_clock_ns();
	doca_error_t result = DOCA_SUCCESS;
	uint64_t len;

	progress_begin(&t->progress, t->total);
	for (uint64_t at = 0; at < t->total && result == DOCA_SUCCESS; at += len) {
		len = t->total - at < t->window ? t->total - at : t->window;
		result = move_window(t, at, (size_t)len, fault);
		progress_update(&t->progress, at + len);
		t->report.windows++;
		if (result == DOCA_SUCCESS && interrupt_signal)
			result = dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	}
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
	if (result == DOCA_SUCCESS && t->source)
		result = dpumap_sha256_final(t->source_sha, report_digest(&t->report, t->source),
					     fault);
	if (result == DOCA_SUCCESS && t->target)
		result = dpumap_outfile_digest(t->out, report_digest(&t->report, t->target), fault);
	return result;
}

static doca_error_t check_fit(struct transfer *t, struct dpumap_fault *fault)
{
	const struct dpumap_export_info *info = &t->export.info;
	uint64_t offset = t->options->offset;

	if (offset > info->size || (t->same_window && offset == info->size))
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"offset %" PRIu64 " is outside of export %s, which has "
					"%" PRIu64 " bytes",
					offset, info->name, info->size);
	if (!t->same_window && t->total > info->size - offset)
		return dpumap_fault_set(fault, DOCA_ERROR_TOO_BIG,
					"%s has %" PRIu64 " bytes and does not fit into export %s, "
					"which has %" PRIu64 " from offset %" PRIu64,
					t->source ? t->source : "the part asked for", t->total,
					info->name, info->size - offset, offset);
	if (t->source && !(info->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"export %s is read-only: %s cannot be copied into it",
					info->name, t->source);
	return DOCA_SUCCESS;
}

static void choose_window(struct transfer *t)
{
	t->window = t->export.info.size - t->options->offset;
	if (t->window > WINDOW_MAX)
		t->window = WINDOW_MAX;
	if (t->window > t->total)
		t->window = t->total;
	/* Nothing to move, but a buffer of nothing cannot be made. */
	if (t->window == 0)
		t->window = 1;
}

static doca_error_t open_files(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	if (t->source) {
		result = dpumap_file_open(t->source, &t->source_fd, &t->total, fault);
		if (result == DOCA_SUCCESS)
			result = dpumap_sha256_create(&t->source_sha, fault);
	}
	if (result == DOCA_SUCCESS && t->target)
		result = dpumap_outfile_create(t->target, 0666, &t->out, fault);
	return result;
}

static uint64_t wanted_length(const struct transfer *t)
{
	uint64_t size = t->export.info.size;

	if (t->options->given & OPTION_LENGTH)
		return t->options->length;
	return t->options->offset < size ? size - t->options->offset : 0;
}

static doca_error_t open_remote(struct transfer *t, const char *name, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = remote_connect(t->options, &t->client, fault);
	if (result == DOCA_SUCCESS)
		result = remote_get(t->client, name, &t->export, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (!t->source)
		t->total = wanted_length(t);
	result = check_fit(t, fault);
	if (result == DOCA_SUCCESS)
		result = remote_digest_start(t->client, name, &t->digest, fault);
	return result;
}

static doca_error_t open_import(struct transfer *t, struct dpumap_fault *fault)
{
	doca_error_t result = import_open(t->options, &t->export, &t->import, fault);

	choose_window(t);
	if (result == DOCA_SUCCESS && t->source)
		result = import_add_buffer(&t->import, BUFFER_PUT, (size_t)t->window, fault);
	if (result == DOCA_SUCCESS && t->target)
		result = import_add_buffer(&t->import, BUFFER_GET, (size_t)t->window, fault);
	t->report.device = t->import.device;
	t->report.engine = t->import.engine;
	return result;
}

static doca_error_t run(struct transfer *t, const char *name, struct dpumap_fault *fault)
{
	doca_error_t result = open_files(t, fault);

	if (result == DOCA_SUCCESS)
		result = open_remote(t, name, fault);
	if (result == DOCA_SUCCESS)
		result = open_import(t, fault);
	if (result == DOCA_SUCCESS)
		result = move_all(t, fault);
	if (result == DOCA_SUCCESS)
		result = gather_digests(t, fault);
	return result;
}

/* The import ends before dpumapd is told so. */
static doca_error_t finish(struct transfer *t, const char *name, struct dpumap_fault *fault)
{
	doca_error_t result;

	import_close(&t->import);
	result = remote_release(t->client, name, fault);
	if (result != DOCA_SUCCESS)
		return result;
	t->report.bytes = t->total;
	t->report.window = t->window;
	t->report.source = t->source;
	t->report.target = t->target;
	report_print(&t->report, &t->export.info, t->export.desc_len);
	if (!report_digests_equal(&t->report))
		return dpumap_fault_set(fault, DOCA_ERROR_IO_FAILED,
					"the SHA-256 digests differ: the bytes that arrived are "
					"not those that left");
	if (t->out) {
		result = dpumap_outfile_commit(t->out, fault);
		t->out = NULL;
	}
	return result;
}

static void clean_up(struct transfer *t)
{
	import_close(&t->import);
	dpumap_client_destroy(t->client);
	remote_export_wipe(&t->export);
	dpumap_outfile_discard(t->out);
	dpumap_sha256_destroy(t->source_sha);
	if (t->source_fd >= 0)
		close(t->source_fd);
}

static doca_error_t transfer(struct transfer *t, const char *name, struct dpumap_fault *fault)
{
	doca_error_t result;

	t->source_fd = -1;
	result = run(t, name, fault);
	if (result == DOCA_SUCCESS)
		result = finish(t, name, fault);
	clean_up(t);
	return result;
}

doca_error_t transfer_put(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options, .source = options->args[0]};

	return transfer(&t, options->args[1], fault);
}

doca_error_t transfer_get(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options, .target = options->args[1]};

	return transfer(&t, options->args[0], fault);
}

doca_error_t transfer_cp(const struct options *options, struct dpumap_fault *fault)
{
	struct transfer t = {.options = options,
			     .source = options->args[0],
			     .target = options->args[2],
			     .same_window = true};

	return transfer(&t, options->args[1], fault);
}
