/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the log of programs is written, and which levels are shown there. */
#include "unit/log_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

DOCA_LOG_REGISTER(TEST::LOG)

#define LEVELS 7

static const uint32_t levels[LEVELS] = {
	DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_CRIT,  DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
	DOCA_LOG_LEVEL_INFO,	DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_TRACE,
};

static struct doca_log_backend *to_stderr(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd(STDERR_FILENO, &backend));
	return backend;
}

/* One message of each level. */
static void log_all(void)
{
	for (int i = 1; i < LEVELS; i++)
		DOCA_LOG(levels[i], "at %u.", levels[i]);
}

/* --- Backends --------------------------------------------------------------------------------- */

static void without_a_backend_nothing_is_printed(void **state)
{
	struct log_output output;

	log_process_run(&output, log_all);
	assert_string_equal(output.out, "");
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

static void log_to_standard(void)
{
	CHECK_OK(doca_log_backend_create_standard());
	CHECK_OK(doca_log_backend_create_standard());
	log_all();
}

static void standard_splits_at_warning(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_standard);
	assert_like(output.out, ".*[[]INF[]].* at 50[.]\n");
	assert_like(output.err, ".*[[]CRT[]].* at 20[.]\n.*[[]ERR[]].* at 30[.]\n"
				".*[[]WRN[]].* at 40[.]\n");
	assert_lines(output.out, 1);
	assert_lines(output.err, 3);
	log_output_clear(&output);
}

static void log_to_limited_standard(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_create_standard());
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING));
	log_all();
}

static void standard_obeys_both_global_limits(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_limited_standard);
	assert_like(output.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_like(output.err, ".* at 40[.]\n");
	assert_lines(output.out, 2);
	assert_lines(output.err, 1);
	log_output_clear(&output);
}

static void log_and_die(void)
{
	log_to_stdout();
	setvbuf(stdout, NULL, _IOFBF, 4096);
	DOCA_LOG_INFO("last words");
	_exit(0);
}

static void file_is_flushed_after_each_message(void **state)
{
	struct log_output output;

	log_process_run(&output, log_and_die);
	assert_like(output.out, ".* last words\n");
	log_output_clear(&output);
}

static void log_to_fd(void)
{
	struct doca_log_backend *backend = to_stderr();

	CHECK(backend);
	DOCA_LOG_INFO("through a descriptor");
}

static void fd_gets_the_line(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_fd);
	assert_like(output.err, STAMP "[[]INF[]][[]test_log_backend.c:[0-9]+[]][[]log_to_fd[]] "
				      "through a descriptor\n");
	assert_string_equal(output.out, "");
	log_output_clear(&output);
}

/* What does not fit is dropped, and no thread blocks. */
static void log_to_full_pipe(void)
{
	struct doca_log_backend *backend;
	int ends[2];

	CHECK(!pipe2(ends, O_NONBLOCK));
	CHECK_OK(doca_log_backend_create_with_fd(ends[1], &backend));
	errno = 0;
	for (int i = 0; i < 5000; i++)
		DOCA_LOG_INFO("message %d", i);
	CHECK(errno == 0); /* the program must not see the EAGAIN of write() */
}

static void nonblocking_fd_drops_what_does_not_fit(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_full_pipe);
	log_output_clear(&output);
}

