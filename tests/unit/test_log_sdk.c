/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The library's own messages: SDK backends, standard error without one, DPUMAP_LOG_LEVEL.
 */
#include "unit/log_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "log/log.h"

DOCA_LOG_REGISTER(TEST::SDK);

#define ENV "DPUMAP_LOG_LEVEL"

/* As the library does. */
static void say_all(void)
{
	dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_IN_USE, "thing %d is busy", 7);
	dpumap_log(DPUMAP_LOG_WARNING, "thing %d is odd", 8);
	dpumap_log(DPUMAP_LOG_INFO, "thing %d is", 9);
	dpumap_log(DPUMAP_LOG_DEBUG, "thing %d was", 10);
}

static struct doca_log_backend *sdk_to_stdout(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file_sdk(stdout, &backend));
	return backend;
}

static void without_a_backend_stderr_has_warnings_and_errors(void **state)
{
	struct log_output output;

	log_process_run(&output, say_all);
	assert_string_equal(output.err, "dpumap: error: thing 7 is busy: DOCA_ERROR_IN_USE\n"
					"dpumap: warning: thing 8 is odd\n");
	assert_string_equal(output.out, "");
	log_output_clear(&output);
}

/* A backend of the program does not receive messages of the library. */
static void say_to_program(void)
{
	CHECK_OK(doca_log_backend_create_standard());
	say_all();
	DOCA_LOG_INFO("of the program");
}

static void backends_of_the_program_get_nothing_of_the_library(void **state)
{
	struct log_output output;

	log_process_run(&output, say_to_program);
	assert_like(output.out, STAMP ".* of the program\n");
	assert_lines(output.out, 1);
	assert_lines(output.err, 2);
	assert_int_equal(occurrences(output.err, "dpumap: "), 2);
	log_output_clear(&output);
}

static void say_to_sdk(void)
{
	sdk_to_stdout();
	say_all();
	DOCA_LOG_CRIT("of the program");
}

static void sdk_backend_gets_the_librarys_messages_alone(void **state)
{
	struct log_output output;

	log_process_run(&output, say_to_sdk);
#define PLACE "[[]test_log_sdk.c:[0-9]+[]][[]say_all[]]"
	assert_like(output.out, STAMP
		    "[[]ERR[]]" PLACE " thing 7 is busy: DOCA_ERROR_IN_USE\n" STAMP
		    "[[]WRN[]]" PLACE " thing 8 is odd\n" STAMP "[[]INF[]]" PLACE " thing 9 is\n");
#undef PLACE
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

static void fail_in_the_interface(void)
{
	sdk_to_stdout();
	CHECK_INVALID(doca_log_unregister_source(4711));
}

static void sdk_message_has_the_librarys_file_and_function(void **state)
{
	struct log_output output;

	log_process_run(&output, fail_in_the_interface);
	assert_like(output.out,
		    STAMP "[[]ERR[]][[]doca_log.c:[0-9]+[]][[]doca_log_unregister_source[]] "
			  "log source 4711 is not registered: DOCA_ERROR_INVALID_VALUE\n");
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

/* --- Every kind of backend -------------------------------------------------------------------- */

static char buffer[512];

static void flush(char *buf)
{
	printf("flushed %s", buf);
}

static void say_to_all_kinds(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &backend));
	CHECK_OK(doca_log_backend_create_with_buf_sdk(buffer, sizeof(buffer), flush, &backend));
	CHECK_OK(doca_log_backend_create_with_syslog_sdk("sdk", &backend));
	dpumap_log(DPUMAP_LOG_WARNING, "careful");
	DOCA_LOG_WARN("of the program");
}

static void each_kind_of_sdk_backend_works(void **state)
{
	struct log_output output;

	log_process_run(&output, say_to_all_kinds);
	assert_like(output.err, STAMP "[[]WRN[]].* careful\n");
	assert_like(output.out,
		    "flushed " STAMP "[[]WRN[]].* careful\nsdk 12 " STAMP "[[]WRN[]].* careful\n");
	assert_lines(output.err, 1);
	assert_lines(output.out, 2);
	log_output_clear(&output);
}

