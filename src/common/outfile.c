/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/outfile.h"

#define READ_BACK_CHUNK ((size_t)256 * 1024)
#define SPARSE_BLOCK	((size_t)64 * 1024)

struct dpumap_outfile {
	int fd;
	uint64_t size;
	char path[PATH_MAX];
	char temporary[PATH_MAX];
};

/*
 * rename() would replace a link or a device node in place of writing to it: follow links, and
 * refuse what is not a regular file.
 */
static doca_error_t resolve(const char *path, char resolved[static PATH_MAX],
			    struct dpumap_fault *fault)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT)
			return dpumap_fault_errno(fault, errno, "cannot write %s", path);
		if (strlen(path) >= PATH_MAX)
			return dpumap_fault_errno(fault, ENAMETOOLONG, "cannot write %s", path);
		memcpy(resolved, path, strlen(path) + 1);
		return DOCA_SUCCESS;
	}
	if (!S_ISREG(st.st_mode))
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"cannot write %s: it exists and is not a regular file",
					path);
	if (!realpath(path, resolved))
		return dpumap_fault_errno(fault, errno, "cannot write %s", path);
	return DOCA_SUCCESS;
}

static doca_error_t name_temporary(struct dpumap_outfile *out, struct dpumap_fault *fault)
{
	const char *slash = strrchr(out->path, '/');
	int dir_len = slash ? (int)(slash - out->path) + 1 : 0;
	int n = snprintf(out->temporary, sizeof(out->temporary), "%.*s.dpumap-XXXXXX", dir_len,
			 out->path);

	if (n < 0 || (size_t)n >= sizeof(out->temporary))
		return dpumap_fault_errno(fault, ENAMETOOLONG, "cannot write %s", out->path);
	return DOCA_SUCCESS;
}

/* mkostemp() creates files with mode 0600 whatever the umask is. */
static mode_t apply_umask(mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return mode & ~mask;
}

static doca_error_t open_temporary(struct dpumap_outfile *out, mode_t mode,
				   struct dpumap_fault *fault)
{
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0)
		return dpumap_fault_errno(fault, errno, "cannot write %s", out->path);
	if (fchmod(out->fd, apply_umask(mode)) != 0) {
		dpumap_fault_errno(fault, errno, "cannot set the mode of %s", out->path);
		close(out->fd);
		unlink(out->temporary);
		return fault->code;
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_outfile_create(const char *path, mode_t mode, struct dpumap_outfile **out,
				   struct dpumap_fault *fault)
{
	struct dpumap_outfile *o = calloc(1, sizeof(*o));
	doca_error_t result;

	if (!o)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory to write %s", path);
	result = resolve(path, o->path, fault);
	if (result == DOCA_SUCCESS)
		result = name_temporary(o, fault);
	if (result == DOCA_SUCCESS)
		result = open_temporary(o, mode, fault);
	if (result != DOCA_SUCCESS) {
		free(o);
		return result;
	}
	*out = o;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_outfile_write(struct dpumap_outfile *out, const void *buf, size_t len,
				  struct dpumap_fault *fault)
{
	const char *from = buf;
	ssize_t n;

	while (len > 0) {
		n = write(out->fd, from, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dpumap_fault_errno(fault, errno, "cannot write %s", out->path);
		from += n;
		out->size += (uint64_t)n;
		len -= (size_t)n;
	}
	return DOCA_SUCCESS;
}

static bool is_zero(const char *bytes, size_t len)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

static doca_error_t skip(struct dpumap_outfile *out, size_t len, struct dpumap_fault *fault)
{
	out->size += len;
	/* Sets the length, in case the file ends with a hole. */
	if (ftruncate(out->fd, (off_t)out->size) != 0 ||
	    lseek(out->fd, (off_t)out->size, SEEK_SET) < 0)
		return dpumap_fault_errno(fault, errno, "cannot write %s", out->path);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_outfile_write_sparse(struct dpumap_outfile *out, const void *buf, size_t len,
					 struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;
	const char *from = buf;

	while (len > 0 && result == DOCA_SUCCESS) {
		/* Up to the end of the file's block, so that a hole covers whole blocks. */
		size_t piece = SPARSE_BLOCK - (size_t)(out->size % SPARSE_BLOCK);

		if (piece > len)
			piece = len;
		result = is_zero(from, piece) ? skip(out, piece, fault)
					      : dpumap_outfile_write(out, from, piece, fault);
		from += piece;
		len -= piece;
	}
	return result;
}

static doca_error_t hash_back(struct dpumap_outfile *out, struct dpumap_sha256 *sha, uint8_t *buf,
			      struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;
	size_t len;

	for (uint64_t at = 0; at < out->size && result == DOCA_SUCCESS; at += len) {
		len = READ_BACK_CHUNK;
		if (len > out->size - at)
			len = (size_t)(out->size - at);
		result = dpumap_file_read(out->fd, out->path, at, buf, len, fault);
		if (result == DOCA_SUCCESS)
			result = dpumap_sha256_update(sha, buf, len, fault);
	}
	return result;
}

doca_error_t dpumap_outfile_digest(struct dpumap_outfile *out,
				   uint8_t digest[static DPUMAP_SHA256_LEN],
				   struct dpumap_fault *fault)
{
	struct dpumap_sha256 *sha;
	doca_error_t result;
	uint8_t *buf;

	result = dpumap_sha256_create(&sha, fault);
	if (result != DOCA_SUCCESS)
		return result;
	buf = malloc(READ_BACK_CHUNK);
	if (!buf) {
		result = dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory to read %s back",
					  out->path);
		goto destroy_sha;
	}
	result = hash_back(out, sha, buf, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_sha256_final(sha, digest, fault);
	free(buf);
destroy_sha:
	dpumap_sha256_destroy(sha);
	return result;
}

doca_error_t dpumap_outfile_commit(struct dpumap_outfile *out, struct dpumap_fault *fault)
{
	/* Some file systems report a failed write only here. */
	int closed = close(out->fd);

	if (closed != 0 || rename(out->temporary, out->path) != 0) {
		dpumap_fault_errno(fault, errno, "cannot write %s", out->path);
		unlink(out->temporary);
		free(out);
		return fault->code;
	}
	free(out);
	return DOCA_SUCCESS;
}

void dpumap_outfile_discard(struct dpumap_outfile *out)
{
	if (!out)
		return;
	close(out->fd);
	unlink(out->temporary);
	free(out);
}
