/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files as the agents use them: sources that must be regular, results that appear only whole. */
#ifndef DPUMAP_COMMON_FILE_H
#define DPUMAP_COMMON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/fault.h"
#include "common/sha256.h"

/* Opens a regular file for reading; *fd and *size are written on success only. */
doca_error_t dpumap_file_open(const char *path, int *fd, uint64_t *size,
			      struct dpumap_fault *fault);
/* Exactly len bytes at offset, or an error: a file that ends earlier has been cut meanwhile. */
doca_error_t dpumap_file_read(int fd, const char *path, uint64_t offset, void *buf, size_t len,
			      struct dpumap_fault *fault);

/*
 * A result that is written under a temporary name in its own directory. commit() gives it its name
 * and frees the object, discard() removes the temporary file and frees it.
 */
struct dpumap_outfile;

/*
 * mode is the new file's, before the umask. A path that exists must be a regular file. The signals
 * that a caller wants to survive have to be handled: a killed process leaves the temporary file.
 */
doca_error_t dpumap_outfile_create(const char *path, mode_t mode, struct dpumap_outfile **out,
				   struct dpumap_fault *fault);
doca_error_t dpumap_outfile_write(struct dpumap_outfile *out, const void *buf, size_t len,
				  struct dpumap_fault *fault);
/* The same, but blocks of zeros become holes. */
doca_error_t dpumap_outfile_write_sparse(struct dpumap_outfile *out, const void *buf, size_t len,
					 struct dpumap_fault *fault);
/* The digest of what is on the disk, read back. */
doca_error_t dpumap_outfile_digest(struct dpumap_outfile *out,
				   uint8_t digest[static DPUMAP_SHA256_LEN],
				   struct dpumap_fault *fault);
/* Consumes out, also on failure. */
doca_error_t dpumap_outfile_commit(struct dpumap_outfile *out, struct dpumap_fault *fault);
/* NULL is allowed. */
void dpumap_outfile_discard(struct dpumap_outfile *out);

#endif
