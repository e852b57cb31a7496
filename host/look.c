/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "import.h"
#include "look.h"
#include "remote.h"
#include "report.h"

doca_error_t look_list(const struct options *options, struct dpumap_fault *fault)
{
	struct dpumap_client *client;
	doca_error_t result;

	result = remote_connect(options, &client, fault);
	if (result != DOCA_SUCCESS)
		return result;
	report_list_line(NULL);
	result = remote_list(client, report_list_line, fault);
	dpumap_client_destroy(client);
	return result;
}

/* Connects only to ask for one export, and gives it back at once. */
static doca_error_t fetch(const struct options *options, const char *name,
			  struct remote_export *export, struct dpumap_fault *fault)
{
	struct dpumap_client *client;
	doca_error_t result;

	result = remote_connect(options, &client, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = remote_get(client, name, export, fault);
	if (result == DOCA_SUCCESS)
		result = remote_release(client, name, fault);
	dpumap_client_destroy(client);
	return result;
}

static doca_error_t load(const char *path, struct remote_export *export, struct dpumap_fault *fault)
{
	doca_error_t result;
	uint64_t size;
	int fd;

	result = dpumap_file_open(path, &fd, &size, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (size > sizeof(export->desc))
		result = dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					  "%s is not a descriptor: %" PRIu64 " bytes, a descriptor "
					  "has at most %zu",
					  path, size, sizeof(export->desc));
	else
		result = dpumap_file_read(fd, path, 0, export->desc, (size_t)size, fault);
	if (result == DOCA_SUCCESS)
		export->desc_len = (size_t)size;
	close(fd);
	return result;
}

static doca_error_t look_device(const struct options *options, struct dpumap_fault *fault)
{
	struct dpumap_client *client;
	struct remote_device device;
	doca_error_t result;

	result = remote_connect(options, &client, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = remote_device(client, &device, fault);
	if (result == DOCA_SUCCESS)
		report_device(&device);
	dpumap_client_destroy(client);
	return result;
}

doca_error_t look_info(const struct options *options, struct dpumap_fault *fault)
{
	const char *what = options->descriptor ? options->descriptor : options->args[0];
	struct remote_export export = {0};
	struct dpumap_desc desc = {0};
	doca_error_t result;

	if (!what)
		return look_device(options, fault);
	if (options->descriptor)
		result = load(what, &export, fault);
	else
		result = fetch(options, what, &export, fault);
	if (result == DOCA_SUCCESS)
		result = import_decode(export.desc, export.desc_len, what, &desc, fault);
	if (result == DOCA_SUCCESS) {
		if (!options->descriptor)
			report_info(&export.info);
		report_descriptor(&desc, export.desc_len);
	}
	dpumap_desc_wipe(&desc);
	remote_export_wipe(&export);
	return result;
}

static doca_error_t save(const char *path, const struct remote_export *export,
			 struct dpumap_fault *fault)
{
	struct dpumap_outfile *out;
	doca_error_t result;

	result = dpumap_outfile_create(path, 0600, &out, fault);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_outfile_write(out, export->desc, export->desc_len, fault);
	if (result != DOCA_SUCCESS) {
		dpumap_outfile_discard(out);
		return result;
	}
	return dpumap_outfile_commit(out, fault);
}

doca_error_t look_get_descriptor(const struct options *options, struct dpumap_fault *fault)
{
	struct remote_export export = {0};
	doca_error_t result;

	result = fetch(options, options->args[0], &export, fault);
	if (result == DOCA_SUCCESS)
		result = save(options->args[1], &export, fault);
	remote_export_wipe(&export);
	return result;
}