static void create_badly(void)
{
	struct doca_log_backend *backend = (void *)&backend;
	int read_only = open("/dev/null", O_RDONLY), path = open("/dev/null", O_PATH);
	log_flush_callback handler = (log_flush_callback)(void (*)(void))abort;
	char buf[8];

	CHECK(read_only >= 0 && path >= 0);
	CHECK_INVALID(doca_log_backend_create_with_file(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_file(stdout, NULL));
	CHECK_INVALID(doca_log_backend_create_with_fd(1, NULL));
	CHECK_INVALID(doca_log_backend_create_with_fd(-1, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(999, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(read_only, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(path, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(NULL, 8, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 8, NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 8, handler, NULL));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 0, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 1, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_syslog(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_syslog("x", NULL));
	CHECK(backend == (void *)&backend);
	log_all();
}

static void bad_backends_are_refused(void **state)
{
	struct log_output output;

	log_process_run(&output, create_badly);
	assert_lines(output.err, 14);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_INVALID_VALUE\n"), 14);
	assert_string_equal(output.out, "");
	log_output_clear(&output);
}

static char buffer[256];
static int flushed;

static void flush(char *buf)
{
	CHECK(buf == buffer);
	CHECK(strlen(buf) < sizeof(buffer));
	fputs(buf, stdout);
	flushed++;
}

static void log_to_buf(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush, &backend));
	CHECK(flushed == 0);
	DOCA_LOG_INFO("first");
	CHECK(flushed == 1);
	DOCA_LOG_DBG("not shown");
	CHECK(flushed == 1);
	DOCA_LOG_ERR("second, longer");
	DOCA_LOG_ERR("3rd");
	CHECK(flushed == 3);
}

static void buf_is_flushed_with_each_line(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_buf);
	assert_like(output.out, STAMP "[[]INF[]].* first\n" STAMP
				      "[[]ERR[]].* second, longer\n" STAMP "[[]ERR[]].* 3rd\n");
	assert_lines(output.out, 3);
	log_output_clear(&output);
}

static void log_to_small_bufs(void)
{
	struct doca_log_backend *backend;

	for (size_t capacity = 2; capacity <= 200; capacity++) {
		memset(buffer, 'Z', sizeof(buffer));
		CHECK_OK(doca_log_backend_create_with_buf(buffer, capacity, flush, &backend));
		DOCA_LOG_INFO("%050d", 7);
		CHECK(strlen(buffer) <= capacity - 1);
		CHECK(buffer[strlen(buffer) - 1] == '\n');
		CHECK(buffer[capacity] == 'Z');
		CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE));
	}
}

static void line_is_cut_to_the_buf(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_small_bufs);
	assert_lines(output.out, 199);
	assert_memory_equal(output.out, "\n[\n", 3);
	log_output_clear(&output);
}

static void flush_and_log(char *buf)
{
	DOCA_LOG_WARN("from the handler");
	fputs(buf, stdout);
	fflush(stdout);
}

static void log_from_handler(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush_and_log, &backend));
	to_stderr();
	DOCA_LOG_INFO("from outside");
}

static void messages_of_a_handler_go_to_the_other_backends(void **state)
{
	struct log_output output;

	log_process_run(&output, log_from_handler);
	assert_like(output.out, ".* from outside\n");
	assert_like(output.err, ".* from the handler\n.* from outside\n");
	assert_lines(output.out, 1);
	assert_lines(output.err, 2);
	log_output_clear(&output);
}

static void log_to_syslog(void)
{
	char name[] = "one";
	struct doca_log_backend *one, *two;

	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	CHECK_OK(doca_log_backend_create_with_syslog(name, &one));
	memset(name, 'x', sizeof(name) - 1);
	log_all();
	CHECK_OK(doca_log_backend_create_with_syslog("two", &two));
	CHECK(one != two);
	DOCA_LOG_ERR("100%%");
}

static void syslog_gets_priority_and_name(void **state)
{
	struct log_output output;

	log_process_run(&output, log_to_syslog);
	assert_like(output.out, "one 10 " STAMP "[[]CRT[]].* at 20[.]\n"
				"one 11 " STAMP "[[]ERR[]].* at 30[.]\n"
				"one 12 " STAMP "[[]WRN[]].* at 40[.]\n"
				"one 14 " STAMP "[[]INF[]].* at 50[.]\n"
				"one 15 " STAMP "[[]DBG[]].* at 60[.]\n"
				"one 15 " STAMP "[[]TRC[]].* at 70[.]\n"
				"one 11 .* 100%\ntwo 11 .* 100%\n");
	assert_lines(output.out, 8);
	log_output_clear(&output);
}

