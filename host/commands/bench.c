/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_types.h>

#include "base/clock.h"
#include "common/size.h"
#include "host/base/interrupt.h"
#include "host/import/import_queue.h"
#include "host/remote/remote.h"
#include "host/remote/report.h"

#define SIZE_MIN     64u
#define SIZE_STEP    8u
#define BUFFER_MAX   ((uint64_t)16 << 20)
#define SIZES_MAX    16
#define COUNT_USUAL  1000
#define COUNT_LEAST  10
#define COUNT_LIMIT  1000000
#define BYTES_USUAL  ((uint64_t)64 << 20)
#define PERCENT_MOST 99

struct result {
	const char *direction;
	uint64_t size;
	uint64_t median_ns;
	uint64_t most_ns; /* of 99 in 100 */
	uint64_t count;
	double rate; /* MB/s with many copies at once */
};

struct bench {
	const struct options *options;
	struct dpumap_client *client;
	struct remote_export export;
	struct import import;
	uint64_t room; /* bytes that each pass may use */
	uint64_t count;
	uint64_t *samples;
	struct result results[2 * SIZES_MAX];
	unsigned int num_results;
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Copies len bytes from the offset on, in requests of up to max_request. */
static doca_error_t copy(struct bench *b, enum import_direction direction, uint64_t len,
			 struct dpumap_error *error)
{
	const struct import_buffer *buffer = &b->import.buffers[IMPORT_PUT];
	struct import_piece piece = {.direction = direction, .local = buffer->map};
	uint64_t posted = 0, done[IMPORT_DIRECTIONS] = {0}, before = 0;
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && before < len) {
		while (result == DOCA_SUCCESS && posted < len) {
			piece.local_addr = (uint8_t *)buffer->memory + posted;
			piece.remote_addr = b->import.base + b->options->offset + posted;
			piece.len = (size_t)(len - posted);
			if (piece.len > b->import.max_request)
				piece.len = (size_t)b->import.max_request;
			result = import_post(&b->import, &piece, error);
			posted += result == DOCA_SUCCESS ? piece.len : 0;
		}
		if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
			result = import_poll(&b->import, done, error);
		if (result == DOCA_SUCCESS && done[direction] == before)
			result = import_wait(&b->import, true, NULL, 0, error);
		before = done[direction];
	}
	return result;
}

/* One copy at a time. */
static doca_error_t measure_latency(struct bench *b, enum import_direction direction,
				    struct result *r, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint64_t i = 0; i < r->count && result == DOCA_SUCCESS; i++) {
		uint64_t began = monotonic_ns();

		result = copy(b, direction, r->size, error);
		b->samples[i] = monotonic_ns() - began;
	}
	qsort(b->samples, r->count, sizeof(*b->samples), compare);
	r->median_ns = b->samples[r->count / 2];
	r->most_ns = b->samples[r->count * PERCENT_MOST / 100];
	return result;
}

/* Keeps the queue full, over the whole room. */
static doca_error_t measure_rate(struct bench *b, enum import_direction direction, struct result *r,
				 struct dpumap_error *error)
{
	uint64_t usual = b->import.max_request;
	uint64_t pass = b->room - b->room % r->size;
	uint64_t began = monotonic_ns(), bytes = 0;
	uint64_t wanted = r->count * r->size;
	doca_error_t result = DOCA_SUCCESS;

	if (r->size < usual)
		b->import.max_request = r->size;
	while (bytes < wanted && result == DOCA_SUCCESS) {
		result = copy(b, direction, pass, error);
		bytes += pass;
	}
	b->import.max_request = usual;
	r->rate = report_rate(bytes, monotonic_ns() - began);
	return result;
}

/* By default, fewer copies of large sizes. */
static uint64_t count_of(const struct bench *b, uint64_t size)
{
	uint64_t count = BYTES_USUAL / size;

	if (b->options->count || count > b->count)
		return b->count;
	return count > COUNT_LEAST ? count : COUNT_LEAST;
}

static doca_error_t measure(struct bench *b, uint64_t size, enum import_direction direction,
			    struct dpumap_error *error)
{
	struct result *r = &b->results[b->num_results++];
	doca_error_t result;

	*r = (struct result){.direction = direction == IMPORT_GET ? "read" : "write",
			     .size = size,
			     .count = count_of(b, size)};
	result = measure_latency(b, direction, r, error);
	if (result == DOCA_SUCCESS)
		result = measure_rate(b, direction, r, error);
	return result;
}

static doca_error_t measure_size(struct bench *b, uint64_t size, struct dpumap_error *error)
{
	doca_error_t result = measure(b, size, IMPORT_GET, error);

	if (result == DOCA_SUCCESS && b->options->given & OPTION_WRITE)
		result = measure(b, size, IMPORT_PUT, error);
	if (result == DOCA_SUCCESS && interrupt_signal)
		result = dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
	return result;
}

