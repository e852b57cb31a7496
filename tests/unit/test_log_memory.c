/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The log when the n-th allocation fails, for each n: an error without any change, or a truncated
 * line.
 */
#include "unit/log_process.h"

#include <stdbool.h>
#include <string.h>

DOCA_LOG_REGISTER(TEST::MEMORY);

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);

static int left = -1; /* allocations until one fails; below 0 none does */

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

/* Returns the number of allocations that a call needs; with fewer it fails and keeps its output. */
static int count_needed(doca_error_t (*call)(void **out))
{
	for (int n = 0;; n++) {
		void *out = &left;
		doca_error_t result;

		left = n;
		result = call(&out);
		if (left >= 0) {
			left = -1;
			CHECK(result == DOCA_SUCCESS && out != &left);
			return n;
		}
		CHECK(result == DOCA_ERROR_NO_MEMORY && out == &left);
	}
}

static doca_error_t add_source(void **out)
{
	int source = -1;
	doca_error_t result = doca_log_register_source("MORE", &source);

	CHECK((result == DOCA_SUCCESS) == (source != -1));
	if (result == DOCA_SUCCESS)
		*out = NULL;
	return result;
}

static void add_sources(void)
{
	CHECK(count_needed(add_source) == 2);
}

static void source_without_memory_is_an_error_and_logged(void **state)
{
	struct log_output output;

	log_process_run(&output, add_sources);
	assert_lines(output.err, 2);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_NO_MEMORY\n"), 2);
	log_output_clear(&output);
}

static doca_error_t list_loggers(void **out)
{
	struct doca_logger **list;
	uint32_t n = 77;
	doca_error_t result = doca_logger_create_list(NULL, 0, &list, &n);

	CHECK(n == (result == DOCA_SUCCESS ? 2 : 77));
	if (result != DOCA_SUCCESS)
		return result;
	*out = NULL;
	return doca_logger_destroy_list(list);
}

static void create_lists(void)
{
	int source;

	CHECK_OK(doca_log_register_source("MORE", &source));
	CHECK(count_needed(list_loggers) == 3);
}

static void list_without_memory_is_an_error_and_logged(void **state)
{
	struct log_output output;

	log_process_run(&output, create_lists);
	assert_lines(output.err, 3);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_NO_MEMORY\n"), 3);
	log_output_clear(&output);
}

static char buffer[64];

static void flush(char *buf)
{
	fputs(buf, stdout);
}

static doca_error_t add_standard(void **out)
{
	doca_error_t result = doca_log_backend_create_standard();

	if (result == DOCA_SUCCESS)
		*out = NULL;
	return result;
}

static doca_error_t add_file(void **out)
{
	return doca_log_backend_create_with_file(stdout, (struct doca_log_backend **)out);
}

static doca_error_t add_fd(void **out)
{
	return doca_log_backend_create_with_fd(1, (struct doca_log_backend **)out);
}

static doca_error_t add_buf(void **out)
{
	return doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush,
						(struct doca_log_backend **)out);
}

static doca_error_t add_syslog(void **out)
{
	return doca_log_backend_create_with_syslog("name", (struct doca_log_backend **)out);
}

static void add_backends(void)
{
	CHECK(count_needed(add_standard) == 1);
	CHECK(count_needed(add_file) == 1);
	CHECK(count_needed(add_fd) == 1);
	CHECK(count_needed(add_buf) == 1);
	CHECK(count_needed(add_syslog) == 2);
}

static void backend_without_memory_is_an_error_and_logged(void **state)
{
	struct log_output output;

	log_process_run(&output, add_backends);
	assert_lines(output.err, 6);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_NO_MEMORY\n"), 6);
	log_output_clear(&output);
}

static void log_long_line(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd(1, &backend));
	left = 0;
	DOCA_LOG_INFO("begin%5000s", "end");
	CHECK(left == -1);
	DOCA_LOG_INFO("begin%5000s", "end");
}

static void long_line_without_memory_is_cut(void **state)
{
	struct log_output output;
	size_t len;

	log_process_run(&output, log_long_line);
	assert_lines(output.out, 2);
	assert_int_equal(occurrences(output.out, "] begin "), 2);
	assert_int_equal(occurrences(output.out, " end\n"), 1);
	len = strcspn(output.out, "\n");
	assert_in_range(len, 1000, 1100);
	log_output_clear(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source_without_memory_is_an_error_and_logged),
		cmocka_unit_test(list_without_memory_is_an_error_and_logged),
		cmocka_unit_test(backend_without_memory_is_an_error_and_logged),
		cmocka_unit_test(long_line_without_memory_is_cut),
	};

	unsetenv("DPUMAP_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