/* --- Levels ----------------------------------------------------------------------------------- */

static void check_defaults(void)
{
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_INFO);
	log_to_stdout();
	log_all();
}

static void defaults_are_info_and_crit(void **state)
{
	struct log_output output;

	log_process_run(&output, check_defaults);
	assert_like(output.out, ".* at 20[.]\n.* at 30[.]\n.* at 40[.]\n.* at 50[.]\n");
	assert_lines(output.out, 4);
	log_output_clear(&output);
}

static void set_all(void)
{
	for (int i = 0; i < LEVELS; i++) {
		CHECK_OK(doca_log_level_set_global_lower_limit(levels[i]));
		CHECK_OK(doca_log_level_set_global_upper_limit(levels[LEVELS - 1 - i]));
		CHECK_OK(doca_log_level_set_global_sdk_limit(levels[(i + 1) % LEVELS]));
		CHECK(doca_log_level_get_global_lower_limit() == levels[i]);
		CHECK(doca_log_level_get_global_upper_limit() == levels[LEVELS - 1 - i]);
		CHECK(doca_log_level_get_global_sdk_limit() == levels[(i + 1) % LEVELS]);
	}
}

static void global_limits_are_returned_as_set(void **state)
{
	struct log_output output;

	log_process_run(&output, set_all);
	log_output_clear(&output);
}

