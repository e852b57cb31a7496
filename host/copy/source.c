/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/copy/source.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "local/file.h"

static bool parse_pattern(const char *hex, uint8_t pattern[static SOURCE_PATTERN_MAX], size_t *len)
{
	return OPENSSL_hexstr2buf_ex(pattern, SOURCE_PATTERN_MAX, len, hex, '\0') && *len > 0;
}

bool source_is_pattern(const char *hex)
{
	uint8_t pattern[SOURCE_PATTERN_MAX] = {0};
	size_t len;

	return parse_pattern(hex, pattern, &len);
}

doca_error_t source_open_pattern(struct source *source, const char *hex, uint64_t length,
				 struct dpumap_error *error)
{
	*source = (struct source){.name = "the pattern", .fd = -1, .left = length};
	if (!parse_pattern(hex, source->pattern, &source->pattern_len))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"invalid pattern \"%s\": use 1 to %d bytes in hexadecimal",
					hex, SOURCE_PATTERN_MAX);
	return DOCA_SUCCESS;
}

static doca_error_t open_stream(struct source *source, uint64_t offset, const uint64_t *length,
				struct dpumap_error *error)
{
	source->name = "standard input";
	source->is_stream = true;
	source->fd = STDIN_FILENO;
	source->is_endless = !length;
	source->left = length ? *length : UINT64_MAX;
	if (offset)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"--file-offset is not valid for standard input");
	return DOCA_SUCCESS;
}

static doca_error_t open_file(struct source *source, const char *path, uint64_t offset,
			      const uint64_t *length, struct dpumap_error *error)
{
	doca_error_t result;
	uint64_t size;

	result = dpumap_file_open(path, &source->fd, &size, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (offset > size || (length && *length > size - offset))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"%s has %" PRIu64
					" bytes, fewer than --file-offset and --length require",
					path, size);
	source->at = offset;
	source->left = length ? *length : size - offset;
	return DOCA_SUCCESS;
}

doca_error_t source_open_file(struct source *source, const char *path, uint64_t offset,
			      const uint64_t *length, struct dpumap_error *error)
{
	*source = (struct source){.name = path, .fd = -1};
	if (strcmp(path, "-") == 0)
		return open_stream(source, offset, length, error);
	return open_file(source, path, offset, length, error);
}

doca_error_t source_choose_hash(struct source *source, enum dpumap_hash hash,
				struct dpumap_error *error)
{
	return dpumap_hasher_create(hash, &source->hasher, error);
}

static doca_error_t await_stream(const struct source *source, struct dpumap_error *error)
{
	struct pollfd p = {.fd = source->fd, .events = POLLIN};
	int n;

	while (!atomic_load(&source->is_stopped)) {
		n = poll(&p, 1, 100);
		if (n > 0)
			return DOCA_SUCCESS;
		if (n < 0 && errno != EINTR)
			return dpumap_error_errno(error, errno, "cannot wait for %s", source->name);
	}
	return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
}

static doca_error_t read_stream(struct source *source, uint8_t *buf, size_t size, size_t *len,
				struct dpumap_error *error)
{
	doca_error_t result;
	ssize_t n;

	while (*len < size) {
		result = await_stream(source, error);
		if (result != DOCA_SUCCESS)
			return result;
		n = read(source->fd, buf + *len, size - *len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return dpumap_error_errno(error, errno, "cannot read %s", source->name);
		if (n == 0)
			break;
		*len += n > 0 ? (size_t)n : 0;
	}
	if (*len < size && !source->is_endless)
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"%s ended before --length bytes", source->name);
	return DOCA_SUCCESS;
}

/* Whole repetitions are copied from the bytes before them, twice as many each time. */
static void repeat_pattern(struct source *source, uint8_t *buf, size_t size)
{
	size_t done = source->pattern_len < size ? source->pattern_len : size;

	for (size_t i = 0; i < done; i++)
		buf[i] = source->pattern[(source->pattern_at + i) % source->pattern_len];
	while (done < size) {
		size_t more = done < size - done ? done : size - done;

		memcpy(buf + done, buf, more);
		done += more;
	}
	source->pattern_at = (source->pattern_at + size) % source->pattern_len;
}

doca_error_t source_read(struct source *source, void *buf, size_t size, size_t *len,
			 struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	*len = 0;
	if (size > source->left)
		size = (size_t)source->left;
	if (source->is_stream) {
		result = read_stream(source, buf, size, len, error);
	} else if (source->fd < 0) {
		repeat_pattern(source, buf, size);
		*len = size;
	} else {
		result = dpumap_file_read(source->fd, source->name, source->at, buf, size, error);
		source->at += size;
		*len = size;
	}
	if (!source->is_endless)
		source->left -= *len;
	return result;
}

doca_error_t source_hash(struct source *source, const void *buf, size_t len,
			 struct dpumap_error *error)
{
	return dpumap_hasher_update(source->hasher, buf, len, error);
}

doca_error_t source_digest(struct source *source, struct dpumap_digest *digest,
			   struct dpumap_error *error)
{
	return dpumap_hasher_final(source->hasher, digest, error);
}

void source_stop(struct source *source)
{
	atomic_store(&source->is_stopped, true);
}

void source_close(struct source *source)
{
	dpumap_hasher_destroy(source->hasher);
	if (source->name && source->fd >= 0 && !source->is_stream)
		close(source->fd);
	*source = (struct source){.fd = -1};
}
