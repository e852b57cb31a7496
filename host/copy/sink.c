/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/copy/sink.h"

#include <stdio.h>
#include <string.h>

/* Stays in the cache of the processor. */
#define READ_BACK_CHUNK ((size_t)64 * 1024)

doca_error_t sink_open_file(struct sink *sink, const char *path, bool is_sparse,
			    struct dpumap_error *error)
{
	*sink = (struct sink){.name = path, .is_sparse = is_sparse};
	return dpumap_outfile_create(path, 0666, &sink->out, error);
}

void sink_open_stdout(struct sink *sink, enum sink_form form, uint64_t at)
{
	*sink = (struct sink){.name = "standard output", .form = form};
	hexdump_begin(&sink->hexdump, stdout, at);
}

doca_error_t sink_choose_hash(struct sink *sink, enum dpumap_hash hash, struct dpumap_error *error)
{
	return dpumap_hasher_create(hash, &sink->hasher, error);
}

static void print_hex(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
}

static doca_error_t print(struct sink *sink, const void *buf, size_t len,
			  struct dpumap_error *error)
{
	if (sink->form == SINK_HEXDUMP)
		hexdump_add(&sink->hexdump, buf, len);
	else if (sink->form == SINK_HEX)
		print_hex(buf, len);
	else if (fwrite(buf, 1, len, stdout) != len)
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"cannot write to standard output");
	if (ferror(stdout))
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"cannot write to standard output");
	return DOCA_SUCCESS;
}

doca_error_t sink_write(struct sink *sink, const void *buf, size_t len, struct dpumap_error *error)
{
	if (!sink->out)
		return print(sink, buf, len, error);
	if (sink->is_sparse)
		return dpumap_outfile_write_sparse(sink->out, buf, len, error);
	return dpumap_outfile_write(sink->out, buf, len, error);
}

static void compare(struct sink *sink, uint64_t at, const uint8_t *bytes, const uint8_t *expected,
		    size_t len)
{
	size_t i = 0;

	if (sink->differs || memcmp(bytes, expected, len) == 0)
		return;
	while (bytes[i] == expected[i])
		i++;
	sink->differs = true;
	sink->differs_at = at + i;
}

doca_error_t sink_check(struct sink *sink, uint64_t at, const uint8_t *buf, const uint8_t *expected,
			size_t len, struct dpumap_error *error)
{
	uint8_t chunk[READ_BACK_CHUNK];
	doca_error_t result = DOCA_SUCCESS;
	size_t n;

	for (size_t i = 0; i < len && result == DOCA_SUCCESS; i += n) {
		const uint8_t *bytes = sink->out ? chunk : buf + i;

		n = len - i < sizeof(chunk) ? len - i : sizeof(chunk);
		if (sink->out)
			result = dpumap_outfile_read_back(sink->out, at + i, chunk, n, error);
		if (result == DOCA_SUCCESS && expected)
			compare(sink, at + i, bytes, expected + i, n);
		else if (result == DOCA_SUCCESS)
			result = dpumap_hasher_update(sink->hasher, bytes, n, error);
	}
	return result;
}

void sink_end(struct sink *sink)
{
	if (!sink->out && sink->form == SINK_HEXDUMP)
		hexdump_end(&sink->hexdump);
}

doca_error_t sink_digest(struct sink *sink, struct dpumap_digest *digest,
			 struct dpumap_error *error)
{
	return dpumap_hasher_final(sink->hasher, digest, error);
}

doca_error_t sink_commit(struct sink *sink, struct dpumap_error *error)
{
	struct dpumap_outfile *out = sink->out;

	sink->out = NULL;
	return out ? dpumap_outfile_commit(out, error) : DOCA_SUCCESS;
}

void sink_close(struct sink *sink)
{
	dpumap_outfile_discard(sink->out);
	dpumap_hasher_destroy(sink->hasher);
	*sink = (struct sink){0};
}
