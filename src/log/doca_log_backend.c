/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_log.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "log/backend.h"
#include "log/lock.h"
#include "log/log.h"

static void write_stream(FILE *file, const struct dpumap_log_text *line)
{
	(void)fwrite(line->text, 1, line->len, file);
	fflush(file);
}

static void write_standard(const struct doca_log_backend *backend, uint32_t level,
			   const struct dpumap_log_text *line)
{
	(void)backend;
	write_stream(level <= DOCA_LOG_LEVEL_WARNING ? stderr : stdout, line);
}

static void write_file(const struct doca_log_backend *backend, uint32_t level,
		       const struct dpumap_log_text *line)
{
	(void)level;
	write_stream(backend->file, line);
}

static void write_fd(const struct doca_log_backend *backend, uint32_t level,
		     const struct dpumap_log_text *line)
{
	size_t done = 0;
	ssize_t n;

	(void)level;
	while (done < line->len) {
		n = write(backend->fd, line->text + done, line->len - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return;
	}
}

/* A line that is cut ends with a line feed as well. */
static void write_buf(const struct doca_log_backend *backend, uint32_t level,
		      const struct dpumap_log_text *line)
{
	size_t len = line->len < backend->capacity ? line->len : backend->capacity - 1;

	(void)level;
	memcpy(backend->buf, line->text, len - 1);
	backend->buf[len - 1] = '\n';
	backend->buf[len] = '\0';
	backend->handler(backend->buf);
}

static int priority_of(uint32_t level)
{
	if (level < DOCA_LOG_LEVEL_ERROR)
		return LOG_CRIT;
	if (level < DOCA_LOG_LEVEL_WARNING)
		return LOG_ERR;
	if (level < DOCA_LOG_LEVEL_INFO)
		return LOG_WARNING;
	return level < DOCA_LOG_LEVEL_DEBUG ? LOG_INFO : LOG_DEBUG;
}

/* The identity is global to the process: another backend or the program may have changed it. */
static void write_syslog(const struct doca_log_backend *backend, uint32_t level,
			 const struct dpumap_log_text *line)
{
	openlog(backend->identity, LOG_PID, LOG_USER);
	syslog(LOG_USER | priority_of(level), "%.*s", (int)(line->len - 1), line->text);
}

static doca_error_t add(const struct doca_log_backend *wanted, struct doca_log_backend **backend)
{
	struct doca_log_backend *added = dpumap_log_backend_add(wanted);

	if (!added)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a log backend");
	*backend = added;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_create_standard(void)
{
	static struct doca_log_backend *standard;
	const struct doca_log_backend wanted = {
		.origin = DPUMAP_LOG_PROGRAM, .write = write_standard, .fd = -1};
	struct dpumap_log_lock_state state;
	doca_error_t result = DOCA_SUCCESS;

	dpumap_log_lock(&state);
	if (!standard)
		result = add(&wanted, &standard);
	dpumap_log_unlock(&state);
	return result;
}

static doca_error_t create_with_file(enum dpumap_log_origin origin, FILE *fptr,
				     struct doca_log_backend **backend)
{
	const struct doca_log_backend wanted = {
		.origin = origin, .write = write_file, .file = fptr, .fd = -1};

	if (!fptr || !backend)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"creating a log backend with a file: a required argument is NULL");
	return add(&wanted, backend);
}

doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(DPUMAP_LOG_PROGRAM, fptr, backend);
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(DPUMAP_LOG_SDK, fptr, backend);
}

static bool is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static doca_error_t create_with_fd(enum dpumap_log_origin origin, int fd,
				   struct doca_log_backend **backend)
{
	const struct doca_log_backend wanted = {.origin = origin, .write = write_fd, .fd = fd};

	if (!backend)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"creating a log backend with a file descriptor: the backend is NULL");
	if (!is_writable(fd))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"creating a log backend: file descriptor %d is not open for writing", fd);
	return add(&wanted, backend);
}

doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(DPUMAP_LOG_PROGRAM, fd, backend);
}

doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(DPUMAP_LOG_SDK, fd, backend);
}

static doca_error_t create_with_buf(enum dpumap_log_origin origin, char *buf, size_t capacity,
				    log_flush_callback handler, struct doca_log_backend **backend)
{
	const struct doca_log_backend wanted = {.origin = origin,
						.write = write_buf,
						.fd = -1,
						.buf = buf,
						.capacity = capacity,
						.handler = handler};

	if (!buf || !handler || !backend)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"creating a log backend with a buffer: a required argument is NULL");
	if (capacity < 2)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "creating a log backend: a buffer of %zu bytes is too short, "
				   "use at least 2",
				   capacity);
	return add(&wanted, backend);
}

doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity,
					      log_flush_callback handler,
					      struct doca_log_backend **backend)
{
	return create_with_buf(DPUMAP_LOG_PROGRAM, buf, capacity, handler, backend);
}

doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
						  log_flush_callback handler,
						  struct doca_log_backend **backend)
{
	return create_with_buf(DPUMAP_LOG_SDK, buf, capacity, handler, backend);
}

static doca_error_t create_with_syslog(enum dpumap_log_origin origin, const char *name,
				       struct doca_log_backend **backend)
{
	struct doca_log_backend wanted = {.origin = origin, .write = write_syslog, .fd = -1};
	doca_error_t result;

	if (!name || !backend)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"creating a log backend with syslog: a required argument is NULL");
	wanted.identity = strdup(name);
	if (!wanted.identity)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a log backend's name");
	result = add(&wanted, backend);
	if (result != DOCA_SUCCESS)
		free(wanted.identity);
	return result;
}

doca_error_t doca_log_backend_create_with_syslog(const char *name,
						 struct doca_log_backend **backend)
{
	return create_with_syslog(DPUMAP_LOG_PROGRAM, name, backend);
}

doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
						     struct doca_log_backend **backend)
{
	return create_with_syslog(DPUMAP_LOG_SDK, name, backend);
}

/* Only memory limits it. */
uint32_t doca_log_get_max_num_backends(void)
{
	return UINT32_MAX;
}

uint32_t doca_log_get_max_num_backends_sdk(void)
{
	return UINT32_MAX;
}