static void create_badly(void)
{
	struct doca_log_backend *backend = (void *)&backend;

	CHECK_INVALID(doca_log_backend_create_with_file_sdk(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_file_sdk(stdout, NULL));
	CHECK_INVALID(doca_log_backend_create_with_fd_sdk(-1, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd_sdk(1, NULL));
	CHECK_INVALID(doca_log_backend_create_with_buf_sdk(NULL, 8, flush, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf_sdk(buffer, 1, flush, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf_sdk(buffer, 8, NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf_sdk(buffer, 8, flush, NULL));
	CHECK_INVALID(doca_log_backend_create_with_syslog_sdk(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_syslog_sdk("x", NULL));
	CHECK(backend == (void *)&backend);
}

static void bad_sdk_backends_are_refused(void **state)
{
	struct log_output output;

	log_process_run(&output, create_badly);
	assert_lines(output.err, 10);
	log_output_clear(&output);
}

/* --- Levels ----------------------------------------------------------------------------------- */

static void say_with_limits(void)
{
	struct doca_log_backend *backend = sdk_to_stdout(), *other;

	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &other));
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_INFO);
	say_all();
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR));
	say_all();
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE));
	say_all();
}

static void sdk_level_of_a_backend_lasts_until_the_global_one(void **state)
{
	struct log_output output;

	log_process_run(&output, say_with_limits);
	assert_lines(output.out, 4 + 1 + 0);
	assert_lines(output.err, 3 + 1 + 1);
	log_output_clear(&output);
}

static void say_after_global_limit(void)
{
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR));
	sdk_to_stdout();
	say_all();
}

static void global_sdk_limit_is_for_later_backends_too(void **state)
{
	struct log_output output;

	log_process_run(&output, say_after_global_limit);
	assert_like(output.out, ".* thing 7 is busy: DOCA_ERROR_IN_USE\n");
	assert_lines(output.out, 1);
	log_output_clear(&output);
}

static void mix_sides(void)
{
	struct doca_log_backend *backend = sdk_to_stdout();

	CHECK_INVALID(doca_log_backend_set_level_lower_limit(backend, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit(backend, 50));
	CHECK_INVALID(doca_log_backend_set_level_lower_limit_strict(backend, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit_strict(backend, 50));
	CHECK_INVALID(doca_log_backend_set_sdk_level(backend, 51));
}

static void limits_of_the_program_are_not_for_sdk_backends(void **state)
{
	struct log_output output;

	log_process_run(&output, mix_sides);
	assert_lines(output.out, 5);
	assert_int_equal(occurrences(output.out, "DOCA_ERROR_INVALID_VALUE"), 5);
	log_output_clear(&output);
}

/* --- Standard error --------------------------------------------------------------------------- */

static void say_disabled(void)
{
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE));
	say_all();
}

static void say_talkative(void)
{
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_TRACE));
	say_all();
}

static void global_sdk_limit_is_for_stderr_without_a_backend(void **state)
{
	struct log_output output;

	log_process_run(&output, say_disabled);
	assert_string_equal(output.err, "");
	log_output_clear(&output);
	log_process_run(&output, say_talkative);
	assert_lines(output.err, 4);
	log_output_clear(&output);
}

static void say_with_env(const char *level, void (*how)(void))
{
	setenv(ENV, level, 1);
	how();
}

static void env_off(void)
{
	say_with_env("off", say_talkative);
}

static void env_error(void)
{
	say_with_env("error", say_disabled);
}

static void env_debug(void)
{
	say_with_env("debug", say_all);
}

