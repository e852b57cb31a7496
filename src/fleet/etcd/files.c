/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/etcd/files.h"

#include <string.h>
#include <unistd.h>

#include "local/file.h"
#include "local/trusted.h"
#include "secret/secret.h"

#define FILE_MAX     (256u << 10)
#define PASSWORD_MAX 256

static doca_error_t read_all(int fd, const char *path, struct dpumap_fleet_file *file,
			     struct dpumap_error *error)
{
	off_t size = lseek(fd, 0, SEEK_END);
	doca_error_t result;

	if (size <= 0 || (size_t)size > FILE_MAX)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"%s is empty or larger than %u bytes", path, FILE_MAX);
	file->len = (size_t)size;
	file->bytes = dpumap_secret_alloc(file->len + 1);
	if (!file->bytes)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for %s", path);
	result = dpumap_file_read(fd, path, 0, file->bytes, file->len, error);
	if (result != DOCA_SUCCESS)
		dpumap_fleet_file_wipe(file);
	return result;
}

static doca_error_t read_trusted(const char *path, bool is_secret, struct dpumap_fleet_file *file,
				 struct dpumap_error *error)
{
	doca_error_t result;
	int fd;

	result = dpumap_trusted_open(path, is_secret, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = read_all(fd, path, file, error);
	close(fd);
	return result;
}

doca_error_t dpumap_fleet_file_pem(const char *path, bool is_secret, struct dpumap_fleet_file *file,
				   struct dpumap_error *error)
{
	doca_error_t result = read_trusted(path, is_secret, file, error);

	if (result != DOCA_SUCCESS || strstr(file->bytes, "-----BEGIN "))
		return result;
	dpumap_fleet_file_wipe(file);
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s is not a PEM file", path);
}

doca_error_t dpumap_fleet_file_password(const char *path, struct dpumap_fleet_file *file,
					struct dpumap_error *error)
{
	doca_error_t result = read_trusted(path, true, file, error);
	size_t len;

	if (result != DOCA_SUCCESS)
		return result;
	len = strcspn(file->bytes, "\n");
	if (len && len <= PASSWORD_MAX && len + 1 >= file->len &&
	    strlen(file->bytes) == file->len) {
		file->bytes[len] = '\0';
		return DOCA_SUCCESS;
	}
	dpumap_fleet_file_wipe(file);
	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
				"%s must contain one line, a password of at most %d bytes", path,
				PASSWORD_MAX);
}

void dpumap_fleet_file_wipe(struct dpumap_fleet_file *file)
{
	dpumap_secret_free(file->bytes, file->len + 1);
	*file = (struct dpumap_fleet_file){0};
}