static void set_wrong_levels(void)
{
	static const uint32_t wrong[] = {0, 1, 9, 11, 15, 55, 69, 71, 80, 1000, UINT32_MAX};
	struct doca_log_backend *backend = log_to_stdout();

	setenv("DPUMAP_LOG_LEVEL", "off", 1);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK_INVALID(doca_log_level_set_global_lower_limit(wrong[i]));
		CHECK_INVALID(doca_log_level_set_global_upper_limit(wrong[i]));
		CHECK_INVALID(doca_log_level_set_global_sdk_limit(wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_lower_limit(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_upper_limit(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_lower_limit_strict(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_upper_limit_strict(backend, wrong[i]));
	}
	CHECK_INVALID(doca_log_backend_set_level_lower_limit(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_lower_limit_strict(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit_strict(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_sdk_level(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_sdk_level(backend, 50));
	check_defaults();
}

static void levels_that_do_not_exist_change_nothing(void **state)
{
	struct log_output output;

	log_process_run(&output, set_wrong_levels);
	assert_lines(output.out, 8); /* two backends by now */
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

/* Every pair of limits with every level, and invalid levels. */
static void log_between_limits(void)
{
	struct doca_log_backend *backend;
	int wanted;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush, &backend));
	for (int lower = 0; lower < LEVELS; lower++)
		for (int upper = 0; upper < LEVELS; upper++)
			for (uint32_t level = 0; level < 90; level++) {
				CHECK_OK(doca_log_backend_set_level_lower_limit(backend,
										levels[lower]));
				CHECK_OK(doca_log_backend_set_level_upper_limit(backend,
										levels[upper]));
				wanted = flushed + (level >= DOCA_LOG_LEVEL_CRIT &&
						    level <= levels[lower] &&
						    level >= levels[upper]);
				doca_log(level, log_source, "a", 1, "f", "x");
				CHECK(flushed == wanted);
			}
	wanted = flushed;
	doca_log(UINT32_MAX, log_source, "a", 1, "f", "x");
	CHECK(flushed == wanted);
}

static void messages_between_the_limits_are_shown(void **state)
{
	struct log_output output;

	log_process_run(&output, log_between_limits);
	assert_true(occurrences(output.out, "\n") > 100);
	log_output_clear(&output);
}

static void log_with_globals(void)
{
	log_to_stdout();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_INFO));
	to_stderr();
	log_all();
}

static void global_limits_are_for_backends_made_before_and_after(void **state)
{
	struct log_output output;

	log_process_run(&output, log_with_globals);
	assert_like(output.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_lines(output.out, 2);
	assert_string_equal(output.out, output.err);
	log_output_clear(&output);
}

static void log_with_limits_of_one(void)
{
	struct doca_log_backend *backend = log_to_stdout();

	to_stderr();
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_INFO));
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	log_all();
}

static void limits_of_one_backend_are_its_own(void **state)
{
	struct log_output output;

	log_process_run(&output, log_with_limits_of_one);
	assert_like(output.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_lines(output.out, 2);
	assert_lines(output.err, 4);
	log_output_clear(&output);
}

static void set_globals_after_limits(void)
{
	log_with_limits_of_one();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	log_all();
}

static void global_limits_replace_those_of_backends(void **state)
{
	struct log_output output;

	log_process_run(&output, set_globals_after_limits);
	assert_like(output.out, ".* at 50[.]\n.* at 60[.]\n.* at 30[.]\n");
	assert_lines(output.out, 3);
	log_output_clear(&output);
}

static void set_globals_after_strict_limits(void)
{
	struct doca_log_backend *lower = log_to_stdout(), *upper = to_stderr();

	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(lower, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(upper, DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT));
	log_all();
}

static void strict_limits_stay(void **state)
{
	struct log_output output;

	log_process_run(&output, set_globals_after_strict_limits);
	assert_lines(output.out, 5); /* 20 to 60 */
	assert_like(output.err, ".* at 30[.]\n");
	assert_lines(output.err, 1);
	log_output_clear(&output);
}

static void loosen_strict_limits(void)
{
	struct doca_log_backend *backend = log_to_stdout();

	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_TRACE));
	log_all();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	log_all();
}

static void strict_limits_end_when_the_others_are_set(void **state)
{
	struct log_output output;

	log_process_run(&output, loosen_strict_limits);
	assert_like(output.out, ".* at 70[.]\n.* at 30[.]\n");
	assert_lines(output.out, 2);
	log_output_clear(&output);
}

/* %n shows whether the message was formatted. */
static void log_and_count(void)
{
	int shown = 0, hidden = 0;

	log_to_stdout();
	DOCA_LOG_DBG("hidden%n", &hidden);
	DOCA_LOG_INFO("shown%n", &shown);
	CHECK(!hidden && shown);
}

static void hidden_messages_are_not_formatted(void **state)
{
	struct log_output output;

	log_process_run(&output, log_and_count);
	assert_like(output.out, ".* shown\n");
	assert_lines(output.out, 1);
	log_output_clear(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_backend_nothing_is_printed),
		cmocka_unit_test(standard_splits_at_warning),
		cmocka_unit_test(standard_obeys_both_global_limits),
		cmocka_unit_test(file_is_flushed_after_each_message),
		cmocka_unit_test(fd_gets_the_line),
		cmocka_unit_test(nonblocking_fd_drops_what_does_not_fit),
		cmocka_unit_test(bad_backends_are_refused),
		cmocka_unit_test(buf_is_flushed_with_each_line),
		cmocka_unit_test(line_is_cut_to_the_buf),
		cmocka_unit_test(messages_of_a_handler_go_to_the_other_backends),
		cmocka_unit_test(syslog_gets_priority_and_name),
		cmocka_unit_test(defaults_are_info_and_crit),
		cmocka_unit_test(global_limits_are_returned_as_set),
		cmocka_unit_test(levels_that_do_not_exist_change_nothing),
		cmocka_unit_test(messages_between_the_limits_are_shown),
		cmocka_unit_test(global_limits_are_for_backends_made_before_and_after),
		cmocka_unit_test(limits_of_one_backend_are_its_own),
		cmocka_unit_test(global_limits_replace_those_of_backends),
		cmocka_unit_test(strict_limits_stay),
		cmocka_unit_test(strict_limits_end_when_the_others_are_set),
		cmocka_unit_test(hidden_messages_are_not_formatted),
	};

	unsetenv("DPUMAP_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