static void env_decides_about_stderr(void **state)
{
	struct log_output output;

	log_process_run(&output, env_off);
	assert_string_equal(output.err, "");
	log_output_clear(&output);
	log_process_run(&output, env_error);
	assert_string_equal(output.err, "dpumap: error: thing 7 is busy: DOCA_ERROR_IN_USE\n");
	log_output_clear(&output);
	log_process_run(&output, env_debug);
	assert_lines(output.err, 4);
	log_output_clear(&output);
}

static void env_with_backend(void)
{
	say_with_env("warning", say_to_sdk);
}

static void env_off_with_backend(void)
{
	say_with_env("off", say_to_sdk);
}

static void env_does_not_take_from_backends(void **state)
{
	struct log_output output;

	log_process_run(&output, env_with_backend);
	assert_lines(output.out, 3);
	assert_lines(output.err, 2);
	log_output_clear(&output);
	log_process_run(&output, env_off_with_backend);
	assert_lines(output.out, 3);
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

static void say_to_stderr_by_file(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file_sdk(stderr, &backend));
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	say_all();
}

static void say_to_stderr_by_fd(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &backend));
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	say_all();
}

static void env_with_file_on_stderr(void)
{
	say_with_env("warning", say_to_stderr_by_file);
}

static void env_with_fd_on_stderr(void)
{
	say_with_env("warning", say_to_stderr_by_fd);
}

static void nothing_is_on_stderr_twice(void **state)
{
	struct log_output output;

	log_process_run(&output, env_with_file_on_stderr);
	assert_like(output.err, STAMP ".* thing 7 is busy: DOCA_ERROR_IN_USE\n"
				      "dpumap: warning: thing 8 is odd\n");
	assert_lines(output.err, 2);
	log_output_clear(&output);
	log_process_run(&output, env_with_fd_on_stderr);
	assert_like(output.err, STAMP ".* thing 7 is busy: DOCA_ERROR_IN_USE\n"
				      "dpumap: warning: thing 8 is odd\n");
	assert_lines(output.err, 2);
	log_output_clear(&output);
}

static void env_wrong(void)
{
	say_with_env("loud", say_all);
}

static void invalid_environment_is_reported_and_ignored(void **state)
{
	struct log_output output;

	log_process_run(&output, env_wrong);
	assert_lines(output.err, 3);
	assert_int_equal(
		occurrences(output.err, "DPUMAP_LOG_LEVEL must be off, error, warning, info"), 1);
	log_output_clear(&output);
}

static void fail_with_errno(void)
{
	sdk_to_stdout();
	setenv(ENV, "info", 1);
	errno = ENOTEMPTY;
	dpumap_log(DPUMAP_LOG_INFO, "%m");
	CHECK(errno == ENOTEMPTY);
	dpumap_log(DPUMAP_LOG_DEBUG, "%m");
	CHECK(errno == ENOTEMPTY);
}

/* The message is lost, and the failed call of the library does not notice. */
static void fail_on_full_disk(void)
{
	int full = open("/dev/full", O_WRONLY);

	CHECK(full >= 0 && dup2(full, STDERR_FILENO) == STDERR_FILENO);
	errno = ENOTEMPTY;
	dpumap_log(DPUMAP_LOG_ERROR, "lost");
	CHECK(errno == ENOTEMPTY);
}

static void errno_is_preserved_for_all(void **state)
{
	struct log_output output;

	log_process_run(&output, fail_with_errno);
	assert_int_equal(occurrences(output.out, strerror(ENOTEMPTY)), 1);
	assert_int_equal(occurrences(output.err, strerror(ENOTEMPTY)), 1);
	log_output_clear(&output);
	log_process_run(&output, fail_on_full_disk);
	log_output_clear(&output);
}

/* --- Messages that others cause --------------------------------------------------------------- */

