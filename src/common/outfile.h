/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Output files of the agents, which appear only when they are complete. */
#ifndef DPUMAP_COMMON_OUTFILE_H
#define DPUMAP_COMMON_OUTFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "local/error.h"

/*
 * An output file. It has no name until commit() gives it one, or, where the file system does not
 * support that, the name .dpumap-XXXXXX in its directory. commit() writes the file and then its name
 * to the disk and frees the object; discard() removes the file and frees the object.
 */
struct dpumap_outfile;

/*
 * Replaces an existing path, which must be a regular file: the new file gets its owner, mode and
 * access list. If there is none, mode is that of the new file, before the umask. A file whose mode
 * excludes other users never becomes accessible to them.
 *
 * A process that is killed leaves a file only if the file has a temporary name: callers should handle
 * signals.
 */
doca_error_t dpumap_outfile_create(const char *path, mode_t mode, struct dpumap_outfile **out,
				   struct dpumap_error *error);
/* DOCA_ERROR_ALREADY_EXIST if path exists, now or at commit(). */
doca_error_t dpumap_outfile_create_new(const char *path, mode_t mode, struct dpumap_outfile **out,
				       struct dpumap_error *error);
doca_error_t dpumap_outfile_write(struct dpumap_outfile *out, const void *buf, size_t len,
				  struct dpumap_error *error);
/* The same, but blocks of zeros become holes. */
doca_error_t dpumap_outfile_write_sparse(struct dpumap_outfile *out, const void *buf, size_t len,
					 struct dpumap_error *error);
/* Reads bytes that were written. Another thread may write at the same time. */
doca_error_t dpumap_outfile_read_back(const struct dpumap_outfile *out, uint64_t at, void *buf,
				      size_t len, struct dpumap_error *error);
/* Consumes out, also on failure. */
doca_error_t dpumap_outfile_commit(struct dpumap_outfile *out, struct dpumap_error *error);
/* NULL is allowed. */
void dpumap_outfile_discard(struct dpumap_outfile *out);

#endif
