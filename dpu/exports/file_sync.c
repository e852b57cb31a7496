/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/file_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dpu/spec/export_spec.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Between two parts, nobody may wait for it any more. */
#define PART_MAX ((size_t)16 << 20)

struct file_sync {
	struct work work;
	struct changed_file file;
	atomic_bool is_unwanted;
	bool has_ended;
	doca_error_t result;
	struct dpumap_error error;
	void (*ended)(void *context);
	void *context;
	char export[DPUMAP_EXPORT_NAME_MAX];
	char path[];
};

/* bytes: a mapping of at least a part. */
static doca_error_t write_out(const struct changed_file *file, void *bytes, size_t len,
			      struct dpumap_error *error)
{
	/*
	 * The kernel does not see what a device writes to registered pages: mark them as dirty.
	 * Linux before 5.14 lacks this call, and marks them only when they are deregistered.
	 */
	if (file->is_durable)
		madvise(bytes, len, MADV_POPULATE_WRITE);
	if (msync(bytes, len, MS_SYNC) == 0)
		return DOCA_SUCCESS;
	return dpumap_error_errno(error, errno, "export %s: cannot write %s to its disk",
				  file->export, file->path);
}

doca_error_t file_sync_now(const struct changed_file *file, void *bytes, struct dpumap_error *error)
{
	return write_out(file, bytes, file->size, error);
}

/* --- by a worker ------------------------------------------------------------------------------ */

static doca_error_t write_parts(struct file_sync *s, uint8_t *bytes)
{
	size_t size = s->file.size;
	doca_error_t result = DOCA_SUCCESS;

	for (size_t at = 0; at < size && result == DOCA_SUCCESS; at += PART_MAX) {
		if (atomic_load(&s->is_unwanted))
			return DOCA_SUCCESS;
		result = write_out(&s->file, bytes + at,
				   size - at < PART_MAX ? size - at : PART_MAX, &s->error);
	}
	return result;
}

static void run(void *context)
{
	struct file_sync *s = context;
	void *bytes =
		mmap(NULL, s->file.mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, s->file.fd, 0);

	if (bytes == MAP_FAILED) {
		s->result = dpumap_error_errno(&s->error, errno, "export %s: cannot map %s",
					       s->export, s->path);
		return;
	}
	s->result = write_parts(s, bytes);
	munmap(bytes, s->file.mapped_size);
}

static void free_sync(struct file_sync *sync)
{
	close(sync->file.fd);
	free(sync);
}

static void on_end(void *context)
{
	struct file_sync *s = context;

	s->has_ended = true;
	if (atomic_load(&s->is_unwanted))
		free_sync(s);
	else
		s->ended(s->context);
}

static struct file_sync *copy(const struct changed_file *file, struct dpumap_error *error)
{
	size_t len = strlen(file->path) + 1;
	struct file_sync *s = calloc(1, sizeof(*s) + len);

	if (!s) {
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for export %s",
				 file->export);
		return NULL;
	}
	s->file = *file;
	snprintf(s->export, sizeof(s->export), "%s", file->export);
	s->file.export = s->export;
	s->file.path = memcpy(s->path, file->path, len);
	s->file.fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (s->file.fd >= 0)
		return s;
	dpumap_error_errno(error, errno, "export %s: cannot write %s to its disk", file->export,
			   file->path);
	free(s);
	return NULL;
}

doca_error_t file_sync_begin(const struct changed_file *file, struct workers *workers,
			     void (*ended)(void *context), void *context, struct file_sync **sync,
			     struct dpumap_error *error)
{
	struct file_sync *s = copy(file, error);
	doca_error_t result;

	if (!s)
		return error->code;
	s->ended = ended;
	s->context = context;
	s->work = (struct work){.run = run, .ended = on_end, .context = s};
	result = workers_start(workers, &s->work, error);
	if (result != DOCA_SUCCESS) {
		free_sync(s);
		return result;
	}
	*sync = s;
	return DOCA_SUCCESS;
}

doca_error_t file_sync_result(const struct file_sync *sync, struct dpumap_error *error)
{
	if (!sync->has_ended)
		return DOCA_ERROR_AGAIN;
	*error = sync->error;
	return sync->result;
}

void file_sync_end(struct file_sync *sync)
{
	if (sync && sync->has_ended)
		free_sync(sync);
	else if (sync)
		atomic_store(&sync->is_unwanted, true);
}