static void say_for_peers(void)
{
	for (int i = 0; i < 3000; i++)
		dpumap_log_from("uid:1", DPUMAP_LOG_WARNING, DOCA_SUCCESS, "first peer");
	for (int i = 0; i < 3; i++)
		dpumap_log_from("uid:2", DPUMAP_LOG_WARNING, DOCA_SUCCESS, "second peer");
	for (int i = 0; i < 3; i++)
		dpumap_log_from("uid:3", DPUMAP_LOG_INFO, DOCA_SUCCESS, "not shown");
}

static void messages_of_one_peer_do_not_suppress_those_of_another(void **state)
{
	struct log_output output;

	log_process_run(&output, say_for_peers);
	assert_in_range(occurrences(output.err, "first peer\n"), 500, 1000);
	assert_int_equal(occurrences(output.err, "second peer\n"), 3);
	assert_int_equal(occurrences(output.err, "not shown\n"), 0);
	log_output_clear(&output);
}

static void say_at_one_place(void)
{
	for (int i = 0; i < 20000; i++)
		dpumap_log(DPUMAP_LOG_WARNING, "again");
	say_all();
}

static void one_place_does_not_fill_stderr(void **state)
{
	struct log_output output;

	log_process_run(&output, say_at_one_place);
	assert_in_range(occurrences(output.err, "again\n"), 2000, 10000);
	assert_int_equal(occurrences(output.err, "is busy"), 1);
	log_output_clear(&output);
}

/* Two slots of a page: one of them takes all lines. */
static void say_to_full_pipe(void)
{
	static char page[4096];
	int ends[2], before = dup(STDERR_FILENO);

	CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETPIPE_SZ, 2 * sizeof(page)) > 0);
	CHECK(write(ends[1], page, sizeof(page)) == sizeof(page));
	CHECK(write(ends[1], page, sizeof(page)) == sizeof(page));
	CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	say_all();
	CHECK(read(ends[0], page, sizeof(page)) == sizeof(page));
	CHECK(read(ends[0], page, sizeof(page)) == sizeof(page));
	say_all();
	CHECK(dup2(before, STDERR_FILENO) == STDERR_FILENO);
	memset(page, 0, sizeof(page));
	CHECK(read(ends[0], page, sizeof(page)) > 0);
	fputs(page, stdout);
}

static void full_pipe_does_not_stop_the_program(void **state)
{
	struct log_output output;

	log_process_run(&output, say_to_full_pipe);
	assert_string_equal(output.out, "dpumap: 2 lines were dropped here: nothing read the log\n"
					"dpumap: error: thing 7 is busy: DOCA_ERROR_IN_USE\n"
					"dpumap: warning: thing 8 is odd\n");
	log_output_clear(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_backend_stderr_has_warnings_and_errors),
		cmocka_unit_test(backends_of_the_program_get_nothing_of_the_library),
		cmocka_unit_test(sdk_backend_gets_the_librarys_messages_alone),
		cmocka_unit_test(sdk_message_has_the_librarys_file_and_function),
		cmocka_unit_test(each_kind_of_sdk_backend_works),
		cmocka_unit_test(bad_sdk_backends_are_refused),
		cmocka_unit_test(sdk_level_of_a_backend_lasts_until_the_global_one),
		cmocka_unit_test(global_sdk_limit_is_for_later_backends_too),
		cmocka_unit_test(limits_of_the_program_are_not_for_sdk_backends),
		cmocka_unit_test(global_sdk_limit_is_for_stderr_without_a_backend),
		cmocka_unit_test(env_decides_about_stderr),
		cmocka_unit_test(env_does_not_take_from_backends),
		cmocka_unit_test(nothing_is_on_stderr_twice),
		cmocka_unit_test(invalid_environment_is_reported_and_ignored),
		cmocka_unit_test(errno_is_preserved_for_all),
		cmocka_unit_test(messages_of_one_peer_do_not_suppress_those_of_another),
		cmocka_unit_test(one_place_does_not_fill_stderr),
		cmocka_unit_test(full_pipe_does_not_stop_the_program),
	};

	unsetenv(ENV);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