static doca_error_t measure_all(struct bench *b, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t size = SIZE_MIN;

	if (b->options->given & OPTION_SIZE)
		return measure_size(b, b->options->size, error);
	if (size > b->room)
		size = b->room;
	for (; size <= b->room && result == DOCA_SUCCESS; size *= SIZE_STEP)
		result = measure_size(b, size, error);
	return result;
}

static doca_error_t check_export(struct bench *b, struct dpumap_error *error)
{
	const struct dpumap_export_info *info = &b->export.info;
	const struct options *o = b->options;
	uint64_t least = o->given & OPTION_SIZE ? o->size : 1;

	if (o->offset >= info->size || least > info->size - o->offset)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export %s has %" PRIu64 " bytes, not enough for %" PRIu64
					" bytes at offset %" PRIu64,
					info->name, info->size, least, o->offset);
	if (o->given & OPTION_WRITE && !remote_is_writable(info))
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED, "export %s is read-only",
					info->name);
	b->room = info->size - o->offset;
	if (b->room > BUFFER_MAX)
		b->room = least > BUFFER_MAX ? least : BUFFER_MAX;
	return DOCA_SUCCESS;
}

static doca_error_t find_export(struct bench *b, struct dpumap_error *error)
{
	doca_error_t result = remote_connect(b->options, &b->client, error);

	if (result == DOCA_SUCCESS)
		result = remote_get(b->client, b->options->args[0], &b->export, error);
	if (result == DOCA_SUCCESS)
		result = check_export(b, error);
	return result;
}

static doca_error_t run(struct bench *b, struct dpumap_error *error)
{
	doca_error_t result = find_export(b, error);

	if (result == DOCA_SUCCESS)
		result = import_open(b->options, b->client, &b->export, &b->import, error);
	if (result == DOCA_SUCCESS)
		result = import_add_buffer(&b->import, IMPORT_PUT, (size_t)b->room, error);
	if (result == DOCA_SUCCESS)
		result = measure_all(b, error);
	return result;
}

#define NS_PER_US 1e3

static void print_table(const struct bench *b)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	printf("%s on %s by %s\n", b->export.info.name, b->import.device.name, b->import.engine);
	printf("%-6s %8s %8s %12s %12s %12s\n", "", "SIZE", "COPIES", "MEDIAN us", "99% us",
	       "MB/s");
	for (unsigned int i = 0; i < b->num_results; i++) {
		const struct result *r = &b->results[i];

		dpumap_size_format(r->size, size);
		printf("%-6s %8s %8" PRIu64 " %12.1f %12.1f %12.1f\n", r->direction, size, r->count,
		       (double)r->median_ns / NS_PER_US, (double)r->most_ns / NS_PER_US, r->rate);
	}
}

static void print_json(const struct bench *b)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < b->num_results; i++) {
		const struct result *r = &b->results[i];
		struct json_object *row = json_object_new_object();

		json_add_text(row, "direction", r->direction);
		json_add_number(row, "size", r->size);
		json_add_number(row, "count", r->count);
		json_add_number(row, "median_ns", r->median_ns);
		json_add_number(row, "p99_ns", r->most_ns);
		json_add_real(row, "megabytes_per_second", r->rate);
		json_object_array_add(list, row);
	}
	json_object_object_add(object, "export", report_json_export(&b->export.info));
	json_add_text(object, "device", b->import.device.name);
	json_add_text(object, "engine", b->import.engine);
	json_object_object_add(object, "results", list);
	json_print(object);
}

const char *bench_check(const struct options *options)
{
	if (options->given & OPTION_SIZE && options->size == 0)
		return "--size must be at least 1";
	if (options->count > COUNT_LIMIT)
		return "--count must be at most 1000000";
	return NULL;
}

doca_error_t bench_export(const struct options *options, struct dpumap_error *error)
{
	struct bench b = {.options = options,
			  .count = options->count ? options->count : COUNT_USUAL};
	doca_error_t result;

	b.samples = calloc(b.count, sizeof(*b.samples));
	if (!b.samples)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for %" PRIu64 " samples", b.count);
	result = run(&b, error);
	if (result == DOCA_SUCCESS && options->given & OPTION_JSON)
		print_json(&b);
	else if (result == DOCA_SUCCESS)
		print_table(&b);
	import_close(&b.import);
	if (result == DOCA_SUCCESS)
		result = remote_release(b.client, b.export.info.name, error);
	dpumap_client_destroy(b.client);
	remote_export_wipe(&b.export);
	free(b.samples);
	return result;
}
