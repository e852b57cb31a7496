/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/remote/descriptor_file.h"

#include <inttypes.h>
#include <unistd.h>

#include "common/outfile.h"
#include "local/file.h"

doca_error_t descriptor_file_load(const char *path, struct remote_export *export,
				  struct dpumap_error *error)
{
	doca_error_t result;
	uint64_t size;
	int fd;

	result = dpumap_file_open(path, &fd, &size, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = remote_export_alloc(export, error);
	if (result == DOCA_SUCCESS && size > DPUMAP_DESCRIPTOR_MAX)
		result = dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					  "%s is not a descriptor: it has %" PRIu64
					  " bytes, more than the limit of %u",
					  path, size, DPUMAP_DESCRIPTOR_MAX);
	if (result == DOCA_SUCCESS)
		result = dpumap_file_read(fd, path, 0, export->desc, (size_t)size, error);
	if (result == DOCA_SUCCESS)
		export->desc_len = (size_t)size;
	close(fd);
	return result;
}

doca_error_t descriptor_file_save(const char *path, const struct remote_export *export,
				  struct dpumap_error *error)
{
	struct dpumap_outfile *out;
	doca_error_t result;

	result = dpumap_outfile_create(path, 0600, &out, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_outfile_write(out, export->desc, export->desc_len, error);
	if (result != DOCA_SUCCESS) {
		dpumap_outfile_discard(out);
		return result;
	}
	return dpumap_outfile_commit(out, error);
}
