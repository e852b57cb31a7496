/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

doca_error_t dpumap_file_open(const char *path, int *fd, uint64_t *size, struct dpumap_error *error)
{
	/* O_NONBLOCK: opening a FIFO without a writer would block. */
	int f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (f < 0)
		return dpumap_error_errno(error, errno, "cannot open %s", path);
	if (fstat(f, &st) != 0) {
		dpumap_error_errno(error, errno, "cannot examine %s", path);
		goto close_file;
	}
	if (!S_ISREG(st.st_mode)) {
		dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "%s is not a regular file", path);
		goto close_file;
	}
	*fd = f;
	*size = (uint64_t)st.st_size;
	return DOCA_SUCCESS;

close_file:
	close(f);
	return error->code;
}

doca_error_t dpumap_file_read(int fd, const char *path, uint64_t offset, void *buf, size_t len,
			      struct dpumap_error *error)
{
	char *to = buf;
	ssize_t n;

	while (len > 0) {
		n = pread(fd, to, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dpumap_error_errno(error, errno, "cannot read %s", path);
		if (n == 0)
			return dpumap_error_set(
				error, DOCA_ERROR_IO_FAILED,
				"%s was truncated while it was read: it ends at byte %" PRIu64,
				path, offset);
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return DOCA_SUCCESS;
}
